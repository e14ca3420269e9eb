"""``keypose restore``: compressed motion in any format, completely or in part, also from damaged files."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.storage.error import largest_error
from support import cli_docs
from support.storage_cases import document, names


def hierarchy(path: Path) -> list[str]:
    """Return the header of a BVH file without blanks and digits."""
    text = path.read_text().split("Frame Time")[0]
    return [re.sub(r"-?[\d.]+(e-?\d+)?", "#", line).strip() for line in text.splitlines() if line.strip()]


@pytest.fixture(scope="session")
def stored_clip(walk: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo motion within a millimetre."""
    path = tmp_path_factory.mktemp("stored") / "walk.kps"
    kp.save(kp.load(walk), path, tolerance_mm=1.0)
    return path


@pytest.mark.parametrize("suffix", [".bvh", ".bvh.gz", ".glb"])
def test_one_file(keypose, stored_clip: Path, motion: kp.Motion, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / "new" / f"walk{suffix}"
    result = keypose("restore", stored_clip, out)
    assert (result.code, result.err) == (0, "")
    assert names(tmp_path / "new") == [f"walk{suffix}"]
    assert re.fullmatch(rf"{re.escape(str(out))}: {motion.n_frames} frames at 20 fps, \S+ \S?B, within 1 mm, "
                        r"in \S+ s\n", result.out)  # fmt: skip
    assert kp.score(motion, kp.load(out)).max_mm < 1.01


def test_json_has_what_was_done(keypose, stored_clip: Path, motion: kp.Motion, tmp_path: Path) -> None:
    out = tmp_path / "walk.bvh"
    result = keypose("restore", stored_clip, out, "--json")
    assert (result.code, result.err) == (0, "")
    payload = document(result)
    assert list(payload) == ["restored", "failed", "skipped", "n_remaining", "interrupted", "seconds"]
    (restored,) = payload["restored"]
    assert (restored["source"], restored["target"], restored["bytes"]) == (
        str(stored_clip),
        str(out),
        out.stat().st_size,
    )
    assert (restored["n_frames"], restored["fps"], restored["start_s"]) == (motion.n_frames, 20.0, 0.0)
    assert (restored["lossless"], restored["tolerance_mm"]) == (False, 1.0)
    assert (restored["keys_file"], restored["swings_file"], restored["reference_pose"]) == (None, None, False)
    assert {*payload, *restored} <= cli_docs.documented_fields("restore")
    assert keypose("restore", stored_clip, tmp_path / "q.bvh", "-q") == type(result)(0, "", "")


def test_a_part(keypose, stored_clip: Path, tmp_path: Path) -> None:
    whole = kp.load(stored_clip)
    out = tmp_path / "part.bvh"
    result = keypose("restore", stored_clip, out, "--from-s", 2.5, "--to-s", 4)
    assert (result.code, result.err) == (0, "")
    assert ": 30 frames from 2.50 s on at 20 fps" in result.out
    part = kp.load(out)
    assert np.abs(part.world_positions() - whole[50:80].world_positions()).max() < 1e-4
    (payload,) = document(keypose("restore", stored_clip, tmp_path / "end.bvh", "--from-s", 10, "--json"))["restored"]
    assert (payload["n_frames"], payload["start_s"]) == (whole.n_frames - 200, 10.0)
    result = keypose("restore", stored_clip, tmp_path / "after.bvh", "--from-s", 1000)
    assert result.code == 1 and not (tmp_path / "after.bvh").exists()


def test_a_folder(keypose, clip, stored_clip: Path, tmp_path: Path) -> None:
    archive, takes = tmp_path / "archive", tmp_path / "takes"
    (archive / "deep").mkdir(parents=True)
    (archive / "walk.kps").write_bytes(stored_clip.read_bytes())
    (archive / "deep" / "walk.kps").write_bytes(stored_clip.read_bytes())
    (archive / "bad.kps").write_bytes(stored_clip.read_bytes()[:100])
    clip("archive/other.bvh")
    result = keypose("restore", archive, takes, "--to", "bvh")
    assert result.code == 1
    assert names(takes) == ["deep/walk.bvh", "walk.bvh"]
    assert result.err.startswith(f"error: {archive / 'bad.kps'}")
    assert "2 of 3 clips restored in " in result.out
    (takes / "walk.bvh").unlink()
    on = document(keypose("restore", archive, takes, "--to", "bvh", "--skip-existing", "--json"))
    assert [Path(command_result["target"]).name for command_result in on["restored"]] == ["walk.bvh"] and len(
        on["skipped"]
    ) == 1
    again = keypose("restore", archive, takes, "--to", "bvh")
    assert again.code == 1 and "exists already" in again.err
    result = keypose("restore", takes, tmp_path / "x", "--to", "bvh")
    assert result.code == 1 and "no names that end in .kps" in result.err


# The original's structure


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("formats/bvh/max-friendly_cmu_jumping-jacks.bvh", "--tolerance-mm=1"),
        ("formats/bvh/xsens-mvn_60fps.bvh", "--tolerance-mm=5"),
        ("formats/bvh/mixed-rotation-orders.bvh", "--lossless"),
        ("formats/bvh/rotation-first-root.bvh", "--tolerance-mm=1"),
        ("formats/bvh/no-end-site_tabs.bvh", "--lossless"),
    ],
    ids=lambda name: Path(name).stem,
)
def test_a_restored_bvh_has_the_structure_of_the_original(
    keypose, data_dir: Path, tmp_path: Path, name: str, kind: str
) -> None:
    source, stored_clip, back = data_dir / name, tmp_path / "x.kps", tmp_path / "x.bvh"
    original = kp.load(source)
    assert keypose("compress", source, stored_clip, kind).code == 0
    result = keypose("restore", stored_clip, back)
    assert (result.code, result.err) == (0, "")
    assert hierarchy(back) == hierarchy(source)
    again = kp.load(back)
    assert again.fps == original.fps and again.n_frames == original.n_frames
    assert (again.reference_pose is None) == (original.reference_pose is None)
    for field in ("names", "rotation_orders", "channels"):
        assert getattr(again.skeleton, field) == getattr(original.skeleton, field)
    for field in ("parents", "end_joints"):
        assert np.array_equal(getattr(again.skeleton, field), getattr(original.skeleton, field))
    np.testing.assert_allclose(again.skeleton.offsets, original.skeleton.offsets, rtol=1e-8)
    error = largest_error(original, again).mm
    assert error < (1e-6 if kind == "--lossless" else 1.001 * float(kind.split("=")[1]))


def test_joints_with_few_channels_keep_them(keypose, tmp_path: Path) -> None:
    rows = "\n".join(f"{np.sin(i / 9):.6f} 90 0 {i} 0 {i % 7} {3 * (i % 11)}" for i in range(60))
    text = ("HIERARCHY\nROOT Hips\n{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation "
            "Yrotation\n JOINT Knee\n {\n  OFFSET 0 -40 0\n  CHANNELS 1 Xrotation\n  End Site\n  {\n   OFFSET 0 -40 3\n"
            f"  }}\n }}\n}}\nMOTION\nFrames: 60\nFrame Time: 0.033333\n{rows}\n")  # fmt: skip
    source, stored_clip, back = tmp_path / "knee.bvh", tmp_path / "knee.kps", tmp_path / "back.bvh"
    source.write_text(text)
    assert keypose("compress", source, stored_clip).code == 0
    result = keypose("restore", stored_clip, back)
    assert (result.code, result.err) == (0, "")
    assert hierarchy(back) == hierarchy(source)
    assert largest_error(kp.load(source), kp.load(back)).mm <= 1.01


# Lossless


@pytest.mark.data
@pytest.mark.parametrize("name", ["cmu120/07_05_walk.bvh", "formats/bvh/mocapbank_crlf_zxy.bvh"], ids=["cmu", "bank"])
def test_a_lossless_bvh_has_the_very_numbers(keypose, data_dir: Path, tmp_path: Path, name: str) -> None:
    source = data_dir / name
    assert keypose("compress", source, tmp_path / "x.kps", "--lossless").code == 0
    result = keypose("restore", tmp_path / "x.kps", tmp_path / "x.bvh")
    assert result.code == 0 and "every number unchanged" in result.out
    before, after = (_numbers(path.read_text()) for path in (source, tmp_path / "x.bvh"))
    assert before[0] == after[0]  # the frame time, as it was written
    assert before[1].shape == after[1].shape
    assert np.array_equal(before[1], after[1])
    assert keypose("restore", tmp_path / "x.kps", tmp_path / "x.bvh.gz").code == 0
    assert gzip.decompress((tmp_path / "x.bvh.gz").read_bytes()) == (tmp_path / "x.bvh").read_bytes()
    assert keypose("verify", tmp_path / "x.kps", "--against", tmp_path / "x.bvh").code == 0
    # the separated T-pose is frame 0 again, unless disabled
    movement = kp.load(source).n_frames
    (payload,) = document(keypose("restore", tmp_path / "x.kps", tmp_path / "y.bvh", "--json"))["restored"]
    assert (payload["reference_pose"], payload["n_frames"]) == (movement < len(before[1]), len(before[1]))
    for options, frames in ((["--no-write-reference-pose"], movement), (["--to-s", "2"], round(2 * payload["fps"]))):
        result = keypose("restore", tmp_path / "x.kps", tmp_path / "y.bvh", "--overwrite", *options)
        assert (
            result.code == 0 and ("that is stored separately is not written" in result.err) == payload["reference_pose"]
        )
        assert len(_numbers((tmp_path / "y.bvh").read_text())[1]) == frames


def _numbers(text: str) -> tuple[str, np.ndarray]:
    first, *rows = text.split("Frame Time:")[1].splitlines()
    return first.strip(), np.array([[float(word) for word in row.split()] for row in rows if row.strip()])
