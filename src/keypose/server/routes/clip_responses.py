"""Timeouts and response types of the routes of one clip."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from keypose.clip_edit.array_packet import MEDIA_TYPE

# After which a worker is killed.
VIEW_TIMEOUT_S = 30.0
SELECT_TIMEOUT_S = 120.0
EDIT_TIMEOUT_S = 60.0
EXPORT_TIMEOUT_S = 180.0

ARRAYS: dict[int | str, dict[str, Any]] = {200: {"description": "A packet of arrays with this header."}}
FILE: dict[int | str, dict[str, Any]] = {200: {"content": {"application/octet-stream": {}}, "description": "The file."}}
ZIP: dict[int | str, dict[str, Any]] = {200: {"content": {"application/zip": {}}, "description": "The files."}}


class Arrays(Response):
    """A packet of arrays."""

    media_type = MEDIA_TYPE
