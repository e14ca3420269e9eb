"""What is told of files that are added: warnings, notes, what changed; and how they may be read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import FormatWarning, OptionError
from keypose.library.blobs import hash_of
from keypose.library.ingest import engine
from keypose.library.library import Library
from keypose.library.nouns import Ingested, IngestProgress, RebuildProgress

DEMO = kp.demo_motion(fps=10)


@pytest.fixture
def library(open_library: Callable[[], Library]) -> Library:
    return open_library()


@pytest.fixture
def takes(tmp_path: Path) -> Path:
    """A sound file, and one that is cut short."""
    folder = tmp_path / "takes"
    (folder / "kicks" / "left").mkdir(parents=True)
    kp.save(DEMO[20:40], folder / "walk.bvh")
    kp.save(DEMO[90:110], folder / "kicks" / "left" / "kick.bvh")
    text = (folder / "walk.bvh").read_text()
    (folder / "short.bvh").write_text(text.replace("Frames: 20", "Frames: 25"))
    return folder


def animated(path: Path, *parts: kp.Motion) -> Path:
    """A GLB with several animations: the first as it was saved, the others its channels played on other keys."""
    import json
    import struct

    kp.save(parts[0], path)
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + length])
    first = document["animations"][0]
    first["name"] = "Survey"
    for n, _ in enumerate(parts[1:]):
        channels = first["channels"][: len(first["channels"]) // (n + 2)]  # fewer joints move
        document["animations"].append(first | {"name": f"Walk{n or ''}", "channels": channels})
    for thing in (document, *document.get("nodes", []), *document.get("scenes", [])):
        thing.pop("extras", None)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    whole = struct.pack("<4sII", b"glTF", 2, 20 + len(text) + len(rest)) + struct.pack("<I4s", len(text), b"JSON")
    path.write_bytes(whole + text + rest)
    return path


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.one_python)])
def test_warnings_are_told_with_their_files(library: Library, takes: Path, jobs: int) -> None:
    told: dict[str, IngestProgress] = {}
    done = library.add([takes], jobs=jobs, on_progress=lambda each: told.update({Path(each.path).name: each}))
    (warning,) = done.warnings
    assert warning.startswith(f"{takes / 'short.bvh'}") and "25 frames" in warning
    assert told["short.bvh"].warnings == (warning,) and told["walk.bvh"].warnings == ()
    assert not any(warning.endswith(note) for note in done.notes)  # what was said as a warning is no note too
    assert [told[name].is_new for name in ("short.bvh", "walk.bvh", "kick.bvh")] == [True] * 3


def test_a_file_that_fails_is_told_with_its_warnings(library: Library, takes: Path) -> None:
    path = takes / "short.bvh"
    path.write_text(path.read_text().replace("Frame Time: 0.1", "Frame Time: 0").rsplit("\n", 3)[0] + " 1 nonsense\n")
    told: list[IngestProgress] = []
    done = library.add([path], jobs=1, on_progress=told.append)
    assert len(done.failures) == 1 and told[0].warnings == done.warnings and len(done.warnings) == 1


def test_what_a_far_worker_warns_of_has_the_path_of_the_file(
    library: Library, takes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from keypose.batch import map_clips

    monkeypatch.setattr(engine, "map_on_dask", lambda function, items, _: map_clips(function, items, 1))
    (warning,) = library.add([takes], engine="dask://host:1").warnings
    assert warning.startswith(f"{takes / 'short.bvh'}")


@pytest.mark.data
def test_what_needs_others_is_kept_otherwise_and_said(library: Library, data_dir: Path, tmp_path: Path) -> None:
    for name in ("09_06.amc", "09.asf"):
        shutil.copy(data_dir / "asf-amc" / name, tmp_path)
    shutil.copy(data_dir / "asf-amc" / "09_06.amc", tmp_path / "lonely.amc")
    (tmp_path / "other").mkdir()
    shutil.copy(data_dir / "asf-amc" / "09_06.amc", tmp_path / "other" / "lonely.amc")
    done = library.add([tmp_path / "09_06.amc"], jobs=1)
    assert any("09_06.amc: kept as .kps without loss" in note and "beside it" in note for note in done.notes)
    assert any("120 fps is assumed" in note for note in done.notes)
    lonely = [tmp_path / "other" / "lonely.amc"]
    assert len(library.add(lonely, jobs=1).failures) == 1
    read = library.add(lonely, asf=tmp_path / "09.asf", fps=60.0, jobs=1)
    (clip,) = read.clips
    assert (clip.fps, clip.suffix) == (60.0, ".kps") and not any("120 fps" in note for note in read.notes)
    assert library.get("lonely").fps == 60.0 and library.verify() == ()


def test_reading_otherwise_is_another_clip_that_comes_back(library: Library, tmp_path: Path) -> None:
    path = animated(tmp_path / "Fox.glb", DEMO[20:40], DEMO[20:40])
    done = library.add([path], jobs=1)
    assert any("of 2 animations the first, 'Survey'" in note for note in done.notes)
    first = done.clips[0]
    for add in (lambda: library.add(path, animation="Walk"), lambda: library.add([path], animation="Walk", jobs=1)):
        made = add()
        clip = made if not isinstance(made, Ingested) else (*made.clips, *made.known)[0]
        assert (clip.name, clip.suffix) == ("Fox: Walk", ".kps") and clip.hash != first.hash
        there, came = library.get(clip.hash), kp.load(path, animation="Walk")
        assert np.array_equal(there.rotations, came.rotations) and not np.array_equal(
            there.rotations, kp.load(path).rotations
        )
    assert len(library) == 2
    same = library.add(path, animation="Survey", gaps="refuse")  # what would be read without them too
    assert (same.hash, same.name, library.original(same.hash)) == (first.hash, "Fox", path.read_bytes())
    assert library.add(path, animation="Walk", name="mine").also_named == ("mine",)
    assert library.verify() == ()


@pytest.mark.parametrize("wrong", [{"gaps": "x"}, {"reference_pose": 1}, {"fps": 0.0}, {"animation": 1.5}, {"asf": 3}])
def test_a_wrong_way_to_read_is_refused(library: Library, takes: Path, wrong: dict[str, object]) -> None:
    for what in (takes, takes / "walk.bvh"):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            library.add(what, **wrong)  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="Motion"):
        library.add(DEMO[:5], fps=30.0)
    with pytest.raises(TypeError, match="wrong"):
        library.add(takes, wrong=1)  # type: ignore[call-overload]


def test_a_source_is_told_wherever_one_stands(library: Library, takes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(takes)
    assert library.add("walk.bvh").source == str(takes / "walk.bvh")
    library.add(["kicks"], jobs=1)
    assert library.clip("kick").source == str(takes / "kicks" / "left" / "kick.bvh")
    assert library.add("walk.bvh", source="studio B").source == str(takes / "walk.bvh")


def test_what_is_said_can_be_changed_and_what_was_in_vain_is_told(library: Library, takes: Path) -> None:
    path = takes / "walk.bvh"
    library.add([path], licence="CC0", jobs=1)
    done = library.add([path], licence="CC-BY", note="new", jobs=1)
    assert library.clip("walk").licence == "CC0" and library.clip("walk").note == "new"
    assert [note for note in done.notes if "licence" in note] == [
        f"{path}: its licence stays 'CC0': describe(...) changes it"
    ]
    assert library.add([path], licence="CC0", jobs=1).notes == ()
    clip = library.describe("walk", licence=" CC-BY\n4.0 ", note="")
    assert (clip.licence, clip.note, clip.source) == ("CC-BY 4.0", "", str(path))
    assert library.describe("walk") == clip == library.clip("walk") and library.verify() == ()


def test_known_files_are_told_by_what_became_of_them(library: Library, takes: Path, tmp_path: Path) -> None:
    path = takes / "walk.bvh"
    clip = library.add(path)
    told: list[IngestProgress] = []

    def again(**said: object) -> IngestProgress:
        library.add([path], jobs=1, on_progress=told.append, **said)
        return told[-1]

    assert (again().is_changed, told[-1].is_mended, told[-1].is_new) == (False, False, False)
    assert again(tags=("new",)).is_changed and not again(tags=("new",)).is_changed
    place = next(each for each in tmp_path.rglob(clip.blob) if each.is_file())
    place.chmod(0o600)
    place.write_bytes(b"damaged")
    assert again().is_mended and not told[-1].is_changed
    assert not again().is_mended and library.verify() == ()


def test_bytes_that_came_take_the_place_of_those_within_a_tolerance(library: Library, takes: Path) -> None:
    for add in (library.add, lambda path: library.add([path], jobs=1)):
        near = library.add(takes / "walk.bvh", within_mm=1.0, tags=("kept",))
        assert near.suffix == ".kps"
        add(takes / "walk.bvh")
        exact = library.clip("walk")
        assert (exact.hash, exact.within_mm, exact.suffix, exact.tags) == (near.hash, None, ".bvh", ("kept",))
        assert library.original("walk") == (takes / "walk.bvh").read_bytes()
        assert not library._store.blobs.has(near.blob) and library.verify() == ()
        assert library.add(takes / "walk.bvh", within_mm=1.0) == exact  # nothing is made worse
        (note,) = library.add([takes / "walk.bvh"], within_mm=1.0, jobs=1).notes
        assert "byte for byte" in note
        library.remove("walk")


def test_folders_are_tags(library: Library, takes: Path) -> None:
    library.add([takes], tags=("all",), tag_folders=True, jobs=1)
    assert library.clip("kick").tags == ("all", "kicks", "left") and library.clip("walk").tags == ("all",)
    with pytest.raises(OptionError, match="tag_folders"):
        library.add([takes], tag_folders="yes")  # type: ignore[call-overload]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.one_python)])
def test_after_a_rebuild_files_give_clips_their_names_again(tmp_path: Path, takes: Path, jobs: int) -> None:
    with Library(tmp_path / "clips.db") as library:
        library.add([takes], jobs=1)
        before = {clip.hash: clip.name for clip in library}
    for path in tmp_path.glob("clips.db*"):
        if path.is_file():
            path.unlink()
    with Library(tmp_path / "clips.db") as library:
        told: list[RebuildProgress] = []
        assert library.rebuild(jobs=jobs, on_progress=told.append) == ()
        assert [(each.done, each.total) for each in told] == [(1, 3), (2, 3), (3, 3)]
        assert sum(len(each.warnings) for each in told) == 1  # each is read once
        assert {clip.name for clip in library} == {clip.blob[:12] for clip in library}
        mine = library.rename(next(clip.hash for clip in library if before[clip.hash] == "kick"), "mine")
        library.add([takes], tags=("again",), licence="CC0", jobs=1)
        names = {clip.hash: clip.name for clip in library}
        assert names == before | {mine.hash: "mine"}
        walk = library.clip("walk")
        assert (walk.also_named, walk.note, walk.licence, walk.tags) == ((), "", "CC0", ("again",))
        assert walk.source == str(takes / "walk.bvh") and library.verify() == ()


def test_a_rebuild_reads_what_is_there_by_several_processes(library: Library, takes: Path, monkeypatch) -> None:
    from keypose.library.ingest import engine as by

    library.add([takes], jobs=1)
    asked: list[int] = []
    really = by.map_clips
    monkeypatch.setattr(by, "map_clips", lambda *given: asked.append(given[2]) or really(given[0], given[1], 1))
    told: list[RebuildProgress] = []
    assert library.rebuild(jobs=3, on_progress=told.append) == ()
    assert 3 in asked and sorted(each.name for each in told) == ["kick", "short", "walk"]
    (warning,) = [text for each in told for text in each.warnings]
    assert warning.startswith("short.bvh")
    assert all(each.left_s >= 0 for each in told)
    blob = library.clip("walk").blob
    library._store.blobs.remove(blob)
    (fault,) = library.rebuild(jobs=1)
    assert (fault.kind, fault.where) == ("missing blob", "walk")


def test_a_name_that_a_clip_had_still_calls_it(library: Library) -> None:
    clip = library.add(DEMO[:8], name="walk")
    renamed = library.rename("walk", "stroll")
    assert (renamed.name, renamed.also_named) == ("stroll", ("walk",)) and library.clip("walk") == renamed
    assert library.rename("walk", "walk").also_named == ("stroll",)
    assert library.rename("walk", "walk").also_named == ("stroll",) and library.verify() == ()
    assert library.clip(clip.hash.upper()).hash == library.clip(clip.hash[:9].upper()).hash == clip.hash


def test_clips_of_one_name_are_told_apart(library: Library, takes: Path) -> None:
    one = library.add(takes / "walk.bvh", name="same")
    two = library.add(DEMO[:8], name="same", source="x" * 200)
    with pytest.raises(OptionError) as raised:
        library.clip("same")
    assert f"{one.hash[:12]} (.bvh from " in str(raised.value) and "walk.bvh)" in str(raised.value)
    assert f"{two.hash[:12]} (.kps from ...{'x' * 80})" in str(raised.value)
    assert {clip.hash for clip in library.named("same")} == {one.hash, two.hash} and library.named("other") == ()


def test_an_exact_name_comes_first(library: Library) -> None:
    for n, name in enumerate(("104_03", "10_03", "10_031", "100_3")):
        library.add(DEMO[n : n + 8], name=name)
    found = [clip.name for clip in library.clips("10_03")]
    assert found == ["10_03", "104_03", "10_031"]
    assert [clip.name for clip in library.clips("10_03", limit=1)] == ["10_03"]
    assert next(clip.name for clip in library.clips("10_03", sort="newest")) == "10_031"


def test_bytes_are_warned_of_by_python(library: Library, takes: Path) -> None:
    """Who adds one file hears it as whoever loads it."""
    with pytest.warns(FormatWarning, match="25 frames"):
        library.add(takes / "short.bvh")
    assert library.clip("short").hash == hash_of((takes / "short.bvh").read_bytes())


def test_only_parts_that_were_asked_for_are_said_to_agree(library: Library) -> None:
    library.add(replace(kp.demo_motion(fps=30)[20:140], name="walk"))
    query = kp.demo_motion(fps=20)[14:90]
    for joints, limbs in (("arms", ("arm", "hand", "shoulder", "clavicle")), ("left_leg", ("thigh", "shin", "foot"))):
        for ranker in ("descriptors", "swings"):
            (hit,) = library.search(query, joints=joints, ranker=ranker)
            parts = {swing.part for swing in hit.why.swings}
            assert parts and all(any(limb in part for limb in limbs) for part in parts), parts
            assert all(-1.0 <= swing.cosine <= 1.0 for swing in hit.why.swings)
    assert len({swing.part for swing in library.search(query)[0].why.swings}) > 3


def test_copies_have_their_hashes(library: Library) -> None:
    motion = kp.demo_motion(fps=30)[20:140]
    library.add(motion, name="one")
    copy = library.add(motion.at_fps(25), name="two")
    (hit,) = library.search("one", fold=True)
    assert hit.name == "two"
    (hit,) = library.search(motion[2:118])
    assert len(hit.also) == len(hit.also_hashes) == 1 and {hit.clip.hash, *hit.also_hashes} >= {copy.hash}
