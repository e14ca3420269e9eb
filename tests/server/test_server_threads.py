"""Threads for library access: their number is limited, also after cancellations."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import Any

import pytest

from keypose.server.app_state import AppState
from keypose.server.settings import Settings
from keypose.server.temp_dirs import temp_dir
from support import event_loop


def test_cancelled_write_holds_its_thread(caplog: pytest.LogCaptureFixture) -> None:
    n_running, max_running, n_finished = 0, 0, 0

    def work(_: Any) -> None:
        nonlocal n_running, max_running, n_finished
        n_running += 1
        max_running = max(max_running, n_running)
        time.sleep(0.3)
        n_running -= 1
        n_finished += 1
        raise ValueError("that nobody hears")

    async def run() -> None:
        with temp_dir("keypose-test-") as folder:
            state = AppState(Settings("none.db"), None, folder)  # type: ignore[arg-type]
            run_write = state.run_write
            first = asyncio.create_task(run_write(work))
            await asyncio.sleep(0.1)
            others = [asyncio.create_task(run_write(work)) for _ in range(3)]
            await asyncio.sleep(0.05)
            for each in (first, *others):
                each.cancel()
            await asyncio.gather(first, *others, return_exceptions=True)
            with pytest.raises(ValueError, match="nobody"):
                await run_write(work)
            assert await run_write(lambda _: "next") == "next"

    event_loop.run(run())
    gc.collect()
    assert caplog.records == []
    assert max_running == 1 and n_finished == 2  # cancelled while waiting: never run
