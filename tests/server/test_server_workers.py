"""Worker processes that are slow, grow large or crash."""

from __future__ import annotations

import asyncio
import gc
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.server.error_responses import TaskError, TooManyRequests, WorkerError
from keypose.server.workers import pool
from keypose.server.workers.pool import AFFINITY_WAIT_S, QueueLength, TaskWeight, Workers
from keypose.server.workers.process import (
    CHUNK_BYTES,
    STORED_BYTES,
    StoredBody,
    Worker,
    WorkerConfig,
    total_stored_bytes,
)
from support import event_loop
from support.errors import raises
from support.live_server import is_alive, runs, until

Body = Callable[[Workers], Coroutine[Any, Any, None]]
GB = 1 << 30
ONE, TWO = "0" * 64, "1".rjust(8, "0") + "0" * 56  # with different home slots of two workers


@pytest.fixture(scope="module")
def location(library_template: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))  # workers import the tasks
        yield str(library_template / "clips.db")


@asynccontextmanager
async def start_workers(
    location: str, n: int = 1, temp_dir: Path | None = None, **options: Any
) -> AsyncIterator[Workers]:
    """Start workers and stop them at the end."""
    config = WorkerConfig(
        location, "support.sample_tasks", 2 * GB, temp_dir=None if temp_dir is None else str(temp_dir)
    )
    workers = Workers(config, n, **{"timeout_s": 20.0, **options})
    await workers.start()
    try:
        async with asyncio.timeout(60.0):
            while len(workers.pids) < n:
                await asyncio.sleep(0.02)
        yield workers
    finally:
        pids = workers.pids
        await workers.stop()
        assert not any(map(is_alive, pids))


@pytest.fixture(scope="module")
def run_on_worker(location: str) -> Iterator[Callable[[Body], None]]:
    """One worker shared by many tests."""
    with event_loop.Loop() as runner:
        context = start_workers(location)
        workers = runner.run(context.__aenter__())
        yield lambda body: runner.run(body(workers))
        runner.run(context.__aexit__(None, None, None))


def with_workers(location: str, body: Body, n: int = 1, **options: Any) -> None:
    """Run a test body with its own workers."""

    async def run() -> None:
        async with start_workers(location, n, **options) as workers:
            await body(workers)

    event_loop.run(run())


def test_results_and_errors(run_on_worker: Callable[[Body], None]) -> None:
    async def run_body(workers: Workers) -> None:
        response = await workers.run("echo", ONE, {"text": "ü<\u2028"})
        assert response.json()["text"] == "ü<\u2028" and response.headers == {"X-Echo": "yes"}
        assert (await workers.run("large", ONE, {"bytes": 9_000_000})).size == 9_000_000
        assert (await workers.run("print_noise", ONE, {"k": 1})).json()["k"] == 1
        for code, status in {
            "format": 422, "limit": 413, "missing_extra": 501, "option": 400, "joint": 400, "library_damaged": 500,
        }.items():  # fmt: skip
            with pytest.raises(TaskError) as excinfo:
                await workers.run("fail", ONE, {"code": code})
            details = excinfo.value.details
            assert (details.code, details.status) == (code, status) and "/secret" not in details.model_dump_json()
            if code == "format":
                assert (details.path, details.line, details.problem) == ("walk.bvh", 41, "5 channels")
                assert details.message == "walk.bvh:41: 5 channels" and "line 41" in str(details.hint)
            if code == "missing_extra":
                assert details.hint == "On the server, run: pip install 'keypose[usd]'"
                assert "pip" not in details.message
            if code == "option":
                assert (details.option, details.value, details.expected) == ("keys", 0, "more")
        with pytest.raises(TaskError) as excinfo:
            await workers.run("fail", ONE, {"code": "bug"})
        details = excinfo.value.details
        assert (details.code, details.status) == ("internal", 500) and "secret" not in details.model_dump_json()

    run_on_worker(run_body)


def test_motions_are_cached_by_hash(location: str, run_on_worker: Callable[[Body], None]) -> None:
    with kp.Library(location) as library:
        clip = library.clip("walk")

    async def run_body(workers: Workers) -> None:
        response = await workers.run("motion", clip.hash, {"clip": clip.hash})
        assert response.json() == {"frames": clip.n_frames, "name": "walk", "same": True}
        for other in ("0" * 64, "walk"):  # a name is not a hash
            with pytest.raises(TaskError) as excinfo:
                await workers.run("motion", ONE, {"clip": other})
            assert (excinfo.value.details.code, excinfo.value.details.status) == ("unknown_clip", 404)

    run_on_worker(run_body)


@pytest.mark.parametrize(("task", "exit_code"), [("crash", -signal.SIGSEGV), ("exit", 3)])
def test_crash_fails_one_request(run_on_worker: Callable[[Body], None], task: str, exit_code: int) -> None:
    async def run_body(workers: Workers) -> None:
        with raises(WorkerError, code="worker", value=exit_code):
            await workers.run(task, ONE, {})
        assert (await workers.run("echo", ONE, {})).body
        for pid in workers.pids:  # an idle worker that dies fails no request
            os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.3)
        assert (await workers.run("echo", ONE, {})).body

    run_on_worker(run_body)


def test_timeout(run_on_worker: Callable[[Body], None]) -> None:
    async def run_body(workers: Workers) -> None:
        (before,) = workers.pids
        start_time = time.monotonic()
        with raises(WorkerError, code="timeout"):
            await workers.run("sleep", ONE, {"s": 60}, timeout_s=0.5)
        assert time.monotonic() - start_time < 5.0 and not is_alive(before)
        assert (await workers.run("echo", ONE, {})).body

    run_on_worker(run_body)


def test_memory_limit(run_on_worker: Callable[[Body], None]) -> None:
    async def run_body(workers: Workers) -> None:
        (before,) = workers.pids
        with pytest.raises(TaskError) as excinfo:
            await workers.run("grow", ONE, {"bytes": 3 * GB})
        assert (excinfo.value.details.code, excinfo.value.details.status) == ("out_of_memory", 503)
        assert (await workers.run("echo", ONE, {})).body and workers.pids == (before,)

    run_on_worker(run_body)


def test_affinity_of_clips(location: str) -> None:
    async def pid(workers: Workers, clip: str, s: float = 0.0) -> int:
        return int((await workers.run("sleep", clip, {"s": s})).json()["pid"])

    async def run_body(workers: Workers) -> None:
        first, second = await pid(workers, ONE), await pid(workers, TWO)
        assert first != second
        assert {await pid(workers, ONE) for _ in range(5)} == {first}
        slow = asyncio.create_task(pid(workers, ONE, 2.0))
        await asyncio.sleep(0.1)
        start_time = time.monotonic()
        assert await pid(workers, ONE) == second
        assert AFFINITY_WAIT_S * 0.5 < time.monotonic() - start_time < 1.5
        assert await slow == first

    with_workers(location, run_body, 2)


def test_queue_limit_and_cancellation(location: str) -> None:
    async def run_body(workers: Workers) -> None:
        running = asyncio.create_task(workers.run("sleep", ONE, {"s": 1.0}))
        await asyncio.sleep(0.1)
        waiting = [asyncio.create_task(workers.run("sleep", ONE, {"s": 30.0})) for _ in range(3)]
        await asyncio.sleep(0.1)
        with pytest.raises(TooManyRequests):
            await workers.run("echo", ONE, {})
        waiting += [asyncio.create_task(workers.run("echo", ONE, {}, weight=TaskWeight.HEAVY)) for _ in range(4)]
        await asyncio.sleep(0.1)
        assert workers.queue_length() == QueueLength(1, 6)  # of each weight as many, and one was refused
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        start_time = time.monotonic()
        assert (await running).body and (await workers.run("echo", ONE, {})).body
        assert time.monotonic() - start_time < 5.0

    with_workers(location, run_body, max_waiting=3)


async def _start_all(coroutines: list[Coroutine[Any, Any, Any]]) -> list[asyncio.Task[Any]]:
    tasks = [asyncio.create_task(each) for each in coroutines]
    await asyncio.sleep(0.1)
    return tasks


@pytest.mark.parametrize("n", [2, 3])
def test_light_tasks_do_not_wait_for_heavy_ones(location: str, n: int) -> None:
    async def run_body(workers: Workers) -> None:
        heavy = await _start_all(
            [workers.run("sleep", clip, {"s": 6.0}, weight=TaskWeight.HEAVY) for clip in (ONE, TWO) * 2]
        )
        await asyncio.sleep(2 * AFFINITY_WAIT_S)
        assert workers.queue_length(TaskWeight.HEAVY) == QueueLength(1, 3)
        medium = await _start_all([workers.run("sleep", TWO, {"s": 6.0}, weight=TaskWeight.MEDIUM)])
        await asyncio.sleep(2 * AFFINITY_WAIT_S)
        assert workers.queue_length(TaskWeight.MEDIUM) == (QueueLength(2, 3) if n == 3 else QueueLength(1, 4))
        start_time = time.monotonic()
        for clip in (ONE, TWO):
            assert (await workers.run("echo", clip, {})).body
        assert time.monotonic() - start_time < 2.0
        for each in (*heavy, *medium):
            each.cancel()
        await asyncio.gather(*heavy, *medium, return_exceptions=True)
        assert workers.queue_length().waiting == 0

    with_workers(location, run_body, n, grace_s=0.0)


def test_tasks_take_turns_by_clip_and_kind(location: str) -> None:
    """Five tasks of one clip do not delay those of another one, nor those of another kind, to the end."""
    order: list[str] = []

    async def run_body(workers: Workers) -> None:
        async def run(name: str, task: str, clip: str) -> None:
            await workers.run(task, clip, {"s": 0.05}, weight=TaskWeight.HEAVY)
            order.append(name)

        jobs = [("a", "sleep", ONE)] * 5 + [("b", "sleep", TWO)] * 2 + [("c", "echo", ONE)]
        await asyncio.gather(*(run(*job) for job in jobs))
        await asyncio.sleep(0.05)
        assert workers.queue_length() == QueueLength(0, 0)

    with_workers(location, run_body, affinity_wait_s=0.0)
    assert "".join(order) == "abcabaaa"


@pytest.mark.parametrize("n", [1, 2])
def test_second_task_of_a_clip_waits_for_first_ones_of_others(location: str, n: int) -> None:
    """Also if it was queued before them, while the first one was running."""
    order: list[str] = []

    async def run_body(workers: Workers) -> None:
        async def run(name: str, clip: str, s: float) -> None:
            await workers.run("sleep", clip, {"s": s}, weight=TaskWeight.MEDIUM)
            order.append(name)

        tasks = await _start_all([run("a", ONE, 1.0)])
        tasks += await _start_all([run("b", ONE, 0.05), run("b", ONE, 0.05)])
        tasks += await _start_all([run("c", TWO, 0.05)])
        await asyncio.gather(*tasks)

    with_workers(location, run_body, n, affinity_wait_s=0.0)
    assert order == ["a", "c", "b", "b"]


def test_new_clips_do_not_starve_waiting_ones(location: str) -> None:
    """The last of three tasks of a clip runs before those of clips that are requested later."""
    order: list[int] = []

    async def run_body(workers: Workers) -> None:
        async def run(number: int) -> None:
            await workers.run("sleep", f"{number:08x}", {"s": 0.05})
            order.append(number)

        tasks = [asyncio.create_task(run(0)) for _ in range(3)]
        for number in range(1, 9):
            await asyncio.sleep(0.04)
            tasks.append(asyncio.create_task(run(number)))
        await asyncio.gather(*tasks)

    with_workers(location, run_body, affinity_wait_s=0.0)
    assert 0 not in order[7:]


@pytest.mark.parametrize("is_read", [True, False])
def test_large_results_stay_on_disk(location: str, tmp_path: Path, is_read: bool) -> None:
    temp_dir, n_bytes = tmp_path / "temporary", 3 * STORED_BYTES

    async def run_body(workers: Workers) -> None:
        result = await workers.run("large", ONE, {"bytes": n_bytes})
        assert isinstance(result.body, StoredBody) and result.size == n_bytes == total_stored_bytes()
        for pid in workers.pids:  # the content outlives its worker
            os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.3)
        if is_read:
            chunks = [chunk async for chunk in result.chunks()]
            assert b"".join(chunks) == bytes(n_bytes) and max(map(len, chunks)) == CHUNK_BYTES
        del result
        gc.collect()
        assert total_stored_bytes() == 0
        small = await workers.run("large", ONE, {"bytes": STORED_BYTES - 1})
        assert isinstance(small.body, bytes) and small.size == STORED_BYTES - 1

    with_workers(location, run_body, temp_dir=temp_dir)
    assert list(temp_dir.iterdir()) == []


def test_cancelled_long_work_is_killed(location: str) -> None:
    async def run_body(workers: Workers) -> None:
        (before,) = workers.pids
        for s, survives in ((0.3, True), (30.0, False)):
            cancelled = asyncio.create_task(workers.run("sleep", ONE, {"s": s}))
            await asyncio.sleep(0.1)
            cancelled.cancel()
            await asyncio.gather(cancelled, return_exceptions=True)
            assert (await workers.run("echo", ONE, {})).body
            assert (workers.pids == (before,)) is survives

    with_workers(location, run_body, grace_s=1.0)


@pytest.mark.parametrize("n", [1, 2])
def test_start_failure(tmp_path: Path, n: int, caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        workers = Workers(WorkerConfig(str(tmp_path / "none.db"), "support.sample_tasks", GB), n, timeout_s=5.0)
        await workers.start()
        try:
            problem = "a worker process cannot open the library (a file of the library cannot be read or written)"
            with raises(WorkerError, code="file", problem=problem):
                await workers.run("echo", ONE, {})
        finally:
            await workers.stop()

    event_loop.run(run())
    (record,) = caplog.records
    assert "no such library" in record.getMessage()


def test_jobs_of_slot_that_cannot_start_go_to_others(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one of them fails, and none waits for the worker of its clip."""
    start = Worker.start
    n_starts = 0

    async def start_first_only(config: WorkerConfig) -> Worker:
        nonlocal n_starts
        n_starts += 1
        if n_starts > 1:
            raise WorkerError("no more processes")
        return await start(config)

    monkeypatch.setattr(Worker, "start", start_first_only)

    async def run() -> None:
        workers = Workers(
            WorkerConfig(location, "support.sample_tasks", 2 * GB), 2, timeout_s=20.0, affinity_wait_s=60.0
        )
        await workers.start()
        try:
            results = await asyncio.gather(*(workers.run("echo", clip, {}) for clip in (ONE, TWO) * 5))
            assert len({each.json()["pid"] for each in results}) == 1
        finally:
            await workers.stop()

    event_loop.run(run())
    assert n_starts > 1


def test_worker_exits_with_server(location: str) -> None:
    """Even during a task."""

    async def run() -> int:
        worker = await Worker.start(WorkerConfig(location, "support.sample_tasks", GB))
        request_task = asyncio.create_task(worker.request({"task": "sleep", "payload": {"s": 60}}))
        await asyncio.sleep(0.2)
        assert worker._process.stdin is not None
        worker._process.stdin.close()
        with raises(
            WorkerError, code="worker", problem="the worker process was ended by SIGKILL, possibly out of memory"
        ):
            async with asyncio.timeout(5.0):
                await request_task
        return worker.pid

    assert not is_alive(event_loop.run(run()))


@pytest.mark.parametrize("then", ["sleep", "exit"])
def test_worker_is_killed_with_children_and_files(location: str, tmp_path: Path, then: str) -> None:
    """Whether it is killed or exits by itself."""
    temp_dir, pid = tmp_path / "temporary", tmp_path / "pid"

    async def run_body(workers: Workers) -> None:
        (before,) = temp_dir.iterdir()
        assert temp_dir.stat().st_mode & 0o77 == 0
        with pytest.raises(WorkerError):
            await workers.run("start", ONE, {"pid": str(pid), "then": then, "s": 60}, timeout_s=2.0)
        until(lambda: not runs(int(pid.read_text())))
        assert not before.exists()
        assert (await workers.run("echo", ONE, {})).body
        (idle,) = temp_dir.iterdir()
        os.kill(workers.pids[0], signal.SIGKILL)  # while idle
        await asyncio.sleep(0.3)
        assert (await workers.run("echo", ONE, {})).body
        assert len(list(temp_dir.iterdir())) == 1 and not idle.exists()

    with_workers(location, run_body, temp_dir=temp_dir)
    assert list(temp_dir.iterdir()) == []


def test_children_of_worker_exit_with_server(location: str, tmp_path: Path) -> None:
    async def run() -> None:
        worker = await Worker.start(
            WorkerConfig(location, "support.sample_tasks", GB, temp_dir=str(tmp_path / "temporary"))
        )
        payload = {"pid": str(tmp_path / "pid"), "then": "sleep", "s": 60}
        request_task = asyncio.create_task(worker.request({"task": "start", "payload": payload}))
        async with asyncio.timeout(20.0):
            while not (tmp_path / "pid").exists():
                await asyncio.sleep(0.05)
        worker._kill = lambda: None  # type: ignore[method-assign]  # a dead server kills nobody
        assert worker._process.stdin is not None
        worker._process.stdin.close()
        await asyncio.gather(request_task, return_exceptions=True)

    event_loop.run(run())
    until(lambda: not runs(int((tmp_path / "pid").read_text())))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parents")
def test_subprocess_reader_exits_with_parent(tmp_path: Path) -> None:
    """Such as OpenUSD while reading a file, if the worker or command dies."""
    (tmp_path / "script.py").write_text(
        "import os, pathlib, time\nLIBRARY = 'none'\ndef read(request):\n"
        "    pathlib.Path(request['folder'], 'pid').write_text(str(os.getpid()))\n    time.sleep(60)\n"
    )
    limits = {"address_bytes": 4 * GB, "seconds": 60, "file_bytes": GB}
    request = {"script": str(tmp_path / "script.py"), "folder": str(tmp_path), **limits}
    start = f"import sys, pathlib; from keypose.formats.subprocess_readers import _run; folder = pathlib.Path({str(tmp_path)!r})"
    with subprocess.Popen(
        [sys.executable, "-c", f"{start}; _run(sys.executable, {request!r}, folder, 60.0)"]
    ) as parent:
        try:
            until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), 30.0)
            assert runs(int((tmp_path / "pid").read_text()))
        finally:
            parent.kill()
    until(lambda: not runs(int((tmp_path / "pid").read_text())))


def test_removed_temp_dir_is_created_again(location: str, tmp_path: Path) -> None:
    temp_dir, pid = tmp_path / "temporary", tmp_path / "pid"

    async def run_body(workers: Workers) -> None:
        for _ in range(2):
            assert (await workers.run("start", ONE, {"pid": str(pid), "then": "echo"})).body
            assert list(temp_dir.glob("worker-*/*/large")) and temp_dir.stat().st_mode & 0o77 == 0
            shutil.rmtree(temp_dir)

    with_workers(location, run_body, temp_dir=temp_dir)
    until(lambda: not runs(int(pid.read_text())))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others give memory back in their own ways")
def test_worker_releases_memory(run_on_worker: Callable[[Body], None]) -> None:
    async def run_body(workers: Workers) -> None:
        assert (await workers.run("measure_fragmentation", ONE, {})).json()["growth_mb"] < 50

    run_on_worker(run_body)


def test_response_waits_for_buffer_space(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "BUFFER_WAIT_S", 1.0)
    has_space = [False]

    async def run_body(workers: Workers) -> None:
        start_time = time.monotonic()
        with raises(TooManyRequests, problem="too many responses are waiting to be read"):
            await workers.run("echo", ONE, {})
        assert 0.9 < time.monotonic() - start_time < 5.0
        waiting = asyncio.create_task(workers.run("echo", ONE, {}))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        has_space[0] = True
        assert (await waiting).body

    with_workers(location, run_body, has_buffer_space=lambda: has_space[0])
