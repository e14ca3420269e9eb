"""One clip over HTTP: looked at, keys chosen, edited, taken away; each answer is what the library gives."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from typing import Any

import httpx
import numpy as np
import pytest

import keypose as kp
from keypose.server.schema.clips import ClipFacts
from keypose.server.schema.keys import EditedHeader, FramesHeader, LadderSaid, UnbakedHeader
from keypose.workbench import page_space

FRAMES = [0, 30, 61, 90, 119]


def unpacked(answer: httpx.Response) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A packet, read as docs/api.md says."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/vnd.keypose.arrays"
    data = answer.content
    body = 4 + struct.unpack_from("<I", data)[0]
    header = json.loads(data[4:body])
    placed = header.pop("arrays")
    kinds = {"float32": "<f4", "int32": "<i4"}
    return header, {
        name: np.frombuffer(data, kinds[each["dtype"]], int(np.prod(each["shape"])), body + each["offset"]).reshape(
            each["shape"]
        )
        for name, each in placed.items()
    }


def said(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: httpx.Response, status: int, kind: str) -> str:
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["kind"] == kind
    return str(answer.json()["error"]["message"])


def test_facts_tell_all_about_a_clip(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    facts = said(client.get(f"/api/clips/{walk}"))
    assert set(facts) == set(ClipFacts.model_fields)
    assert (facts["name"], facts["n_frames"], facts["fps"]) == ("walk", motion.n_frames, motion.fps)
    assert [joint["name"] for joint in facts["joints"]] == list(motion.skeleton.names)
    assert facts["has_body"] and facts["key_frames"] and set(facts["contacts"]) == {"left", "right"}
    assert len(facts["swings"]) == kp.swings(motion).n_swings
    assert said(client.get(f"/clips/{walk}.json")) == facts


def test_frames_are_places_on_the_page(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    header, arrays = unpacked(client.get(f"/api/clips/{walk}/frames"))
    assert set(header) == set(FramesHeader.model_fields)
    space = page_space(motion)
    np.testing.assert_array_equal(arrays["positions"], space.places(motion.world_positions()).astype(np.float32))
    np.testing.assert_array_equal(arrays["ends"], space.places(motion.end_positions()).astype(np.float32))
    assert header["parents"] == motion.skeleton.parents.tolist() and header["step"] == 1
    head = motion.skeleton.joint("head")
    assert header["head"] == head
    np.testing.assert_allclose(
        np.linalg.norm(arrays["face"][:, 0] - arrays["positions"][:, head], axis=1), 0.17, atol=0.03
    )
    thin, fewer = unpacked(client.get(f"/api/clips/{walk}/frames", params={"fps": 10, "most_frames": 25}))
    assert thin["step"] == 5 and thin["n_frames"] == motion.n_frames
    np.testing.assert_array_equal(fewer["positions"], arrays["positions"][::5])


@pytest.mark.parametrize(
    "path", ["frames", "frames?fps=15", "strip.svg?frames=0,30", "strip.png?frames=0,30&theme=dark"]
)
def test_what_a_browser_has_is_not_sent_again(client: httpx.Client, walk: str, path: str) -> None:
    first = client.get(f"/api/clips/{walk}/{path}")
    tag = first.headers["etag"]
    again = client.get(f"/api/clips/{walk}/{path}", headers={"If-None-Match": tag})
    assert first.status_code == 200 and again.status_code == 304 and not again.content
    other = client.get(f"/api/clips/{walk}/frames?fps=7", headers={"If-None-Match": tag})
    assert other.status_code == 200 and other.headers["etag"] != tag


def test_strips_are_those_of_the_verb(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    asked = {"frames": "0,30,61", "theme": "dark", "layout": "time", "height_px": 120}
    svg = client.get(f"/api/clips/{walk}/strip.svg", params=asked)
    wanted = kp.strip(motion, [0, 30, 61], theme="dark", layout="time", height_px=120)
    assert svg.text == wanted.svg and svg.headers["content-type"].startswith("image/svg+xml")
    png = client.get(f"/api/clips/{walk}/strip.png", params=asked)
    assert png.content == wanted.png(2.0)


def test_ladders_are_those_of_the_verb(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    found = said(client.post(f"/api/clips/{walk}/ladder", json={}))
    assert set(found) == set(LadderSaid.model_fields)
    wanted = kp.ladder(motion, "salient", max_keys=60, **found["options"])
    assert found["unit"] == "mm" and found["order"] is None
    assert found["counts"] == wanted.counts.tolist() and found["costs"] == wanted.cost_values.tolist()
    assert found["selections"] == [wanted.at(count).frames.tolist() for count in found["counts"]]
    assert found["auto"] == len(kp.select(motion, "salient", max_keys=60, auto=True, **found["options"]))
    assert [tuple(cliff.values()) for cliff in found["cliffs"]] == [tuple(cliff) for cliff in wanted.cliffs()]


@pytest.mark.parametrize("method", [row.name for row in kp.methods()])
def test_every_method_has_a_ladder(client: httpx.Client, walk: str, method: str) -> None:
    found = said(client.post(f"/api/clips/{walk}/ladder", json={"method": method, "first": 10, "last": 100}))
    assert (found["order"] is None) != (found["selections"] is None)
    frames = found["order"] or [frame for some in found["selections"] for frame in some]
    assert min(frames) >= 10 and max(frames) <= 100


def test_a_tolerance_gives_fewest_keys(client: httpx.Client, walk: str) -> None:
    some = said(client.post(f"/api/clips/{walk}/within", json={"recipe": {}, "tolerance_mm": 20}))
    more = said(client.post(f"/api/clips/{walk}/within", json={"recipe": {}, "tolerance_mm": 5}))
    assert some["keys"] == len(some["frames"]) < more["keys"]
    told = {"frames": some["frames"], "polish": False}
    header, _ = unpacked(client.post(f"/api/clips/{walk}/unbaked", json=told))
    assert header["score"]["max_mm"] <= 20


@pytest.mark.parametrize("polish", [True, False])
def test_curves_and_their_score_are_those_of_the_verbs(
    client: httpx.Client, walk: str, motion: kp.Motion, polish: bool
) -> None:
    header, arrays = unpacked(client.post(f"/api/clips/{walk}/unbaked", json={"frames": FRAMES, "polish": polish}))
    assert set(header) == set(UnbakedHeader.model_fields)
    UnbakedHeader.model_validate(header)
    keyed = kp.unbake(motion, FRAMES, polish=polish)
    places = page_space(motion).places(keyed.sample().world_positions())
    np.testing.assert_array_equal(arrays["positions"], places.astype(np.float32))
    score = kp.score(motion, keyed)
    np.testing.assert_allclose(arrays["per_frame_mm"], score.per_frame_mm, rtol=1e-6)
    np.testing.assert_allclose(arrays["per_joint_mm"], score.per_joint_mm, rtol=1e-6)
    assert header["keys"] == FRAMES and header["score"]["max_mm"] == pytest.approx(score.max_mm)
    assert header["score"]["foot_slide_mm"] == (pytest.approx(score.foot_slide_mm) if polish else None)


def test_an_edit_is_that_of_the_editor(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    step = {"op": "rotate", "frame": 61, "joint": "head", "euler_degrees": [0, 25, 0], "spread_s": 0.3}
    draft = {"kind": "keys", "frames": FRAMES, "steps": [step]}
    header, arrays = unpacked(client.post(f"/api/clips/{walk}/edited", json={"draft": draft, "step": 2}))
    assert set(header) == set(EditedHeader.model_fields)
    EditedHeader.model_validate(header)
    by_hand = kp.edit(kp.unbake(motion, FRAMES))
    by_hand.rotate(61, "head", euler_degrees=(0, 25, 0), spread_s=0.3)
    places = page_space(motion).places(by_hand.keyed.sample().world_positions())[::2]
    np.testing.assert_array_equal(arrays["positions"], places.astype(np.float32))
    assert header["history"] == list(by_hand.history) and header["changed"] == list(by_hand.last_range or ())
    assert arrays["per_frame_mm"].shape == (motion.n_frames,) and header["swings"] is None


def test_an_edit_has_a_strip(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    path = f"/api/clips/{walk}/strip.svg"
    steps = [{"op": "mirror", "frame": 61}, {"op": "delete_key", "frame": 30}]
    draft = {"kind": "keys", "frames": FRAMES, "steps": steps}
    editor = kp.edit(kp.unbake(motion, FRAMES))
    editor.mirror(61)
    editor.delete_key(30)
    seen = kp.strip(editor.keyed.sample(), [0, 61, 90, 119], theme="dark").svg
    assert client.post(path, json={"draft": draft, "theme": "dark"}).text == seen
    swings = {"kind": "swings", "steps": [{"op": "intensify", "joint": "legs", "factor": 1.4}]}
    some = client.post(path, json={"draft": swings, "frames": [10, 50]})
    assert some.status_code == 200 and some.text != client.get(path, params={"frames": "10,50"}).text
    assert "delete_key" in refused(
        client.post(path, json={"draft": {**draft, "steps": steps[1:] * 2}}), 400, "OptionError"
    )


def test_swings_are_edited(client: httpx.Client, walk: str) -> None:
    bar = next(bar for bar in client.get(f"/api/clips/{walk}").json()["swings"] if bar["angle_deg"] > 20)
    step = {"op": "scale", "joint": bar["joint"], "index": bar["index"], "factor": 1.5}
    header, _ = unpacked(client.post(f"/api/clips/{walk}/edited", json={"draft": {"kind": "swings", "steps": [step]}}))
    after = next(each for each in header["swings"] if (each["joint"], each["index"]) == (bar["joint"], bar["index"]))
    assert after["angle_deg"] == pytest.approx(1.5 * bar["angle_deg"], rel=1e-3)
    assert header["keys"] is None and len(header["history"]) == 1


def test_a_name_of_a_clip_is_no_path_and_no_markup(client: httpx.Client, hashes: dict[str, str]) -> None:
    clip = hashes["<script>alert(1)</script>"]
    answer = client.post(f"/api/clips/{clip}/export", json={"format": ".bvh"})
    assert "<" not in answer.headers["content-disposition"] and "/" not in answer.headers["content-disposition"]
    svg = client.get(f"/api/clips/{clip}/strip.svg", params={"frames": "0,20"})
    assert "<script" not in svg.text


def test_several_clips_leave_in_a_zip(client: httpx.Client, hashes: dict[str, str]) -> None:
    told = {"clips": list(hashes.values()), "format": ".keys.json", "keys": 5}
    answer = client.post("/api/export", json=told)
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("manifest.json"))
        assert {row["hash"] for row in manifest["clips"]} == set(hashes.values())
        assert len({row["file"] for row in manifest["clips"]}) == 3
        assert set(archive.namelist()) == {"manifest.json", *(row["file"] for row in manifest["clips"])}
        for row in manifest["clips"]:
            one = client.post(f"/api/clips/{row['hash']}/export", json={"format": ".keys.json"})
            assert one.status_code == 200 and row["bytes"] == len(archive.read(row["file"]))
            assert len(json.loads(archive.read(row["file"]))["keys"]) == 5


def test_a_zip_of_what_cannot_be_made_is_an_error_at_once(client: httpx.Client, walk: str) -> None:
    refused(client.post("/api/export", json={"clips": [walk], "format": ".exe"}), 400, "OptionError")
    refused(client.post("/api/export", json={"clips": [walk, "0" * 64], "format": ".bvh"}), 404, "NoSuchClip")


def test_methods_side_by_side_as_json(client: httpx.Client, walk: str) -> None:
    found = said(client.get(f"/compare/{walk}.json", params={"methods": "salient,uniform", "keys": 6}))
    assert [row["method"] for row in found["methods"]] == ["salient", "uniform"]
    assert all(row["keys"] == len(row["frames"]) == 6 for row in found["methods"])
    assert found["methods"][0]["score"]["max_mm"] < found["methods"][1]["score"]["max_mm"]
    assert "expected some of" in refused(client.get(f"/compare/{walk}.json?methods=magic"), 400, "OptionError")


WRONG: dict[str, tuple[str, dict[str, Any], int, str, str]] = {
    "no such method": ("ladder", {"method": "magic"}, 400, "OptionError", "method='magic'"),
    "no such joint": ("ladder", {"joints": ["wing"]}, 400, "UnknownJoint", "no joint or body part 'wing'"),
    "no such option": ("ladder", {"options": {"threads": 99}}, 400, "OptionError", "option 'threads'"),
    "a range outside": ("ladder", {"last": 5000}, 400, "OptionError", "expected a range within"),
    "not known": ("ladder", {"colour": 1}, 422, "RequestError", "colour"),
    "a key outside": ("unbaked", {"frames": [0, 5000]}, 400, "OptionError", "expected at least one of 0 to"),
    "no keys": ("unbaked", {"frames": []}, 422, "RequestError", "frames"),
    "no such key": (
        "edited",
        {"draft": {"kind": "keys", "frames": FRAMES, "steps": [{"op": "delete_key", "frame": 5}]}},
        400,
        "OptionError",
        "step 1, delete_key: no key at frame 5",
    ),
    "no such format": ("export", {"format": "/etc/passwd"}, 400, "OptionError", "expected one of .bvh"),
    "no tolerance": ("within", {"recipe": {}, "tolerance_mm": 0}, 422, "RequestError", "tolerance_mm"),
}


@pytest.mark.parametrize(("route", "told", "status", "kind", "says"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_said(
    client: httpx.Client, walk: str, route: str, told: dict[str, Any], status: int, kind: str, says: str
) -> None:
    assert says in refused(client.post(f"/api/clips/{walk}/{route}", json=told), status, kind)


@pytest.mark.parametrize("route", ["", "/frames"])
def test_a_clip_that_is_not_there_is_said(client: httpx.Client, route: str) -> None:
    refused(client.get(f"/api/clips/{'0' * 64}{route}"), 404, "NoSuchClip")
