"""The environment of the command line: closed or full outputs, a missing folder, few open files, Ctrl-C."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from keypose.batch import map_clips, pool

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells, limits and signals")


def in_shell(line: str, *arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a line of the shell, in which "$@" is the command line of the program."""
    command = ["sh", "-c", line, "sh", sys.executable, "-m", "keypose", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=folder)


@pytest.mark.parametrize("more", [[], ["--json"], ["--joints"]], ids=["text", "json", "joints"])
def test_closed_output_is_reported(clip, more: list[str]) -> None:
    completed = in_shell('"$@" >&-', "info", clip(), *more)
    assert completed.returncode == 1
    assert completed.stderr == "error: the output (stdout) is closed, expected it open; > /dev/null prints nothing\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "arguments",
    [["info", "walk.bvh"], ["info", "walk.bvh", "--json"], ["info", "none.bvh", "--json"], ["--help"], ["formats"]],
    ids=" ".join,
)
def test_full_disk_is_reported(clip, arguments: list[str]) -> None:
    completed = in_shell('"$@" >/dev/full', *arguments, folder=clip().parent)
    assert completed.returncode == 1
    assert completed.stderr == "error: the output cannot be written (No space left on device)\n"


def test_a_current_folder_that_is_gone(tmp_path: Path) -> None:
    for arguments in (["info", "walk.bvh"], ["convert", "walk.bvh", "x.glb"], ["demo"], ["info", "walk.bvh", "--json"]):
        gone = tmp_path / "gone"
        gone.mkdir()
        completed = in_shell('rmdir ../gone; "$@"', *arguments, folder=gone)
        assert completed.returncode == 1
        payload = (
            json.loads(completed.stdout)[0]["error"]
            if "--json" in arguments
            else completed.stderr.removeprefix("error: ")
        )
        assert payload.startswith("the current folder cannot be found")
        assert completed.stderr.count("\n") == ("--json" not in arguments)
    gone.mkdir()
    assert in_shell('rmdir ../gone; "$@"', "--help", folder=gone).returncode == 0


@pytest.mark.parametrize("files", [24, 10])
def test_few_open_files_mean_fewer_workers(clip, tmp_path: Path, files: int) -> None:
    for i in range(30):
        clip(f"takes/{i:02d}.bvh")
    line = f'ulimit -n {files}; "$@"'
    completed = in_shell(line, "convert", tmp_path / "takes", tmp_path / "out", "--to", "glb", "--jobs", 20)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert completed.stdout.startswith("30 of 30 files converted")
    assert len(list((tmp_path / "out").iterdir())) == 30


@pytest.mark.parametrize("granted", [0, 1, 3])
def test_as_many_workers_as_the_system_grants(granted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    start, calls_2 = pool._Pool._start_worker, []

    def start_granted(self: pool._Pool[float, float]) -> pool._Worker:
        calls_2.append(len(self.workers))
        if len(calls_2) > granted:
            raise OSError(24, "Too many open files")
        return start(self)

    monkeypatch.setattr(pool._Pool, "_start_worker", start_granted)
    calls: list[int] = []
    outcomes = list(map_clips(math.sqrt, map(float, range(20)), 8, on_start=calls.append))
    assert sorted((o.index, o.value) for o in outcomes) == [(i, math.sqrt(i)) for i in range(20)]
    assert calls == list(range(20))
    assert len(calls_2) == granted + 1  # it does not retry repeatedly


# Ctrl-C while a module is imported.
INTERRUPTED_AT = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
sys.argv[1:] = ["info", {path!r}]
from keypose.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize("module", ["keypose.cli.app", "cyclopts", "keypose.cli.info", "numpy", "keypose.cli.messages"])
def test_an_interrupt_while_it_starts_is_quiet(clip, module: str) -> None:
    script = INTERRUPTED_AT.format(module=module, path=str(clip()))
    completed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (completed.returncode, completed.stdout, completed.stderr) == (130, "", "")


def test_an_interrupt_that_is_ignored_stays_so(clip) -> None:
    script = INTERRUPTED_AT.format(module="cyclopts", path=str(clip()))
    completed = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # as nohup and & do
    )
    assert (completed.returncode, completed.stderr) == (0, "")
    assert f"{os.sep}walk.bvh" in completed.stdout
