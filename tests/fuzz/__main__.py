"""The parent process: distributes inputs, monitors the children, prints a summary."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.seeds import KINDS, SHARES, missing_requirement
from tests.fuzz.worker import SECONDS_EACH, build_input, try_input

BATCH = 500


@dataclass
class Findings:
    """The outcomes of the inputs of one kind."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, int] = (0.0, 0)
    failures: dict[int, str] = field(default_factory=dict)

    def add(self, number: int, outcome: str, seconds: float) -> None:
        self.slowest = max(self.slowest, (seconds, number))
        if outcome in ("loaded", "refused") and seconds <= SECONDS_EACH:
            self.outcomes[outcome] += 1
        else:
            self.outcomes["failed"] += 1
            self.failures[number] = outcome if seconds <= SECONDS_EACH else f"took {seconds:.1f} s"


def run_batch(kind: str, first: int, count: int) -> Findings:
    """Run one batch in child processes; after a crash or a hang the next child continues after the failing input."""
    findings = Findings()
    end = first + count
    while first < end:
        with tempfile.NamedTemporaryFile(suffix=".jsonl") as log:
            words = [sys.executable, "-m", "tests.fuzz.worker", kind, str(first), str(end - first), log.name]
            child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            problem = _watch(child, Path(log.name))
            rows = [json.loads(line) for line in Path(log.name).read_text().splitlines() if line.endswith("}")]
        for row in rows:
            if "end" in row:
                findings.add(row["end"], row["outcome"], row["seconds"])
        if problem is None:
            return findings
        failing_input = rows[-1]["start"] if rows and "start" in rows[-1] else None
        if failing_input is None:
            raise SystemExit(f"the child process for {kind} failed outside an input:\n{problem}")
        findings.add(failing_input, problem, 0.0)
        first = failing_input + 1
    return findings


def _watch(child: subprocess.Popen[str], log: Path) -> str | None:
    """Wait for the child; return None on success, else the problem. Kill a child that makes no progress."""
    size, since = -1, time.monotonic()
    while True:
        try:
            _, errors = child.communicate(timeout=0.5)
        except subprocess.TimeoutExpired:
            if log.stat().st_size != size:
                size, since = log.stat().st_size, time.monotonic()
            elif time.monotonic() - since > SECONDS_EACH + 20:
                child.kill()
                child.communicate()
                return f"hangs: nothing for {SECONDS_EACH + 20:g} s"
            continue
        return None if child.returncode == 0 else f"exit code {child.returncode}\n{errors[-2000:]}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--count", type=int, default=100_000, help="inputs in all")
    parser.add_argument("--first", type=int, default=0, help="number of the first input of each kind")
    parser.add_argument("--kinds", default=",".join(KINDS), help="some of " + ",".join(KINDS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeat", help="one input again, KIND:NUMBER, saved as a file, and its outcome")
    options = parser.parse_args()
    if options.repeat:
        return repeat(options.repeat)
    kinds = []
    for kind in options.kinds.split(","):
        if why := missing_requirement(kind):
            print(f"{kind} is left out: {why}")
        else:
            kinds.append(kind)
    start = time.monotonic()
    findings = {kind: Findings() for kind in kinds}
    total = sum(SHARES[kind] for kind in kinds)
    counts = {kind: -(-options.count * SHARES[kind] // total) for kind in kinds}
    batches = [
        (kind, options.first + i, min(BATCH, count - i))
        for kind, count in counts.items()
        for i in range(0, count, BATCH)
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        jobs = {pool.submit(run_batch, *batch): batch for batch in batches}
        for done, job in enumerate(as_completed(jobs), 1):
            kind = jobs[job][0]
            result = job.result()
            findings[kind].outcomes += result.outcomes
            findings[kind].slowest = max(findings[kind].slowest, result.slowest)
            findings[kind].failures |= result.failures
            if sys.stderr.isatty():
                print(f"\r{done} of {len(batches)} batches", end="", file=sys.stderr)
    print(f"\r{'kind':<10}{'tried':>8}{'loaded':>8}{'refused':>9}{'failed':>8}{'slowest':>12}")
    for kind, f in findings.items():
        tried = sum(f.outcomes.values())
        numbers = f"{tried:>8}{f.outcomes['loaded']:>8}{f.outcomes['refused']:>9}{f.outcomes['failed']:>8}"
        print(f"{kind:<10}{numbers}{1e3 * f.slowest[0]:>9.0f} ms")
    failures = [(kind, number, text) for kind, f in findings.items() for number, text in sorted(f.failures.items())]
    for kind, number, text in failures[:20]:
        print(f"\n{kind}:{number}\n{text}")
    total = sum(sum(f.outcomes.values()) for f in findings.values())
    print(f"\n{total} inputs, {len(failures)} failures, {time.monotonic() - start:.0f} s")
    return bool(failures)


def repeat(which: str) -> int:
    kind, number = which.split(":")
    data, name = build_input(kind, int(number))
    folder = Path(tempfile.mkdtemp(prefix="keypose-fuzz-"))
    (folder / name).write_bytes(data)
    outcome, seconds = try_input(kind, int(number), folder)
    print(f"{folder / name}\n{outcome}\n{seconds:.3f} s")
    return outcome not in ("loaded", "refused")


if __name__ == "__main__":
    sys.exit(main())
