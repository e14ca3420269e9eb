"""Drafts: unsaved edits, stored as they change."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from pydantic import ValidationError
from starlette.responses import Response

from keypose.errors import OptionError
from keypose.library.library import Library
from keypose.library.records import Draft
from keypose.server.app_state import AppStateDep
from keypose.server.schema import ClipHash
from keypose.server.schema.keys import DraftRequest, DraftResponse
from keypose.server.workers.worker_context import find_clip

router = APIRouter(tags=["drafts"])

NO_REVISION = "0"  # there is no draft
IfMatch = Annotated[str, Header(max_length=40, description="The last known revision; 0: no draft.")]


@router.get("/api/clips/{clip}/draft", response_model_exclude_unset=True)
async def get_draft(state: AppStateDep, clip: ClipHash) -> DraftResponse | None:
    """Return the draft of a clip as it was saved; null if there is none."""

    def read(library: Library) -> Draft | None:
        find_clip(library, clip)
        return library.draft(clip)

    draft = await state.run_read(read)
    return None if draft is None else _parse_draft(draft)


@router.put("/api/clips/{clip}/draft", response_model_exclude_unset=True)
async def save_draft(
    state: AppStateDep, clip: ClipHash, body: DraftRequest, if_match: IfMatch = NO_REVISION
) -> DraftResponse:
    """Save a draft over the last known revision; 409 if another one was saved meanwhile."""
    revision = _parse_revision(if_match)
    data = body.model_dump_json(exclude_unset=True)

    def save(library: Library) -> Draft:
        find_clip(library, clip)
        stored = library.draft(clip) if revision is None else None
        if stored is not None and _parse_draft(stored) is None:  # for clients there is no draft
            return library.save_draft(clip, data, revision=stored.revision)
        return library.save_draft(clip, data, revision=revision)

    draft = await state.run_write(save)
    return _draft_response(draft.revision, body)


@router.delete("/api/clips/{clip}/draft", status_code=204)
async def delete_draft(state: AppStateDep, clip: ClipHash) -> Response:
    """Delete the draft of a clip."""

    def delete(library: Library) -> None:
        find_clip(library, clip)
        library.delete_draft(clip)

    await state.run_write(delete)
    return Response(status_code=204)


def _parse_revision(if_match: str) -> int | None:
    text = if_match.strip().strip('"')
    if not (text.isdecimal() and text.isascii()):
        raise OptionError(f"If-Match: {text[:20]!r}", expected="a revision number, or 0 for no draft")
    return int(text) or None


def _parse_draft(draft: Draft) -> DraftResponse | None:
    try:
        body = DraftRequest.model_validate_json(draft.data)
    except ValidationError:  # of another version of Keypose
        return None
    return _draft_response(draft.revision, body)


def _draft_response(revision: int, body: DraftRequest) -> DraftResponse:
    """Return the fields that the request has set."""
    return DraftResponse(revision=revision, **{name: getattr(body, name) for name in body.model_fields_set})
