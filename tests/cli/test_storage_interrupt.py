"""Interrupted compression leaves complete files only, and can be continued."""

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
from keypose.storage.error import largest_error
from support.storage_cases import names


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_what_an_interrupted_compression_leaves_keeps_its_promise(tmp_path: Path) -> None:
    takes, archive = tmp_path / "takes", tmp_path / "archive"
    takes.mkdir()
    motion = kp.demo_motion(fps=30.0)[:60]
    kp.save(motion, takes / "000.bvh")
    for i in range(1, 300):
        (takes / f"{i:03d}.bvh").hardlink_to(takes / "000.bvh")
    command = [sys.executable, "-m", "keypose", "compress", takes, archive, "--jobs", "2", "--json"]
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 60
    while not any(archive.glob("[0-9]*.kps")):
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    os.killpg(running.pid, signal.SIGINT)
    stdout, stderr = running.communicate(timeout=30)
    assert (running.returncode, stderr) == (130, "")
    written_names = names(archive)
    assert 1 <= len(written_names) < 300
    assert not any(Path(name).name.startswith(".") for name in written_names)
    original = kp.load(takes / "000.bvh")
    assert all(largest_error(original, kp.load(archive / name)).mm <= 1 for name in written_names[:20])
    summary = json.loads(stdout)
    assert summary["interrupted"] is True and summary["n_remaining"] == 300 - len(summary["compressed"])
    assert {Path(each["target"]).name for each in summary["compressed"]} <= set(written_names)
