"""Search workers and the priority of upload workers."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.server.error_responses import TaskError
from keypose.server.schema.clips import HitRow
from keypose.server.workers.pool import Workers
from keypose.server.workers.process import SEARCH_TASKS, UPLOAD_TASKS, Worker, WorkerConfig
from support import event_loop
from support.errors import raises

GB = 1 << 30
AUTOGROUP = Path("/proc/self/autogroup")


def search_payload(clip: str, **more: Any) -> dict[str, Any]:
    return {"request": {"clip": clip, "limit": 9, **more}, "pose": None}


def test_search_worker_matches_library(library_template: Path, walk: str) -> None:
    location = str(library_template / "clips.db")

    async def run() -> list[dict[str, Any]]:
        worker = await Worker.start(WorkerConfig(location, SEARCH_TASKS, 4 * GB))
        try:
            headers = [
                {"task": "search", "payload": payload}
                for payload in (search_payload(walk, joints=["legs"]), search_payload(walk, start=5, end=40))
            ]
            return [json.loads((await worker.request(header))[1]) for header in headers]
        finally:
            await worker.stop()

    clip_result, span_result = event_loop.run(run())
    with kp.Library(location) as library:
        for result, expected in (
            (clip_result, library.search(walk, joints=["legs"], limit=10)),
            (span_result, library.search_part(walk, 5, 40, limit=10)),
        ):
            assert (
                result["hits"] == [HitRow.model_validate(each).model_dump(mode="json") for each in expected[:9]] != []
            )
            assert result["has_more"] == (len(expected) > 9)


def test_any_searcher_serves_any_clip(library_template: Path, walk: str) -> None:
    """No affinity: both searchers hold every clip."""
    location = str(library_template / "clips.db")

    async def run() -> None:
        searchers = Workers(WorkerConfig(location, SEARCH_TASKS, 4 * GB), 2, timeout_s=30.0, affinity_wait_s=0.0)
        await searchers.start()
        try:
            results = await asyncio.gather(*(searchers.run("search", walk, search_payload(walk)) for _ in range(12)))
            assert len({json.dumps(each.json()["hits"]) for each in results}) == 1
            with raises(TaskError, code="unknown_clip"):
                await searchers.run("search", "0" * 64, search_payload("0" * 64))
        finally:
            await searchers.stop()

    event_loop.run(run())


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel shares its cores between processes alone")
def test_upload_workers_have_low_priority(library_template: Path) -> None:
    """Also if the kernel schedules by session (autogroup)."""

    async def run() -> None:
        worker = await Worker.start(WorkerConfig(str(library_template / "clips.db"), UPLOAD_TASKS, 4 * GB, niceness=10))
        try:
            assert os.getpriority(os.PRIO_PROCESS, worker.pid) == os.getpriority(os.PRIO_PROCESS, 0) + 10
            assert Path(f"/proc/{worker.pid}/autogroup").read_text().strip().endswith("nice 10")
        finally:
            await worker.stop()

    event_loop.run(run())
