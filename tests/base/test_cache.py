"""The cache of the least recently used values, and the one that lives as long as its objects."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

from keypose.cache import LruCache, cache_weakly, memory_bytes
from keypose.errors import OptionError


def test_count() -> None:
    cache = LruCache(2)
    cache["a"], cache["b"] = 1, 2
    assert cache["a"] == 1
    cache["c"] = 3
    assert list(cache) == ["a", "c"] and len(cache) == 2 and "b" not in cache
    assert cache.get_or_make("c", lambda: pytest.fail("cached")) == 3
    assert cache.get_or_make("d", lambda: 4) == 4
    assert list(cache) == ["c", "d"]
    del cache["c"]
    cache.clear()
    assert not cache
    with pytest.raises(OptionError):
        LruCache(0)


def test_failed_values_are_not_stored() -> None:
    cache = LruCache(2)
    with pytest.raises(KeyError, match="inside"):
        cache.get_or_make("a", lambda: {}["inside"])
    assert "a" not in cache


def test_bytes() -> None:
    cache = LruCache(4, max_bytes=100_000)
    for k in range(10):
        cache[k] = bytes(20_000)
    assert list(cache) == [6, 7, 8, 9] and cache.get_or_make(6, lambda: b"") == bytes(20_000)
    cache["new"] = [bytearray(20_000)]
    assert list(cache) == [8, 9, 6, "new"]
    cache["new"][0].extend(bytes(70_000))  # values may grow
    cache.trim()
    assert list(cache) == ["new"] and cache.n_bytes < 100_000
    for k in range(10):
        cache[k] = k
    assert list(cache) == [6, 7, 8, 9]  # limited by count


def test_memory_counts_shared_objects_once() -> None:
    array = np.zeros(10_000)
    assert 80_000 < memory_bytes([array, [array], {"a": array}]) < 82_000


def test_threads_share_a_cache() -> None:
    cache = LruCache(8)
    failures: list[BaseException] = []

    def use(offset: int) -> None:
        try:
            for k in range(3000):
                assert cache.get_or_make((k + offset) % 20, lambda k=k: (k + offset) % 20) == (k + offset) % 20
        except BaseException as error:  # reported in the main thread
            failures.append(error)

    threads = [threading.Thread(target=use, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and len(cache) == 8


def test_weak_cache() -> None:
    class Argument:
        pass

    calls: list[int] = []

    @cache_weakly
    def number(argument: Argument) -> int:
        calls.append(1)
        return len(calls)

    first, second = Argument(), Argument()
    assert [number(first), number(second), number(first)] == [1, 2, 1]
    del first
    gc.collect()
    assert number(second) == 2 and len(calls) == 2
