"""Runs the benchmarks named on the command line, or all: ``python -m benchmarks [bvh kinematics ...]``."""

from __future__ import annotations

import importlib
import sys

from benchmarks.measure import HERE, machine, summed_up, verdict


def main() -> int:
    claims = sys.argv[1:] or sorted(path.parent.name for path in HERE.glob("*/run.py"))
    print(machine())
    verdicts = {}
    for claim in claims:
        print(f"\n{claim}")
        verdicts[claim] = verdict(claim, importlib.import_module(f"benchmarks.{claim}.run").run())
    said, exit_code = summed_up(verdicts)
    print(f"\n{said}")
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
