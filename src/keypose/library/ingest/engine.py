"""Who prepares the clips of an ingest: processes of this machine, or a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from keypose.batch import Outcome, default_jobs, map_clips
from keypose.batch.dask_map import SCHEMES, map_on_dask
from keypose.errors import OptionError
from keypose.library.preparing import Prepared, Work, do
from keypose.options import text, whole

Item = TypeVar("Item")
Result = TypeVar("Result")

# Clips are many and numbers in each are few: a process works on one clip with one thread.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Engine:
    """Processes of this machine, ``jobs`` of them, or the cluster at ``address``."""

    jobs: int | None
    address: str | None = None

    @property
    def is_far(self) -> bool:
        """Whether the work is done where our files may not be."""
        return self.address is not None

    def outcomes(self, works: Iterable[Work], n_files: int) -> Generator[Outcome[Prepared]]:
        """What becomes of each of ``works``, as it is completed."""
        return self.map(do, works, n_files)

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item], n_items: int
    ) -> Generator[Outcome[Result]]:
        """``function`` of each of ``items``, as it is completed."""
        if self.address is not None:
            yield from map_on_dask(function, items, self.address)
            return
        with _one_thread_each():
            yield from map_clips(function, items, self.jobs or default_jobs(n_items))


def engine_of(jobs: int | None, engine: str | None) -> Engine:
    """The engine that is meant: None is this machine, ``dask://host:8786`` a cluster (``tcp://``, ``tls://`` too)."""
    count = None if jobs is None else whole("jobs", jobs, least=1)
    if engine is None:
        return Engine(count)
    if not text("engine", engine).startswith(SCHEMES):
        raise OptionError(f"engine={engine!r}, expected the address of a Dask scheduler: dask://host:8786")
    if count is not None:
        raise OptionError(f"jobs={jobs} and engine={engine!r}: a cluster has as many workers as it has")
    return Engine(None, engine)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """For processes that are started meanwhile; a number of threads that somebody has set stays."""
    ours = {name: value for name, value in _ONE_THREAD.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)
