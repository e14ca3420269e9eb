"""A clip's page for everybody: keys alone, screen readers, both colours, small screens, no motion, no such clip."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from clip_page import (
    asked,
    errors,
    keys_of,
    picture,
    ready,
    until_frame,
    until_picture,
    until_query,
    written,
)
from web_served import Look, awaited, by_palette, expect, serious_findings, until

pytestmark = pytest.mark.browser


def test_keys_alone_do_everything(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8") as watched:
        page = watched.page
        ready(page)
        keys = keys_of(page)
        for key, frame in ((".", 1), ("ArrowRight", 2), (",", 1), ("Shift+ArrowRight", 11), ("ArrowLeft", 10), ("End", 369),
                           ("[", keys[-2]), ("ArrowDown", keys[-3]), ("]", keys[-2]), ("ArrowUp", 369), ("Home", 0)):  # fmt: skip
            page.keyboard.press(key)
            until_frame(page, frame)
        slider = page.get_by_role("slider", name="Frame")
        expect(slider).to_have_attribute("aria-valuetext", "Frame 0 of 369, 0.00 s, key")
        page.keyboard.press("+")
        until_query(page, keys="9")
        page.keyboard.press("Shift+ArrowUp")
        until_query(page, speed="2")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("i")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("o")
        until_query(page, range="10-30")
        page.keyboard.press("p")
        until_query(page, pins="30")
        page.keyboard.press("x")
        until_query(page, range=None)
        for number, shown in (("1", "capture"), ("3", "over"), ("4", "beside")):
            page.keyboard.press(number)
            until_query(page, show=shown)
        page.keyboard.press("Alt+ArrowLeft")
        until(page, "new URLSearchParams(location.search).has('camera')")
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog", name="Keys of this page")
        for said in ("Play or pause", "Next key", "Range starts here", "Pin or unpin this frame", "Undo"):
            expect(dialog).to_contain_text(said)
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        by_palette(page, "method uniform")
        until_query(page, method="uniform")
        page.get_by_role("tab", name="Keys").focus()
        page.keyboard.press("ArrowRight")
        until_query(page, panel="edit")
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_text(re.compile("^Edit these 9 keys"))
        page.keyboard.press("Enter")
        page.wait_for_selector(".edit-head")
        page.keyboard.press("m")
        expect(page.locator(".history-step")).to_have_count(2)
        page.keyboard.press("Control+z")
        expect(page.locator(".undone")).to_have_count(1)
        expect(page.locator(".saving")).to_have_text("Kept")
        asked_draft = asked(page, f"/api/clips/{clip}/draft")
        assert (len(asked_draft["draft"]["steps"]), asked_draft["done"]) == (1, 0)
        assert errors(watched) == []


def test_what_is_typed_while_the_palette_comes_does_nothing_else(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8") as watched:
        page = watched.page
        ready(page)
        held: list[Any] = []
        page.route("**/assets/palette-*.js", lambda route: held.append(route))
        page.keyboard.press("Control+k")
        awaited(lambda: page.wait_for_timeout(20) or len(held), lambda count: count == 1)
        for key in ("g", "h", "ArrowRight"):
            page.keyboard.press(key)
        held[0].continue_()
        expect(page.get_by_role("combobox", name="Find a command")).to_be_focused()
        page.keyboard.press("Escape")
        assert "ghosts" not in written(page) and "hold" not in written(page)
        until_frame(page, 0)
        assert errors(watched) == []


def test_arrows_belong_to_a_slider_that_has_the_focus(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8") as watched:
        page = watched.page
        ready(page)
        page.get_by_role("slider", name="Number of keys").focus()
        page.keyboard.press("ArrowRight")
        until_query(page, keys="9")
        until_frame(page, 0)
        page.get_by_role("button", name="Play").focus()
        page.keyboard.press("Space")  # presses the button once, and not the page's own key as well
        expect(page.locator(".transport .primary")).to_have_attribute("aria-label", "Pause")
        page.keyboard.press("Space")
        expect(page.locator(".transport .primary")).to_have_attribute("aria-label", "Play")
        assert errors(watched) == []


@pytest.mark.node
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 420])
def test_axe_finds_nothing_serious(look: Look, axe: str, clip: str, colours: str, width: int) -> None:
    size = {"width": width, "height": 800}
    with look(f"/clips/{clip}?keys=8&range=20-80&pins=40", color_scheme=colours, viewport=size) as watched:
        page = watched.page
        ready(page)
        page.locator("details").evaluate_all("(all) => all.forEach((each) => (each.open = true))")
        assert serious_findings(page, axe) == []
        page.get_by_role("tab", name="Edit").click()
        page.get_by_role("button", name="Edit these 8 keys").click()
        page.wait_for_selector(".edit-head")
        expect(page.locator(".edit-overlay")).not_to_contain_text("Fitting curves")
        expect(page.locator(".saving")).to_have_text("Kept")
        assert serious_findings(page, axe) == []
        page.keyboard.press("e")
        page.get_by_role("dialog").wait_for()
        assert serious_findings(page, axe) == []
        page.keyboard.press("Escape")
        page.goto(f"{page.url.partition('/clips')[0]}/compare/{clip}?keys=8")
        until(page, "document.querySelectorAll('.compare-table .best').length >= 3")
        assert serious_findings(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_clip_that_is_not_there_says_so(look: Look) -> None:
    with look(f"/clips/{'0' * 64}") as watched:
        page = watched.page
        expect(page.get_by_role("alert")).to_contain_text("This clip could not be opened")
        expect(page.get_by_role("button", name="Try again")).to_be_visible()
        page.get_by_role("link", name="Go to the library").click()
        page.wait_for_url(lambda url: urlsplit(url).path == "/")


def test_a_narrow_screen_has_everything_behind_dots(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8", viewport={"width": 400, "height": 800}) as watched:
        page = watched.page
        ready(page)
        expect(page.get_by_role("button", name="Find")).to_be_hidden()
        more = page.get_by_role("button", name="More")
        for item, role in (("Keys of this page", "dialog"), ("Find a command", "combobox")):
            more.click()
            page.get_by_role("menuitem", name=item).click()
            expect(page.get_by_role(role, name=item)).to_be_visible()
            page.keyboard.press("Escape")
            expect(page.get_by_role("dialog")).to_have_count(0)
        more.click()
        page.get_by_role("menuitem", name="More like this clip").click()
        page.wait_for_url(f"**/?like={clip}")
        page.go_back()
        ready(page)
        more.click()
        page.get_by_role("menuitem", name="Compare methods").click()
        page.wait_for_url("**/compare/**")
        until(page, "document.querySelectorAll('.compare-table .best').length >= 3")
        cells = """() => [...document.querySelectorAll(".compare-table td")].map((cell) => {
          const { left, right, width } = cell.getBoundingClientRect();
          return left >= 0 && right <= innerWidth && width > 0;
        })"""
        assert page.evaluate(cells) == [True] * 15
        page.get_by_role("link", name="To the clip").click()
        page.wait_for_url(f"**/clips/{clip}")
        assert errors(watched) == []


def test_the_cameras_menu_names_the_keys_that_move_it(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8") as watched:
        page = watched.page
        ready(page)
        page.get_by_role("button", name="Camera").click()
        nearer = page.get_by_role("menuitem", name="Nearer")
        expect(nearer.locator("kbd")).to_have_text(["Alt", "PageUp"])
        page.keyboard.press("Escape")
        expect(page.get_by_role("menu")).to_have_count(0)
        page.keyboard.press("Alt+PageUp")
        until(page, "new URLSearchParams(location.search).get('camera')?.endsWith(',3.68')")
        until_query(page, keys="8")
        assert errors(watched) == []


def test_without_webgl_all_but_the_view_works(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8") as watched:
        page = watched.page
        page.add_init_script("HTMLCanvasElement.prototype.getContext = ((was) => function (kind, ...more) {"
                             " return kind.startsWith('webgl') ? null : was.call(this, kind, ...more); })"
                             "(HTMLCanvasElement.prototype.getContext);")  # fmt: skip
        page.reload()
        ready(page)
        expect(page.locator(".no-stage")).to_contain_text("needs WebGL")
        page.keyboard.press("+")
        until_query(page, keys="9")
        page.keyboard.press("ArrowUp")
        expect(page.get_by_role("slider", name="Frame")).to_have_attribute("aria-valuenow", re.compile("^[1-9]"))


def test_light_and_dark(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=5", color_scheme="dark") as watched:
        page = watched.page
        ready(page)
        panel, strip = page.locator(".panel"), page.locator(".strip img")
        expect(strip).to_have_attribute("data-theme", "dark")
        dark, stage = panel.evaluate("(panel) => getComputedStyle(panel).backgroundColor"), picture(page)
        page.get_by_role("button", name="Colours").click()
        page.get_by_role("menuitemradio", name="Light").click()
        expect(strip).to_have_attribute("data-theme", "light")
        expect(panel).not_to_have_css("background-color", dark)
        until_picture(page, unlike=stage)
        assert written(page).endswith("?keys=5")
        assert errors(watched) == []
