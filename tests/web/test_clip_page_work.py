"""Long computations of the clip page in Chromium: a sign of work, cancelling, failures; strips of many keys."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.clip_page import call_api, page_errors, read_keys, set_slider, wait_keys, wait_query, wait_ready
from support.web_pages import OpenPage, expect, wait_until

pytestmark = pytest.mark.browser

# Notes whether the line about work is visible half a second after each request of that path; timers of one page keep
# their order, however busy the machine is
WATCH = """(path) => {
  window.wasVisible = [];
  const send = window.fetch;
  window.fetch = (url, ...rest) => {
    const note = () => window.wasVisible.push(!document.querySelector(".busy").hidden);
    if (String(url).endsWith(path)) setTimeout(note, 500);
    return send(url, ...rest);
  };
}"""


def _never(route: Any) -> None:
    """Leave a request without a response."""


def _expect_abort(page: Any, path: str) -> Any:
    """Expect that a request of a path is aborted, by which the server learns that its work is not wanted any more."""
    return page.expect_event("requestfailed", lambda request: request.url.endswith(path))


def test_selection_within_a_tolerance_shows_work_and_is_cancelled(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        keys, busy = read_keys(page), page.locator(".busy")
        page.route("**/selection", _never)
        page.evaluate(WATCH, "/selection")
        page.get_by_text("Tolerance", exact=True).click()
        page.get_by_label("Maximum error of any joint (mm)").fill("10")
        page.keyboard.press("Enter")
        expect(busy).to_contain_text("Selecting keys within 10 mm…")
        wait_until(page, "window.wasVisible.length >= 2")
        assert page.evaluate("window.wasVisible.every(Boolean)")
        expect(busy.locator(".busy-time")).to_have_text("2 s")
        expect(page.locator(".ladder-status")).to_have_text("Selecting keys…")
        with _expect_abort(page, "/selection"):
            busy.get_by_role("button", name="Cancel").click()
        expect(busy).to_be_hidden()
        wait_query(page, keys="6", tolerance=None)
        expect(page.locator(".ladder-status")).to_be_hidden()
        wait_keys(page, keys)
        assert page_errors(tab) == []


def test_estimated_keys_precede_the_automatic_ones(open_page: OpenPage, clip: str) -> None:
    with open_page("/", will_route=True) as tab:
        page = tab.page
        held: list[Any] = []
        page.route("**/selection", lambda route: held.append(route))  # Playwright wants a Python function
        page.goto(page.url.partition("?")[0] + f"clips/{clip}")
        busy, status = page.locator(".busy"), page.locator(".ladder-status")
        expect(busy).to_contain_text("Selecting keys within 1 % of the height…")
        expect(status).to_have_text("Selecting keys… Until then the view shows an estimate.")
        wait_ready(page)
        estimate = call_api(page, f"/api/clips/{clip}/ladder", {})["auto"]
        assert len(read_keys(page)) == estimate
        assert json.loads(held[0].request.post_data)["tolerance_mm"] is None
        held[0].continue_()
        expect(status).to_be_hidden()
        page.unroute("**/selection")
        wait_keys(page, call_api(page, f"/api/clips/{clip}/selection", {"spec": {}})["frames"])
        assert page_errors(tab) == []


def test_cancelled_automatic_keys_become_a_number(open_page: OpenPage, clip: str) -> None:
    with open_page("/", will_route=True) as tab:
        page = tab.page
        page.route("**/selection", _never)
        page.goto(page.url.partition("?")[0] + f"clips/{clip}")
        page.locator(".busy").get_by_text("Selecting keys within 1 % of the height…").wait_for()
        with _expect_abort(page, "/selection"):
            page.locator(".busy").get_by_role("button", name="Cancel").click()
        estimate = call_api(page, f"/api/clips/{clip}/ladder", {})["auto"]
        wait_query(page, keys=str(estimate), tolerance=None)
        wait_ready(page)
        assert len(read_keys(page)) == estimate
        expect(page.locator(".ladder-status")).to_be_hidden()


def test_another_target_ends_the_request_of_a_tolerance(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        page.route("**/selection", _never)
        with page.expect_request("**/selection") as request:
            page.get_by_text("Tolerance", exact=True).click()
        assert request.value.post_data_json["interpolation"] == "bezier"
        with _expect_abort(page, "/selection"):
            page.get_by_text("Number", exact=True).click()
        expect(page.locator(".ladder-status")).to_be_hidden()


def test_tolerance_holds_for_the_chosen_in_betweens(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?tolerance=60&interpolation=linear") as tab:
        page = tab.page
        wait_ready(page)
        expect(page.locator(".score")).to_have_attribute("aria-busy", "false")
        worst = page.locator(".score > div", has_text="Worst joint").locator("dd")
        assert float(worst.inner_text().removesuffix(" mm")) <= 60


def test_failed_selection_is_explained_until_it_succeeds(open_page: OpenPage, clip: str) -> None:
    error = {"code": "too_slow", "status": 422, "message": "these frames take too long", "problem": "", "hint": None}
    with open_page(f"/clips/{clip}?keys=6", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        page.route("**/selection", lambda route: route.fulfill(status=422, body=json.dumps({"error": error})))
        page.get_by_text("Tolerance", exact=True).click()
        status = page.locator(".ladder-status")
        expect(status).to_have_text("These frames take too long. The view still shows the previous keys.")
        page.unroute("**/selection")
        page.get_by_label("Maximum error of any joint (mm)").fill("60")
        page.keyboard.press("Enter")
        expect(status).to_be_hidden()


def test_ladder_is_cancelled_and_tried_again(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        keys = read_keys(page)
        page.route("**/ladder", _never)
        page.get_by_label("Select keys with").select_option("uniform")
        busy, status = page.locator(".busy"), page.locator(".ladder-status")
        expect(busy).to_contain_text("Selecting keys…")
        with _expect_abort(page, "/ladder"):
            busy.get_by_role("button", name="Cancel").click()
        expect(status).to_have_text("The selection of keys was cancelled. The view still shows the previous keys.")
        wait_keys(page, keys)
        page.unroute("**/ladder")
        page.get_by_role("button", name="Try again").click()
        expect(status).to_be_hidden()
        wait_until(page, "(before) => document.querySelector('.strip img').alt !== before", _alt(keys))


def test_curves_are_cancelled_and_tried_again(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        expect(page.locator(".score")).to_have_attribute("aria-busy", "false")
        page.route("**/curves", _never)
        set_slider(page, "Number of keys", 9)
        busy = page.locator(".busy")
        expect(busy).to_contain_text("Fitting curves…")
        with _expect_abort(page, "/curves"):
            busy.get_by_role("button", name="Cancel").click()
        note = page.locator(".error-note")
        expect(note).to_contain_text("The curves for these keys were not computed.")
        expect(page.locator(".score")).to_be_hidden()
        page.unroute("**/curves")
        note.get_by_role("button", name="Try again").click()
        expect(page.locator(".score")).to_have_attribute("aria-busy", "false")
        expect(note).to_be_hidden()


def test_edit_step_is_cancelled(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6&panel=edit", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        page.route("**/edit", _never)
        page.get_by_role("button", name="Edit these 6 keys").click()
        busy = page.locator(".busy")
        expect(busy).to_contain_text("Computing the edit…")
        busy.get_by_role("button", name="Cancel").click()
        wait_query(page, panel=None)  # there is nothing to go back to
        page.unroute("**/edit")
        page.get_by_role("tab", name="Edit").click()
        expect(page.locator(".edit-overlay")).not_to_contain_text("Fitting curves")
        page.route("**/edit", _never)
        page.get_by_role("button", name="Mirror").click()
        expect(page.locator(".history > li")).to_have_count(2)
        expect(busy).to_contain_text("Computing the edit…")
        busy.get_by_role("button", name="Cancel").click()
        expect(page.locator(".history > li")).to_have_count(1)
        expect(busy).to_be_hidden()
        expect(page.locator(".save-status")).to_have_text("Saved")


def test_export_is_cancelled_with_its_dialog(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        page.route("**/export", _never)
        page.keyboard.press("e")
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Download").click()
        expect(dialog).to_contain_text("Exporting…")
        with _expect_abort(page, "/export"):
            dialog.get_by_role("button", name="Cancel").click()
        expect(dialog).to_have_count(0)


def _alt(frames: list[int]) -> str:
    return f"{len(frames)} key poses, at frames {', '.join(map(str, frames))}"


def test_strip_of_many_keys_shows_some_of_them(open_page: OpenPage, clip: str) -> None:
    frames = list(range(0, 350))
    with open_page(f"/clips/{clip}?keys=6", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        selection = json.dumps({"keys": len(frames), "frames": frames})
        page.route("**/selection", lambda route: route.fulfill(content_type="application/json", body=selection))
        page.get_by_text("Tolerance", exact=True).click()
        expect(page.locator(".strip-note")).to_have_text("300 of 350 key poses")
        poses = read_keys(page)
        assert len(poses) == 300 and poses[0] == 0 and poses[-1] == 349
        marker = page.locator(".strip-marker")
        expect(marker).to_have_attribute("data-frame", "0")
        page.get_by_role("slider", name="Frame").focus()
        page.keyboard.press("End")
        expect(marker).to_have_attribute("data-frame", "349")
        page.unroute("**/selection")
        page.get_by_text("Auto", exact=True).click()
        expect(page.locator(".strip-note")).to_be_hidden()
        assert page_errors(tab) == []


def test_strip_that_fails_is_explained(open_page: OpenPage, clip: str) -> None:
    error = {"code": "internal", "status": 500, "message": "no ink", "problem": "no ink", "hint": None}
    with open_page(f"/clips/{clip}?keys=6", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        page.route("**/strip.svg?frames=*", lambda route: route.fulfill(status=500, body=json.dumps({"error": error})))
        set_slider(page, "Number of keys", 9)
        note = page.locator(".strip-note")
        expect(note).to_contain_text("The key poses could not be drawn. No ink.")
        page.unroute("**/strip.svg?frames=*")
        note.get_by_role("button", name="Try again").click()
        wait_until(page, "document.querySelector('.strip img').alt.startsWith('9 key poses')")
        expect(note).to_be_hidden()


def test_errors_of_timeline_and_panel_agree(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6") as tab:
        page = tab.page
        wait_ready(page)
        expect(page.locator(".score")).to_have_attribute("aria-busy", "false")
        worst = page.locator(".score > div", has_text="Worst joint").locator("dd").inner_text()
        lane = page.locator(".lane-error")
        expect(lane).to_contain_text("Error")
        expect(lane.locator(".lane-error-max")).to_have_text(f"Worst ≤ {worst}")
        expect(lane.locator(".lane-error-mean")).to_contain_text("Mean ≤")
        page.get_by_role("tab", name="Edit").click()
        page.get_by_role("button", name="Edit these 6 keys").click()
        expect(page.locator(".history > li")).to_have_count(1)
        expect(lane).to_contain_text("Error")  # nothing has been changed yet
        assert sum(url.endswith("/edit") for url in tab.requests) == 1
        page.get_by_role("button", name="Mirror").click()
        expect(lane).to_contain_text("Change")
        expect(lane).not_to_contain_text("Error")
        page.get_by_role("tab", name="Keys").click()
        expect(lane.locator(".lane-error-max")).to_have_text(f"Worst ≤ {worst}")
        expect(lane).to_contain_text("Error")
        assert page_errors(tab) == []
