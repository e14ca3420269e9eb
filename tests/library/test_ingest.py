"""Ingest of many files: added, existing, failed, and the progress reports."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import keypose as kp
from keypose.batch import Outcome, map_clips
from keypose.errors import FileError, KeyposeError, OptionError
from keypose.library.ingest import run
from keypose.library.library import Library
from keypose.library.records import IngestProgress
from support.errors import raises

N_CLIPS = 5


@pytest.fixture(scope="module")
def takes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    motion = kp.demo_motion(fps=10)
    (folder / "sub").mkdir()
    for n in range(N_CLIPS):
        kp.save(replace(motion[n : n + 6], name=f"take_{n}"), folder / ("sub" if n % 2 else "") / f"take_{n}.bvh")
    (folder / "again.bvh.gz").write_bytes(gzip.compress((folder / "take_0.bvh").read_bytes()))
    (folder / "bad.bvh").write_text("HIERARCHY\nROOT")
    (folder / "notes.txt").write_text("no motion")
    return folder


@pytest.fixture
def library(open_library: Callable[[], Library]) -> Library:
    return open_library()


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.one_python)])
def test_a_folder_is_ingested_reported_and_recognised_the_next_time(library: Library, takes: Path, jobs: int) -> None:
    progresses: list[IngestProgress] = []

    def record(progress: IngestProgress) -> None:
        progresses.append(progress)
        if progress.clip is not None:  # every reported clip is visible
            assert library.clip(progress.clip.hash).added_at == progress.clip.added_at

    report = library.add([takes], tags=("All",), licence="CC0", jobs=jobs, on_progress=record)
    assert {clip.hash for clip in report.added} == {clip.hash for clip in library} and len(library) == N_CLIPS
    assert len(report.existing) == 1  # the same content, gzipped
    assert [failure.path for failure in report.failures] == [str(takes / "bad.bvh")]
    assert "bad.bvh" in str(report.failures[0]) and "expected" in str(report.failures[0])
    assert all(clip.tags == ("all",) and clip.licence == "CC0" for clip in library)
    assert library.clip("take_1").source == str(takes / "sub" / "take_1.bvh")
    last = progresses[-1]
    assert [progress.done for progress in progresses] == list(range(1, N_CLIPS + 3)) and last.total == last.done
    assert (last.added, last.existing, last.failed, last.remaining_s) == (N_CLIPS, 1, 1, 0.0)
    assert last.motion_s == pytest.approx(library.stats().duration_s) and last.motion_s_per_s > 0
    assert library.verify() == ()

    repeated = library.add(takes, tags=("more",), jobs=jobs)
    assert repeated.added == () and len(repeated.existing) == N_CLIPS + 1 and len(repeated.failures) == 1
    assert len(library.clips(tags=("all", "more"))) == N_CLIPS


def test_only_what_is_new_is_analysed(library: Library, takes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library.add([takes / "take_0.bvh"])
    analysed_names = []
    really = run.run_prepare_job
    monkeypatch.setattr(run, "run_prepare_job", lambda job: analysed_names.append(Path(job.path).name) or really(job))
    library.add([takes], jobs=1)
    assert sorted(analysed_names) == ["bad.bvh", *(f"take_{n}.bvh" for n in range(1, N_CLIPS))]


def test_adding_alone_and_ingesting_give_the_same_clips(library: Library, takes: Path, tmp_path: Path) -> None:
    with Library(tmp_path / "other.db") as other:
        for path in sorted(takes.rglob("*.bvh")):
            if path.name != "bad.bvh":
                other.add(path)
        library.add([takes], jobs=1)
        rows = [{clip.hash: _without_dates(clip) for clip in each} for each in (library, other)]
        assert rows[0].keys() == rows[1].keys()
        assert all(
            replace(rows[0][key], other_names=()) == replace(rows[1][key], other_names=(), name=rows[0][key].name,
                                                            source=rows[0][key].source, suffix=rows[0][key].suffix,
                                                            blob=rows[0][key].blob, bytes=rows[0][key].bytes)
            for key in rows[0]
        )  # fmt: skip


def _without_dates(clip: Any) -> Any:
    return replace(clip, added_at=None)


def test_bytes_within_a_tolerance(library: Library, takes: Path, tmp_path: Path) -> None:
    alone = library.add(takes / "take_0.bvh", tolerance_mm=0.5)
    report = library.add([takes], tolerance_mm=0.5, jobs=1)
    assert {clip.hash for clip in report.existing} == {alone.hash}
    for clip in library:
        path = next(path for path in takes.rglob("*.bvh") if path.stem == clip.name)
        assert clip.tolerance_mm == 0.5 and clip.suffix == ".kps" and library.original(clip.hash) != path.read_bytes()
        repeated = library.add(path.read_bytes(), name="by bytes", tolerance_mm=0.5)
        assert (repeated.hash, repeated.blob) == (clip.hash, clip.blob)  # still the same content
        there, came = library.get(clip.hash), kp.load(path)
        millimetres = 1000 * 1.7 / came.height
        apart = np.linalg.norm(there.world_positions() - came.world_positions(), axis=-1).max() * millimetres
        assert apart <= 0.5
    assert library.verify() == () and library.rebuild() == () and library.verify() == ()
    blob_path = next(path for path in tmp_path.rglob(alone.blob) if path.is_file())
    blob_path.write_bytes(b"damaged")
    assert {fault.kind for fault in library.verify()} == {"damaged blob"}
    library.add([takes / "take_0.bvh"], tolerance_mm=0.5, jobs=1)  # repairs it
    assert library.verify() == () and library.clip(alone.hash).tolerance_mm == 0.5
    with raises(OptionError, option="tolerance_mm", value=-1.0, expected="a number from 0.001 to 10000"):
        library.add([takes], tolerance_mm=-1.0)


@pytest.mark.data
@pytest.mark.parametrize("far", [False, True])
def test_files_that_need_others_come_with_them(
    library: Library, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, far: bool
) -> None:
    """Also if workers are remote and receive only what is sent."""
    folder = tmp_path / "amc"
    folder.mkdir()
    for name in ("09_06.amc", "09.asf"):
        shutil.copy(data_dir / "asf-amc" / name, folder)
    shutil.copy(folder / "09_06.amc", tmp_path / "lonely.amc")
    if far:
        monkeypatch.setattr(run, "map_on_dask", _map_without_disk)
    by = {"engine": "dask://host:1"} if far else {"jobs": 1}
    report = library.add([folder, tmp_path / "lonely.amc"], **by)
    assert [(clip.name, clip.suffix) for clip in report.added] == [("09_06", ".kps")]
    assert [failure.path for failure in report.failures] == [str(tmp_path / "lonely.amc")]
    assert library.get("09_06").n_frames == kp.load(folder / "09_06.amc").n_frames
    assert library.add([folder], **by).existing == report.added and library.verify() == ()


def _map_without_disk(function: Callable[[Any], Any], items: Iterable[Any], address: str) -> Iterator[Outcome[Any]]:
    def without_disk(job: Any) -> Any:
        assert not Path(job.path).exists()
        return function(job)

    return map_clips(without_disk, items, 1)


def test_ctrl_c_leaves_reported_clips(library: Library, takes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MAX_BATCH_CLIPS", 1)
    progresses = []

    def record(progress: IngestProgress) -> None:
        progresses.append(progress.clip)
        if progress.added == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.add([takes], jobs=1, on_progress=record)
    assert {clip.hash for clip in progresses if clip is not None} == {clip.hash for clip in library}
    assert len(library.add([takes], jobs=1).added) == N_CLIPS - 2 and library.verify() == ()


def test_a_lost_cluster_and_a_full_disk_leave_prepared_clips(
    library: Library, takes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def map_until_lost(function: Callable[[Any], Any], items: Iterable[Any], address: str) -> Iterator[Outcome[Any]]:
        for n, outcome in enumerate(map_clips(function, items, 1)):
            if n == 3:
                raise KeyposeError("the cluster is gone")
            yield outcome

    monkeypatch.setattr(run, "map_on_dask", map_until_lost)
    with raises(KeyposeError, problem="the cluster is gone"):
        library.add([takes], engine="dask://host")
    assert len(library) == 1  # one failed, one existed

    def fail_put(data: bytes) -> str:
        raise FileError("cannot be written (no room)", path="clips.db.blobs")

    monkeypatch.setattr(library._store.blobs, "put", fail_put, raising=True)
    with raises(FileError, problem="cannot be written (no room)"):
        library.add([takes], jobs=1)
    monkeypatch.undo()
    assert len(library) == 1 and library.verify() == ()


def test_clips_added_by_others_meanwhile_are_existing_and_not_repaired(
    library: Library, takes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = library._store.blobs.put

    def put_late(data: bytes) -> str:
        monkeypatch.undo()
        library.add(takes / "take_0.bvh")
        return put(data)

    monkeypatch.setattr(library._store.blobs, "put", put_late)
    progresses: list[IngestProgress] = []
    library.ingest([takes / "take_0.bvh"], jobs=1, on_progress=progresses.append)
    assert [(one.existing, one.is_new, one.is_repaired) for one in progresses] == [(1, False, False)]
    library._store.blobs.remove(library.clips()[0].blob)
    library.ingest([takes / "take_0.bvh"], jobs=1, on_progress=progresses.append)
    assert progresses[-1].is_repaired and library.verify() == ()


def test_workers_of_another_version_are_refused(library: Library, takes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "ANALYSIS_VERSION", 99)
    with raises(KeyposeError, code="worker", expected="99: all must run the same Keypose"):
        library.add([takes / "take_0.bvh"], jobs=1)
    assert len(library) == 0


def test_sources_without_files_and_wrong_options_are_reported(library: Library, takes: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    report = library.add([tmp_path / "empty", tmp_path / "not there.bvh", takes / "take_0.bvh"], jobs=1)
    assert len(report.added) == 1
    assert [Path(failure.path).name for failure in report.failures] == ["empty", "not there.bvh"]
    assert library.add([]).added == ()
    for options in ({"jobs": 0}, {"engine": "host"}, {"engine": "dask://host", "jobs": 2}, {"name": "one"}):
        with pytest.raises(OptionError):
            library.add([takes], **options)
    for source in (3, None):
        with raises(OptionError, problem=f"{type(source).__name__} to add"):
            library.add(source)  # type: ignore[call-overload]
    with raises(OptionError, option="paths", value=3, expected="paths of files and folders"):
        library.add([3])  # type: ignore[list-item]


def test_ingest_counts_and_reports_progress(library: Library, takes: Path) -> None:
    progresses: list[IngestProgress] = []
    counts = library.ingest(takes, tags=("all",), jobs=1, on_progress=progresses.append)
    assert (counts.total, counts.added, counts.existing, counts.failed) == (N_CLIPS + 2, N_CLIPS, 1, 1)
    assert counts.motion_s == pytest.approx(sum(clip.duration_s for clip in library)) and counts.elapsed_s > 0
    assert progresses[-1].done == counts.total and {each.clip.hash for each in progresses if each.clip} == {
        c.hash for c in library
    }
    repeated = library.ingest([takes / "take_0.bvh", takes / "sub"], jobs=1)
    assert (repeated.total, repeated.added, repeated.existing, repeated.motion_s) == (3, 0, 3, 0.0)


def test_an_unrepairable_file_does_not_stop_an_ingest(tmp_path: Path, takes: Path) -> None:
    """Its clip exists, its bytes are lost, and it is too long for the current limits."""
    long = tmp_path / "a long one.bvh"
    kp.save(kp.demo_motion(fps=10)[:40], long)
    with Library(tmp_path / "clips.db") as library:
        clip = library.add(long, tolerance_mm=1.0)
        library._store.blobs.remove(clip.blob)
    with Library(tmp_path / "clips.db", limits=kp.Limits(frames=20)) as library:
        report = library.add([long, takes / "take_0.bvh"], jobs=1)
        assert [new.name for new in report.added] == ["take_0"] and report.existing == ()
        assert [failure.path for failure in report.failures] == [str(long)] and "limit of 20" in report.failures[
            0
        ].message
    with Library(tmp_path / "clips.db") as library:
        assert library.add([long], jobs=1).existing == (library.clip("a long one"),) and library.verify() == ()
