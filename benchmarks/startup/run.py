"""Start-up time of ``keypose --help``, and the optional packages that ``import keypose`` loads."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import alternate

OPTIONAL = ("ezc3d", "c3d", "pxr", "bpy", "scipy")


def command_task(*arguments: str) -> Callable[[], object]:
    return lambda: subprocess.run(arguments, capture_output=True, check=True)


def run() -> dict[str, float]:
    program = str(Path(sys.executable).with_name("keypose"))
    seconds = alternate(
        {
            "import numpy": command_task(sys.executable, "-c", "import numpy"),
            "keypose --help": command_task(program, "--help"),
            "import keypose": command_task(sys.executable, "-c", "import keypose"),
        },
        rounds=9,
    )
    for name, value in seconds.items():
        print(f"   {name:<16} {1e3 * value:8.1f} ms")
    probe = f"import sys, keypose; keypose.load; print(sum(name in sys.modules for name in {OPTIONAL!r}))"
    process = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return {
        "help_against_import_numpy": seconds["keypose --help"] / seconds["import numpy"],
        "optional_packages_loaded": float(process.stdout),
    }
