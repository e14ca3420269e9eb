"""Faulty ``.swings.json``: Swings or an error that names the field."""

from __future__ import annotations

import base64
import json
import random
import re
import warnings
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.mutate import damage

import keypose as kp
from keypose.formats import load_swings
from keypose.formats.base import SaveOptions
from keypose.formats.swings_json import build_document, write_swings
from keypose.limits import limit_hint
from keypose.rotations import IDENTITY
from keypose.swings import Path as SwingPath
from keypose.swings import Settings
from support import json_faults
from support.errors import Pattern, raises, warns
from support.json_faults import DELETED
from support.stored_swings import NAMES, random_swings

relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def _sound() -> kp.Swings:
    """Return swings of 60 frames with all kinds of members: Hips have swings and a rest, Spine a few keys, LeftHand one on every frame."""
    one = np.array(IDENTITY)
    swings = [kp.Swing("Hips", 2, 9, one, (0, 0, 1), 0.5), kp.Swing("Hips", 10, 30, one, (0, 1, 0), 1.5)]
    every = kp.KeyedSpan(np.arange(60), np.tile(one, (60, 1)))
    tracks = (
        kp.Track.build("Hips", one, swings, rests=[kp.Rest("Hips", 40, 59, one)]),
        kp.Track("Spine", one, keyed=(kp.KeyedSpan(np.array([3, 5, 9]), np.tile(one, (3, 1))),)),
        kp.Track("LeftHand", one, keyed=(every,)),
        kp.Track("LeftFoot", one),
    )
    values = np.arange(9.0).reshape(3, 1, 3)
    paths = (
        SwingPath("Hips", np.array([0, 20, 59]), kp.Curves(values, values, values)),
        SwingPath("Spine", np.arange(60), kp.Curves(np.zeros((60, 1, 3)))),
    )
    in_contact = np.arange(60)[:, None] % 20 > 9
    return replace(random_swings(0, 60), tracks=tracks, paths=paths, contacts=kp.FootContacts(("left",), in_contact),
                   settings=Settings(left_out=("LeftHand",)))  # fmt: skip


SWINGS = _sound()
SOUND = json.loads(json.dumps(build_document(SWINGS)))


def replace_values(*paths_and_values) -> dict:
    return json_faults.replace_values(SOUND, *paths_and_values)


def load_document(folder: Path, content: dict | bytes | str, **options) -> kp.Swings:
    path = folder / "x.swings.json"
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return load_swings(path, **options)


def encoded_array(rows: np.ndarray, **more) -> dict:
    raw = np.asarray(rows, "<f8").tobytes()
    data = base64.b64encode(zlib.compress(raw)).decode()
    return {"shape": list(np.shape(rows)), "crc32": zlib.crc32(raw), "data": data} | more


HIPS, SPINE, HAND = ("joints", 0), ("joints", 1), ("joints", 2)
SWING, REST, KEYS, EVERY = (*HIPS, "swings", 0), (*HIPS, "rests", 0), (*SPINE, "keys", 0), (*HAND, "keys", 0)
QUARTER = [0.5, 0.5, 0.5, 0.5]
FAULTS = {
    "version": [(("version",), v) for v in (0, -1, 1.0, "1", None, True, DELETED)],
    "name": [(("name",), v) for v in (3, None, [], DELETED)],
    "fps": [(("fps",), v) for v in (0, -1, "30", None, 1e-9, 1e9, True, DELETED)],
    "n_frames": [(("n_frames",), v) for v in (0, -1, 1.5, "x", None, True, DELETED)],
    "first_frame": [(("first_frame",), v) for v in (1.5, "x", None, 1 << 60, DELETED)],
    "up": [(("up",), v) for v in ("y", 3, None, DELETED)],
    "metres_per_unit": [(("metres_per_unit",), v) for v in (0, -1, "m", True, DELETED)],
    "notes": [(("notes",), v) for v in ("x", None, [3], DELETED)],
    "skeleton": [(("skeleton",), v) for v in (3, None, [], DELETED)],
    "skeleton.joints[1].parent": [(("skeleton", "joints", 1, "parent"), v) for v in (0, "LeftFoot", "x", DELETED)],
    "reference_pose": [(("reference_pose",), v) for v in (3, [], DELETED)],
    "reference_pose.translations": [(("reference_pose",), {"translations": [], "rotations": []})],
    "settings": [(("settings",), v) for v in (3, None, [], DELETED)],
    "settings.threshold": [(("settings", "threshold"), v) for v in (-1, "x", None, True, 1e300, DELETED)],
    "settings.metric": [(("settings", "metric"), v) for v in (3, None, [], DELETED)],
    "settings.fallback": [(("settings", "fallback"), v) for v in (3, {}, DELETED)],
    "settings.left_out": [(("settings", "left_out"), v) for v in (3, None, "Hips", {}, DELETED)],
    "joints": [(("joints",), v) for v in (3, None, [], DELETED)],
    "joints[3]": [(("joints", 3), 3)],
    "joints[0].translation": [((*HIPS, "translation"), v) for v in (3, [1, 2], [1, 2, None], [1, 2, 1e99], None, DELETED)],
    "joints[0].mean_rotation": [((*HIPS, "mean_rotation"), v) for v in (3, [1, 0, 0], None, DELETED)],
    "joints[0].swings": [((*HIPS, "swings"), v) for v in (3, None, "x", DELETED)],
    "joints[0].swings[0]": [((*HIPS, "swings", 0), v) for v in (3, None, [])],
    "joints[0].swings[0].start": [((*SWING, "start"), v) for v in (-1, 2.0, "2", None, True, 60, 59, 10**30, DELETED)],
    "joints[0].swings[0].end": [((*SWING, "end"), v) for v in (2, 1, -1, 9.0, None, DELETED)],
    "joints[0].swings[0].rotation": [((*SWING, "rotation"), v) for v in ([0, 0, 0, 0], [1, 0, 0], "x", None, DELETED)],
    "joints[0].swings[0].rotation_vector": [((*SWING, "rotation_vector"), v) for v in ([1, 0], [1, 0, "x"], [2e6, 0, 0], None, DELETED)],
    "joints[0].rests": [((*HIPS, "rests"), v) for v in (3, None, DELETED)],
    "joints[0].rests[0].end": [((*REST, "end"), v) for v in (39, 60, DELETED)],
    "joints[0].rests[0].rotation": [((*REST, "rotation"), v) for v in ([3, 0, 0, 0], None, DELETED)],
    "joints[1].keys": [((*SPINE, "keys"), v) for v in (3, None, DELETED)],
    "joints[1].keys[0].frames": [((*KEYS, "frames"), v) for v in ([], 3, None, DELETED)],
    "joints[1].keys[0].frames[1]": [((*KEYS, "frames", 1), v) for v in (3, 60, -1, 5.0, "5", True, None)],
    "joints[1].keys[0].rotations": [((*KEYS, "rotations"), v) for v in ([], [QUARTER], 3, None, DELETED)],
    "joints[1].keys[0].rotations[2]": [((*KEYS, "rotations", 2), v) for v in ([2, 0, 0, 0], [1, 0, 0], 3)],
    "joints[2].keys[0].start": [((*EVERY, "start"), v) for v in (-1, 60, None, "x")],
    "joints[2].keys[0].end": [((*EVERY, "end"), v) for v in (-1, 60, None, DELETED)],
    "joints[2].keys[0].rotations": [((*EVERY, "rotations"), v) for v in (3, None, [QUARTER] * 60, DELETED)],
    "joints[2].keys[0].rotations.shape": [
        ((*EVERY, "rotations", "shape"), v) for v in ([60], [60, 3], [59, 4], [0, 4], [60.0, 4], [60, 4, 1], None, DELETED)
    ],
    "joints[2].keys[0].rotations.crc32": [((*EVERY, "rotations", "crc32"), v) for v in (-1, "x", None, DELETED)],
    "joints[2].keys[0].rotations.data": [
        ((*EVERY, "rotations", "data"), v) for v in (3, "", "%%", "é", "AAAA", base64.b64encode(zlib.compress(b"x")).decode())
    ],
    "paths": [(("paths",), v) for v in (3, None, DELETED)],
    "paths[0]": [(("paths", 0), v) for v in (3, None)],
    "paths[0].joint": [(("paths", 0, "joint"), v) for v in ("x", 3, None, [], DELETED)],
    "paths[0].frames": [(("paths", 0, "frames"), v) for v in ([], 3, [0, 20, 60], DELETED)],
    "paths[0].values": [(("paths", 0, "values"), v) for v in ([], 3, None, DELETED)],
    "paths[0].in_tangents": [(("paths", 0, "in_tangents"), v) for v in ([], None, DELETED)],
    "paths[0].out_tangents[2]": [(("paths", 0, "out_tangents", 2), [0, 0, 10**400])],
    "contacts": [(("contacts",), v) for v in (3, "x", DELETED)],
    "contacts[0].foot": [(("contacts", 0, "foot"), v) for v in (3, None, DELETED)],
    "contacts[0].in_contact": [(("contacts", 0, "in_contact"), v) for v in (3, None, DELETED)],
    "contacts[0].in_contact[1]": [
        (("contacts", 0, "in_contact", 1), v) for v in (3, [30], [30, 31, 32], [31, 30], [19, 25], [20, 25], [30.0, 40], ["a", "b"], None)
    ],
}  # fmt: skip
OTHER_FAULTS = [
    ({"code": "unsupported", "problem": Pattern("^version is 2: the file is of a newer Keypose"), "hint": "update Keypose to read it"}, [(("version",), 2)]),
    ({"code": "inconsistent", "problem": "motion: the first frame's number is beyond all measure"}, [(("first_frame",), 1 << 53)]),
    ({"code": "inconsistent", "problem": Pattern("1e.100 metres per unit, expected 1e-12 to 1e12")}, [(("metres_per_unit",), 1e100)]),
    ({"subject": "settings.threshold", "expected": "a number from 0 to 3.14159"}, [(("settings", "threshold"), 3.2)]),
    ({"subject": "settings.min_duration_s", "expected": "a number from 0 to 10"}, [(("settings", "min_duration_s"), 1e9)]),
    ({"subject": "settings.window_s", "expected": "a number above 0 and at most 10"}, [(("settings", "window_s"), 0)]),
    ({"subject": "settings.fallback_deg", "expected": "a number above 0 and at most 180"}, [(("settings", "fallback_deg"), 181)]),
    ({"subject": "settings.metric", "expected": "'angle' or 'cosine'"}, [(("settings", "metric"), "sine")]),
    ({"subject": "settings.fallback", "expected": "null or 'keys'"}, [(("settings", "fallback"), "none")]),
    ({"subject": "settings.left_out[0]", "expected": "a string"}, [(("settings", "left_out"), [3])]),
    ({"subject": "settings.left_out[1]", "expected": "the name of a joint"}, [(("settings", "left_out"), ["LeftHand", "Hand"])]),
    ({"code": "inconsistent", "problem": "swings: left_out, expected each joint once, in the skeleton's order"}, [
        (("settings", "left_out"), v) for v in (["LeftHand", "Hips"], ["LeftHand", "LeftHand"])
    ]),
    ({"subject": "joints[0].joint", "expected": "'Hips', as the joints are in the order of the skeleton"}, [((*HIPS, "joint"), "Spine")]),
    ({"subject": "joints[0].mean_rotation", "expected": "a quaternion (wxyz) of length 1"}, [
        ((*HIPS, "mean_rotation"), [2, 0, 0, 0])
    ]),
    ({"subject": "joints[0].swings[0].end", "expected": "a frame from 3 to 59"}, [((*SWING, "end"), 60)]),
    ({"code": "inconsistent", "problem": "Hips: frames 2 to 12 and 10 to 30 overlap"}, [((*SWING, "end"), 12)]),
    ({"code": "inconsistent", "problem": "Hips: swings, rests or keys out of order"}, [((*HIPS, "swings", 1), SOUND["joints"][0]["swings"][0] | {"start": 0, "end": 1})]),
    ({"subject": "joints[2].keys[0].rotations.shape", "expected": "[50, 4], one row for each frame from 10 to 59"}, [((*EVERY, "start"), 10)]),
    ({"code": "damaged", "subject": "joints[2].keys[0].rotations.data", "problem": Pattern("^the checksum of its bytes is ")}, [((*EVERY, "rotations", "crc32"), 7)]),
    ({"code": "bad_number", "subject": "joints[2].keys[0].rotations.data", "problem": "not all of its numbers are finite and up to 1e+15"}, [
        ((*EVERY, "rotations"), encoded_array(np.full((60, 4), np.nan))), ((*EVERY, "rotations"), encoded_array(np.full((60, 4), 1e300)))
    ]),
    ({"subject": "joints[2].keys[0].rotations[0]", "expected": "a quaternion (wxyz) of length 1"}, [
        ((*EVERY, "rotations"), encoded_array(np.ones((60, 4))))
    ]),
    ({"code": "inconsistent", "problem": "swings: paths, expected at most one for each joint, in the skeleton's order"}, [(("paths", 0, "joint"), "Spine")]),
    ({"code": "bad_number", "subject": "paths[1].values.data", "problem": "not all of its numbers are finite and up to 1e+15"}, [(("paths", 1, "values"), encoded_array(np.full((60, 3), np.inf)))]),
    ({"subject": "contacts[0].in_contact[1]", "expected": "the first and the last frame of a span, from 21 to 59"}, [
        (("contacts", 0, "in_contact", 1), [30, 60])
    ]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("location", "path", "value"),
    [(location, path, value) for location, changes in FAULTS.items() for path, value in changes],
)
def test_errors_name_the_wrong_field(location, path, value, tmp_path):
    """An error may name an element of an array."""
    subject = Pattern(rf"^{re.escape(location)}(\[\d\])?$")
    with raises(kp.FormatError, path=str(tmp_path / "x.swings.json"), subject=subject) as caught:
        load_document(tmp_path, replace_values(path, value))
    assert (caught.value.code == "missing_data") == (value is DELETED)


@pytest.mark.parametrize(
    ("fields", "path", "value"), [(fields, path, value) for fields, changes in OTHER_FAULTS for path, value in changes]
)
def test_other_faults(fields, path, value, tmp_path):
    with raises(kp.FormatError, path=str(tmp_path / "x.swings.json"), **fields):
        load_document(tmp_path, replace_values(path, value))


def test_the_unchanged_document_is_valid(tmp_path):
    assert load_document(tmp_path, SOUND).n_swings == 2
    assert load_document(tmp_path, replace_values(("contacts",), None)).contacts is None
    spans = load_document(
        tmp_path,
        replace_values((*EVERY, "start"), 10, (*EVERY, "rotations"), encoded_array(np.tile(IDENTITY, (50, 1)))),
    )
    assert spans.track("LeftHand").keyed[0].start == 10


@pytest.mark.parametrize(
    "path", [("speed",), ("settings", "x"), (*HIPS, "turns"), (*SWING, "angle"), (*EVERY, "frames"), ("paths", 1, "x")]
)
def test_an_unknown_field_is_ignored_with_a_warning(path, tmp_path):
    with warns(kp.FormatWarning, code="unknown_word", value=path[-1]):
        load_document(tmp_path, replace_values(path, 3))


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        (
            '"fps": 60.0',
            '"fps": 60.0, "fps": 25.0',
            {"code": "syntax", "problem": Pattern("'fps' stands twice in one object")},
        ),
        (
            '"start": 2',
            '"start": 2, "start": 3',
            {"code": "syntax", "problem": Pattern("'start' stands twice in one object")},
        ),
        ('"fps": 60.0', '"fps": NaN', {"code": "syntax", "problem": Pattern("NaN is no JSON number")}),
        ('"fps": 60.0', '"fps": 1e999', {"code": "bad_number", "subject": "fps", "expected": "a number above 0"}),
        ('"fps": 60.0', '"fps": ' + "[" * 100_000, {"code": "syntax", "problem": "the JSON is nested too deeply"}),
        (
            '"fps": 60.0',
            '"fps": ',
            {"code": "syntax", "problem": Pattern("^not sound JSON .Expecting value")},
        ),
    ],
)
def test_wrong_json(old, new, fields, tmp_path):
    text = json.dumps(SOUND)
    assert old in text
    with raises(kp.FormatError, **fields):
        load_document(tmp_path, text.replace(old, new, 1))


def test_cut_short_anywhere(tmp_path):
    data = write_swings(SWINGS, ".swings.json", SaveOptions())
    for end in range(1, len(data) - 2, 97):
        with pytest.raises(kp.FormatError):
            load_document(tmp_path, data[:end])


def test_limits(tmp_path):
    with raises(kp.LimitError, value=6, hint=limit_hint("joints")):
        load_document(tmp_path, SOUND, limits=kp.Limits(joints=5))  # 4 and 2 end sites
    with raises(kp.LimitError, value=3, hint=limit_hint("depth")):
        load_document(tmp_path, SOUND, limits=kp.Limits(depth=2))
    with raises(kp.LimitError, value=60, hint=limit_hint("frames")):
        load_document(tmp_path, SOUND, limits=kp.Limits(frames=59))
    with raises(kp.LimitError, hint=limit_hint("bytes")):
        load_document(tmp_path, SOUND, limits=kp.Limits(bytes=1000))


def test_a_compression_bomb_is_not_expanded(tmp_path):
    """Keys with a small shape that expand to 64 MB, and keys with a large shape."""
    bomb = zlib.compressobj()
    data = b"".join([bomb.compress(bytes(1 << 24)) for _ in range(4)] + [bomb.flush()])
    wrong = encoded_array(np.tile(IDENTITY, (60, 1)), data=base64.b64encode(data).decode())
    with raises(kp.FormatError, code="inconsistent", subject="joints[2].keys[0].rotations.data"):
        load_document(tmp_path, replace_values((*EVERY, "rotations"), wrong))
    many = {"start": 0, "end": 3_999_999, "rotations": encoded_array(np.zeros((1, 4)), shape=[4_000_000, 4])}
    with raises(kp.LimitError, hint=limit_hint("expansion")):
        load_document(tmp_path, replace_values(("n_frames",), 4_000_000, (*HAND, "keys"), [many]))


def test_many_feet_do_not_expand_beyond_the_limits(tmp_path):
    feet = [{"foot": "left", "in_contact": []}] * 1000
    with raises(kp.LimitError, hint=limit_hint("expansion")):
        load_document(tmp_path, replace_values(("n_frames",), 4_000_000, ("contacts",), feet))


def test_few_swings_of_very_many_frames(tmp_path):
    """Swings take no memory for frames: only playing does, and that is refused in time."""
    assert load_document(tmp_path, replace_values(("n_frames",), 1_000_000)).n_frames == 1_000_000
    with raises(kp.LimitError, hint=limit_hint("expansion")):
        kp.load(tmp_path / "x.swings.json")
    load_document(tmp_path, SOUND)
    with raises(kp.LimitError, value=1000001, hint=limit_hint("frames")):
        kp.load(tmp_path / "x.swings.json", fps=1e6, limits=kp.Limits(frames=1000))


def load_or_refuse(folder: Path, data: bytes) -> str:
    path = folder / "x.swings.json"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        try:
            kp.load(path, limits=kp.Limits(bytes=64 << 20, frames=10_000))
            load_swings(path)
        except kp.FormatError as error:
            assert str(path) in str(error)
            return "refused"
    return "loaded"


def test_damaged_files(tmp_path):
    seeds = [
        write_swings(document, ".swings.json", SaveOptions())
        for document in (SWINGS, random_swings(1), random_swings(2))
    ]
    rng = random.Random(0)
    outcomes = [load_or_refuse(tmp_path, damage(rng.choice(seeds), seeds, rng)) for _ in range(300)]
    assert set(outcomes) == {"refused", "loaded"}


PATHS = json_faults.list_paths(SOUND)
VALUES = json_faults.any_values(["", *NAMES, "XYZ"], ["joint", "start"])


@relaxed
@given(data=st.data())
def test_any_value_anywhere(data, tmp_path):
    document = json_faults.draw_wrong_document(data, SOUND, PATHS, VALUES)
    load_or_refuse(tmp_path, json.dumps(document).encode())
