"""Middleware before every route. A request passes, from the outside in:

``Headers``          adds security headers to every response, errors too
``ErrorMiddleware``  turns exceptions into responses that disclose nothing about the machine
``HostCheck``        rejects requests for other host names
``OriginCheck``      rejects requests from pages of other sites
``BodyLimits``       rejects bodies that are too large or too slow
``Auth``             rejects requests without session or token
"""

from __future__ import annotations

from starlette.types import ASGIApp

from keypose.server.middleware.auth import Auth
from keypose.server.middleware.error_pages import ErrorMiddleware
from keypose.server.middleware.headers import BodyLimit, BodyLimits, Headers, HostCheck, OriginCheck
from keypose.server.settings import Settings

UPLOADS_PATH = "/api/uploads"
UPLOAD_TIMEOUT_S = 3600.0
UPLOAD_MIN_BYTES_PER_S = 10_000.0  # slower ones would occupy the places of others for long


def add_middleware(app: ASGIApp, settings: Settings) -> ASGIApp:
    """Return ``app`` wrapped in all middleware."""
    inner: ASGIApp = Auth(app, settings)
    upload_limit = BodyLimit(settings.max_upload_bytes, UPLOAD_TIMEOUT_S, UPLOAD_MIN_BYTES_PER_S)
    inner = BodyLimits(inner, {UPLOADS_PATH: upload_limit})
    inner = OriginCheck(inner)
    inner = HostCheck(inner, settings)
    return Headers(ErrorMiddleware(inner))
