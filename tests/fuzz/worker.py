"""The child process: loads damaged files one after another and logs the outcomes."""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from tests.fuzz.kps_sections import damage_section
from tests.fuzz.mutate import damage
from tests.fuzz.seeds import SUBPROCESS_KINDS, seeds
from tests.support.checksum_repair import update_checksums

import keypose as kp

MEMORY_BYTES = 2 << 30  # beyond what the process has when it starts
SECONDS_EACH = 20.0


def build_input(kind: str, number: int) -> tuple[bytes, str]:
    """Return the damaged file of that number and the name under which it is loaded."""
    files = seeds(kind)
    rng = random.Random(f"{kind}:{number}")
    sound, choice = rng.choice(files.contents), rng.random()
    if kind == "kps" and choice < 0.5:  # damage behind the header and the checksums too
        return damage_section(sound, files.contents, rng), files.name
    data = damage(sound, files.contents, rng)
    return update_checksums(data) if kind == "kps" and choice < 0.75 else data, files.name


def try_input(kind: str, number: int, folder: Path) -> tuple[str, float]:
    """Return 'loaded', 'refused' or a traceback, and the seconds it took."""
    data, name = build_input(kind, number)
    path = folder / name
    path.write_bytes(data)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kp.FormatWarning)
            motion = kp.load(path, limits=kp.Limits(bytes=64 << 20))
            motion.world_positions()
        outcome = "loaded"
    except kp.MissingExtra:
        outcome = "refused"  # it looks like FBX, which needs Blender
    except kp.KeyposeError as error:
        outcome = "refused" if str(path) in str(error) else f"the error does not name the file: {error}"
    except BaseException:
        outcome = traceback.format_exc()
    return outcome, time.perf_counter() - start


def main(kind: str, first: int, count: int, progress: Path) -> None:
    """Try inputs ``first`` to ``first + count``; ``progress`` always names the current one."""
    with tempfile.TemporaryDirectory() as folder:
        companions = seeds(kind).companions
        for name, data in companions.items():
            (Path(folder) / name).write_bytes(data)
        kp.load(_sound(kind, Path(folder)))
        if kind not in SUBPROCESS_KINDS:
            _limit_memory()
        with progress.open("w") as log:
            for number in range(first, first + count):
                log.write(json.dumps({"start": number}) + "\n")
                log.flush()
                outcome, seconds = try_input(kind, number, Path(folder))
                log.write(json.dumps({"end": number, "outcome": outcome, "seconds": seconds}) + "\n")
                log.flush()


def _limit_memory() -> None:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, used + MEMORY_BYTES))


def _sound(kind: str, folder: Path) -> Path:
    path = folder / seeds(kind).name
    path.write_bytes(seeds(kind).contents[0])
    return path


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
