"""Memory goes back to the system."""

from __future__ import annotations

import contextlib

LARGE_BYTES = 1 << 20
_M_MMAP_THRESHOLD = -3  # of glibc's malloc.h


def give_back_large() -> None:
    """Blocks from 1 MiB on are given back when they are free.

    Left alone, glibc raises that bound to the largest that it has seen: then a few small blocks that stay between
    large ones keep all of these.
    """
    with contextlib.suppress(ImportError, OSError, AttributeError, TypeError):  # other systems have no such call
        import ctypes

        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
