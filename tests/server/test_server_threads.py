"""Threads for what waits for the disk: only so many at once, whoever goes away meanwhile."""

from __future__ import annotations

import asyncio
import gc
import time
from typing import Any

import apart
import pytest

from keypose.server.own_folder import own_folder
from keypose.server.running import Running
from keypose.server.settings import Settings


def test_who_goes_makes_no_room_before_the_work_is_done(caplog: pytest.LogCaptureFixture) -> None:
    now, most, done = 0, 0, 0

    def work(_: Any) -> None:
        nonlocal now, most, done
        now += 1
        most = max(most, now)
        time.sleep(0.3)
        now -= 1
        done += 1
        raise ValueError("that nobody hears")

    async def run() -> None:
        with own_folder("keypose-test-") as folder:
            here = Running(Settings("none.db"), None, folder)  # type: ignore[arg-type]
            asked = here.writes
            first = asyncio.create_task(asked(work))
            await asyncio.sleep(0.1)
            others = [asyncio.create_task(asked(work)) for _ in range(3)]
            await asyncio.sleep(0.05)
            for each in (first, *others):
                each.cancel()
            await asyncio.gather(first, *others, return_exceptions=True)
            with pytest.raises(ValueError, match="nobody"):
                await asked(work)
            assert await asked(lambda _: "next") == "next"

    apart.run(run())
    gc.collect()
    assert caplog.records == []
    assert most == 1 and done == 2  # those who only waited are not worked for
