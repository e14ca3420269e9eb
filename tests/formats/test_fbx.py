"""FBX without Blender: recognition, and misbehaving child processes.

With Blender: tests/blender/test_fbx_poses.py.
"""

from __future__ import annotations

import importlib.util
import json
import sys

import numpy as np
import pytest

import keypose as kp
from keypose.formats import subprocess_readers
from keypose.formats.subprocess_readers.main import describe_error
from keypose.limits import limit_hint
from keypose.model import note_code
from support.errors import Pattern, raises, warns

HEAD = b"Kaydara FBX Binary  \x00\x1a\x00" + bytes(100)

# Replaces Blender's interpreter: it runs the lines of the test.
FAKE_INTERPRETER = """#!{python}
import json, os, signal, sys, time
import numpy as np
request = json.load(open(sys.argv[-1]))
folder = request["folder"]
def answer(facts, **arrays):
    json.dump(facts, open(os.path.join(folder, "facts.json"), "w"))
    np.savez(os.path.join(folder, "arrays.npz"), **arrays)
{body}
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the fake interpreter is a script with a #! line")


@pytest.fixture
def read_with(tmp_path, monkeypatch):
    """Return a function that loads an FBX file with an interpreter that runs the given lines instead of Blender."""

    def load(body: str, **options) -> kp.Motion:
        script = tmp_path / "python"
        script.write_text(FAKE_INTERPRETER.format(python=sys.executable, body=body))
        script.chmod(0o755)
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", str(script))
        (tmp_path / "x.fbx").write_bytes(HEAD)
        return kp.load(tmp_path / "x.fbx", **options)

    return load


def facts(**changes) -> dict:
    return {
        "names": ["hip", "knee", "knee_end"],
        "parents": [-1, 0, 1],
        "rate": 30.0,
        "first": 3.0,
        "up": "Z",
        "unit_scale": 2.54,
        "n_animations": 1,
        "animations": ["walk"],
        "chosen": "walk",
        "layers": 1,
        "is_uneven": False,
    } | changes


def answer(result: dict | None = None, **arrays: str) -> str:
    """Return lines that answer with a leg that swings by a quarter turn about X."""
    expressions = {
        "positions": "[[[0, 0, 9], [0, 0, 5], [0, 0, 1]], [[0, 0, 9], [0, 4, 9], [0, 8, 9]]]",
        "rotations": "[[[1, 0, 0, 0]] * 3, [[0.5**0.5, 0.5**0.5, 0, 0]] * 3]",
        "rest_positions": "[[0, 0, 9], [0, 0, 5], [0, 0, 1]]",
        "rest_rotations": "[[1, 0, 0, 0]] * 3",
    } | arrays
    text = ", ".join(f"{name}=np.array({value})" for name, value in expressions.items() if value)
    return f"answer(json.loads({json.dumps(result if result is not None else facts())!r}), {text})"


def test_an_answer_becomes_a_motion(read_with):
    motion = read_with(answer())
    assert motion.skeleton.names == ("hip", "knee")  # the leaf NAME_end is an end site
    assert np.allclose(motion.skeleton.end_offsets, [[0, 0, -4]])
    assert (motion.n_frames, motion.fps, motion.up, motion.first_frame) == (2, 30.0, "Z", 3)
    assert motion.metres_per_unit == pytest.approx(0.0254)
    assert np.allclose(motion.world_positions()[1], [[0, 0, 9], [0, 4, 9]])
    assert np.allclose(motion.end_positions()[1], [[0, 8, 9]])


def test_a_leaf_that_moves_stays_a_joint(read_with):
    moving = "[[[0, 0, 9], [0, 0, 5], [0, 0, 1]], [[0, 0, 9], [0, 0, 5], [0, 0, 2]]]"
    motion = read_with(answer(positions=moving, rotations="[[[1, 0, 0, 0]] * 3] * 2"))
    assert motion.skeleton.names == ("hip", "knee", "knee_end")


def test_notes_about_what_is_not_read(read_with):
    motion = read_with(
        answer(facts(n_animations=2, animations=["walk", "run"], not_read={"prop": ["hat"], "other skeleton": ["dog"]}))
    )
    assert any("walk, run" in note for note in motion.notes)
    assert "not read: 1 prop ('hat'); 1 other skeleton ('dog')" in motion.notes
    assert list(map(note_code, motion.notes)) == ["other_animations", "not_read"]
    with warns(kp.FormatWarning, code="other_layers", value=2):
        read_with(answer(facts(layers=2)))
    with warns(kp.FormatWarning, code="uneven_scale"):
        read_with(answer(facts(is_uneven=True)))


@pytest.mark.parametrize(
    ("body", "kind", "fields"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", kp.FormatError, {"problem": "Blender was stopped by SIGSEGV while reading it", "expected": "a sound file"}),
        ("sys.exit(3)", kp.FormatError, {"problem": "Blender ended with code 3 while reading it", "expected": "a sound file"}),
        ("pass", kp.FormatError, {"value": Pattern("^FileNotFoundError: ")}),
        ("answer([])", kp.FormatError, {"value": "TypeError: facts that are no object"}),
        ("answer({'failure': 'too blue'})", kp.FormatError, {"problem": "Blender cannot read it (too blue)", "hint": None}),
        ("answer({'failure': 'too blue', 'version': '4.5.15 LTS'})", kp.FormatError, {"problem": "Blender cannot read it (too blue)", "hint": None}),
        ("answer({'failure': 'too blue', 'version': '5.0.1'})", kp.FormatError, {"problem": "Blender cannot read it (too blue)", "hint": "use Blender 4.5 or 5.2 in place of 5.0"}),
        ("answer({'failure': ['x'], 'version': {'y': 5.0}})", kp.FormatError, {"problem": "Blender cannot read it (['x'])", "hint": None}),
        ("answer({'problem': 'too blue', 'line': 'x'})", kp.FormatError, {"problem": "too blue"}),
        ("answer({'too_many': {'joints': 5}})", kp.FormatError, {"value": "ValueError: it stopped at {'joints': 5}, which is within the limits"}),
        ("answer({'too_many': 7})", kp.FormatError, {"value": Pattern("^AttributeError: ")}),
        ("answer({'too_many': {'joints': 50_000}})", kp.LimitError, {"value": 50_000, "hint": limit_hint("joints")}),
        ("answer({'too_many': {'frames': 10**9, 'joints': 3}})", kp.LimitError, {"value": 10**9, "hint": limit_hint("frames")}),
        ("answer({}); open(folder + '/arrays.npz', 'w').write('no zip')", kp.FormatError, {"value": Pattern("^BadZipFile: ")}),
        ("answer({}, positions=np.array([object()]))", kp.FormatError, {"value": Pattern("^ValueError: Object arrays cannot be loaded")}),  # a pickle
        ("open(folder + '/facts.json', 'w').write('[' * 100_000)", kp.FormatError, {"value": Pattern("^RecursionError: ")}),
        ("answer({}); np.savez_compressed(folder + '/arrays.npz', positions=np.zeros(10**6))", kp.FormatError, {"value": "ValueError: compressed arrays, expected plain ones"}),
        ("answer({'x': 'y' * 20_000_000})", kp.FormatError, {"value": "ValueError: facts of more than 16777216 bytes"}),
        ("answer({'problem': 'too blue', 'line': True})", kp.FormatError, {"problem": "too blue"}),
        ("answer({'problem': 'too blue', 'line': 10**400})", kp.FormatError, {"problem": "too blue"}),
        ("answer({'problem': 'too blue', 'line': 7})", kp.FormatError, {"problem": "too blue", "line": 7}),
        ("answer({'too_many': {'joints': 10**400}})", kp.FormatError, {"value": "ValueError: it stopped at {}, which is within the limits"}),
        ("answer({'too_many': {'frames': float('inf')}})", kp.FormatError, {"value": "ValueError: it stopped at {}, which is within the limits"}),
        (answer(facts(rate=10**400)), kp.FormatError, {"code": "bad_number", "problem": Pattern("frames per second$"), "value": 10**400, "expected": "a positive number"}),
        (answer(facts(rate=float("inf"))), kp.FormatError, {"code": "bad_number", "problem": Pattern("frames per second$"), "value": float("inf"), "expected": "a positive number"}),
        (answer(facts(rate=True)), kp.FormatError, {"code": "bad_number", "problem": Pattern("frames per second$"), "value": True, "expected": "a positive number"}),
        (answer(facts(unit_scale=10**400)), kp.FormatError, {"code": "bad_number", "problem": Pattern("centimetres per unit$"), "value": 10**400, "expected": "a positive number"}),
        (answer(facts(names=[])), kp.FormatError, {"code": "inconsistent", "problem": "not one parent for each joint"}),
        (answer(facts(names=["a", 3, "b"])), kp.FormatError, {"code": "inconsistent", "problem": "names: not the list of names that was expected"}),
        (answer(facts(names=["a", "a", "b"])), kp.FormatError, {"code": "inconsistent", "problem": "skeleton: the joint name 'a' is used more than once"}),
        (answer(facts(parents=[-1, 1, 0])), kp.FormatError, {"code": "inconsistent", "problem": "a joint comes before its parent", "expected": "parents first"}),
        (answer(facts(parents=[-1, 0])), kp.FormatError, {"code": "inconsistent", "problem": "not one parent for each joint"}),
        (answer(facts(parents=[-1, 0, True])), kp.FormatError, {"code": "inconsistent", "problem": "a joint comes before its parent", "expected": "parents first"}),
        (answer(facts(rate=-1)), kp.FormatError, {"code": "bad_number", "problem": Pattern("frames per second$"), "value": -1, "expected": "a positive number"}),
        (answer(facts(rate="fast")), kp.FormatError, {"code": "bad_number", "problem": Pattern("frames per second$"), "value": "fast", "expected": "a positive number"}),
        (answer(facts(layers="x", n_animations=[], up={}, rate=None)), kp.FormatError, {"code": "bad_number", "problem": Pattern("frames per second$"), "value": None, "expected": "a positive number"}),
        (answer(facts(unit_scale=0)), kp.FormatError, {"code": "bad_number", "problem": Pattern("centimetres per unit$"), "value": 0, "expected": "a positive number"}),
        (answer(positions="[[[0, 0, float('nan')]] * 3] * 2"), kp.FormatError, {"code": "bad_number", "problem": "positions: nan at (0, 0, 2)", "expected": "finite numbers up to 1e+15"}),
        (answer(positions="[[1, 2, 3]]"), kp.FormatError, {"code": "inconsistent", "problem": "positions: not the numbers that were expected"}),
        (answer(rotations=""), kp.FormatError, {"code": "inconsistent", "problem": "rotations: not the numbers that were expected"}),
        (answer(rotations="[[[0, 0, 0, 0]] * 3] * 2"), kp.FormatError, {"code": "bad_number", "problem": "frame 0, hip: a rotation of length 0", "expected": "a unit quaternion"}),
        (answer(rest_rotations="[['a'] * 4] * 3"), kp.FormatError, {"code": "inconsistent", "problem": "rest_rotations: not the numbers that were expected"}),
        (answer(positions="np.zeros((0, 3, 3))", rotations="np.zeros((0, 3, 4))"), kp.FormatError, {"code": "missing_data", "problem": "3 joints and 0 frames", "expected": "at least one of each"}),
    ],
)  # fmt: skip
def test_invalid_answers(read_with, tmp_path, body, kind, fields):
    with raises(kind, **{"path": str(tmp_path / "x.fbx"), "line": None} | fields):
        read_with(body)


# What Blender 5.0 raises for a file with a light.
OPERATOR_ERROR = """Error: Python: Traceback (most recent call last):
  File "/bpy/5.0/scripts/addons_core/io_scene_fbx/__init__.py", line 236, in execute
    return import_fbx.load(self, context, filepath=self.filepath, **keywords)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/bpy/5.0/scripts/addons_core/io_scene_fbx/import_fbx.py", line 2255, in blen_read_light
    lamp.cycles.cast_shadow = lamp.use_shadow
    ^^^^^^^^^^^^^^^^^^^^^^^
AttributeError: 'CyclesLightSettings' object has no attribute 'cast_shadow'
Location: /bpy/5.0/scripts/modules/bpy/ops.py:109
"""


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError(OPERATOR_ERROR), "AttributeError: 'CyclesLightSettings' object has no attribute 'cast_shadow'"),
        (RuntimeError("Error: Couldn't open file '/tmp/in.fbx'\n (index out of range)\n"), "Couldn't open file 'the file' (index out of range)"),
        (ValueError("no bones"), "ValueError: no bones"),
        (AssertionError(), "AssertionError"),
        (KeyError("x" * 1000), "KeyError: '" + "x" * 289),
    ],
)  # fmt: skip
def test_errors_of_blender_become_one_line(error, reason):
    assert describe_error(error, ["/tmp/in.fbx"]) == reason


def test_a_child_process_that_hangs(read_with, monkeypatch):
    monkeypatch.setattr(subprocess_readers, "MIN_SECONDS", 0.5)
    with raises(kp.FormatError, code="format", problem=Pattern("^Blender did not finish within ")) as caught:
        read_with("time.sleep(60)")
    assert 0.5 <= caught.value.value < 1.0  # seconds


def test_an_unknown_animation(read_with):
    with raises(kp.OptionError, code="unknown_animation", value="run", expected="a name or a number from 0 of: 'walk'"):
        read_with("answer({'available_animations': ['walk']})", animation="run")


def test_without_blender(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.delenv("KEYPOSE_BLENDER_PYTHON", raising=False)
    (tmp_path / "x.fbx").write_bytes(HEAD)
    with raises(kp.MissingExtra, requirement="reading FBX needs") as caught:
        kp.load(tmp_path / "x.fbx")
    # The golden hint of this error:
    hint = "pip install 'keypose[fbx]' (Python 3.11 or 3.13) or KEYPOSE_BLENDER_PYTHON=a Python that can import bpy"
    assert caught.value.install_hint == hint
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", str(tmp_path / "nowhere"))
    with raises(kp.MissingExtra, path=str(tmp_path / "nowhere"), install_hint=None):
        kp.load(tmp_path / "x.fbx")


def test_an_interpreter_without_blender(tmp_path, monkeypatch):
    """The real child process, run by a Python without bpy."""
    if importlib.util.find_spec("bpy"):
        pytest.skip("this Python has bpy")
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", sys.executable)
    (tmp_path / "x.fbx").write_bytes(HEAD)
    with raises(kp.MissingExtra, requirement="reading FBX needs") as caught:
        kp.load(tmp_path / "x.fbx")
    assert "keypose[fbx]" in caught.value.install_hint


def test_text_files_are_refused_clearly(tmp_path):
    (tmp_path / "x.fbx").write_text("; FBX 7.4.0 project file\n")
    with raises(kp.FormatError, code="unsupported", line=1):
        kp.load(tmp_path / "x.fbx")


def test_numbers_beyond_measure_among_the_facts(read_with):
    motion = read_with(answer(facts(first=10**400, layers=10**400, n_animations=10**400)))
    assert motion.first_frame == 0
    assert motion.notes == ()


def test_arrays_larger_than_any_motion_of_the_file(read_with, monkeypatch):
    monkeypatch.setattr(subprocess_readers, "SMALL_MOTION_BYTES", 1 << 20)
    with raises(kp.FormatError, code="format", value="ValueError: arrays of more than 2097152 bytes"):
        read_with(answer(surplus="np.zeros(300_000)"))
