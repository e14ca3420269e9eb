"""The same map over clips, on the workers of a Dask cluster.

Items travel with what they need, so workers need no disk of ours, only Keypose (start them with ``--nthreads 1``: an
item uses one thread). Dask does an item again whose worker died; one that is the death of several workers has failed.
Who can reach a scheduler can run anything on its workers: clusters belong into a network of one's own, or behind
``tls://``.
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

from keypose.batch.worker import Failure, Outcome, attempt, failure_of
from keypose.errors import KeyposeError, MissingExtra, OptionError

Client = Any  # those of distributed, whose methods have no types
Future = Any
Item = TypeVar("Item")
Result = TypeVar("Result")

SCHEMES = ("dask://", "tcp://", "tls://")
DEFAULT_PORT = 8786
CONNECT_S = 10.0
PATIENCE_S = 60.0  # that a cluster without any worker is waited for
LOOK_S = 1.0  # how often is looked whether there are workers
AHEAD = 2  # items in flight for each thread of the cluster: one at work, one on its way


def map_on_dask(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    address: str,
    *,
    on_start: Callable[[int], None] | None = None,
    patience_s: float = PATIENCE_S,
) -> Generator[Outcome[Result]]:
    """``function`` of every item, on the cluster at ``address`` (``dask://host:8786``); as ``map_clips`` otherwise.

    Items are drawn as the cluster has room for them. ``on_start`` is told the index of each as it is handed over. A
    scheduler that is gone, and a cluster that has no worker for ``patience_s`` seconds, are a KeyposeError; what was
    given out before stays true. To stop early, close the iterator: what is under way is cancelled.
    """
    where = scheduler_address(address)
    client = _connected(where)
    try:
        yield from _Map(client, where, function, enumerate(items), on_start, patience_s).outcomes()
    finally:
        client.close(timeout=CONNECT_S)


def scheduler_address(address: str) -> str:
    """The address as Dask has it."""
    parts = urlsplit(address)
    try:
        port = parts.port or DEFAULT_PORT
    except ValueError:
        port = 0
    if not address.startswith(SCHEMES) or not parts.hostname or not port or parts.path not in ("", "/"):
        raise OptionError(f"{address!r}, expected the address of a Dask scheduler: dask://host:{DEFAULT_PORT}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{'tcp' if parts.scheme == 'dask' else parts.scheme}://{host}:{port}"


def _connected(where: str) -> Client:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise MissingExtra("a Dask cluster needs: pip install 'keypose[dask]'") from None
    try:
        return distributed.Client(where, timeout=CONNECT_S, set_as_default=False, direct_to_workers=False)
    except (OSError, ValueError, TypeError) as error:  # of a name, of a certificate
        raise KeyposeError(f"{where}: no Dask scheduler answers ({error}), expected one that runs") from None


@dataclass(eq=False)
class _Map(Generic[Item, Result]):
    client: Client
    where: str
    function: Callable[[Item], Result]
    queue: Iterator[tuple[int, Item]]
    on_start: Callable[[int], None] | None
    patience_s: float
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    done: SimpleQueue[Future] = field(default_factory=SimpleQueue)
    under_way: dict[str, tuple[int, float]] = field(default_factory=dict)  # index and since when, by key
    futures: dict[str, Future] = field(default_factory=dict)  # what nobody holds, Dask forgets
    threads: int = 0
    looked: float = -LOOK_S
    alone_since: float | None = None

    def outcomes(self) -> Generator[Outcome[Result]]:
        try:
            while True:
                yield from self._feed()
                if not self.under_way:
                    return
                try:
                    future = self.done.get(timeout=LOOK_S)
                except Empty:
                    continue
                yield self._outcome(future)
        finally:
            if self.futures and self.client.status == "running":
                self.client.cancel(list(self.futures.values()), force=True)
            self.futures.clear()

    def _feed(self) -> Iterator[Outcome[Result]]:
        """Hands over as many items as there is room for; those that cannot be sent have failed."""
        self._look()
        while len(self.under_way) < max(1, AHEAD * self.threads):
            following = next(self.queue, None)
            if following is None:
                return
            index, item = following
            if self.on_start:
                self.on_start(index)
            try:
                self._send(index, item)
            except KeyposeError:
                raise
            except Exception as error:  # whatever an item's own pickling may raise
                if self.client.status != "running":
                    raise self._gone(error) from None
                yield Outcome(index, failure=failure_of(error))

    def _send(self, index: int, item: Item) -> None:
        import dask

        key = f"keypose-{self.name}-{index}"
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"}):  # a clip is that large
            future = self.client.submit(attempt, self.function, index, item, key=key, pure=False)
        self.under_way[key], self.futures[key] = (index, time.perf_counter()), future
        future.add_done_callback(self.done.put)

    def _look(self) -> None:
        """Counts the threads of the cluster now and then; one that has had none for long is given up."""
        now = time.monotonic()
        if now - self.looked < LOOK_S:
            return
        self.looked = now
        try:
            self.threads = sum(self.client.nthreads().values())
        except (OSError, TimeoutError) as error:
            raise self._gone(error) from None
        if self.threads:
            self.alone_since = None
            return
        self.alone_since = now if self.alone_since is None else self.alone_since
        if now - self.alone_since > self.patience_s:
            raise KeyposeError(f"{self.where}: the Dask cluster has had no worker for {self.patience_s:g} s, expected "
                               f"one at least: dask worker {self.where} --nthreads 1")  # fmt: skip

    def _outcome(self, future: Future) -> Outcome[Result]:
        index, since = self.under_way.pop(future.key)
        try:
            outcome: Outcome[Result] = self._result(future)
            return outcome
        except KeyposeError:
            raise
        except Exception as error:  # as it came from a worker: anything
            return Outcome(index, failure=self._failure(error), seconds=time.perf_counter() - since)
        finally:
            self.futures.pop(future.key).release()

    def _result(self, future: Future) -> Any:
        if future.cancelled():
            raise self._gone("the connection was lost")
        return future.result()

    def _failure(self, error: Exception) -> Failure:
        """Why an item has no outcome of its own."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        if isinstance(error, FutureCancelledError) or self.client.status != "running":
            raise self._gone(error) from None
        if isinstance(error, KilledWorker):
            return Failure("crash", f"{error.allowed_failures + 1} workers that worked on it died")
        if isinstance(error, ImportError):
            raise KeyposeError(f"{self.where}: a worker cannot do the work ({error}), expected the same Keypose there "
                               f"as here") from None  # fmt: skip
        return failure_of(error)

    def _gone(self, error: object) -> KeyposeError:
        return KeyposeError(f"{self.where}: the Dask cluster is gone ({error}); what is done is kept, and the same "
                            f"again goes on with the rest")  # fmt: skip
