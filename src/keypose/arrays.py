"""Array types, and the one way in which nouns keep arrays: checked once, read-only ever after."""

from __future__ import annotations

import sys
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keypose.errors import ModelError

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Bools = NDArray[np.bool_]

# No figure is larger, in any unit; below it no product of a few numbers overflows.
GREATEST_NUMBER = 1e15
NUMBERS = "biufO"  # kinds of arrays that may hold numbers


def frozen_floats(values: ArrayLike, shape: tuple[int | None, ...], what: str) -> Floats:
    """``values`` as a read-only, C-contiguous float64 array of ``shape`` (None: any length), all finite and sane.

    The data are copied unless nobody else can write to them.
    """
    try:
        if np.iscomplexobj(values) or _is_masked(values):
            raise ModelError(f"{what}: complex or masked numbers, expected plain ones")
        if np.asarray(values).dtype.kind not in NUMBERS:
            raise ModelError(f"{what}: not numbers ({np.asarray(values).dtype})")
        with np.errstate(over="ignore"):
            array = np.asarray(values, dtype=np.float64)
    except ModelError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{what}: not numbers ({error})") from None
    _check_shape(array, shape, what)
    if array.size and not (array.min() >= -GREATEST_NUMBER and array.max() <= GREATEST_NUMBER):  # nor NaN
        sound = np.abs(array) <= GREATEST_NUMBER
        where = tuple(int(i) for i in np.argwhere(~sound)[0])
        sane = f"finite numbers up to {GREATEST_NUMBER:g}"
        raise ModelError(f"{what}: {array[where]:g} at index {where}, expected {sane}")
    return frozen(array)


def _is_masked(values: ArrayLike) -> bool:
    masked = sys.modules.get("numpy.ma")  # loading it takes longer than anything else here
    return masked is not None and bool(masked.is_masked(values))


def frozen_ints(values: ArrayLike, shape: tuple[int | None, ...], what: str) -> Ints:
    """``values`` as a read-only int32 array of ``shape`` (None: any length)."""
    try:
        given = np.asarray(values)
    except ValueError as error:
        raise ModelError(f"{what}: not numbers ({error})") from None
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise ModelError(f"{what}: {given.dtype} numbers, expected integers")
    if given.size and (given.min() < -(2**31) or given.max() >= 2**31):
        raise ModelError(f"{what}: numbers beyond 32 bits")
    array = given.astype(np.int32)
    _check_shape(array, shape, what)
    return frozen(array)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """``array`` read-only and contiguous; a copy if somebody else could still write to its memory."""
    contiguous = np.ascontiguousarray(array)
    made_here = contiguous is not array and contiguous.base is None
    if not made_here and (contiguous.flags.writeable or _writable_elsewhere(contiguous)):
        contiguous = contiguous.copy()
    return give_away(contiguous)


def give_away(array: NDArray[Any]) -> NDArray[Any]:
    """``array`` itself made read-only: for a maker that keeps no other way to write to it."""
    array.setflags(write=False)
    return array


def runs(flags: Bools) -> list[tuple[int, int]]:
    """Each longest run of true ``flags`` (T,): where it starts, and where it has stopped."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return [(start, stop) for start, stop in edges.reshape(-1, 2).tolist()]


def _writable_elsewhere(array: NDArray[Any]) -> bool:
    """Whether another array, a mapped file or a buffer still leads to this memory; our kernels keep no way to it."""
    base = array.base
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            return True
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return not (base is None or isinstance(base, bytes) or type(base).__name__ == "nb_ndarray")


def _check_shape(array: NDArray[Any], shape: tuple[int | None, ...], what: str) -> None:
    fits = array.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise ModelError(f"{what}: shape {array.shape}, expected ({wanted})")


class Frozen:
    """What the nouns, which are frozen dataclasses, have in common.

    Their arrays stay read-only through pickling and copying. Only the fields travel; what was cached is
    computed again where it is wanted.
    """

    def _put(self, name: str, value: object) -> None:
        """Sets a field to its checked form; only ``__post_init__`` calls it."""
        object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        self.__dict__.update(state)
