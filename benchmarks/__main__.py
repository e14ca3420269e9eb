"""Runs the benchmarks named on the command line, or all: ``python -m benchmarks [bvh kinematics ...]``."""

from __future__ import annotations

import importlib
import sys

from benchmarks.measure import HERE, machine, verdict


def main() -> int:
    claims = sys.argv[1:] or sorted(path.parent.name for path in HERE.glob("*/run.py"))
    print(machine())
    missed = []
    for claim in claims:
        print(f"\n{claim}")
        if not verdict(claim, importlib.import_module(f"benchmarks.{claim}.run").run()):
            missed.append(claim)
    print(f"\n{'promises missed: ' + ', '.join(missed) if missed else 'all promises kept'}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
