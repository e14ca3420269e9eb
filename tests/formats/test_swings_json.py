"""``.swings.json``: exact round trips of readable text."""

from __future__ import annotations

import gzip
import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keypose as kp
from keypose.formats import FORMATS, load_swings, writable_suffixes
from keypose.formats.swings_json import FIELDS, VERSION
from keypose.swings import Settings
from support.errors import Pattern, raises
from support.keyed_motions import bits
from support.stored_swings import CASES, random_swings

DOCS = Path(__file__).resolve().parents[2] / "docs" / "formats.md"
relaxed = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("suffix", [".swings.json", ".swings.json.gz", ".SWINGS.JSON"])
@pytest.mark.parametrize("name", CASES)
def test_every_bit_comes_back(name, suffix, tmp_path):
    path = tmp_path / f"a.b{suffix}"
    kp.save(CASES[name], path)
    assert bits(load_swings(path)) == bits(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_load_gives_the_motion_that_they_play(name, tmp_path):
    kp.save(CASES[name], tmp_path / "x.swings.json")
    assert bits(kp.load(tmp_path / "x.swings.json")) == bits(CASES[name].play())
    assert bits(kp.load(tmp_path / "x.swings.json", fps=48)) == bits(CASES[name].play(fps=48))


@relaxed
@given(seed=st.integers(0, 2**31), n_frames=st.integers(1, 200))
def test_anything_comes_back(seed, n_frames, tmp_path):
    original = random_swings(seed, n_frames)
    kp.save(original, tmp_path / "x.swings.json")
    assert bits(load_swings(tmp_path / "x.swings.json")) == bits(original)


def test_frame_0_as_reference_pose_on_demand(tmp_path):
    kp.save(CASES["found"], tmp_path / "x.swings.json")
    motion, whole = kp.load(tmp_path / "x.swings.json", reference_pose="drop"), CASES["found"].play()
    assert motion.n_frames == whole.n_frames - 1 and motion.first_frame == whole.first_frame + 1
    np.testing.assert_array_equal(motion.reference_pose.rotations, whole.rotations[0])


# Other formats, other types


@pytest.mark.parametrize(
    "suffix", [s for s in writable_suffixes() if not s.startswith((".fbx", ".blend", ".usd", ".kps"))]
)
def test_other_formats_get_the_motion(suffix, tmp_path):
    kp.save(CASES["found"], tmp_path / f"x{suffix}")
    kp.save(CASES["found"].play(), tmp_path / f"y{suffix}")
    assert (tmp_path / f"x{suffix}").read_bytes() == (tmp_path / f"y{suffix}").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {f"x{suffix}", f"y{suffix}"}  # no keys beside it


@pytest.mark.parametrize("suffix", [".swings.json", ".swings.json.gz"])
def test_only_swings_can_be_saved(suffix, tmp_path):
    for motion in (CASES["found"].play(), kp.unbake(CASES["found"].play(), keys=5)):
        path = tmp_path / f"x{suffix}"
        with raises(kp.OptionError, path=str(path), value=type(motion).__name__) as caught:
            kp.save(motion, path)
        # The golden message of this error:
        name = suffix.removesuffix(".gz")
        assert f"{name} holds swings, not a {type(motion).__name__}; kp.swings finds them" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    with raises(kp.OptionError, value="str", path=None):
        kp.save("x", tmp_path / "x.swings.json")


def test_load_keyed_error_names_alternatives(tmp_path):
    kp.save(CASES["found"], tmp_path / "x.swings.json")
    with raises(kp.FormatError, code='missing_data', expected='one of .keys.json, .kps, .glb, .gltf, .blend', hint=Pattern('kp.unbake finds keys for them; kp.load_swings reads its swings$')):  # fmt: skip
        kp.load_keyed(tmp_path / "x.swings.json")


def test_load_swings_error_names_alternatives(tmp_path):
    kp.save(CASES["found"].play(), tmp_path / "x.bvh")
    with raises(kp.FormatError, code='missing_data', expected='.swings.json, .kps', hint=Pattern('kp.swings finds swings in them$')):  # fmt: skip
        load_swings(tmp_path / "x.bvh")
    with raises(kp.FileError, code="no_such_file"):
        load_swings(tmp_path / "y.swings.json")


def test_content_decides_whatever_the_name(tmp_path):
    kp.save(CASES["found"], tmp_path / "x.swings.json")
    data = (tmp_path / "x.swings.json").read_bytes()
    (tmp_path / "y.json").write_bytes(b"\xef\xbb\xbf\n" + data)
    assert bits(load_swings(tmp_path / "y.json")) == bits(CASES["found"])
    (tmp_path / "z.keys.json").write_bytes(gzip.compress(data))
    assert "not what the suffix .keys.json says" in load_swings(tmp_path / "z.keys.json").notes[0]
    with raises(kp.OptionError, value=".json", path=str(tmp_path / ".swings.json")):
        kp.save(CASES["found"], tmp_path / ".swings.json")


def test_only_these_formats_have_swings():
    names = ["Keypose swings", "Keypose storage"]
    assert [f.name for f in FORMATS if f.read_swings] == [f.name for f in FORMATS if f.write_swings] == names


# The text


def test_a_person_can_read_it(tmp_path):
    original = CASES["found"]
    kp.save(original, tmp_path / "x.swings.json")
    text = (tmp_path / "x.swings.json").read_text()
    assert max(len(line) for line in text.splitlines() if '"data"' not in line) < 200
    document = json.loads(text)
    assert document["version"] == VERSION and document["settings"]["threshold"] == 0.4
    assert document["settings"]["left_out"] == list(original.settings.left_out) and "LeftHandMiddle1" in text
    thigh = next(joint for joint in document["joints"] if joint["joint"] == "LeftUpLeg")
    swing, own = thigh["swings"][1], original["LeftUpLeg"][1]
    assert (swing["start"], swing["end"]) == (own.start, own.end)
    np.testing.assert_array_equal(swing["rotation"], own.start_rotation)
    np.testing.assert_allclose(swing["rotation_vector"], own.axis * own.angle, atol=1e-15)
    left = next(foot for foot in document["contacts"] if foot["foot"] == "left")
    touching = original.contacts.in_contact[:, original.contacts.feet.index("left")]
    assert [first <= t <= last for t in range(original.n_frames) for first, last in left["in_contact"]].count(
        True
    ) == touching.sum()
    fingers = next(joint for joint in document["joints"] if joint["joint"] == "LeftHandMiddle1")
    (span,) = fingers["keys"]
    assert (span["start"], span["end"]) == (0, original.n_frames - 1) and span["rotations"]["shape"] == [
        original.n_frames,
        4,
    ]
    (hips,) = document["paths"]
    assert hips["joint"] == "Hips" and len(hips["frames"]) == len(hips["values"]) == len(hips["out_tangents"])


def test_few_keys_are_written_out(tmp_path):
    track = kp.Track("A", np.array([1.0, 0, 0, 0]), keyed=(kp.KeyedSpan(np.array([2, 3, 8]), np.eye(4)[[0, 1, 0]]),))
    kp.save(CASES["one joint"].replace_tracks({0: track}), tmp_path / "x.swings.json")
    lines = [line.strip() for line in (tmp_path / "x.swings.json").read_text().splitlines()]
    keys = '"keys": [{"frames": [2, 3, 8], "rotations": [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]}]'
    assert keys in lines


def test_an_edit_by_hand(tmp_path):
    """A swing that is changed in the text changes that joint, and nothing else."""
    original = CASES["found"]
    kp.save(original, tmp_path / "x.swings.json")
    document = json.loads((tmp_path / "x.swings.json").read_text())
    joint = next(joint for joint in document["joints"] if joint["joint"] == "LeftUpLeg")
    joint["swings"][1]["rotation_vector"] = [0, 0.5, 0]
    (tmp_path / "x.swings.json").write_text(json.dumps(document, indent=4))
    edited = load_swings(tmp_path / "x.swings.json")
    assert edited["LeftUpLeg"][1].angle == 0.5
    others = [name for name in original.skeleton.names if name != "LeftUpLeg"]
    assert [bits(edited.track(name)) for name in others] == [bits(original.track(name)) for name in others]


def test_every_field_is_documented():
    page = DOCS.read_text().split("## Swings as text")[1].split("\n## ")[0]
    inner = ("joint", "translation", "mean_rotation", "swings", "rests", "keys", "start", "end", "rotation",
             "rotation_vector", "frames", "rotations", "values", "in_tangents", "out_tangents", "foot",
             "in_contact")  # fmt: skip
    own = [field.name for field in fields(Settings)]
    assert [name for name in (*FIELDS, *inner, *own) if f"`{name}`" not in page] == []


# Real motion


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::keypose.FormatWarning")
@pytest.mark.parametrize("options", [{}, {"fallback": "keys"}], ids=str)
@pytest.mark.parametrize(
    "file",
    ["cmu120/49_06_cartwheel.bvh", "asf-amc/09_06.amc", "c3d/optotrak.c3d", "gltf/CesiumMan.glb", "formats/bvh/*.bvh"],
)
def test_real_clips(file, options, tmp_path, data_dir):
    result = sorted(data_dir.glob(file), key=lambda path: path.stat().st_size)[:3]
    assert result
    for path in result:
        original = kp.swings(kp.load(path), **options)
        kp.save(original, tmp_path / "x.swings.json.gz")
        again = load_swings(tmp_path / "x.swings.json.gz")
        assert bits(again) == bits(original)
        assert bits(again.play()) == bits(original.play())


def test_played_bits_are_the_same(tmp_path):
    original = replace(CASES["found"], name="again")
    kp.save(original, tmp_path / "x.swings.json")
    again = load_swings(tmp_path / "x.swings.json")
    for level in (1.0, 0.5):
        assert bits(again.play(level, fps=77.7)) == bits(original.play(level, fps=77.7))


def test_the_error_about_a_suffix_lists_valid_ones(tmp_path):
    result = kp.swings(kp.demo_motion()[:30])
    expected = f"one of {', '.join(writable_suffixes(swings=True))}"
    assert ".swings.json," in expected and expected.endswith(".usd.gz") and ".swings.json.gz," in expected
    with raises(kp.OptionError, value=".json", expected=expected):
        kp.save(result, tmp_path / "k.json")
    expected = f"one of {', '.join(writable_suffixes())}"
    assert ".swings.json" not in expected
    with raises(kp.OptionError, value=".json", expected=expected):
        kp.save(result.play(), tmp_path / "k.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [None, 5, 0.5, [1]], ids=str)
def test_invalid_paths_are_refused(wrong):
    motion = kp.demo_motion()[:3]
    for use in (kp.load, kp.load_swings, kp.load_keyed, *(lambda path, each=each: kp.save(each, path)
                                                          for each in (motion, kp.swings(motion)))):  # fmt: skip
        with raises(kp.OptionError, option="path", expected="the path of a file"):
            use(wrong)
