"""Who may come in, and how."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from server_live import CLOCK_S, Live, started

PAGE = {"Accept": "text/html"}


def test_the_token_becomes_a_cookie_and_leaves_the_address(live: Live) -> None:
    with live.stranger() as browser:
        answer = browser.get("/clips/abc", params={"frame": "3", "token": live.token, "name": "a b&c"})
        assert answer.status_code == 303 and answer.headers["location"] == "/clips/abc?frame=3&name=a+b%26c"
        cookie = answer.headers["set-cookie"]
        assert live.token not in cookie
        assert {part.strip() for part in cookie.split(";")[1:]} == {"HttpOnly", "SameSite=Strict", "Path=/"}
        assert browser.get("/api/library").status_code == 200


def test_sessions_differ(live: Live) -> None:
    with live.client() as one, live.client() as another:
        assert dict(one.cookies) != dict(another.cookies)


@pytest.mark.parametrize("given", ["", "x", "{token}x", "{token}&token=x"])
def test_another_token_is_none(live: Live, given: str) -> None:
    with live.stranger() as browser:
        answer = browser.get(f"/?token={given.format(token=live.token)}", headers=PAGE)
        assert answer.status_code == 401 and "set-cookie" not in answer.headers
        assert "keypose serve --open" in answer.text and "text/html" in answer.headers["content-type"]


def test_the_token_is_for_pages_not_for_the_api(live: Live) -> None:
    with live.stranger() as browser:
        assert browser.get("/api/library", params={"token": live.token}).status_code == 401


@pytest.mark.parametrize("path", ["//evil.example", "///evil.example/x", "/%5Cevil.example", "/\\evil.example"])
def test_the_token_leads_nowhere_else(live: Live, path: str) -> None:
    with live.connection() as connection:
        connection.sendall(
            f"GET {path}?token={live.token} HTTP/1.1\r\nHost: {live.host}\r\nConnection: close\r\n\r\n".encode()
        )
        said = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    assert " 303 " in said.splitlines()[0]
    (location,) = (line.partition(": ")[2] for line in said.splitlines() if line.startswith("location:"))
    assert location.startswith("/evil") and "\\" not in location


def test_programs_bring_the_token(live: Live) -> None:
    with live.program() as program:
        assert program.get("/api/library").status_code == 200
        assert program.post("/api/clips/tag", json={"clips": ["0" * 64]}).status_code == 404


def test_a_link_on_another_site_is_the_readers_to_follow(live: Live) -> None:
    told = {**PAGE, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    with live.stranger() as browser:
        answer = browser.get('/clips/x"><script>?frame=1', headers=told)
        assert answer.status_code == 403 and "<script>" not in answer.text
        assert '<a href="/clips/x%22%3E%3Cscript%3E?frame=1">' in answer.text


@pytest.fixture(scope="module")
def locked(kept_library: Path, tmp_path_factory: pytest.TempPathFactory):
    log = tmp_path_factory.mktemp("locked") / "stderr"
    with started(log, kept_library / "clips.db", password="open sesame", workers=1, upload_workers=1) as running:
        yield running


def test_the_password_opens(locked: Live) -> None:
    with locked.stranger(headers={"Origin": locked.origin}) as browser:
        asked = browser.get("/clips/x?frame=3", headers=PAGE)
        assert asked.status_code == 401 and 'href="/login?back=%2Fclips%2Fx%3Fframe%3D3"' in asked.text
        form = browser.get("/login?back=/clips/x?frame=3")
        assert form.headers["referrer-policy"] == "same-origin" and 'action="/login?back=' in form.text
        answer = browser.post("/login?back=%2Fclips%2Fx%3Fframe%3D3", data={"password": "open sesame"})
        assert answer.status_code == 303 and answer.headers["location"] == "/clips/x?frame=3"
        assert browser.get("/api/library").status_code == 200


@pytest.mark.parametrize(
    "back", ["//evil.example", "http://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\nb"]
)
def test_the_login_leads_nowhere_else(locked: Live, back: str) -> None:
    with locked.stranger(headers={"Origin": locked.origin}) as browser:
        answer = browser.post("/login", params={"back": back}, data={"password": "open sesame"})
        assert answer.status_code == 303 and answer.headers["location"] == "/"


def test_a_foreign_form_is_refused(locked: Live) -> None:
    for headers in ({}, {"Origin": "http://evil.example"}):
        with locked.stranger(headers=headers) as browser:
            assert browser.post("/login", data={"password": "open sesame"}).status_code == 403


def test_a_form_that_comes_slowly_keeps_nobody_waiting(locked: Live) -> None:
    head = f"POST /login HTTP/1.1\r\nHost: {locked.host}\r\nOrigin: {locked.origin}\r\nContent-Length: 16000\r\n\r\n"
    with locked.connection() as slow, locked.stranger(headers={"Origin": locked.origin}) as browser:
        slow.sendall(head.encode() + b"password=")
        time.sleep(0.2)
        began = time.monotonic()
        assert browser.post("/login", data={"password": "open sesame"}).status_code == 303
        assert time.monotonic() - began < CLOCK_S * 0.7  # then the slow one is sent away


def test_a_form_of_somebody_else_is_a_wrong_password(locked: Live) -> None:
    with locked.stranger(headers={"Origin": locked.origin}) as browser:
        answer = browser.post("/login", content="&".join(["password=open+sesame"] * 11))
        assert answer.status_code == 403 and "That is not the password" in answer.text
        assert browser.post("/login", data={"password": "open sesame"}).status_code == 303


def test_passwords_are_tried_only_so_often(locked: Live) -> None:
    """The last of these tests: from here on this address has to wait."""
    with locked.stranger(headers={"Origin": locked.origin}) as browser:
        tries = [browser.post("/login", data={"password": f"wrong {k}"}) for k in range(7)]
        assert [answer.status_code for answer in tries] == [403] * 5 + [429] * 2
        assert 1 <= int(tries[-1].headers["retry-after"]) <= 60
        began = time.monotonic()
        assert browser.post("/login", data={"password": "open sesame"}).status_code == 429
        assert time.monotonic() - began < 2.0
    with locked.program() as program:  # the token opens as ever
        assert program.get("/api/library").status_code == 200
