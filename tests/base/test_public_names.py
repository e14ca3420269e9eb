"""Public names of the package, which are imported on first use."""

from __future__ import annotations

import importlib
import threading
import time

import pytest

import keypose as kp


def test_threads_import_public_names_one_after_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """If two imported at once, one of them could see a module of the other that is not complete."""
    import_module = importlib.import_module
    names = sorted(kp.__all__)[:8]
    n_running, max_running = 0, 0

    def import_slowly(module: str) -> object:
        nonlocal n_running, max_running
        n_running += 1
        max_running = max(max_running, n_running)
        time.sleep(0.02)
        n_running -= 1
        return import_module(module)

    for name in names:
        monkeypatch.delitem(vars(kp), name, raising=False)
    monkeypatch.setattr(importlib, "import_module", import_slowly)
    threads = [threading.Thread(target=getattr, args=(kp, name)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20.0)
    assert max_running == 1 and all(name in vars(kp) for name in names)
