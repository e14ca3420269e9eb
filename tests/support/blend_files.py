"""Keyed motions of many kinds as .blend files, and what Blender evaluates from them."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import keypose as kp
from keypose.curves.keyed_motion import add_residual
from keypose.formats.orientation import metres_per_unit
from keypose.model import Curves
from keypose.rotations import multiply, rotate

TOLERANCE_MM = 0.1  # on a figure of 1.7 m
FIRST = 1  # Blender's frame number of frame 0
HALF = np.sqrt(0.5)
TO_Z = {"Y": np.array((HALF, HALF, 0, 0)), "Z": np.array((1.0, 0, 0, 0))}
TO_Z["-X"] = multiply(TO_Z["Y"], np.array((HALF, 0, 0, -HALF)))
SHARES = (None, 1.0, 0.5)  # of the residual; None: unchanged
EDITS = ("turn_arm", "move_key", "add_key", "reach", "forget", "trap", "put_back", "mix_modes")
CUBIC = ("demo", "walk", "euler", "one key", "Z up", "X down")
ALL = (*CUBIC, "straight", "straight Euler")
_SCRIPT = Path(__file__).with_name("inspect_blend.py")


@dataclass(frozen=True)
class BlendResult:
    """A keyed motion, its file, and what Blender evaluates from it."""

    keyed: kp.KeyedMotion
    path: Path
    frames: np.ndarray  # evaluated frames, whole and fractional
    answer: dict

    @property
    def facts(self) -> dict:
        return json.loads(str(self.answer["facts"]))

    def errors_mm(self, share: int, motion: kp.Motion) -> np.ndarray:
        """Return the error (N,) of each frame against ``motion``, in mm on a figure of 1.7 m."""
        names = self.answer["names"].tolist()
        result = self.answer["positions"][share][:, [names.index(name) for name in motion.skeleton.names]]
        expected = rotate(TO_Z[motion.up], motion.world_positions()) * metres_per_unit(motion)
        return (
            np.linalg.norm(result - expected, axis=2).max(axis=1)
            * self.keyed.sample().mm_per_unit
            / metres_per_unit(motion)
        )

    def curve(self, bone: str, channel: str, axis: int) -> np.ndarray:
        """Return the points (K, 6) of one F-curve."""
        k = self.answer["curves"].tolist().index(f'pose.bones["{bone}"].{channel}[{axis}]')
        start = self.answer["counts"][:k].sum()
        return self.answer["points"][start : start + self.answer["counts"][k]]


def _rotate_up(keyed: kp.KeyedMotion, up: str) -> kp.KeyedMotion:
    """Return a Y-up keyed motion of quaternions in centimetres with another axis up."""
    rotation = {"Z": TO_Z["Y"], "-X": np.array((HALF, 0, 0, HALF))}[up]  # brings Y there

    def rotate_vectors(curves):
        return Curves(
            *(rotate(rotation, array) * 100 for array in (curves.values, curves.in_tangents, curves.out_tangents))
        )

    def rotate_quaternions(curves):
        arrays = (curves.values, curves.in_tangents, curves.out_tangents)
        return Curves(*(np.concatenate((p[..., :1], rotate(rotation, p[..., 1:])), -1) for p in arrays))

    s, residual = keyed.skeleton, keyed.residual
    return replace(
        keyed,
        skeleton=replace(
            s, offsets=rotate(rotation, s.offsets) * 100, end_offsets=rotate(rotation, s.end_offsets) * 100
        ),
        translations=rotate_vectors(keyed.translations),
        rotations=rotate_quaternions(keyed.rotations),
        residual=replace(
            residual, rotations=rotate(rotation, residual.rotations), shifts=rotate(rotation, residual.shifts) * 100
        ),
        up=up,
        metres_per_unit=0.01,
    )


def _linear(keyed: kp.KeyedMotion, original: kp.Motion) -> kp.KeyedMotion:
    """Return the same keys without tangents."""
    curves = {name: Curves(getattr(keyed, name).values) for name in ("translations", "rotations")}
    return add_residual(replace(keyed, **curves), original)


def write_and_inspect(walk: kp.Motion, python: str, folder: Path) -> dict[str, BlendResult]:
    """Write all files, then evaluate them in one process; one of them is also edited."""
    demo = kp.demo_motion()[200:500]
    keyed = {
        "demo": kp.unbake(demo, keys=20),
        "walk": kp.unbake(walk, keys=26),
        "euler": kp.unbake(walk, keys=26, rotation="euler"),
        "straight": kp.unbake(walk, keys=26, interpolation="linear"),
        "straight Euler": _linear(kp.unbake(walk, keys=26, rotation="euler"), walk),
        "one key": kp.unbake(demo[:9], [4]),
        "Z up": _rotate_up(kp.unbake(demo, keys=20), "Z"),
        "X down": _rotate_up(kp.unbake(demo, keys=8), "-X"),
    }
    entries, files = [], {}
    for name, each in keyed.items():
        rng = np.random.default_rng(len(entries))
        last = each.n_frames - 1
        at = np.sort(np.concatenate((np.linspace(0, last, 12).round(), each.keys[:9], rng.uniform(0, last, 20))))
        at = np.round(at * 64) / 64  # frames that single precision holds
        path = folder / f"{name}.blend"
        kp.save(each, path)
        entries.append({"path": str(path), "frames": (at + FIRST).tolist(), "shares": SHARES})
        if name == "walk":
            entries[-1]["edits"] = {edit: str(folder / f"{edit}.blend") for edit in EDITS}
        files[name] = (each, path, at)
    (folder / "request.json").write_text(json.dumps(entries))
    command = [python, "-P", _SCRIPT, folder / "request.json", folder / "result.npz"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    with np.load(folder / "result.npz", allow_pickle=False) as arrays:
        result = {key: arrays[key] for key in arrays.files}
    return {
        name: BlendResult(
            *file, {key.partition("_")[2]: value for key, value in result.items() if key.startswith(f"{k}_")}
        )
        for k, (name, file) in enumerate(files.items())
    }
