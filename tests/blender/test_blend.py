"""Keyed motions as .blend files: what real Blender shows of them, and what comes back after an artist's edits."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.formats.figure.size import metres_per_unit
from keypose.inbetween.keyed import with_residual
from keypose.model import Curves
from keypose.model.curves import Place
from keypose.rotations import angle_between, multiply, normalise, rotate, sign_continuous

pytestmark = pytest.mark.blender

TOLERANCE_MM = 0.1  # on a figure of 1.7 m
FIRST = 1  # Blender's frame of our frame 0
HALF = np.sqrt(0.5)
TO_Z = {"Y": np.array((HALF, HALF, 0, 0)), "Z": np.array((1.0, 0, 0, 0)), "-X": np.array((HALF, 0, HALF, 0))}
SHARES = (None, 1.0, 0.5)  # None: the file as it is
EDITS = ("turn_arm", "move_key", "add_key", "reach", "forget", "trap", "mix_modes")
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
        return np.linalg.norm(found - wanted, axis=2).max(axis=1) * self.keyed.sample().mm_per_unit / metres_per_unit(motion)

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


@pytest.fixture(scope="module")
def walk(data_dir) -> kp.Motion:
    return kp.load(data_dir / "cmu120" / "07_05_walk.bvh").at_fps(60)


@pytest.fixture(scope="module")
def shown(walk, blender_python, tmp_path_factory) -> dict[str, Shown]:
    """All files, written one by one and looked at in one process."""
    folder = tmp_path_factory.mktemp("blend")
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)
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
    command = [blender_python, "-P", _JUDGE, folder / "request.json", folder / "result.npz"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    with np.load(folder / "result.npz", allow_pickle=False) as arrays:
        parts = {key: arrays[key] for key in arrays.files}
    return {
        name: Shown(*file, {key.partition("_")[2]: value for key, value in parts.items() if key.startswith(f"{k}_")})
        for k, (name, file) in enumerate(files.items())
    }


@pytest.fixture(autouse=True)
def interpreter(blender_python, monkeypatch):
    monkeypatch.setenv("KEYPOSE_BLENDER_PYTHON", blender_python)


CUBIC = ("demo", "walk", "euler", "one key", "Z up", "X down")
ALL = (*CUBIC, "straight", "straight Euler")


@pytest.mark.data
@pytest.mark.parametrize("name", [*CUBIC, "straight Euler"])
def test_blender_shows_our_sampling_at_frames_and_between_them(shown, name):
    file = shown[name]
    assert file.off_mm(0, file.keyed.sample(frames=file.at)).max() < TOLERANCE_MM


@pytest.mark.data
def test_straight_quaternions_go_straight_in_their_components(shown):
    """Ours turn at constant speed; Blender interpolates the components, which is the same way at another speed."""
    file = shown["straight"]
    place = Place.of(file.keyed.keys, file.at)
    turns = normalise(Curves(sign_continuous(file.keyed.rotations.values)).at(place))
    sampled = file.keyed.sample(frames=file.at)
    assert file.off_mm(0, replace(sampled, rotations=turns)).max() < TOLERANCE_MM
    off = file.off_mm(0, sampled)
    assert off[np.isin(file.at, file.keyed.keys)].max() < TOLERANCE_MM
    assert 0.5 < off.max() < 5


@pytest.mark.data
@pytest.mark.parametrize("name", ALL)
def test_the_residual_puts_the_detail_back(shown, name):
    """Whole: the original on every frame. In part: what we sample."""
    file = shown[name]
    whole = file.at == np.rint(file.at)
    assert file.off_mm(1, file.keyed.sample(1.0, frames=file.at))[whole].max() < TOLERANCE_MM
    if name != "straight":
        assert file.off_mm(2, file.keyed.sample(0.5, frames=file.at))[whole].max() < TOLERANCE_MM
        assert file.off_mm(1, file.keyed.sample(1.0, frames=file.at)).max() < 2 * TOLERANCE_MM
    detail = file.off_mm(0, file.keyed.sample(1.0, frames=file.at))
    assert name == "one key" or detail.max() > 2  # there is something to put back


@pytest.mark.data
@pytest.mark.parametrize("name", ALL)
def test_keys_stand_where_ours_do_with_handles_at_a_third(shown, name):
    file = shown[name]
    keys = file.keyed.keys + FIRST
    gaps = np.diff(keys)
    assert (file.answer["counts"] == len(keys)).all()
    points = file.answer["points"].reshape(-1, len(keys), 6)
    assert (points[:, :, 2] == keys).all()
    assert np.allclose(points[:, :-1, 4] - keys[:-1], gaps / 3, atol=1e-4)
    assert np.allclose(keys[1:] - points[:, 1:, 0], gaps / 3, atol=1e-4)
    assert set(file.answer["interpolations"].tolist()) == {"BEZIER" if file.keyed.is_cubic else "LINEAR"}
    wanted = np.where(file.keyed.extremes, "EXTREME", "BREAKDOWN")
    assert (file.answer["kinds"].reshape(-1, len(keys)) == wanted).all()


@pytest.mark.data
def test_angles_and_their_handles_are_our_numbers(shown):
    file = shown["euler"]
    keyed = file.keyed
    reach = np.diff(keyed.keys) / 3
    for j, (bone, order) in enumerate(zip(keyed.skeleton.names, keyed.rotation_orders, strict=True)):
        assert file.facts["rotation_modes"][bone] == order[::-1]
        for k, axis in enumerate(order):
            points = file.curve(bone, "rotation_euler", "XYZ".index(axis))
            angles = keyed.rotations.values[:, j, k]
            assert np.allclose(points[:, 3], angles, atol=1e-6)
            assert np.allclose(points[:-1, 5], (angles + 0)[:-1] + reach * keyed.rotations.leaving[:-1, j, k], atol=1e-5)
            assert np.allclose(points[1:, 1], angles[1:] - reach * keyed.rotations.arriving[1:, j, k], atol=1e-5)


@pytest.mark.data
def test_quaternion_curves_are_ours_in_the_axes_of_the_bones(shown):
    """One orthogonal map for each joint takes values, and handles, from ours to Blender's."""
    file = shown["walk"]
    curves = file.keyed.rotations
    reach = np.diff(file.keyed.keys)[:, None] / 3
    for j, bone in enumerate(file.keyed.skeleton.names):
        points = np.stack([file.curve(bone, "rotation_quaternion", c) for c in range(4)], axis=1)  # (K, 4, 6)
        ours = np.concatenate((
            curves.values[:, j],
            curves.values[:-1, j] + reach * curves.leaving[:-1, j],
            curves.values[1:, j] - reach * curves.arriving[1:, j],
        ))  # fmt: skip
        theirs = np.concatenate((points[..., 3], points[:-1, :, 5], points[1:, :, 1]))
        change, *_ = np.linalg.lstsq(ours, theirs, rcond=None)
        assert np.abs(ours @ change - theirs).max() < 2e-6
        assert np.allclose(np.linalg.norm(theirs, axis=1), np.linalg.norm(ours, axis=1), atol=2e-6)


@pytest.mark.data
def test_what_an_animator_finds(shown, walk):
    file = shown["walk"]
    facts = file.facts
    assert (facts["fps"], facts["range"], facts["metres"]) == (60.0, [1, 259], 1.0)
    assert (facts["mode"], facts["action"], facts["residual"]) == ("POSE", "07_05_walk", 0.0)
    assert set(facts["rotation_modes"].values()) == {"QUATERNION"}
    assert facts["corners"] > 1000  # a body
    moving = {name.split('"')[1] for name in file.answer["curves"].tolist() if "location" in name}
    assert moving == {"Hips"}
    heights = file.answer["positions"][0][..., 2]
    assert -0.1 < heights.min() < 0.2
    assert 1.2 < heights.max() < 1.8


@pytest.mark.data
@pytest.mark.parametrize("name", ALL)
def test_files_come_back_as_they_went(shown, name):
    """The very bits, although Blender rounds to 32 of them."""
    keyed = shown[name].keyed
    found = kp.load_keyed(shown[name].path)
    for curves in ("translations", "rotations"):
        for part in ("values", "arriving", "leaving"):
            ours, theirs = getattr(getattr(keyed, curves), part), getattr(getattr(found, curves), part)
            assert (ours is None) == (theirs is None)
            assert ours is None or np.array_equal(ours, theirs), (curves, part)
    assert np.array_equal(found.keys, keyed.keys)
    assert np.array_equal(found.extremes, keyed.extremes)
    assert np.array_equal(found.residual.turns, keyed.residual.turns)
    for field in ("rotation_orders", "up", "metres_per_unit", "first_frame", "n_frames", "fps"):
        assert getattr(found, field) == getattr(keyed, field)
    assert found.skeleton.channels == keyed.skeleton.channels


@pytest.mark.data
@pytest.mark.parametrize("name", ["demo", "euler", "Z up"])
def test_frames_come_back(shown, name):
    keyed = shown[name].keyed
    found, wanted = kp.load(shown[name].path), keyed.sample()
    assert (found.fps, found.up, found.first_frame) == (wanted.fps, wanted.up, wanted.first_frame)
    assert found.metres_per_unit == wanted.metres_per_unit
    assert found.skeleton.names == wanted.skeleton.names
    off = np.linalg.norm(found.world_positions() - wanted.world_positions(), axis=2).max() * wanted.mm_per_unit
    assert off < TOLERANCE_MM
    assert np.rad2deg(angle_between(found.rotations, wanted.rotations).max()) < 0.05
    still = [j for j in range(1, found.n_joints)]
    assert np.array_equal(found.translations[:, still], wanted.translations[:, still])  # no noise on the offsets


def test_a_plain_motion_has_a_key_on_every_frame(tmp_path):
    motion = kp.demo_motion()[300:340].at_fps(30)
    kp.save(motion, tmp_path / "plain.blend")
    keyed = kp.load_keyed(tmp_path / "plain.blend")
    assert np.array_equal(keyed.keys, np.arange(motion.n_frames))
    assert keyed.residual is None
    off = np.abs(keyed.sample().world_positions() - motion.world_positions()).max()
    assert off * motion.mm_per_unit < TOLERANCE_MM
    at_double = kp.load(tmp_path / "plain.blend", fps=60)
    assert (at_double.fps, at_double.n_frames) == (60, 2 * motion.n_frames - 1)


def _edited(shown, name: str) -> Path:
    return shown["walk"].path.with_name(f"{name}.blend")


@pytest.mark.data
def test_an_arm_that_an_artist_turned_at_a_key(shown):
    """Only that arm at that key has changed; the detail, shown meanwhile, is not in the key."""
    keyed, found = shown["walk"].keyed, kp.load_keyed(_edited(shown, "turn_arm"))
    arm = keyed.skeleton.joint("LeftArm")
    assert np.array_equal(found.keys, keyed.keys)
    changed = (found.rotations.values != keyed.rotations.values).any(axis=2)
    assert np.argwhere(changed).tolist() == [[2, arm]]
    turned = angle_between(found.rotations.values[2, arm], keyed.rotations.values[2, arm])
    assert turned == pytest.approx(0.5, abs=1e-5)
    slopes = (found.rotations.leaving != keyed.rotations.leaving).any(axis=2)
    assert set(np.argwhere(slopes)[:, 1].tolist()) <= {arm}
    seen = kp.load(_edited(shown, "turn_arm"))
    off = np.linalg.norm(found.sample().world_positions() - seen.world_positions(), axis=2).max()
    assert off * seen.mm_per_unit < TOLERANCE_MM


@pytest.mark.data
def test_keys_that_an_artist_moved_in_time(shown):
    keyed, found = shown["walk"].keyed, kp.load_keyed(_edited(shown, "move_key"))
    wanted = keyed.keys.copy()
    wanted[2] += 3
    assert np.array_equal(found.keys, wanted)
    assert np.allclose(found.rotations.values, keyed.rotations.values, atol=1e-6)
    seen = kp.load(_edited(shown, "move_key"))
    off = np.linalg.norm(found.sample().world_positions() - seen.world_positions(), axis=2).max(axis=1) * seen.mm_per_unit
    assert off[: wanted[1]].max() < TOLERANCE_MM
    assert off[wanted[3] :].max() < TOLERANCE_MM
    assert off.max() < 20  # handles are no longer a third of the gap away: the nearest cubics
    assert any("no cubics of time" in note for note in found.notes)


@pytest.mark.data
def test_a_key_that_an_artist_added_to_one_bone(shown):
    keyed, found = shown["walk"].keyed, kp.load_keyed(_edited(shown, "add_key"))
    (added,) = set(found.keys.tolist()) - set(keyed.keys.tolist())
    assert keyed.keys[2] < added < keyed.keys[3]
    seen = kp.load(_edited(shown, "add_key"))
    off = np.linalg.norm(found.sample().world_positions() - seen.world_positions(), axis=2) * seen.mm_per_unit
    arm = [seen.skeleton.names.index(name) for name in ("LeftForeArm", "LeftHand", "LeftFingerBase", "LeftHandIndex1", "LThumb")]
    assert np.delete(off, arm, axis=1).max() < 0.3
    assert off.max() < 20


@pytest.mark.data
def test_what_no_key_shows_is_said(shown):
    with pytest.warns(kp.FormatWarning, match=r"something else than their keys moves .*LeftForeArm"):
        found = kp.load_keyed(_edited(shown, "reach"))
    seen = kp.load(_edited(shown, "reach"))
    hand = seen.skeleton.joint("LeftHand")
    target = np.array((0.5, 1.2, 0.5)) / metres_per_unit(seen)  # of Blender's (0.5, -0.5, 1.2)
    apart = np.linalg.norm(seen.world_positions() - found.sample().world_positions(), axis=2)
    assert apart[:, hand].max() * seen.mm_per_unit > 100
    assert np.linalg.norm(seen.world_positions()[:, hand] - target, axis=1).min() < 0.5 * seen.height


@pytest.mark.data
def test_a_file_that_is_not_ours(shown):
    keyed, path = shown["walk"].keyed, _edited(shown, "forget")
    found, wanted = kp.load(path), keyed.sample()
    assert (found.up, found.metres_per_unit, found.n_frames, found.first_frame) == ("Z", 1.0, 259, 1)
    assert found.skeleton.names[0] == "Hips"
    order = [found.skeleton.names.index(name) for name in wanted.skeleton.names]
    metres = rotate(TO_Z["Y"], wanted.world_positions()) * metres_per_unit(wanted)
    assert np.abs(found.world_positions()[:, order] - metres).max() < 1e-4
    with pytest.raises(kp.FormatError, match="did not write has no keys"):
        kp.load_keyed(path)


@pytest.mark.data
def test_nothing_in_a_file_is_run(shown):
    path = _edited(shown, "trap")
    assert kp.load(path).n_frames == 259
    assert not path.with_name(f"{path.name}.ran").exists()


@pytest.mark.data
def test_modes_that_were_mixed_are_refused(shown):
    with pytest.raises(kp.FormatError, match="rotation mode of some bones was changed"):
        kp.load_keyed(_edited(shown, "mix_modes"))
    assert kp.load(_edited(shown, "mix_modes")).n_frames == 259


@pytest.mark.data
@pytest.mark.parametrize("keep", [30, 4000, 0.5])
def test_cut_files(shown, keep, tmp_path):
    data = shown["demo"].path.read_bytes()
    (tmp_path / "cut.blend").write_bytes(data[: int(keep if keep >= 1 else keep * len(data))])
    with pytest.raises(kp.FormatError, match=r"cut\.blend"):
        kp.load(tmp_path / "cut.blend")


def test_markers_and_odd_names(tmp_path):
    """Joints that hang on nothing, names that Blender shortens or that hold quotes."""
    names = ('a "quoted" one', "x" * 80, "x" * 79 + "y", "Ærm")
    skeleton = kp.Skeleton(names, np.full(4, -1), np.zeros((4, 3)))
    rng = np.random.default_rng(1)
    places = np.cumsum(rng.normal(0, 0.1, (5, 4, 3)), axis=0) + np.array((0, 1, 0))
    turns = np.tile((1.0, 0, 0, 0), (5, 4, 1))
    motion = kp.Motion("markers", skeleton, 25.0, places, multiply(turns, turns), metres_per_unit=1.0)
    kp.save(motion, tmp_path / "markers.blend")
    found = kp.load(tmp_path / "markers.blend")
    assert found.skeleton.names == names
    assert np.abs(found.translations - places).max() < 1e-5
