"""The middleware stack."""

from __future__ import annotations

from starlette.types import ASGIApp

from keypose.server.middleware.auth import Auth
from keypose.server.middleware.body_limits import BodyLimit, BodyLimits
from keypose.server.middleware.error_middleware import ErrorMiddleware
from keypose.server.middleware.headers import Headers
from keypose.server.middleware.hosts import HostCheck
from keypose.server.middleware.origins import OriginCheck
from keypose.server.settings import Settings

UPLOADS_PATH = "/api/uploads"
UPLOAD_TIMEOUT_S = 3600.0


def add_middleware(app: ASGIApp, settings: Settings) -> ASGIApp:
    """Return ``app`` wrapped in all middleware."""
    inner: ASGIApp = Auth(app, settings)
    inner = BodyLimits(inner, {UPLOADS_PATH: BodyLimit(settings.max_upload_bytes, UPLOAD_TIMEOUT_S)})
    inner = OriginCheck(inner)
    inner = HostCheck(inner, settings)
    return Headers(ErrorMiddleware(inner))
