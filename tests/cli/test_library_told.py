"""What ``keypose library`` tells a newcomer: warnings, what was not taken, typos, tables that fit, clips of one name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.cli import library_view
from keypose.cli.library_heard import Heard
from keypose.errors import FileError
from keypose.library.blobs.folder import FolderBlobs
from keypose.library.library import Library
from keypose.library.rankers.swings import Agreement
from keypose.library.searching.hits import Hit, Why


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of takes to stand in: two are cut short."""
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
def filled(keypose: Callable) -> Path:
    assert keypose("library", "add", "takes", "--jobs", 1, "-q").code == 0
    return Path("clips.db")


def rendered(table: object, width: int) -> list[str]:
    from rich.console import Console

    console = Console(width=width, color_system=None)
    with console.capture() as told:
        console.print(table)
    return told.get().splitlines()


def test_what_readers_warn_of_is_said_once_a_kind(keypose: Callable) -> None:
    ran = keypose("library", "add", "takes", "--jobs", 1)
    warned = [line for line in ran.err.splitlines() if line.startswith("warning: ")]
    assert len(warned) == 1
    assert re.match(
        r"warning: takes/\S+\.bvh.* the header says 2\d frames, .*\(and the like in 1 more file\)$", warned[0]
    )
    assert "3 of 3 files added, 6.00 s of motion in " in ran.out


def test_warnings_are_in_the_document_and_not_said_where_it_is_quiet(keypose: Callable, tmp_path: Path) -> None:
    ran = keypose("library", "add", "takes", "--jobs", 1, "--json")
    told = {Path(clip["path"]).name: clip["warnings"] for clip in json.loads(ran.out)["added"]}
    assert [len(told[name]) for name in ("walk.bvh", "short.bvh", "cut.bvh")] == [0, 1, 1] and ran.err == ""
    assert told["short.bvh"][0].startswith("takes/short.bvh")
    ran = keypose("library", "add", "takes", "--jobs", 1, "-q", "-l", "other.db")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_many_kinds_are_cut_and_counted() -> None:
    said: list[str] = []
    heard = Heard()
    for n in range(30):
        heard.hear(f"{n}.amc", f"{n}.amc: {'x' * n} is odd")
        heard.hear(f"{n}.amc", f"skeleton from {n}.asf")
        heard.hear(f"{n}.amc", "the same of all; fps=... sets it")
    heard.say(said.append)
    assert said[:3] == ["0.amc:  is odd", "30 files: skeleton found beside them", "30 files: the same of all; --read-fps sets it"]  # fmt: skip
    assert len(said) == 21 and said[-1] == "and 12 more; --json has all"


@pytest.mark.data
def test_files_are_read_as_one_says(keypose: Callable, data_dir: Path) -> None:
    amc = data_dir / "asf-amc" / "mismatch" / "02_01.amc"
    refused = keypose("library", "add", amc)
    assert refused.code == 1 and "--asf FILE" in refused.err
    ran = keypose("library", "add", amc, "--asf", data_dir / "asf-amc" / "02.asf", "--read-fps", 60, "--json")
    (clip,) = json.loads(ran.out)["added"]
    assert (ran.code, clip["fps"], clip["suffix"]) == (0, 60, ".kps")
    assert any("kept as .kps without loss" in note for note in clip["notes"])
    fox = data_dir / "gltf" / "Fox.glb"
    assert "of 3 animations the first, 'Survey', is read" in keypose("library", "add", fox).err
    assert "1 of 1 files added" in keypose("library", "add", fox, "--animation", "Walk").out
    assert [clip["name"] for clip in json.loads(keypose("library", "list", "fox", "--json").out)["clips"]] == [
        "Fox", "Fox: Walk",
    ]  # fmt: skip
    assert keypose("library", "add", fox, "--animation", "Wolk").code == 1
    assert keypose("library", "add", fox, "--read-fps", "0").code == 2


def test_known_files_are_counted_by_what_became_of_them(keypose: Callable, filled: Path) -> None:
    ran = keypose("library", "add", "takes", "--jobs", 1, "--tag", "a,b", "--tag-folders")
    assert re.search(r": 0 of 3 files added, 3 known already \(3 of them got names, tags or remarks\) in ", ran.out)
    with Library(filled) as library:
        assert library.clip("cut").tags == ("a", "b", "kicks") and library.clip("walk").tags == ("a", "b")
        blob = library.clip("walk").blob
    (file,) = Path("clips.db.blobs").rglob(blob)
    file.chmod(0o600)
    file.write_bytes(b"damaged")
    assert "3 known already (1 mended) in " in keypose("library", "add", "takes", "--jobs", 1).out
    assert re.search(r"3 known already in [\d.]+ s$", keypose("library", "add", "takes", "--jobs", 1).out)


def test_remarks_are_changed_and_said_to_stay(keypose: Callable, filled: Path) -> None:
    walk = Path("takes/walk.bvh")
    keypose("library", "add", walk, "--licence", "CC0")
    ran = keypose("library", "add", walk, "--licence", "CC-BY")
    assert ran.err == "note: takes/walk.bvh: its licence stays 'CC0': keypose library describe changes it\n"
    ran = keypose("library", "describe", "walk", "short", "--licence", "CC-BY", "--source", "", "--note", "good")
    assert (ran.code, ran.out) == (0, "walk: licence CC-BY, note good\nshort: licence CC-BY, note good\n")
    (clip,) = json.loads(keypose("library", "describe", "walk", "--licence", "", "--note", "", "--json").out)["clips"]
    assert (clip["licence"], clip["source"], clip["note"]) == ("", "", "")
    assert keypose("library", "describe", "walk", "--source", "").out == "walk: nothing is said of it\n"
    assert keypose("library", "describe", "walk").code == 2
    assert keypose("library", "describe", "--note", "x").code == 2


def test_a_name_that_is_taken_is_said(keypose: Callable, filled: Path) -> None:
    ran = keypose("library", "rename", "short", "walk")
    assert ran.code == 0 and re.fullmatch(r"note: another clip is called walk too: [0-9a-f]{12} is this one\n", ran.err)
    assert keypose("library", "show", "short").out.startswith("walk\n")  # it can still be called so
    ran = keypose("library", "show", "walk")
    assert ran.code == 1 and ".bvh from " in ran.err and "takes/short.bvh)" in ran.err
    assert keypose("library", "rename", "cut", "other").err == ""
    shown = keypose("library", "list").out
    with Library(filled) as library:
        assert all(clip.hash[:8] in shown for clip in library.clips())
        library.rename(library.named("walk")[0].hash, "stroll")
        assert not any(clip.hash[:8] in keypose("library", "list").out for clip in library.clips())


def test_tags_that_nobody_has_are_said(keypose: Callable, filled: Path) -> None:
    keypose("library", "tag", "walk", "short", "--add", "walking,slow walk", "--add", "Studio")
    assert json.loads(keypose("library", "list", "--tag", "walking,studio", "--json").out)["count"] == 2
    for command in (["list"], ["search"], ["export", "out"]):
        ran = keypose("library", *command, "--tag", "wlaking")
        assert (ran.code, ran.err) == (0, "note: no clip has the tag 'wlaking'; did you mean walking?\n"), command
    assert keypose("library", "list", "--tag", "walking", "cut").err == ""
    ran = keypose("library", "tag", "walk", "--remove", "studo,slow walk")
    assert ran.err == "note: none of them has the tag 'studo'; did you mean studio?\n"
    assert ran.out == "walk: studio, walking\n"
    assert keypose("library", "list", "--tag", "a,,b").code == 2


def test_lists_that_are_cut_say_of_how_many(keypose: Callable, filled: Path) -> None:
    assert "\n2 of 3 clips, 40 frames, 4.00 s\n" in keypose("library", "list", "--limit", 2).out
    assert "\n1 of 3 clips, " in keypose("library", "list", "--skip", 2).out
    assert keypose("library", "list", "--skip", 3).out == "3 clips, and all were left out\n"
    ran = keypose("library", "search", "--least-duration-s", 1, "--limit", 2)
    assert ran.err == "note: the first 2 of 3 are shown; --limit shows more\n"
    assert keypose("library", "search", "--least-duration-s", 1, "--limit", 3).err == ""


def hits_of(library: Library, *, mirrored: bool) -> list[Hit]:
    clip = replace(library.clip("walk"), name="a_clip_with_quite_a_long_name", tags=("studio b", "walking"))
    swings = tuple(Agreement(part, 0, 1, 0, 1, 1.0) for part in ("left_forearm", "right_upper_arm"))
    hit = Hit(clip, 0.93, 3, 19, 0.3, 1.9, 0.0, 1.6, mirrored=mirrored, also=("x",), also_hashes=("y",))
    return [replace(hit, why=Why(look=lambda: swings))]


def test_what_matters_stays_on_narrow_terminals(filled: Path) -> None:
    with Library(filled) as library:
        hits, plain = hits_of(library, mirrored=True), hits_of(library, mirrored=False)
    wide = rendered(library_view.hit_table(hits, 160), 160)
    assert wide[1].split() == ["name", "score", "side", "seconds", "frames", "length", "also", "tags", "why"]
    assert wide[3].rstrip().endswith("left forearm, right upper arm")
    narrow = rendered(library_view.hit_table(hits, 80), 80)
    assert narrow[1].split() == ["name", "score", "side", "seconds", "why"]
    assert "mirrored" in narrow[3] and narrow[3].rstrip().endswith("left forearm") and "right" not in narrow[3]
    assert all(len(line) <= 80 for line in narrow)
    least = rendered(library_view.hit_table(hits, 60), 60)
    assert "mirrored" in least[3] and "why" not in least[1]
    assert "side" not in rendered(library_view.hit_table(plain, 160), 160)[1]
    middle = rendered(library_view.hit_table(plain, 110), 110)[1].split()
    assert "why" in middle and "tags" in middle and "length" not in middle


def test_hits_of_one_name_are_told_apart_and_copies_have_hashes(keypose: Callable) -> None:
    demo = kp.demo_motion(fps=20)
    with Library("clips.db") as library:
        for name, motion in (("walk", demo[20:80]), ("walk", demo[180:240]), ("copy", demo[20:80].at_fps(15))):
            library.add(motion, name=name)
        known = {clip.hash: clip.name for clip in library}
    kp.save(kp.demo_motion(fps=30)[32:118], "query.bvh")
    shown = keypose("library", "search", "query.bvh", "--no-fold").out
    assert all(digest[:8] in shown for digest in known)
    hits = json.loads(keypose("library", "search", "query.bvh", "--json").out)["hits"]
    (copies,) = [hit["also"] for hit in hits if hit["also"]]
    assert all(known[copy["hash"]] == copy["name"] for copy in copies) and len(copies) == 1


def test_warnings_of_a_search_are_lines_of_ours(keypose: Callable, recwarn: pytest.WarningsRecorder) -> None:
    demo = kp.demo_motion(fps=20)
    kp.save(demo[20:80], "long.bvh")
    Path("long.bvh").write_text(Path("long.bvh").read_text().replace("Frames: 60", "Frames: 61"))
    keypose("library", "add", "long.bvh", "takes", "-q", "--jobs", 1)
    ran = keypose("library", "search", "long", "--pose", 3)
    assert ran.code == 0
    assert ran.err == "warning: long.bvh: the header says 61 frames, 60 rows follow; all of them are taken\n"
    told = json.loads(keypose("library", "search", "long", "--pose", 3, "--json").out)
    assert len(told["warnings"]) == 1 and told["warnings"][0].startswith("long.bvh:")
    assert [str(each.message) for each in recwarn] == []


def test_a_rebuild_says_what_readers_warn_of(keypose: Callable, filled: Path, recwarn: pytest.WarningsRecorder) -> None:
    ran = keypose("library", "rebuild", "--jobs", 1)
    assert (ran.code, ran.out) == (0, "3 clips, all made anew\n")
    assert re.fullmatch(r"warning: (short|cut)\.bvh.*and the like in 1 more file\)\n", ran.err)
    told = json.loads(keypose("library", "rebuild", "--jobs", 1, "--json").out)
    assert len(told["warnings"]) == 2 and told["sound"]
    ran = keypose("library", "rebuild", "--jobs", 1, "-q")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert [str(each.message) for each in recwarn] == []
    assert keypose("library", "rebuild", "--jobs", 0).code == 2


def test_orphans_say_what_mends_them(keypose: Callable, filled: Path) -> None:
    with Library(filled) as library:
        library._store.blobs.put(b"nobody's")
    ran = keypose("library", "verify", "--fix")
    assert ran.code == 1
    assert (
        "adding their file again or keypose library rebuild takes them in, keypose library verify --drop-orphans removes them"
        in ran.err
    )
    dropped = keypose("library", "verify", "--drop-orphans")
    assert (dropped.code, dropped.out) == (0, "3 clips, all sound\n") and "(fixed)" in dropped.err


def test_an_add_that_is_stopped_says_how_far_it_came(keypose: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: FolderBlobs, __: bytes) -> str:
        raise FileError("clips.db.blobs: cannot be written (no room)")

    assert keypose("library", "add", "takes/walk.bvh", "-q").code == 0
    with monkeypatch.context() as patched:
        patched.setattr(FolderBlobs, "put", full)
        ran = keypose("library", "add", "takes", "--jobs", 1)
        told = json.loads(keypose("library", "add", "takes", "--jobs", 1, "--json").out)
    assert ran.code == 1 and re.fullmatch(r"clips\.db: 0 of 3 files added, 1 known already in [\d.]+ s\n", ran.out)
    assert ran.err.endswith(
        "note: stopped with 2 files to go; the same command goes on from here\n"
        "error: clips.db.blobs: cannot be written (no room)\n"
    )
    assert told["error"] == "clips.db.blobs: cannot be written (no room)"
    assert keypose("library", "add", "takes", "--jobs", 1).out.startswith("clips.db: 2 of 3 files added, 1 known")


def test_numbers_that_are_too_great_are_named_as_they_were_typed(keypose: Callable, filled: Path) -> None:
    ran = keypose("library", "add", "takes", "--within-mm", "1e9")
    assert ran.code == 1 and ran.err.startswith(
        "error: --within-mm 1000000000.0, expected a number from 0.001 to 10000"
    )
    ran = keypose("library", "search", "walk", "--limit", 10**9)
    assert (ran.code, ran.err) == (1, "error: --limit 1000000000, expected at most 1000000\n")


def test_what_is_no_library_says_so(keypose: Callable, filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("labels.csv").write_text("clip,label\n")
    for command in (["list"], ["add", "takes"]):
        ran = keypose("library", *command, "-l", "labels.csv")
        assert (ran.code, ran.err) == (
            1,
            "error: labels.csv: is no library, expected a file that keypose library add has made\n",
        )
        ran = keypose("library", *command, "-l", "nope/clips.db")
        assert (ran.code, ran.err) == (1, "error: nope: no such folder, expected one for the library clips.db\n")
    assert Path("labels.csv").read_text() == "clip,label\n"
    monkeypatch.setenv("HOME", str(Path.cwd()))
    assert json.loads(keypose("library", "list", "--library=~/clips.db", "--json").out)["count"] == 3


def test_a_search_speaks_of_commands(keypose: Callable, filled: Path, clip: Callable) -> None:
    keypose("library", "add", clip("nobody.bvh"), "-q")
    ran = keypose("library", "search", "nobody")
    assert ran.code == 1 and "search by words instead: keypose library list walk" in ran.err
    ran = keypose("library", "search", "walk", "slow")
    assert ran.code == 2 and ran.err.startswith(
        "error: 2 queries (walk, slow), expected one; a name with blanks wants "
    )
    with Library(filled) as library:
        library.throw_away("cut")
    assert "adding its file again brings it back" in keypose("library", "show", "cut").err
    with Library(filled) as library:
        digest = library.clip("walk").hash
    assert keypose("library", "show", digest[:10].upper()).code == 0
