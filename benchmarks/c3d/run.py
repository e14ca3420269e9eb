"""The reason for a C3D reader in Keypose: real and damaged files, read by ezc3d, c3d and Keypose."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from benchmarks.measure import DATA, alternate

N_DAMAGED = 2000
QUALISYS = DATA / "c3d/qualisys.c3d"

# Reads files in order and logs each outcome; a process that crashes has logged nothing for its last file.
CHILD = """
import json, resource, signal, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
package, log, listing = sys.argv[1:]
if package == "ezc3d":
    import ezc3d
    def points(path):
        return ezc3d.c3d(path)["data"]["points"].size
    own = (OSError, ValueError, RuntimeError)
elif package == "c3d":
    import c3d, warnings
    warnings.simplefilter("ignore")
    def points(path):
        with open(path, "rb") as file:
            return sum(frame[1].size for frame in c3d.Reader(file).read_frames())
    own = (OSError, ValueError)
else:
    import keypose as kp, warnings
    warnings.simplefilter("ignore")
    def points(path):
        return kp.load(path).translations.size
    own = (kp.KeyposeError,)
with open(log, "a") as out:
    for path in json.load(open(listing)):
        signal.alarm(10)
        try:
            outcome = "read" if points(path) else "nothing, without a word"
        except own:
            outcome = "refused"
        except Exception as error:
            outcome = type(error).__name__
        out.write(json.dumps(outcome) + "\\n")
        out.flush()
"""


def read_files(package: str, files: list[str], folder: Path) -> Counter[str]:
    """Return the number of files by outcome; after a crash a new process continues with the next file."""
    results: list[str] = []
    log, file_list = folder / "log", folder / "listing"
    while len(results) < len(files):
        log.unlink(missing_ok=True)
        file_list.write_text(json.dumps(files[len(results) :]))
        command = [sys.executable, "-c", CHILD, package, str(log), str(file_list)]
        process = subprocess.run(command, capture_output=True)
        results += [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        if process.returncode != 0 and len(results) < len(files):
            results.append("over 10 s" if process.returncode == -14 else "process ended")
    return Counter(results)


def run() -> dict[str, float]:
    from tests.fuzz.worker import build_input

    packages = ("ezc3d", "c3d", "keypose")
    real_files = sorted(str(path) for path in (DATA / "c3d").rglob("*.[cC]3[dD]"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        damaged_files = []
        for number in range(N_DAMAGED):
            damaged_files.append(str(folder / f"{number}.c3d"))
            Path(damaged_files[-1]).write_bytes(build_input("c3d", number)[0])
        real_outcomes = {package: read_files(package, real_files, folder) for package in packages}
        damaged_outcomes = {package: read_files(package, damaged_files, folder) for package in packages}
    for package in packages:
        print(f"   {package:<8} {len(real_files)} real files: {dict(real_outcomes[package])}")
        print(f"   {'':<8} {N_DAMAGED} damaged files: {dict(damaged_outcomes[package])}")
    if QUALISYS.exists():
        for name, seconds in time_readers().items():
            print(f"   {name:<8} {1e3 * seconds:6.1f} ms for 340 frames x 55 markers with analog data")
    ours = damaged_outcomes["keypose"]
    return {
        "ours_damaged_not_read_nor_refused": float(N_DAMAGED - ours["read"] - ours["refused"]),
        "ours_real_files_not_read": float(len(real_files) - real_outcomes["keypose"]["read"]),
        "ezc3d_damaged_that_crash": float(damaged_outcomes["ezc3d"]["process ended"]),
    }


def time_readers() -> dict[str, float]:
    import c3d
    import ezc3d

    import keypose as kp

    def with_c3d() -> None:
        with QUALISYS.open("rb") as file:
            list(c3d.Reader(file).read_frames())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tasks = {"ezc3d": lambda: ezc3d.c3d(str(QUALISYS)), "c3d": with_c3d, "keypose": lambda: kp.load(QUALISYS)}
        return alternate(tasks)
