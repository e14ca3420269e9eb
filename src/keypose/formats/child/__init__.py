"""Files for large C++ libraries: read and written in a child process, under limits, never in ours.

OpenUSD crashes on some damaged files, and Blender is no better. What reads them is a script
of its own that imports nothing of this package (Blender's interpreter need not have it): ``main.py``
sets the limits and calls ``read`` of the reader script, which gives numbers and facts. They come back as an
``.npz`` without pickles and a JSON file, in a folder that is removed afterwards. Writing goes the same way: numbers
and facts in, the bytes of a file out.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import GREATEST_NUMBER, Floats
from keypose.errors import FileError, KeyposeError, MissingExtra, OptionError
from keypose.formats.base import MOTION_BYTES_PER_JOINT, SMALL_MOTION_BYTES, ReadOptions, Source
from keypose.rotations import normalise

_HERE = Path(__file__).resolve().parent
LEAST_SECONDS = 60.0
SECONDS_PER_MB = 5.0  # of the file
MOST_FACTS_BYTES = 16 << 20
MOST_COUNT = 10**15  # of anything among the facts

Arrays = dict[str, NDArray[Any]]
Facts = dict[str, Any]


@dataclass(frozen=True)
class Library:
    """A library that reads or writes files in a child process."""

    name: str  # as errors call it
    script: str  # of this folder: read(request) -> (arrays, facts), or write(request, arrays) -> facts
    start_bytes: int  # address space that it takes before it reads anything
    missing: str  # what to say where it is not installed


def read_in_child(
    source: Source, library: Library, python: str, suffix: str, options: ReadOptions, **more: Any
) -> tuple[Arrays, Facts]:
    """The arrays and facts that the library's script finds in the file; any failure is a FormatError.

    ``more`` goes along with the request.
    """
    if options.animation is not None and type(options.animation) not in (str, int):
        raise OptionError(f"animation={options.animation!r}, expected a name or a number")
    if options.fps is not None and not (np.isfinite(options.fps) and options.fps > 0):
        raise OptionError(f"fps={options.fps}, expected a positive number of frames per second")
    limits = source.limits
    motion_bytes = max(SMALL_MOTION_BYTES, limits.expansion * len(source.data))
    seconds = LEAST_SECONDS + SECONDS_PER_MB * len(source.data) / 1e6
    with tempfile.TemporaryDirectory(prefix="keypose-") as name:
        folder = Path(name)
        (folder / f"in{suffix}").write_bytes(source.data)
        request = {
            "animation": options.animation,
            "fps": options.fps,
            "script": str(_HERE / library.script),
            "file": str(folder / f"in{suffix}"),
            "folder": str(folder),
            "most_joints": limits.joints,
            "most_depth": limits.depth,
            "most_frames": limits.frames,
            "most_poses": motion_bytes // MOTION_BYTES_PER_JOINT,  # frames times joints
            "seconds": int(seconds) + 1,
            "address_bytes": library.start_bytes + 2 * motion_bytes,
            "file_bytes": 2 * motion_bytes,
            **more,
        }
        code = _run(python, request, folder, seconds)
        if code is None:
            raise source.error(f"{library.name} did not finish within {seconds:.0f} s")
        if code != 0:
            raise source.error(f"{library.name} {_how_it_ended(code)} while reading it, expected a sound file")
        return _answer(source, library, folder, options, 2 * motion_bytes)


def write_in_child(
    name: str, library: Library, python: str, suffix: str, request: Facts, given: Arrays, seconds: float
) -> bytes:
    """The file that the library's script makes of the motion ``name``; any failure is a FileError."""
    most_bytes = SMALL_MOTION_BYTES + 4 * sum(array.nbytes for array in given.values())
    with tempfile.TemporaryDirectory(prefix="keypose-") as folder_name:
        folder = Path(folder_name)
        np.savez(folder / "given.npz", allow_pickle=False, **given)
        out = folder / f"out{suffix}"
        request = request | {
            "script": str(_HERE / library.script),
            "given": str(folder / "given.npz"),
            "out": str(out),
            "folder": str(folder),
            "seconds": int(seconds) + 1,
            "address_bytes": library.start_bytes + 2 * most_bytes,
            "file_bytes": most_bytes,
        }
        code = _run(python, request, folder, seconds)
        if code is None:
            raise FileError(f"{name}: {library.name} did not finish writing it within {seconds:.0f} s")
        if code != 0:
            raise FileError(f"{name}: {library.name} {_how_it_ended(code)} while writing it")
        try:
            facts = json.loads((folder / "facts.json").read_bytes())
            if facts.get("missing"):
                raise MissingExtra(library.missing)
            if "problem" in facts:
                raise FileError(f"{name}: {facts['problem']}")
            return out.read_bytes()
        except (OSError, ValueError, AttributeError) as error:
            if isinstance(error, KeyposeError):
                raise
            raise FileError(f"{name}: {library.name} left no file ({error})") from None


def _run(python: str, request: Facts, folder: Path, seconds: float) -> int | None:
    """The exit code (negative: the signal), None after too long; what the library prints is thrown away."""
    (folder / "request.json").write_text(json.dumps(request))
    command = [python, "-P", str(_HERE / "main.py"), str(folder / "request.json")]
    environment = os.environ | {
        "PXR_WORK_THREAD_LIMIT": "1",  # threads and their heaps count against the address space
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "TMPDIR": str(folder),
    }
    silent = subprocess.DEVNULL
    try:
        return subprocess.run(
            command, stdin=silent, stdout=silent, stderr=silent, cwd=folder, env=environment, timeout=seconds
        ).returncode
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise MissingExtra(f"{command[0]}: cannot be started ({error.strerror or error})") from None


def _how_it_ended(code: int) -> str:
    try:
        return f"was stopped by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended with code {code}"


def _answer(
    source: Source, library: Library, folder: Path, options: ReadOptions, most_bytes: int
) -> tuple[Arrays, Facts]:
    """What the child left: checked as far as a format cannot, since the file may have got hold of the child."""
    try:
        if (folder / "facts.json").stat().st_size > MOST_FACTS_BYTES:
            raise ValueError(f"facts of more than {MOST_FACTS_BYTES} bytes")
        facts = json.loads((folder / "facts.json").read_bytes())
        if not isinstance(facts, dict):
            raise TypeError("facts that are no object")
        if facts.get("missing"):
            raise MissingExtra(library.missing)
        if "animations_there" in facts:
            there = ", ".join(repr(str(name)) for name in facts["animations_there"][:20]) or "none at all"
            raise OptionError(f"{source.path}: animation={options.animation!r}, but there is {there}")
        if "too_many" in facts:
            _refuse(source, {k: v for k, v in facts["too_many"].items() if _is_count(v)})
        if "problem" in facts:
            line = facts.get("line")
            raise source.error(str(facts["problem"])[:1000], line=line if _is_count(line) else None)
        _check_stored(folder / "arrays.npz", most_bytes)
        with np.load(folder / "arrays.npz", allow_pickle=False) as stored:
            return {key: np.asarray(stored[key]) for key in stored.files}, facts
    except KeyposeError:
        raise
    except Exception as error:  # whatever an answer made by a stranger gets out of json, zipfile and numpy
        reason = f"{type(error).__name__}: {error}"[:300]
        raise source.error(f"{library.name} gave no usable answer ({reason})") from None


def _check_stored(path: Path, most_bytes: int) -> None:
    """Refuses an archive that is not stored plainly, as ``np.savez`` does: it could unfold to any size."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("compressed arrays, expected plain ones")
    if sum(member.file_size for member in members) > most_bytes:
        raise ValueError(f"arrays of more than {most_bytes} bytes")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST_COUNT


def _refuse(source: Source, found: dict[str, int]) -> None:
    """Raises the LimitError for the counts at which the child stopped."""
    source.check_joints(found.get("joints", 0))
    source.check_depth(found.get("depth", 0))
    source.check_size(found.get("frames", 0), found.get("joints", 0))
    raise ValueError(f"it stopped at {found}, which is within the limits")


def floats(source: Source, arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> Floats:
    """One array of the answer, of the expected shape (None: any length) and finite."""
    values = arrays.get(name)
    if values is None or values.dtype.kind not in "fiu" or values.ndim != len(shape):
        raise source.error(f"{name}: not the numbers that were expected")
    if any(want is not None and want != have for want, have in zip(shape, values.shape, strict=True)):
        raise source.error(f"{name}: shape {values.shape}, expected {shape}")
    numbers = values.astype(np.float64)
    sound = np.abs(numbers) <= GREATEST_NUMBER  # False for NaN too
    if not sound.all():
        where = tuple(np.argwhere(~sound)[0].tolist())
        raise source.error(f"{name}: {numbers[where]:g} at {where}, expected finite numbers up to {GREATEST_NUMBER:g}")
    return numbers


def unit_rotations(source: Source, rotations: Floats, joints: Sequence[str]) -> Floats:
    """Quaternions (T, J, 4) of length 1; one of length 0 is an error that names frame and joint."""
    zero = np.argwhere(~(np.linalg.norm(rotations, axis=2) > 0))
    if len(zero):
        t, j = zero[0].tolist()
        raise source.error(f"frame {t}, {joints[j]}: a rotation of length 0, expected a unit quaternion")
    return normalise(rotations)


def positive(source: Source, value: Any, what: str) -> float:
    """One number of the facts."""
    if type(value) not in (int, float) or not 0 < value <= GREATEST_NUMBER:
        raise source.error(f"{repr(value)[:40]} {what}, expected a positive number")
    return float(value)


def texts(source: Source, facts: Facts, name: str) -> list[str]:
    """A list of strings among the facts."""
    values = facts.get(name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise source.error(f"{name}: not the list of names that was expected")
    return values


def count(facts: Facts, name: str) -> int:
    """One count of the facts; 1 where there is none."""
    value: Any = facts.get(name)
    return int(value) if _is_count(value) else 1


def say_which_animation(source: Source, facts: Facts) -> None:
    """A note where the file holds several."""
    if count(facts, "n_animations") > 1:
        source.note(f"{facts['n_animations']} animations ({', '.join(texts(source, facts, 'animations'))}); "
                    f"{facts.get('chosen')} is read, choose with animation=...")  # fmt: skip
