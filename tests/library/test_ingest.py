"""Many files at once: what is taken in, what was known, what is skipped, and what is told meanwhile."""

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
from keypose.library.ingest import engine, run
from keypose.library.library import Library
from keypose.library.nouns import IngestProgress

N_CLIPS = 5


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
def test_a_folder_is_taken_in_told_of_and_known_the_next_time(library: Library, made: Path, jobs: int) -> None:
    told: list[IngestProgress] = []

    def tell(progress: IngestProgress) -> None:
        told.append(progress)
        if progress.clip is not None:  # whatever is told of is there, for everybody
            assert library.clip(progress.clip.hash).added_at == progress.clip.added_at

    done = library.add([made], tags=("All",), licence="CC0", jobs=jobs, on_progress=tell)
    assert {clip.hash for clip in done.clips} == {clip.hash for clip in library} and len(library) == N_CLIPS
    assert len(done.known) == 1  # the same content, packed
    assert [failure.path for failure in done.failures] == [str(made / "bad.bvh")]
    assert "bad.bvh" in str(done.failures[0]) and "expected" in str(done.failures[0])
    assert all(clip.tags == ("all",) and clip.licence == "CC0" for clip in library)
    assert library.clip("take_1").source == str(made / "sub" / "take_1.bvh")
    last = told[-1]
    assert [progress.done for progress in told] == list(range(1, N_CLIPS + 3)) and last.total == last.done
    assert (last.added, last.known, last.failed, last.left_s) == (N_CLIPS, 1, 1, 0.0)
    assert last.motion_s == pytest.approx(library.stats().duration_s) and last.motion_s_per_s > 0
    assert library.verify() == ()

    again = library.add(made, tags=("more",), jobs=jobs)
    assert again.clips == () and len(again.known) == N_CLIPS + 1 and len(again.failures) == 1
    assert len(library.clips(tags=("all", "more"))) == N_CLIPS


def test_only_what_is_new_is_analysed(library: Library, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library.add([made / "take_0.bvh"])
    analysed = []
    really = engine.do
    monkeypatch.setattr(engine, "do", lambda work: analysed.append(Path(work.path).name) or really(work))
    library.add([made], jobs=1)
    assert sorted(analysed) == ["bad.bvh", *(f"take_{n}.bvh" for n in range(1, N_CLIPS))]


def test_what_one_adds_alone_and_with_others_is_the_same(library: Library, made: Path, tmp_path: Path) -> None:
    with Library(tmp_path / "other.db") as other:
        for path in sorted(made.rglob("*.bvh")):
            if path.name != "bad.bvh":
                other.add(path)
        library.add([made], jobs=1)
        rows = [{clip.hash: _without_dates(clip) for clip in each} for each in (library, other)]
        assert rows[0].keys() == rows[1].keys()
        assert all(
            replace(rows[0][key], also_named=()) == replace(rows[1][key], also_named=(), name=rows[0][key].name,
                                                            source=rows[0][key].source, suffix=rows[0][key].suffix,
                                                            blob=rows[0][key].blob, bytes=rows[0][key].bytes)
            for key in rows[0]
        )  # fmt: skip


def _without_dates(clip: Any) -> Any:
    return replace(clip, added_at=None)


def test_bytes_within_a_tolerance(library: Library, made: Path, tmp_path: Path) -> None:
    alone = library.add(made / "take_0.bvh", within_mm=0.5)
    done = library.add([made], within_mm=0.5, jobs=1)
    assert {clip.hash for clip in done.known} == {alone.hash}
    for clip in library:
        path = next(path for path in made.rglob("*.bvh") if path.stem == clip.name)
        assert clip.within_mm == 0.5 and clip.suffix == ".kps" and library.original(clip.hash) != path.read_bytes()
        again = library.add(path.read_bytes(), name="by bytes", within_mm=0.5)
        assert (again.hash, again.blob) == (clip.hash, clip.blob)  # it is still that content
        there, came = library.get(clip.hash), kp.load(path)
        millimetres = 1000 * 1.7 / came.height
        apart = np.linalg.norm(there.world_positions() - came.world_positions(), axis=-1).max() * millimetres
        assert apart <= 0.5
    assert library.verify() == () and library.rebuild() == () and library.verify() == ()
    kept = next(path for path in tmp_path.rglob(alone.blob) if path.is_file())
    kept.write_bytes(b"damaged")
    assert {fault.kind for fault in library.verify()} == {"damaged blob"}
    library.add([made / "take_0.bvh"], within_mm=0.5, jobs=1)  # mends it
    assert library.verify() == () and library.clip(alone.hash).within_mm == 0.5
    with pytest.raises(OptionError, match=r"^within_mm=-1\.0, expected a number from 0\.001 to 10000"):
        library.add([made], within_mm=-1.0)


@pytest.mark.data
@pytest.mark.parametrize("far", [False, True])
def test_files_that_need_others_come_with_them(
    library: Library, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, far: bool
) -> None:
    """Also where the workers are far away and have nothing but what is sent."""
    folder = tmp_path / "amc"
    folder.mkdir()
    for name in ("09_06.amc", "09.asf"):
        shutil.copy(data_dir / "asf-amc" / name, folder)
    shutil.copy(folder / "09_06.amc", tmp_path / "lonely.amc")
    if far:
        monkeypatch.setattr(engine, "map_on_dask", _elsewhere)
    by = {"engine": "dask://host:1"} if far else {"jobs": 1}
    done = library.add([folder, tmp_path / "lonely.amc"], **by)
    assert [(clip.name, clip.suffix) for clip in done.clips] == [("09_06", ".kps")]
    assert [failure.path for failure in done.failures] == [str(tmp_path / "lonely.amc")]
    assert library.get("09_06").n_frames == kp.load(folder / "09_06.amc").n_frames
    assert library.add([folder], **by).known == done.clips and library.verify() == ()


def _elsewhere(function: Callable[[Any], Any], items: Iterable[Any], address: str) -> Iterator[Outcome[Any]]:
    def without_disk(work: Any) -> Any:
        assert not Path(work.path).exists()
        return function(work)

    return map_clips(without_disk, items, 1)


def test_ctrl_c_leaves_what_was_told(library: Library, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "GROUP", 1)
    told = []

    def tell(progress: IngestProgress) -> None:
        told.append(progress.clip)
        if progress.added == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.add([made], jobs=1, on_progress=tell)
    assert {clip.hash for clip in told if clip is not None} == {clip.hash for clip in library}
    assert len(library.add([made], jobs=1).clips) == N_CLIPS - 2 and library.verify() == ()


def test_a_lost_cluster_and_a_full_disk_leave_what_was_prepared_before(
    library: Library, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(function: Callable[[Any], Any], items: Iterable[Any], address: str) -> Iterator[Outcome[Any]]:
        for n, outcome in enumerate(map_clips(function, items, 1)):
            if n == 3:
                raise KeyposeError("the cluster is gone")
            yield outcome

    monkeypatch.setattr(engine, "map_on_dask", gone)
    with pytest.raises(KeyposeError, match="the cluster is gone"):
        library.add([made], engine="dask://host")
    assert len(library) == 1  # one was bad, one the same again

    def full(data: bytes) -> str:
        raise FileError("clips.db.blobs: cannot be written (no room)")

    monkeypatch.setattr(library._store.blobs, "put", full, raising=True)
    with pytest.raises(FileError, match="no room"):
        library.add([made], jobs=1)
    monkeypatch.undo()
    assert len(library) == 1 and library.verify() == ()


def test_what_others_add_meanwhile_is_known_and_not_mended(
    library: Library, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = library._store.blobs.put

    def beaten(data: bytes) -> str:
        monkeypatch.undo()
        library.add(made / "take_0.bvh")
        return put(data)

    monkeypatch.setattr(library._store.blobs, "put", beaten)
    told: list[IngestProgress] = []
    library.ingest([made / "take_0.bvh"], jobs=1, on_progress=told.append)
    assert [(one.known, one.is_new, one.is_mended) for one in told] == [(1, False, False)]
    library._store.blobs.remove(library.clips()[0].blob)
    library.ingest([made / "take_0.bvh"], jobs=1, on_progress=told.append)
    assert told[-1].is_mended and library.verify() == ()


def test_workers_of_another_version_are_refused(library: Library, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "ANALYSIS_VERSION", 99)
    with pytest.raises(KeyposeError, match=r"analyses by version \d+, expected 99: all must run the same Keypose"):
        library.add([made / "take_0.bvh"], jobs=1)
    assert len(library) == 0


def test_what_is_asked_in_vain_is_said(library: Library, made: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = library.add([tmp_path / "empty", tmp_path / "not there.bvh", made / "take_0.bvh"], jobs=1)
    assert len(done.clips) == 1
    assert [Path(failure.path).name for failure in done.failures] == ["empty", "not there.bvh"]
    assert library.add([]).clips == ()
    for options in ({"jobs": 0}, {"engine": "host"}, {"engine": "dask://host", "jobs": 2}, {"name": "one"}):
        with pytest.raises(OptionError):
            library.add([made], **options)
    for what in (3, [3], None):
        with pytest.raises(OptionError, match="to add, expected"):
            library.add(what)  # type: ignore[call-overload]


def test_what_is_only_counted_is_told_all_the_same(library: Library, made: Path) -> None:
    told: list[IngestProgress] = []
    tally = library.ingest(made, tags=("all",), jobs=1, on_progress=told.append)
    assert (tally.total, tally.added, tally.known, tally.failed) == (N_CLIPS + 2, N_CLIPS, 1, 1)
    assert tally.motion_s == pytest.approx(sum(clip.duration_s for clip in library)) and tally.elapsed_s > 0
    assert told[-1].done == tally.total and {each.clip.hash for each in told if each.clip} == {c.hash for c in library}
    again = library.ingest([made / "take_0.bvh", made / "sub"], jobs=1)
    assert (again.total, again.added, again.known, again.motion_s) == (3, 0, 3, 0.0)


def test_one_file_that_cannot_be_read_again_ends_nothing(tmp_path: Path, made: Path) -> None:
    """Its clip is there, its bytes are lost, and it is too long for the limits of today."""
    long = tmp_path / "a long one.bvh"
    kp.save(kp.demo_motion(fps=10)[:40], long)
    with Library(tmp_path / "clips.db") as library:
        clip = library.add(long, within_mm=1.0)
        library._store.blobs.remove(clip.blob)
    with Library(tmp_path / "clips.db", limits=kp.Limits(frames=20)) as library:
        done = library.add([long, made / "take_0.bvh"], jobs=1)
        assert [new.name for new in done.clips] == ["take_0"] and done.known == ()
        assert [failure.path for failure in done.failures] == [str(long)] and "limit of 20" in done.failures[0].says
    with Library(tmp_path / "clips.db") as library:
        assert library.add([long], jobs=1).known == (library.clip("a long one"),) and library.verify() == ()
