"""Configuration of glibc's allocator."""

from __future__ import annotations

import contextlib

LARGE_BYTES = 1 << 20
_M_MMAP_THRESHOLD = -3  # of glibc's malloc.h


def release_large_blocks() -> None:
    """Make free() return blocks of 1 MiB and more to the system.

    By default glibc raises that threshold to the largest block freed so far: then a few small blocks between large
    ones keep all of them allocated.
    """
    with contextlib.suppress(ImportError, OSError, AttributeError, TypeError):  # other systems have no such call
        import ctypes

        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
