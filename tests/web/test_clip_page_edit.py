"""Editing in real Chromium: joints, hands, keys in time, swings; undone, kept, found again, never the clip itself."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from clip_page import CLIP, asked, drag, errors, frame_of, place_of, ready, slide
from web_served import Look, until

pytestmark = pytest.mark.browser
KEPT = "document.querySelector('.saving')?.textContent === 'Kept'"


@pytest.fixture
def clip(hashes: dict[str, str]) -> str:
    """The hash of the clip that is edited."""
    return hashes[CLIP]


def begin(page: Any, clip: str, kind: str = "Edit these") -> None:
    """Starts an edit at the fifth key, whatever was there before."""
    ready(page)
    page.evaluate("(clip) => fetch(`/api/clips/${clip}/draft`, { method: 'DELETE' })", clip)
    page.reload()
    ready(page)
    page.get_by_role("tab", name="Edit").click()
    page.get_by_role("button", name=re.compile(kind)).click()
    page.wait_for_selector(".edit-head")
    until(page, "document.querySelector('.history')?.children.length === 1")
    kept(page)


def kept(page: Any) -> None:
    """Waits until the draft is kept."""
    page.wait_for_timeout(450)
    until(page, KEPT)


def steps(page: Any, clip: str) -> list[dict[str, Any]]:
    """The steps of the draft that count, as the server keeps them."""
    kept(page)
    said = asked(page, f"/api/clips/{clip}/draft")
    return list(said["draft"]["steps"][: said["done"]])


def history(page: Any) -> list[str]:
    """What was done, the first first."""
    return list(reversed(page.locator(".history-step").all_inner_texts()))


def mean_mm(page: Any) -> str:
    """How far the curves are off, as the error lane says."""
    return str(page.locator(".lane-error").inner_text())


def test_a_joint_is_turned_undone_and_kept(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=9") as watched:
        page = watched.page
        begin(page, clip)
        page.keyboard.press("ArrowUp")
        assert "Key 2 of 9" in page.locator(".at-key").inner_text()
        page.get_by_label("Joint", exact=True).select_option(label="LeftArm")
        page.wait_for_timeout(700)
        before = page.locator("canvas.stage").screenshot()
        page.get_by_role("button", name="Bend +5 degrees").click()
        for _ in range(5):
            page.keyboard.press("Enter")  # the button keeps the focus
        until(page, "document.querySelectorAll('.history-step').length === 7")
        done = steps(page, clip)
        assert [step["op"] for step in done] == ["rotate"] * 6
        assert done[0]["joint"] == "LeftArm" and done[0]["frame"] == frame_of(page)
        page.wait_for_timeout(900)
        assert page.locator("canvas.stage").screenshot() != before
        for left in range(5, -1, -1):
            page.keyboard.press("Control+z")
            until(page, f"document.querySelectorAll('.undone').length === {6 - left}")
        assert steps(page, clip) == []
        page.wait_for_timeout(900)
        assert page.locator("canvas.stage").screenshot() == before  # to the pixel
        page.keyboard.press("Control+Shift+z")
        page.keyboard.press("Control+y")
        assert len(steps(page, clip)) == 2
        page.reload()
        page.wait_for_selector(".edit-head")
        until(page, "document.querySelectorAll('.undone').length === 4")
        page.locator(".history-step", has_text="9 keys").click()
        assert steps(page, clip) == []
        assert errors(watched) == []


def grips_of(page: Any, clip: str) -> dict[str, tuple[int, int]]:
    """Where hands, feet and hips can be taken hold of, in pixels of the stage."""
    until(page, "Boolean(document.querySelector('canvas.stage').dataset.grips)")
    page.wait_for_timeout(600)
    names = [joint["name"] for joint in asked(page, f"/api/clips/{clip}")["joints"]]
    said = page.locator("canvas.stage").get_attribute("data-grips")
    return {names[int(joint)]: (int(x), int(y)) for joint, x, y in re.findall(r"(\d+):(-?\d+),(-?\d+)", said)}


def test_a_ring_turns_a_joint(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=9&camera=0,0,4.6") as watched:  # the camera looks along the world's Z
        page = watched.page
        begin(page, clip)
        page.get_by_role("radio", name="World").check(force=True)
        box = page.locator("canvas.stage").bounding_box()
        x, y = (a + b for a, b in zip(grips_of(page, clip)["LeftHand"], (box["x"], box["y"]), strict=True))
        page.mouse.click(x, y)  # selects what it presses
        assert page.get_by_label("Joint", exact=True).locator("option:checked").inner_text() == "LeftHand"
        page.wait_for_timeout(600)
        radius = 0.085 * box["height"] / (2 * math.tan(math.radians(16)))
        start, end = ((x + radius * math.cos(a), y - radius * math.sin(a)) for a in (0.8, 1.3))
        drag(page, start, end)
        until(page, "document.querySelectorAll('.history-step').length === 2")
        (step,) = steps(page, clip)
        assert (step["op"], step["joint"], step["space"]) == ("rotate", "LeftHand", "world")
        assert 2 * math.asin(step["quaternion"][3]) == pytest.approx(0.5, abs=0.08)  # about Z, as far as it was dragged
        assert abs(step["quaternion"][1]) < 1e-6 and abs(step["quaternion"][2]) < 1e-6
        assert errors(watched) == []


def test_a_hand_is_dragged(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=9") as watched:
        page = watched.page
        begin(page, clip)
        page.keyboard.press("ArrowUp")
        grips = grips_of(page, clip)
        assert set(grips) == {"LeftHand", "RightHand", "LeftFoot", "RightFoot", "Hips"}
        box = page.locator("canvas.stage").bounding_box()
        hand = (box["x"] + grips["LeftHand"][0], box["y"] + grips["LeftHand"][1])
        camera = page.url
        drag(page, hand, (hand[0] + 14, hand[1] - 24))
        until(page, "document.querySelectorAll('.history-step').length === 2")
        (step,) = steps(page, clip)
        assert (step["op"], step["joint"], step["frame"]) == ("reach", "LeftHand", frame_of(page))
        assert step["by"][1] > 0.03  # upwards
        assert page.url == camera  # the camera stayed
        x, y = grips_of(page, clip)["LeftHand"]
        assert abs(x - grips["LeftHand"][0] - 14) < 8 and abs(y - grips["LeftHand"][1] + 24) < 8
        page.get_by_role("button", name="Up by 2 centimetres").click()
        until(page, "document.querySelectorAll('.history-step').length === 3")
        page.get_by_label("Drag its ball in the view, or").select_option(label="hips (whole figure)")
        page.get_by_role("button", name="Down by 2 centimetres").click()
        assert [step["op"] for step in steps(page, clip)] == ["reach", "reach", "shift"]
        assert errors(watched) == []


def test_keys_are_moved_added_removed_and_poses_mirrored(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=9") as watched:
        page = watched.page
        begin(page, clip)
        page.keyboard.press("ArrowUp")
        key = frame_of(page)
        drag(page, place_of(page, key, "keys"), place_of(page, key + 6, "keys"))
        until(page, "document.querySelectorAll('.history-step').length === 2")
        (step,) = steps(page, clip)
        assert step["op"] == "move_key" and step["frame"] == key and abs(step["to"] - key - 6) <= 1
        assert frame_of(page) == step["to"]
        until(page, "(n) => document.querySelector('.at-key')?.textContent.endsWith(`frame ${n}`)", step["to"])
        page.keyboard.press("ArrowRight")
        page.wait_for_selector("text=is between keys")
        page.keyboard.press("n")
        until(page, "document.querySelector('.at-key')?.textContent.startsWith('Key 3 of 10')")
        page.keyboard.press("Delete")
        until(page, "document.querySelector('.at-frame').textContent.includes('between keys')")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("m")
        until(page, "document.querySelectorAll('.history-step').length === 5")
        off = mean_mm(page)
        slide(page, "Detail of the capture", 100)
        slide(page, "Detail of the capture", 60)
        until(page, "(was) => document.querySelector('.history-step').textContent === 'Detail 60 %'", off)
        assert history(page)[1:] == [f"Key {key} to {step['to']}", f"Key added at {step['to'] + 1}",
                                     f"Key removed at {step['to'] + 1}", f"Mirror the pose at {step['to']}",
                                     "Detail 60 %"]  # fmt: skip
        kept(page)
        assert asked(page, f"/api/clips/{clip}/draft")["draft"]["residual"] == 0.6
        page.get_by_role("tab", name="Keys").click()
        ready(page)
        assert page.get_by_role("spinbutton", name="Number of keys").input_value() == "9"  # the capture's again
        assert errors(watched) == []


def test_what_cannot_be_is_said_and_leaves_no_trace(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=4") as watched:
        page = watched.page
        begin(page, clip)
        page.get_by_label("Joint", exact=True).select_option(label="Head")
        page.keyboard.press("Home")
        page.get_by_role("button", name="One frame earlier").click()
        page.wait_for_selector(".toast")
        until(page, "document.querySelectorAll('.history-step').length === 1")
        assert steps(page, clip) == []
        # the browser itself says on the console that a request was refused
        assert [said for said in errors(watched) if "Failed to load resource" not in said] == []


def test_another_window_asks_whose_edit_counts(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=6") as watched:
        page = watched.page
        begin(page, clip)
        said = asked(page, f"/api/clips/{clip}/draft")
        script = """([clip, told, revision]) => fetch(`/api/clips/${clip}/draft`, { method: "PUT", body: JSON.stringify(told),
          headers: { "Content-Type": "application/json", "If-Match": String(revision) } })"""
        theirs = {"draft": said["draft"] | {"residual": 0.5}, "done": 0}
        page.evaluate(script, [clip, theirs, said["revision"]])
        page.keyboard.press("m")
        page.get_by_role("dialog", name="This edit was changed elsewhere").wait_for()
        page.get_by_role("button", name="Keep mine").click()
        assert [step["op"] for step in steps(page, clip)] == ["mirror"]
        page.get_by_role("button", name="Discard").click()
        page.get_by_role("button", name="Edit these 6 keys").wait_for()
        page.get_by_role("button", name="Undo").click()
        page.wait_for_selector(".edit-head")
        assert [step["op"] for step in steps(page, clip)] == ["mirror"]
        assert [said for said in errors(watched) if "409" not in said] == []


def test_swings_are_dragged(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=6") as watched:
        page = watched.page
        begin(page, clip, "Edit swings")
        until(page, "document.querySelectorAll('.lane-joint').length > 5")
        bars = [each for each in asked(page, f"/api/clips/{clip}")["swings"] if each["joint"] == "LeftForeArm"]
        bar = max(bars, key=lambda each: each["end"] - each["start"])
        label = page.locator(".lane-joint", has_text="LeftForeArm")
        label.scroll_into_view_if_needed()
        middle = place_of(page, (bar["start"] + bar["end"]) // 2, "keys")[0]
        lane = label.bounding_box()
        y = lane["y"] + lane["height"] / 2
        per_frame = place_of(page, 1, "keys")[0] - place_of(page, 0, "keys")[0]
        drag(page, (middle, y), (middle + 4 * per_frame, y))
        until(page, "document.querySelectorAll('.history-step').length === 2")
        drag(page, (middle, y), (middle, y - 45))
        until(page, "document.querySelectorAll('.history-step').length === 3")
        done = steps(page, clip)
        assert [step["op"] for step in done] == ["shift", "scale"]
        assert done[0]["joint"] == "LeftForeArm" and done[0]["index"] == bar["index"] and done[0]["by_frames"] == 4
        assert done[1]["factor"] == pytest.approx(2**0.5, abs=0.02)
        page.get_by_label("Joint", exact=True).select_option("LeftForeArm")
        page.get_by_role("button", name="Longer").click()
        until(page, "document.querySelectorAll('.history-step').length === 4")
        for left in (2, 1, 0):
            page.get_by_role("button", name="Undo").click()
            assert len(steps(page, clip)) == left
        assert errors(watched) == []
