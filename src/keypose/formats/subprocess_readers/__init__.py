"""Read and write files with large C++ libraries (OpenUSD, Blender) in a child process with limits.

Both crash on some damaged files. The reader is a script that imports nothing of this package, which need not be
installed for Blender's interpreter: ``main.py`` sets the limits and calls ``read`` of the script, which returns arrays
and facts (JSON values). They are passed as an ``.npz`` without pickles and a JSON file, in a folder that is removed
afterwards. Writing works in the same way: the input is arrays and facts, the output the bytes of a file.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keypose.arrays import MAX_MAGNITUDE, Floats
from keypose.errors import UNSET, FileError, KeyposeError, MissingExtra, OptionError
from keypose.formats.base import MOTION_BYTES_PER_JOINT, SMALL_MOTION_BYTES, Extra, Source
from keypose.options import LoadOptions
from keypose.rotations import normalise

_HERE = Path(__file__).resolve().parent
MIN_SECONDS = 60.0
SECONDS_PER_MB = 5.0  # of the file
MAX_FACTS_BYTES = 16 << 20
MAX_COUNT = 10**15  # of any count in the facts

Arrays = dict[str, NDArray[Any]]
Facts = dict[str, Any]


@dataclass(frozen=True)
class ExternalLibrary:
    """A library that reads or writes files in a child process."""

    name: str  # in errors
    script: str  # in this folder: read(request) -> (arrays, facts), or write(request, arrays) -> facts
    start_bytes: int  # address space that it needs at start
    action: str  # "reading FBX"
    extra: Extra  # optional dependency that installs it
    versions: tuple[str, ...] = ()  # with which it is tested; empty: any

    def find_python(self) -> str:
        """Return the Python that has the library; MissingExtra if there is none."""
        python = self.extra.find_python()
        if python is None:
            raise self.missing_error()
        return python

    def missing_error(self) -> MissingExtra:
        """Return the error that it is not installed."""
        return self.extra.missing_error(self.action)

    def failure_fields(self, facts: Facts, action: Literal["read", "write"]) -> dict[str, Any]:
        """Return the fields of an error that the library raised, from the facts (untrusted)."""
        version = re.match(r"\d{1,4}\.\d{1,4}", str(facts.get("version")))
        hint = None
        if version is not None and self.versions and version[0] not in self.versions:
            hint = f"use {self.name} {' or '.join(self.versions)} in place of {version[0]}"
        return {"problem": f"{self.name} cannot {action} it ({str(facts['failure'])[:1000]})", "hint": hint}


def read_in_subprocess(
    source: Source, library: ExternalLibrary, suffix: str, options: LoadOptions, **facts: Any
) -> tuple[Arrays, Facts]:
    """Return the arrays and facts that the library's script reads from the file; any failure is a FormatError.

    ``facts`` are added to the request.
    """
    python = library.find_python()
    if options.animation is not None and type(options.animation) not in (str, int):
        raise OptionError(option="animation", value=options.animation, expected="a name or a number")
    limits = source.limits
    motion_bytes = max(SMALL_MOTION_BYTES, limits.expansion * len(source.data))
    seconds = MIN_SECONDS + SECONDS_PER_MB * len(source.data) / 1e6
    with tempfile.TemporaryDirectory(prefix="keypose-") as name:
        folder = Path(name)
        (folder / f"in{suffix}").write_bytes(source.data)
        request = {
            "animation": options.animation,
            "only_names": False,  # of the animations
            "fps": options.fps,
            "script": str(_HERE / library.script),
            "file": str(folder / f"in{suffix}"),
            "folder": str(folder),
            "max_joints": limits.joints,
            "max_depth": limits.depth,
            "max_frames": limits.frames,
            "max_poses": motion_bytes // MOTION_BYTES_PER_JOINT,  # frames times joints
            "seconds": int(seconds) + 1,
            "address_bytes": library.start_bytes + 2 * motion_bytes,
            "file_bytes": 2 * motion_bytes,
            **facts,
        }
        code = _run(python, request, folder, seconds)
        if code is None:
            raise source.error(f"{library.name} did not finish within {seconds:.0f} s", value=seconds)
        if code != 0:
            raise source.error(f"{library.name} {_describe_exit(code)} while reading it", expected="a sound file")
        return _load_answer(source, library, folder, options, 2 * motion_bytes)


def write_in_subprocess(
    name: str, library: ExternalLibrary, python: str, suffix: str, request: Facts, arrays: Arrays, seconds: float
) -> bytes:
    """Return the content of the file that the library's script writes; any failure is a FileError.

    ``name`` is that of the motion, for errors.
    """
    max_bytes = SMALL_MOTION_BYTES + 4 * sum(array.nbytes for array in arrays.values())
    with tempfile.TemporaryDirectory(prefix="keypose-") as folder_name:
        folder = Path(folder_name)
        np.savez(folder / "input.npz", allow_pickle=False, **arrays)
        out = folder / f"out{suffix}"
        request = request | {
            "script": str(_HERE / library.script),
            "input": str(folder / "input.npz"),
            "out": str(out),
            "folder": str(folder),
            "seconds": int(seconds) + 1,
            "address_bytes": library.start_bytes + 2 * max_bytes,
            "file_bytes": max_bytes,
        }
        code = _run(python, request, folder, seconds)
        if code is None:
            raise FileError(f"{library.name} did not finish writing it within {seconds:.0f} s", path=name)
        if code != 0:
            raise FileError(f"{library.name} {_describe_exit(code)} while writing it", path=name)
        try:
            facts = json.loads((folder / "facts.json").read_bytes())
            if facts.get("missing"):
                raise library.missing_error()
            if "failure" in facts:
                raise FileError(path=name, **library.failure_fields(facts, "write"))
            if "problem" in facts:
                raise FileError(str(facts["problem"]), path=name)
            return out.read_bytes()
        except (OSError, ValueError, AttributeError) as error:
            if isinstance(error, KeyposeError):
                raise
            raise FileError(f"{library.name} left no file ({error})", path=name) from None


def _run(python: str, request: Facts, folder: Path, seconds: float) -> int | None:
    """Run ``main.py`` and return its exit code (negative: the signal), None after a timeout; discard its output."""
    (folder / "request.json").write_text(json.dumps(request))
    command = [python, "-P", str(_HERE / "main.py"), str(folder / "request.json")]
    environment = os.environ | {
        "PXR_WORK_THREAD_LIMIT": "1",  # as threads and their heaps use address space
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "TMPDIR": str(folder),
    }
    devnull = subprocess.DEVNULL
    try:
        return subprocess.run(
            command, stdin=devnull, stdout=devnull, stderr=devnull, cwd=folder, env=environment, timeout=seconds
        ).returncode
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise MissingExtra(f"cannot be started ({error.strerror or error})", path=command[0]) from None


def _describe_exit(code: int) -> str:
    try:
        return f"was stopped by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended with code {code}"


def _load_answer(
    source: Source, library: ExternalLibrary, folder: Path, options: LoadOptions, max_bytes: int
) -> tuple[Arrays, Facts]:
    """Load the arrays and facts that the child wrote. They are untrusted, as a file may have exploited the child."""
    try:
        if (folder / "facts.json").stat().st_size > MAX_FACTS_BYTES:
            raise ValueError(f"facts of more than {MAX_FACTS_BYTES} bytes")
        facts = json.loads((folder / "facts.json").read_bytes())
        if not isinstance(facts, dict):
            raise TypeError("facts that are no object")
        if facts.get("missing"):
            raise library.missing_error()
        if "available_animations" in facts:
            assert options.animation is not None
            raise source.unknown_animation_error(options.animation, list(map(str, facts["available_animations"])))
        if "too_many" in facts:
            _raise_limit_error(source, {k: v for k, v in facts["too_many"].items() if _is_count(v)})
        if "failure" in facts:
            raise source.error(**library.failure_fields(facts, "read"))
        if "problem" in facts:
            line = facts.get("line")
            value = facts.get("value")
            raise source.error(
                str(facts["problem"])[:1000],
                line=line if _is_count(line) else None,
                value=value if isinstance(value, str) else UNSET,
            )
        _check_archive(folder / "arrays.npz", max_bytes)
        with np.load(folder / "arrays.npz", allow_pickle=False) as archive:
            return {key: np.asarray(archive[key]) for key in archive.files}, facts
    except KeyposeError:
        raise
    except Exception as error:  # untrusted data: json, zipfile and numpy may raise anything
        reason = f"{type(error).__name__}: {error}"[:300]
        raise source.error(f"{library.name} gave no usable answer ({reason})", value=reason) from None


def _check_archive(path: Path, max_bytes: int) -> None:
    """Raise ValueError for a compressed archive, which could expand to any size; ``np.savez`` writes plain ones."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("compressed arrays, expected plain ones")
    if sum(member.file_size for member in members) > max_bytes:
        raise ValueError(f"arrays of more than {max_bytes} bytes")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_COUNT


def _raise_limit_error(source: Source, counts: dict[str, int]) -> None:
    """Raise the LimitError for the counts at which the child stopped."""
    source.check_joints(counts.get("joints", 0))
    source.check_depth(counts.get("depth", 0))
    source.check_size(counts.get("frames", 0), counts.get("joints", 0))
    raise ValueError(f"it stopped at {counts}, which is within the limits")


def read_array(source: Source, arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> Floats:
    """Return one array of the answer; raise FormatError unless it has ``shape`` (None: any length) and is finite."""
    values = arrays.get(name)
    if values is None or values.dtype.kind not in "fiu" or values.ndim != len(shape):
        raise source.error(f"{name}: not the numbers that were expected", code="inconsistent")
    if any(want is not None and want != have for want, have in zip(shape, values.shape, strict=True)):
        raise source.error(f"{name}: shape {values.shape}", code="inconsistent", expected=f"{shape}")
    numbers = values.astype(np.float64)
    is_valid = np.abs(numbers) <= MAX_MAGNITUDE  # False for NaN too
    if not is_valid.all():
        index = tuple(np.argwhere(~is_valid)[0].tolist())
        raise source.error(
            f"{name}: {numbers[index]:g} at {index}",
            code="bad_number",
            expected=f"finite numbers up to {MAX_MAGNITUDE:g}",
        )
    return numbers


def normalise_rotations(source: Source, rotations: Floats, joints: Sequence[str]) -> Floats:
    """Return quaternions (T, J, 4) of length 1; one of length 0 is an error that names frame and joint."""
    zero = np.argwhere(~(np.linalg.norm(rotations, axis=2) > 0))
    if len(zero):
        t, j = zero[0].tolist()
        raise source.error(
            f"frame {t}, {joints[j]}: a rotation of length 0", code="bad_number", expected="a unit quaternion"
        )
    return normalise(rotations)


def read_positive(source: Source, value: Any, label: str) -> float:
    """Return a positive number of the facts; ``label`` is for errors."""
    if type(value) not in (int, float) or not 0 < value <= MAX_MAGNITUDE:
        raise source.error(f"{repr(value)[:40]} {label}", code="bad_number", value=value, expected="a positive number")
    return float(value)


def read_strings(source: Source, facts: Facts, name: str) -> list[str]:
    """Return a list of strings of the facts."""
    values = facts.get(name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise source.error(f"{name}: not the list of names that was expected", code="inconsistent")
    return values


def read_count(facts: Facts, name: str) -> int:
    """Return a count of the facts; 1 if there is none."""
    value: Any = facts.get(name)
    return int(value) if _is_count(value) else 1


def list_animations_in_subprocess(
    source: Source, library: ExternalLibrary, suffix: str, options: LoadOptions
) -> list[str]:
    """Return the names of the animations that the library's script finds in the file."""
    _, facts = read_in_subprocess(source, library, suffix, options, only_names=True)
    return read_strings(source, facts, "animations")


def note_animations(source: Source, facts: Facts) -> None:
    """Add a note if the file contains several animations."""
    if read_count(facts, "n_animations") > 1:
        source.note(
            f"{facts['n_animations']} animations ({', '.join(read_strings(source, facts, 'animations'))}); "
            f"{facts.get('chosen')} is read; the option animation chooses another",
            code="other_animations",
        )


def note_not_read(source: Source, facts: Facts) -> None:
    """Add a note about the parts of the file that the script does not read, if there are any."""
    names = facts.get("not_read", {})
    if not isinstance(names, dict):
        raise source.error("not_read: not the names that were expected", code="inconsistent")
    source.note_not_read({kind: read_strings(source, names, kind) for kind in names})
