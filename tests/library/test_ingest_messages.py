"""Progress and reports of added files: warnings, notes, changes; and load options."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import FormatWarning, OptionError
from keypose.library.blobs import sha256_hex
from keypose.library.ingest import run
from keypose.library.library import Library
from keypose.library.records import IngestProgress, IngestReport, RebuildProgress
from support.errors import raises

DEMO = kp.demo_motion(fps=10)


@pytest.fixture
def library(open_library: Callable[[], Library]) -> Library:
    return open_library()


@pytest.fixture
def takes(tmp_path: Path) -> Path:
    """A valid file, and a truncated one."""
    folder = tmp_path / "takes"
    (folder / "kicks" / "left").mkdir(parents=True)
    kp.save(DEMO[20:40], folder / "walk.bvh")
    kp.save(DEMO[90:110], folder / "kicks" / "left" / "kick.bvh")
    text = (folder / "walk.bvh").read_text()
    (folder / "short.bvh").write_text(text.replace("Frames: 20", "Frames: 25"))
    return folder


def write_animations(path: Path, *parts: kp.Motion) -> Path:
    """Write a GLB with several animations: the first as saved, the others with fewer channels."""
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
def test_warnings_are_reported_with_their_files(library: Library, takes: Path, jobs: int) -> None:
    progresses: dict[str, IngestProgress] = {}
    report = library.add([takes], jobs=jobs, on_progress=lambda each: progresses.update({Path(each.path).name: each}))
    (warning,) = report.warnings
    assert (warning.code, warning.path) == ("frame_count", str(takes / "short.bvh")) and "25 frames" in warning.problem
    assert progresses["short.bvh"].warnings == (warning,) and progresses["walk.bvh"].warnings == ()
    assert not any(note.endswith(warning.problem) for note in report.notes)  # warnings are not repeated as notes
    assert [progresses[name].is_new for name in ("short.bvh", "walk.bvh", "kick.bvh")] == [True] * 3


def test_a_failed_file_is_reported_with_its_warnings(library: Library, takes: Path) -> None:
    path = takes / "short.bvh"
    path.write_text(path.read_text().replace("Frame Time: 0.1", "Frame Time: 0").rsplit("\n", 3)[0] + " 1 nonsense\n")
    progresses: list[IngestProgress] = []
    report = library.add([path], jobs=1, on_progress=progresses.append)
    assert len(report.failures) == 1 and progresses[0].warnings == report.warnings and len(report.warnings) == 1


def test_warnings_of_remote_workers_have_the_path_of_the_file(
    library: Library, takes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from keypose.batch import map_clips

    monkeypatch.setattr(run, "map_on_dask", lambda function, items, _: map_clips(function, items, 1))
    (warning,) = library.add([takes], engine="dask://host:1").warnings
    assert (warning.code, warning.path) == ("frame_count", str(takes / "short.bvh"))


@pytest.mark.data
def test_files_that_need_others_are_converted_with_a_note(library: Library, data_dir: Path, tmp_path: Path) -> None:
    for name in ("09_06.amc", "09.asf"):
        shutil.copy(data_dir / "asf-amc" / name, tmp_path)
    shutil.copy(data_dir / "asf-amc" / "09_06.amc", tmp_path / "lonely.amc")
    (tmp_path / "other").mkdir()
    shutil.copy(data_dir / "asf-amc" / "09_06.amc", tmp_path / "other" / "lonely.amc")
    report = library.add([tmp_path / "09_06.amc"], jobs=1)
    assert any("09_06.amc: stored as lossless .kps" in note and "beside it" in note for note in report.notes)
    assert any("120 fps is assumed" in note for note in report.notes)
    lonely = [tmp_path / "other" / "lonely.amc"]
    assert len(library.add(lonely, jobs=1).failures) == 1
    read = library.add(lonely, asf=tmp_path / "09.asf", fps=60.0, jobs=1)
    (clip,) = read.added
    assert (clip.fps, clip.suffix) == (60.0, ".kps") and not any("120 fps" in note for note in read.notes)
    assert library.get("lonely").fps == 60.0 and library.verify() == ()


def test_other_load_options_give_another_clip(library: Library, tmp_path: Path) -> None:
    path = write_animations(tmp_path / "Fox.glb", DEMO[20:40], DEMO[20:40])
    report = library.add([path], jobs=1)
    assert any("of 2 animations the first, 'Survey'" in note for note in report.notes)
    first = report.added[0]
    for add in (lambda: library.add(path, animation="Walk"), lambda: library.add([path], animation="Walk", jobs=1)):
        result = add()
        clip = result if not isinstance(result, IngestReport) else (*result.added, *result.existing)[0]
        assert (clip.name, clip.suffix) == ("Fox: Walk", ".kps") and clip.hash != first.hash
        there, came = library.get(clip.hash), kp.load(path, animation="Walk")
        assert np.array_equal(there.rotations, came.rotations) and not np.array_equal(
            there.rotations, kp.load(path).rotations
        )
    assert len(library) == 2
    same = library.add(path, animation="Survey", gaps="refuse")  # reads the same without them
    assert (same.hash, same.name, library.original(same.hash)) == (first.hash, "Fox", path.read_bytes())
    assert library.add(path, animation="Walk", name="mine").other_names == ("mine",)
    assert library.verify() == ()


@pytest.mark.parametrize("wrong", [{"gaps": "x"}, {"reference_pose": 1}, {"fps": 0.0}, {"animation": 1.5}, {"asf": 3}])
def test_invalid_load_options_are_refused(library: Library, takes: Path, wrong: dict[str, object]) -> None:
    for what in (takes, takes / "walk.bvh"):
        with raises(OptionError, option=next(iter(wrong))):
            library.add(what, **wrong)  # type: ignore[call-overload]
    with raises(OptionError, expected="nothing: it was read already"):
        library.add(DEMO[:5], fps=30.0)
    with pytest.raises(TypeError, match="wrong"):
        library.add(takes, wrong=1)  # type: ignore[call-overload]


def test_the_source_is_an_absolute_path(library: Library, takes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(takes)
    assert library.add("walk.bvh").source == str(takes / "walk.bvh")
    library.add(["kicks"], jobs=1)
    assert library.clip("kick").source == str(takes / "kicks" / "left" / "kick.bvh")
    assert library.add("walk.bvh", source="studio B").source == str(takes / "walk.bvh")


def test_metadata_can_be_changed_and_ignored_fields_are_noted(library: Library, takes: Path) -> None:
    path = takes / "walk.bvh"
    library.add([path], licence="CC0", jobs=1)
    report = library.add([path], licence="CC-BY", note="new", jobs=1)
    assert library.clip("walk").licence == "CC0" and library.clip("walk").note == "new"
    assert [note for note in report.notes if "licence" in note] == [
        f"{path}: its licence stays 'CC0'; describe changes it"
    ]
    assert library.add([path], licence="CC0", jobs=1).notes == ()
    clip = library.describe("walk", licence=" CC-BY\n4.0 ", note="")
    assert (clip.licence, clip.note, clip.source) == ("CC-BY 4.0", "", str(path))
    assert library.describe("walk") == clip == library.clip("walk") and library.verify() == ()


def test_progress_of_existing_files_states_what_changed(library: Library, takes: Path, tmp_path: Path) -> None:
    path = takes / "walk.bvh"
    clip = library.add(path)
    progresses: list[IngestProgress] = []

    def add_again(**options: object) -> IngestProgress:
        library.add([path], jobs=1, on_progress=progresses.append, **options)
        return progresses[-1]

    assert (add_again().is_changed, progresses[-1].is_repaired, progresses[-1].is_new) == (False, False, False)
    assert add_again(tags=("new",)).is_changed and not add_again(tags=("new",)).is_changed
    place = next(each for each in tmp_path.rglob(clip.blob) if each.is_file())
    place.chmod(0o600)
    place.write_bytes(b"damaged")
    assert add_again().is_repaired and not progresses[-1].is_changed
    assert not add_again().is_repaired and library.verify() == ()


def test_original_bytes_replace_lossy_ones(library: Library, takes: Path) -> None:
    for add in (library.add, lambda path: library.add([path], jobs=1)):
        near = library.add(takes / "walk.bvh", tolerance_mm=1.0, tags=("kept",))
        assert near.suffix == ".kps"
        add(takes / "walk.bvh")
        exact = library.clip("walk")
        assert (exact.hash, exact.tolerance_mm, exact.suffix, exact.tags) == (near.hash, None, ".bvh", ("kept",))
        assert library.original("walk") == (takes / "walk.bvh").read_bytes()
        assert not library._store.blobs.has(near.blob) and library.verify() == ()
        assert library.add(takes / "walk.bvh", tolerance_mm=1.0) == exact  # nothing is made worse
        (note,) = library.add([takes / "walk.bvh"], tolerance_mm=1.0, jobs=1).notes
        assert "already stored with its original bytes" in note
        library.remove("walk")


def test_folders_are_tags(library: Library, takes: Path) -> None:
    library.add([takes], tags=("all",), tag_folders=True, jobs=1)
    assert library.clip("kick").tags == ("all", "kicks", "left") and library.clip("walk").tags == ("all",)
    with raises(OptionError, option="tag_folders", value="yes"):
        library.add([takes], tag_folders="yes")  # type: ignore[call-overload]


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.one_python)])
def test_adding_files_after_a_rebuild_restores_names(tmp_path: Path, takes: Path, jobs: int) -> None:
    with Library(tmp_path / "clips.db") as library:
        library.add([takes], jobs=1)
        before = {clip.hash: clip.name for clip in library}
    for path in tmp_path.glob("clips.db*"):
        if path.is_file():
            path.unlink()
    with Library(tmp_path / "clips.db") as library:
        progresses: list[RebuildProgress] = []
        assert library.rebuild(jobs=jobs, on_progress=progresses.append) == ()
        assert [(each.done, each.total) for each in progresses] == [(1, 3), (2, 3), (3, 3)]
        assert sum(len(each.warnings) for each in progresses) == 1  # each is read once
        assert {clip.name for clip in library} == {clip.blob[:12] for clip in library}
        mine = library.rename(next(clip.hash for clip in library if before[clip.hash] == "kick"), "mine")
        library.add([takes], tags=("again",), licence="CC0", jobs=1)
        names = {clip.hash: clip.name for clip in library}
        assert names == before | {mine.hash: "mine"}
        walk = library.clip("walk")
        assert (walk.other_names, walk.note, walk.licence, walk.tags) == ((), "", "CC0", ("again",))
        assert walk.source == str(takes / "walk.bvh") and library.verify() == ()


def test_a_rebuild_uses_several_processes(library: Library, takes: Path, monkeypatch) -> None:
    from keypose.library.ingest import run as engine_module

    library.add([takes], jobs=1)
    job_counts: list[int] = []
    original_map = engine_module.map_clips
    monkeypatch.setattr(
        engine_module,
        "map_clips",
        lambda *arguments: job_counts.append(arguments[2]) or original_map(arguments[0], arguments[1], 1),
    )
    progresses: list[RebuildProgress] = []
    assert library.rebuild(jobs=3, on_progress=progresses.append) == ()
    assert 3 in job_counts and sorted(each.name for each in progresses) == ["kick", "short", "walk"]
    (warning,) = [warning for each in progresses for warning in each.warnings]
    assert (warning.code, warning.path) == ("frame_count", "short.bvh")
    assert all(each.remaining_s >= 0 for each in progresses)
    blob = library.clip("walk").blob
    library._store.blobs.remove(blob)
    (fault,) = library.rebuild(jobs=1)
    assert (fault.kind, fault.subject) == ("missing blob", "walk")


def test_the_old_name_of_a_clip_still_finds_it(library: Library) -> None:
    clip = library.add(DEMO[:8], name="walk")
    renamed = library.rename("walk", "stroll")
    assert (renamed.name, renamed.other_names) == ("stroll", ("walk",)) and library.clip("walk") == renamed
    assert library.rename("walk", "walk").other_names == ("stroll",)
    assert library.rename("walk", "walk").other_names == ("stroll",) and library.verify() == ()
    assert library.clip(clip.hash.upper()).hash == library.clip(clip.hash[:9].upper()).hash == clip.hash


def test_an_ambiguous_name_lists_the_candidates(library: Library, takes: Path) -> None:
    one = library.add(takes / "walk.bvh", name="same")
    two = library.add(DEMO[:8], name="same", source="x" * 200)
    with raises(OptionError, code="ambiguous_clip") as raised:
        library.clip("same")
    candidates = str(raised.value.expected)
    assert f"{one.hash[:12]} (.bvh from " in candidates and "walk.bvh)" in candidates
    assert f"{two.hash[:12]} (.kps from ...{'x' * 80})" in candidates
    assert {clip.hash for clip in library.clips_named("same")} == {one.hash, two.hash} and library.clips_named(
        "other"
    ) == ()


def test_an_exact_name_comes_first(library: Library) -> None:
    for n, name in enumerate(("104_03", "10_03", "10_031", "100_3")):
        library.add(DEMO[n : n + 8], name=name)
    names = [clip.name for clip in library.clips("10_03")]
    assert names == ["10_03", "104_03", "10_031"]
    assert [clip.name for clip in library.clips("10_03", limit=1)] == ["10_03"]
    assert next(clip.name for clip in library.clips("10_03", sort="newest")) == "10_031"


def test_adding_one_file_issues_python_warnings(library: Library, takes: Path) -> None:
    """As ``load`` does."""
    with pytest.warns(FormatWarning) as records:
        library.add(takes / "short.bvh")
    (warning,) = [each.message for each in records if isinstance(each.message, FormatWarning)]
    assert warning.path == str(takes / "short.bvh")
    assert library.clip("short").hash == sha256_hex((takes / "short.bvh").read_bytes())


def test_only_requested_body_parts_are_explained(library: Library) -> None:
    library.add(replace(kp.demo_motion(fps=30)[20:140], name="walk"))
    query = kp.demo_motion(fps=20)[14:90]
    for joints, limbs in (("arms", ("arm", "hand", "shoulder", "clavicle")), ("left_leg", ("thigh", "shin", "foot"))):
        for ranker in ("descriptors", "swings"):
            (hit,) = library.search(query, joints=joints, ranker=ranker)
            parts = {swing.body_part for swing in hit.details.swings}
            assert parts and all(any(limb in part for limb in limbs) for part in parts), parts
            assert all(-1.0 <= swing.cosine <= 1.0 for swing in hit.details.swings)
    assert len({swing.body_part for swing in library.search(query)[0].details.swings}) > 3


def test_duplicates_have_their_hashes(library: Library) -> None:
    motion = kp.demo_motion(fps=30)[20:140]
    library.add(motion, name="one")
    copy = library.add(motion.at_fps(25), name="two")
    (hit,) = library.search("one", deduplicate=True)
    assert hit.name == "two"
    (hit,) = library.search(motion[2:118])
    assert len(hit.duplicates) == len(hit.duplicate_hashes) == 1 and {hit.clip.hash, *hit.duplicate_hashes} >= {
        copy.hash
    }
