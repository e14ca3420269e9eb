"""The guard, put together."""

from __future__ import annotations

from starlette.types import ASGIApp

from keypose.server.guard.bodies import Allowed, BodyLimits
from keypose.server.guard.caught import Caught
from keypose.server.guard.door import Door
from keypose.server.guard.headers import Headers
from keypose.server.guard.hosts import HostCheck
from keypose.server.guard.origins import OriginCheck
from keypose.server.settings import Settings

UPLOADS = "/api/uploads"
UPLOAD_S = 3600.0


def guarded(app: ASGIApp, settings: Settings) -> ASGIApp:
    """An app with all that stands before it."""
    inner: ASGIApp = Door(app, settings)
    inner = BodyLimits(inner, {UPLOADS: Allowed(settings.upload_bytes, UPLOAD_S)})
    inner = OriginCheck(inner)
    inner = HostCheck(inner, settings)
    return Headers(Caught(inner))
