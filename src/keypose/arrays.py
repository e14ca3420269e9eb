"""Array types; the base class of types with arrays that are checked once and read-only afterwards; runs and peaks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.errors import ModelError

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]
Kind = TypeVar("Kind")

# Values of real motions are smaller in any unit; products of a few such numbers do not overflow.
MAX_MAGNITUDE = 1e15
NUMERIC_KINDS = "biufO"  # kinds of arrays that may contain numbers


def freeze_floats(values: ArrayLike, shape: tuple[int | None, ...], name: str) -> Floats:
    """Return ``values`` as a read-only, C-contiguous float64 array of ``shape`` (None: any length).

    The data are copied if they may be written to elsewhere. Raise ModelError if the shape differs or a number is not
    finite or above ``MAX_MAGNITUDE``; the message starts with ``name``.
    """
    try:
        if np.iscomplexobj(values) or _is_masked(values):
            raise ModelError("complex or masked numbers", option=name, expected="plain ones")
        if np.asarray(values).dtype.kind not in NUMERIC_KINDS:
            raise ModelError(f"not numbers ({np.asarray(values).dtype})", option=name)
        with np.errstate(over="ignore"):
            array = np.asarray(values, dtype=np.float64)
    except ModelError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"not numbers ({error})", option=name) from None
    _check_shape(array, shape, name)
    if array.size and not (array.min() >= -MAX_MAGNITUDE and array.max() <= MAX_MAGNITUDE):  # also false for NaN
        is_valid = np.abs(array) <= MAX_MAGNITUDE
        index = tuple(int(i) for i in np.argwhere(~is_valid)[0])
        expected = f"finite numbers up to {MAX_MAGNITUDE:g}"
        raise ModelError(f"{array[index]:g} at index {index}", option=name, expected=expected)
    return freeze_or_copy(array)


def _is_masked(values: ArrayLike) -> bool:
    # numpy.ma is slow to import, and in sys.modules it may be one that another thread is still importing.
    return isinstance(values, np.ndarray) and bool(np.any(getattr(values, "mask", False)))


def freeze_ints(values: ArrayLike, shape: tuple[int | None, ...], name: str) -> Ints:
    """Return ``values`` as a read-only int32 array of ``shape`` (None: any length)."""
    try:
        raw = np.asarray(values)
    except ValueError as error:
        raise ModelError(f"not numbers ({error})", option=name) from None
    if raw.size and not np.issubdtype(raw.dtype, np.integer):
        raise ModelError(f"{raw.dtype} numbers", option=name, expected="integers")
    if raw.size and (raw.min() < -(2**31) or raw.max() >= 2**31):
        raise ModelError("numbers beyond 32 bits", option=name)
    array = raw.astype(np.int32)
    _check_shape(array, shape, name)
    return freeze_or_copy(array)


def freeze_items(values: Iterable[Kind], kind: type[Kind], label: str) -> tuple[Kind, ...]:
    """Return ``values`` as a tuple, checked to be of one type; ``label`` is such as "motion: notes".

    Raise ModelError otherwise, also for a single text or an array without dimensions.
    """
    try:
        items = () if isinstance(values, str) else tuple(values)
    except TypeError:
        items = None
    if items is None or isinstance(values, str):
        subject, _, name = label.rpartition(": ")
        problem = f"{name} is {type(values).__name__}"
        raise ModelError(problem, subject=subject or None, expected=f"several {kind.__name__}")
    for each in items:
        if not isinstance(each, kind):
            raise ModelError(f"{type(each).__name__} among them", subject=label, expected=kind.__name__)
    return items


def freeze_or_copy(array: NDArray[Any]) -> NDArray[Any]:
    """Return ``array`` read-only and contiguous, as a copy if its memory is writable elsewhere."""
    contiguous = np.ascontiguousarray(array)
    is_new = contiguous is not array and contiguous.base is None
    if not is_new and (contiguous.flags.writeable or _has_writable_base(contiguous)):
        contiguous = contiguous.copy()
    return freeze(contiguous)


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    """Make ``array`` itself read-only and return it; only for new arrays to which no other reference exists."""
    array.setflags(write=False)
    return array


def runs(flags: Bools) -> list[tuple[int, int]]:
    """Return (start, stop) of each maximal run of true ``flags`` (T,)."""
    padded = np.zeros(len(flags) + 2, np.bool_)
    padded[1:-1] = flags
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    return [(start, stop) for start, stop in edges.reshape(-1, 2).tolist()]


def find_peaks(values: Floats, min_prominence: float) -> list[tuple[int, float]]:
    """Return frame and prominence of the peaks of ``values`` (T,), in time order.

    The values rise to a peak and fall from it by at least ``min_prominence``, without turning by as much on the way.
    The prominence is the smaller of the two. Of equal values the first is the peak.
    """
    numbers = values.tolist()  # faster one by one
    if not numbers or max(numbers) - min(numbers) < min_prominence:
        return []
    turns = np.flatnonzero((values[1:-1] - values[:-2]) * (values[2:] - values[1:-1]) <= 0) + 1
    peaks: list[int] = []
    lows = [0]  # the lowest frame before, between and after the peaks
    high: int | None = None  # the highest frame since the last low; None while the values fall
    for frame in (*turns.tolist(), len(numbers) - 1):
        value = numbers[frame]
        if high is None:
            if value < numbers[lows[-1]]:
                lows[-1] = frame
            elif value - numbers[lows[-1]] >= min_prominence:
                high = frame
        elif value > numbers[high]:
            high = frame
        elif numbers[high] - value >= min_prominence:
            peaks.append(high)
            lows.append(frame)
            high = None
    return [
        (peak, numbers[peak] - max(numbers[before], numbers[after]))
        for peak, before, after in zip(peaks, lows, lows[1:], strict=False)
    ]


def _has_writable_base(array: NDArray[Any]) -> bool:
    """Return whether another array, a mapped file or a buffer shares this memory. Arrays of our kernels do not."""
    base = array.base
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return True
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return not (base is None or isinstance(base, bytes) or type(base).__name__ == "nb_ndarray")


def _check_shape(array: NDArray[Any], shape: tuple[int | None, ...], name: str) -> None:
    fits = array.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits:
        expected = ", ".join("any" if n is None else str(n) for n in shape)
        raise ModelError(f"shape {array.shape}", option=name, expected=f"({expected})")


class Frozen:
    """Base class of frozen dataclasses with read-only arrays.

    Arrays are also read-only after pickling and copying. Only fields are pickled; cached properties are computed again.
    """

    def _set_field(self, name: str, value: object) -> None:
        """Set a field to its checked value; only for ``__post_init__``."""
        object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)
