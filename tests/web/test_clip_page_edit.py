"""Editing in real Chromium: joints, hands, keys in time, swings; undone, kept, found again, never the clip itself."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from clip_page import (
    asked,
    drag,
    errors,
    frame_of,
    picture,
    place_of,
    ready,
    slide,
    until_frame,
    until_picture,
    until_rested,
    written,
)
from web_served import Look, awaited, expect, until

pytestmark = pytest.mark.browser


def begin(page: Any, kind: str = "Edit these") -> None:
    """Starts an edit, and waits until the view shows it."""
    ready(page)
    page.get_by_role("tab", name="Edit").click()
    page.get_by_role("button", name=re.compile(kind)).click()
    until_done(page, 0)
    expect(page.locator(".edit-overlay")).not_to_contain_text("Fitting curves")
    until_kept(page)


def until_done(page: Any, done: int, undone: int = 0) -> None:
    """Waits until the history says that so many steps are done, and so many undone."""
    expect(page.locator(".history > li:not(.undone)")).to_have_count(1 + done)  # the start is no step
    expect(page.locator(".history > .undone")).to_have_count(undone)


def until_kept(page: Any) -> None:
    """Waits until the draft is kept. From the moment that the history says a step it is not, so wait for that one first."""
    expect(page.locator(".saving")).to_have_text("Kept")


def steps(page: Any, clip: str) -> list[dict[str, Any]]:
    """The steps of the draft that count, as the server keeps them."""
    until_kept(page)
    said = asked(page, f"/api/clips/{clip}/draft")
    return list(said["draft"]["steps"][: said["done"]])


def test_a_joint_is_turned_undone_and_kept(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=9") as watched:
        page = watched.page
        begin(page)
        page.keyboard.press("ArrowUp")
        expect(page.locator(".at-key")).to_contain_text("Key 2 of 9")
        page.get_by_label("Joint", exact=True).select_option(label="LeftArm")
        before = picture(page)
        page.get_by_role("button", name="Bend +5 degrees").click()
        for _ in range(5):
            page.keyboard.press("Enter")  # the button keeps the focus
        until_done(page, 6)
        done = steps(page, clip)
        assert [step["op"] for step in done] == ["rotate"] * 6
        assert done[0]["joint"] == "LeftArm" and done[0]["frame"] == frame_of(page)
        until_picture(page, unlike=before)
        for left in range(5, -1, -1):
            page.keyboard.press("Control+z")
            until_done(page, left, undone=6 - left)
        assert steps(page, clip) == []
        until_picture(page, like=before)  # to the pixel
        page.keyboard.press("Control+Shift+z")
        page.keyboard.press("Control+y")
        until_done(page, 2, undone=4)
        assert len(steps(page, clip)) == 2
        page.reload()
        until_done(page, 2, undone=4)
        page.locator(".history-step", has_text="9 keys").click()
        until_done(page, 0, undone=6)
        assert steps(page, clip) == []
        assert errors(watched) == []


def grips_of(page: Any, clip: str) -> dict[str, tuple[int, int]]:
    """Where hands, feet and hips can be taken hold of, in pixels of the stage."""
    until(page, "Boolean(document.querySelector('canvas.stage').dataset.grips)")
    until_rested(page)
    names = [joint["name"] for joint in asked(page, f"/api/clips/{clip}")["joints"]]
    said = page.locator("canvas.stage").get_attribute("data-grips")
    return {names[int(joint)]: (int(x), int(y)) for joint, x, y in re.findall(r"(\d+):(-?\d+),(-?\d+)", said)}


def test_a_ring_turns_a_joint(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=9&camera=0,0,4.6") as watched:  # the camera looks along the world's Z
        page = watched.page
        begin(page)
        page.get_by_role("radio", name="World").check(force=True)
        box = page.locator("canvas.stage").bounding_box()
        x, y = (a + b for a, b in zip(grips_of(page, clip)["LeftHand"], (box["x"], box["y"]), strict=True))
        page.mouse.click(x, y)  # selects what it presses
        expect(page.get_by_label("Joint", exact=True).locator("option:checked")).to_have_text("LeftHand")
        until_rested(page)  # its rings are there
        radius = 0.085 * box["height"] / (2 * math.tan(math.radians(16)))
        start, end = ((x + radius * math.cos(a), y - radius * math.sin(a)) for a in (0.8, 1.3))
        drag(page, start, end)
        until_done(page, 1)
        (step,) = steps(page, clip)
        assert (step["op"], step["joint"], step["space"]) == ("rotate", "LeftHand", "world")
        assert 2 * math.asin(step["quaternion"][3]) == pytest.approx(0.5, abs=0.08)  # about Z, as far as it was dragged
        assert abs(step["quaternion"][1]) < 1e-6 and abs(step["quaternion"][2]) < 1e-6
        assert errors(watched) == []


def test_a_hand_is_dragged(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=9") as watched:
        page = watched.page
        begin(page)
        page.keyboard.press("ArrowUp")
        expect(page.locator(".at-key")).to_contain_text("Key 2 of 9")
        grips = grips_of(page, clip)
        assert set(grips) == {"LeftHand", "RightHand", "LeftFoot", "RightFoot", "Hips"}
        box = page.locator("canvas.stage").bounding_box()
        hand = (box["x"] + grips["LeftHand"][0], box["y"] + grips["LeftHand"][1])
        camera = written(page)
        drag(page, hand, (hand[0] + 14, hand[1] - 24))
        until_done(page, 1)
        (step,) = steps(page, clip)
        assert (step["op"], step["joint"], step["frame"]) == ("reach", "LeftHand", frame_of(page))
        assert step["by"][1] > 0.03  # upwards
        assert written(page) == camera  # the camera stayed
        goal = (grips["LeftHand"][0] + 14, grips["LeftHand"][1] - 24)
        awaited(
            lambda: grips_of(page, clip)["LeftHand"], lambda at: max(abs(at[0] - goal[0]), abs(at[1] - goal[1])) < 8
        )
        page.get_by_role("button", name="Up by 2 centimetres").click()
        until_done(page, 2)
        page.get_by_label("Drag its ball in the view, or").select_option(label="hips (whole figure)")
        page.get_by_role("button", name="Down by 2 centimetres").click()
        until_done(page, 3)
        assert [step["op"] for step in steps(page, clip)] == ["reach", "reach", "shift"]
        assert errors(watched) == []


def test_what_is_pulled_follows_what_is_pressed(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=9") as watched:
        page = watched.page
        begin(page)
        pulled = page.get_by_label("Drag its ball in the view, or").locator("option:checked")
        expect(pulled).to_have_text("left hand")
        box = page.locator("canvas.stage").bounding_box()
        x, y = grips_of(page, clip)["RightFoot"]
        page.mouse.click(box["x"] + x, box["y"] + y)
        expect(page.get_by_label("Joint", exact=True).locator("option:checked")).to_have_text("RightFoot")
        expect(pulled).to_have_text("right foot")
        page.get_by_role("button", name="Up by 2 centimetres").click()
        until_done(page, 1)
        (step,) = steps(page, clip)
        assert (step["op"], step["joint"]) == ("reach", "RightFoot")
        expect(page.locator(".history-step").first).to_have_text("Move right foot 2 cm at 0")
        page.get_by_label("Joint", exact=True).select_option(label="RightForeArm")
        expect(pulled).to_have_text("right hand")  # of its limb
        page.get_by_label("Joint", exact=True).select_option(label="Head")
        expect(pulled).to_have_text("right hand")
        assert errors(watched) == []


def test_detail_is_undone_and_kept_like_everything(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=9") as watched:
        page = watched.page
        begin(page)
        slide(page, "Detail of the capture", 10)
        page.keyboard.press("m")
        until_done(page, 2)
        slide(page, "Detail of the capture", 70)
        until_done(page, 3)
        told = ["Detail 70 %", "Mirror the pose at 0", "Detail 10 %", "9 keys"]
        rows, detail = page.locator(".history-step"), page.get_by_role("slider", name="Detail of the capture")
        for undone, value in enumerate(("70", "10", "10", "0")):
            expect(rows).to_have_text(told)
            until_done(page, 3 - undone, undone=undone)
            until_kept(page)
            page.reload()
            expect(rows).to_have_text(told)
            until_done(page, 3 - undone, undone=undone)
            expect(detail).to_have_value(value)
            page.keyboard.press("Control+z")
        for _ in range(3):
            page.keyboard.press("Control+Shift+z")
        until_done(page, 3)
        expect(detail).to_have_value("70")
        assert errors(watched) == []


def test_keys_are_moved_added_removed_and_poses_mirrored(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=9") as watched:
        page = watched.page
        begin(page)
        page.keyboard.press("ArrowUp")
        expect(page.locator(".at-key")).to_contain_text("Key 2 of 9")
        key = frame_of(page)
        drag(page, place_of(page, key, "keys"), place_of(page, key + 6, "keys"))
        until_done(page, 1)
        (step,) = steps(page, clip)
        assert step["op"] == "move_key" and step["frame"] == key and abs(step["to"] - key - 6) <= 1
        until_frame(page, step["to"])
        expect(page.locator(".at-key")).to_have_text(f"Key 2 of 9, frame {step['to']}")
        page.keyboard.press("ArrowRight")
        expect(page.locator(".at-frame")).to_contain_text("is between keys")
        page.keyboard.press("n")
        expect(page.locator(".at-key")).to_contain_text("Key 3 of 10")
        page.keyboard.press("Delete")
        expect(page.locator(".at-frame")).to_contain_text("is between keys")
        page.keyboard.press("ArrowDown")
        expect(page.locator(".at-key")).to_contain_text("Key 2 of 9")
        page.keyboard.press("m")
        until_done(page, 4)
        slide(page, "Detail of the capture", 100)
        slide(page, "Detail of the capture", 60)
        expect(page.locator(".history-step")).to_have_text(
            ["Detail 60 %", f"Mirror the pose at {step['to']}", f"Key removed at {step['to'] + 1}",
             f"Key added at {step['to'] + 1}", f"Key {key} to {step['to']}", "9 keys"])  # fmt: skip
        until_kept(page)
        assert asked(page, f"/api/clips/{clip}/draft")["draft"]["residual"] == 0.6
        expect(page.get_by_role("list", name="Marks of keys").locator("li")).to_have_count(2)
        page.get_by_role("tab", name="Keys").click()
        ready(page)
        expect(page.get_by_role("spinbutton", name="Number of keys")).to_have_value("9")  # the capture's again
        assert errors(watched) == []


def test_what_cannot_be_is_said_and_leaves_no_trace(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=4") as watched:
        page = watched.page
        begin(page)
        page.get_by_label("Joint", exact=True).select_option(label="Head")
        page.keyboard.press("Home")
        page.get_by_role("button", name="One frame earlier").click()
        page.wait_for_selector(".toast")
        until_done(page, 0)
        assert steps(page, clip) == []
        # the browser itself says on the console that a request was refused
        assert [said for said in errors(watched) if "Failed to load resource" not in said] == []


def test_another_window_asks_whose_edit_counts(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=6") as watched:
        page = watched.page
        begin(page)
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
        until_done(page, 1)
        assert [step["op"] for step in steps(page, clip)] == ["mirror"]
        assert [said for said in errors(watched) if "409" not in said] == []


def test_swings_are_dragged(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=6") as watched:
        page = watched.page
        begin(page, "Edit swings")
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
        until_done(page, 1)
        drag(page, (middle, y), (middle, y - 45))
        until_done(page, 2)
        done = steps(page, clip)
        assert [step["op"] for step in done] == ["shift", "scale"]
        assert done[0]["joint"] == "LeftForeArm" and done[0]["index"] == bar["index"] and done[0]["by_frames"] == 4
        assert done[1]["factor"] == pytest.approx(2**0.5, abs=0.02)
        expect(page.get_by_label("Joint", exact=True)).to_have_value("LeftForeArm")  # the panel follows
        expect(page.get_by_label("Swing", exact=True)).to_have_value(str(bar["index"]))
        page.get_by_role("button", name="Longer").click()
        until_done(page, 3)
        for left in (2, 1, 0):
            page.get_by_role("button", name="Undo").click()
            until_done(page, left, undone=3 - left)
            assert len(steps(page, clip)) == left
        assert errors(watched) == []


def swings_of(page: Any, joint: str) -> list[tuple[int, int]]:
    """First and last frames of the swings of a joint that is chosen, as the panel says them."""
    expect(page.get_by_label("Joint", exact=True)).to_have_value(joint)
    said = page.get_by_label("Swing", exact=True).locator("option").all_inner_texts()
    return [(int(first), int(last)) for first, last in (re.findall(r"\d+", each)[:2] for each in said)]


def test_an_end_of_a_swing_is_dragged_alone_and_as_far_as_there_is_room(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=6") as watched:
        page = watched.page
        begin(page, "Edit swings")
        label = page.locator(".lane-joint", has_text="LeftForeArm")
        label.scroll_into_view_if_needed()
        bars = [each for each in asked(page, f"/api/clips/{clip}")["swings"] if each["joint"] == "LeftForeArm"]
        index = max(range(1, len(bars) - 1), key=lambda n: bars[n]["end"] - bars[n]["start"])
        start, end = bars[index]["start"], bars[index]["end"]
        lane = label.bounding_box()
        y = lane["y"] + lane["height"] / 2

        def drag_end(frame: int, to: int, inside: int) -> None:
            x, goal = (place_of(page, each, "keys")[0] for each in (frame, to))
            drag(page, (x + inside, y), (goal + inside, y))

        page.mouse.click(place_of(page, (start + end) // 2, "keys")[0], y)
        expect(page.get_by_label("Swing", exact=True)).to_have_value(str(index))  # a press is enough
        assert swings_of(page, "LeftForeArm")[index] == (start, end)
        drag_end(end, end - 6, -2)
        until_done(page, 1)
        awaited(lambda: swings_of(page, "LeftForeArm")[index], lambda now: now == (start, end - 6))
        drag_end(start, start + 4, 2)
        until_done(page, 2)
        awaited(lambda: swings_of(page, "LeftForeArm")[index], lambda now: now == (start + 4, end - 6))
        drag_end(end - 6, 369, -2)  # over all that comes behind
        until_done(page, 3)
        furthest = bars[index + 1]["end"] - 3
        awaited(lambda: swings_of(page, "LeftForeArm")[index], lambda now: now == (start + 4, furthest))
        expect(page.locator(".history-step").first).to_contain_text("frames later")
        assert [(step["op"], step["anchor"]) for step in steps(page, clip)] == [
            ("shorten", "start"), ("shorten", "end"), ("lengthen", "start")]  # fmt: skip
        page.keyboard.press("Control+z")
        until_done(page, 2, undone=1)  # one drag is one step back
        awaited(lambda: swings_of(page, "LeftForeArm")[index], lambda now: now == (start + 4, end - 6))
        assert page.locator(".toast").count() == 0 and errors(watched) == []
