"""A map over clips like ``pool.map_clips``, on the workers of a Dask cluster.

Items contain all their data, so workers need only Keypose and no shared disk (start them with ``--nthreads 1``, as an
item uses one thread). If a worker dies, Dask retries its item; an item that kills several workers has failed. Anyone
who can reach a scheduler can run any code on its workers: run clusters in a private network, or behind ``tls://``.
"""

from __future__ import annotations

import importlib
import time
import uuid
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from keypose.batch.worker import Failure, Outcome, build_failure, run_item
from keypose.errors import KeyposeError, MissingExtra, OptionError

Client = Any  # of the package distributed, which has no types
Future = Any
Item = TypeVar("Item")
Result = TypeVar("Result")

SCHEMES = ("dask://", "tcp://", "tls://")
DEFAULT_PORT = 8786
CONNECT_S = 10.0
NO_WORKER_TIMEOUT_S = 60.0  # how long to wait for a worker
POLL_S = 1.0  # interval between counts of workers
ITEMS_PER_THREAD = 2  # items in flight per thread of the cluster: one running, one queued


def map_on_dask(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    address: str,
    *,
    on_start: Callable[[int], None] | None = None,
    no_worker_timeout_s: float = NO_WORKER_TIMEOUT_S,
) -> Generator[Outcome[Result]]:
    """Yield the outcome of ``function`` for every item, computed on the cluster at ``address`` (``dask://host:8786``).

    Otherwise as ``map_clips``. Items are consumed as the cluster has capacity for them; ``on_start`` is called with the
    index of each submitted item. Raises a KeyposeError if the scheduler is lost or the cluster has no worker for
    ``no_worker_timeout_s`` seconds; outcomes yielded before remain valid. To stop early, close the iterator; pending
    items are then cancelled.
    """
    scheduler = parse_scheduler_address(address)
    client = _connect(scheduler)
    try:
        yield from _Map(client, scheduler, function, enumerate(items), on_start, no_worker_timeout_s).outcomes()
    finally:
        client.close(timeout=CONNECT_S)


def parse_scheduler_address(address: str) -> str:
    """Return the address in Dask's form: ``tcp://host:port`` or ``tls://host:port``."""
    url = urlsplit(address)
    try:
        port = url.port or DEFAULT_PORT
    except ValueError:
        port = 0
    if not address.startswith(SCHEMES) or not url.hostname or not port or url.path not in ("", "/"):
        raise OptionError(
            option="engine", value=address, expected=f"the address of a Dask scheduler: dask://host:{DEFAULT_PORT}"
        )
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    return f"{'tcp' if url.scheme == 'dask' else url.scheme}://{host}:{port}"


def _connect(scheduler: str) -> Client:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise MissingExtra("a Dask cluster needs", "pip install 'keypose[dask]'") from None
    try:
        return distributed.Client(scheduler, timeout=CONNECT_S, set_as_default=False, direct_to_workers=False)
    except (OSError, ValueError, TypeError) as error:  # an unknown host, a bad certificate
        raise KeyposeError(
            f"{scheduler}: no Dask scheduler answers ({error})", expected="one that runs", code="unreachable"
        ) from None


@dataclass(eq=False)
class _Map(Generic[Item, Result]):
    client: Client
    scheduler: str
    function: Callable[[Item], Result]
    queue: Iterator[tuple[int, Item]]
    on_start: Callable[[int], None] | None
    no_worker_timeout_s: float
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    finished_futures: SimpleQueue[Future] = field(default_factory=SimpleQueue)
    pending: dict[str, tuple[int, float]] = field(default_factory=dict)  # index and start time by key
    futures: dict[str, Future] = field(default_factory=dict)  # Dask drops results without a reference
    n_threads: int = 0
    last_poll: float = -POLL_S
    no_workers_since: float | None = None

    def outcomes(self) -> Generator[Outcome[Result]]:
        try:
            while True:
                yield from self._submit_items()
                if not self.pending:
                    return
                try:
                    future = self.finished_futures.get(timeout=POLL_S)
                except Empty:
                    continue
                yield self._take_outcome(future)
        finally:
            if self.futures and self.client.status == "running":
                self.client.cancel(list(self.futures.values()), force=True)
            self.futures.clear()

    def _submit_items(self) -> Iterator[Outcome[Result]]:
        """Submit items up to the capacity of the cluster; yield a failure for each that cannot be sent."""
        self._poll_workers()
        while len(self.pending) < max(1, ITEMS_PER_THREAD * self.n_threads):
            next_item = next(self.queue, None)
            if next_item is None:
                return
            index, item = next_item
            if self.on_start:
                self.on_start(index)
            try:
                self._submit(index, item)
            except KeyposeError:
                raise
            except Exception as error:  # the pickling of an item may raise anything
                if self.client.status != "running":
                    raise self._connection_error(error) from None
                yield Outcome(index, failure=build_failure(error))

    def _submit(self, index: int, item: Item) -> None:
        import dask

        key = f"keypose-{self.name}-{index}"
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):  # clips are large
            future = self.client.submit(run_item, self.function, index, item, key=key, pure=False)
        self.pending[key], self.futures[key] = (index, time.perf_counter()), future
        future.add_done_callback(self.finished_futures.put)

    def _poll_workers(self) -> None:
        """Count the threads of the cluster, at most every POLL_S; raise if it had none for too long."""
        now = time.monotonic()
        if now - self.last_poll < POLL_S:
            return
        self.last_poll = now
        try:
            self.n_threads = sum(self.client.nthreads().values())
        except (OSError, TimeoutError) as error:
            raise self._connection_error(error) from None
        if self.n_threads:
            self.no_workers_since = None
            return
        self.no_workers_since = now if self.no_workers_since is None else self.no_workers_since
        if now - self.no_workers_since > self.no_worker_timeout_s:
            raise KeyposeError(
                f"{self.scheduler}: the Dask cluster has had no worker for {self.no_worker_timeout_s:g} s, expected "
                f"one at least: dask worker {self.scheduler} --nthreads 1",
                code="unreachable",
            )

    def _take_outcome(self, future: Future) -> Outcome[Result]:
        index, since = self.pending.pop(future.key)
        try:
            outcome: Outcome[Result] = self._result(future)
            return outcome
        except KeyposeError:
            raise
        except Exception as error:  # a worker may raise anything
            return Outcome(index, failure=self._build_failure(error), seconds=time.perf_counter() - since)
        finally:
            self.futures.pop(future.key).release()

    def _result(self, future: Future) -> Any:
        if future.cancelled():
            raise self._connection_error("the connection was lost")
        return future.result()

    def _build_failure(self, error: Exception) -> Failure:
        """Return why an item has no outcome; raise if the whole cluster failed."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        if isinstance(error, FutureCancelledError) or self.client.status != "running":
            raise self._connection_error(error) from None
        if isinstance(error, KilledWorker):
            return Failure("crash", f"{error.allowed_failures + 1} workers that worked on it died")
        if isinstance(error, ImportError):
            raise KeyposeError(
                f"{self.scheduler}: a worker cannot do the work ({error})",
                expected="the same Keypose there as here",
                code="worker",
            ) from None
        return build_failure(error)

    def _connection_error(self, error: object) -> KeyposeError:
        return KeyposeError(
            f"{self.scheduler}: the Dask cluster is gone ({error})",
            code="unreachable",
            hint="finished files are saved, and the same command continues with the rest",
        )
