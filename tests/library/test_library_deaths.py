"""Processes that are killed at any moment, that write at once, and that find no room."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from keypose.library.library import Library

DYING = Path(__file__).with_name("dying.py")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("clips")
    motion = kp.demo_motion(fps=10)
    for start in range(3):
        kp.save(replace(motion[start : start + 3], name=f"take_{start}"), folder / f"take_{start}.bvh")
    return [str(path) for path in sorted(folder.iterdir())]


def test_a_killed_process_loses_nothing_that_was_done_and_leaves_nothing_half_visible(
    tmp_path: Path, files: list[str]
) -> None:
    told = subprocess.run(
        [sys.executable, DYING, tmp_path, "11", *files], check=True, capture_output=True, text=True, timeout=60
    )
    deaths = [json.loads(line) for line in told.stdout.splitlines()]
    assert len(deaths) > 20 and not deaths[-1]["died"] and len(deaths[-1]["done"]) == 5
    assert len({len(death["done"]) for death in deaths}) == 6  # killed in every one of its changes
    for death in deaths:
        _check_survivors(Path(death["folder"]), death["done"], files)


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
        assert all(fault.fixed for fault in library.verify(fix=True)) and library.verify() == ()
        for file in files:
            library.add(file)
        assert len(library) == len(files) and library.verify() == ()


def _python(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_two_processes_make_and_write_one_library_at_once(tmp_path: Path, files: list[str]) -> None:
    program = """
        import sys
        from keypose.library.library import Library
        database, mine, *files = sys.argv[1:]
        for turn in range(6):
            with Library(database) as library:
                for file in files:
                    clip = library.add(file, name=f"{mine} {turn}", tags=(mine, f"{mine}{turn}"))
                    library.untag(clip.hash, f"{mine}{turn}")
                if mine == "first":
                    library.add(library.remove(clip.hash).source, tags=("again",))
    """
    writers = [_python(program, tmp_path / "clips.db", mine, *files) for mine in ("first", "second")]
    for writer in writers:
        said, _ = writer.communicate(timeout=60)
        assert writer.returncode == 0, said
    with Library(tmp_path / "clips.db") as library:
        assert len(library) == 3 and library.verify() == ()
        assert len(library.clips(tags=("first", "second"))) >= 2
        assert all(
            len(clip.also_named) >= 10 for clip in library.clips(tags=("first", "second")) if "again" not in clip.tags
        )


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
    said, _ = (child := _python(program, tmp_path / "clips.db", *files)).communicate(timeout=60)
    assert child.returncode == 0, said
    lines = said.splitlines()
    assert len(lines) == 4 and all(line.startswith("FileError") for line in lines), said
    assert "cannot be written" in lines[0] and "clips.db: cannot be" in lines[2]
    with Library(tmp_path / "clips.db") as library:
        assert [clip.name for clip in library] == ["take_0"]
        assert {fault.kind for fault in library.verify(fix=True)} <= {"orphan blob"} and library.verify() == ()


def test_a_writer_that_waits_in_vain_says_so(tmp_path: Path, files: list[str]) -> None:
    with Library(tmp_path / "clips.db") as one, Library(tmp_path / "clips.db", busy_s=0.05) as two:
        one.add(files[0])
        with one._store.database.writing():
            with pytest.raises(kp.FileError, match=r"another process has been writing for more than 0\.05 s"):
                two.add(files[1])
            assert len(two) == 1  # who reads does not wait
        assert two.add(files[1]).name == "take_1"
