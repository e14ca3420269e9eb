"""Processes that compute: they may be slow, grow large, or die."""

from __future__ import annotations

import asyncio
import json
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

import apart
import pytest
from server_live import is_alive, runs, until

import keypose as kp
from keypose.server.failing import TaskError, TooMuchAsked, WorkerError, status_of
from keypose.server.work import pool
from keypose.server.work.kept import Kept
from keypose.server.work.pool import PATIENCE_S, Workers
from keypose.server.work.process import How, Worker

Do = Callable[[Workers], Coroutine[Any, Any, None]]
GB = 1 << 30
ONE, TWO = "0" * 64, "1".rjust(8, "0") + "0" * 56  # of different homes where there are two workers


@pytest.fixture(scope="module")
def where(kept_library: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent))  # workers import the tasks
        yield str(kept_library / "clips.db")


@asynccontextmanager
async def started(where: str, n: int = 1, folder: Path | None = None, **options: Any) -> AsyncIterator[Workers]:
    """Workers, which are gone then."""
    how = How(where, "server_tasks", 2 * GB, folder=None if folder is None else str(folder))
    workers = Workers(how, n, **{"time_s": 20.0, **options})
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
def shared(where: str) -> Iterator[Callable[[Do], None]]:
    """One worker for many tests."""
    with apart.Loop() as runner:
        kept = started(where)
        workers = runner.run(kept.__aenter__())
        yield lambda do: runner.run(do(workers))
        runner.run(kept.__aexit__(None, None, None))


def with_workers(where: str, do: Do, n: int = 1, **options: Any) -> None:
    """Runs something with workers of its own."""

    async def run() -> None:
        async with started(where, n, **options) as workers:
            await do(workers)

    apart.run(run())


def test_answers_and_errors_travel(shared: Callable[[Do], None]) -> None:
    async def ask(workers: Workers) -> None:
        answer = await workers.run("say", ONE, {"text": "ü<\u2028"})
        assert json.loads(answer.body)["text"] == "ü<\u2028" and answer.headers == {"X-Said": "yes"}
        assert len((await workers.run("large", ONE, {"bytes": 9_000_000})).body) == 9_000_000
        assert json.loads((await workers.run("chatter", ONE, {"k": 1})).body)["k"] == 1
        for kind, status in {
            "FormatError": 422, "LimitError": 413, "MissingExtra": 501, "OptionError": 400, "UnknownJoint": 400,
            "Damaged": 500,
        }.items():  # fmt: skip
            with pytest.raises(TaskError) as caught:
                await workers.run("fail", ONE, {"kind": kind})
            problem = caught.value.problem
            assert problem.kind == kind and status_of(problem) == status and "/secret" not in problem.message
            if kind == "FormatError":
                assert (problem.message, problem.line) == ("walk.bvh:41: 5 channels", 41)
            if kind == "MissingExtra":
                assert problem.remedy is not None and "pip install 'keypose[usd]'" in problem.remedy
        with pytest.raises(TaskError) as caught:
            await workers.run("fail", ONE, {"kind": "bug"})
        assert status_of(caught.value.problem) == 500 and "secret" not in str(caught.value.problem)

    shared(ask)


def test_motions_come_by_hash_and_stay(where: str, shared: Callable[[Do], None]) -> None:
    with kp.Library(where) as library:
        clip = library.clip("walk")

    async def ask(workers: Workers) -> None:
        answer = await workers.run("motion", clip.hash, {"clip": clip.hash})
        assert json.loads(answer.body) == {"frames": clip.n_frames, "name": "walk", "same": True}
        for other in ("0" * 64, "walk"):  # names are no hashes
            with pytest.raises(TaskError) as caught:
                await workers.run("motion", ONE, {"clip": other})
            assert status_of(caught.value.problem) == 404

    shared(ask)


@pytest.mark.parametrize(("task", "how"), [("crash", "SIGSEGV"), ("leave", "exit code 3")])
def test_a_worker_that_dies_costs_one_request(shared: Callable[[Do], None], task: str, how: str) -> None:
    async def ask(workers: Workers) -> None:
        with pytest.raises(WorkerError, match=how):
            await workers.run(task, ONE, {})
        assert (await workers.run("say", ONE, {})).body
        for pid in workers.pids:  # one that dies while it has nothing to do costs none
            os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.3)
        assert (await workers.run("say", ONE, {})).body

    shared(ask)


def test_a_worker_has_only_so_much_time(shared: Callable[[Do], None]) -> None:
    async def ask(workers: Workers) -> None:
        (before,) = workers.pids
        began = time.monotonic()
        with pytest.raises(WorkerError, match=r"longer than 0\.5 s"):
            await workers.run("sleep", ONE, {"s": 60}, time_s=0.5)
        assert time.monotonic() - began < 5.0 and not is_alive(before)
        assert (await workers.run("say", ONE, {})).body

    shared(ask)


def test_a_worker_has_only_so_much_memory(shared: Callable[[Do], None]) -> None:
    async def ask(workers: Workers) -> None:
        (before,) = workers.pids
        with pytest.raises(TaskError) as caught:
            await workers.run("grow", ONE, {"bytes": 3 * GB})
        assert status_of(caught.value.problem) == 503 and "memory" in caught.value.problem.message
        assert (await workers.run("say", ONE, {})).body and workers.pids == (before,)

    shared(ask)


def test_clips_have_a_home_that_is_not_waited_for_too_long(where: str) -> None:
    async def pid(workers: Workers, clip: str, s: float = 0.0) -> int:
        return int(json.loads((await workers.run("sleep", clip, {"s": s})).body)["pid"])

    async def ask(workers: Workers) -> None:
        first, second = await pid(workers, ONE), await pid(workers, TWO)
        assert first != second
        assert {await pid(workers, ONE) for _ in range(5)} == {first}
        slow = asyncio.create_task(pid(workers, ONE, 2.0))
        await asyncio.sleep(0.1)
        began = time.monotonic()
        assert await pid(workers, ONE) == second
        assert PATIENCE_S * 0.5 < time.monotonic() - began < 1.5
        assert await slow == first

    with_workers(where, ask, 2)


def test_nobody_waits_in_an_endless_queue_and_who_goes_leaves_it(where: str) -> None:
    async def ask(workers: Workers) -> None:
        running = asyncio.create_task(workers.run("sleep", ONE, {"s": 1.0}))
        await asyncio.sleep(0.1)
        waiting = [asyncio.create_task(workers.run("sleep", ONE, {"s": 30.0})) for _ in range(3)]
        await asyncio.sleep(0.1)
        with pytest.raises(TooMuchAsked):
            await workers.run("say", ONE, {})
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        began = time.monotonic()
        assert (await running).body and (await workers.run("say", ONE, {})).body
        assert time.monotonic() - began < 5.0

    with_workers(where, ask, most_waiting=3)


def test_work_that_nobody_waits_for_is_ended_if_it_is_long(where: str) -> None:
    async def ask(workers: Workers) -> None:
        (before,) = workers.pids
        for s, stays in ((0.3, True), (30.0, False)):
            gone = asyncio.create_task(workers.run("sleep", ONE, {"s": s}))
            await asyncio.sleep(0.1)
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)
            assert (await workers.run("say", ONE, {})).body
            assert (workers.pids == (before,)) is stays

    with_workers(where, ask, grace_s=1.0)


def test_workers_that_cannot_start_say_so(tmp_path: Path) -> None:
    async def run() -> None:
        workers = Workers(How(str(tmp_path / "none.db"), "server_tasks", GB), 1, time_s=5.0)
        await workers.start()
        try:
            with pytest.raises(WorkerError, match="exit code 1"):
                await workers.run("say", ONE, {})
        finally:
            await workers.stop()

    apart.run(run())


def test_a_worker_leaves_when_the_server_is_gone(where: str) -> None:
    """Even in the middle of its work."""

    async def run() -> int:
        worker = await Worker.start(How(where, "server_tasks", GB))
        asked = asyncio.create_task(worker.ask({"task": "sleep", "told": {"s": 60}}))
        await asyncio.sleep(0.2)
        assert worker._process.stdin is not None
        worker._process.stdin.close()
        with pytest.raises(WorkerError, match="SIGKILL"):
            async with asyncio.timeout(5.0):
                await asked
        return worker.pid

    assert not is_alive(apart.run(run()))


@pytest.mark.parametrize("then", ["sleep", "leave"])
def test_a_worker_ends_with_all_that_it_started_and_its_files(where: str, tmp_path: Path, then: str) -> None:
    """Whether it is ended or dies by itself."""
    folder, pid = tmp_path / "temporary", tmp_path / "pid"

    async def ask(workers: Workers) -> None:
        (before,) = folder.iterdir()
        assert folder.stat().st_mode & 0o77 == 0
        with pytest.raises(WorkerError):
            await workers.run("start", ONE, {"pid": str(pid), "then": then, "s": 60}, time_s=2.0)
        until(lambda: not runs(int(pid.read_text())))
        assert not before.exists()
        assert (await workers.run("say", ONE, {})).body
        (idle,) = folder.iterdir()
        os.kill(workers.pids[0], signal.SIGKILL)  # while it has nothing to do
        await asyncio.sleep(0.3)
        assert (await workers.run("say", ONE, {})).body
        assert len(list(folder.iterdir())) == 1 and not idle.exists()

    with_workers(where, ask, folder=folder)
    assert list(folder.iterdir()) == []


def test_what_a_worker_started_leaves_when_the_server_is_gone(where: str, tmp_path: Path) -> None:
    async def run() -> None:
        worker = await Worker.start(How(where, "server_tasks", GB, folder=str(tmp_path / "temporary")))
        told = {"pid": str(tmp_path / "pid"), "then": "sleep", "s": 60}
        asked = asyncio.create_task(worker.ask({"task": "start", "told": told}))
        async with asyncio.timeout(20.0):
            while not (tmp_path / "pid").exists():
                await asyncio.sleep(0.05)
        worker._kill = lambda: None  # type: ignore[method-assign]  # a server that is gone ends nobody
        assert worker._process.stdin is not None
        worker._process.stdin.close()
        await asyncio.gather(asked, return_exceptions=True)

    apart.run(run())
    until(lambda: not runs(int((tmp_path / "pid").read_text())))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parents")
def test_a_reader_leaves_with_the_process_that_started_it(tmp_path: Path) -> None:
    """OpenUSD, say, in the middle of a file: even if a worker dies by itself, or a command is killed."""
    (tmp_path / "script.py").write_text(
        "import os, pathlib, time\nLIBRARY = 'none'\ndef read(request):\n"
        "    pathlib.Path(request['folder'], 'pid').write_text(str(os.getpid()))\n    time.sleep(60)\n"
    )
    limits = {"address_bytes": 4 * GB, "seconds": 60, "file_bytes": GB}
    request = {"script": str(tmp_path / "script.py"), "folder": str(tmp_path), **limits}
    start = f"import sys, pathlib; from keypose.formats.child import _run; folder = pathlib.Path({str(tmp_path)!r})"
    with subprocess.Popen(
        [sys.executable, "-c", f"{start}; _run(sys.executable, {request!r}, folder, 60.0)"]
    ) as parent:
        try:
            until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), 30.0)
            assert runs(int((tmp_path / "pid").read_text()))
        finally:
            parent.kill()
    until(lambda: not runs(int((tmp_path / "pid").read_text())))


def test_temporary_files_have_a_place_though_somebody_removed_it(where: str, tmp_path: Path) -> None:
    folder, pid = tmp_path / "temporary", tmp_path / "pid"

    async def ask(workers: Workers) -> None:
        for _ in range(2):
            assert (await workers.run("start", ONE, {"pid": str(pid), "then": "say"})).body
            assert list(folder.glob("worker-*/*/large")) and folder.stat().st_mode & 0o77 == 0
            shutil.rmtree(folder)

    with_workers(where, ask, folder=folder)
    until(lambda: not runs(int(pid.read_text())))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others give memory back in their own ways")
def test_a_worker_gives_memory_back(shared: Callable[[Do], None]) -> None:
    async def ask(workers: Workers) -> None:
        assert json.loads((await workers.run("cling", ONE, {})).body)["more"] < 50

    shared(ask)


def test_an_answer_waits_until_there_is_room_for_it(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "ROOM_S", 1.0)
    room = [False]

    async def ask(workers: Workers) -> None:
        began = time.monotonic()
        with pytest.raises(TooMuchAsked, match="not been read"):
            await workers.run("say", ONE, {})
        assert 0.9 < time.monotonic() - began < 5.0
        waiting = asyncio.create_task(workers.run("say", ONE, {}))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        room[0] = True
        assert (await waiting).body

    with_workers(where, ask, has_room=lambda: room[0])


def test_what_is_kept_fits() -> None:
    kept = Kept(most_bytes=100_000, most=4)
    for k in range(10):
        kept[k] = bytes(20_000)
    assert list(kept) == [6, 7, 8, 9] and kept.of(6, lambda: b"") == bytes(20_000)
    kept["new"] = [bytearray(20_000)]
    assert list(kept) == [8, 9, 6, "new"]
    kept["new"][0].extend(bytes(70_000))  # things may grow
    kept.trim()
    assert list(kept) == ["new"] and kept.bytes < 100_000
    for k in range(10):
        kept[k] = k
    assert list(kept) == [6, 7, 8, 9]  # small, but there are only so many
