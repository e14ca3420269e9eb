"""Processes that search: ready before they are asked, several at once, and behind nobody's uploads."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import apart
import pytest

import keypose as kp
from keypose.server.failing import TaskError
from keypose.server.rows import hit
from keypose.server.work.pool import Workers
from keypose.server.work.process import SEARCHES, UPLOADS, How, Worker

GB = 1 << 30
AUTOGROUP = Path("/proc/self/autogroup")


def asked(clip: str, **more: Any) -> dict[str, Any]:
    return {"wish": {"clip": clip, "limit": 9, **more}, "pose": None}


def test_a_searcher_answers_as_the_library_does(kept_library: Path, walk: str) -> None:
    where = str(kept_library / "clips.db")

    async def run() -> list[dict[str, Any]]:
        worker = await Worker.start(How(where, SEARCHES, 4 * GB))
        try:
            heads = [{"task": "search", "told": told} for told in (asked(walk), asked(walk, start=5, end=40))]
            return [json.loads((await worker.ask(head))[1]) for head in heads]
        finally:
            await worker.end()

    whole, part = apart.run(run())
    with kp.Library(where) as library:
        for found, expected in (
            (whole, library.search(walk, limit=10)),
            (part, library.search_part(walk, 5, 40, limit=10)),
        ):
            assert found["hits"] == [hit(each).model_dump(mode="json") for each in expected[:9]] != []
            assert found["more"] == (len(expected) > 9)


def test_searches_go_to_whoever_is_free(kept_library: Path, walk: str) -> None:
    """Both know every clip, so none waits for the other."""
    where = str(kept_library / "clips.db")

    async def run() -> None:
        searchers = Workers(How(where, SEARCHES, 4 * GB), 2, time_s=30.0, patience_s=0.0)
        await searchers.start()
        try:
            answers = await asyncio.gather(*(searchers.run("search", walk, asked(walk)) for _ in range(12)))
            assert len({json.dumps(json.loads(each.body)["hits"]) for each in answers}) == 1
            with pytest.raises(TaskError, match=r"no clip|no such"):
                await searchers.run("search", "0" * 64, asked("0" * 64))
        finally:
            await searchers.stop()

    apart.run(run())


@pytest.mark.skipif(not AUTOGROUP.exists(), reason="this kernel shares its cores between processes alone")
def test_who_analyses_uploads_lets_others_go_first(kept_library: Path) -> None:
    """Also where the kernel shares its cores between sessions before it looks at processes."""

    async def run() -> None:
        worker = await Worker.start(How(str(kept_library / "clips.db"), UPLOADS, 4 * GB, niceness=10))
        try:
            assert os.getpriority(os.PRIO_PROCESS, worker.pid) == os.getpriority(os.PRIO_PROCESS, 0) + 10
            assert Path(f"/proc/{worker.pid}/autogroup").read_text().strip().endswith("nice 10")
        finally:
            await worker.end()

    apart.run(run())
