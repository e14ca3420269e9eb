"""A program that changes a library and is killed (SIGKILL) at the n-th moment, for every n until it lives to the end.

Moments are all calls that open, rename, link or remove a file, and the time before and after each statement and commit.
Run as ``python dying.py FOLDER WAY STEP SERVER CLIP...``; prints one line of JSON for each death. One process that forks:
importing everything for each death would take minutes. SERVER is nothing for SQLite, or the URL of a schema of
PostgreSQL, to which a number is added for each death; then the library is made before moments are counted.
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
from keypose.library.nouns import IngestProgress

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


def opened(folder: Path, server: str) -> Library:
    """The library of one death."""
    return Library(f"{server}{folder.name}", blobs=folder / "blobs") if server else Library(folder / "clips.db")


def changes(library: Library, clips: list[str], report: int) -> None:
    """Adds every clip, tags it, removes the first; says what is done after each."""
    with library:
        for clip in clips:
            os.write(report, f"added {library.add(clip).hash}\n".encode())
        os.write(report, f"tagged {library.tag(Path(clips[1]).stem, 'kept').hash}\n".encode())
        os.write(report, f"removed {library.remove(Path(clips[0]).stem).hash}\n".encode())


def ingests(library: Library, clips: list[str], report: int) -> None:
    """Adds all clips at once, written two at a time; says what is done when it is told so."""

    def tell(progress: IngestProgress) -> None:
        assert progress.clip is not None, progress.says
        os.write(report, f"added {progress.clip.hash}\n".encode())

    run.GROUP = 2
    with library:
        library.add(clips, jobs=1, tags=("kept",), on_progress=tell)


WAYS = {"changes": changes, "ingests": ingests}


def die_once(folder: Path, way: str, server: str, clips: list[str], at: int) -> tuple[list[str], bool]:
    """What was reported done before the death at moment ``at``, and whether it came to that."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        if server:
            opened(folder, server).close()
        watch(Death(at))
        WAYS[way](opened(folder, server), clips, writing)
        os._exit(0)
    os.close(writing)
    with open(reading) as pipe:  # noqa: PTH123
        done = pipe.read().split("\n")[:-1]
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"the child failed at moment {at}")
    return done, os.WIFSIGNALED(status)


def main(root: Path, way: str, server: str, clips: list[str], step: int) -> None:
    at = 1
    while True:
        folder = root / str(at)
        folder.mkdir()
        done, died = die_once(folder, way, server, clips, at)
        print(json.dumps({"folder": str(folder), "done": done, "died": died}), flush=True)
        if not died:
            return
        at += step


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[4], sys.argv[5:], int(sys.argv[3]))
