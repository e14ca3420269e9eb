"""Messages of ``keypose library``: warnings, skipped files, typos, narrow tables, clips with equal names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.cli import library_inspect
from keypose.cli.messages import MessageSummary
from keypose.errors import FileError, FormatWarning
from keypose.library.blobs.folder import FolderBlobs
from keypose.library.library import Library
from keypose.library.search.hits import Hit, MatchDetails
from keypose.library.search.swing_overlap import SwingMatch
from keypose.model import Note


@pytest.fixture(autouse=True)
def work_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with takes of which two are truncated."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KEYPOSE_LIBRARY", raising=False)
    demo = kp.demo_motion(fps=10)
    Path("takes/kicks").mkdir(parents=True)
    for name, start, stated in (("walk", 20, 20), ("short", 30, 23), ("kicks/cut", 90, 25)):
        path = Path("takes", f"{name}.bvh")
        kp.save(demo[start : start + 20], path)
        path.write_text(path.read_text().replace("Frames: 20", f"Frames: {stated}"))
    return tmp_path


@pytest.fixture
def filled_library(keypose: Callable) -> Path:
    assert keypose("library", "add", "takes", "--jobs", 1, "-q").code == 0
    return Path("clips.db")


def render_lines(table: object, width: int) -> list[str]:
    from rich.console import Console

    console = Console(width=width, color_system=None)
    with console.capture() as captured:
        console.print(table)
    return captured.get().splitlines()


def test_nothing_is_added_where_the_bytes_of_all_clips_are_gone(keypose: Callable, filled_library: Path) -> None:
    Path("clips.db.blobs").rename("away")
    kp.save(kp.demo_motion(fps=10)[:9], "new.bvh")
    for file in ("new.bvh", "takes"):
        result = keypose("library", "add", file)
        assert result.code == 1 and result.err.strip().endswith(
            "clips.db.blobs: the files of all clips are missing, expected a mounted disk with them and the file "
            "keypose-library; keypose library rebuild accepts an empty place, if they are lost for good"
        )
    assert not Path("clips.db.blobs").exists() and "3 clips" in keypose("library", "list").out


def test_rebuild_repairs_a_file_that_cannot_be_opened(keypose: Callable, filled_library: Path) -> None:
    data = bytearray(filled_library.read_bytes())
    data[3] ^= 1
    filled_library.write_bytes(data)
    for command in ("list", "verify"):
        result = keypose("library", command)
        assert result.code == 1 and result.err.strip().endswith(
            "keypose library rebuild copies what can be read into a new file"
        )
    result = keypose("library", "rebuild", "--jobs", 1)
    assert result.code == 0 and "what could be read was copied into a new file" in result.err
    assert keypose("library", "verify").out == "3 clips, all sound\n"
    Path("photo.jpg").write_bytes(b"\xff\xd8" * 900)
    result = keypose("library", "rebuild", "--library", "photo.jpg")
    assert result.code == 1 and "is no library, expected a file that keypose library add has made" in result.err
    assert Path("photo.jpg").read_bytes() == b"\xff\xd8" * 900


def test_reader_warnings_are_printed_once_per_kind(keypose: Callable) -> None:
    result = keypose("library", "add", "takes", "--jobs", 1)
    warned = [line for line in result.err.splitlines() if line.startswith("warning: ")]
    assert len(warned) == 1
    assert re.match(
        r"warning: takes/\S+\.bvh.* the header declares 2\d frames, .*\(and the like in 1 more file\)$", warned[0]
    )
    assert "3 of 3 files added, 6.00 s of motion in " in result.out


def test_warnings_are_in_json_and_not_printed_if_quiet(keypose: Callable, tmp_path: Path) -> None:
    result = keypose("library", "add", "takes", "--jobs", 1, "--json")
    payload = {Path(clip["path"]).name: clip["warnings"] for clip in json.loads(result.out)["added"]}
    assert [len(payload[name]) for name in ("walk.bvh", "short.bvh", "cut.bvh")] == [0, 1, 1] and result.err == ""
    assert payload["short.bvh"][0].startswith("takes/short.bvh")
    result = keypose("library", "add", "takes", "--jobs", 1, "-q", "-l", "other.db")
    assert (result.code, result.out, result.err) == (0, "", "")


def test_many_kinds_are_cut_and_counted() -> None:
    lines: list[str] = []
    summary = MessageSummary()
    for n in range(30):
        summary.add_warning(f"{n}.amc", FormatWarning(f"{n} is odd", code=f"odd_{n}", path=f"{n}.amc"))
        summary.add_warning(f"{n}.amc", FormatWarning(f"{n} is even", code="even", subject="walk"))
        summary.add_note(f"{n}.amc", "the same of all")
    summary.print(lines.append)
    assert lines[:3] == [
        "0.amc: 0 is odd",
        "0.amc: walk: 0 is even (and the like in 29 more files)",
        "30 files: the same of all",
    ]
    assert len(lines) == 21 and lines[-1] == "and 12 more; --json has all"


def test_notes_with_the_same_code_are_one_line() -> None:
    lines: list[str] = []
    summary = MessageSummary()
    for n in range(3):
        summary.add_note(f"{n}.glb", Note(f"not read: prop {n}", "not_read"))
        summary.add_note(f"{n}.glb", Note("a pose apart", "reference_pose"))
    summary.print(lines.append)
    assert lines == ["0.glb: not read: prop 0 (and the like in 2 more files)", "3 files: a pose apart"]


@pytest.mark.data
def test_load_options_are_applied(keypose: Callable, data_dir: Path) -> None:
    amc = data_dir / "asf-amc" / "mismatch" / "02_01.amc"
    refused = keypose("library", "add", amc)
    assert refused.code == 1 and "--asf FILE" in refused.err
    result = keypose("library", "add", amc, "--asf", data_dir / "asf-amc" / "02.asf", "--read-fps", 60, "--json")
    (clip,) = json.loads(result.out)["added"]
    assert (result.code, clip["fps"], clip["suffix"]) == (0, 60, ".kps")
    assert any("stored as lossless .kps" in note for note in clip["notes"])
    fox = data_dir / "gltf" / "Fox.glb"
    assert "of 3 animations the first, 'Survey', is read" in keypose("library", "add", fox).err
    assert "1 of 1 file added" in keypose("library", "add", fox, "--animation", "Walk").out
    assert [clip["name"] for clip in json.loads(keypose("library", "list", "fox", "--json").out)["clips"]] == [
        "Fox", "Fox: Walk",
    ]  # fmt: skip
    assert keypose("library", "add", fox, "--animation", "Wolk").code == 1
    assert keypose("library", "add", fox, "--read-fps", "0").code == 2


def test_existing_files_are_counted_by_change(keypose: Callable, filled_library: Path) -> None:
    result = keypose("library", "add", "takes", "--jobs", 1, "--tag", "a,b", "--tag-folders")
    assert re.search(r": 0 of 3 files added, 3 existing \(3 of them with new metadata\) in ", result.out)
    with Library(filled_library) as library:
        assert library.clip("cut").tags == ("a", "b", "kicks") and library.clip("walk").tags == ("a", "b")
        blob = library.clip("walk").blob
    (file,) = Path("clips.db.blobs").rglob(blob)
    file.chmod(0o600)
    file.write_bytes(b"damaged")
    assert "3 existing (1 repaired) in " in keypose("library", "add", "takes", "--jobs", 1).out
    assert re.search(r"3 existing in [\d.]+ s$", keypose("library", "add", "takes", "--jobs", 1).out)


def test_metadata_changes_persist(keypose: Callable, filled_library: Path) -> None:
    walk = Path("takes/walk.bvh")
    keypose("library", "add", walk, "--licence", "CC0")
    result = keypose("library", "add", walk, "--licence", "CC-BY")
    assert result.err == "note: takes/walk.bvh: its licence stays 'CC0'; describe changes it\n"
    result = keypose("library", "describe", "walk", "short", "--licence", "CC-BY", "--source", "", "--note", "good")
    assert (result.code, result.out) == (0, "walk: licence CC-BY, note good\nshort: licence CC-BY, note good\n")
    (clip,) = json.loads(keypose("library", "describe", "walk", "--licence", "", "--note", "", "--json").out)["clips"]
    assert (clip["licence"], clip["source"], clip["note"]) == ("", "", "")
    assert keypose("library", "describe", "walk", "--source", "").out == "walk: no source, licence or note\n"
    assert keypose("library", "describe", "walk").code == 2
    assert keypose("library", "describe", "--note", "x").code == 2


def test_existing_name_is_reported(keypose: Callable, filled_library: Path) -> None:
    result = keypose("library", "rename", "short", "walk")
    assert result.code == 0 and re.fullmatch(
        r"note: another clip is called walk too: [0-9a-f]{12} is this one\n", result.err
    )
    assert keypose("library", "show", "short").out.startswith("walk\n")  # the old name still works
    result = keypose("library", "show", "walk")
    assert result.code == 1 and ".bvh from " in result.err and "takes/short.bvh)" in result.err
    assert keypose("library", "rename", "cut", "other").err == ""
    text = keypose("library", "list").out
    with Library(filled_library) as library:
        assert all(clip.hash[:8] in text for clip in library.clips())
        library.rename(library.clips_named("walk")[0].hash, "stroll")
        assert not any(clip.hash[:8] in keypose("library", "list").out for clip in library.clips())


def test_unknown_tags_are_reported(keypose: Callable, filled_library: Path) -> None:
    keypose("library", "tag", "walk", "short", "--add", "walking,slow walk", "--add", "Studio")
    assert json.loads(keypose("library", "list", "--tag", "walking,studio", "--json").out)["count"] == 2
    for command in (["list"], ["search"], ["export", "out"]):
        result = keypose("library", *command, "--tag", "wlaking")
        assert (result.code, result.err) == (0, "note: no clip has the tag 'wlaking'; did you mean walking?\n"), command
    assert keypose("library", "list", "--tag", "walking", "cut").err == ""
    result = keypose("library", "tag", "walk", "--remove", "studo,slow walk")
    assert result.err == "note: none of them has the tag 'studo'; did you mean studio?\n"
    assert result.out == "walk: studio, walking\n"
    assert keypose("library", "list", "--tag", "a,,b").code == 2


@pytest.mark.parametrize(
    "words", [["list", "wlak"], ["search", "--words", "wlak"], ["export", "out", "--words", "wlak"]]
)
def test_unknown_words_are_reported(keypose: Callable, filled_library: Path, words: list[str]) -> None:
    result = keypose("library", *words)
    assert (result.code, result.err) == (0, "note: no clip has the word 'wlak'; did you mean walk?\n")
    assert keypose("library", words[0], *words[1:-1], "walk").err == ""


@pytest.mark.parametrize(
    "command",
    [["show", "{}"], ["tag", "{}", "--add", "x"], ["rename", "{}", "x"], ["describe", "{}", "--note", "x"],
     ["remove", "{}", "--yes"], ["export", "out", "{}"], ["search", "{}"]],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("name", ["wlak", "WALK", "Wal"])
def test_every_command_suggests_clips_with_similar_names(
    keypose: Callable, filled_library: Path, command: list[str], name: str
) -> None:
    result = keypose("library", *(word.format(name) for word in command))
    assert result.code == 1
    assert result.err.startswith(f"error: no clip '{name}' in the library")
    assert result.err.endswith("; did you mean 'walk'?\n")


def test_truncated_lists_print_the_total(keypose: Callable, filled_library: Path) -> None:
    assert "\n2 of 3 clips, 40 frames, 4.00 s\n" in keypose("library", "list", "--limit", 2).out
    assert "\n1 of 3 clips, " in keypose("library", "list", "--skip", 2).out
    assert keypose("library", "list", "--skip", 3).out == "3 clips, all of them skipped\n"
    result = keypose("library", "search", "--min-duration-s", 1, "--limit", 2)
    assert result.err == "note: the first 2 of 3 are shown; --limit shows more\n"
    assert keypose("library", "search", "--min-duration-s", 1, "--limit", 3).err == ""


def hits_of(library: Library, *, mirrored: bool) -> list[Hit]:
    clip = replace(library.clip("walk"), name="a_clip_with_quite_a_long_name", tags=("studio b", "walking"))
    swings = tuple(SwingMatch(part, 0, 1, 0, 1, 1.0) for part in ("left_forearm", "right_upper_arm"))
    hit = Hit(clip, 0.93, 3, 19, 0.3, 1.9, 0.0, 1.6, mirrored=mirrored, duplicates=("x",), duplicate_hashes=("y",))
    return [replace(hit, details=MatchDetails(load_swings=lambda: swings))]


def test_important_columns_stay_on_narrow_terminals(filled_library: Path) -> None:
    with Library(filled_library) as library:
        hits, plain = hits_of(library, mirrored=True), hits_of(library, mirrored=False)
    wide = render_lines(library_inspect.hit_table(hits, 160), 160)
    assert wide[1].split() == ["name", "score", "side", "seconds", "frames", "length", "also", "tags", "why"]
    assert wide[3].rstrip().endswith("left forearm, right upper arm")
    narrow = render_lines(library_inspect.hit_table(hits, 80), 80)
    assert narrow[1].split() == ["name", "score", "side", "seconds", "why"]
    assert "mirrored" in narrow[3] and narrow[3].rstrip().endswith("left forearm") and "right" not in narrow[3]
    assert all(len(line) <= 80 for line in narrow)
    narrowest = render_lines(library_inspect.hit_table(hits, 60), 60)
    assert "mirrored" in narrowest[3] and "why" not in narrowest[1]
    assert "side" not in render_lines(library_inspect.hit_table(plain, 160), 160)[1]
    middle = render_lines(library_inspect.hit_table(plain, 110), 110)[1].split()
    assert "why" in middle and "tags" in middle and "length" not in middle


def test_hits_of_one_name_have_hashes(keypose: Callable) -> None:
    demo = kp.demo_motion(fps=20)
    with Library("clips.db") as library:
        for name, motion in (("walk", demo[20:80]), ("walk", demo[180:240]), ("copy", demo[20:80].at_fps(15))):
            library.add(motion, name=name)
        known = {clip.hash: clip.name for clip in library}
    kp.save(kp.demo_motion(fps=30)[32:118], "query.bvh")
    text = keypose("library", "search", "query.bvh", "--no-deduplicate", "--joints", "legs").out
    assert all(digest[:8] in text for digest in known)
    hits = json.loads(keypose("library", "search", "query.bvh", "--json").out)["hits"]
    (copies,) = [hit["duplicates"] for hit in hits if hit["duplicates"]]
    assert all(known[copy["hash"]] == copy["name"] for copy in copies) and len(copies) == 1


def test_warnings_of_a_search_are_lines_of_ours(keypose: Callable, recwarn: pytest.WarningsRecorder) -> None:
    demo = kp.demo_motion(fps=20)
    kp.save(demo[20:80], "long.bvh")
    Path("long.bvh").write_text(Path("long.bvh").read_text().replace("Frames: 60", "Frames: 61"))
    keypose("library", "add", "long.bvh", "takes", "-q", "--jobs", 1)
    result = keypose("library", "search", "long", "--pose", 3)
    assert result.code == 0
    assert result.err == "warning: long.bvh: the header declares 61 frames, but 60 rows follow; all rows were read\n"
    payload = json.loads(keypose("library", "search", "long", "--pose", 3, "--json").out)
    assert len(payload["warnings"]) == 1 and payload["warnings"][0].startswith("long.bvh:")
    assert [str(each.message) for each in recwarn] == []


def test_rebuild_prints_reader_warnings(
    keypose: Callable, filled_library: Path, recwarn: pytest.WarningsRecorder
) -> None:
    result = keypose("library", "rebuild", "--jobs", 1)
    assert (result.code, result.out) == (0, "3 clips, all rebuilt\n")
    assert re.fullmatch(r"warning: (short|cut)\.bvh.*and the like in 1 more file\)\n", result.err)
    payload = json.loads(keypose("library", "rebuild", "--jobs", 1, "--json").out)
    assert len(payload["warnings"]) == 2 and payload["sound"]
    result = keypose("library", "rebuild", "--jobs", 1, "-q")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert [str(each.message) for each in recwarn] == []
    assert keypose("library", "rebuild", "--jobs", 0).code == 2


def test_orphans_print_how_to_repair_them(keypose: Callable, filled_library: Path) -> None:
    with Library(filled_library) as library:
        library._store.blobs.put(b"nobody's")
    result = keypose("library", "verify", "--fix")
    assert result.code == 1
    assert (
        "adding their file again or keypose library rebuild takes them in, keypose library verify --drop-orphans removes them"
        in result.err
    )
    dropped = keypose("library", "verify", "--drop-orphans")
    assert (dropped.code, dropped.out) == (0, "3 clips, all sound\n") and "(fixed)" in dropped.err


def test_stopped_add_prints_its_progress(keypose: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: FolderBlobs, __: bytes) -> str:
        raise FileError("clips.db.blobs: cannot be written (no room)")

    assert keypose("library", "add", "takes/walk.bvh", "-q").code == 0
    with monkeypatch.context() as patched:
        patched.setattr(FolderBlobs, "put", full)
        result = keypose("library", "add", "takes", "--jobs", 1)
        payload = json.loads(keypose("library", "add", "takes", "--jobs", 1, "--json").out)
    assert result.code == 1 and re.fullmatch(r"clips\.db: 0 of 3 files added, 1 existing in [\d.]+ s\n", result.out)
    assert result.err.endswith(
        "note: stopped with 2 files to go; the same command continues from here\n"
        "error: clips.db.blobs: cannot be written (no room)\n"
    )
    assert payload["error"] == "clips.db.blobs: cannot be written (no room)"
    assert keypose("library", "add", "takes", "--jobs", 1).out.startswith("clips.db: 2 of 3 files added, 1 existing")


def test_too_large_numbers_are_reported_as_given(keypose: Callable, filled_library: Path) -> None:
    result = keypose("library", "add", "takes", "--tolerance-mm", "1e9")
    assert result.code == 2 and result.err.startswith(
        "error: --tolerance-mm 1000000000, expected a number from 0.001 to 10000"
    )
    result = keypose("library", "search", "walk", "--limit", 10**9)
    assert result.code == 2 and result.err.startswith("error: --limit 1000000000, expected at most 1000000\n")


def test_other_files_are_no_library(keypose: Callable, filled_library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("labels.csv").write_text("clip,label\n")
    for command in (["list"], ["add", "takes"]):
        result = keypose("library", *command, "-l", "labels.csv")
        assert (result.code, result.err) == (
            1,
            "error: labels.csv: is no library, expected a file that keypose library add has made\n",
        )
        result = keypose("library", *command, "-l", "nope/clips.db")
        assert (result.code, result.err) == (1, "error: nope: no such folder, expected one for the library clips.db\n")
    assert Path("labels.csv").read_text() == "clip,label\n"
    monkeypatch.setenv("HOME", str(Path.cwd()))
    assert json.loads(keypose("library", "list", "--library=~/clips.db", "--json").out)["count"] == 3


def test_a_search_speaks_of_commands(keypose: Callable, filled_library: Path, clip: Callable) -> None:
    keypose("library", "add", clip("nobody.bvh"), "-q")
    result = keypose("library", "search", "nobody")
    assert result.code == 1 and "search by words instead: keypose library list walk" in result.err
    result = keypose("library", "search", "walk", "slow")
    assert result.code == 2 and result.err.startswith(
        "error: 2 queries (walk, slow), expected one; a name with blanks wants "
    )
    with Library(filled_library) as library:
        library.trash("cut")
    assert "adding its file again brings it back" in keypose("library", "show", "cut").err
    with Library(filled_library) as library:
        digest = library.clip("walk").hash
    assert keypose("library", "show", digest[:10].upper()).code == 0
