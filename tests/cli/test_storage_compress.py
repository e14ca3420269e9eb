"""``keypose compress``: one or many files within the tolerance."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.cli import storage_view
from keypose.storage.error import LargestError, largest_error
from support import cli_docs
from support.storage_cases import document, names

# One file


@pytest.mark.parametrize("options", [(), ("--tolerance-mm", 0.1), ("--tolerance-mm", 5)], ids=str)
def test_one_file(keypose, kick: Path, capture: kp.Motion, tmp_path: Path, options: tuple) -> None:
    out = tmp_path / "new" / "walk.kps"
    result = keypose("compress", kick, out, *options)
    assert (result.code, result.err) == (0, "")
    assert names(tmp_path / "new") == ["walk.kps"]
    tolerance = options[1] if options else 1
    loaded = largest_error(capture, kp.load(out))
    assert 0 < loaded.mm <= tolerance
    assert f"{loaded.mm:.3g} mm at most: {loaded.joint}" in result.out
    assert f"in frame {loaded.frame}, on a figure of 1.7 m; read back, within {tolerance:g} mm" in result.out
    before, after = kick.stat().st_size, out.stat().st_size
    assert f"{storage_view._format_ratio(before, after)} smaller than the file" in result.out
    raw = 40 * capture.n_joints * capture.n_frames
    assert f"{storage_view._format_ratio(raw, after)} than 40 bytes for each joint and frame" in result.out
    assert f"{out} in " in result.out and " s of motion per second" in result.out


def test_lossless(keypose, kick: Path, capture: kp.Motion, tmp_path: Path) -> None:
    out = tmp_path / "walk.kps"
    result = keypose("compress", kick, out, "--lossless")
    assert (result.code, result.err) == (0, "")
    assert "nothing: every number is stored; read back" in result.out
    back = kp.load(out)
    assert np.array_equal(back.translations, capture.translations)
    assert np.array_equal(back.rotations, capture.rotations)


def test_json_has_what_was_done(keypose, kick: Path, capture: kp.Motion, tmp_path: Path) -> None:
    out = tmp_path / "walk.kps"
    result = keypose("compress", kick, out, "--json")
    assert (result.code, result.err) == (0, "")
    payload = document(result)
    assert list(payload) == ["compressed", "failed", "skipped", "n_remaining", "interrupted", "seconds", "total"]
    (compressed,) = payload["compressed"]
    error = largest_error(capture, kp.load(out))
    assert compressed["largest_error"] == {
        "mm": pytest.approx(error.mm),
        "frame": error.frame,
        "joint": error.joint,
        "point": error.point,
    }
    assert (compressed["source"], compressed["target"]) == (str(kick), str(out))
    assert (compressed["source_bytes"], compressed["bytes"]) == (kick.stat().st_size, out.stat().st_size)
    assert compressed["raw_bytes"] == 40 * capture.n_joints * capture.n_frames
    assert compressed["ratio"] == pytest.approx(compressed["source_bytes"] / compressed["bytes"])
    assert compressed["raw_ratio"] == pytest.approx(compressed["raw_bytes"] / compressed["bytes"])
    assert (compressed["n_frames"], compressed["fps"], compressed["n_joints"]) == (
        capture.n_frames,
        30.0,
        capture.n_joints,
    )
    assert (compressed["tolerance_mm"], compressed["lossless"], compressed["verified"]) == (1.0, False, True)
    assert (compressed["keys"], compressed["swings"]) == (None, None)
    total = payload["total"]
    assert (total["clips"], total["bytes"], total["verified"]) == (1, compressed["bytes"], True)
    assert total["largest_error"] == {"source": str(kick), **compressed["largest_error"]}
    assert total["motion_s_per_s"] == pytest.approx(capture.duration_s / payload["seconds"])
    assert keypose("compress", kick, tmp_path / "q.kps", "-q") == type(result)(0, "", "")


def test_docs_name_every_json_field(keypose, kick: Path, tmp_path: Path) -> None:
    documented_keys = cli_docs.documented_fields("compress")
    payload = document(keypose("compress", kick, tmp_path / "x.kps", "--json"))
    (compressed,) = payload["compressed"]
    assert {*payload, *compressed, *payload["total"], *compressed["largest_error"]} <= documented_keys


def test_no_verify_prints_no_error(keypose, kick: Path, tmp_path: Path) -> None:
    result = keypose("compress", kick, tmp_path / "walk.kps", "--no-verify")
    assert result.code == 0 and "1 mm at most, guaranteed; not read back" in result.out
    (payload,) = document(keypose("compress", kick, tmp_path / "x.kps", "--no-verify", "--json"))["compressed"]
    assert (payload["verified"], payload["largest_error"]) == (False, None)


def test_file_above_the_tolerance_is_not_written(
    keypose, kick: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from keypose.batch import stored_file

    true_error = stored_file.largest_error

    def farther(*motions: kp.Motion, mm_per_unit: float) -> LargestError:
        error = true_error(*motions, mm_per_unit=mm_per_unit)
        return replace(error, mm=error.mm + 1)

    old = tmp_path / "old.kps"
    old.write_bytes(b"precious")
    monkeypatch.setattr(stored_file, "largest_error", farther)
    for target in (tmp_path / "new.kps", old):
        result = keypose("compress", kick, target, "--overwrite")
        assert result.code == 1
        assert f"{target}: read back, it is off by " in result.err
        assert result.err.rstrip().endswith("more than 1 mm")
    assert names(tmp_path) == ["old.kps"] and old.read_bytes() == b"precious"


# Many files


def test_a_folder(keypose, clip, tmp_path: Path) -> None:
    takes, archive = tmp_path / "takes", tmp_path / "archive"
    clip("takes/a.bvh"), clip("takes/deep/er/b.bvh"), clip("takes/deep/er/c.bvh", frames=50)
    (takes / "notes.txt").write_text("no motion")
    (takes / "bad.bvh").write_text("HIERARCHY\nROOT")
    clip("takes/walk.bvh")
    result = keypose("compress", takes, archive)
    assert result.code == 1
    assert names(archive) == ["a.kps", "deep/er/b.kps", "deep/er/c.kps", "walk.kps"]
    (error,) = [line for line in result.err.splitlines() if line.startswith("error: ")]
    assert error.startswith(f"error: {takes / 'bad.bvh'}")
    assert "4 of 5 clips compressed in " in result.out
    assert f"written to {archive}" in result.out and "all were read back" in result.out
    assert re.search(
        r"^off by \S+ mm at most: \S+, .* in frame \d+ \(on a figure of 1.7 m\)$", result.out, re.MULTILINE
    )
    # a second run replaces nothing, or writes missing files only
    again = keypose("compress", takes, archive)
    assert again.code == 1 and "exists already (and 3 more)" in again.err
    before = {name: (archive / name).stat().st_mtime_ns for name in names(archive) if name != "a.kps"}
    (archive / "a.kps").unlink()
    on = document(keypose("compress", takes, archive, "--skip-existing", "--json"))
    assert [Path(command_result["target"]).name for command_result in on["compressed"]] == ["a.kps"]
    assert [Path(each["source"]).name for each in on["failed"]] == ["bad.bvh"] and len(on["skipped"]) == 3
    assert {name: (archive / name).stat().st_mtime_ns for name in before} == before


def test_several_workers_do_the_same(keypose, clip, tmp_path: Path) -> None:
    for i in range(4):
        clip(f"takes/{i}.bvh", frames=20 + i)
    one = document(keypose("compress", tmp_path / "takes", tmp_path / "one", "--json", "--jobs", 1))
    two = document(keypose("compress", tmp_path / "takes", tmp_path / "two", "--json", "--jobs", 2))
    assert names(tmp_path / "one") == names(tmp_path / "two")
    for name in names(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert one["total"]["bytes"] == two["total"]["bytes"] == sum(result["bytes"] for result in two["compressed"])
    worst = max((result["largest_error"] for result in one["compressed"]), key=lambda error: error["mm"])
    assert one["total"]["largest_error"]["mm"] == worst["mm"]


def test_what_is_compressed_already_is_left_out(keypose, clip, tmp_path: Path) -> None:
    clip("takes/a.bvh")
    assert keypose("compress", tmp_path / "takes", tmp_path / "takes").code == 0
    assert names(tmp_path / "takes") == ["a.bvh", "a.kps"]
    on = document(keypose("compress", tmp_path / "takes", tmp_path / "takes", "--skip-existing", "--json"))
    assert (on["compressed"], len(on["skipped"]), on["total"]) == ([], 1, None)
    (tmp_path / "takes" / "a.bvh").unlink()
    result = keypose("compress", tmp_path / "takes", tmp_path / "out")
    assert result.code == 1 and "no motion files that are not compressed already" in result.err


def test_links_and_permissions_stay(keypose, clip, tmp_path: Path) -> None:
    (tmp_path / "real.kps").write_bytes(b"old")
    (tmp_path / "real.kps").chmod(0o640)
    (tmp_path / "link.kps").symlink_to(tmp_path / "real.kps")
    assert keypose("compress", clip(), tmp_path / "link.kps", "--overwrite").code == 0
    assert (tmp_path / "link.kps").is_symlink()
    assert kp.load(tmp_path / "real.kps").n_frames == 8
    assert (tmp_path / "real.kps").stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["link.kps", "real.kps", "walk.bvh"]
