"""Editing in Chromium: joints, IK handles, key timing, swings; undo, saving, restoring; the clip itself never changes."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from support.clip_page import (
    call_api,
    drag,
    page_errors,
    read_frame,
    set_slider,
    settled_address,
    take_picture,
    timeline_point,
    wait_frame,
    wait_picture,
    wait_ready,
    wait_rendered,
)
from support.web_pages import OpenPage, expect, poll, wait_until

pytestmark = pytest.mark.browser


def start_edit(page: Any, kind: str = "Edit these") -> None:
    """Start an edit and wait until the view shows it."""
    wait_ready(page)
    page.get_by_role("tab", name="Edit").click()
    page.get_by_role("button", name=re.compile(kind)).click()
    wait_steps(page, 0)
    expect(page.locator(".edit-overlay")).not_to_contain_text("Fitting curves")
    wait_saved(page)


def wait_steps(page: Any, n_done: int, n_undone: int = 0) -> None:
    """Wait until the history shows this many applied and undone steps."""
    expect(page.locator(".history > li:not(.undone)")).to_have_count(1 + n_done)  # plus the start
    expect(page.locator(".history > .undone")).to_have_count(n_undone)


def wait_saved(page: Any) -> None:
    """Wait until the draft is saved. It is unsaved as soon as the history shows a new step, so wait for that first."""
    expect(page.locator(".save-status")).to_have_text("Saved")


def applied_steps(page: Any, clip: str) -> list[dict[str, Any]]:
    """Return the applied steps of the draft on the server."""
    wait_saved(page)
    draft = call_api(page, f"/api/clips/{clip}/draft")
    return list(draft["draft"]["steps"][: draft["n_applied"]])


def test_joint_is_rotated_undone_and_saved(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9") as tab:
        page = tab.page
        start_edit(page)
        page.keyboard.press("ArrowUp")
        expect(page.locator(".key-position")).to_contain_text("Key 2 of 9")
        page.get_by_label("Joint", exact=True).select_option(label="LeftArm")
        before = take_picture(page)
        page.get_by_role("button", name="Bend +5 degrees").click()
        for _ in range(5):
            page.keyboard.press("Enter")  # the button keeps the focus
        wait_steps(page, 6)
        done = applied_steps(page, clip)
        assert [step["op"] for step in done] == ["rotate"] * 6
        assert done[0]["joint"] == "LeftArm" and done[0]["frame"] == read_frame(page)
        wait_picture(page, unlike=before)
        for left in range(5, -1, -1):
            page.keyboard.press("Control+z")
            wait_steps(page, left, n_undone=6 - left)
        assert applied_steps(page, clip) == []
        wait_picture(page, like=before)  # to the pixel
        page.keyboard.press("Control+Shift+z")
        page.keyboard.press("Control+y")
        wait_steps(page, 2, n_undone=4)
        assert len(applied_steps(page, clip)) == 2
        page.reload()
        wait_steps(page, 2, n_undone=4)
        page.locator(".history-step", has_text="9 keys").click()
        wait_steps(page, 0, n_undone=6)
        assert applied_steps(page, clip) == []
        assert page_errors(tab) == []


def read_handles(page: Any, clip: str) -> dict[str, tuple[int, int]]:
    """Return the positions of the IK handles in pixels of the stage, by joint."""
    wait_until(page, "Boolean(document.querySelector('canvas.stage').dataset.handles)")
    wait_rendered(page)
    names = [joint["name"] for joint in call_api(page, f"/api/clips/{clip}")["joints"]]
    handles = page.locator("canvas.stage").get_attribute("data-handles")
    return {names[int(joint)]: (int(x), int(y)) for joint, x, y in re.findall(r"(\d+):(-?\d+),(-?\d+)", handles)}


def test_ring_rotates_a_joint(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9&camera=0,0,4.6") as tab:  # the camera looks along the world's Z
        page = tab.page
        start_edit(page)
        page.get_by_role("radio", name="World").check(force=True)
        box = page.locator("canvas.stage").bounding_box()
        x, y = (a + b for a, b in zip(read_handles(page, clip)["LeftHand"], (box["x"], box["y"]), strict=True))
        page.mouse.click(x, y)  # selects what it presses
        expect(page.get_by_label("Joint", exact=True).locator("option:checked")).to_have_text("LeftHand")
        wait_rendered(page)  # its rings are there
        radius = 0.085 * box["height"] / (2 * math.tan(math.radians(16)))
        start, end = ((x + radius * math.cos(a), y - radius * math.sin(a)) for a in (0.8, 1.3))
        drag(page, start, end)
        wait_steps(page, 1)
        (step,) = applied_steps(page, clip)
        assert (step["op"], step["joint"], step["space"]) == ("rotate", "LeftHand", "world")
        assert 2 * math.asin(step["quaternion"][3]) == pytest.approx(0.5, abs=0.08)  # about Z, as far as it was dragged
        assert abs(step["quaternion"][1]) < 1e-6 and abs(step["quaternion"][2]) < 1e-6
        assert page_errors(tab) == []


def test_hand_is_dragged(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9") as tab:
        page = tab.page
        start_edit(page)
        page.keyboard.press("ArrowUp")
        expect(page.locator(".key-position")).to_contain_text("Key 2 of 9")
        grips = read_handles(page, clip)
        assert set(grips) == {"LeftHand", "RightHand", "LeftFoot", "RightFoot", "Hips"}
        box = page.locator("canvas.stage").bounding_box()
        hand = (box["x"] + grips["LeftHand"][0], box["y"] + grips["LeftHand"][1])
        camera = settled_address(page)
        drag(page, hand, (hand[0] + 14, hand[1] - 24))
        wait_steps(page, 1)
        (step,) = applied_steps(page, clip)
        assert (step["op"], step["joint"], step["frame"]) == ("reach", "LeftHand", read_frame(page))
        assert step["by"][1] > 0.03  # upwards
        assert settled_address(page) == camera  # the camera stayed
        goal = (grips["LeftHand"][0] + 14, grips["LeftHand"][1] - 24)
        poll(
            lambda: read_handles(page, clip)["LeftHand"], lambda at: max(abs(at[0] - goal[0]), abs(at[1] - goal[1])) < 8
        )
        page.get_by_role("button", name="Up by 2 centimetres").click()
        wait_steps(page, 2)
        page.get_by_label("Handle").select_option(label="Hips (whole body)")
        page.get_by_role("button", name="Down by 2 centimetres").click()
        wait_steps(page, 3)
        assert [step["op"] for step in applied_steps(page, clip)] == ["reach", "reach", "shift"]
        assert page_errors(tab) == []


def test_ik_handle_follows_the_selected_joint(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9") as tab:
        page = tab.page
        start_edit(page)
        handle = page.get_by_label("Handle").locator("option:checked")
        expect(handle).to_have_text("Left hand")
        box = page.locator("canvas.stage").bounding_box()
        x, y = read_handles(page, clip)["RightFoot"]
        page.mouse.click(box["x"] + x, box["y"] + y)
        expect(page.get_by_label("Joint", exact=True).locator("option:checked")).to_have_text("RightFoot")
        expect(handle).to_have_text("Right foot")
        page.get_by_role("button", name="Up by 2 centimetres").click()
        wait_steps(page, 1)
        (step,) = applied_steps(page, clip)
        assert (step["op"], step["joint"]) == ("reach", "RightFoot")
        expect(page.locator(".history-step").first).to_have_text("Move right foot 2 cm at frame 0")
        page.get_by_label("Joint", exact=True).select_option(label="RightForeArm")
        expect(handle).to_have_text("Right hand")  # of its arm
        page.get_by_label("Joint", exact=True).select_option(label="Head")
        expect(handle).to_have_text("Right hand")
        assert page_errors(tab) == []


def test_detail_is_undone_and_saved_like_steps(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9") as tab:
        page = tab.page
        start_edit(page)
        set_slider(page, "Captured detail", 10)
        page.keyboard.press("m")
        wait_steps(page, 2)
        set_slider(page, "Captured detail", 70)
        wait_steps(page, 3)
        history = ["Captured detail 70 %", "Mirror pose at frame 0", "Captured detail 10 %", "Start: 9 keys"]
        rows, detail = page.locator(".history-step"), page.get_by_role("slider", name="Captured detail")
        for undone, value in enumerate(("70", "10", "10", "0")):
            expect(rows).to_have_text(history)
            wait_steps(page, 3 - undone, n_undone=undone)
            wait_saved(page)
            page.reload()
            expect(rows).to_have_text(history)
            wait_steps(page, 3 - undone, n_undone=undone)
            expect(detail).to_have_value(value)
            page.keyboard.press("Control+z")
        for _ in range(3):
            page.keyboard.press("Control+Shift+z")
        wait_steps(page, 3)
        expect(detail).to_have_value("70")
        assert page_errors(tab) == []


def test_keys_are_moved_added_removed_and_poses_mirrored(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9") as tab:
        page = tab.page
        start_edit(page)
        page.keyboard.press("ArrowUp")
        expect(page.locator(".key-position")).to_contain_text("Key 2 of 9")
        key = read_frame(page)
        drag(page, timeline_point(page, key, "keys"), timeline_point(page, key + 6, "keys"))
        wait_steps(page, 1)
        (step,) = applied_steps(page, clip)
        assert step["op"] == "move_key" and step["frame"] == key and abs(step["to"] - key - 6) <= 1
        wait_frame(page, step["to"])
        expect(page.locator(".key-position")).to_have_text(f"Key 2 of 9, frame {step['to']}")
        page.keyboard.press("ArrowRight")
        expect(page.locator(".edit-panel")).to_contain_text("is not a key")
        page.keyboard.press("n")
        expect(page.locator(".key-position")).to_contain_text("Key 3 of 10")
        page.keyboard.press("Delete")
        expect(page.locator(".edit-panel")).to_contain_text("is not a key")
        page.keyboard.press("ArrowDown")
        expect(page.locator(".key-position")).to_contain_text("Key 2 of 9")
        page.keyboard.press("m")
        wait_steps(page, 4)
        set_slider(page, "Captured detail", 100)
        set_slider(page, "Captured detail", 60)
        expect(page.locator(".history-step")).to_have_text(
            ["Captured detail 60 %", f"Mirror pose at frame {step['to']}", f"Remove key at frame {step['to'] + 1}",
             f"Add key at frame {step['to'] + 1}", f"Move key from frame {key} to {step['to']}", "Start: 9 keys"])  # fmt: skip
        wait_saved(page)
        assert call_api(page, f"/api/clips/{clip}/draft")["draft"]["residual"] == 0.6
        expect(page.get_by_role("list", name="Key marks").locator("li")).to_have_count(2)
        page.get_by_role("tab", name="Keys").click()
        wait_ready(page)
        expect(page.get_by_role("spinbutton", name="Number of keys")).to_have_value("9")  # the capture's again
        assert page_errors(tab) == []


def test_refused_step_shows_an_error_and_leaves_no_trace(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=4") as tab:
        page = tab.page
        start_edit(page)
        page.get_by_label("Joint", exact=True).select_option(label="Head")
        page.keyboard.press("Home")
        page.get_by_role("button", name="One frame earlier").click()
        page.wait_for_selector(".toast")
        wait_steps(page, 0)
        assert applied_steps(page, clip) == []
        # the browser itself says on the console that a request was refused
        assert [message for message in page_errors(tab) if "Failed to load resource" not in message] == []


def test_conflict_with_another_window_asks_which_version_to_keep(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6") as tab:
        page = tab.page
        start_edit(page)
        draft = call_api(page, f"/api/clips/{clip}/draft")
        script = """([clip, body, revision]) => fetch(`/api/clips/${clip}/draft`, { method: "PUT", body: JSON.stringify(body),
          headers: { "Content-Type": "application/json", "If-Match": String(revision) } })"""
        other = {"draft": draft["draft"] | {"residual": 0.5}, "n_applied": 0}
        page.evaluate(script, [clip, other, draft["revision"]])
        page.keyboard.press("m")
        page.get_by_role("dialog", name="The edit was changed in another window").wait_for()
        page.get_by_role("button", name="Keep this version").click()
        assert [step["op"] for step in applied_steps(page, clip)] == ["mirror"]
        page.get_by_role("button", name="Discard").click()
        page.get_by_role("button", name="Edit these 6 keys").wait_for()
        page.get_by_role("button", name="Undo").click()
        wait_steps(page, 1)
        assert [step["op"] for step in applied_steps(page, clip)] == ["mirror"]
        assert [draft for draft in page_errors(tab) if "409" not in draft] == []


def test_swings_are_dragged(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6") as tab:
        page = tab.page
        start_edit(page, "Edit swings")
        wait_until(page, "document.querySelectorAll('.lane-joint').length > 5")
        bars = [each for each in call_api(page, f"/api/clips/{clip}")["swings"] if each["joint"] == "LeftForeArm"]
        bar = max(bars, key=lambda each: each["end"] - each["start"])
        label = page.locator(".lane-joint", has_text="LeftForeArm")
        label.scroll_into_view_if_needed()
        middle = timeline_point(page, (bar["start"] + bar["end"]) // 2, "keys")[0]
        lane = label.bounding_box()
        y = lane["y"] + lane["height"] / 2
        per_frame = timeline_point(page, 1, "keys")[0] - timeline_point(page, 0, "keys")[0]
        drag(page, (middle, y), (middle + 4 * per_frame, y))
        wait_steps(page, 1)
        drag(page, (middle, y), (middle, y - 45))
        wait_steps(page, 2)
        done = applied_steps(page, clip)
        assert [step["op"] for step in done] == ["shift", "scale"]
        assert done[0]["joint"] == "LeftForeArm" and done[0]["index"] == bar["index"] and done[0]["by_frames"] == 4
        assert done[1]["factor"] == pytest.approx(2**0.5, abs=0.02)
        expect(page.get_by_label("Joint", exact=True)).to_have_value("LeftForeArm")  # the panel follows
        expect(page.get_by_label("Swing", exact=True)).to_have_value(str(bar["index"]))
        page.get_by_role("button", name="Longer").click()
        wait_steps(page, 3)
        page.get_by_label("Change of strength in percent").fill("20")
        page.get_by_role("button", name="Weaker").click()
        wait_steps(page, 4)
        assert applied_steps(page, clip)[-1]["factor"] == 0.8
        for left in (3, 2, 1, 0):
            page.get_by_role("button", name="Undo").click()
            wait_steps(page, left, n_undone=4 - left)
            assert len(applied_steps(page, clip)) == left
        assert page_errors(tab) == []


def read_swings(page: Any, joint: str) -> list[tuple[int, int]]:
    """Return first and last frames of the swings of a joint, from the panel."""
    expect(page.get_by_label("Joint", exact=True)).to_have_value(joint)
    options = page.get_by_label("Swing", exact=True).locator("option").all_inner_texts()
    return [(int(first), int(last)) for first, last in (re.findall(r"\d+", each)[:2] for each in options)]


def test_end_of_a_swing_is_dragged_within_the_available_range(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6") as tab:
        page = tab.page
        start_edit(page, "Edit swings")
        label = page.locator(".lane-joint", has_text="LeftForeArm")
        label.scroll_into_view_if_needed()
        bars = [each for each in call_api(page, f"/api/clips/{clip}")["swings"] if each["joint"] == "LeftForeArm"]
        index = max(range(1, len(bars) - 1), key=lambda n: bars[n]["end"] - bars[n]["start"])
        start, end = bars[index]["start"], bars[index]["end"]
        lane = label.bounding_box()
        y = lane["y"] + lane["height"] / 2

        def drag_end(frame: int, to: int, inside: int) -> None:
            x, goal = (timeline_point(page, each, "keys")[0] for each in (frame, to))
            drag(page, (x + inside, y), (goal + inside, y))

        page.mouse.click(timeline_point(page, (start + end) // 2, "keys")[0], y)
        expect(page.get_by_label("Swing", exact=True)).to_have_value(str(index))  # a press is enough
        assert read_swings(page, "LeftForeArm")[index] == (start, end)
        drag_end(end, end - 6, -2)
        wait_steps(page, 1)
        poll(lambda: read_swings(page, "LeftForeArm")[index], lambda now: now == (start, end - 6))
        drag_end(start, start + 4, 2)
        wait_steps(page, 2)
        poll(lambda: read_swings(page, "LeftForeArm")[index], lambda now: now == (start + 4, end - 6))
        drag_end(end - 6, 369, -2)  # over all that comes behind
        wait_steps(page, 3)
        furthest = bars[index + 1]["end"] - 3
        poll(lambda: read_swings(page, "LeftForeArm")[index], lambda now: now == (start + 4, furthest))
        expect(page.locator(".history-step").first).to_contain_text("frames later")
        assert [(step["op"], step["anchor"]) for step in applied_steps(page, clip)] == [
            ("shorten", "start"), ("shorten", "end"), ("lengthen", "start")]  # fmt: skip
        page.keyboard.press("Control+z")
        wait_steps(page, 2, n_undone=1)  # one drag is one step back
        poll(lambda: read_swings(page, "LeftForeArm")[index], lambda now: now == (start + 4, end - 6))
        assert page.locator(".toast").count() == 0 and page_errors(tab) == []
