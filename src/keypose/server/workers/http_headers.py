"""ETags and file names of responses about clips."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import keypose

# For responses that depend on clip and request alone: clients revalidate them by their ETag.
REVALIDATE = {"Cache-Control": "private, no-cache"}

_NOT_PLAIN = re.compile(r"[^ !#-\[\]-~]")  # characters that a quoted file name cannot hold


def etag(task: str, payload: Mapping[str, Any], *extra: str) -> str:
    """Return the ETag of a response that depends on the request and the version of Keypose alone."""
    text = json.dumps([task, payload, extra, keypose.__version__], sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def content_disposition(name: str) -> str:
    """Return the Content-Disposition header for a download under ``name``."""
    plain = _NOT_PLAIN.sub("_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
