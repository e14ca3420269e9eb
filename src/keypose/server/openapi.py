"""``python -m keypose.server.openapi`` prints what the API is, the same text for the same API."""

from __future__ import annotations

import json
import sys

from keypose.server.app import make_app
from keypose.server.settings import Settings


def document() -> str:
    """The OpenAPI document."""
    return json.dumps(make_app(Settings(library="")).openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document())
