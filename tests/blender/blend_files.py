"""Keyed motions of many kinds as .blend files, and what real Blender shows of them."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import keypose as kp
from keypose.formats.figure.size import metres_per_unit
from keypose.inbetween.keyed import with_residual
from keypose.model import Curves
from keypose.rotations import multiply, rotate

TOLERANCE_MM = 0.1  # on a figure of 1.7 m
FIRST = 1  # Blender's frame of our frame 0
HALF = np.sqrt(0.5)
TO_Z = {"Y": np.array((HALF, HALF, 0, 0)), "Z": np.array((1.0, 0, 0, 0))}
TO_Z["-X"] = multiply(TO_Z["Y"], np.array((HALF, 0, 0, -HALF)))
SHARES = (None, 1.0, 0.5)  # None: the file as it is
EDITS = ("turn_arm", "move_key", "add_key", "reach", "forget", "trap", "put_back", "mix_modes")
CUBIC = ("demo", "walk", "euler", "one key", "Z up", "X down")
ALL = (*CUBIC, "straight", "straight Euler")
_JUDGE = Path(__file__).with_name("blend_judge.py")


@dataclass(frozen=True)
class Shown:
    """A keyed motion, its file, and what Blender shows of it."""

    keyed: kp.KeyedMotion
    path: Path
    at: np.ndarray  # frames that were looked at, whole and not
    answer: dict

    @property
    def facts(self) -> dict:
        return json.loads(str(self.answer["facts"]))

    def off_mm(self, share: int, motion: kp.Motion) -> np.ndarray:
        """How far (N,) each frame is from ``motion``, in mm on a figure of 1.7 m."""
        names = self.answer["names"].tolist()
        found = self.answer["positions"][share][:, [names.index(name) for name in motion.skeleton.names]]
        wanted = rotate(TO_Z[motion.up], motion.world_positions()) * metres_per_unit(motion)
        return (
            np.linalg.norm(found - wanted, axis=2).max(axis=1)
            * self.keyed.sample().mm_per_unit
            / metres_per_unit(motion)
        )

    def curve(self, bone: str, channel: str, axis: int) -> np.ndarray:
        """The points (K, 6) of one F-curve."""
        k = self.answer["curves"].tolist().index(f'pose.bones["{bone}"].{channel}[{axis}]')
        start = self.answer["counts"][:k].sum()
        return self.answer["points"][start : start + self.answer["counts"][k]]


def _turned(keyed: kp.KeyedMotion, up: str) -> kp.KeyedMotion:
    """A Y-up keyed motion of quaternions, in centimetres, with another axis up."""
    turn = {"Z": TO_Z["Y"], "-X": np.array((HALF, 0, 0, HALF))}[up]  # brings Y there

    def vectors(curves):
        return Curves(*(rotate(turn, part) * 100 for part in (curves.values, curves.arriving, curves.leaving)))

    def turns(curves):
        parts = (curves.values, curves.arriving, curves.leaving)
        return Curves(*(np.concatenate((p[..., :1], rotate(turn, p[..., 1:])), -1) for p in parts))

    s, residual = keyed.skeleton, keyed.residual
    return replace(
        keyed,
        skeleton=replace(s, offsets=rotate(turn, s.offsets) * 100, end_offsets=rotate(turn, s.end_offsets) * 100),
        translations=vectors(keyed.translations),
        rotations=turns(keyed.rotations),
        residual=replace(residual, turns=rotate(turn, residual.turns), shifts=rotate(turn, residual.shifts) * 100),
        up=up,
        metres_per_unit=0.01,
    )


def _straightened(keyed: kp.KeyedMotion, original: kp.Motion) -> kp.KeyedMotion:
    """The same keys without slopes."""
    curves = {part: Curves(getattr(keyed, part).values) for part in ("translations", "rotations")}
    return with_residual(replace(keyed, **curves), original)


def write_and_judge(walk: kp.Motion, python: str, folder: Path) -> dict[str, Shown]:
    """All files, written one by one and looked at in one process, of which one is also edited."""
    demo = kp.demo_motion()[200:500]
    keyed = {
        "demo": kp.unbake(demo, keys=20),
        "walk": kp.unbake(walk, keys=26),
        "euler": kp.unbake(walk, keys=26, rotation="euler"),
        "straight": kp.unbake(walk, keys=26, interpolation="linear"),
        "straight Euler": _straightened(kp.unbake(walk, keys=26, rotation="euler"), walk),
        "one key": kp.unbake(demo[:9], [4]),
        "Z up": _turned(kp.unbake(demo, keys=20), "Z"),
        "X down": _turned(kp.unbake(demo, keys=8), "-X"),
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
    command = [python, "-P", _JUDGE, folder / "request.json", folder / "result.npz"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    with np.load(folder / "result.npz", allow_pickle=False) as arrays:
        parts = {key: arrays[key] for key in arrays.files}
    return {
        name: Shown(*file, {key.partition("_")[2]: value for key, value in parts.items() if key.startswith(f"{k}_")})
        for k, (name, file) in enumerate(files.items())
    }
