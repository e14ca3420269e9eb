"""``keypose rebake``: put the captured detail back on edited keys."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import keypose as kp
from keypose.api.rebake import rebake
from keypose.arrays import freeze
from keypose.batch import rebake as batch
from keypose.errors import Hint
from keypose.metrics import position_errors_mm
from keypose.rotations import from_euler, multiply
from support import cli_docs
from support.errors import Pattern, check_json_error


@pytest.fixture(scope="module")
def keys_file(walk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The keys that unbake writes."""
    path = tmp_path_factory.mktemp("unbaked") / "walk.keys.json"
    kp.save(kp.unbake(kp.load(walk), keys=30), path)
    return path


def raise_arm(keyed: kp.KeyedMotion) -> kp.KeyedMotion:
    """Raise the left arm in every key; the file has no detail."""
    arm = keyed.skeleton.joint("left_upper_arm")
    values = keyed.rotations.values.copy()
    values[:, arm] = multiply(values[:, arm], from_euler(np.array([0.5, 0.0, 0.3]), "XYZ"))
    return replace(keyed, rotations=keyed.rotations.with_values(freeze(values)), residual=None)


@pytest.fixture(scope="module")
def edit(keys_file: Path) -> Path:
    """An edit of these keys."""
    path = keys_file.with_name("edited.keys.json")
    kp.save(raise_arm(kp.load_keyed(keys_file)), path)
    return path


@pytest.mark.parametrize("share", [None, 0.0, 1.0, 1.5])
def test_the_detail_comes_back(keypose, keys_file: Path, edit: Path, tmp_path: Path, share: float | None) -> None:
    out = tmp_path / "new" / "final.bvh"
    arguments = [] if share is None else ["--residual", share]
    result = keypose("rebake", edit, out, "--from", keys_file, *arguments)
    assert (result.code, result.err) == (0, "")
    expected = rebake(kp.load_keyed(edit), kp.load_keyed(keys_file), *([] if share is None else [share]))
    assert np.abs(kp.load(out).world_positions() - expected.world_positions()).max() * expected.mm_per_unit < 0.01
    assert f"{100 * (0.7 if share is None else share):g} % of that in {keys_file}" in result.out
    assert f"written  {out} (" in result.out
    assert "30 keys, before the edit 30" in result.out


def test_before_any_edit_it_is_the_capture(keypose, motion: kp.Motion, keys_file: Path, tmp_path: Path) -> None:
    kp.save(kp.load_keyed(keys_file).sample(), tmp_path / "dense.bvh")
    for source in (keys_file, tmp_path / "dense.bvh"):
        out = tmp_path / "final.bvh"
        assert keypose("rebake", source, out, "--from", keys_file, "--residual", 1, "--overwrite").code == 0
        assert position_errors_mm(motion, kp.load(out)).max() < 0.01


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_a_file_with_keys_comes_back_from_another_program(
    keypose, motion: kp.Motion, keys_file: Path, tmp_path: Path, suffix: str
) -> None:
    path, out = tmp_path / f"scene{suffix}", tmp_path / "final.bvh"
    kp.save(kp.load_keyed(keys_file), path)
    result = keypose("rebake", path, out, "--from", keys_file, "--residual", 1, "--json")
    assert result.code == 0
    assert json.loads(result.out)["keys"] == 30
    final = kp.load(out)
    joints = [final.skeleton.names.index(name) for name in motion.skeleton.names]
    scale = np.linalg.norm(motion.skeleton.offsets[1:]) / np.linalg.norm(final.skeleton.offsets[1:])
    off = np.linalg.norm(final.world_positions()[:, joints] * scale - motion.world_positions(), axis=-1)
    assert off.max() * motion.mm_per_unit < 0.1


def test_json(keypose, keys_file: Path, edit: Path, tmp_path: Path) -> None:
    out = tmp_path / "final.bvh"
    result = keypose("rebake", edit, out, "--from", keys_file, "--residual", 1, "--timing", "frames", "--json")
    assert (result.code, result.err) == (0, "")
    payload = json.loads(result.out)
    assert (payload["source"], payload["target"], payload["from"]) == (str(edit), str(out), str(keys_file))
    assert (payload["residual"], payload["timing"], payload["keys"], payload["original_keys"]) == (
        1.0,
        "frames",
        30,
        30,
    )
    assert payload["requested_timing"] == "frames"
    original = kp.load_keyed(keys_file)
    assert (payload["frames"], payload["fps"], payload["bytes"]) == (
        original.n_frames,
        original.fps,
        out.stat().st_size,
    )
    dense = kp.load_keyed(edit).sample()
    moved = position_errors_mm(dense, rebake(kp.load_keyed(edit), original, 1.0, timing="frames"))
    assert (payload["score"]["mean_mm"], payload["score"]["max_mm"]) == (float(moved.mean()), float(moved.max()))
    assert set(payload) <= cli_docs.documented_fields("rebake")
    assert keypose("rebake", edit, out, "--from", keys_file, "--overwrite", "-q") == type(result)(0, "", "")


def test_a_moved_key_takes_its_detail_along(keypose, keys_file: Path, tmp_path: Path) -> None:
    keyed = kp.load_keyed(keys_file)
    keys = keyed.keys.copy()
    keys[10] += 1
    kp.save(replace(keyed, keys=keys, residual=None), tmp_path / "moved.keys.json")
    for timing in ("keys", "frames"):
        result = keypose(
            "rebake", tmp_path / "moved.keys.json", tmp_path / f"{timing}.bvh", "--from", keys_file, "--timing", timing
        )
        assert result.code == 0
    by_keys, by_frames = (kp.load(tmp_path / f"{timing}.bvh") for timing in ("keys", "frames"))
    apart = np.abs(by_keys.world_positions() - by_frames.world_positions()).max(axis=(1, 2))
    assert apart[keyed.keys[9] + 1 : keyed.keys[11]].max() > 1e-3
    assert apart[: keyed.keys[9]].max() < 1e-6


def test_keys_that_stand_nowhere_are_read_frame_by_frame(
    keypose, motion: kp.Motion, keys_file: Path, edit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_keyed(path: Path, **options: object) -> kp.KeyedMotion:
        if path == edit:
            hint = Hint(python="fps= states one", command="--read-fps states one")
            raise kp.FormatError(path, "its keys stand on no common frame rate", hint=hint)
        return kp.load_keyed(path)

    monkeypatch.setattr(batch, "load_keyed", load_keyed)
    result = keypose("rebake", edit, tmp_path / "final.bvh", "--from", keys_file)
    assert result.code == 0
    assert result.err == f"note: {edit}: read frame by frame: its keys stand on no common frame rate\n"
    assert "read frame by frame; " in result.out
    expected = rebake(kp.load(edit), kp.load_keyed(keys_file))
    assert np.abs(kp.load(tmp_path / "final.bvh").world_positions() - expected.world_positions()).max() < 1e-5
    result = keypose("rebake", edit, tmp_path / "x.bvh", "--from", keys_file, "--timing", "keys")
    assert result.code == 1
    assert "no common frame rate; --read-fps states one" in result.err


def test_the_keys_beside_the_edit_are_found(keypose, keys_file: Path, tmp_path: Path) -> None:
    (tmp_path / "walk.keys.json").write_bytes(keys_file.read_bytes())
    kp.save(kp.load_keyed(keys_file).sample(), tmp_path / "walk.bvh")
    result = keypose("rebake", tmp_path / "walk.bvh", tmp_path / "final.bvh")
    assert result.code == 0
    assert f"of that in {tmp_path / 'walk.keys.json'}" in result.out
    result = keypose("rebake", tmp_path / "final.bvh", tmp_path / "x.bvh")
    assert result.code == 2
    assert f"there is no {tmp_path / 'final.keys.json'}" in result.err


def test_existing_files_need_overwrite(keypose, keys_file: Path, edit: Path, tmp_path: Path) -> None:
    out = tmp_path / "final.bvh"
    out.write_text("precious")
    result = keypose("rebake", edit, out, "--from", keys_file)
    assert (result.code, out.read_text()) == (1, "precious")
    assert result.err.startswith(
        f"error: {out}: exists already; --overwrite replaces it, --skip-existing leaves it out\n"
    )
    result = keypose("rebake", edit, keys_file, "--from", keys_file, "--overwrite")
    assert result.code == 2
    assert "holds the captured detail, expected another name" in result.err
    assert kp.load_keyed(keys_file).residual is not None


@pytest.mark.parametrize(
    ("line", "code", "fields"),
    [
        ([], 2, {"code": "missing_argument", "expected": "the edited file, and the output", "hint": "keypose rebake EDITED OUT --from NAME.keys.json"}),
        (["EDIT"], 2, {"code": "missing_argument", "expected": "the edited file, and the output", "hint": "keypose rebake EDITED OUT --from NAME.keys.json"}),
        (["EDIT", "WALK", "y.bvh"], 2, {"code": "usage", "error": Pattern("y.bvh is the name of a file, but several results need a folder")}),
        (["EDIT", "WALK", "y/"], 2, {"code": "missing_argument", "expected": "the format of the files in it, such as --to glb"}),
        (["EDIT", "x.bvh"], 1, {"error": Pattern("contains no captured detail"), "expected": "--from NAME.keys.json, which unbake wrote"}),
        (["WALK", "x.bvh"], 2, {"code": "missing_argument", "expected": "--from NAME.keys.json, which unbake wrote"}),
        (["EDIT", "x.bvh", "--from", "KEYS", "--timing", "perhaps"], 2, {"option": "timing", "value": "perhaps", "expected": "one of auto, keys, frames"}),
        (["EDIT", "x.xyz", "--from", "KEYS"], 1, {"code": "unwritable", "error": Pattern("cannot write '.xyz'"), "expected": Pattern("^one of .bvh, ")}),
        (["none.bvh", "x.bvh", "--from", "KEYS"], 1, {"code": "no_such_file", "error": "none.bvh: no such file"}),
        (["none.bvh", "x.bvh"], 1, {"code": "no_such_file", "error": "none.bvh: no such file"}),
        (["none.blend", "x.bvh"], 1, {"code": "no_such_file", "error": "none.blend: no such file"}),
        (["EDIT", "x.bvh", "--from", "none.keys.json"], 1, {"code": "no_such_file", "error": "none.keys.json: no such file"}),
        (["EDIT", "x.bvh", "--from", "WALK"], 1, {"code": "missing_data", "expected": "one of .keys.json, .kps, .glb, .gltf, .blend", "hint": "keypose unbake finds keys for them"}),
        (["EDIT", "x.bvh", "--from", "EDIT"], 1, {"code": "no_residual", "hint": "use what keypose unbake wrote, or a file that holds the residual"}),
        (["WALK", "x.bvh", "--from", "KEYS", "--timing", "keys"], 1, {"option": "timing", "value": "keys", "expected": "an edit whose file keeps keys: GLB, .keys.json"}),
        (["EDIT", "x.bvh", "--from", "KEYS", "--residual", "nan"], 2, {"option": "residual", "value": "nan", "expected": "a number, such as 0.7 or 70%"}),
        (["EDIT", "x.bvh", "--from", "KEYS", "--residual", "much"], 2, {"option": "residual", "value": "much", "expected": "a number, such as 0.7 or 70%"}),
        (["EDIT", "x.bvh", "--from", "KEYS", "--residual", "70"], 2, {"option": "residual", "value": "70", "expected": "at most 10", "hint": "1 is all of it; did you mean 70%?"}),
        (["EDIT", "x.bvh", "--from", "KEYS", "--residual", "2000%"], 2, {"option": "residual", "value": "2000%", "expected": "at most 10", "hint": "1 is all of it"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_failures_are_reported(
    keypose,
    walk: Path,
    keys_file: Path,
    edit: Path,
    tmp_path: Path,
    monkeypatch,
    line: list[str],
    code: int,
    fields: dict[str, Any],
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"EDIT": str(edit), "KEYS": str(keys_file), "WALK": str(walk)}
    arguments = [files.get(word, word) for word in line]
    result, as_json = keypose("rebake", *arguments), keypose("rebake", *arguments, "--json")
    assert (result.code, as_json.code, result.out) == (code, code, "")
    assert check_json_error(as_json.out, **fields) in result.err and result.err.count("\n") == code
    assert "kp." not in result.err
    assert not list(tmp_path.iterdir())


@pytest.mark.data
def test_from_a_capture_to_the_end(keypose, data_dir: Path, tmp_path: Path) -> None:
    source = data_dir / "cmu120" / "07_05_walk.bvh"
    assert keypose("unbake", source, tmp_path / "walk.glb", "--keys", 26, "--fps", 60, "-q").code == 0
    out = tmp_path / "final.bvh"
    assert keypose("rebake", tmp_path / "walk.glb", out, "--residual", 1, "-q").code == 0
    original, final = kp.load(source).at_fps(60), kp.load(out)
    joints = [final.skeleton.names.index(name) for name in original.skeleton.names]
    scale = np.linalg.norm(original.skeleton.offsets[1:]) / np.linalg.norm(final.skeleton.offsets[1:])
    off = np.linalg.norm(final.world_positions()[:, joints] * scale - original.world_positions(), axis=-1)
    assert off.max() * original.mm_per_unit < 0.1
