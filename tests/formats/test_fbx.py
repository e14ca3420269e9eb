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
from support.errors import raises, warns

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
    motion = read_with(answer(facts(n_animations=2, animations=["walk", "run"], others=["dog"])))
    assert any("walk, run" in note for note in motion.notes)
    assert any("dog" in note for note in motion.notes)
    with warns(kp.FormatWarning, code="other_layers", value=2):
        read_with(answer(facts(layers=2)))
    with warns(kp.FormatWarning, code="uneven_scale"):
        read_with(answer(facts(is_uneven=True)))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "Blender was stopped by SIGSEGV"),
        ("sys.exit(3)", "Blender ended with code 3"),
        ("pass", "no usable answer"),
        ("answer([])", "no usable answer"),
        ("answer({'problem': 'too blue', 'line': 'x'})", "too blue"),
        ("answer({'too_many': {'joints': 5}})", "within the limits"),
        ("answer({'too_many': 7})", "no usable answer"),
        ("answer({'too_many': {'joints': 50_000}})", "50000 joints"),
        ("answer({'too_many': {'frames': 10**9, 'joints': 3}})", "1000000000 frames"),
        ("answer({}); open(folder + '/arrays.npz', 'w').write('no zip')", "no usable answer"),
        ("answer({}, positions=np.array([object()]))", "no usable answer"),  # a pickle
        ("open(folder + '/facts.json', 'w').write('[' * 100_000)", "no usable answer"),
        ("answer({}); np.savez_compressed(folder + '/arrays.npz', positions=np.zeros(10**6))", "compressed arrays"),
        ("answer({'x': 'y' * 20_000_000})", "facts of more than"),
        ("answer({'problem': 'too blue', 'line': True})", "x.fbx: too blue"),
        ("answer({'problem': 'too blue', 'line': 10**400})", "x.fbx: too blue"),
        ("answer({'problem': 'too blue', 'line': 7})", "x.fbx:7: too blue"),
        ("answer({'too_many': {'joints': 10**400}})", "within the limits"),
        ("answer({'too_many': {'frames': float('inf')}})", "within the limits"),
        (answer(facts(rate=10**400)), "frames per second, expected a positive number"),
        (answer(facts(rate=float("inf"))), "inf frames per second"),
        (answer(facts(rate=True)), "True frames per second"),
        (answer(facts(unit_scale=10**400)), "centimetres per unit"),
        (answer(facts(names=[])), "one parent"),
        (answer(facts(names=["a", 3, "b"])), "list of names"),
        (answer(facts(names=["a", "a", "b"])), "more than once"),
        (answer(facts(parents=[-1, 1, 0])), "parents first"),
        (answer(facts(parents=[-1, 0])), "one parent"),
        (answer(facts(parents=[-1, 0, True])), "parents first"),
        (answer(facts(rate=-1)), "frames per second"),
        (answer(facts(rate="fast")), "frames per second"),
        (answer(facts(layers="x", n_animations=[], up={}, rate=None)), "frames per second"),
        (answer(facts(unit_scale=0)), "centimetres per unit"),
        (answer(positions="[[[0, 0, float('nan')]] * 3] * 2"), "finite"),
        (answer(positions="[[1, 2, 3]]"), "positions"),
        (answer(rotations=""), "rotations"),
        (answer(rotations="[[[0, 0, 0, 0]] * 3] * 2"), "frame 0, hip: a rotation of length 0"),
        (answer(rest_rotations="[['a'] * 4] * 3"), "rest_rotations"),
        (answer(positions="np.zeros((0, 3, 3))", rotations="np.zeros((0, 3, 4))"), "0 frames"),
    ],
)
def test_invalid_answers(read_with, body, problem):
    """The problems pin the wording of these errors."""
    with pytest.raises(kp.FormatError, match=problem):
        read_with(body)


def test_a_child_process_that_hangs(read_with, monkeypatch):
    monkeypatch.setattr(subprocess_readers, "MIN_SECONDS", 0.5)
    with raises(kp.FormatError, code="format", expected=None) as caught:
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
    hint = "pip install 'keypose[fbx]' (Python 3.11) or KEYPOSE_BLENDER_PYTHON=a Python that can import bpy"
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
