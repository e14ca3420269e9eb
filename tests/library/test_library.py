"""Clips in and out of a library, and what is said about them."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import FileError, FormatError, OptionError
from keypose.library.library import Library
from keypose.library.wording import file_stem, words_of


@pytest.fixture(scope="module")
def motions() -> list[kp.Motion]:
    whole = kp.demo_motion(fps=10)
    return [replace(whole[start : start + 12 + start], name=f"take_{start}") for start in range(4)]


@pytest.fixture(scope="module")
def files(motions: list[kp.Motion], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("clips")
    for motion in motions:
        kp.save(motion, folder / f"{motion.name}.bvh")
    return sorted(folder.iterdir())


@pytest.fixture
def library(open_library: Callable[[], Library]) -> Library:
    return open_library()


def test_a_file_comes_back_byte_for_byte_and_as_the_same_motion(library: Library, files: list[Path]) -> None:
    clip = library.add(files[0], tags=("Walk", "slow  walk"), licence="CC0", note="first")
    assert (clip.name, clip.tags, clip.licence, clip.note) == ("take_0", ("slow walk", "walk"), "CC0", "first")
    assert (clip.fps, clip.n_frames, clip.suffix, clip.source) == (10, 12, ".bvh", str(files[0]))
    assert clip.duration_s == pytest.approx(1.2) and clip.bytes == files[0].stat().st_size
    assert library.original("take_0") == files[0].read_bytes()
    read = kp.load(files[0])
    for called in ("take_0", clip.hash, clip.hash[:8]):
        back = library.get(called)
        assert back.name == "take_0"
        np.testing.assert_array_equal(back.rotations, read.rotations)
        np.testing.assert_array_equal(back.translations, read.translations)
    assert library.verify() == ()


def test_the_key_poses_are_a_picture(library: Library, files: list[Path], tmp_path: Path) -> None:
    library.add(files[0])
    picture = library.strip("take_0")
    assert picture is not None and picture.says == f"take_0: {len(library.key_frames('take_0'))} key poses"
    picture.save(tmp_path / "x.svg")
    picture.save(tmp_path / "x.png")
    assert (tmp_path / "x.svg").read_text() == picture.svg
    png = (tmp_path / "x.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n") and int.from_bytes(png[16:20], "big") >= picture.width


def test_the_same_content_is_one_clip_under_any_name_and_packing(
    library: Library, files: list[Path], tmp_path: Path
) -> None:
    first = library.add(files[0], tags=("a",), note="mine")
    assert library.add(files[0], tags=("a",), note="mine") == first
    other = tmp_path / "Other.bvh.gz"
    other.write_bytes(gzip.compress(files[0].read_bytes()))
    again = library.add(other, tags=("b",), note="theirs", licence="CC0")
    assert again == replace(first, also_named=("Other",), tags=("a", "b"), licence="CC0")
    assert len(library) == 1 and library.clip("Other") == again
    assert library.clips("other") == (again,)
    assert library.verify() == ()  # the other packing left no bytes behind
    assert library.original("Other") == files[0].read_bytes()


def test_packed_files_stay_packed(library: Library, files: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "walk.bvh.gz"
    path.write_bytes(gzip.compress(files[1].read_bytes()))
    clip = library.add(path)
    assert (clip.name, clip.suffix, clip.bytes) == ("walk", ".bvh.gz", path.stat().st_size)
    assert library.add(files[1]).hash == clip.hash
    assert library.export(tmp_path / "out") == (tmp_path / "out" / "walk.bvh.gz",)
    assert (tmp_path / "out" / "walk.bvh.gz").read_bytes() == path.read_bytes()


def test_a_motion_comes_back_with_every_number(library: Library, motions: list[kp.Motion]) -> None:
    clip = library.add(motions[2], tags=("made",))
    back = library.get("take_2")
    np.testing.assert_array_equal(back.rotations, motions[2].rotations)
    np.testing.assert_array_equal(back.translations, motions[2].translations)
    assert back.skeleton.names == motions[2].skeleton.names
    again = library.add(replace(motions[2], name="another"))
    assert (again.hash, again.name, again.also_named) == (clip.hash, "take_2", ("another",))


def test_bytes_need_a_name_and_may_read_no_file(library: Library, files: list[Path]) -> None:
    data = files[3].read_bytes()
    clip = library.add(data, name="../../etc/pass\nwd")
    assert clip.name == "../../etc/pass wd" and library.get(clip.name).n_frames == 15
    with pytest.raises(OptionError, match="expected a name"):
        library.add(data)
    with pytest.raises(FormatError, match=r"^walk: starts with .*expected one of BVH"):
        library.add(b"not a motion", name="walk")
    with pytest.raises(OptionError, match="expected a path, bytes or a Motion"):
        library.add(3)  # type: ignore[arg-type]
    assert len(library) == 1 and library.verify() == ()


def test_bad_files_leave_nothing(library: Library, tmp_path: Path) -> None:
    bad = tmp_path / "bad.bvh"
    bad.write_text("HIERARCHY\nROOT Hips\n{\n")
    with pytest.raises(FormatError, match=r"bad\.bvh"):
        library.add(bad)
    with pytest.raises(FileError, match="no such file"):
        library.add(tmp_path / "none.bvh")
    assert len(library) == 0 and library.verify() == () and library.stats().bytes == 0


def test_clips_are_found_by_words_tags_and_duration(library: Library, files: list[Path]) -> None:
    named = ("02_WalkLeft", "walk-fast", "Überschlag", "kick")
    tagged = (("slow",), ("fast", "outdoor"), ("fast",), ())
    for file, name, tags in zip(files, named, tagged, strict=True):
        library.add(file, name=name, tags=tags)

    def found(words: str | None = None, **options: object) -> list[str]:
        return [clip.name for clip in library.clips(words, **options)]  # type: ignore[arg-type]

    assert found() == sorted(named)
    assert found("walk") == ["02_WalkLeft", "walk-fast"]
    assert found("wal LEFT") == ["02_WalkLeft"]
    assert found("fast") == ["walk-fast", "Überschlag"]  # a name and a tag
    assert found("ubers") == found("ÜBER") == ["Überschlag"]
    assert found("alk") == found('walk" OR "kick') == []
    assert found(tags=("FAST",)) == ["walk-fast", "Überschlag"]
    assert found("walk", tags=("fast", "outdoor")) == ["walk-fast"]
    assert found(least_duration_s=1.3, most_duration_s=1.45) == ["walk-fast", "Überschlag"]
    assert found(limit=2) == ["02_WalkLeft", "kick"] and found(limit=2, skip=3) == ["Überschlag"]
    for wrong in ({"words": "*"}, {"tags": "fast"}, {"limit": -1}, {"least_duration_s": float("nan")}):
        with pytest.raises(OptionError, match="expected"):
            library.clips(**wrong)  # type: ignore[arg-type]


def test_a_clip_is_in_a_library_by_whatever_it_is_called(library: Library, files: list[Path]) -> None:
    clip = library.add(files[0])
    library.add(files[1], name="take_0")  # two of one name
    library.rename(clip.hash, "walk")
    for called in (clip, clip.hash, clip.hash[:8], "walk", "take_0"):
        assert called in library
    assert "take" not in library and clip.hash[:7] not in library and "0" * 64 not in library
    with pytest.raises(OptionError, match="clip=3, expected text"):
        assert 3 in library
    library.remove(clip.hash)
    assert clip not in library and "walk" not in library


def test_tags_of_several_clips_change_together(library: Library, files: list[Path]) -> None:
    clips = library.add(files).clips
    some = [clips[1].hash, clips[0].hash, clips[1].hash]
    changed = library.retag(some, add=["Good", "studio b"], remove=["never"])
    assert [clip.hash for clip in changed] == some[:2]
    assert all(clip.tags == ("good", "studio b") for clip in changed)
    assert library.retag(some, remove=["good"])[0].tags == ("studio b",) == library.clip(some[0]).tags
    assert {clip.hash for clip in library.clips("studio")} == set(some)  # by words too
    with pytest.raises(OptionError):
        library.retag([some[0], "nobody"], add=["lost"])
    assert library.clip(some[0]).tags == ("studio b",) and library.retag([]) == ()


def test_names_and_tags_change_and_the_old_name_still_finds_it(library: Library, files: list[Path]) -> None:
    library.add(files[0])
    assert library.tag("take_0", "Run", "run", "x").tags == ("run", "x")
    assert library.untag("take_0", "x", "never").tags == ("run",)
    assert library.rename("take_0", "sprint").name == "sprint"
    assert [len(library.clips(word)) for word in ("take", "x", "run", "sprint")] == [1, 0, 1, 1]
    with pytest.raises(OptionError, match=r"no clip 'sprnt' in the library; did you mean 'sprint'\?"):
        library.rename("sprnt", "a")
    with pytest.raises(OptionError, match="expected a name that can be read"):
        library.rename("sprint", "\0\n")
    assert library.verify() == ()


def test_clips_of_the_same_name_are_told_apart_by_hash(library: Library, files: list[Path], tmp_path: Path) -> None:
    one, two = library.add(files[0], name="Walk"), library.add(files[1], name="Walk")
    with pytest.raises(OptionError, match=f"2 clips are called 'Walk', .*{two.hash[:12]}"):
        library.get("Walk")
    assert library.get(two.hash[:8]).n_frames == 13
    three = library.add(files[2], name="walk")
    names = {path.name for path in library.export(tmp_path / "out")}
    assert names == {f"{clip.name}_{clip.hash[:8]}.bvh" for clip in (one, two, three)}
    assert library.export(tmp_path / "out", [one])[0].read_bytes() == files[0].read_bytes()
    with pytest.raises(FileError, match=r"Walk.bvh: is there with other content"):
        library.export(tmp_path / "out", [two])


def test_a_removed_clip_is_gone_with_its_bytes(library: Library, files: list[Path]) -> None:
    kept, gone = library.add(files[0]), library.add(files[1], tags=("t",))
    assert library.remove("take_1") == gone
    assert list(library) == [kept] and library.clips("take") == (kept,) and library.stats().tags == ()
    assert library.stats().bytes == kept.bytes and library.verify() == ()
    with pytest.raises(OptionError, match="no clip"):
        library.original(gone.hash)
    assert library.add(files[1]).tags == ()


def test_stats_add_up(library: Library, files: list[Path]) -> None:
    clips = [library.add(file, tags=("all", file.stem)) for file in files]
    stats = library.stats()
    assert (stats.clips, stats.n_frames, stats.skeletons) == (4, sum(clip.n_frames for clip in clips), 1)
    assert stats.duration_s == pytest.approx(sum(clip.duration_s for clip in clips))
    assert stats.bytes == sum(file.stat().st_size for file in files)
    assert stats.tags == (("all", 4), ("take_0", 1), ("take_1", 1), ("take_2", 1), ("take_3", 1))


def test_a_library_that_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such library"):
        Library(tmp_path / "none.db", create=False)
    with pytest.raises(FileError, match="is a folder"):
        Library(tmp_path)
    with pytest.raises(FileError, match="unable to open"):
        Library(tmp_path / "no" / "folder.db")


HOSTILE = (
    "<b>x</b>",
    "a" * 10_000,
    "\u202egnp.exe",
    "\ud800lone",
    "'; DROP TABLE clips; --",
    "%s{0}",
    "CON",
    "..",
    "a/b\\c",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_names(library: Library, files: list[Path], tmp_path: Path, name: str) -> None:
    clip = library.add(files[0], name=name, tags=(name[:50],), source=name, licence=name, note=name)
    assert library.clip(name) == clip == library.clips()[0]
    (path,) = library.export(tmp_path / "out")
    assert path.parent == tmp_path / "out" and path.read_bytes() == files[0].read_bytes()
    assert library.get(name).n_frames == 12 and library.verify() == ()


def test_words_and_stems() -> None:
    assert words_of("02_WalkLeft3") == ("02", "walkleft3", "walk", "left", "3")
    stems = [file_stem(name) for name in ("a:b", "nul", "com1.txt", "...", "é" * 100, " .x. ")]
    assert stems == ["a_b", "_nul", "_com1.txt", "_", "é" * 60, "x"]


@pytest.mark.data
def test_real_files_of_many_kinds(library: Library, data_dir: Path) -> None:
    kinds = {
        "cmu30-more/01_13.bvh.gz": ".bvh.gz",
        "asf-amc/07_05.amc": ".kps",  # its skeleton is another file
        "gltf/CesiumMan.glb": ".glb",
    }
    for name, suffix in kinds.items():
        path = data_dir / name
        clip = library.add(path)
        read, back = kp.load(path), library.get(clip.hash)
        assert clip.suffix == suffix
        assert (back.n_frames, back.fps, back.skeleton.names) == (read.n_frames, read.fps, read.skeleton.names)
        np.testing.assert_array_equal(back.rotations, read.rotations)
        assert library.add(path) == clip
    assert library.verify() == ()
    with pytest.raises(FormatError, match=r"^07: needs another file beside it"):
        library.add((data_dir / "asf-amc/07_05.amc").read_bytes(), name="07")


def test_a_file_with_others_beside_it_is_kept_whole(
    library: Library, motions: list[kp.Motion], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scene.gltf"
    kp.save(motions[0], path)
    document = json.loads(path.read_text())
    (tmp_path / "scene.bin").write_bytes(base64.b64decode(document["buffers"][0]["uri"].partition(",")[2]))
    alone = library.add(path)
    document["buffers"][0]["uri"] = "scene.bin"
    path.write_text(json.dumps(document))
    clip = library.add(path, name="scene 2")
    assert (alone.suffix, clip.suffix) == (".gltf", ".kps")
    (tmp_path / "scene.bin").rename(tmp_path / "moved.bin")
    np.testing.assert_array_equal(library.get(clip.hash).rotations, library.get(alone.hash).rotations)
    (tmp_path / "moved.bin").rename(tmp_path / "scene.bin")
    monkeypatch.chdir(tmp_path)  # bytes from anywhere may not reach for the files of this machine
    with pytest.raises(FormatError, match=r"^upload: .*scene\.bin"):
        library.add(path.read_bytes(), name="upload")


def test_without_sqlalchemy_the_line_to_type_is_said() -> None:
    program = "import sys; sys.modules['sqlalchemy'] = None; import keypose.library.library"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "MissingExtra: a library of clips needs: pip install 'keypose[library]'" in told.stderr
