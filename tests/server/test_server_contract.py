"""What every route of the app keeps to, whatever it does."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from fastapi.routing import APIRoute
from server_live import Live

from keypose.server.app import OPENAPI
from keypose.server.guard.headers import ALWAYS
from keypose.server.routes import ROUTERS


def _routes() -> list[tuple[str, str]]:
    """Method and path of every route, with a hash and a name in place of parameters."""
    found = {
        (method, route.path.replace("{clip}", "0" * 64).replace("{name:path}", "nothing.js"))
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods
    }
    return sorted({("GET", OPENAPI), *found})


ROUTES = _routes()
API = [(method, path) for method, path in ROUTES if path.startswith("/api/") and path != OPENAPI]


def _is_problem(answer: httpx.Response, status: int | None = None) -> None:
    if status is not None:
        assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert set(error) == {"kind", "message", "line", "remedy"}
    assert error["kind"] and error["message"] and "Traceback" not in answer.text and "/work" not in answer.text


def _is_guarded(answer: httpx.Response) -> None:
    for name, value in ALWAYS.items():
        if name != "Content-Security-Policy" or "sha256-" not in answer.headers[name]:
            assert answer.headers[name] == value, name
    assert "'unsafe" not in answer.headers["content-security-policy"]
    assert "access-control-allow-origin" not in answer.headers
    assert "etag" in answer.headers or answer.headers["cache-control"] == "no-store"


@pytest.fixture(scope="module")
def stranger(live: Live) -> Iterator[httpx.Client]:
    with live.stranger() as browser:
        yield browser


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nobody_comes_in_without_token_or_cookie(live: Live, stranger: httpx.Client, method: str, path: str) -> None:
    for headers in ({}, {"Cookie": f"keypose_{live.port}=guessed"}, {"Authorization": "Bearer guessed"}):
        answer = stranger.request(method, path, headers={"Origin": live.origin, **headers})
        _is_problem(answer, 401)
        _is_guarded(answer)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_foreign_page_is_served(stranger: httpx.Client, client: httpx.Client, method: str, path: str) -> None:
    ours = {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}
    for foreign in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        answer = stranger.request(method, path, headers={**ours, **foreign})
        _is_problem(answer, 403)
        _is_guarded(answer)


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_no_other_name_is_answered_to(client: httpx.Client, live: Live, method: str, path: str) -> None:
    for host in (
        "evil.example",
        f"evil.example:{live.port}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"localhost.evil:{live.port}",
    ):
        answer = client.request(method, path, headers={"Host": host})
        _is_problem(answer, 421)
        _is_guarded(answer)


@pytest.mark.parametrize(("method", "path"), [each for each in ROUTES if each[0] != "GET"])
def test_changes_say_where_they_come_from(stranger: httpx.Client, client: httpx.Client, method: str, path: str) -> None:
    ours = {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}
    _is_problem(stranger.request(method, path, headers=ours), 403)


@pytest.mark.parametrize(("method", "path"), API)
def test_what_cannot_be_understood_is_said(client: httpx.Client, method: str, path: str) -> None:
    """Nothing in the body, no such clip: an answer of the right shape, and never a fault of ours."""
    for body in (None, b"{", b'{"nonsense": NaN}', b"[" * 100_000):
        answer = client.request(method, path, content=body, headers={"Content-Type": "application/json"})
        _is_guarded(answer)
        if answer.status_code >= 300:
            assert 400 <= answer.status_code < 500, answer.text
            _is_problem(answer)


@pytest.mark.parametrize(("method", "path"), [each for each in ROUTES if each[0] == "GET" and each not in API])
def test_pages_and_their_data_are_guarded(client: httpx.Client, method: str, path: str) -> None:
    _is_guarded(client.request(method, path))


def test_the_api_describes_itself_and_has_no_page_from_elsewhere(client: httpx.Client) -> None:
    described = client.get(OPENAPI).json()
    assert len(API) == sum(len(methods) for methods in described["paths"].values()) > 15
    assert set(described["paths"]) == {path for path in described["paths"] if path.startswith("/api/")}
    assert "HTTPValidationError" not in described["components"]["schemas"]
    for path in ("/docs", "/redoc", "/api/docs"):
        assert client.get(path).status_code == 404
