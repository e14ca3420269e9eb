"""``python -m keypose.server.openapi`` prints the OpenAPI document, deterministically."""

from __future__ import annotations

import json
import sys

from keypose.server.app import make_app
from keypose.server.settings import Settings


def openapi_json() -> str:
    """Return the OpenAPI document as JSON."""
    return json.dumps(make_app(Settings(library="")).openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(openapi_json())
