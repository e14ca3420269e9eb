"""What routes about one clip have in common."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from keypose.workbench.packet import MEDIA_TYPE

# Seconds that a worker may take before it is ended.
LOOK_S = 30.0
CHOOSE_S = 120.0
EDIT_S = 60.0
EXPORT_S = 180.0

ARRAYS: dict[int | str, dict[str, Any]] = {200: {"description": "A packet: this header, then the arrays."}}
FILE: dict[int | str, dict[str, Any]] = {200: {"content": {"application/octet-stream": {}}, "description": "The file."}}
ZIP: dict[int | str, dict[str, Any]] = {200: {"content": {"application/zip": {}}, "description": "The files."}}


class Arrays(Response):
    """A packet of arrays."""

    media_type = MEDIA_TYPE
