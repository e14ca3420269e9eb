"""What is said about clips, and what is found."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_live import until

import keypose as kp


def test_the_library_says_what_it_is_and_what_can_be_done(client: httpx.Client) -> None:
    facts = client.get("/api/library").json()
    assert facts["name"] == "clips.db" and facts["version"] == kp.__version__ and facts["clips"] >= 3
    assert {row["name"] for row in facts["methods"]} == {method.name for method in kp.methods()}
    assert {".bvh", ".glb", ".kps", ".keys.json", ".strip.svg", ".report.html"} <= {
        row["suffix"] for row in facts["formats"]
    }
    assert {"arms", "left_leg", "fingers", "major", "all"} <= set(facts["groups"])
    assert facts["limits"]["uploads_at_once"] == 4
    assert facts["shell_name"] == "clips.db"


def test_lists_are_chosen_sorted_and_cut(client: httpx.Client, library_path: Path) -> None:
    with kp.Library(library_path, create=False) as library:
        wanted = [clip.hash for clip in library.clips(tags=("demo",), sort="longest")]
    got = [
        clip["hash"]
        for skip in range(len(wanted))
        for clip in client.get(
            "/api/clips", params={"tag": "demo", "sort": "longest", "skip": skip, "limit": 1}
        ).json()["clips"]
    ]
    assert got == wanted and len(got) == 3
    page = client.get("/api/clips", params=[("tag", "demo"), ("tag", "walk"), ("words", "wal")]).json()
    assert page["total"] == 1 and {"tag": "walk", "count": 1} in page["facets"]["tags"]
    assert sum(span["count"] for span in page["facets"]["durations"]) == 1
    assert client.get("/api/clips", params={"tag": "kick"}).json()["facets"]["parts"]
    kicks = client.get("/api/clips", params={"part": "right_leg", "tag": "demo", "words": "  "}).json()
    assert "kick" in {clip["name"] for clip in kicks["clips"]} and kicks["total"] < 3
    assert client.get("/clips.json", params={"words": "wal", "tag": "walk"}).json() == client.get(
        "/api/clips", params={"words": "wal", "tag": "walk"}
    ).json()  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 201},
        {"skip": -1},
        {"sort": "random"},
        {"least_duration_s": "nan"},
        {"words": "?!"},
        {"part": "tail"},
        {"words": "x" * 2000},
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_said(client: httpx.Client, wrong: dict[str, Any]) -> None:
    answer = client.get("/api/clips", params=wrong)
    assert answer.status_code in (400, 422) and answer.json()["error"]["message"]


def test_names_and_tags_change(client: httpx.Client, hashes: dict[str, str]) -> None:
    kick, walk = hashes["kick"], hashes["walk"]
    assert client.patch(f"/api/clips/{kick}", json={"name": "  front\nkick "}).json()["name"] == "front kick"
    done = client.post("/api/clips/tag", json={"clips": [kick, walk], "add": ["Fine"], "remove": ["kick"]}).json()
    assert [clip["tags"] for clip in done["clips"]] == [["demo", "fine"], ["demo", "fine", "walk"]]
    client.post("/api/clips/tag", json={"clips": [kick, walk], "remove": ["fine"]})
    client.post("/api/clips/tag", json={"clips": [kick], "add": ["kick"]})
    assert client.patch(f"/api/clips/{kick}", json={"name": "kick"}).json()["tags"] == ["demo", "kick"]
    for wrong in ({"name": ""}, {"name": "\n"}, {"title": "x"}, {"name": "x" * 300}):
        assert client.patch(f"/api/clips/{kick}", json=wrong).status_code in (400, 422)
    assert client.post("/api/clips/tag", json={"clips": [kick, "0" * 64], "add": ["no"]}).status_code == 404
    assert "no" not in client.get("/api/clips", params={"words": "kick"}).json()["clips"][0]["tags"]


def test_what_is_removed_can_be_restored(client: httpx.Client, hashes: dict[str, str]) -> None:
    kick, total = hashes["kick"], client.get("/api/clips").json()["total"]
    assert client.post("/api/clips/remove", json={"clips": [kick]}).json() == {"removed": [kick]}
    assert client.get("/api/clips").json()["total"] == total - 1
    found = client.post("/api/search", json={"clip": hashes["walk"], "limit": 200}).json()["hits"]
    assert kick not in [hit["clip"]["hash"] for hit in found]
    removed = client.get("/api/removed").json()
    (gone,) = (clip for clip in removed["clips"] if clip["hash"] == kick)
    assert gone["name"] == "kick" and gone["removed_at"] > gone["added_at"] and removed["days"] == 30.0
    (latest,) = client.get("/api/removed", params={"limit": 1}).json()["clips"]
    assert latest == gone and client.get("/api/removed", params={"limit": 0}).json()["total"] == removed["total"]
    assert client.get(f"/api/clips/{kick}/strip.svg").status_code == 200
    for _ in range(2):  # one that is there stays
        (restored,) = client.post("/api/clips/restore", json={"clips": [kick]}).json()["clips"]
        assert restored["hash"] == kick and client.get("/api/clips").json()["total"] == total
    assert client.get("/api/removed").json()["total"] == removed["total"] - 1
    assert client.post("/api/clips/restore", json={"clips": ["0" * 64]}).status_code == 404


def test_search_is_that_of_the_library(client: httpx.Client, hashes: dict[str, str], library_path: Path) -> None:
    walk = hashes["walk"]
    with kp.Library(library_path, create=False) as library:
        expected = {
            (): library.search(walk, limit=24),
            ("start", "end"): library.search_part(walk, 10, 50, limit=24),
            ("frame",): library.search_pose(walk, 20, limit=24),
        }
    told = {"start": 10, "end": 50, "frame": 20}
    for names, hits in expected.items():
        asked = {"clip": walk, **{name: told[name] for name in names}}

        def got(asked: dict[str, Any] = asked) -> list[tuple[Any, ...]]:
            found = client.post("/api/search", json=asked).json()["hits"]
            return [(hit["clip"]["hash"], hit["score"], hit["start"], hit["end"], hit["says"]) for hit in found]

        wanted = [(hit.clip.hash, hit.score, hit.start, hit.end, hit.says) for hit in hits]
        until(lambda got=got, wanted=wanted: got() == wanted)  # other tests have just changed the library
        assert wanted
    for wrong in (
        {"start": 1},
        {"frame": 1, "start": 0, "end": 9},
        {"frame": 99999},
        {"joints": ["tail"]},
        {"limit": 0},
    ):
        assert client.post("/api/search", json={"clip": walk, **wrong}).status_code in (400, 422)
    assert client.post("/api/search", json={"clip": "0" * 64}).status_code == 404


def test_a_search_is_there_by_its_address(client: httpx.Client, walk: str) -> None:
    told = {"clip": walk, "start": 10, "end": 50, "joints": ["arms", "head"], "mirrored": False, "limit": 3}

    def both() -> list[Any]:
        answers = (client.get("/search.json", params=told), client.post("/api/search", json=told))
        return [answer.json()["hits"] for answer in answers]

    until(lambda: both()[0] == both()[1] != [])  # other tests have just changed the library
    for wrong in ({}, {"clip": "x"}, {**told, "limit": 0}, {**told, "what": 1}):
        assert client.get("/search.json", params=wrong).status_code == 422


def test_hits_behind_the_first_ones_can_be_asked_for(client: httpx.Client, walk: str) -> None:
    def said(**told: int) -> tuple[list[str], bool]:
        answer = client.post("/api/search", json={"clip": walk, **told}).json()
        return [hit["clip"]["hash"] for hit in answer["hits"]], answer["more"]

    everything, more = said(limit=200)
    n = len(everything)
    assert n >= 2 and not more
    assert said(limit=n - 1) == (everything[:-1], True)
    assert said(skip=n - 1, limit=1) == (everything[-1:], False)
    assert said(skip=1, limit=200) == (everything[1:], False)
    assert said(limit=n) == (everything, False)
    assert said(skip=900) == ([], False)
    for wrong in ({"skip": -1}, {"skip": 901}):
        assert client.post("/api/search", json={"clip": walk, **wrong}).status_code == 422


def test_many_search_at_once(client: httpx.Client, walk: str) -> None:
    with ThreadPoolExecutor(16) as many:
        answers = list(many.map(lambda _: client.post("/api/search", json={"clip": walk}).status_code, range(64)))
    assert answers == [200] * 64


def test_drafts_are_kept_and_nobody_overwrites_what_he_has_not_seen(client: httpx.Client, walk: str) -> None:
    path = f"/api/clips/{walk}/draft"
    draft = {"kind": "keys", "frames": [0, 30, 119], "steps": [{"op": "insert_key", "frame": 60}]}
    told = {"draft": draft, "done": 1}
    assert client.get(path).status_code == 200 and client.get(path).json() is None
    first = client.put(path, json=told, headers={"If-Match": "0"}).json()
    assert first["done"] == 1 and first["draft"] == draft  # as it was told, so that it can be told again
    assert client.get(path).json() == first
    assert client.put(path, json=told, headers={"If-Match": "0"}).status_code == 409
    second = client.put(path, json={**told, "done": 0}, headers={"If-Match": f'"{first["revision"]}"'}).json()
    assert second["revision"] > first["revision"] and client.get(path).json()["done"] == 0
    conflict = client.put(path, json=told, headers={"If-Match": str(first["revision"])})
    assert conflict.status_code == 409 and conflict.json()["error"]["kind"] == "Conflict"
    moments = [{"steps": 0, "residual": 0.0}, {"steps": 0, "residual": 0.4}, {"steps": 1, "residual": 0.4}]
    third = {"draft": {**draft, "residual": 0.4}, "done": 0, "moments": moments, "at": 1}
    said = client.put(path, json=third, headers={"If-Match": str(second["revision"])}).json()
    assert said == client.get(path).json() == {"revision": said["revision"], **third}
    assert client.put(path, json={**told, "moments": moments * 4000}).status_code == 422
    assert client.put(path, json=told, headers={"If-Match": "x"}).status_code == 400
    assert client.put(path, json={"draft": {"kind": "else"}, "done": 0}).status_code == 422
    assert client.delete(path).status_code == 204 and client.get(path).json() is None


def test_strips_come_from_the_library_in_any_theme(client: httpx.Client, walk: str) -> None:
    light, dark, page = (
        client.get(f"/api/clips/{walk}/strip.svg", params={"theme": t}) for t in ("light", "dark", "page")
    )
    assert len({light.text, dark.text, page.text}) == 3 and "var(--kp-" in page.text and "var(" not in dark.text
    assert light.headers["content-type"] == "image/svg+xml" and "max-age" in light.headers["cache-control"]
    again = client.get(f"/api/clips/{walk}/strip.svg", headers={"If-None-Match": light.headers["etag"]})
    assert again.status_code == 304 and again.content == b""
    for wrong in ({"theme": "pink"}, {"frames": "1,x"}, {"frames": "1," * 3000 + "1"}, {"height_px": "inf"}):
        assert client.get(f"/api/clips/{walk}/strip.svg", params=wrong).status_code == 422
    assert client.get(f"/api/clips/{'0' * 64}/strip.svg").status_code == 404
    assert client.get(f"/api/clips/{walk}/strip.svg", params={"frames": "5,50"}).text.startswith("<svg")
