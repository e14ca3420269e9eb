"""Processes that are killed at any moment, that write at once, and that find no room."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.library.library import Library
from postgres_server import Server

DYING = Path(__file__).with_name("dying.py")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("clips")
    motion = kp.demo_motion(fps=10)
    for start in range(3):
        kp.save(replace(motion[start : start + 3], name=f"take_{start}"), folder / f"take_{start}.bvh")
    return [str(path) for path in sorted(folder.iterdir())]


@pytest.fixture(scope="module")
def many_files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("many")
    motion = kp.demo_motion(fps=10)
    for start in range(9):
        kp.save(replace(motion[start : start + 4], name=f"many_{start}"), folder / f"many_{start}.bvh")
    return [str(path) for path in sorted(folder.iterdir())]


def test_a_killed_process_loses_nothing_that_was_done_and_leaves_nothing_half_visible(
    tmp_path: Path, files: list[str]
) -> None:
    deaths = _deaths(tmp_path, "changes", "13", files)
    assert len(deaths) > 20 and not deaths[-1]["died"] and len(deaths[-1]["done"]) == 5
    assert len({len(death["done"]) for death in deaths}) == 6  # killed in every one of its changes
    for death in deaths:
        _check_survivors(Path(death["folder"]), death["done"], files)


def _deaths(folder: Path, way: str, step: str, files: list[str], server: str = "") -> list[dict[str, Any]]:
    command = [sys.executable, DYING, folder, way, step, server, *files]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return [json.loads(line) for line in told.stdout.splitlines()]


def test_a_killed_ingest_keeps_what_it_told_of_and_goes_on(tmp_path: Path, files: list[str]) -> None:
    deaths = _deaths(tmp_path, "ingests", "11", files)
    assert len(deaths) > 20 and not deaths[-1]["died"]
    assert {len(death["done"]) for death in deaths} == {0, 2, 3}  # two of three are told of together
    for death in deaths:
        with Library(Path(death["folder"]) / "clips.db") as library:
            _check_ingested(library, death["done"], files)


@pytest.mark.one_python
def test_a_killed_ingest_into_a_server_keeps_what_it_told_of_and_goes_on(
    tmp_path: Path, files: list[str], postgres: Server
) -> None:
    url = postgres.url(schema="died")
    deaths = _deaths(tmp_path, "ingests", "13", files, url)
    assert len(deaths) > 15 and not deaths[-1]["died"]
    assert {len(death["done"]) for death in deaths} == {0, 2, 3}
    for death in deaths:
        folder = Path(death["folder"])
        with Library(f"{url}{folder.name}", create=False) as library:
            with library._store.database.writing():
                pass  # what the server was doing for the dead is over
            _check_ingested(library, death["done"], files)


def _check_ingested(library: Library, done: list[str], files: list[str]) -> None:
    told = {line.split()[1] for line in done}
    there = {clip.hash: clip for clip in library}
    assert told <= there.keys() and all(clip.tags == ("kept",) for clip in there.values())
    assert {fault.kind for fault in library.verify(fix=True)} <= {"orphan blob"}
    again = library.add(files, jobs=1, tags=("kept",))
    assert {clip.hash for clip in again.known} == there.keys() and len(again.clips) == 3 - len(there)
    assert library.verify() == () and len(library) == 3


@pytest.mark.one_python
@pytest.mark.parametrize("whom", ["the parent", "a worker"])
def test_an_ingest_by_several_processes_survives_deaths(tmp_path: Path, many_files: list[str], whom: str) -> None:
    """A worker's death costs the file that it worked on; that of the parent ends the workers too."""
    program = """
        import multiprocessing, os, signal, sys
        from keypose.library.library import Library
        if __name__ == "__main__":
            database, whom, *files = sys.argv[1:]
            def tell(progress):
                workers = multiprocessing.active_children()
                if progress.added == 1:
                    print("workers", *(worker.pid for worker in workers), flush=True)
                    os.kill(os.getpid() if whom == "the parent" else workers[0].pid, signal.SIGKILL)
                print("failed" if progress.clip is None else progress.clip.hash, flush=True)
            with Library(database) as library:
                library.add(files, jobs=2, on_progress=tell)
        """
    script = tmp_path / "ingest.py"  # workers import it again
    script.write_text(textwrap.dedent(program))
    command = [sys.executable, script, tmp_path / "clips.db", whom, *many_files]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=180)
    workers, *told = ran.stdout.splitlines()
    added = [line for line in told if line != "failed"]
    if whom == "the parent":
        assert ran.returncode == -signal.SIGKILL
        assert _all_gone([int(pid) for pid in workers.split()[1:]])
    else:
        assert ran.returncode == 0 and len(told) == len(many_files) and len(added) >= len(many_files) - 1, ran.stderr
    with Library(tmp_path / "clips.db") as library:
        assert set(added) <= {clip.hash for clip in library}
        assert {fault.kind for fault in library.verify(fix=True)} <= {"orphan blob"}
        again = library.add(many_files, jobs=1)
        assert len(again.known) >= max(len(added), 1) and not again.failures
        assert len(library) == len(many_files) and library.verify() == ()


def _all_gone(processes: list[int]) -> bool:
    """Whether they end soon by themselves."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if not any(Path(f"/proc/{process}").exists() for process in processes):
            return True
        time.sleep(0.02)
    return False


def test_two_ingests_at_once_make_one_library(tmp_path: Path, many_files: list[str]) -> None:
    program = """
        import sys
        from keypose.library.library import Library
        database, mine, *files = sys.argv[1:]
        with Library(database) as library:
            done = library.add(files, jobs=1, tags=(mine,))
            print(len(done.clips), len(done.known), len(done.failures))
    """
    orders = {"first": many_files, "second": many_files[::-1]}
    writers = [_python(program, tmp_path / "clips.db", mine, *files) for mine, files in orders.items()]
    counts = []
    for writer in writers:
        said, _ = writer.communicate(timeout=180)
        assert writer.returncode == 0, said
        counts.append([int(count) for count in said.split()])
    n = len(many_files)
    assert sum(added for added, _, _ in counts) == n
    assert all(added + known == n and failed == 0 for added, known, failed in counts)
    with Library(tmp_path / "clips.db") as library:
        assert len(library.clips(tags=("first", "second"))) == n and library.verify() == ()


def test_an_ingest_that_finds_no_room_stops_and_keeps_what_it_told_of(tmp_path: Path, many_files: list[str]) -> None:
    """At each of the times that bytes are to reach the disk."""
    program = """
        import errno, os, sys
        from keypose.errors import FileError
        from keypose.library.ingest import run
        from keypose.library.library import Library
        folder, *files = sys.argv[1:]
        run.GROUP = 2
        really = os.fsync
        for room in range(60):
            left = room
            def full(descriptor):
                global left
                left -= 1
                if left < 0:
                    raise OSError(errno.ENOSPC, "No space left on device")
                really(descriptor)
            told = []
            with Library(f"{folder}/{room}.db") as library:
                os.fsync = full
                try:
                    library.add(files, jobs=1, on_progress=lambda progress: told.append(progress.clip.hash))
                    print("done", room)
                    break
                except FileError as error:
                    assert "No space left on device" in str(error), error
                finally:
                    os.fsync = really
                assert set(told) == {clip.hash for clip in library}, told
                assert {fault.kind for fault in library.verify(fix=True, drop_orphans=True)} <= {"orphan blob"}
                assert library.verify() == ()
        """
    said, _ = (child := _python(program, tmp_path, *many_files[:3])).communicate(timeout=120)
    assert child.returncode == 0 and said.startswith("done"), said
    assert int(said.split()[1]) >= 6


def _check_survivors(folder: Path, done: list[str], files: list[str]) -> None:
    said = [line.split() for line in done]
    removed = {digest for verb, digest in said if verb == "removed"}
    added = [digest for verb, digest in said if verb == "added"]
    with Library(folder / "clips.db") as library:
        there = {clip.hash: clip for clip in library}
        for clip in there.values():  # whatever is visible is whole
            assert library.get(clip.hash).n_frames == clip.n_frames == 3
            assert library.clips(clip.name) == (clip,)
        half_removed = len(said) == 4  # it died while removing: done or not, both are right
        assert removed.isdisjoint(there)
        assert set(added[1:] if half_removed else added) - removed <= there.keys()
        assert all("kept" in there[digest].tags for verb, digest in said if verb == "tagged")
        assert {fault.kind for fault in library.verify()} <= {"orphan blob"}
        assert all(fault.fixed for fault in library.verify(fix=True, drop_orphans=True)) and library.verify() == ()
        for file in files:
            library.add(file)
        assert len(library) == len(files) and library.verify() == ()


def _python(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_two_processes_make_and_write_one_library_at_once(tmp_path: Path, files: list[str]) -> None:
    """Both name and tag the same two clips; each adds and removes one of its own."""
    program = """
        import sys
        from keypose.library.library import Library
        database, mine, own, *shared = sys.argv[1:]
        for turn in range(6):
            with Library(database) as library:
                for file in shared:
                    clip = library.add(file, name=f"{mine} {turn}", tags=(mine, f"{mine}{turn}"))
                    library.untag(clip.hash, f"{mine}{turn}")
                library.remove(library.add(own, tags=("gone",)).hash)
                library.add(own, tags=("again",))
    """
    own = {"first": files[0], "second": str(tmp_path / "own.bvh")}
    kp.save(replace(kp.demo_motion(fps=10)[40:44], name="own"), own["second"])
    writers = [_python(program, tmp_path / "clips.db", mine, path, *files[1:]) for mine, path in own.items()]
    for writer in writers:
        said, _ = writer.communicate(timeout=180)
        assert writer.returncode == 0, said
    with Library(tmp_path / "clips.db") as library:
        assert len(library) == 4 and library.verify() == ()
        assert {clip.tags for clip in library} == {("first", "second"), ("again",)}
        assert all(len(clip.also_named) == 11 for clip in library.clips(tags=("first", "second")))


def test_no_room_is_a_clear_error_and_leaves_the_library_sound(tmp_path: Path, files: list[str]) -> None:
    program = """
        import resource, signal, sys
        from pathlib import Path
        from keypose.errors import FileError
        from keypose.library.library import Library
        database, first, *files = sys.argv[1:]
        with Library(database) as library:
            library.add(first)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            size = max(Path(file).stat().st_size for file in files)
            for room in (size // 2, size + 1):  # too little for the bytes, then only for the database
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
                for file in files:
                    try:
                        library.add(file, note="n" * 10_000 * (room > size))
                    except FileError as error:
                        print("FileError", error)
        """
    said, _ = (child := _python(program, tmp_path / "clips.db", *files)).communicate(timeout=180)
    assert child.returncode == 0, said
    lines = said.splitlines()
    assert len(lines) == 4 and all(line.startswith("FileError") for line in lines), said
    assert "cannot be written" in lines[0] and "clips.db: cannot be" in lines[2]
    with Library(tmp_path / "clips.db") as library:
        assert [clip.name for clip in library] == ["take_0"]
        assert {fault.kind for fault in library.verify(fix=True, drop_orphans=True)} <= {"orphan blob"}
        assert library.verify() == ()


def test_a_writer_that_waits_in_vain_says_so(tmp_path: Path, files: list[str]) -> None:
    with Library(tmp_path / "clips.db") as one, Library(tmp_path / "clips.db", busy_s=0.05) as two:
        one.add(files[0])
        with one._store.database.writing():
            with pytest.raises(kp.FileError, match=r"another process has been writing for more than 0\.05 s"):
                two.add(files[1])
            assert len(two) == 1  # who reads does not wait
        assert two.add(files[1]).name == "take_1"
