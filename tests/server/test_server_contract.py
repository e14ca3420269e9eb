"""Security contract of every route."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from fastapi.routing import APIRoute

from keypose.server.app import OPENAPI_PATH
from keypose.server.middleware.headers import DEFAULT_HEADERS
from keypose.server.routes import ROUTERS
from keypose.server.schema import ErrorDetails
from support.live_server import LiveServer


def _routes() -> list[tuple[str, str]]:
    """Return method and path of every route, with values for path parameters."""
    routes = {
        (method, route.path.replace("{clip}", "0" * 64).replace("{name:path}", "nothing.js"))
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods
    }
    return sorted({("GET", OPENAPI_PATH), *routes})


ROUTES = _routes()
API = [(method, path) for method, path in ROUTES if path.startswith("/api/") and path != OPENAPI_PATH]


def _assert_error(response: httpx.Response, status: int | None = None) -> None:
    if status is not None:
        assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    error = response.json()["error"]
    assert set(error) == set(ErrorDetails.model_fields) and error["status"] == response.status_code
    assert (
        error["code"]
        and error["problem"] in error["message"] != ""
        and "Traceback" not in response.text
        and "/work" not in response.text
    )


def _assert_secure(response: httpx.Response) -> None:
    for name, value in DEFAULT_HEADERS.items():
        if name != "Content-Security-Policy" or "sha256-" not in response.headers[name]:
            assert response.headers[name] == value, name
    assert "'unsafe" not in response.headers["content-security-policy"]
    assert "access-control-allow-origin" not in response.headers
    assert "etag" in response.headers or response.headers["cache-control"] == "no-store"


@pytest.fixture(scope="module")
def stranger(live: LiveServer) -> Iterator[httpx.Client]:
    with live.stranger() as browser:
        yield browser


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_authentication_is_required(live: LiveServer, stranger: httpx.Client, method: str, path: str) -> None:
    for headers in ({}, {"Cookie": f"keypose_{live.port}=guessed"}, {"Authorization": "Bearer guessed"}):
        response = stranger.request(method, path, headers={"Origin": live.origin, **headers})
        _assert_error(response, 401)
        _assert_secure(response)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_foreign_origins_are_rejected(stranger: httpx.Client, client: httpx.Client, method: str, path: str) -> None:
    cookies = {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        response = stranger.request(method, path, headers={**cookies, **headers})
        _assert_error(response, 403)
        _assert_secure(response)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_foreign_hosts_are_rejected(client: httpx.Client, live: LiveServer, method: str, path: str) -> None:
    for host in (
        "evil.example",
        f"evil.example:{live.port}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"localhost.evil:{live.port}",
    ):
        response = client.request(method, path, headers={"Host": host})
        _assert_error(response, 421)
        _assert_secure(response)


@pytest.mark.parametrize(("method", "path"), [each for each in ROUTES if each[0] != "GET"])
def test_changes_need_an_origin(stranger: httpx.Client, client: httpx.Client, method: str, path: str) -> None:
    cookies = {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}
    _assert_error(stranger.request(method, path, headers=cookies), 403)


@pytest.mark.parametrize(("method", "path"), API)
def test_invalid_bodies(client: httpx.Client, method: str, path: str) -> None:
    """An invalid body or an unknown clip gives a client error with the common error body."""
    for body in (None, b"{", b'{"nonsense": NaN}', b"[" * 100_000):
        response = client.request(method, path, content=body, headers={"Content-Type": "application/json"})
        _assert_secure(response)
        if response.status_code >= 300:
            assert 400 <= response.status_code < 500, response.text
            _assert_error(response)


@pytest.mark.parametrize(("method", "path"), [each for each in ROUTES if each[0] == "GET" and each not in API])
def test_pages_are_secure(client: httpx.Client, method: str, path: str) -> None:
    _assert_secure(client.request(method, path))


def test_openapi_document(client: httpx.Client) -> None:
    document = client.get(OPENAPI_PATH).json()
    assert len(API) == sum(len(methods) for methods in document["paths"].values()) > 15
    assert set(document["paths"]) == {path for path in document["paths"] if path.startswith("/api/")}
    assert "HTTPValidationError" not in document["components"]["schemas"]
    for path in ("/docs", "/redoc", "/api/docs"):
        assert client.get(path).status_code == 404
