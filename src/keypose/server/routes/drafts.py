"""Edits that somebody is at, saved as they grow."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from pydantic import ValidationError
from starlette.responses import Response

from keypose.errors import OptionError
from keypose.library.library import Library
from keypose.library.nouns import Draft
from keypose.server.running import Here
from keypose.server.schema.base import ClipHash
from keypose.server.schema.keys import DraftKept, DraftSaid
from keypose.server.work.desk import clip_of

router = APIRouter(tags=["drafts"])

NONE = "0"  # the revision of a draft that is not there
IfMatch = Annotated[str, Header(max_length=40, description="The revision that was seen last; 0: there was no draft.")]


@router.get("/api/clips/{clip}/draft", response_model_exclude_unset=True)
async def get_draft(here: Here, clip: ClipHash) -> DraftSaid | None:
    """The draft of a clip, as it was told; null where there is none."""

    def read(library: Library) -> Draft | None:
        clip_of(library, clip)
        return library.draft(clip)

    kept = await here.reads(read)
    return None if kept is None else _read(kept)


@router.put("/api/clips/{clip}/draft", response_model_exclude_unset=True)
async def keep_draft(here: Here, clip: ClipHash, told: DraftKept, if_match: IfMatch = NONE) -> DraftSaid:
    """Keeps a draft in the place of the one that was seen last; 409 if another one was kept meanwhile."""
    seen = _revision(if_match)

    def keep(library: Library) -> Draft:
        clip_of(library, clip)
        return library.keep_draft(clip, told.model_dump_json(exclude_unset=True), revision=seen)

    kept = await here.writes(keep)
    return _said(kept.revision, told)


@router.delete("/api/clips/{clip}/draft", status_code=204)
async def drop_draft(here: Here, clip: ClipHash) -> Response:
    """Forgets the draft of a clip."""

    def drop(library: Library) -> None:
        clip_of(library, clip)
        library.drop_draft(clip)

    await here.writes(drop)
    return Response(status_code=204)


def _revision(if_match: str) -> int | None:
    told = if_match.strip().strip('"')
    if not (told.isdecimal() and told.isascii()):
        raise OptionError(f"If-Match: {told[:20]!r}, expected the number of a revision, or 0")
    return int(told) or None


def _read(kept: Draft) -> DraftSaid | None:
    try:
        told = DraftKept.model_validate_json(kept.data)
    except ValidationError:  # of another version of Keypose
        return None
    return _said(kept.revision, told)


def _said(revision: int, told: DraftKept) -> DraftSaid:
    """What was told, and nothing that was not."""
    return DraftSaid(revision=revision, **{name: getattr(told, name) for name in told.model_fields_set})
