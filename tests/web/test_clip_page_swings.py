"""Swings and actions on the clip page in Chromium: playback, threshold, numbers of one swing, retiming, arcs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.clip_page import (
    call_api,
    drag,
    page_errors,
    set_slider,
    take_picture,
    timeline_point,
    wait_frame,
    wait_picture,
    wait_query,
)
from support.web_pages import OpenPage, expect, poll, serious_violations, wait_until

pytestmark = pytest.mark.browser
REFUSED = "Failed to load resource"  # the browser itself says so on the console


def wait_figures(page: Any) -> dict[str, str]:
    """Wait until the figures of the swings are there, and return them."""
    expect(page.locator(".swing-figures dd")).to_have_count(5)
    names = page.locator(".swing-figures dt").all_inner_texts()
    return dict(zip(names, page.locator(".swing-figures dd").all_inner_texts(), strict=True))


def select_swing(page: Any, joint: str, index: int) -> None:
    """Select a swing in the displayed panel, and wait until it is loaded."""
    panel = page.get_by_role("tabpanel")
    panel.get_by_label("Joint", exact=True).select_option(joint)
    panel.get_by_label("Swing", exact=True).select_option(str(index))
    expect(panel.locator(".swing-facts dd").first).to_be_visible()


def largest_swing(page: Any, clip: str, joint: str) -> dict[str, Any]:
    bars = [bar for bar in call_api(page, f"/api/clips/{clip}")["swings"] if bar["joint"] == joint]
    return dict(max(bars, key=lambda bar: bar["angle_deg"]))


def start_edit(page: Any) -> None:
    page.get_by_role("button", name="Edit these swings").click()
    expect(page.locator(".history > li")).to_have_count(1)
    expect(page.locator(".save-status")).to_have_text("Saved")


def applied_steps(page: Any, clip: str, n_steps: int) -> list[dict[str, Any]]:
    """Wait for this number of steps in the history, and return those that are saved."""
    expect(page.locator(".history > li:not(.undone)")).to_have_count(1 + n_steps)
    expect(page.locator(".save-status")).to_have_text("Saved")
    draft = call_api(page, f"/api/clips/{clip}/draft")
    return list(draft["draft"]["steps"][: draft["n_applied"]])


def field(page: Any, name: str) -> Any:
    return page.get_by_role("tabpanel").get_by_role("spinbutton", name=name)


def type_number(page: Any, name: str, value: str) -> None:
    field(page, name).fill(value)
    page.keyboard.press("Enter")


def test_swings_play_beside_the_capture(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6&frame=300&view_mode=side_by_side") as tab:
        page = tab.page
        page.get_by_role("tab", name="Swings").click()
        assert wait_figures(page)["Swings"] == str(len(call_api(page, f"/api/clips/{clip}")["swings"]))
        expect(page.locator(".figure-label").last).to_have_text("Swings")
        beside = take_picture(page)
        page.get_by_role("radio", name="Swings").check(force=True)
        wait_picture(page, unlike=beside)
        alone = take_picture(page)
        page.get_by_role("radio", name="Capture").check(force=True)
        wait_picture(page, unlike=alone)
        page.get_by_role("tab", name="Keys").click()
        expect(page.get_by_role("radio", name="Keys")).to_have_count(1)
        expect(page.locator(".score").first.locator("dd").first).to_be_visible()
        assert page_errors(tab) == []


def test_threshold_changes_bars_error_and_size(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6&panel=swings") as tab:
        page = tab.page
        before = wait_figures(page)
        bar = largest_swing(page, clip, "RightUpLeg")
        select_swing(page, "RightUpLeg", bar["index"])
        for value in (0.6, 0.9, 1.2, 1.5):  # as while it is dragged
            set_slider(page, "Threshold", value)
        wait_query(page, threshold="1.5")
        after = poll(lambda: wait_figures(page), lambda figures: figures["Swings"] != before["Swings"])
        after = poll(lambda: wait_figures(page), lambda figures: figures["Swings"] == expected_count(page, clip, 1.5))
        assert float(after["Error"].strip("°")) > float(before["Error"].strip("°"))
        assert float(after["Mean"].split()[0]) > float(before["Mean"].split()[0])
        chosen = page.get_by_role("tabpanel").get_by_label("Swing", exact=True).locator("option:checked").inner_text()
        first, last = map(int, re.findall(r"\d+", chosen)[:2])
        assert min(last, bar["end"]) > max(first, bar["start"])  # the selected swing is found again
        start_edit(page)
        assert call_api(page, f"/api/clips/{clip}/draft")["draft"]["threshold"] == 1.5
        page.get_by_role("tab", name="Swings").click()
        page.get_by_role("button", name="Default").click()
        poll(lambda: wait_figures(page), lambda figures: figures == before)
        assert page_errors(tab) == []


def expected_count(page: Any, clip: str, threshold: float) -> str:
    """Return the number of swings at a threshold."""
    script = """async ([clip, threshold]) => {
      const draft = { kind: "swings", threshold, captured_detail: false };
      const response = await fetch(`/api/clips/${clip}/edit`, { method: "POST", body: JSON.stringify({ draft, stride: 100 }),
        headers: { "Content-Type": "application/json" } });
      const data = await response.arrayBuffer();
      const length = new DataView(data).getUint32(0, true);
      return JSON.parse(new TextDecoder().decode(data.slice(4, 4 + length))).swing_figures.n_swings;
    }"""
    return str(page.evaluate(script, [clip, threshold]))


def test_swing_is_edited_by_typing(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6&panel=swings&view_mode=keys") as tab:
        page = tab.page
        wait_figures(page)
        bar = largest_swing(page, clip, "RightUpLeg")
        plain = take_picture(page)
        select_swing(page, "RightUpLeg", bar["index"])
        wait_frame(page, bar["start"])
        wait_until(page, "document.querySelector('canvas.stage').hasAttribute('data-has-arc')")
        wait_picture(page, unlike=plain)
        facts = page.get_by_role("tabpanel").locator(".swing-facts dd").all_inner_texts()
        start_angle, end_angle, angle = (float(text.replace("−", "-").strip("°")) for text in facts[:3])
        assert end_angle - start_angle == pytest.approx(angle, abs=0.11)
        assert angle == pytest.approx(bar["angle_deg"], abs=0.06)
        start_edit(page)
        expect(field(page, "Angle (°)")).to_have_value(f"{angle:g}")  # the same swing is selected
        type_number(page, "Angle (°)", "70.5")
        step = applied_steps(page, clip, 1)[0]
        assert (step["op"], step["joint"], step["index"], step["degrees"]) == (
            "set_angle", "RightUpLeg", bar["index"], 70.5)  # fmt: skip
        expect(page.get_by_role("status", name="Return to the capture")).to_contain_text(
            "return to the capture in time"
        )
        type_number(page, "Start (frame)", str(bar["start"] + 2))
        assert applied_steps(page, clip, 2)[1]["by_frames"] == 2
        length = bar["end"] - bar["start"] + 1
        type_number(page, "Length (frames)", str(length - 3))
        step = applied_steps(page, clip, 3)[2]
        assert (step["op"], step["by_frames"], step["anchor"]) == ("shorten", 3, "start")
        expect(field(page, "Start (frame)")).to_have_value(str(bar["start"] + 2))
        type_number(page, "Axis Y", "1")
        step = applied_steps(page, clip, 4)[3]
        assert step["op"] == "set_axis" and step["axis"][1] == 1
        expect(field(page, "Angle (°)")).to_have_value("70.5")
        for left in (3, 2, 1, 0):
            page.get_by_role("button", name="Undo").click()
            assert len(applied_steps(page, clip, left)) == left
        expect(field(page, "Angle (°)")).to_have_value(f"{angle:g}")
        assert page_errors(tab) == []


def test_impossible_numbers_are_explained_at_their_field(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6&panel=swings") as tab:
        page = tab.page
        wait_figures(page)
        bar = largest_swing(page, clip, "RightUpLeg")
        select_swing(page, "RightUpLeg", bar["index"])
        start_edit(page)
        expect(field(page, "Length (frames)")).to_be_enabled()
        for name, value, problem in (
            ("Length (frames)", "2", "Length: At least 3."),
            ("Length (frames)", "8.5", "Length: Type a whole number."),
            ("Angle (°)", "1e9", "Angle: At most 36000."),
            ("Start (frame)", "300" if bar["start"] < 150 else "3", "Start: The swing of RightUpLeg"),  # by the server
        ):
            type_number(page, name, value)
            expect(field(page, name)).to_have_attribute("aria-invalid", "true")
            error = page.locator(f"#{field(page, name).get_attribute('aria-describedby')}")
            expect(error).to_contain_text(problem)
            expect(error).to_have_attribute("role", "alert")
        assert applied_steps(page, clip, 0) == [] and page.locator(".toast").count() == 0
        type_number(page, "Start (frame)", str(bar["start"] + 1))
        assert len(applied_steps(page, clip, 1)) == 1
        expect(page.locator(".field-error:visible", has_text="Start")).to_have_count(0)
        assert [message for message in page_errors(tab) if REFUSED not in message] == []


def test_clip_and_range_are_retimed(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6&panel=swings&frame=100") as tab:
        page = tab.page
        wait_figures(page)
        start_edit(page)
        slider = page.get_by_role("slider", name="Frame")
        type_number(page, "Times as long", "1.5")
        page.get_by_role("button", name="Retime").click()
        assert applied_steps(page, clip, 1)[0] == {
            "op": "retime", "joint": "all", "factor": 1.5, "from_frame": None, "to_frame": None, "keep_contacts": True,
        }  # fmt: skip
        expect(slider).to_have_attribute("aria-valuemax", "554")  # 555 frames
        expect(page.locator(".transport .muted")).to_have_text("/ 554")
        page.keyboard.press("Escape")
        page.get_by_role("slider", name="Frame").focus()
        page.keyboard.press("End")
        wait_frame(page, 554)
        page.get_by_role("radio", name="Range", exact=True).check(force=True)
        expect(page.get_by_role("button", name="Retime")).to_be_disabled()
        page.get_by_role("button", name="Undo").click()
        expect(slider).to_have_attribute("aria-valuemax", "369")
        wait_frame(page, 369)
        drag_range(page, 100, 200)
        page.get_by_label("Keep feet in place while they are on the ground").uncheck()
        page.get_by_role("button", name="Retime").click()
        (step,) = applied_steps(page, clip, 1)
        assert abs(step["from_frame"] - 100) <= 1 and abs(step["to_frame"] - 200) <= 1 and not step["keep_contacts"]
        n_frames = 370 + round(0.5 * (step["to_frame"] - step["from_frame"]))
        poll(lambda: int(slider.get_attribute("aria-valuemax")), lambda last: abs(last + 1 - n_frames) <= 1)
        page.get_by_role("tab", name="Keys").click()
        expect(slider).to_have_attribute("aria-valuemax", "369")  # the capture's again
        assert page_errors(tab) == []


def drag_range(page: Any, first: int, last: int) -> None:
    page.keyboard.down("Shift")
    drag(page, timeline_point(page, first, "keys"), timeline_point(page, last, "keys"))
    page.keyboard.up("Shift")


def test_edited_swings_play_alone(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6&panel=swings&frame=300&view_mode=keys") as tab:
        page = tab.page
        wait_figures(page)
        start_edit(page)
        with_detail = take_picture(page)
        page.get_by_role("checkbox", name="Captured detail").uncheck()
        wait_picture(page, unlike=with_detail)
        applied_steps(page, clip, 0)
        poll(
            lambda: call_api(page, f"/api/clips/{clip}/draft")["draft"]["captured_detail"], lambda value: value is False
        )
        page.reload()
        expect(page.get_by_role("checkbox", name="Captured detail")).not_to_be_checked()
        page.get_by_role("checkbox", name="Captured detail").check()
        wait_picture(page, like=with_detail)
        assert page_errors(tab) == []


def test_actions_mark_their_range(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6&panel=swings") as tab:
        page = tab.page
        actions = call_api(page, f"/api/clips/{clip}/actions")["actions"]
        kick = next(action for action in actions if action["kind"] == "kick")
        table = page.get_by_role("table", name="Actions of the clip")
        expect(table.locator("tbody tr")).to_have_count(len(actions))
        link = table.get_by_role("button", name=kick["phrase"], exact=False).first
        link.focus()
        page.keyboard.press("Enter")
        wait_query(page, range=f"{kick['start']}-{kick['end']}")
        wait_frame(page, kick["start"])
        expect(link).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_role("button", name="Search for this range")).to_be_visible()
        turn = max(actions, key=lambda action: action["end"] - action["start"])
        lane = page.locator(".lane-actions").bounding_box()
        x = timeline_point(page, (turn["start"] + turn["end"]) // 2, "keys")[0]
        for y in (lane["y"] + lane["height"] / 4, lane["y"] + 3 * lane["height"] / 4):
            page.mouse.move(x, y)
            tip = page.locator(".timeline-tip")
            if tip.is_visible() and turn["phrase"].lower() in tip.inner_text().lower():
                page.mouse.click(x, y)
        wait_query(page, range=f"{turn['start']}-{turn['end']}")
        assert page_errors(tab) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_new_controls_are_accessible(open_page: OpenPage, clip: str, axe: str, scheme: str) -> None:
    with open_page(f"/clips/{clip}?keys=6&panel=swings", color_scheme=scheme) as tab:
        page = tab.page
        wait_figures(page)
        expect(page.locator(".actions-table tbody tr").first).to_be_visible()
        select_swing(page, "RightUpLeg", 3)
        assert serious_violations(page, axe) == []
        start_edit(page)
        expect(field(page, "Angle (°)")).to_be_enabled()
        type_number(page, "Length (frames)", "1")
        assert serious_violations(page, axe) == []


def test_narrow_window_shows_all_controls(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6&panel=swings", viewport={"width": 390, "height": 800}) as tab:
        page = tab.page
        wait_figures(page)
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(overflow) <= 0
        start_edit(page)
        expect(field(page, "Angle (°)")).to_be_visible()
        assert page.evaluate(overflow) <= 0
