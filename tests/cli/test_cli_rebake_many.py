"""``keypose rebake`` of folders, of edits with their own detail, and with keys of another take."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.arrays import freeze
from keypose.batch import rebake as batch
from keypose.batch.rebake import PoseMatch, match_poses
from keypose.rotations import from_euler, multiply

KEYS = 12


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def same_poses(path: Path, expected: kp.Motion) -> bool:
    off = np.abs(kp.load(path).world_positions() - expected.world_positions()).max()
    return bool(off * expected.mm_per_unit < 0.01)


def raise_arm(keyed: kp.KeyedMotion, joint: str = "left_upper_arm") -> kp.KeyedMotion:
    """Rotate one joint in every key."""
    j = keyed.skeleton.joint(joint)
    values = keyed.rotations.values.copy()
    values[:, j] = multiply(values[:, j], from_euler(np.array([0.5, 0.0, 0.3]), "XYZ"))
    return replace(keyed, rotations=keyed.rotations.with_values(freeze(values)))


@pytest.fixture(scope="module")
def takes(motion: kp.Motion) -> dict[str, kp.KeyedMotion]:
    """Three takes of one figure; the walk, the jump, the kick."""
    parts = {"a": motion[:80], "b": motion[80:160], "deep/c": motion[160:240]}
    return {name: kp.unbake(part, keys=KEYS) for name, part in parts.items()}


@pytest.fixture
def folders(takes: dict[str, kp.KeyedMotion], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with results of unbake in ``out`` and edits of them in ``edits``."""
    for name, keyed in takes.items():
        for folder in ("out", "edits"):
            (tmp_path / folder / name).parent.mkdir(parents=True, exist_ok=True)
        kp.save(keyed, tmp_path / "out" / f"{name}.glb")
        kp.save(keyed, tmp_path / "out" / f"{name}.keys.json")
        kp.save(raise_arm(keyed).sample(), tmp_path / "edits" / f"{name}.bvh")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# Folders


def test_a_folder_with_the_keys_beside(keypose, folders: Path, takes: dict[str, kp.KeyedMotion]) -> None:
    result = keypose("rebake", "out/", "final/", "--to", "bvh", "--residual", "100%", "--jobs", 1)
    assert (result.code, result.err) == (0, "")
    assert names(folders / "final") == ["a.bvh", "b.bvh", "deep/c.bvh"]
    rows = [line.split() for line in result.out.splitlines() if ".glb" in line]
    assert [(row[0], row[1], row[2], row[3], row[4], row[-1]) for row in rows] == [
        (f"{name}.glb", "80", str(KEYS), str(KEYS), "frames", f"{name}.bvh") for name in takes
    ]
    assert "3 of 3 clips rebaked in " in result.out
    assert "100 % of the detail added back, from out; written to final: " in result.out


def test_a_folder_with_the_keys_in_another(keypose, folders: Path, takes: dict[str, kp.KeyedMotion]) -> None:
    result = keypose("rebake", "edits", "final", "--to", "bvh", "--from", "out", "--residual", 1, "--jobs", 1, "--json")
    assert (result.code, result.err) == (0, "")
    payload = json.loads(result.out)
    assert list(payload) == ["rebaked", "failed", "skipped", "n_remaining", "interrupted", "seconds"]
    for command_result, (name, keyed) in zip(payload["rebaked"], takes.items(), strict=True):
        assert command_result["from"] == str(Path("out") / f"{name}.keys.json")
        assert (command_result["timing"], command_result["requested_timing"], command_result["keys"]) == (
            "frames",
            "auto",
            None,
        )
        assert command_result["warnings"] == []
        expected = kp.rebake(kp.load(folders / "edits" / f"{name}.bvh"), keyed, 1.0)
        assert same_poses(folders / "final" / f"{name}.bvh", expected)


def test_one_file_of_keys_for_all(keypose, folders: Path) -> None:
    arguments = ["--from", "out/a.keys.json", "--to", "bvh", "--json"]
    result = keypose("rebake", "edits/a.bvh", "out/a.glb", "final/", *arguments)  # both would be final/a.bvh
    assert result.code == 1
    assert "would both become" in result.out
    result = keypose("rebake", "edits/a.bvh", "final/", *arguments)
    assert result.code == 0
    assert [command_result["from"] for command_result in json.loads(result.out)["rebaked"]] == ["out/a.keys.json"]


def test_an_edit_without_its_keys_fails_alone(keypose, folders: Path) -> None:
    (folders / "out" / "b.keys.json").unlink()
    for arguments, message in (
        (["out"], f"error: {Path('out/b.glb')}: contains no captured detail, and there is no {Path('out/b.keys.json')}, "
                  "expected --from NAME.keys.json, which unbake wrote\n"),
        (["edits", "--from", "out"], f"error: {Path('edits/b.bvh')}: {Path('out/b.keys.json')}: no such file, "
                                     "expected the keys that b.bvh was made from\n"),
    ):  # fmt: skip
        source, *more = arguments
        result = keypose("rebake", source, f"final_{source}", "--to", "bvh", "--jobs", 1, *more)
        assert (result.code, result.err) == (1, message)
        assert "2 of 3 clips rebaked" in result.out
        assert names(folders / f"final_{source}") == ["a.bvh", "deep/c.bvh"]
    again = keypose("rebake", "out", "final_out", "--to", "bvh", "--skip-existing", "--json", "--jobs", 1)
    payload = json.loads(again.out)
    assert (again.code, len(payload["rebaked"]), len(payload["failed"]), len(payload["skipped"])) == (1, 0, 1, 2)


def test_a_folder_without_any_keys(keypose, folders: Path) -> None:
    result = keypose("rebake", "edits", "final", "--to", "bvh")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: these 3 files contain no captured detail, and there is no ")
    assert not (folders / "final").exists()
    result = keypose("rebake", "edits", "final")
    assert result.code == 2
    assert "expected the format of the files in it, such as --to glb" in result.err


def test_one_file_and_the_folder_of_its_keys(keypose, folders: Path) -> None:
    result = keypose("rebake", "edits/a.bvh", "final.bvh", "--from", "out/", "--json")
    assert (result.code, json.loads(result.out)["from"]) == (0, str(Path("out/a.keys.json")))
    result = keypose("rebake", "edits/a.bvh", "final.bvh", "--from", "out/", "--skip-existing")
    assert (result.code, result.out) == (0, "1 existing skipped\n")
    result = keypose("rebake", "edits/a.bvh", "final.bvh", "--from", "out/", "--skip-existing", "--json")
    assert json.loads(result.out) == {"source": "edits/a.bvh", "target": "final.bvh", "skipped": True}


def test_detail_that_is_needed_is_never_replaced(keypose, folders: Path) -> None:
    before = (folders / "out" / "b.keys.json").read_bytes()
    for arguments in (["out", "out"], ["edits", "out", "--from", "out"]):
        result = keypose("rebake", *arguments, "--to", "keys.json", "--overwrite")
        assert result.code == 2
        assert "holds the captured detail, expected another name" in result.err
    result = keypose("rebake", "out/b.keys.json", "out/b.keys.json", "--overwrite")
    assert result.code == 2
    assert (folders / "out" / "b.keys.json").read_bytes() == before


def test_the_same_in_several_processes(program, folders: Path) -> None:
    for jobs in (1, 2):
        result = program("rebake", "out", f"final{jobs}", "--to", "bvh", "--jobs", jobs, cwd=folders)
        assert (result.code, result.err) == (0, "")
    for name in names(folders / "final1"):
        assert (folders / "final1" / name).read_bytes() == (folders / "final2" / name).read_bytes()


def test_interrupted_run_prints_remaining_files(keypose, folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, done = batch.compute_rebake, []

    def compute_rebake(*arguments: object) -> object:
        if done:
            raise KeyboardInterrupt
        done.append(True)
        return real(*arguments)

    monkeypatch.setattr(batch, "compute_rebake", compute_rebake)
    result = keypose("rebake", "out", "final", "--to", "bvh", "--jobs", 1)
    assert result.code == 130
    assert "interrupted with 2 files to go; --skip-existing continues from here" in result.err
    assert names(folders / "final") == ["a.bvh"]
    result = keypose("rebake", "out/a.glb", "x.bvh", "--json")
    assert (result.code, json.loads(result.out)["error"]) == (130, "interrupted")


# Edits with their own detail


def test_an_edit_brings_its_detail_under_any_name(keypose, takes: dict[str, kp.KeyedMotion], tmp_path: Path) -> None:
    edit = raise_arm(takes["a"])
    kp.save(edit, tmp_path / "shot_v2.keys.json")
    result = keypose("rebake", tmp_path / "shot_v2.keys.json", tmp_path / "final.bvh")
    assert (result.code, result.err) == (0, "")
    assert f"70 % of that in {tmp_path / 'shot_v2.keys.json'}" in result.out
    assert "by frames: no key was moved" in result.out
    assert same_poses(tmp_path / "final.bvh", edit.sample(0.7))


@pytest.mark.parametrize("timing", ["auto", "frames"])
def test_an_edit_that_has_moved_its_detail(
    keypose, takes: dict[str, kp.KeyedMotion], tmp_path: Path, timing: str
) -> None:
    keyed = takes["a"]
    keys = keyed.keys.copy()
    keys[5] += 2
    assert keys[5] < keys[6]
    detail = keyed.residual.retime(keyed.keys.astype(float), keys.astype(float))
    edit = replace(keyed, keys=keys, residual=detail)
    kp.save(edit, tmp_path / "v2.keys.json")
    arguments = ["--residual", 1, "--timing", timing]
    result = keypose("rebake", tmp_path / "v2.keys.json", tmp_path / "final.bvh", *arguments, "--json")
    payload = json.loads(result.out)
    assert (payload["timing"], payload["requested_timing"]) == ("own" if timing == "auto" else "frames", timing)
    stayed = replace(edit, residual=keyed.residual).sample(1.0)
    assert same_poses(tmp_path / "final.bvh", edit.sample(1.0)) == (timing == "auto")
    assert same_poses(tmp_path / "final.bvh", stayed) == (timing == "frames")
    result = keypose("rebake", tmp_path / "v2.keys.json", tmp_path / "more.bvh", *arguments)
    assert ("as the edit itself keeps it: moved with its keys" in result.out) == (timing == "auto")
    assert ("by frames, as given" in result.out) == (timing == "frames")


def test_from_option_overrides_stored_detail(keypose, takes: dict[str, kp.KeyedMotion], tmp_path: Path) -> None:
    keyed, edit = takes["a"], raise_arm(takes["a"])
    stronger = replace(keyed, residual=replace(keyed.residual, rotations=3 * keyed.residual.rotations))
    kp.save(edit, tmp_path / "v2.keys.json")
    for name, original in (("same", keyed), ("stronger", stronger)):
        kp.save(original, tmp_path / f"{name}.keys.json")
        out = tmp_path / f"{name}.bvh"
        arguments = ["--from", tmp_path / f"{name}.keys.json", "--residual", 1]
        assert keypose("rebake", tmp_path / "v2.keys.json", out, *arguments, "-q").code == 0
        assert same_poses(out, kp.rebake(replace(edit, residual=None), original, 1.0))


# Timing of the detail


def test_timing_is_reported(keypose, takes: dict[str, kp.KeyedMotion], tmp_path: Path) -> None:
    keyed = replace(takes["a"], residual=None)
    kp.save(takes["a"], tmp_path / "a.keys.json")
    keys = keyed.keys.copy()
    keys[5] += 2
    kp.save(replace(keyed, keys=keys), tmp_path / "moved.keys.json")
    kp.save(kp.unbake(keyed.sample(), list(range(80)), residual=False), tmp_path / "dense.keys.json")
    kp.save(keyed.sample(), tmp_path / "frames.bvh")
    for edit, timing, message in (
        ("moved.keys.json", "keys", "by keys: 1 was moved together with the detail"),
        ("dense.keys.json", "frames", f"by frames: 80 keys now, {KEYS} before, and no moved key was recognised"),
        ("frames.bvh", "frames", "by frames: the edit has no keys of its own that could have been moved"),
    ):
        arguments = [tmp_path / edit, tmp_path / "x.bvh", "--from", tmp_path / "a.keys.json", "--overwrite"]
        result, as_json = keypose("rebake", *arguments), keypose("rebake", *arguments, "--json")
        assert (result.code, result.err) == (0, "")
        assert f"timing   {message}\n" in result.out
        assert (json.loads(as_json.out)["timing"], json.loads(as_json.out)["requested_timing"]) == (timing, "auto")


@pytest.mark.parametrize("share", ["70%", " 70 %", "0.7"])
def test_percent(keypose, takes: dict[str, kp.KeyedMotion], tmp_path: Path, share: str) -> None:
    kp.save(takes["a"], tmp_path / "a.keys.json")
    result = keypose("rebake", tmp_path / "a.keys.json", tmp_path / "x.bvh", "--residual", share, "--json")
    assert json.loads(result.out)["residual"] == 0.7


# Keys of another take


def test_another_take_is_reported(keypose, folders: Path) -> None:
    result = keypose("rebake", "edits/b.bvh", "final.bvh", "--from", "out/a.keys.json")
    assert result.code == 0
    assert result.err.startswith(
        f"warning: {Path('edits/b.bvh')}: was it made from {Path('out/a.keys.json')}? Of {KEYS} key"
    )
    as_json = keypose("rebake", "out/b.glb", "final2.bvh", "--from", "out/a.keys.json", "--json")
    assert "was it made from" in json.loads(as_json.out)["warnings"][0]
    (folders / "edits" / "b.bvh").rename(folders / "edits" / "A.BVH")  # the same name as the keys: heavily edited
    assert keypose("rebake", "edits/A.BVH", "final3.bvh", "--from", "out/a.keys.json").err == ""


def test_edit_is_accepted(keypose, folders: Path, takes: dict[str, kp.KeyedMotion]) -> None:
    keyed = takes["a"]
    kp.save(raise_arm(raise_arm(keyed), "head").sample().at_fps(30), folders / "v2.bvh")
    kp.save(raise_arm(keyed), folders / "v2.glb")
    for edit in ("v2.bvh", "v2.glb"):
        result = keypose("rebake", edit, "final.bvh", "--from", "out/a.keys.json", "--overwrite")
        assert (result.code, result.err) == (0, "")


def test_similarity_counts_poses(takes: dict[str, kp.KeyedMotion]) -> None:
    a, b = takes["a"], takes["b"]
    assert match_poses(a, a) == match_poses(a.sample(), a) == match_poses(raise_arm(a), a) == PoseMatch(KEYS, KEYS)
    other = match_poses(b, a)
    assert other is not None
    assert other.n_matches < KEYS / 4
    values = a.rotations.values.copy()
    values[: KEYS // 2] = b.rotations.values[: KEYS // 2]
    half = match_poses(replace(a, rotations=replace(a.rotations, values=freeze(values))), a)
    assert half is not None
    assert KEYS // 2 <= half.n_matches <= KEYS // 2 + KEYS // 4
    longer = match_poses(a.sample()[:40], a)  # keys beyond its end are ignored
    assert longer == PoseMatch(int((a.keys < 40).sum()), int((a.keys < 40).sum()))


def test_too_few_poses_to_compare(clip) -> None:
    small = kp.load(clip(frames=30))
    keyed = kp.unbake(small, keys=5)
    assert match_poses(small, keyed) is None  # two joints have no angle between bones
    one = kp.unbake(kp.demo_motion(fps=20.0)[:1])
    assert match_poses(one, one) is None


@pytest.mark.data
def test_real_takes_are_distinguished(keypose, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for take in ("10_01", "10_02"):
        source = data_dir / "cmu30" / "ball_kick" / f"{take}.bvh"
        assert keypose("unbake", source, f"{take}.glb", "--keys", 27, "-q").code == 0
    result = keypose("rebake", "10_01.glb", "wrong.bvh", "--from", "10_02.keys.json")
    assert result.code == 0
    assert result.err.startswith("warning: 10_01.glb: was it made from 10_02.keys.json? Of 27 key poses there, ")
    (tmp_path / "edited.glb").write_bytes((tmp_path / "10_01.glb").read_bytes())
    assert keypose("rebake", "edited.glb", "right.bvh", "--from", "10_01.keys.json").err == ""
