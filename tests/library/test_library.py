"""Adding, reading, finding and removing clips, and their metadata."""

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
from keypose.library.rows import file_stem, split_words
from support.errors import raises


@pytest.fixture(scope="module")
def motions() -> list[kp.Motion]:
    motion = kp.demo_motion(fps=10)
    return [replace(motion[start : start + 12 + start], name=f"take_{start}") for start in range(4)]


@pytest.fixture(scope="module")
def files(motions: list[kp.Motion], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("clips")
    for motion in motions:
        kp.save(motion, folder / f"{motion.name}.bvh")
    return sorted(folder.iterdir())


@pytest.fixture
def library(open_library: Callable[[], Library]) -> Library:
    return open_library()


def test_a_file_round_trips_as_bytes_and_as_motion(library: Library, files: list[Path]) -> None:
    clip = library.add(files[0], tags=("Walk", "slow  walk"), licence="CC0", note="first")
    assert (clip.name, clip.tags, clip.licence, clip.note) == ("take_0", ("slow walk", "walk"), "CC0", "first")
    assert (clip.fps, clip.n_frames, clip.suffix, clip.source) == (10, 12, ".bvh", str(files[0]))
    assert clip.duration_s == pytest.approx(1.2) and clip.bytes == files[0].stat().st_size
    assert library.original("take_0") == files[0].read_bytes()
    read = kp.load(files[0])
    for name in ("take_0", clip.hash, clip.hash[:8]):
        back = library.get(name)
        assert back.name == "take_0"
        np.testing.assert_array_equal(back.rotations, read.rotations)
        np.testing.assert_array_equal(back.translations, read.translations)
    assert library.verify() == ()


def test_the_key_poses_are_a_picture(library: Library, files: list[Path], tmp_path: Path) -> None:
    library.add(files[0])
    picture = library.strip("take_0")
    assert picture is not None and picture.alt_text == f"take_0: {len(library.key_frames('take_0'))} key poses"
    picture.save(tmp_path / "x.svg")
    picture.save(tmp_path / "x.png")
    assert (tmp_path / "x.svg").read_text() == picture.svg
    png = (tmp_path / "x.png").read_bytes()
    assert png.startswith(b"\x89PNG\r\n") and int.from_bytes(png[16:20], "big") >= picture.width


def test_the_same_content_is_one_clip_under_any_name_and_compression(
    library: Library, files: list[Path], tmp_path: Path
) -> None:
    first = library.add(files[0], tags=("a",), note="mine")
    assert library.add(files[0], tags=("a",), note="mine") == first
    other = tmp_path / "Other.bvh.gz"
    other.write_bytes(gzip.compress(files[0].read_bytes()))
    repeated = library.add(other, tags=("b",), note="theirs", licence="CC0")
    assert repeated == replace(first, other_names=("Other",), tags=("a", "b"), licence="CC0")
    assert len(library) == 1 and library.clip("Other") == repeated
    assert library.clips("other") == (repeated,)
    assert library.verify() == ()  # the other compression left no blob behind
    assert library.original("Other") == files[0].read_bytes()


def test_gzipped_files_stay_gzipped(library: Library, files: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "walk.bvh.gz"
    path.write_bytes(gzip.compress(files[1].read_bytes()))
    clip = library.add(path)
    assert (clip.name, clip.suffix, clip.bytes) == ("walk", ".bvh.gz", path.stat().st_size)
    assert library.add(files[1]).hash == clip.hash
    assert library.export(tmp_path / "out") == (tmp_path / "out" / "walk.bvh.gz",)
    assert (tmp_path / "out" / "walk.bvh.gz").read_bytes() == path.read_bytes()


def test_a_motion_round_trips_exactly(library: Library, motions: list[kp.Motion]) -> None:
    clip = library.add(motions[2], tags=("made",))
    back = library.get("take_2")
    np.testing.assert_array_equal(back.rotations, motions[2].rotations)
    np.testing.assert_array_equal(back.translations, motions[2].translations)
    assert back.skeleton.names == motions[2].skeleton.names
    repeated = library.add(replace(motions[2], name="another"))
    assert (repeated.hash, repeated.name, repeated.other_names) == (clip.hash, "take_2", ("another",))


def test_bytes_need_a_name_and_read_no_other_file(library: Library, files: list[Path]) -> None:
    data = files[3].read_bytes()
    clip = library.add(data, name="../../etc/pass\nwd")
    assert clip.name == "../../etc/pass wd" and library.get(clip.name).n_frames == 15
    with raises(OptionError, option="name", value=None):
        library.add(data)
    with raises(FormatError, code="unknown_format", path="walk"):
        library.add(b"not a motion", name="walk")
    with raises(OptionError, expected="a path, bytes or a Motion"):
        library.add(3)  # type: ignore[arg-type]
    assert len(library) == 1 and library.verify() == ()


def test_bad_files_leave_nothing(library: Library, tmp_path: Path) -> None:
    bad = tmp_path / "bad.bvh"
    bad.write_text("HIERARCHY\nROOT Hips\n{\n")
    with raises(FormatError, path=str(bad), code="missing_data", line=4):
        library.add(bad)
    with raises(FileError, code="no_such_file", path=str(tmp_path / "none.bvh")):
        library.add(tmp_path / "none.bvh")
    assert len(library) == 0 and library.verify() == () and library.stats().bytes == 0


def test_clips_are_found_by_words_tags_and_duration(library: Library, files: list[Path]) -> None:
    clip_names = ("02_WalkLeft", "walk-fast", "Überschlag", "kick")
    clip_tags = (("slow",), ("fast", "outdoor"), ("fast",), ())
    for file, name, tags in zip(files, clip_names, clip_tags, strict=True):
        library.add(file, name=name, tags=tags)

    def find_names(words: str | None = None, **options: object) -> list[str]:
        return [clip.name for clip in library.clips(words, **options)]  # type: ignore[arg-type]

    assert find_names() == sorted(clip_names)
    assert find_names("walk") == ["02_WalkLeft", "walk-fast"]
    assert find_names("wal LEFT") == ["02_WalkLeft"]
    assert find_names("fast") == ["walk-fast", "Überschlag"]  # a name and a tag
    assert find_names("ubers") == find_names("ÜBER") == ["Überschlag"]
    assert find_names("alk") == find_names('walk" OR "kick') == []
    assert find_names(tags=("FAST",)) == ["walk-fast", "Überschlag"]
    assert find_names("walk", tags=("fast", "outdoor")) == ["walk-fast"]
    assert find_names(min_duration_s=1.3, max_duration_s=1.45) == ["walk-fast", "Überschlag"]
    assert find_names(limit=2) == ["02_WalkLeft", "kick"] and find_names(limit=2, skip=3) == ["Überschlag"]
    for wrong in ({"words": "*"}, {"tags": "fast"}, {"limit": -1}, {"min_duration_s": float("nan")}):
        with raises(OptionError, option=next(iter(wrong))):
            library.clips(**wrong)  # type: ignore[arg-type]


def test_contains_accepts_records_names_and_hashes(library: Library, files: list[Path]) -> None:
    clip = library.add(files[0])
    library.add(files[1], name="take_0")  # two of one name
    library.rename(clip.hash, "walk")
    for name in (clip, clip.hash, clip.hash[:8], "walk", "take_0"):
        assert name in library
    assert "take" not in library and clip.hash[:7] not in library and "0" * 64 not in library
    with raises(OptionError, option="clip", value=3):
        assert 3 in library
    library.remove(clip.hash)
    assert clip not in library and "walk" not in library


def test_tags_of_several_clips_change_together(library: Library, files: list[Path]) -> None:
    clips = library.add(files).added
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
    with raises(OptionError, code="unknown_clip", hint="did you mean 'sprint'?"):
        library.rename("sprnt", "a")
    with raises(OptionError, option="name", expected="a name that can be read"):
        library.rename("sprint", "\0\n")
    assert library.verify() == ()


def test_clips_of_the_same_name_are_distinguished_by_hash(library: Library, files: list[Path], tmp_path: Path) -> None:
    one, two = library.add(files[0], name="Walk"), library.add(files[1], name="Walk")
    with raises(OptionError, code="ambiguous_clip", problem="2 clips are called 'Walk'"):
        library.get("Walk")
    assert library.get(two.hash[:8]).n_frames == 13
    three = library.add(files[2], name="walk")
    names = {path.name for path in library.export(tmp_path / "out")}
    assert names == {f"{clip.name}_{clip.hash[:8]}.bvh" for clip in (one, two, three)}
    assert library.export(tmp_path / "out", [one])[0].read_bytes() == files[0].read_bytes()
    with raises(FileError, code="file") as info:
        library.export(tmp_path / "out", [two])
    assert f"{tmp_path / 'out' / 'Walk.bvh'}: is there with other content" in info.value.problem


def test_removing_a_clip_deletes_its_bytes(library: Library, files: list[Path]) -> None:
    remaining, removed = library.add(files[0]), library.add(files[1], tags=("t",))
    assert library.remove("take_1") == removed
    assert list(library) == [remaining] and library.clips("take") == (remaining,) and library.stats().tags == ()
    assert library.stats().bytes == remaining.bytes and library.verify() == ()
    with raises(OptionError, code="unknown_clip"):
        library.original(removed.hash)
    assert library.add(files[1]).tags == ()


def test_stats_add_up(library: Library, files: list[Path]) -> None:
    clips = [library.add(file, tags=("all", file.stem)) for file in files]
    stats = library.stats()
    assert (stats.clips, stats.n_frames, stats.skeletons) == (4, sum(clip.n_frames for clip in clips), 1)
    assert stats.duration_s == pytest.approx(sum(clip.duration_s for clip in clips))
    assert stats.bytes == sum(file.stat().st_size for file in files)
    assert stats.tags == (("all", 4), ("take_0", 1), ("take_1", 1), ("take_2", 1), ("take_3", 1))


def test_opening_a_missing_library_fails(tmp_path: Path) -> None:
    with raises(FileError, code="unknown_library", path=str(tmp_path / "none.db")):
        Library(tmp_path / "none.db", create=False)
    with raises(FileError, expected="the file of a library", path=str(tmp_path)):
        Library(tmp_path)
    with raises(FileError, code="file", path=str(tmp_path / "no" / "folder.db")):
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
def test_hostile_names_are_plain_names(library: Library, files: list[Path], tmp_path: Path, name: str) -> None:
    clip = library.add(files[0], name=name, tags=(name[:50],), source=name, licence=name, note=name)
    assert library.clip(name) == clip == library.clips()[0]
    (path,) = library.export(tmp_path / "out")
    assert path.parent == tmp_path / "out" and path.read_bytes() == files[0].read_bytes()
    assert library.get(name).n_frames == 12 and library.verify() == ()


def test_words_and_stems() -> None:
    assert split_words("02_WalkLeft3") == ("02", "walkleft3", "walk", "left", "3")
    stems = [file_stem(name) for name in ("a:b", "nul", "com1.txt", "COM².x", "conin$", "...", "é" * 100, " .x. ")]
    assert stems == ["a_b", "_nul", "_com1.txt", "_COM².x", "_conin$", "_", "é" * 60, "x"]


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
    with raises(FormatError, code="needs_other_file", path="07"):
        library.add((data_dir / "asf-amc/07_05.amc").read_bytes(), name="07")


def test_a_file_with_external_buffers_is_stored_completely(
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
    monkeypatch.chdir(tmp_path)  # uploaded bytes must not read files of this machine
    with raises(FormatError, path="upload") as info:
        library.add(path.read_bytes(), name="upload")
    assert "scene.bin" in info.value.problem


def test_without_sqlalchemy_the_error_names_the_pip_command() -> None:
    program = "import sys; sys.modules['sqlalchemy'] = None; import keypose.library.library"
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "MissingExtra: a library of clips needs: pip install 'keypose[library]'" in process.stderr
