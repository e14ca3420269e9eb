"""Faulty ``.keys.json``: a KeyedMotion or an error that names the field."""

from __future__ import annotations

import base64
import json
import random
import re
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fuzz.mutate import damage

import keypose as kp
from keypose.formats.base import SaveOptions
from keypose.formats.keys_json import build_document, write_keyed
from keypose.limits import limit_hint
from support import json_faults
from support.errors import Pattern, raises, warns
from support.json_faults import DELETED
from support.keyed_motions import CASES

SOUND = json.loads(json.dumps(build_document(CASES["cubic"])))
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def replace_values(*paths_and_values) -> dict:
    return json_faults.replace_values(SOUND, *paths_and_values)


def load_document(folder: Path, content: dict | bytes | str, **options) -> kp.KeyedMotion:
    path = folder / "x.keys.json"
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return kp.load_keyed(path, **options)


ENCODED_BYTES = np.zeros((2, 7, 3)).tobytes()


def encoded_array(**more) -> dict:
    data = base64.b64encode(zlib.compress(ENCODED_BYTES)).decode()
    return {"shape": [2, 7, 3], "crc32": zlib.crc32(ENCODED_BYTES), "data": data} | more


HIPS = ("translations", 0)
FAULTS = {
    "version": [(("version",), v) for v in (0, -1, "1", None, True, 1.0, DELETED)],
    "name": [(("name",), v) for v in (3, None, DELETED)],
    "fps": [(("fps",), v) for v in (0, -3, "30", None, 1e9, 1e-9, True, DELETED)],
    "n_frames": [(("n_frames",), v) for v in (0, -1, 2.0, "20", 2**70, DELETED)],
    "first_frame": [(("first_frame",), v) for v in (0.5, "0", None, 2**60, -(2**60), DELETED)],
    "up": [(("up",), v) for v in ("y", "", 3, None, DELETED)],
    "metres_per_unit": [(("metres_per_unit",), v) for v in (0, -1, "m", True, DELETED)],
    "notes": [(("notes",), v) for v in ("x", None, [3], [None], DELETED)],
    "skeleton": [(("skeleton",), v) for v in (3, None, [], DELETED)],
    "skeleton.joints": [(("skeleton", "joints"), v) for v in ([], 3, [3], DELETED)],
    "skeleton.joints[1].name": [(("skeleton", "joints", 1, "name"), v) for v in (3, "Hips", None, DELETED)],
    "skeleton.joints[1].parent": [(("skeleton", "joints", 1, "parent"), v) for v in (0, "Head", "x", [], DELETED)],
    "skeleton.joints[1].offset": [
        (("skeleton", "joints", 1, "offset"), v) for v in ([1, 2], [1, 2, 3, 4], "abc", [1, 2, "3"], [1, 2, 1e99], None)
    ],
    "skeleton.joints[1].rotation_order": [(("skeleton", "joints", 1, "rotation_order"), 3)],
    "skeleton.joints[1].channels": [(("skeleton", "joints", 1, "channels"), v) for v in ("x", [3], DELETED)],
    "skeleton.end_sites[0].joint": [(("skeleton", "end_sites", 0, "joint"), v) for v in ("x", 3, None, DELETED)],
    "skeleton.end_sites[0].offset": [(("skeleton", "end_sites", 0, "offset"), v) for v in ([], None, DELETED)],
    "reference_pose": [(("reference_pose",), v) for v in (3, [], DELETED)],
    "reference_pose.rotations": [(("reference_pose",), {"translations": [[0, 0, 0]] * 7, "rotations": [[1, 0, 0, 0]]})],
    "keys": [(("keys",), v) for v in ([], 3, None, DELETED)],
    "keys[1]": [(("keys", 1), v) for v in (0, -4, 4.0, "4", True, None, 10**30)],
    "extremes": [(("extremes",), v) for v in ([], [True], [1] * 5, "x", None, DELETED)],
    "interpolation": [(("interpolation",), v) for v in ("bezier", 3, None, DELETED)],
    "rotation_orders": [(("rotation_orders",), v) for v in (["ZXY"], "ZXY", [3] * 7, DELETED)],
    "rotation_orders[0]": [(("rotation_orders",), ["XXX"] * 7)],
    "rotations[0].values[0]": [(("rotation_orders",), ["ZXY"] * 7), (("rotations", 0, "values", 0), [2, 0, 0, 0])],
    "rotations[2].still": [(("rotations", 2, "still"), v) for v in ([3, 0, 0, 0], [1, 0, 0], None)],
    "translations": [(("translations",), v) for v in ([], 3, [3] * 7, DELETED)],
    "translations[0].joint": [((*HIPS, "joint"), v) for v in ("Head", 3, DELETED)],
    "translations[0].values": [((*HIPS, "values"), v) for v in ([], 3, [[0, 0, 0]] * 4, DELETED)],
    "translations[0].values[3]": [
        ((*HIPS, "values", 3), v) for v in (3, [], [1, 2], [1, 2, None], [1, 2, True], [1, 2, "3"], [1, 2, [3]], [1e16, 0, 0])
    ],
    "translations[0].in_tangents": [((*HIPS, "in_tangents"), v) for v in ([], None, DELETED)],
    "translations[0].out_tangents[2]": [((*HIPS, "out_tangents", 2), [0, 0, 10**400])],
    "residual": [(("residual",), v) for v in (3, [], DELETED)],
    "residual.rotations": [(("residual", "rotations"), v) for v in (3, None, DELETED)],
    "residual.rotations.shape": [
        (("residual", "rotations", "shape"), v)
        for v in ([20, 7], [20, 6, 3], [0, 7, 3], [-1, 7, 3], [20.0, 7, 3], [True, 7, 3], "x", None, DELETED)
    ],
    "residual.rotations.crc32": [(("residual", "rotations", "crc32"), v) for v in (-1, "x", None, DELETED)],
    "residual.shifts.data": [
        (("residual", "shifts", "data"), v)
        for v in (3, "", "%%", "é", "AAAA", base64.b64encode(zlib.compress(b"x")).decode(), DELETED)
    ],
    "residual.frames": [(("residual", "frames"), v) for v in (3, "x", [None], DELETED)],
    "residual.sources": [(("residual", "frames"), [0, 1])],
}  # fmt: skip


def version_fields(version: int) -> dict:
    problem = f"version is {version}: the file is of a newer Keypose than this one, which reads version 1"
    return {"code": "unsupported", "problem": problem, "hint": "update Keypose to read it"}


RESIDUAL = ("residual", "rotations")
QUATERNIONS = {"translations": [[0, 0, 0]] * 7, "rotations": [[2, 0, 0, 0]] * 7}
OTHER_FAULTS = [
    (("version",), 2, version_fields(2)),
    (("version",), 99, version_fields(99)),
    (("n_frames",), 12, {"subject": "keys[4]", "value": 19, "expected": "increasing frames from 0 to 11"}),
    (("metres_per_unit",), 1e100, {"code": "inconsistent", "problem": Pattern("1e.100 metres per unit, expected 1e-12 to 1e12")}),
    (("skeleton", "joints", 1, "rotation_order"), "XXX", {"code": "inconsistent", "problem": Pattern("skeleton: rotation order 'XXX' of Spine, expected one of XYZ")}),
    (("skeleton", "joints", 1, "channels"), ["Wrotation"], {"code": "inconsistent", "problem": Pattern("skeleton: channels Wrotation of Spine, expected each of Xposition")}),
    (("reference_pose",), QUATERNIONS, {"code": "inconsistent", "problem": Pattern("^pose rotations: .* at index .0,. is not a unit quaternion")}),
    ((*RESIDUAL, "crc32"), 7, {"code": "damaged", "subject": "residual.rotations.data", "problem": Pattern("^the checksum of its bytes is")}),
    (RESIDUAL, encoded_array(shape=[3, 7, 3]), {"code": "inconsistent", "subject": "residual.rotations.data", "problem": "not the 504 bytes of its shape"}),
    (RESIDUAL, encoded_array(shape=[1, 7, 3]), {"code": "inconsistent", "subject": "residual.rotations.data", "problem": "more than the 168 bytes of its shape"}),
    (RESIDUAL, encoded_array(), {"code": "inconsistent", "problem": "residual shifts: shape (20, 7, 3), expected (2, 7, 3)"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("location", "path", "value"),
    [(location, path, value) for location, changes in FAULTS.items() for path, value in changes],
)
def test_errors_name_the_wrong_field(location, path, value, tmp_path):
    """An error may name an element of an array."""
    with raises(
        kp.FormatError, path=str(tmp_path / "x.keys.json"), subject=Pattern(rf"^{re.escape(location)}(\[0\])?$")
    ) as caught:
        load_document(tmp_path, replace_values(path, value))
    assert (caught.value.code == "missing_data") == (value is DELETED)


@pytest.mark.parametrize(("path", "value", "fields"), OTHER_FAULTS)
def test_other_faults(path, value, fields, tmp_path):
    with raises(kp.FormatError, path=str(tmp_path / "x.keys.json"), **fields):
        load_document(tmp_path, replace_values(path, value))


@pytest.mark.parametrize("path", [("speed",), ("skeleton", "x"), ("translations", 0, "still2"), ("residual", "by")])
def test_an_unknown_field_is_ignored_with_a_warning(path, tmp_path):
    with warns(kp.FormatWarning, code="unknown_word", value=path[-1]):
        load_document(tmp_path, replace_values(path, 3))


def test_an_unknown_field_that_begins_like_another_is_ignored_with_a_warning(tmp_path):
    text = json.dumps(SOUND).replace('"format": "keypose keys"', '"format": "keypose keys", "format2": "keypose keys"')
    with warns(kp.FormatWarning, code="unknown_word", value="format2"):
        load_document(tmp_path, text)


@pytest.mark.parametrize(
    ("old", "new", "fields"),
    [
        (
            '"fps": 30.0',
            '"fps": 30.0, "fps": 25.0',
            {"code": "syntax", "problem": Pattern("'fps' stands twice in one object")},
        ),
        (
            '"parent": null',
            '"parent": null, "parent": null',
            {"code": "syntax", "problem": Pattern("'parent' stands twice in one object")},
        ),
        ('"fps": 30.0', '"fps": NaN', {"code": "syntax", "problem": Pattern("NaN is no JSON number")}),
        ('"fps": 30.0', '"fps": Infinity', {"code": "syntax", "problem": Pattern("Infinity is no JSON number")}),
        (
            '"fps": 30.0',
            '"fps": 1e999',
            {"code": "bad_number", "subject": "fps", "value": float("inf"), "expected": "a number above 0"},
        ),
        (
            '"fps": 30.0',
            '"fps": ' + "9" * 5000,
            {"code": "syntax", "problem": Pattern("^not sound JSON .Exceeds the limit")},
        ),
        ('"fps": 30.0', '"fps": ' + "[" * 100_000, {"code": "syntax", "problem": "the JSON is nested too deeply"}),
        ('"fps": 30.0', '"fps": ', {"code": "syntax", "problem": Pattern("^not sound JSON .Expecting value")}),
    ],
)
def test_wrong_json(old, new, fields, tmp_path):
    text = json.dumps(SOUND)
    assert old in text
    with raises(kp.FormatError, path=str(tmp_path / "x.keys.json"), **fields):
        load_document(tmp_path, text.replace(old, new, 1))


def test_cut_short_anywhere(tmp_path):
    data = write_keyed(CASES["cubic"], ".keys.json", SaveOptions())
    for end in range(1, len(data) - 2, 997):
        with pytest.raises(kp.FormatError):
            load_document(tmp_path, data[:end])


@pytest.mark.one_python
def test_a_compression_bomb_is_not_expanded(tmp_path):
    """A residual with a small shape that expands to a gigabyte, and one with a large shape."""
    bomb = zlib.compressobj()
    data = b"".join([bomb.compress(bytes(1 << 24)) for _ in range(64)] + [bomb.flush()])
    wrong = encoded_array(data=base64.b64encode(data).decode())
    with raises(kp.FormatError, code="inconsistent", subject="residual.rotations.data"):
        load_document(tmp_path, replace_values(("residual", "rotations"), wrong))
    with raises(kp.LimitError, value=5000001, hint=limit_hint("frames")):
        load_document(tmp_path, replace_values(("residual", "rotations"), encoded_array(shape=[5_000_001, 7, 3])))
    with raises(kp.LimitError, hint=limit_hint("expansion")):
        load_document(tmp_path, replace_values(("residual", "rotations"), encoded_array(shape=[4_000_000, 7, 3])))


def test_limits(tmp_path):
    with raises(kp.LimitError, value=10, hint=limit_hint("joints")):
        load_document(tmp_path, SOUND, limits=kp.Limits(joints=9))  # 7 and 3 end sites
    with raises(kp.LimitError, value=3, hint=limit_hint("depth")):
        load_document(tmp_path, SOUND, limits=kp.Limits(depth=2))
    with raises(kp.LimitError, value=20, hint=limit_hint("frames")):
        load_document(tmp_path, SOUND, limits=kp.Limits(frames=19))
    with raises(kp.LimitError, hint=limit_hint("bytes")):
        load_document(tmp_path, SOUND, limits=kp.Limits(bytes=1000))


def test_still_joints_do_not_expand_beyond_the_limits(tmp_path):
    """Many keys times many joints that are stored once each would be gigabytes."""
    joints = [SOUND["skeleton"]["joints"][0] | {"name": f"j{j}"} for j in range(5000)]
    still = [{"joint": f"j{j}", "still": [0, 0, 0]} for j in range(5000)]
    keys = list(range(100_000))
    wide = replace_values(
        ("skeleton",), {"joints": joints, "end_sites": []}, ("translations",), still, ("rotations",), still,
        ("rotation_orders",), ["ZXY"] * 5000, ("keys",), keys, ("n_frames",), len(keys), ("residual",), None,
        ("extremes",), [True] * len(keys),
    )  # fmt: skip
    with raises(kp.LimitError, hint=limit_hint("expansion")):
        load_document(tmp_path, wide)


def test_few_keys_of_very_many_frames(tmp_path):
    """Keys take no memory for frames: only sampling does, and that is refused in time."""
    long = replace_values(("n_frames",), 4_999_999)
    assert load_document(tmp_path, long).n_frames == 4_999_999
    with raises(kp.LimitError, hint=limit_hint("expansion")):
        kp.load(tmp_path / "x.keys.json")
    load_document(tmp_path, SOUND)
    with raises(kp.LimitError, hint=limit_hint("expansion")):
        kp.load(tmp_path / "x.keys.json", fps=1e6)


def load_or_refuse(folder: Path, data: bytes) -> str:
    path = folder / "x.keys.json"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.FormatWarning)
        try:
            kp.load_keyed(path, limits=kp.Limits(bytes=64 << 20)).sample()
        except kp.FormatError as error:
            assert str(path) in str(error)
            return "refused"
    return "loaded"


def test_damaged_files(tmp_path):
    seeds = [write_keyed(CASES[name], ".keys.json", SaveOptions()) for name in ("cubic", "Euler", "straight")]
    rng = random.Random(0)
    outcomes = [load_or_refuse(tmp_path, damage(rng.choice(seeds), seeds, rng)) for _ in range(400)]
    assert {"refused", "loaded"} == set(outcomes)


PATHS = json_faults.list_paths(SOUND)
VALUES = json_faults.any_values(["", "Hips", "XYZ"], ["joint", "still", "x"])


@relaxed
@given(data=st.data())
def test_any_value_anywhere(data, tmp_path):
    document = json_faults.draw_wrong_document(data, SOUND, PATHS, VALUES)
    load_or_refuse(tmp_path, json.dumps(document).encode())
