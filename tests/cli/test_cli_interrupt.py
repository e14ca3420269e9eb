"""Interrupted conversions leave complete files only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import keypose as kp


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def start(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "keypose", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_until_there(folder: Path, pattern: str, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 60
    while not any(folder.rglob(pattern)):
        assert process.poll() is None, "it ended before it could be stopped"
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.fixture(scope="module")
def many_clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More files than are converted before the test stops the run."""
    folder = tmp_path_factory.mktemp("many")
    kp.save(kp.demo_motion(fps=120.0), folder / "000.bvh")
    for i in range(1, 400):
        (folder / f"{i:03d}.bvh").hardlink_to(folder / "000.bvh")
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_conversion_leaves_whole_files_only(many_clips: Path, tmp_path: Path, jobs: int) -> None:
    out = tmp_path / "out"
    process = start("convert", many_clips, out, "--to", "glb", "--jobs", jobs, "--json")
    wait_until_there(out, "*.glb", process)
    begin = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert time.monotonic() - begin < 10
    assert process.returncode == 130
    assert stderr == ""
    written_names = names(out)
    assert 1 <= len(written_names) < 400
    assert all(name.endswith(".glb") and not name.startswith(".") for name in written_names)
    assert {kp.load(out / name).n_frames for name in written_names} == {kp.load(many_clips / "000.bvh").n_frames}
    summary = json.loads(stdout)
    assert summary["interrupted"] is True
    assert summary["n_remaining"] == 400 - len(summary["converted"])
    assert {Path(item["target"]).name for item in summary["converted"]} <= set(written_names)


# The data are in the hidden file, and fsync is slow.
SLOW_DISK = """
import os, sys, time
os.fsync = lambda descriptor: time.sleep(60)
from keypose.cli.app import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_a_save_that_is_cut_off_leaves_no_half_file(clip, tmp_path: Path, number: signal.Signals) -> None:
    source, fresh, old = clip(), tmp_path / "fresh.glb", clip("old.bvh", frames=3)
    for target in (fresh, old):
        command = [sys.executable, "-c", SLOW_DISK, "convert", source, target, "--overwrite"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until_there(tmp_path, f".{target.name}.*.tmp", process)
        time.sleep(0.2)
        process.send_signal(number)
        assert process.communicate(timeout=30) == ("", "")
        assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert not fresh.exists()
    assert kp.load(old).n_frames == 3
    if number == signal.SIGINT:
        assert names(tmp_path) == ["old.bvh", "walk.bvh"]  # the hidden file is removed too
