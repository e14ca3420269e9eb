"""Routes of one clip: responses match the Python API."""

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
from keypose.clip_edit import compute_display_space
from keypose.methods import METHODS
from keypose.server.schema.clips import ClipDetails
from keypose.server.schema.keys import (
    ActionList,
    CurvesHeader,
    EditHeader,
    FramesHeader,
    LadderResponse,
    SwingHeader,
)
from support.errors import check_error_response
from support.figures import figures

FRAMES = [0, 30, 61, 90, 119]


def unpack(response: httpx.Response) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return header and arrays of a packet, as documented in docs/api.md."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/vnd.keypose.arrays"
    data = response.content
    body = 4 + struct.unpack_from("<I", data)[0]
    header = json.loads(data[4:body])
    array_index = header.pop("arrays")
    dtypes = {"float32": "<f4", "int32": "<i4"}
    return header, {
        name: np.frombuffer(data, dtypes[each["dtype"]], int(np.prod(each["shape"])), body + each["offset"]).reshape(
            each["shape"]
        )
        for name, each in array_index.items()
    }


def get_json(response: httpx.Response) -> Any:
    assert response.status_code == 200, response.text
    return response.json()


def test_clip_details(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    details = get_json(client.get(f"/api/clips/{walk}"))
    assert set(details) == set(ClipDetails.model_fields)
    assert (details["name"], details["n_frames"], details["fps"]) == ("walk", motion.n_frames, motion.fps)
    assert [joint["name"] for joint in details["joints"]] == list(motion.skeleton.names)
    assert details["has_body"] and details["key_frames"] and set(details["contacts"]) == {"left", "right"}
    assert len(details["swings"]) == kp.swings(motion).n_swings
    assert get_json(client.get(f"/clips/{walk}.json")) == details


def test_frames_are_in_display_space(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    header, arrays = unpack(client.get(f"/api/clips/{walk}/frames"))
    assert set(header) == set(FramesHeader.model_fields)
    space = compute_display_space(motion)
    np.testing.assert_array_equal(arrays["positions"], space.to_display(motion.world_positions()).astype(np.float32))
    np.testing.assert_array_equal(arrays["ends"], space.to_display(motion.end_positions()).astype(np.float32))
    assert header["parents"] == motion.skeleton.parents.tolist() and header["stride"] == 1
    head = motion.skeleton.joint("head")
    assert header["head"] == head
    np.testing.assert_allclose(
        np.linalg.norm(arrays["face"][:, 0] - arrays["positions"][:, head], axis=1), 0.17, atol=0.03
    )
    thin, fewer = unpack(client.get(f"/api/clips/{walk}/frames", params={"fps": 10, "max_frames": 25}))
    assert thin["stride"] == 5 and thin["n_frames"] == motion.n_frames
    np.testing.assert_array_equal(fewer["positions"], arrays["positions"][::5])


@pytest.mark.parametrize(
    "path", ["frames", "frames?fps=15", "strip.svg?frames=0,30", "strip.png?frames=0,30&theme=dark"]
)
def test_etag_gives_304(client: httpx.Client, walk: str, path: str) -> None:
    first = client.get(f"/api/clips/{walk}/{path}")
    tag = first.headers["etag"]
    again = client.get(f"/api/clips/{walk}/{path}", headers={"If-None-Match": tag})
    assert first.status_code == 200 and again.status_code == 304 and not again.content
    other = client.get(f"/api/clips/{walk}/frames?fps=7", headers={"If-None-Match": tag})
    assert other.status_code == 200 and other.headers["etag"] != tag


def test_strips_match_python_api(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    params = {"frames": "0,30,61", "theme": "dark", "layout": "time", "height_px": 120}
    svg = client.get(f"/api/clips/{walk}/strip.svg", params=params)
    expected = kp.strip(motion, [0, 30, 61], theme="dark", layout="time", height_px=120)
    assert svg.text == expected.svg and svg.headers["content-type"].startswith("image/svg+xml")
    png = client.get(f"/api/clips/{walk}/strip.png", params=params)
    assert png.content == expected.png(2.0)


def test_ladders_match_python_api(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    result = get_json(client.post(f"/api/clips/{walk}/ladder", json={}))
    assert set(result) == set(LadderResponse.model_fields)
    expected = kp.ladder(motion, "salient", max_keys=60, **result["options"])
    assert result["unit"] == "mm" and result["order"] is None
    assert result["counts"] == expected.counts.tolist() and result["costs"] == expected.cost_values.tolist()
    assert result["selections"] == [expected.at(count).frames.tolist() for count in result["counts"]]
    assert result["auto"] == len(kp.select(motion, "salient", max_keys=60, auto=True, **result["options"]))
    assert [tuple(cliff.values()) for cliff in result["cliffs"]] == [tuple(cliff) for cliff in expected.cliffs()]


@pytest.mark.parametrize("method", [row.name for row in kp.methods()])
def test_every_method_has_a_ladder(client: httpx.Client, walk: str, method: str) -> None:
    result = get_json(
        client.post(f"/api/clips/{walk}/ladder", json={"method": method, "first_frame": 10, "last_frame": 100})
    )
    assert (result["order"] is None) != (result["selections"] is None)
    frames = result["order"] or [frame for selection in result["selections"] for frame in selection]
    assert min(frames) >= 10 and max(frames) <= 100


def test_selection_within_tolerance(client: httpx.Client, walk: str) -> None:
    selection = get_json(client.post(f"/api/clips/{walk}/selection", json={"spec": {}, "tolerance_mm": 20}))
    larger = get_json(client.post(f"/api/clips/{walk}/selection", json={"spec": {}, "tolerance_mm": 5}))
    assert selection["keys"] == len(selection["frames"]) < larger["keys"]
    automatic = get_json(client.post(f"/api/clips/{walk}/selection", json={"spec": {}}))
    for frames, limit_mm in ((selection["frames"], 20), (automatic["frames"], 17)):
        header, _ = unpack(client.post(f"/api/clips/{walk}/curves", json={"frames": frames}))
        assert header["score"]["max_mm"] <= limit_mm


@pytest.mark.parametrize("polish", [True, False])
def test_curves_and_score_match_python_api(client: httpx.Client, walk: str, motion: kp.Motion, polish: bool) -> None:
    header, arrays = unpack(client.post(f"/api/clips/{walk}/curves", json={"frames": FRAMES, "quick": not polish}))
    assert set(header) == set(CurvesHeader.model_fields)
    CurvesHeader.model_validate(header)
    keyed = kp.unbake(motion, FRAMES, polish=polish)
    positions = compute_display_space(motion).to_display(keyed.sample().world_positions())
    np.testing.assert_array_equal(arrays["positions"], positions.astype(np.float32))
    score = kp.score(motion, keyed)
    np.testing.assert_allclose(arrays["per_frame_mm"], score.per_frame_mm, rtol=1e-6)
    np.testing.assert_allclose(arrays["max_per_frame_mm"], score.max_per_frame_mm, rtol=1e-6)
    np.testing.assert_allclose(arrays["per_joint_mm"], score.per_joint_mm, rtol=1e-6)
    assert header["keys"] == FRAMES and header["score"]["max_mm"] == pytest.approx(score.max_mm)
    assert header["score"]["foot_slide_mm"] == (pytest.approx(score.foot_slide_mm) if polish else None)


def test_edit_matches_editor(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    step = {"op": "rotate", "frame": 61, "joint": "head", "euler_degrees": [0, 25, 0], "spread_s": 0.3}
    draft = {"kind": "keys", "frames": FRAMES, "steps": [step]}
    header, arrays = unpack(client.post(f"/api/clips/{walk}/edit", json={"draft": draft, "stride": 2}))
    assert set(header) == set(EditHeader.model_fields)
    EditHeader.model_validate(header)
    editor = kp.edit(kp.unbake(motion, FRAMES))
    editor.rotate(61, "head", euler_degrees=(0, 25, 0), spread_s=0.3)
    positions = compute_display_space(motion).to_display(editor.keyed.sample().world_positions())[::2]
    np.testing.assert_array_equal(arrays["positions"], positions.astype(np.float32))
    assert header["history"] == list(editor.history) and header["changed_frames"] == list(editor.last_range or ())
    assert arrays["per_frame_mm"].shape == (motion.n_frames,) and header["swings"] is None


def test_strip_of_edit(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    path = f"/api/clips/{walk}/strip.svg"
    steps = [{"op": "mirror", "frame": 61}, {"op": "delete_key", "frame": 30}]
    draft = {"kind": "keys", "frames": FRAMES, "steps": steps}
    editor = kp.edit(kp.unbake(motion, FRAMES))
    editor.mirror(61)
    editor.delete_key(30)
    expected_svg = kp.strip(editor.keyed.sample(), [0, 61, 90, 119], theme="dark").svg
    assert client.post(path, json={"draft": draft, "theme": "dark"}).text == expected_svg
    swings = {"kind": "swings", "steps": [{"op": "intensify", "joint": "legs", "factor": 1.4}]}
    selection = client.post(path, json={"draft": swings, "frames": [10, 50]})
    assert selection.status_code == 200 and selection.text != client.get(path, params={"frames": "10,50"}).text
    response = client.post(path, json={"draft": {**draft, "steps": steps[1:] * 2}})
    check_error_response(response, 400, code="option", subject="step 2, delete_key")


def test_swings_alone(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    draft = {"kind": "swings", "threshold": 0.8, "captured_detail": False}
    header, arrays = unpack(client.post(f"/api/clips/{walk}/edit", json={"draft": draft}))
    EditHeader.model_validate(header)
    found = kp.swings(motion, 0.8)
    positions = compute_display_space(motion).to_display(found.play().world_positions())
    np.testing.assert_array_equal(arrays["positions"], positions.astype(np.float32))
    assert len(header["swings"]) == header["swing_figures"]["n_swings"] == found.n_swings
    assert header["swing_figures"]["error_deg"] == pytest.approx(found.error(motion))
    assert header["swing_figures"]["stored_bytes"] == found.size().total
    assert header["contacts"] == {
        foot: [list(span) for span in spans]
        for foot, spans in client.get(f"/api/clips/{walk}").json()["contacts"].items()
    }


def test_swing_and_its_arc(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    swing = max(kp.swings(motion)["LeftLeg"], key=lambda each: each.angle)
    index = [each.start for each in kp.swings(motion)["LeftLeg"]].index(swing.start)
    body = {"draft": {"kind": "swings"}, "joint": "LeftLeg", "index": index}
    header, arrays = unpack(client.post(f"/api/clips/{walk}/swing", json=body))
    assert set(header) == set(SwingHeader.model_fields)
    assert (header["start"], header["end"]) == (swing.start, swing.end)
    assert header["start_angle_deg"] + header["angle_deg"] == pytest.approx(swing.end_angle_deg)
    np.testing.assert_allclose(header["axis"], swing.axis)
    assert arrays["arc"].shape[1] == 3 and arrays["origins"].shape == (motion.n_frames, 3)
    response = client.post(f"/api/clips/{walk}/swing", json={**body, "index": 999})
    check_error_response(response, 400, code="option", option="index", value=999)
    response = client.post(f"/api/clips/{walk}/swing", json={**body, "joint": "Tail"})
    check_error_response(response, 400, code="joint", value="Tail")


def test_actions(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    listed = get_json(client.get(f"/api/clips/{walk}/actions"))
    assert set(listed) == set(ActionList.model_fields)
    actions = kp.swings(motion).actions(motion).all
    assert [(row["kind"], row["start"], row["end"]) for row in listed["actions"]] == [
        (action.kind, action.start, action.end) for action in actions
    ]
    assert [row["description"] for row in listed["actions"]] == [action.description for action in actions]
    assert "step" in {row["kind"] for row in listed["actions"]} and listed["notes"] == []


def test_steps_of_swings_that_cannot_be_applied(client: httpx.Client, walk: str) -> None:
    for step, fields in (
        ({"op": "set_angle", "joint": "LeftLeg", "index": 0, "degrees": 1e9}, {"option": "degrees"}),
        ({"op": "set_axis", "joint": "LeftLeg", "index": 0, "axis": [0, 0, 0]}, {"option": "axis"}),
        ({"op": "retime", "factor": 0}, {"option": "factor"}),
        ({"op": "retime", "factor": 2, "from_frame": 50, "to_frame": 20}, {"option": "from_s"}),
    ):
        response = client.post(f"/api/clips/{walk}/edit", json={"draft": {"kind": "swings", "steps": [step]}})
        check_error_response(response, 400, subject=f"step 1, {step['op']}", **fields)


def test_edit_of_swings(client: httpx.Client, walk: str) -> None:
    bar = next(bar for bar in client.get(f"/api/clips/{walk}").json()["swings"] if bar["angle_deg"] > 20)
    step = {"op": "scale", "joint": bar["joint"], "index": bar["index"], "factor": 1.5}
    header, _ = unpack(client.post(f"/api/clips/{walk}/edit", json={"draft": {"kind": "swings", "steps": [step]}}))
    after = next(each for each in header["swings"] if (each["joint"], each["index"]) == (bar["joint"], bar["index"]))
    assert after["angle_deg"] == pytest.approx(1.5 * bar["angle_deg"], rel=1e-3)
    assert header["keys"] is None and len(header["history"]) == 1


def test_clip_name_is_neither_path_nor_markup(client: httpx.Client, hashes: dict[str, str]) -> None:
    clip = hashes["<script>alert(1)</script>"]
    response = client.post(f"/api/clips/{clip}/export", json={"format": ".bvh"})
    assert "<" not in response.headers["content-disposition"] and "/" not in response.headers["content-disposition"]
    svg = client.get(f"/api/clips/{clip}/strip.svg", params={"frames": "0,20"})
    assert "<script" not in svg.text


def test_zip_export(client: httpx.Client, hashes: dict[str, str]) -> None:
    payload = {"clips": list(hashes.values()), "format": ".keys.json", "keys": 5}
    response = client.post("/api/export", json=payload)
    assert response.status_code == 200 and response.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("manifest.json"))
        assert {row["hash"] for row in manifest["clips"]} == set(hashes.values())
        assert len({row["file"] for row in manifest["clips"]}) == 3
        assert set(archive.namelist()) == {"manifest.json", *(row["file"] for row in manifest["clips"])}
        for row in manifest["clips"]:
            single = client.post(f"/api/clips/{row['hash']}/export", json={"format": ".keys.json"})
            assert single.status_code == 200 and row["bytes"] == len(archive.read(row["file"]))
            assert len(json.loads(archive.read(row["file"]))["keys"]) == 5


def test_invalid_zip_export_is_an_error(client: httpx.Client, walk: str) -> None:
    response = client.post("/api/export", json={"clips": [walk], "format": ".exe"})
    check_error_response(response, 400, code="option", option="format", value=".exe")
    response = client.post("/api/export", json={"clips": [walk, "0" * 64], "format": ".bvh"})
    check_error_response(response, 404, code="unknown_clip", value="0" * 64)


def test_comparison_json(client: httpx.Client, walk: str) -> None:
    result = get_json(client.get(f"/compare/{walk}.json", params={"methods": "salient,uniform", "keys": 6}))
    assert [row["method"] for row in result["methods"]] == ["salient", "uniform"]
    assert all(row["keys"] == len(row["frames"]) == 6 for row in result["methods"])
    assert result["methods"][0]["score"]["max_mm"] < result["methods"][1]["score"]["max_mm"]
    response = client.get(f"/compare/{walk}.json?methods=magic")
    check_error_response(response, 400, code="option", option="methods", value="magic")


INVALID: dict[str, tuple[str, dict[str, Any], int, dict[str, Any]]] = {
    "no such method": ("ladder", {"method": "magic"}, 400, {"code": "option", "option": "method", "value": "magic"}),
    "no such joint": ("ladder", {"joints": ["wing"]}, 400, {"code": "joint", "value": "wing"}),
    "no such option": (
        "ladder",
        {"options": {"threads": 99}},
        400,
        {"code": "option", "option": "options", "value": "threads"},
    ),
    "a range outside": ("ladder", {"last_frame": 5000}, 400, {"code": "option", "option": "last_frame", "value": 5000}),
    "not known": ("ladder", {"colour": 1}, 422, {"code": "request", "option": "colour"}),
    "a key outside": (
        "curves",
        {"frames": [0, 5000]},
        400,
        {"code": "option", "option": "frames", "expected": "frames from 0 to 119"},
    ),
    "no keys": ("curves", {"frames": []}, 422, {"code": "request", "option": "frames"}),
    "no such key": (
        "edit",
        {"draft": {"kind": "keys", "frames": FRAMES, "steps": [{"op": "delete_key", "frame": 5}]}},
        400,
        {"code": "option", "subject": "step 1, delete_key", "value": 5, "hint": "the nearest are at 0, 30, 61"},
    ),
    "no such format": (
        "export",
        {"format": "/etc/passwd"},
        400,
        {"code": "option", "option": "format", "value": "/etc/passwd"},
    ),
    "no tolerance": ("selection", {"spec": {}, "tolerance_mm": 0}, 422, {"code": "request", "option": "tolerance_mm"}),
}


@pytest.mark.parametrize(("route", "payload", "status", "fields"), INVALID.values(), ids=INVALID.keys())
def test_invalid_requests(
    client: httpx.Client, walk: str, route: str, payload: dict[str, Any], status: int, fields: dict[str, Any]
) -> None:
    check_error_response(client.post(f"/api/clips/{walk}/{route}", json=payload), status, **fields)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no such method", f"method='magic', expected one of {', '.join(METHODS)}"),
        ("no such joint", "no joint or body part 'wing'"),
        ("no such key", "step 1, delete_key: no key at frame 5"),
        ("no keys", "frames: Tuple should have at least 1 item after validation, not 0"),
    ],
)
def test_wording(client: httpx.Client, walk: str, name: str, message: str) -> None:
    """Messages of the API are pinned here only."""
    route, payload, status, fields = INVALID[name]
    response = client.post(f"/api/clips/{walk}/{route}", json=payload)
    assert check_error_response(response, status, **fields)["message"] == message


@pytest.mark.parametrize("route", ["", "/frames"])
def test_unknown_clip(client: httpx.Client, route: str) -> None:
    check_error_response(client.get(f"/api/clips/{'0' * 64}{route}"), 404, code="unknown_clip", value="0" * 64)


def test_strips_rank_poses_by_the_order_of_frames(client: httpx.Client, walk: str, motion: kp.Motion) -> None:
    order = kp.ladder(motion, "farthest", max_keys=5).at(5)
    params = {"frames": ",".join(map(str, order.order)), "rank": "true", "theme": "dark"}
    ranked = client.get(f"/api/clips/{walk}/strip.svg", params=params)
    assert ranked.text == kp.strip(motion, order, rank=True, theme="dark").svg
    plain = client.get(f"/api/clips/{walk}/strip.svg", params={**params, "rank": "false"})
    assert plain.text == kp.strip(motion, order, theme="dark").svg
    assert plain.headers["etag"] != ranked.headers["etag"]
    twice = client.get(f"/api/clips/{walk}/strip.svg", params={**params, "frames": "30,0,30"})
    assert [figure.opacity for figure in figures(twice.text)] == [0.45, 1.0]
    outside = client.get(f"/api/clips/{walk}/strip.svg", params={**params, "frames": "0,99999999"})
    assert outside.status_code == 400
