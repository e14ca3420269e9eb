"""A real Dask cluster whose workers, and finally whose scheduler, are killed."""

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

import pytest

import keypose as kp
from keypose.batch.dask_map import map_on_dask, parse_scheduler_address
from keypose.errors import KeyposeError, OptionError
from keypose.library.library import Library
from keypose.library.records import IngestProgress
from support import dask_jobs
from support.errors import raises

N_CLIPS = 12
N_WORKERS = 3


class Cluster:
    """A scheduler and workers as separate processes, on loopback."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {
            "PYTHONPATH": str(Path(__file__).parents[1]),
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
        """Start another worker in place of a dead one."""
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
    new_cluster = Cluster(folder)
    yield new_cluster
    new_cluster.close()


@pytest.mark.one_python
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of a scheduler that was killed
def test_failures_of_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    _check_job_is_retried_after_its_worker_dies(cluster, tmp_path)
    _check_ingest_survives_a_dead_worker(cluster, tmp_path)
    _check_outcomes_equal_those_of_the_pool(cluster)
    _check_job_that_kills_workers_fails(cluster)
    _check_cluster_without_workers_times_out(cluster)
    _check_lost_scheduler_is_reported(cluster)


def _check_job_is_retried_after_its_worker_dies(cluster: Cluster, tmp_path: Path) -> None:
    attempts = tmp_path / "tries"
    attempts.mkdir()
    (outcome,) = map_on_dask(dask_jobs.die_the_first_time, [str(attempts)], cluster.address)
    assert outcome.value == 2 and outcome.failure is None
    died, worked = (int(path.name) for path in sorted(attempts.iterdir(), key=lambda path: path.stat().st_mtime_ns))
    workers = {worker.pid: worker for worker in cluster.workers}
    assert workers[died].wait() == -signal.SIGKILL and workers[worked].poll() is None
    cluster.replace(workers[died])


def _check_ingest_survives_a_dead_worker(cluster: Cluster, tmp_path: Path) -> None:
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
        report = library.add([clips], engine=cluster.address, on_progress=kill_one)
        assert {clip.name for clip in report.added} == {f"take_{n}" for n in range(N_CLIPS)}
        assert [failure.path for failure in report.failures] == [str(clips / "bad.bvh")]
        assert report.failures[0].message.startswith(f"{clips / 'bad.bvh'}:")
        assert cluster.workers[0].wait() == -signal.SIGKILL
        assert library.verify() == ()
        assert len(library.add([clips], engine=cluster.address).existing) == N_CLIPS


def _check_outcomes_equal_those_of_the_pool(cluster: Cluster) -> None:
    n_drawn, started = 0, []

    def items() -> Iterator[int]:
        nonlocal n_drawn
        for n in (*range(40), -1):
            n_drawn += 1
            yield n

    outcomes = {}
    for outcome in map_on_dask(dask_jobs.square, items(), cluster.address, on_start=started.append):
        outcomes[outcome.index] = outcome
        assert n_drawn <= len(outcomes) + 2 * N_WORKERS + 1  # no more are drawn than the cluster has room for
    assert [outcomes[n].value for n in range(40)] == [n * n for n in range(40)]
    assert started == list(range(41))
    failure = outcomes[40].failure
    assert failure is not None and failure.kind == "ValueError" and "expected no negative" in failure.message
    (outcome,) = map_on_dask(dask_jobs.unpicklable, [1], cluster.address)
    assert outcome.failure is not None
    (outcome,) = map_on_dask(dask_jobs.square, [threading.Lock()], cluster.address)  # type: ignore[list-item]
    assert outcome.failure is not None


def _check_job_that_kills_workers_fails(cluster: Cluster) -> None:
    (outcome,) = map_on_dask(dask_jobs.die, ["now"], cluster.address)
    assert outcome.failure is not None and outcome.failure.kind == "crash"
    assert outcome.failure.message == "2 workers that worked on it died"
    assert [worker.wait() for worker in cluster.workers] == [-signal.SIGKILL] * N_WORKERS


def _check_cluster_without_workers_times_out(cluster: Cluster) -> None:
    with raises(KeyposeError, code="unreachable"):
        list(map_on_dask(dask_jobs.square, [1, 2], cluster.address, no_worker_timeout_s=0.1))


def _check_lost_scheduler_is_reported(cluster: Cluster) -> None:
    pending = map_on_dask(dask_jobs.square, [1, 2], cluster.address, on_start=lambda _: cluster.scheduler.kill())
    with raises(KeyposeError, code="unreachable"):
        next(pending)


def test_invalid_addresses_and_missing_schedulers_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_scheduler_address("dask://host") == "tcp://host:8786"
    assert parse_scheduler_address("tls://[::1]:99") == "tls://[::1]:99"
    for address in ("", "host:8786", "dask://", "http://host:8786", "dask://host:port", "dask://host:1/path"):
        with raises(OptionError, option="engine", value=address):
            next(map_on_dask(dask_jobs.square, [1], address))
    pytest.importorskip("distributed")
    monkeypatch.setattr("keypose.batch.dask_map.CONNECT_S", 0.2)
    with raises(KeyposeError, code="unreachable", expected="one that runs"):
        next(map_on_dask(dask_jobs.square, [1], "dask://127.0.0.1:9"))
