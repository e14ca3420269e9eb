"""Search tasks, in separate processes that hold the index in memory and do not delay other tasks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import Any

from keypose.errors import KeyposeError, OptionError
from keypose.library.library import Library
from keypose.library.search.hits import Hit
from keypose.server.schema import MAX_CLIPS, MAX_SKIP
from keypose.server.schema.clips import HitRow, SearchRequest, SearchResponse
from keypose.server.workers.worker_context import Task, TaskResult, WorkerContext

STABLE_ORDER_HITS = 250  # up to this many, the order of hits does not depend on the limit
MAX_HITS = MAX_SKIP + MAX_CLIPS


def prepare(context: WorkerContext) -> None:
    """Load the index before the first search; if the library is damaged, searches report it."""
    with contextlib.suppress(KeyposeError):
        context.library.prepare_search()


def search(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Return hits; ``payload["pose"]`` is the vector of the pose to search for, or None."""
    start_time = time.perf_counter()
    request = SearchRequest.model_validate(payload["request"])
    context.clip(request.clip)
    end = request.skip + request.limit
    limit = (end if end < STABLE_ORDER_HITS else MAX_HITS) + 1  # pages of one search must continue each other
    matches = _run_search(context.library, request, limit, payload["pose"])
    page = matches[request.skip : end]
    for hit in page:
        _ = hit.body_parts  # loads them for all hits: pydantic would turn an error of the database into one of its own
    hits = tuple(map(HitRow.model_validate, page))
    elapsed_ms = 1000 * (time.perf_counter() - start_time)
    return TaskResult.from_model(SearchResponse(hits=hits, has_more=len(matches) > end, elapsed_ms=elapsed_ms))


def _run_search(library: Library, request: SearchRequest, limit: int, pose: list[float] | None) -> tuple[Hit, ...]:
    common: dict[str, Any] = {
        "limit": limit,
        "words": request.text.strip() or None if request.text else None,
        "tags": request.tags,
        "min_duration_s": request.min_duration_s,
        "max_duration_s": request.max_duration_s,
        "action": request.action or None,
        "joints": request.joints or None,
        "mirrored": request.mirrored,
        "deduplicate": request.deduplicate,
    }
    if request.frame is not None:
        return library.search_pose(request.clip, request.frame, pose_vector=pose, multiple=request.multiple, **common)
    if request.start is None and request.end is None:
        return library.search(request.clip, ranker=request.ranker, **common)
    if request.start is None or request.end is None:
        raise OptionError("only one of start and end", expected="both: the first frame and the frame after the last")
    return library.search_part(request.clip, request.start, request.end, multiple=request.multiple, **common)


TASKS: Mapping[str, Task] = {"search": search}
