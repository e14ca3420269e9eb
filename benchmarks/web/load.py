"""Load test: 32 concurrent uploads, repeated, with 64 searches a second over 2,500 clips; samples memory.

    .venv/bin/python -m benchmarks.web.load [minutes]

Searches are sent on schedule, whether others are answered or not, so that a slow response does not delay others. Of 64,
40 are by a whole clip, 16 by text, 6 by a pose and 2 by a part. When all 32 files of a round are uploaded, their clips
are moved to the trash and the next round begins, so that the library stays at 2,500 clips. Poses are those of the
labelled clips, which are in the library with their bytes, since a pose is read from them.
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
from benchmarks.search.clips import labelled_clips
from benchmarks.search.speed import fill_library
from benchmarks.web.clips import write_cuts
from benchmarks.web.memory import memory_mb
from tests.support.server_process import ServerInfo, run_server

import keypose as kp
from keypose.library.library import Library

MINUTES = 10.0
SEARCHES_PER_S = 64
N_UPLOADS = 32
UPLOAD_FRAMES = 1000
SAMPLE_S = 2.0
READY_S = 5.0
WARM_S = 60.0  # time in which caches fill and pools reach their size
KINDS = ("whole",) * 40 + ("text",) * 16 + ("pose",) * 6 + ("part",) * 2
SEED = 1


@dataclass
class LoadResult:
    """Response times, statuses and memory of a run."""

    search_ms: dict[str, list[float]] = field(default_factory=dict)
    upload_s: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    memory_mb: list[tuple[float, float]] = field(default_factory=list)  # seconds since the start, MB of all processes
    late_ms: list[float] = field(default_factory=list)  # delay of this program against the schedule


@dataclass(frozen=True)
class QueryClips:
    """Hashes of the clips used as queries."""

    all: list[str]
    with_bytes: list[str]

    def choose(self, kind: str, rng: random.Random) -> str:
        return rng.choice(self.with_bytes if kind == "pose" else self.all)


def run(minutes: float = MINUTES) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "clips.db"
        with Library(path) as library_to_fill:
            fill_library(library_to_fill._store)
        with kp.Library(path) as clip_library:
            hashes = [clip.hash for clip in clip_library.clips() if clip.duration_s > 3.0]
            pose_hashes = [clip_library.add(clip.path, name=f"{clip.name} whole").hash for clip in labelled_clips()]
            print(f"   {clip_library.stats().clips} clips")
        files = write_cuts(Path(folder), UPLOAD_FRAMES, N_UPLOADS)
        with run_server(path) as server:
            result = asyncio.run(_run_load(server, QueryClips(hashes, pose_hashes), files, 60.0 * minutes))
    return _figures(result)


async def _run_load(server: ServerInfo, query_clips: QueryClips, files: list[Path], duration_s: float) -> LoadResult:
    import httpx

    result = LoadResult()
    limits = httpx.Limits(max_connections=512, max_keepalive_connections=64)
    client_options: dict[str, Any] = {
        "base_url": server.origin,
        "headers": {"Authorization": f"Bearer {server.token}"},
        "timeout": 120.0,
        "limits": limits,
    }
    async with (
        httpx.AsyncClient(**client_options) as search_client,
        httpx.AsyncClient(**client_options) as upload_client,
    ):
        for kind in dict.fromkeys(KINDS):  # as the first search of each kind loads the index
            await _search(search_client, kind, query_clips.choose(kind, random.Random(SEED)), LoadResult())
        await asyncio.sleep(READY_S)  # while other processes of the server load it
        start = time.monotonic()
        jobs = (
            _run_searches(search_client, query_clips, result, start, duration_s),
            _run_uploads(upload_client, files, result, start, duration_s),
            _sample_memory(server.pid, result, start, duration_s),
        )
        await asyncio.gather(*jobs)
    return result


async def _run_searches(
    client: Any, query_clips: QueryClips, result: LoadResult, start: float, duration_s: float
) -> None:
    rng = random.Random(SEED)
    tasks: set[asyncio.Task[None]] = set()
    for k in range(int(duration_s * SEARCHES_PER_S)):
        due = start + k / SEARCHES_PER_S
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        result.late_ms.append(1e3 * (time.monotonic() - due))
        kind = rng.choice(KINDS)
        task = asyncio.create_task(_search(client, kind, query_clips.choose(kind, rng), result))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.gather(*tasks)


async def _search(client: Any, kind: str, digest: str, result: LoadResult) -> None:
    start = time.monotonic()
    if kind == "text":
        await send_request(client, result, "search", "GET", "/api/clips", params={"text": "13 mirrored", "limit": 20})
    else:
        span = {"whole": {}, "pose": {"frame": 30}, "part": {"start": 10, "end": 70}}[kind]
        await send_request(client, result, "search", "POST", "/api/search", json={"clip": digest, "limit": 20, **span})
    result.search_ms.setdefault(kind, []).append(1e3 * (time.monotonic() - start))


async def send_request(client: Any, result: LoadResult, name: str, *request: str, **options: Any) -> Any:
    """Return the JSON of a response; None if the connection failed or the status is not 2xx."""
    import httpx

    try:
        response = await client.request(*request, **options)
    except httpx.TransportError as error:
        result.statuses[f"{name} {type(error).__name__}"] += 1
        return None
    result.statuses[f"{name} {response.status_code}"] += 1
    return response.json() if response.is_success else None


async def _run_uploads(client: Any, files: list[Path], result: LoadResult, start: float, duration_s: float) -> None:
    contents = [file.read_bytes() for file in files]
    round_ = 0
    while time.monotonic() - start < duration_s:
        comment = b"\n" * round_  # different bytes, so that no clip is a duplicate
        uploads = [
            _upload(client, file.name, data + comment, result) for file, data in zip(files, contents, strict=True)
        ]
        hashes = [digest for digest in await asyncio.gather(*uploads) if digest]
        await send_request(client, result, "trash", "POST", "/api/trash", json={"clips": hashes})
        round_ += 1


async def _upload(client: Any, name: str, data: bytes, result: LoadResult) -> str:
    start = time.monotonic()
    binary = {"Content-Type": "application/octet-stream"}
    options = {"params": {"name": name}, "content": data, "headers": binary}
    payload = await send_request(client, result, "upload", "POST", "/api/uploads", **options)
    result.upload_s.append(time.monotonic() - start)
    return "" if payload is None else str(payload["clip"]["hash"])


async def _sample_memory(pid: int, result: LoadResult, start: float, duration_s: float) -> None:
    while (elapsed_s := time.monotonic() - start) < duration_s:
        result.memory_mb.append((elapsed_s, await asyncio.to_thread(memory_mb, pid)))
        await asyncio.sleep(SAMPLE_S)


def _figures(result: LoadResult) -> dict[str, float]:
    search_ms = np.array([ms for kind in result.search_ms.values() for ms in kind])
    times, memory = np.array(result.memory_mb).T
    is_warm = times >= min(WARM_S, times[-1] / 2)
    growth = float(np.polyfit(times[is_warm] / 60, memory[is_warm], 1)[0])
    failed_requests = sum(count for status, count in result.statuses.items() if not status.split()[1].startswith("2"))
    print(f"   {len(search_ms)} searches, 99 % within {np.percentile(search_ms, 99):.0f} ms, "
          f"the slowest {search_ms.max():.0f} ms; asked at most {max(result.late_ms):.0f} ms late")  # fmt: skip
    for kind, ms in result.search_ms.items():
        print(f"      {kind:<6} {np.median(ms):6.0f} ms, 99 % within {np.percentile(ms, 99):.0f}")
    print(f"   {len(result.upload_s)} uploads of {UPLOAD_FRAMES} frames, {N_UPLOADS} at once: "
          f"{np.median(result.upload_s):.1f} s each, {len(result.upload_s) / times[-1]:.1f} a second")  # fmt: skip
    print(f"   memory of all processes {memory[is_warm][0]:.0f} MB, at the end {memory[-1]:.0f} MB, at most "
          f"{memory.max():.0f} MB: {growth:+.1f} MB a minute")  # fmt: skip
    print(f"   answers: {dict(sorted(result.statuses.items()))}")
    return {
        "search_99_ms": float(np.percentile(search_ms, 99)),
        "failed_requests": float(failed_requests),
        "memory_growth_mb_per_minute": growth,
        "memory_end_over_start": float(memory[-15:].mean() / memory[is_warm][:15].mean()),
    }


if __name__ == "__main__":
    run(float(sys.argv[1]) if len(sys.argv) > 1 else MINUTES)
