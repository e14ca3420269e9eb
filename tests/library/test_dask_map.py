"""A real Dask cluster whose workers, and at last whose scheduler, are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dask_work
import pytest

import keypose as kp
from keypose.batch.dask_map import map_on_dask, scheduler_address
from keypose.errors import KeyposeError, OptionError
from keypose.library.library import Library
from keypose.library.nouns import IngestProgress

N_CLIPS = 12
N_WORKERS = 3


class Cluster:
    """A scheduler and workers as processes of their own, on loopback."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {
            "PYTHONPATH": str(Path(__file__).parent),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        about = folder / "scheduler.json"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(about))
        self.workers = [self._worker() for _ in range(N_WORKERS)]
        end = time.monotonic() + 60
        while not about.exists() and time.monotonic() < end:
            time.sleep(0.02)
        self.address = json.loads(about.read_text())["address"].replace("tcp://", "dask://")

    def _worker(self) -> subprocess.Popen[bytes]:
        about = str(self.folder / "scheduler.json")
        return self._start("worker", "--scheduler-file", about, "--nthreads", "1", "--no-nanny",
                           "--local-directory", str(self.folder))  # fmt: skip

    def replace(self, worker: subprocess.Popen[bytes]) -> None:
        """Another worker in the place of one that died."""
        self.workers[self.workers.index(worker)] = self._worker()

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--host", "127.0.0.1", "--no-dashboard"]
        with (self.folder / f"{what}.log").open("ab") as log:
            process = subprocess.Popen([*command, *arguments], env=self.environment, stdout=log, stderr=log)
        self.processes.append(process)
        return process

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="no Dask on this machine: pip install 'keypose[dask]'")
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    made.close()


@pytest.mark.one_python
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of a scheduler that was killed
def test_the_deaths_of_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    _what_dies_with_its_worker_is_tried_again(cluster, tmp_path)
    _one_dies_in_an_ingest(cluster, tmp_path)
    _outcomes_are_those_of_the_pool(cluster)
    _an_item_that_kills_its_workers_has_failed(cluster)
    _a_cluster_without_workers_is_given_up(cluster)
    _a_lost_scheduler_is_said(cluster)


def _what_dies_with_its_worker_is_tried_again(cluster: Cluster, tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    tries.mkdir()
    (outcome,) = map_on_dask(dask_work.die_the_first_time, [str(tries)], cluster.address)
    assert outcome.value == 2 and outcome.failure is None
    died, worked = (int(path.name) for path in sorted(tries.iterdir(), key=lambda path: path.stat().st_mtime_ns))
    workers = {worker.pid: worker for worker in cluster.workers}
    assert workers[died].wait() == -signal.SIGKILL and workers[worked].poll() is None
    cluster.replace(workers[died])


def _one_dies_in_an_ingest(cluster: Cluster, tmp_path: Path) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    motion = kp.demo_motion(fps=10)
    for n in range(N_CLIPS):
        kp.save(replace(motion[n : n + 10], name=f"take_{n}"), clips / f"take_{n}.bvh")
    (clips / "bad.bvh").write_text("HIERARCHY\nROOT")

    def kill_one(progress: IngestProgress) -> None:  # busy or idle: the work goes on
        if progress.added:
            cluster.workers[0].kill()

    with Library(tmp_path / "clips.db") as library:
        done = library.add([clips], engine=cluster.address, on_progress=kill_one)
        assert {clip.name for clip in done.clips} == {f"take_{n}" for n in range(N_CLIPS)}
        assert [failure.path for failure in done.failures] == [str(clips / "bad.bvh")]
        assert done.failures[0].says.startswith(f"{clips / 'bad.bvh'}:")
        assert cluster.workers[0].wait() == -signal.SIGKILL
        assert library.verify() == ()
        assert len(library.add([clips], engine=cluster.address).known) == N_CLIPS


def _outcomes_are_those_of_the_pool(cluster: Cluster) -> None:
    drawn, started = 0, []

    def items() -> Iterator[int]:
        nonlocal drawn
        for n in (*range(40), -1):
            drawn += 1
            yield n

    found = {}
    for outcome in map_on_dask(dask_work.square, items(), cluster.address, on_start=started.append):
        found[outcome.index] = outcome
        assert drawn <= len(found) + 2 * N_WORKERS + 1  # no more are drawn than the cluster has room for
    assert [found[n].value for n in range(40)] == [n * n for n in range(40)]
    assert started == list(range(41))
    failure = found[40].failure
    assert failure is not None and failure.kind == "ValueError" and "expected no negative" in failure.message
    (outcome,) = map_on_dask(dask_work.unpicklable, [1], cluster.address)
    assert outcome.failure is not None
    (outcome,) = map_on_dask(dask_work.square, [threading.Lock()], cluster.address)  # type: ignore[list-item]
    assert outcome.failure is not None


def _an_item_that_kills_its_workers_has_failed(cluster: Cluster) -> None:
    (outcome,) = map_on_dask(dask_work.die, ["now"], cluster.address)
    assert outcome.failure is not None and outcome.failure.kind == "crash"
    assert outcome.failure.message == "2 workers that worked on it died"
    assert [worker.wait() for worker in cluster.workers] == [-signal.SIGKILL] * N_WORKERS


def _a_cluster_without_workers_is_given_up(cluster: Cluster) -> None:
    with pytest.raises(KeyposeError, match=r"has had no worker for 0.1 s, expected one at least: dask worker tcp:"):
        list(map_on_dask(dask_work.square, [1, 2], cluster.address, patience_s=0.1))


def _a_lost_scheduler_is_said(cluster: Cluster) -> None:
    waiting = map_on_dask(dask_work.square, [1, 2], cluster.address, on_start=lambda _: cluster.scheduler.kill())
    with pytest.raises(KeyposeError, match=r"the Dask cluster is gone .*goes on with the rest"):
        next(waiting)


def test_an_address_that_is_none_and_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert scheduler_address("dask://host") == "tcp://host:8786"
    assert scheduler_address("tls://[::1]:99") == "tls://[::1]:99"
    for address in ("", "host:8786", "dask://", "http://host:8786", "dask://host:port", "dask://host:1/path"):
        with pytest.raises(OptionError, match=r"expected the address of a Dask scheduler: dask://host:8786"):
            next(map_on_dask(dask_work.square, [1], address))
    pytest.importorskip("distributed")
    monkeypatch.setattr("keypose.batch.dask_map.CONNECT_S", 0.2)
    with pytest.raises(KeyposeError, match=r"tcp://127.0.0.1:9: no Dask scheduler answers"):
        next(map_on_dask(dask_work.square, [1], "dask://127.0.0.1:9"))
