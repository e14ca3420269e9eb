"""32 uploads at once, again and again, while 64 searches a second arrive over 2,500 clips; memory meanwhile.

    .venv/bin/python -m benchmarks.web.crowd [minutes]

Searches come at their time whether others are answered or not, so that a slow answer delays none of the next. Of 64
there are 40 by a whole clip, 16 by words, 6 by a pose and 2 by a part. As soon as all 32 files of a round are in, their
clips are removed for good and the next round begins: the library stays at 2,500 and neither side ever rests. Poses are
those of the labelled clips, which are in the library with their bytes, since a pose is read from them.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.search.clips import labelled
from benchmarks.search.speed import build
from benchmarks.web.clips import cuts
from benchmarks.web.memory import megabytes
from tests.serving import Served, serving

import keypose as kp
from keypose.library.library import Library

MINUTES = 10.0
SEARCHES_PER_S = 64
UPLOADS_AT_ONCE = 32
UPLOAD_FRAMES = 1000
SAMPLE_S = 2.0
READY_S = 5.0
WARM_S = 60.0  # caches fill and pools reach their size
KINDS = ("whole",) * 40 + ("words",) * 16 + ("pose",) * 6 + ("part",) * 2
SEED = 1


@dataclass
class Seen:
    """What came back."""

    search_ms: dict[str, list[float]] = field(default_factory=dict)
    upload_s: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    memory_mb: list[tuple[float, float]] = field(default_factory=list)  # seconds since the start, all processes
    late_ms: list[float] = field(default_factory=list)  # how late this program itself was


@dataclass(frozen=True)
class _Asked:
    """Clips that are asked for, by hash."""

    all: list[str]
    with_bytes: list[str]

    def clip(self, kind: str, chance: random.Random) -> str:
        return chance.choice(self.with_bytes if kind == "pose" else self.all)


def run(minutes: float = MINUTES) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "clips.db"
        with Library(library) as filling:
            build(filling._store)
        with kp.Library(library) as opened:
            hashes = [clip.hash for clip in opened.clips() if clip.duration_s > 3.0]
            posed = [opened.add(clip.path, name=f"{clip.name} whole").hash for clip in labelled()]
            print(f"   {opened.stats().clips} clips")
        files = cuts(Path(folder), UPLOAD_FRAMES, UPLOADS_AT_ONCE)
        with serving(library) as served:
            seen = asyncio.run(_crowd(served, _Asked(hashes, posed), files, 60.0 * minutes))
    return _figures(seen)


async def _crowd(served: Served, asked: _Asked, files: list[Path], for_s: float) -> Seen:
    import httpx

    seen = Seen()
    limits = httpx.Limits(max_connections=512, max_keepalive_connections=64)
    asking: dict[str, Any] = {
        "base_url": served.origin,
        "headers": {"Authorization": f"Bearer {served.token}"},
        "timeout": 120.0,
        "limits": limits,
    }
    async with httpx.AsyncClient(**asking) as searching, httpx.AsyncClient(**asking) as uploading:
        for kind in dict.fromkeys(KINDS):  # the first of a kind reads the library
            await _search(searching, kind, asked.clip(kind, random.Random(SEED)), Seen())
        await asyncio.sleep(READY_S)  # other processes of the server read it as well
        start = time.monotonic()
        jobs = (
            _searches(searching, asked, seen, start, for_s),
            _uploads(uploading, files, seen, start, for_s),
            _memory(served.pid, seen, start, for_s),
        )
        await asyncio.gather(*jobs)
    return seen


async def _searches(client: Any, asked: _Asked, seen: Seen, start: float, for_s: float) -> None:
    chance = random.Random(SEED)
    under_way: set[asyncio.Task[None]] = set()
    for k in range(int(for_s * SEARCHES_PER_S)):
        due = start + k / SEARCHES_PER_S
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        seen.late_ms.append(1e3 * (time.monotonic() - due))
        kind = chance.choice(KINDS)
        task = asyncio.create_task(_search(client, kind, asked.clip(kind, chance), seen))
        under_way.add(task)
        task.add_done_callback(under_way.discard)
    await asyncio.gather(*under_way)


async def _search(client: Any, kind: str, digest: str, seen: Seen) -> None:
    began = time.monotonic()
    if kind == "words":
        await _asked(client, seen, "search", "GET", "/api/clips", params={"words": "13 mirrored", "limit": 20})
    else:
        where = {"whole": {}, "pose": {"frame": 30}, "part": {"start": 10, "end": 70}}[kind]
        await _asked(client, seen, "search", "POST", "/api/search", json={"clip": digest, "limit": 20, **where})
    seen.search_ms.setdefault(kind, []).append(1e3 * (time.monotonic() - began))


async def _asked(client: Any, seen: Seen, what: str, *request: str, **more: Any) -> Any:
    """The JSON of an answer; None where there was none, or one that is a fault."""
    import httpx

    try:
        answer = await client.request(*request, **more)
    except httpx.TransportError as error:
        seen.statuses[f"{what} {type(error).__name__}"] += 1
        return None
    seen.statuses[f"{what} {answer.status_code}"] += 1
    return answer.json() if answer.is_success else None


async def _uploads(client: Any, files: list[Path], seen: Seen, start: float, for_s: float) -> None:
    contents = [file.read_bytes() for file in files]
    round_ = 0
    while time.monotonic() - start < for_s:
        comment = b"\n" * round_  # other bytes, so that no clip is known already
        sent = [_upload(client, file.name, data + comment, seen) for file, data in zip(files, contents, strict=True)]
        added = [digest for digest in await asyncio.gather(*sent) if digest]
        await _asked(client, seen, "remove", "POST", "/api/clips/remove", json={"clips": added})
        round_ += 1


async def _upload(client: Any, name: str, data: bytes, seen: Seen) -> str:
    began = time.monotonic()
    binary = {"Content-Type": "application/octet-stream"}
    sending = {"params": {"name": name}, "content": data, "headers": binary}
    answer = await _asked(client, seen, "upload", "POST", "/api/uploads", **sending)
    seen.upload_s.append(time.monotonic() - began)
    return "" if answer is None else str(answer["clip"]["hash"])


async def _memory(pid: int, seen: Seen, start: float, for_s: float) -> None:
    while (at := time.monotonic() - start) < for_s:
        seen.memory_mb.append((at, await asyncio.to_thread(megabytes, pid)))
        await asyncio.sleep(SAMPLE_S)


def _figures(seen: Seen) -> dict[str, float]:
    every = np.array([ms for kind in seen.search_ms.values() for ms in kind])
    times, memory = np.array(seen.memory_mb).T
    warm = times >= min(WARM_S, times[-1] / 2)
    growth = float(np.polyfit(times[warm] / 60, memory[warm], 1)[0])
    faults = sum(count for said, count in seen.statuses.items() if not said.split()[1].startswith("2"))
    print(f"   {len(every)} searches, 99 % within {np.percentile(every, 99):.0f} ms, the slowest {every.max():.0f} ms; "
          f"asked at most {max(seen.late_ms):.0f} ms late")  # fmt: skip
    for kind, ms in seen.search_ms.items():
        print(f"      {kind:<6} {np.median(ms):6.0f} ms, 99 % within {np.percentile(ms, 99):.0f}")
    print(f"   {len(seen.upload_s)} uploads of {UPLOAD_FRAMES} frames, {UPLOADS_AT_ONCE} at once: "
          f"{np.median(seen.upload_s):.1f} s each, {len(seen.upload_s) / times[-1]:.1f} a second")  # fmt: skip
    print(f"   memory of all processes {memory[warm][0]:.0f} MB, at the end {memory[-1]:.0f} MB, at most "
          f"{memory.max():.0f} MB: {growth:+.1f} MB a minute")  # fmt: skip
    print(f"   answers: {dict(sorted(seen.statuses.items()))}")
    return {
        "search_99_ms": float(np.percentile(every, 99)),
        "faults": float(faults),
        "memory_growth_mb_per_minute": growth,
        "memory_end_over_start": float(memory[-15:].mean() / memory[warm][:15].mean()),
    }


if __name__ == "__main__":
    run(float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES)
