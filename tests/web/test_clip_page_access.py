"""Accessibility of the clip page: keyboard, screen readers, themes, small screens, no WebGL, missing clips."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.clip_page import (
    call_api,
    page_errors,
    read_keys,
    settled_address,
    take_picture,
    wait_frame,
    wait_picture,
    wait_query,
    wait_ready,
)
from support.web_pages import OpenPage, expect, poll, run_command, serious_violations, wait_until

pytestmark = pytest.mark.browser


def test_everything_works_by_keyboard(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=8") as tab:
        page = tab.page
        wait_ready(page)
        keys = read_keys(page)
        for key, frame in ((".", 1), ("ArrowRight", 2), (",", 1), ("Shift+ArrowRight", 11), ("ArrowLeft", 10), ("End", 369),
                           ("[", keys[-2]), ("ArrowDown", keys[-3]), ("]", keys[-2]), ("ArrowUp", 369), ("Home", 0)):  # fmt: skip
            page.keyboard.press(key)
            wait_frame(page, frame)
        slider = page.get_by_role("slider", name="Frame")
        expect(slider).to_have_attribute("aria-valuetext", "Frame 0 of 369, 0.00 s, key, extreme")
        page.keyboard.press("+")
        wait_query(page, keys="9")
        page.keyboard.press("Shift+ArrowUp")
        wait_query(page, speed="2")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("i")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("o")
        wait_query(page, range="10-30")
        page.keyboard.press("p")
        wait_query(page, pins="30")
        page.keyboard.press("x")
        wait_query(page, range=None)
        for number, mode in (("1", "capture"), ("3", "overlay"), ("4", "side_by_side")):
            page.keyboard.press(number)
            wait_query(page, view_mode=mode)
        page.keyboard.press("Alt+ArrowLeft")
        wait_until(page, "new URLSearchParams(location.search).has('camera')")
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
        for title in ("Play or pause", "Next key", "Set the start of the range", "Pin or unpin this frame", "Undo"):
            expect(dialog).to_contain_text(title)
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        run_command(page, "method uniform")
        wait_query(page, method="uniform")
        page.get_by_role("tab", name="Keys").focus()
        for panel in ("swings", "edit"):
            page.keyboard.press("ArrowRight")
            wait_query(page, panel=panel)
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_text(re.compile("^Edit these 9 keys"))
        page.keyboard.press("Enter")
        page.wait_for_selector(".edit-head")
        page.keyboard.press("m")
        expect(page.locator(".history-step")).to_have_count(2)
        page.keyboard.press("Control+z")
        expect(page.locator(".undone")).to_have_count(1)
        expect(page.locator(".save-status")).to_have_text("Saved")
        draft = call_api(page, f"/api/clips/{clip}/draft")
        assert (len(draft["draft"]["steps"]), draft["n_applied"]) == (1, 0)
        assert page_errors(tab) == []


def test_keys_typed_while_the_palette_loads_are_ignored(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=8", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        routes: list[Any] = []
        page.route("**/assets/palette-*.js", lambda route: routes.append(route))
        page.keyboard.press("Control+k")
        poll(lambda: page.wait_for_timeout(20) or len(routes), lambda count: count == 1)
        for key in ("g", "h", "ArrowRight"):
            page.keyboard.press(key)
        routes[0].continue_()
        expect(page.get_by_role("combobox", name="Search commands")).to_be_focused()
        page.keyboard.press("Escape")
        assert "ghosts" not in settled_address(page) and "hold" not in settled_address(page)
        wait_frame(page, 0)
        assert page_errors(tab) == []


def test_focused_slider_keeps_arrow_keys(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=8") as tab:
        page = tab.page
        wait_ready(page)
        page.get_by_role("slider", name="Number of keys").focus()
        page.keyboard.press("ArrowRight")
        wait_query(page, keys="9")
        wait_frame(page, 0)
        page.get_by_role("button", name="Play").focus()
        page.keyboard.press("Space")  # presses the button once, and not the page's own key as well
        expect(page.locator(".transport .primary")).to_have_attribute("aria-label", "Pause")
        page.keyboard.press("Space")
        expect(page.locator(".transport .primary")).to_have_attribute("aria-label", "Play")
        assert page_errors(tab) == []


@pytest.mark.node
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_axe_finds_no_serious_violations(open_page: OpenPage, axe: str, clip: str, colours: str, width: int) -> None:
    size = {"width": width, "height": 800}
    with open_page(f"/clips/{clip}?keys=8&range=20-80&pins=40", color_scheme=colours, viewport=size) as tab:
        page = tab.page
        wait_ready(page)
        page.locator("details").evaluate_all("(all) => all.forEach((each) => (each.open = true))")
        assert serious_violations(page, axe) == []
        page.get_by_role("tab", name="Edit").click()
        page.get_by_role("button", name="Edit these 8 keys").click()
        page.wait_for_selector(".edit-head")
        expect(page.locator(".edit-overlay")).not_to_contain_text("Fitting curves")
        expect(page.locator(".save-status")).to_have_text("Saved")
        assert serious_violations(page, axe) == []
        page.keyboard.press("e")
        page.get_by_role("dialog").wait_for()
        assert serious_violations(page, axe) == []
        page.keyboard.press("Escape")
        page.goto(f"{page.url.partition('/clips')[0]}/compare/{clip}?keys=8")
        wait_until(page, "document.querySelectorAll('.compare-table .best').length >= 3")
        assert serious_violations(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_missing_clip_leads_to_the_library(open_page: OpenPage) -> None:
    """Trying again would not help."""
    with open_page(f"/clips/{'0' * 64}") as tab:
        page = tab.page
        expect(page.get_by_role("alert")).to_contain_text("The clip could not be opened")
        expect(page.get_by_role("button", name="Try again")).to_have_count(0)
        link = page.get_by_role("link", name="Go to the library")
        expect(link).to_contain_class("primary")
        link.click()
        page.wait_for_url(lambda url: urlsplit(url).path == "/")


def test_clip_that_fails_to_load_can_be_loaded_again(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        page.route("**/api/clips/*", lambda route: route.fulfill(status=503, body="{}"))
        page.reload()
        button = page.get_by_role("button", name="Try again")
        expect(button).to_contain_class("primary")
        expect(page.get_by_role("link", name="Go to the library")).not_to_contain_class("primary")
        page.unroute("**/api/clips/*")
        button.click()
        wait_ready(page)


def test_narrow_screen_has_all_actions_in_the_more_menu(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=8", viewport={"width": 400, "height": 800}) as tab:
        page = tab.page
        wait_ready(page)
        expect(page.get_by_role("button", name="Search")).to_be_hidden()
        more = page.get_by_role("button", name="More")
        for item, role in (("Keyboard shortcuts", "dialog"), ("Search commands", "combobox")):
            more.click()
            page.get_by_role("menuitem", name=item).click()
            expect(page.get_by_role(role, name=item)).to_be_visible()
            page.keyboard.press("Escape")
            expect(page.get_by_role("dialog")).to_have_count(0)
        more.click()
        page.get_by_role("menuitem", name="Search for similar clips").click()
        page.wait_for_url(f"**/?clip={clip}")
        page.go_back()
        wait_ready(page)
        more.click()
        page.get_by_role("menuitem", name="Compare methods").click()
        page.wait_for_url("**/compare/**")
        wait_until(page, "document.querySelectorAll('.compare-table .best').length >= 3")
        cells = """() => [...document.querySelectorAll(".compare-table td")].map((cell) => {
          const { left, right, width } = cell.getBoundingClientRect();
          return left >= 0 && right <= innerWidth && width > 0;
        })"""
        assert page.evaluate(cells) == [True] * 15
        page.get_by_role("link", name="Back to the clip").click()
        page.wait_for_url(f"**/clips/{clip}")
        assert page_errors(tab) == []


def test_camera_menu_shows_shortcuts(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=8") as tab:
        page = tab.page
        wait_ready(page)
        page.get_by_role("button", name="Camera").click()
        nearer = page.get_by_role("menuitem", name="Zoom in")
        expect(nearer.locator("kbd")).to_have_text(["Alt", "PageUp"])
        page.keyboard.press("Escape")
        expect(page.get_by_role("menu")).to_have_count(0)
        page.keyboard.press("Alt+PageUp")
        wait_until(page, "new URLSearchParams(location.search).get('camera')?.endsWith(',3.68')")
        wait_query(page, keys="8")
        assert page_errors(tab) == []


def test_page_works_without_webgl(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=8") as tab:
        page = tab.page
        page.add_init_script("HTMLCanvasElement.prototype.getContext = ((was) => function (kind, ...more) {"
                             " return kind.startsWith('webgl') ? null : was.call(this, kind, ...more); })"
                             "(HTMLCanvasElement.prototype.getContext);")  # fmt: skip
        page.reload()
        wait_ready(page)
        expect(page.locator(".webgl-note")).to_contain_text("needs WebGL")
        page.keyboard.press("+")
        wait_query(page, keys="9")
        page.keyboard.press("ArrowUp")
        expect(page.get_by_role("slider", name="Frame")).to_have_attribute("aria-valuenow", re.compile("^[1-9]"))


def test_light_and_dark(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=5", color_scheme="dark") as tab:
        page = tab.page
        wait_ready(page)
        panel, strip = page.locator(".panel"), page.locator(".strip img")
        expect(strip).to_have_attribute("data-theme", "dark")
        dark, stage = panel.evaluate("(panel) => getComputedStyle(panel).backgroundColor"), take_picture(page)
        page.get_by_role("button", name="Theme").click()
        page.get_by_role("menuitemradio", name="Light").click()
        expect(strip).to_have_attribute("data-theme", "light")
        expect(panel).not_to_have_css("background-color", dark)
        wait_picture(page, unlike=stage)
        assert settled_address(page).endswith("?keys=5")
        assert page_errors(tab) == []
