"""What answers about clips say of themselves: tags by which a browser knows them again, and names of files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import keypose

# An answer that depends on clip and request alone is asked for again, and answered by its tag.
AGAIN = {"Cache-Control": "private, no-cache"}


_NOT_PLAIN = re.compile(r"[^ !#-\[\]-~]")  # what a name between quotes cannot hold


def tag(task: str, told: Mapping[str, Any], *more: str) -> str:
    """An ETag of an answer that depends on the request, the version of Keypose and nothing else."""
    words = json.dumps([task, told, more, keypose.__version__], sort_keys=True)
    return f'"{hashlib.sha256(words.encode()).hexdigest()[:32]}"'


def disposition(name: str) -> str:
    """What tells a browser to save a file under a name."""
    plain = _NOT_PLAIN.sub("_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
