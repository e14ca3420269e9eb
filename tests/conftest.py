"""Shared fixtures, and the folder of real motion capture."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# If a shell starts the tests in the background, they and the programs that they start would ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Each worker of pytest-xdist has a core: threads of numpy's linear algebra would only compete.
# Read when numpy is imported, here and in every program that a test starts.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder of real motion capture files; tests that need it are skipped if it is absent."""
    folder = Path(os.environ.get("KEYPOSE_TEST_DATA", _BESIDE))
    if not folder.is_dir():
        pytest.skip(f"no motion capture files at {folder}: set KEYPOSE_TEST_DATA")
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return headless Chromium; tests that need it are skipped if it is absent (never in CI)."""
    from support.chromium import launch_chromium

    if shutil.which("chromium") is None and not os.environ.get("CI"):
        pytest.skip("no Chromium on this machine: tools/chromium.sh installs it")
    with launch_chromium() as running:
        yield running
