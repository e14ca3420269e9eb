"""What ``compress``, ``restore``, ``verify`` and ``convert`` say of compressed files is true, and all that matters."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from storage_cases import document, names

import keypose as kp
from keypose.cli import output, storage_view
from keypose.storage.error import largest_error


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second and a half of the demo motion."""
    path = tmp_path_factory.mktemp("told") / "kick.bvh"
    kp.save(kp.demo_motion(fps=30.0)[200:245], path)
    return path


@pytest.fixture(scope="module")
def stored(short: Path) -> Path:
    """The same within a millimetre."""
    path = short.parent / "archive" / "kick.kps"
    path.parent.mkdir()
    kp.save(kp.load(short), path, tolerance_mm=1.0)
    return path


# What was compressed before


def test_errors_of_what_is_compressed_again_add_up(keypose, short: Path, stored: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.kps"
    ran = keypose("compress", stored, again, "--tolerance-mm", 0.1)
    assert (ran.code, ran.err) == (0, "")
    assert "within 0.1 mm of kick.kps, which is itself within 1 mm of its original\n" in ran.out
    found = document(keypose("compress", stored, tmp_path / "x.kps", "--lossless", "--json"))["compressed"]
    assert (found[0]["lossless"], found[0]["source_tolerance_mm"]) == (True, 1.0)
    assert "within 1.1 mm of the original: 0.1 mm, of what was itself within 1 mm" in keypose("verify", again).out
    assert "every number, of what was within 1 mm" in keypose("verify", tmp_path / "x.kps").out
    ran = keypose("restore", again, tmp_path / "again.bvh")
    assert (ran.code, ran.err) == (0, "") and ", within 1.1 mm, in " in ran.out
    assert largest_error(kp.load(short), kp.load(tmp_path / "again.bvh")).mm <= 1.1
    many = keypose("compress", stored, again, tmp_path / "many")
    assert "2 of them were compressed before, within 1.1 mm of the original: errors add up" in many.out


def test_what_is_compressed_is_not_converted_to_the_same(keypose, stored: Path, tmp_path: Path) -> None:
    for line in ([tmp_path / "two.kps"], [tmp_path / "out", "--to", "kps"]):
        ran = keypose("convert", stored, *line)
        assert (ran.code, ran.out) == (2, "") and "keypose compress IN.kps OUT.kps --tolerance-mm" in ran.err
    assert names(tmp_path) == []
    assert keypose("convert", stored, tmp_path / "two.glb").code == 0


# Converted


@pytest.mark.data
def test_a_converted_file_keeps_the_t_pose_and_says_how_near_it_is(keypose, data_dir: Path, tmp_path: Path) -> None:
    source = data_dir / "cmu120" / "07_05_walk.bvh"
    original = kp.load(source)
    assert original.reference_pose is not None
    for option in ((), ("--write-reference-pose",)):
        ran = keypose("convert", source, tmp_path / "x.kps", "--range", ":60", "--overwrite", *option)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith(f"{tmp_path / 'x.kps'}: 60 frames ")
        assert ran.out.endswith("; within 1 mm (keypose compress takes another tolerance)\n")
        back = kp.load(tmp_path / "x.kps")
        assert back.n_frames == 60 and back.reference_pose is not None
    (made,) = document(keypose("convert", source, tmp_path / "y.kps", "--range", ":60", "--json"))["converted"]
    assert (made["frames"], made["reference_pose"], made["tolerance_mm"], made["notes"]) == (60, False, 1.0, [])


# Runs that go on


def test_what_is_left_out_is_held_against_what_is_asked_for(keypose, short: Path, stored: Path, tmp_path: Path) -> None:
    takes, archive = tmp_path / "takes", tmp_path / "archive"
    for folder in (takes, archive):
        folder.mkdir()
    for name in "abc":
        (takes / f"{name}.bvh").write_bytes(short.read_bytes())
    for name in "ab":
        (archive / f"{name}.kps").write_bytes(stored.read_bytes())
    ran = keypose("compress", takes, archive, "--skip-existing", "--lossless")
    assert ran.code == 0 and "2 that exist left out\n" in ran.out and str(archive / "c.kps") in ran.out
    (warning,) = ran.err.splitlines()
    assert warning == (f"warning: 2 of those left out are within 1 mm, not lossless: {archive / 'a.kps'}, "
                       f"{archive / 'b.kps'}; --overwrite instead of --skip-existing makes them anew")  # fmt: skip
    told = document(keypose("compress", takes, archive, "--skip-existing", "--json", "--tolerance-mm", 1))["skipped"]
    assert [each["as_asked"] for each in told] == [True] * 3  # lossless is within any tolerance
    assert [each["tolerance_mm"] for each in told] == [1.0, 1.0, None]
    (archive / "a.kps").write_bytes(b"no motion")
    ran = keypose("compress", takes, archive, "--skip-existing", "--tolerance-mm", 5)
    assert "warning: 1 of those left out is not to be read: " in ran.err and "within 1 mm, not within 5 mm: " in ran.err
    # and the same line for what is restored
    assert keypose("restore", archive / "b.kps", archive / "c.kps", takes, "--to", "glb").code == 0
    (takes / "c.glb").unlink()
    ran = keypose("restore", archive / "b.kps", archive / "c.kps", takes, "--to", "glb", "--skip-existing")
    assert ran.out.splitlines()[-1] == "1 that exist left out"


def test_clips_with_warnings_are_counted_in_the_end(keypose, clip, tmp_path: Path) -> None:
    clip("takes/cut.bvh", stated=20), clip("takes/whole.bvh")
    ran = keypose("compress", tmp_path / "takes", tmp_path / "archive")
    assert ran.code == 0 and "warning: " in ran.err
    assert re.search(r"^2 of 2 clips compressed in \S+ s, 1 clip with warnings$", ran.out, re.MULTILINE)
    ran = keypose("restore", tmp_path / "archive", tmp_path / "back", "--to", "bvh")
    assert ran.code == 0 and ", 1 with notes, " in ran.out


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_one_long_clip_shows_what_is_done(
    keypose, short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    console = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(output, "messages", lambda: console)
    assert keypose("compress", short, tmp_path / "short.kps").code == 0
    assert screen.getvalue() == ""
    monkeypatch.setattr("keypose.cli.progress.LONG_S", 0.0)
    assert keypose("compress", short, tmp_path / "x.kps").code == 0
    assert "Compressing" in screen.getvalue() and "%" in screen.getvalue()
    screen.truncate(0)
    assert keypose("compress", short, tmp_path / "q.kps", "-q").code == 0
    assert "Compressing" not in screen.getvalue()


def test_one_clip_that_is_interrupted(keypose, short: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: object, done: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("keypose.cli.progress.Progress.part", interrupted)
    ran = keypose("compress", short, tmp_path / "x.kps")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err == f"note: interrupted; {tmp_path / 'x.kps'} was not written\n"
    assert names(tmp_path) == []


# Verified


def test_a_lossless_file_is_the_same_as_its_original(keypose, short: Path, tmp_path: Path) -> None:
    out = tmp_path / "kick.kps"
    assert keypose("compress", short, out, "--lossless").code == 0
    assert f"same as {short}, every number\n" in keypose("verify", out, "--against", short).out
    assert document(keypose("verify", out, "--against", short, "--json"))["same"] is True
    assert document(keypose("verify", out, "--json"))["same"] is None
    turned = tmp_path / "turned.bvh"  # the same turns, otherwise spelled
    *rows, last = short.read_text().splitlines()
    words = last.split()
    turned.write_text("\n".join([*rows, " ".join([*words[:-1], str(float(words[-1]) + 360)])]) + "\n")
    ran = keypose("verify", out, "--against", turned)
    assert ran.code == 1 and "although it is lossless" in ran.err


def test_originals_without_a_compressed_file_are_named(keypose, short: Path, stored: Path, tmp_path: Path) -> None:
    takes, archive = tmp_path / "takes", tmp_path / "archive"
    for path, data in ((takes / "a.bvh", short), (takes / "lost.bvh", short), (archive / "a.kps", stored)):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data.read_bytes())
    ran = keypose("verify", archive, "--against", takes)
    assert (ran.code, ran.err) == (0, f"warning: 1 of the originals has no .kps: {takes / 'lost.bvh'}\n")
    found = document(keypose("verify", archive, "--against", takes, "--json"))
    assert found[1:] == [{"path": None, "against": str(takes / "lost.bvh"), "problem": "has no .kps"}]
    assert keypose("verify", archive / "a.kps", "--against", takes).err == ""


def test_a_cut_file_does_not_boast(keypose, stored: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.kps"
    cut.write_bytes(stored.read_bytes()[: stored.stat().st_size * 2 // 3])
    ran = keypose("verify", cut)
    assert ran.code == 1 and "smaller" not in ran.out
    assert keypose("verify", tmp_path).code == 1
    assert document(keypose("verify", cut, "--json"))["ratio"] is None


def test_bytes_behind_the_end_are_no_reason_to_lose_keys(keypose, stored: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.kps"
    long.write_bytes(stored.read_bytes() + b"more")
    ran = keypose("verify", long)
    assert ran.code == 1 and ran.err.endswith("; all of the motion can be read\n")


def test_an_original_that_is_not_there(keypose, stored: Path, tmp_path: Path) -> None:
    for files in ([stored], [stored.parent]):
        ran = keypose("verify", *files, "--against", tmp_path / "nosuch")
        assert ran.code == 1 and f"{tmp_path / 'nosuch'}: no such file or folder\n" in ran.err


# Words


def test_a_file_that_has_grown_says_so() -> None:
    assert storage_view._cell_times(569, 1000) == "1.76 x larger"
    total = storage_view.Total(1.0, 569, 4000, 1000, verified=True, worst=None)
    assert storage_view._smaller(total, "the files").startswith("1.76 x larger than the files, 4 x smaller than 40 ")


def test_two_clips_of_one_name_in_one_folder(keypose, clip, tmp_path: Path) -> None:
    first = clip("same/a.bvh")
    (tmp_path / "same" / "a.bvh.gz").write_bytes(gzip.compress(first.read_bytes()))
    ran = keypose("compress", tmp_path / "same", tmp_path / "out")
    assert ran.code == 1 and ran.err.endswith("a.kps: expected one of them, or rename one\n")
    ran = keypose("compress", clip("1/x.bvh"), clip("2/x.bvh"), tmp_path / "out")
    assert ran.code == 1 and "convert" not in ran.err and "the one folder named that holds both" in ran.err


def test_a_file_without_keys_gives_none(keypose, stored: Path, tmp_path: Path) -> None:
    out = tmp_path / "p.keys.json"
    for part in ((), ("--to-s", 1)):
        ran = keypose("restore", stored, out, *part)
        assert (
            ran.code == 1
            and f"holds no keys; expected a format of motions, or to find keys: keypose unbake {stored} " in ran.err
        )
    assert names(tmp_path) == []
    assert keypose("unbake", stored, out, "--keys", 4).code == 0
    assert kp.load_keyed(out).n_keys == 4
