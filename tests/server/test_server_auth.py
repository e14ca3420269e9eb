"""Authentication: token, session, password."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from support.live_server import TIMEOUT_S, LiveServer, start_server

PAGE = {"Accept": "text/html"}


def test_token_in_url_starts_session(live: LiveServer) -> None:
    with live.stranger() as browser:
        response = browser.get("/clips/abc", params={"frame": "3", "token": live.token, "name": "a b&c"})
        assert response.status_code == 303 and response.headers["location"] == "/clips/abc?frame=3&name=a+b%26c"
        cookie = response.headers["set-cookie"]
        assert live.token not in cookie
        assert {part.strip() for part in cookie.split(";")[1:]} == {"HttpOnly", "SameSite=Strict", "Path=/"}
        assert browser.get("/api/library").status_code == 200


def test_sessions_differ(live: LiveServer) -> None:
    with live.client() as first, live.client() as second:
        assert dict(first.cookies) != dict(second.cookies)


@pytest.mark.parametrize("token", ["", "x", "{token}x", "{token}&token=x"])
def test_invalid_token(live: LiveServer, token: str) -> None:
    with live.stranger() as browser:
        response = browser.get(f"/?token={token.format(token=live.token)}", headers=PAGE)
        assert response.status_code == 401 and "set-cookie" not in response.headers
        assert "keypose serve --open" in response.text and "text/html" in response.headers["content-type"]


def test_token_in_api_url_is_ignored(live: LiveServer) -> None:
    with live.stranger() as browser:
        assert browser.get("/api/library", params={"token": live.token}).status_code == 401


@pytest.mark.parametrize("path", ["//evil.example", "///evil.example/x", "/%5Cevil.example", "/\\evil.example"])
def test_token_redirects_to_own_host(live: LiveServer, path: str) -> None:
    with live.connection() as connection:
        connection.sendall(
            f"GET {path}?token={live.token} HTTP/1.1\r\nHost: {live.host}\r\nConnection: close\r\n\r\n".encode()
        )
        text = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    assert " 303 " in text.splitlines()[0]
    (location,) = (line.partition(": ")[2] for line in text.splitlines() if line.startswith("location:"))
    assert location.startswith("/evil") and "\\" not in location


def test_bearer_token(live: LiveServer) -> None:
    with live.program() as program:
        assert program.get("/api/library").status_code == 200
        assert program.post("/api/clips/tags", json={"clips": ["0" * 64]}).status_code == 404


def test_link_from_another_site(live: LiveServer) -> None:
    headers = {**PAGE, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    with live.stranger() as browser:
        response = browser.get('/clips/x"><script>?frame=1', headers=headers)
        assert response.status_code == 403 and "<script>" not in response.text
        assert '<a href="/clips/x%22%3E%3Cscript%3E?frame=1">' in response.text


def test_token_in_link_of_local_file(live: LiveServer) -> None:
    """As in the file of --open: the cookie would not be sent with a redirect, which counts as cross-site too."""
    headers = {**PAGE, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    with live.stranger() as browser:
        response = browser.get("/clips/x", params={"frame": "1", "token": live.token}, headers=headers)
        assert response.status_code == 200 and response.headers["refresh"] == "0; url=/clips/x?frame=1"
        assert live.token not in response.text and live.token not in str(response.headers)
        assert browser.get("/api/library").status_code == 200
        for token in ("", "x"):  # also with a session
            assert browser.get("/", params={"token": token}, headers=headers).status_code == 401
        assert browser.get("/api/library", params={"token": live.token}, headers=headers).status_code == 403
        script = {**headers, "Sec-Fetch-Mode": "cors"}
        assert browser.get("/", params={"token": live.token}, headers=script).status_code == 403


@pytest.fixture(scope="module")
def password_server(library_template: Path, tmp_path_factory: pytest.TempPathFactory):
    log = tmp_path_factory.mktemp("locked") / "stderr"
    with start_server(
        log, library_template / "clips.db", password="open sesame", workers=1, upload_workers=1
    ) as server:
        yield server


def test_login(password_server: LiveServer) -> None:
    with password_server.stranger(headers={"Origin": password_server.origin}) as browser:
        page = browser.get("/clips/x?frame=3", headers=PAGE)
        assert page.status_code == 401 and 'href="/login?back=%2Fclips%2Fx%3Fframe%3D3"' in page.text
        form = browser.get("/login?back=/clips/x?frame=3")
        assert form.headers["referrer-policy"] == "same-origin" and 'action="/login?back=' in form.text
        response = browser.post("/login?back=%2Fclips%2Fx%3Fframe%3D3", data={"password": "open sesame"})
        assert response.status_code == 303 and response.headers["location"] == "/clips/x?frame=3"
        assert browser.get("/api/library").status_code == 200


@pytest.mark.parametrize(
    "back", ["//evil.example", "http://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\nb"]
)
def test_login_redirects_to_own_host(password_server: LiveServer, back: str) -> None:
    with password_server.stranger(headers={"Origin": password_server.origin}) as browser:
        response = browser.post("/login", params={"back": back}, data={"password": "open sesame"})
        assert response.status_code == 303 and response.headers["location"] == "/"


def test_login_from_foreign_origin(password_server: LiveServer) -> None:
    for headers in ({}, {"Origin": "http://evil.example"}):
        with password_server.stranger(headers=headers) as browser:
            assert browser.post("/login", data={"password": "open sesame"}).status_code == 403


def test_slow_form_does_not_block_others(password_server: LiveServer) -> None:
    head = f"POST /login HTTP/1.1\r\nHost: {password_server.host}\r\nOrigin: {password_server.origin}\r\nContent-Length: 16000\r\n\r\n"
    with (
        password_server.connection() as slow,
        password_server.stranger(headers={"Origin": password_server.origin}) as browser,
    ):
        slow.sendall(head.encode() + b"password=")
        time.sleep(0.2)
        start_time = time.monotonic()
        assert browser.post("/login", data={"password": "open sesame"}).status_code == 303
        assert time.monotonic() - start_time < TIMEOUT_S * 0.7  # after that the slow request is rejected


def test_invalid_form(password_server: LiveServer) -> None:
    with password_server.stranger(headers={"Origin": password_server.origin}) as browser:
        response = browser.post("/login", content="&".join(["password=open+sesame"] * 11))
        assert response.status_code == 403 and "Wrong password" in response.text
        assert browser.post("/login", data={"password": "open sesame"}).status_code == 303


def test_login_throttle(password_server: LiveServer) -> None:
    """Must be the last test: afterwards this address has to wait."""
    with password_server.stranger(headers={"Origin": password_server.origin}) as browser:
        responses = [browser.post("/login", data={"password": f"wrong {k}"}) for k in range(7)]
        assert [response.status_code for response in responses] == [403] * 5 + [429] * 2
        assert 1 <= int(responses[-1].headers["retry-after"]) <= 60
        start_time = time.monotonic()
        assert browser.post("/login", data={"password": "open sesame"}).status_code == 429
        assert time.monotonic() - start_time < 2.0
    with password_server.program() as program:  # the token is not throttled
        assert program.get("/api/library").status_code == 200
