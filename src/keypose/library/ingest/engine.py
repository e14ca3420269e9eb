"""The workers of an ingest: processes of this machine, or a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from keypose.batch import Outcome, default_jobs, map_clips
from keypose.batch.dask_map import SCHEMES, map_on_dask
from keypose.errors import OptionError
from keypose.library.clip_preparation import PreparedClip, PrepareJob, run_prepare_job
from keypose.validation import check_int, check_text

Item = TypeVar("Item")
Result = TypeVar("Result")

# There are many small clips: each process uses one thread.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Engine:
    """``jobs`` processes of this machine, or the cluster at ``address``."""

    jobs: int | None
    address: str | None = None

    @property
    def is_remote(self) -> bool:
        """Whether workers may lack access to our files."""
        return self.address is not None

    def prepare_clips(self, jobs: Iterable[PrepareJob], n_files: int) -> Generator[Outcome[PreparedClip]]:
        """Yield the outcome of each job as it completes."""
        return self.map(run_prepare_job, jobs, n_files)

    def map(
        self, function: Callable[[Item], Result], items: Iterable[Item], n_items: int
    ) -> Generator[Outcome[Result]]:
        """Yield the outcome of ``function`` for each of ``items`` as it completes."""
        if self.address is not None:
            yield from map_on_dask(function, items, self.address)
            return
        with _limit_threads():
            yield from map_clips(function, items, self.jobs or default_jobs(n_items))


def choose_engine(jobs: int | None, engine: str | None) -> Engine:
    """Return the engine: None is this machine, ``dask://host:8786`` a cluster (also ``tcp://``, ``tls://``)."""
    count = None if jobs is None else check_int("jobs", jobs, min_value=1)
    if engine is None:
        return Engine(count)
    if not check_text("engine", engine).startswith(SCHEMES):
        raise OptionError(f"engine={engine!r}, expected the address of a Dask scheduler: dask://host:8786")
    if count is not None:
        raise OptionError(f"jobs={jobs} and engine={engine!r}: a cluster has as many workers as it has")
    return Engine(None, engine)


@contextmanager
def _limit_threads() -> Iterator[None]:
    """Limit processes started within the context to one thread; settings of the user stay."""
    added = {name: value for name, value in _ONE_THREAD.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
