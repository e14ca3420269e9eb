""".blend and FBX files without Blender: recognition, errors, and misbehaving child processes.

With Blender: tests/blender/test_blend.py, test_blend_round_trip.py and test_fbx_write.py.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import keypose as kp
from keypose.formats.blend.fcurves import BEZIER, CONSTANT, LINEAR, FCurve, common_keys
from support.errors import Pattern, raises, warns

HEAD = b"BLENDER-v405" + bytes(100)

# Replaces Blender's interpreter: it runs the lines of the test.
FAKE_INTERPRETER = """#!{python}
import json, os, signal, sys
import numpy as np
request = json.load(open(sys.argv[-1]))
def answer(facts, **arrays):
    json.dump(facts, open(os.path.join(request["folder"], "facts.json"), "w"))
    np.savez(os.path.join(request["folder"], "arrays.npz"), **arrays)
{body}
"""

without_hash_bang = pytest.mark.skipif(
    sys.platform == "win32", reason="the fake interpreter is a script with a #! line"
)


@pytest.fixture
def fake_interpreter(tmp_path, monkeypatch):
    """Replace Blender's interpreter with one that runs the given lines."""

    def install(body: str) -> None:
        script = tmp_path / "python"
        script.write_text(FAKE_INTERPRETER.format(python=sys.executable, body=body))
        script.chmod(0o755)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", str(script))

    return install


def facts(**changes) -> dict:
    return {
        "names": ["hip", "knee"],
        "parents": [-1, 0],
        "joints": [None, None],
        "rate": 24.0,
        "first": 7,
        "metres": 0.5,
        "modes": ["QUATERNION", "QUATERNION"],
    } | changes


def answer(result: dict | None = None, **arrays: str) -> str:
    expressions = {
        "positions": "[[[0, 0, 9], [0, 0, 5]], [[0, 0, 9], [0, 4, 9]]]",
        "rotations": "[[[1, 0, 0, 0]] * 2, [[0.5**0.5, 0.5**0.5, 0, 0]] * 2]",
        "rest_positions": "[[0, 0, 9], [0, 0, 5]]",
        "rest_rotations": "[[1, 0, 0, 0]] * 2",
        "bone_rotations": "[[1, 0, 0, 0]] * 2",
    } | arrays
    text = ", ".join(f"{name}=np.array({value})" for name, value in expressions.items() if value)
    return f"answer(json.loads({json.dumps(result if result is not None else facts())!r}), {text})"


@without_hash_bang
@pytest.mark.parametrize("magic", [HEAD, b"\x28\xb5\x2f\xfd" + bytes(50)])
def test_an_answer_becomes_a_motion(fake_interpreter, tmp_path, magic):
    fake_interpreter(answer())
    (tmp_path / "x.blend").write_bytes(magic)
    motion = kp.load(tmp_path / "x.blend")
    assert motion.skeleton.names == ("hip", "knee")
    assert (motion.fps, motion.up, motion.metres_per_unit, motion.first_frame) == (24.0, "Z", 0.5, 7)
    assert np.allclose(motion.world_positions()[1], [[0, 0, 9], [0, 4, 9]])


@without_hash_bang
@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (
            "os.kill(os.getpid(), signal.SIGSEGV)",
            {"problem": "Blender was stopped by SIGSEGV while reading it", "expected": "a sound file"},
        ),
        ("pass", {"value": Pattern("^FileNotFoundError: ")}),
        ("answer({'problem': 'no armature'})", {"problem": "no armature"}),
        (
            "answer({'failure': 'too blue', 'version': '4.2.1'})",
            {"problem": "Blender cannot read it (too blue)", "hint": "use Blender 4.5 or 5.2 in place of 4.2"},
        ),
        (
            answer(facts(names=["a", 3])),
            {"code": "inconsistent", "problem": "names: not the list of names that was expected"},
        ),
        (
            answer(facts(parents=[1, -1])),
            {"code": "inconsistent", "problem": "a joint comes before its parent", "expected": "parents first"},
        ),
        (
            answer(facts(rate=None)),
            {"code": "bad_number", "problem": "None frames per second", "value": None, "expected": "a positive number"},
        ),
        (
            answer(facts(metres=float("nan"))),
            {"code": "bad_number", "problem": "nan metres per unit", "expected": "a positive number"},
        ),
        (
            answer(rotations="[[[0, 0, 0, 0]] * 2] * 2"),
            {"code": "bad_number", "problem": "frame 0, hip: a rotation of length 0", "expected": "a unit quaternion"},
        ),
        (
            answer(positions="np.zeros((0, 2, 3))", rotations="np.zeros((0, 2, 4))"),
            {"code": "missing_data", "problem": "2 bones and 0 frames", "expected": "at least one of each"},
        ),
    ],
)
def test_invalid_answers(fake_interpreter, tmp_path, body, fields):
    fake_interpreter(body)
    (tmp_path / "x.blend").write_bytes(HEAD)
    with raises(kp.FormatError, path=str(tmp_path / "x.blend"), **fields):
        kp.load(tmp_path / "x.blend")


@without_hash_bang
@pytest.mark.parametrize(
    "notes",
    [
        {"notes": "{}", "text": "{}"},
        {"notes": "[", "text": "{}"},
        {"notes": 3, "text": "{}"},
        {"notes": '{"version": 1}', "text": "[]"},
        {"notes": '{"version": 1}'},
        {"notes": '{"version": 1}', "text": "{}", "joints": "none"},
    ],
)
def test_notes_that_do_not_fit_are_ignored_with_a_warning(fake_interpreter, tmp_path, notes):
    fake_interpreter(answer(facts(**notes)))
    (tmp_path / "x.blend").write_bytes(HEAD)
    with warns(
        kp.FormatWarning, code="unused_data", problem=Pattern("^the data of Keypose in the file are not used: ")
    ):
        assert kp.load(tmp_path / "x.blend").n_frames == 2


@pytest.mark.parametrize("load", [kp.load, kp.load_keyed])
@pytest.mark.parametrize(
    ("data", "code", "problem"),
    [
        (b"", "unknown_format", "is empty"),
        (b"PK\x03\x04" + bytes(100), "unknown_format", "is a zip archive"),
        (b"BLEND" + bytes(100), "unknown_format", "unknown format (starts with"),
        (b"\x1f\x8b" + HEAD, "damaged", "damaged gzip data"),
    ],
)
def test_other_files_do_not_start_blender(fake_interpreter, tmp_path, load, data, code, problem):
    fake_interpreter(f"open({str(tmp_path / 'started')!r}, 'w')")
    (tmp_path / "x.blend").write_bytes(data)
    with raises(kp.FormatError, code=code, path=str(tmp_path / "x.blend"), problem=Pattern(f"^{re.escape(problem)}")):
        load(tmp_path / "x.blend")
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("suffix", [".blend", ".fbx"])
def test_without_blender(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.delenv("KEYPOSE_BLENDER_PYTHON", raising=False)
    extra = {".blend": "blender", ".fbx": "fbx"}[suffix]
    motion = kp.demo_motion()[:3]
    requirement = {".blend": "writing .blend needs", ".fbx": "writing FBX needs"}[suffix]
    with raises(kp.MissingExtra, requirement=requirement) as caught:
        kp.save(motion, tmp_path / f"x{suffix}")
    # The golden hint of this error:
    hint = (
        f"pip install 'keypose[{extra}]' (Python 3.11 or 3.13) or KEYPOSE_BLENDER_PYTHON=a Python that can import bpy"
    )
    assert caught.value.install_hint == hint
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", str(tmp_path / "nowhere"))
    with raises(kp.MissingExtra, path=str(tmp_path / "nowhere"), install_hint=None):
        kp.save(motion, tmp_path / f"x{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".blend", ".fbx"])
def test_an_interpreter_without_blender(suffix, tmp_path, monkeypatch):
    """The real child process, run by a Python without bpy."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", sys.executable)
    requirement = {".blend": "writing .blend needs", ".fbx": "writing FBX needs"}[suffix]
    with raises(kp.MissingExtra, requirement=requirement) as caught:
        kp.save(kp.demo_motion()[:3], tmp_path / f"x{suffix}")
    assert caught.value.install_hint.startswith("pip install")


@without_hash_bang
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "Blender was stopped by SIGSEGV while writing it"),
        ("sys.exit(3)", "Blender ended with code 3 while writing it"),
        ("pass", Pattern("^Blender left no file ")),
        ("answer({})", Pattern("^Blender left no file ")),
        ("answer([])", Pattern("^Blender left no file ")),
        ("answer({'problem': 'too blue'})", "too blue"),
    ],
)
def test_a_child_process_that_writes_nothing(fake_interpreter, tmp_path, body, problem):
    fake_interpreter(body)
    with raises(kp.FileError, code="file", problem=problem):
        kp.save(kp.demo_motion()[:3], tmp_path / "x.blend")
    assert not (tmp_path / "x.blend").exists()


def test_more_frames_than_blender_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["keypose.formats.blend.write"], "MAX_FRAMES", 3)
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", "not started")
    with raises(kp.OptionError, subject="demo", value=3, hint="save it in parts"):
        kp.save(kp.demo_motion()[:3], tmp_path / "x.blend")


def test_reference_pose_option_is_refused_for_a_keyed_motion(tmp_path):
    keyed = kp.unbake(kp.demo_motion()[:40], keys=5)
    pose = keyed.pose(0)
    with raises(kp.OptionError, hint="for a first frame of it, save keyed.sample()"):
        kp.save(replace(keyed, reference_pose=pose), tmp_path / "x.blend", reference_pose=True)


def _curve(*keys, interpolation=BEZIER, kind=0) -> FCurve:
    """Return a curve of keys (x, y, left handle's dx and dy, right handle's dx and dy)."""
    rows = [(x - lx, y - ly, x, y, x + rx, y + ry, interpolation, kind) for x, y, lx, ly, rx, ry in keys]
    return FCurve.from_table(np.array(rows, float))


def test_bezier_tangents_match_finite_differences():
    """Anywhere on a curve with handles of any length."""
    curve = _curve((0, 1, 1, 1, 2.0, 3.0), (10, -2, 6.0, 1.0, 1, 1))
    s = np.linspace(0, 1, 2001)
    x = 3 * s * (1 - s) ** 2 * 2 + 3 * s**2 * (1 - s) * 4 + s**3 * 10
    y = (1 - s) ** 3 + 3 * s * (1 - s) ** 2 * 4 + 3 * s**2 * (1 - s) * -3 + s**3 * -2
    at = np.array((0.5, 3.0, 5.0, 9.5))
    steps = np.interp(at, (x[1:] + x[:-1]) / 2, np.diff(y) / np.diff(x))
    assert np.allclose(curve.tangents(at, before=False), steps, atol=1e-4)
    assert np.allclose(curve.tangents(np.array((0.0, 10.0)), before=False), [1.5, 0.0])
    assert np.allclose(curve.tangents(np.array((0.0, 10.0)), before=True), [0.0, 1 / 6])


def test_tangents_of_other_interpolations():
    keys = ((0, 1, 1, 9, 1, 9), (4, 3, 1, 9, 1, 9), (6, 3, 1, 9, 1, 9))
    at = np.array((1.0, 4.0, 5.0))
    assert _curve(*keys, interpolation=LINEAR).tangents(at, before=True).tolist() == [0.5, 0.5, 0.0]
    assert _curve(*keys, interpolation=CONSTANT).tangents(at, before=False).tolist() == [0.0, 0.0, 0.0]


def test_common_keys():
    """Keys outside count at the border, and the frame before a jump gets a key."""
    one = _curve((-5, 0, 1, 0, 1, 0), (10, 1, 1, 0, 1, 0), kind=2)
    two = _curve((3.2, 0, 1, 0, 1, 0), (10, 1, 1, 0, 1, 0), (99, 1, 1, 0, 1, 0))
    steps = _curve((20, 0, 1, 0, 1, 0), (25, 5, 1, 0, 1, 0), (30, 5, 1, 0, 1, 0), interpolation=CONSTANT, kind=2)
    keys, extremes = common_keys([one, two, steps], 50)
    assert keys.tolist() == [0, 3, 10, 20, 24, 25, 30, 49]
    assert extremes.tolist() == [False, True, True, False, False, False, False, False]
