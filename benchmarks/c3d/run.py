"""Why C3D has a reader of our own: sound and damaged files through ezc3d, c3d and ours."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

from benchmarks.measure import DATA, alternate

DAMAGED = 2000
QUALISYS = DATA / "c3d/qualisys.c3d"

# Reads files one after another and writes down each outcome; whoever dies has written nothing for the last one.
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


def outcomes(package: str, files: list[str], folder: Path) -> Counter[str]:
    """What becomes of each file; after a death the next child goes on behind the culprit."""
    found: list[str] = []
    log, listing = folder / "log", folder / "listing"
    while len(found) < len(files):
        log.unlink(missing_ok=True)
        listing.write_text(json.dumps(files[len(found) :]))
        command = [sys.executable, "-c", CHILD, package, str(log), str(listing)]
        ended = subprocess.run(command, capture_output=True)
        found += [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        if ended.returncode != 0 and len(found) < len(files):
            found.append("over 10 s" if ended.returncode == -14 else "process ended")
    return Counter(found)


def run() -> dict[str, float]:
    from tests.fuzz.worker import one_input

    packages = ("ezc3d", "c3d", "keypose")
    sound = sorted(str(path) for path in (DATA / "c3d").rglob("*.[cC]3[dD]"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        damaged = []
        for number in range(DAMAGED):
            damaged.append(str(folder / f"{number}.c3d"))
            Path(damaged[-1]).write_bytes(one_input("c3d", number)[0])
        real = {package: outcomes(package, sound, folder) for package in packages}
        hurt = {package: outcomes(package, damaged, folder) for package in packages}
    for package in packages:
        print(f"   {package:<8} {len(sound)} real files: {dict(real[package])}")
        print(f"   {'':<8} {DAMAGED} damaged files: {dict(hurt[package])}")
    if QUALISYS.exists():
        for name, seconds in _speed().items():
            print(f"   {name:<8} {1e3 * seconds:6.1f} ms for 340 frames x 55 markers with analog data")
    ours = hurt["keypose"]
    return {
        "ours_damaged_not_read_nor_refused": float(DAMAGED - ours["read"] - ours["refused"]),
        "ours_real_files_not_read": float(len(sound) - real["keypose"]["read"]),
        "ezc3d_damaged_that_end_the_process": float(hurt["ezc3d"]["process ended"]),
    }


def _speed() -> dict[str, float]:
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
