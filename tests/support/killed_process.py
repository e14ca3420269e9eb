"""A program that changes a library and is killed (SIGKILL) at the n-th moment, for every n until it completes.

Moments are all calls that open, rename, link or remove a file, and the time before and after each statement and commit.
Run as ``python killed_process.py FOLDER SCENARIO STEP SERVER CLIP...``; prints one line of JSON per run. It is one
process that forks, as importing everything for each run would take minutes. SERVER is empty for SQLite, or the URL of a
schema of PostgreSQL, to which a number is appended for each run; then the library is created before moments are
counted.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from keypose.library.extra import sa
from keypose.library.ingest import run
from keypose.library.library import Library
from keypose.library.records import IngestProgress

AUDITED = {"open", "os.rename", "os.link", "os.remove", "os.mkdir"}


class Death:
    """Counts moments and kills this process at one of them."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.moments = 0

    def __call__(self, *_: object, **__: object) -> None:
        self.moments += 1
        if self.moments == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


def watch(death: Death) -> None:
    sys.addaudithook(lambda event, _: death() if event in AUDITED else None)
    for moment in ("before_cursor_execute", "after_cursor_execute", "commit"):
        sa.event.listen(sa.Engine, moment, death)


def open_library(folder: Path, server: str) -> Library:
    """Open the library of one run."""
    return Library(f"{server}{folder.name}", blobs=folder / "blobs") if server else Library(folder / "clips.db")


def change_library(library: Library, clips: list[str], report: int) -> None:
    """Add every clip, tag it, remove the first; report each completed change."""
    with library:
        for clip in clips:
            os.write(report, f"added {library.add(clip).hash}\n".encode())
        os.write(report, f"tagged {library.tag(Path(clips[1]).stem, 'kept').hash}\n".encode())
        os.write(report, f"removed {library.remove(Path(clips[0]).stem).hash}\n".encode())


def ingest_clips(library: Library, clips: list[str], report: int) -> None:
    """Add all clips at once, written two at a time; report each one on progress."""

    def report_clip(progress: IngestProgress) -> None:
        assert progress.clip is not None, progress.message
        os.write(report, f"added {progress.clip.hash}\n".encode())

    run.MAX_BATCH_CLIPS = 2
    with library:
        library.add(clips, jobs=1, tags=("kept",), on_progress=report_clip)


SCENARIOS = {"changes": change_library, "ingests": ingest_clips}


def die_once(folder: Path, scenario: str, server: str, clips: list[str], at: int) -> tuple[list[str], bool]:
    """Return what was reported before the kill at moment ``at``, and whether the process was killed."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        if server:
            open_library(folder, server).close()
        watch(Death(at))
        SCENARIOS[scenario](open_library(folder, server), clips, write_end)
        os._exit(0)
    os.close(write_end)
    with open(read_end) as pipe:  # noqa: PTH123
        reports = pipe.read().split("\n")[:-1]
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"the child failed at moment {at}")
    return reports, os.WIFSIGNALED(status)


def main(root: Path, scenario: str, server: str, clips: list[str], step: int) -> None:
    at = 1
    while True:
        folder = root / str(at)
        folder.mkdir()
        reports, died = die_once(folder, scenario, server, clips, at)
        print(json.dumps({"folder": str(folder), "done": reports, "died": died}), flush=True)
        if not died:
            return
        at += step


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[4], sys.argv[5:], int(sys.argv[3]))
