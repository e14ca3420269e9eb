"""Output of ``compress``, ``restore``, ``verify`` and ``convert`` about compressed files."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import keypose as kp
from keypose.cli import output, storage_view
from keypose.storage.error import largest_error
from support.storage_cases import document, names


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second and a half of the demo motion."""
    path = tmp_path_factory.mktemp("told") / "kick.bvh"
    kp.save(kp.demo_motion(fps=30.0)[200:245], path)
    return path


@pytest.fixture(scope="module")
def stored_clip(short: Path) -> Path:
    """The same within a millimetre."""
    path = short.parent / "archive" / "kick.kps"
    path.parent.mkdir()
    kp.save(kp.load(short), path, tolerance_mm=1.0)
    return path


# Sources that were compressed before


def test_errors_of_what_is_compressed_again_add_up(keypose, short: Path, stored_clip: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.kps"
    result = keypose("compress", stored_clip, again, "--tolerance-mm", 0.1)
    assert (result.code, result.err) == (0, "")
    assert "within 0.1 mm of kick.kps, which is itself within 1 mm of its original\n" in result.out
    payload = document(keypose("compress", stored_clip, tmp_path / "x.kps", "--lossless", "--json"))["compressed"]
    assert (payload[0]["lossless"], payload[0]["source_tolerance_mm"]) == (True, 1.0)
    assert "within 1.1 mm of the original: 0.1 mm, of a file that was within 1 mm" in keypose("verify", again).out
    assert "every number, of a file within 1 mm" in keypose("verify", tmp_path / "x.kps").out
    result = keypose("restore", again, tmp_path / "again.bvh")
    assert (result.code, result.err) == (0, "") and ", within 1.1 mm, in " in result.out
    assert largest_error(kp.load(short), kp.load(tmp_path / "again.bvh")).mm <= 1.1
    many = keypose("compress", stored_clip, again, tmp_path / "many")
    assert "2 of them were compressed before, within 1.1 mm of the original: errors add up" in many.out


def test_what_is_compressed_is_not_converted_to_the_same(keypose, stored_clip: Path, tmp_path: Path) -> None:
    for line in ([tmp_path / "two.kps"], [tmp_path / "out", "--to", "kps"]):
        result = keypose("convert", stored_clip, *line)
        assert (result.code, result.out) == (2, "") and "keypose compress IN.kps OUT.kps --tolerance-mm" in result.err
    assert names(tmp_path) == []
    assert keypose("convert", stored_clip, tmp_path / "two.glb").code == 0


# Converted


@pytest.mark.data
def test_converted_file_keeps_the_t_pose_and_prints_its_accuracy(keypose, data_dir: Path, tmp_path: Path) -> None:
    source = data_dir / "cmu120" / "07_05_walk.bvh"
    original = kp.load(source)
    assert original.reference_pose is not None
    for option in ((), ("--write-reference-pose",)):
        result = keypose("convert", source, tmp_path / "x.kps", "--range", ":60", "--overwrite", *option)
        assert (result.code, result.err) == (0, "")
        assert result.out.startswith(f"{tmp_path / 'x.kps'}: 60 frames ")
        assert result.out.endswith("; within 1 mm (keypose compress takes another tolerance)\n")
        back = kp.load(tmp_path / "x.kps")
        assert back.n_frames == 60 and back.reference_pose is not None
    (payload,) = document(keypose("convert", source, tmp_path / "y.kps", "--range", ":60", "--json"))["converted"]
    assert (payload["n_frames"], payload["reference_pose"], payload["tolerance_mm"], payload["notes"]) == (
        60,
        False,
        1.0,
        [],
    )


# Continued runs


def test_skipped_files_are_compared_with_the_options(keypose, short: Path, stored_clip: Path, tmp_path: Path) -> None:
    takes, archive = tmp_path / "takes", tmp_path / "archive"
    for folder in (takes, archive):
        folder.mkdir()
    for name in "abc":
        (takes / f"{name}.bvh").write_bytes(short.read_bytes())
    for name in "ab":
        (archive / f"{name}.kps").write_bytes(stored_clip.read_bytes())
    result = keypose("compress", takes, archive, "--skip-existing", "--lossless")
    assert result.code == 0 and "2 existing skipped\n" in result.out and str(archive / "c.kps") in result.out
    (warning,) = result.err.splitlines()
    assert warning == (f"warning: 2 of those skipped are within 1 mm, not lossless: {archive / 'a.kps'}, "
                       f"{archive / 'b.kps'}; --overwrite instead of --skip-existing compresses them again")  # fmt: skip
    payload = document(keypose("compress", takes, archive, "--skip-existing", "--json", "--tolerance-mm", 1))["skipped"]
    assert [each["matches_options"] for each in payload] == [True] * 3  # lossless is within any tolerance
    assert [each["tolerance_mm"] for each in payload] == [1.0, 1.0, None]
    (archive / "a.kps").write_bytes(b"no motion")
    result = keypose("compress", takes, archive, "--skip-existing", "--tolerance-mm", 5)
    assert (
        "warning: 1 of those skipped is not to be read: " in result.err
        and "within 1 mm, not within 5 mm: " in result.err
    )
    # restored files have the same line
    assert keypose("restore", archive / "b.kps", archive / "c.kps", takes, "--to", "glb").code == 0
    (takes / "c.glb").unlink()
    result = keypose("restore", archive / "b.kps", archive / "c.kps", takes, "--to", "glb", "--skip-existing")
    assert result.out.splitlines()[-1] == "1 existing skipped"


def test_clips_with_warnings_are_counted_in_the_end(keypose, clip, tmp_path: Path) -> None:
    clip("takes/cut.bvh", stated=20), clip("takes/whole.bvh")
    result = keypose("compress", tmp_path / "takes", tmp_path / "archive")
    assert result.code == 0 and "warning: " in result.err
    assert re.search(r"^2 of 2 clips compressed in \S+ s, 1 clip with warnings$", result.out, re.MULTILINE)
    result = keypose("restore", tmp_path / "archive", tmp_path / "back", "--to", "bvh")
    assert result.code == 0 and ", 1 with notes, " in result.out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_one_long_clip_shows_what_is_done(
    keypose, short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    console = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(output, "stderr_console", lambda: console)
    assert keypose("compress", short, tmp_path / "short.kps").code == 0
    assert screen.getvalue() == ""
    monkeypatch.setattr("keypose.cli.runner.BAR_DELAY_S", 0.0)
    assert keypose("compress", short, tmp_path / "x.kps").code == 0
    assert "Compressing" in screen.getvalue() and "%" in screen.getvalue()
    screen.truncate(0)
    assert keypose("compress", short, tmp_path / "q.kps", "-q").code == 0
    assert "Compressing" not in screen.getvalue()


def test_one_clip_that_is_interrupted(keypose, short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: object, done: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("keypose.cli.runner.ProgressBar.update_fraction", interrupt)
    result = keypose("compress", short, tmp_path / "x.kps")
    assert (result.code, result.out) == (130, "")
    assert result.err == f"note: interrupted; {tmp_path / 'x.kps'} was not written\n"
    assert names(tmp_path) == []


# Verified


def test_a_lossless_file_is_the_same_as_its_original(keypose, short: Path, tmp_path: Path) -> None:
    out = tmp_path / "kick.kps"
    assert keypose("compress", short, out, "--lossless").code == 0
    assert f"same as {short}, every number\n" in keypose("verify", out, "--against", short).out
    assert document(keypose("verify", out, "--against", short, "--json"))["same"] is True
    assert document(keypose("verify", out, "--json"))["same"] is None
    turned = tmp_path / "turned.bvh"  # equal rotations in another notation
    *rows, last = short.read_text().splitlines()
    words = last.split()
    turned.write_text("\n".join([*rows, " ".join([*words[:-1], str(float(words[-1]) + 360)])]) + "\n")
    result = keypose("verify", out, "--against", turned)
    assert result.code == 1 and "although it is lossless" in result.err


def test_originals_without_a_compressed_file_are_named(keypose, short: Path, stored_clip: Path, tmp_path: Path) -> None:
    takes, archive = tmp_path / "takes", tmp_path / "archive"
    for path, data in ((takes / "a.bvh", short), (takes / "lost.bvh", short), (archive / "a.kps", stored_clip)):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data.read_bytes())
    result = keypose("verify", archive, "--against", takes)
    assert (result.code, result.err) == (0, f"warning: 1 of the originals has no .kps: {takes / 'lost.bvh'}\n")
    payload = document(keypose("verify", archive, "--against", takes, "--json"))
    assert payload[1:] == [{"path": None, "against": str(takes / "lost.bvh"), "problem": "has no .kps"}]
    assert keypose("verify", archive / "a.kps", "--against", takes).err == ""


def test_a_cut_file_does_not_boast(keypose, stored_clip: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.kps"
    cut.write_bytes(stored_clip.read_bytes()[: stored_clip.stat().st_size * 2 // 3])
    result = keypose("verify", cut)
    assert result.code == 1 and "smaller" not in result.out
    assert keypose("verify", tmp_path).code == 1
    assert document(keypose("verify", cut, "--json"))["ratio"] is None


def test_bytes_behind_the_end_are_no_reason_to_lose_keys(keypose, stored_clip: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.kps"
    long.write_bytes(stored_clip.read_bytes() + b"more")
    result = keypose("verify", long)
    assert result.code == 1 and result.err.endswith("; all of the motion can be read\n")


def test_an_original_that_is_not_there(keypose, stored_clip: Path, tmp_path: Path) -> None:
    for files in ([stored_clip], [stored_clip.parent]):
        result = keypose("verify", *files, "--against", tmp_path / "nosuch")
        assert result.code == 1 and f"{tmp_path / 'nosuch'}: no such file or folder\n" in result.err


# Words


def test_file_that_grew_is_reported() -> None:
    assert storage_view._ratio_cell(569, 1000) == "1.76 x larger"
    total = storage_view.Total(1.0, 569, 4000, 1000, verified=True, worst=None)
    assert storage_view._size_comparison(total, "the files").startswith(
        "1.76 x larger than the files, 4 x smaller than 40 "
    )


def test_two_clips_of_one_name_in_one_folder(keypose, clip, tmp_path: Path) -> None:
    first = clip("same/a.bvh")
    (tmp_path / "same" / "a.bvh.gz").write_bytes(gzip.compress(first.read_bytes()))
    result = keypose("compress", tmp_path / "same", tmp_path / "out")
    assert result.code == 1 and result.err.endswith("a.kps: expected one of them, or rename one\n")
    result = keypose("compress", clip("1/x.bvh"), clip("2/x.bvh"), tmp_path / "out")
    assert result.code == 1 and "convert" not in result.err and "the one folder named that holds both" in result.err


def test_a_file_without_keys_gives_none(keypose, stored_clip: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.keys.json"
    for part in ((), ("--to-s", 1)):
        result = keypose("restore", stored_clip, out, *part)
        assert (
            result.code == 1
            and f"holds no keys; expected a format of motions, or to find keys: keypose unbake {stored_clip} "
            in result.err
        )
    assert names(tmp_path) == []
    assert keypose("unbake", stored_clip, out, "--keys", 4).code == 0
    assert kp.load_keyed(out).n_keys == 4
