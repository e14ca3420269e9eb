"""Run the benchmarks named on the command line, or all: ``python -m benchmarks [bvh kinematics ...]``."""

from __future__ import annotations

import importlib
import sys

from benchmarks.measure import HERE, check_figures, machine_description, summarize


def main() -> int:
    claims = sys.argv[1:] or sorted(path.parent.name for path in HERE.glob("*/run.py"))
    print(machine_description())
    verdicts = {}
    for claim in claims:
        print(f"\n{claim}")
        verdicts[claim] = check_figures(claim, importlib.import_module(f"benchmarks.{claim}.run").run())
    summary, exit_code = summarize(verdicts)
    print(f"\n{summary}")
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
