"""Processes that are killed at any moment, that write concurrently, and that find the disk full."""

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
from support.errors import raises
from support.postgres_server import Server

SCRIPT = Path(__file__).parents[1] / "support" / "killed_process.py"


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


def test_a_killed_process_keeps_completed_changes_and_leaves_no_partial_ones(tmp_path: Path, files: list[str]) -> None:
    deaths = _deaths(tmp_path, "changes", "13", files)
    assert len(deaths) > 20 and not deaths[-1]["died"] and len(deaths[-1]["done"]) == 5
    assert len({len(death["done"]) for death in deaths}) == 6  # killed in every one of its changes
    for death in deaths:
        _check_survivors(Path(death["folder"]), death["done"], files)


def _deaths(folder: Path, scenario: str, step: str, files: list[str], server: str = "") -> list[dict[str, Any]]:
    command = [sys.executable, SCRIPT, folder, scenario, step, server, *files]
    reported = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return [json.loads(line) for line in reported.stdout.splitlines()]


def test_a_killed_ingest_keeps_reported_clips_and_can_continue(tmp_path: Path, files: list[str]) -> None:
    deaths = _deaths(tmp_path, "ingests", "11", files)
    assert len(deaths) > 20 and not deaths[-1]["died"]
    assert {len(death["done"]) for death in deaths} == {0, 2, 3}  # two of three are reported together
    for death in deaths:
        with Library(Path(death["folder"]) / "clips.db") as library:
            _check_ingested(library, death["done"], files)


@pytest.mark.one_python
def test_a_killed_ingest_into_postgres_keeps_reported_clips_and_can_continue(
    tmp_path: Path, files: list[str], postgres: Server
) -> None:
    url = postgres.url(schema="died")
    deaths = _deaths(tmp_path, "ingests", "13", files, url)
    assert len(deaths) > 15 and not deaths[-1]["died"]
    assert {len(death["done"]) for death in deaths} == {0, 2, 3}
    for death in deaths:
        folder = Path(death["folder"])
        with Library(f"{url}{folder.name}", create=False) as library:
            with library._store.database.begin_write():
                pass  # wait for the server to end the killed transaction
            _check_ingested(library, death["done"], files)


def _check_ingested(library: Library, lines: list[str], files: list[str]) -> None:
    reported = {line.split()[1] for line in lines}
    there = {clip.hash: clip for clip in library}
    assert reported <= there.keys() and all(clip.tags == ("kept",) for clip in there.values())
    assert {fault.kind for fault in library.verify(fix=True)} <= {"orphan blob"}
    repeated = library.add(files, jobs=1, tags=("kept",))
    assert {clip.hash for clip in repeated.existing} == there.keys() and len(repeated.added) == 3 - len(there)
    assert library.verify() == () and len(library) == 3


@pytest.mark.one_python
@pytest.mark.parametrize("killed", ["the parent", "a worker"])
def test_a_parallel_ingest_survives_killed_processes(tmp_path: Path, many_files: list[str], killed: str) -> None:
    """A killed worker loses its current file; workers of a killed parent end too."""
    program = """
        import os, signal, sys
        from pathlib import Path
        from keypose.library.library import Library
        database, killed, *files = sys.argv[1:]
        def on_progress(progress):
            if progress.added == 1:
                workers = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
                print("workers", *workers, flush=True)
                os.kill(os.getpid() if killed == "the parent" else int(workers[0]), signal.SIGKILL)
            print("failed" if progress.clip is None else progress.clip.hash, flush=True)
        with Library(database) as library:
            library.add(files, jobs=2, on_progress=on_progress)
        """
    command = [sys.executable, "-c", textwrap.dedent(program), tmp_path / "clips.db", killed, *many_files]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=180)
    workers, *reported = ran.stdout.splitlines()
    added = [line for line in reported if line != "failed"]
    if killed == "the parent":
        assert ran.returncode == -signal.SIGKILL
        assert _wait_until_ended([int(pid) for pid in workers.split()[1:]])
    else:
        assert ran.returncode == 0 and len(reported) == len(many_files) and len(added) >= len(many_files) - 1, (
            ran.stderr
        )
    with Library(tmp_path / "clips.db") as library:
        assert set(added) <= {clip.hash for clip in library}
        assert {fault.kind for fault in library.verify(fix=True)} <= {"orphan blob"}
        repeated = library.add(many_files, jobs=1)
        assert len(repeated.existing) >= max(len(added), 1) and not repeated.failures
        assert len(library) == len(many_files) and library.verify() == ()


def _wait_until_ended(processes: list[int]) -> bool:
    """Return whether the processes end soon by themselves."""
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
            print(len(done.added), len(done.existing), len(done.failures))
    """
    orders = {"first": many_files, "second": many_files[::-1]}
    writers = [_python(program, tmp_path / "clips.db", mine, *files) for mine, files in orders.items()]
    counts = []
    for writer in writers:
        output, _ = writer.communicate(timeout=180)
        assert writer.returncode == 0, output
        counts.append([int(count) for count in output.split()])
    n = len(many_files)
    assert sum(added for added, _, _ in counts) == n
    assert all(added + known == n and failed == 0 for added, known, failed in counts)
    with Library(tmp_path / "clips.db") as library:
        assert len(library.clips(tags=("first", "second"))) == n and library.verify() == ()


def test_an_ingest_on_a_full_disk_stops_and_keeps_reported_clips(tmp_path: Path, many_files: list[str]) -> None:
    """At each call of fsync."""
    program = """
        import errno, os, sys
        from keypose.errors import FileError
        from keypose.library.ingest import run
        from keypose.library.library import Library
        folder, *files = sys.argv[1:]
        run.MAX_BATCH_CLIPS = 2
        really = os.fsync
        for room in range(60):
            left = room
            def full(descriptor):
                global left
                left -= 1
                if left < 0:
                    raise OSError(errno.ENOSPC, "No space left on device")
                really(descriptor)
            reported = []
            with Library(f"{folder}/{room}.db") as library:
                os.fsync = full
                try:
                    library.add(files, jobs=1, on_progress=lambda progress: reported.append(progress.clip.hash))
                    print("done", room)
                    break
                except FileError as error:
                    assert "No space left on device" in str(error), error
                finally:
                    os.fsync = really
                assert set(reported) == {clip.hash for clip in library}, reported
                assert {fault.kind for fault in library.verify(fix=True, drop_orphans=True)} <= {"orphan blob"}
                assert library.verify() == ()
        """
    output, _ = (child := _python(program, tmp_path, *many_files[:3])).communicate(timeout=120)
    assert child.returncode == 0 and output.startswith("done"), output
    assert int(output.split()[1]) >= 6


def _check_survivors(folder: Path, lines: list[str], files: list[str]) -> None:
    output = [line.split() for line in lines]
    removed = {digest for action, digest in output if action == "removed"}
    added = [digest for action, digest in output if action == "added"]
    with Library(folder / "clips.db") as library:
        there = {clip.hash: clip for clip in library}
        for clip in there.values():  # every visible clip is complete
            assert library.get(clip.hash).n_frames == clip.n_frames == 3
            assert library.clips(clip.name) == (clip,)
        half_removed = len(output) == 4  # killed while removing: both outcomes are valid
        assert removed.isdisjoint(there)
        assert set(added[1:] if half_removed else added) - removed <= there.keys()
        assert all("kept" in there[digest].tags for action, digest in output if action == "tagged")
        assert {fault.kind for fault in library.verify()} <= {"orphan blob"}
        assert all(fault.fixed for fault in library.verify(fix=True, drop_orphans=True)) and library.verify() == ()
        for file in files:
            library.add(file)
        assert len(library) == len(files) and library.verify() == ()


def _python(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_two_processes_create_and_write_one_library_at_once(tmp_path: Path, files: list[str]) -> None:
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
        output, _ = writer.communicate(timeout=180)
        assert writer.returncode == 0, output
    with Library(tmp_path / "clips.db") as library:
        assert len(library) == 4 and library.verify() == ()
        assert {clip.tags for clip in library} == {("first", "second"), ("again",)}
        assert all(len(clip.other_names) == 11 for clip in library.clips(tags=("first", "second")))


def test_a_full_disk_is_a_clear_error_and_leaves_the_library_intact(tmp_path: Path, files: list[str]) -> None:
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
    output, _ = (child := _python(program, tmp_path / "clips.db", *files)).communicate(timeout=180)
    assert child.returncode == 0, output
    lines = output.splitlines()
    assert len(lines) == 4 and all(line.startswith("FileError") for line in lines), output
    assert "cannot be written" in lines[0] and "clips.db: cannot be" in lines[2]
    with Library(tmp_path / "clips.db") as library:
        assert [clip.name for clip in library] == ["take_0"]
        assert {fault.kind for fault in library.verify(fix=True, drop_orphans=True)} <= {"orphan blob"}
        assert library.verify() == ()


def test_a_writer_times_out_with_a_clear_error(tmp_path: Path, files: list[str]) -> None:
    with Library(tmp_path / "clips.db") as one, Library(tmp_path / "clips.db", busy_s=0.05) as two:
        one.add(files[0])
        with one._store.database.begin_write():
            with raises(kp.FileError, code="busy"):
                two.add(files[1])
            assert len(two) == 1  # who reads does not wait
        assert two.add(files[1]).name == "take_1"
