"""A clip's page for everybody: keys alone, screen readers, both colours, small screens, no motion, no such clip."""

from __future__ import annotations

from typing import Any

import pytest
from clip_page import CLIP, asked, errors, frame_of, keys_of, query_of, ready, until_query
from web_served import Look, serious_findings, until

pytestmark = pytest.mark.browser


@pytest.fixture
def clip(hashes: dict[str, str]) -> str:
    """The hash of the clip that is looked at."""
    return hashes[CLIP]


def test_keys_alone_do_everything(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8") as watched:
        page = watched.page
        ready(page)
        keys = keys_of(page)
        for key, frame in ((".", 1), ("ArrowRight", 2), (",", 1), ("Shift+ArrowRight", 11), ("ArrowLeft", 10), ("End", 369),
                           ("[", keys[-2]), ("ArrowDown", keys[-3]), ("]", keys[-2]), ("ArrowUp", 369), ("Home", 0)):  # fmt: skip
            page.keyboard.press(key)
            assert frame_of(page) == frame, key
        slider = page.get_by_role("slider", name="Frame")
        assert slider.get_attribute("aria-valuetext") == "Frame 0 of 369, 0.00 s, key"
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
        dialog.wait_for()
        for said in ("Play or pause", "Next key", "Range starts here", "Pin or unpin this frame", "Undo"):
            assert said in dialog.inner_text()
        page.keyboard.press("Escape")
        page.keyboard.press("Control+k")
        page.keyboard.type("method uniform")
        page.keyboard.press("Enter")
        until_query(page, method="uniform")
        page.get_by_role("tab", name="Keys").focus()
        page.keyboard.press("ArrowRight")
        until_query(page, panel="edit")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent").startswith("Edit these 9 keys")
        page.keyboard.press("Enter")
        page.wait_for_selector(".edit-head")
        page.keyboard.press("m")
        until(page, "document.querySelectorAll('.history-step').length === 2")
        page.keyboard.press("Control+z")
        until(page, "document.querySelectorAll('.undone').length === 1")
        until(page, "document.querySelector('.saving').textContent === 'Kept'")
        asked_draft = asked(page, f"/api/clips/{clip}/draft")
        assert (len(asked_draft["draft"]["steps"]), asked_draft["done"]) == (1, 0)
        assert errors(watched) == []


def test_arrows_belong_to_a_slider_that_has_the_focus(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8") as watched:
        page = watched.page
        ready(page)
        page.get_by_role("slider", name="Number of keys").focus()
        page.keyboard.press("ArrowRight")
        until_query(page, keys="9")
        assert frame_of(page) == 0
        page.get_by_role("button", name="Play").focus()
        page.keyboard.press("Space")  # presses the button once, and not the page's own key as well
        until(page, "document.querySelector('.transport .primary').ariaLabel === 'Pause'")
        page.keyboard.press("Space")
        until(page, "document.querySelector('.transport .primary').ariaLabel === 'Play'")
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
        begin = page.get_by_role("button", name="Edit these 8 keys")
        if begin.is_visible():
            begin.click()
        page.wait_for_selector(".edit-head")
        page.wait_for_timeout(800)
        assert serious_findings(page, axe) == []
        page.keyboard.press("e")
        page.get_by_role("dialog").wait_for()
        page.wait_for_timeout(400)
        assert serious_findings(page, axe) == []
        page.keyboard.press("Escape")
        page.goto(f"{page.url.partition('/clips')[0]}/compare/{clip}?keys=8")
        until(page, "document.querySelectorAll('.compare-table .best').length >= 3")
        assert serious_findings(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_clip_that_is_not_there_says_so(look: Look) -> None:
    with look(f"/clips/{'0' * 64}") as watched:
        page = watched.page
        page.get_by_role("alert").wait_for()
        assert "This clip could not be opened" in page.get_by_role("alert").inner_text()
        assert page.get_by_role("button", name="Try again").is_visible()


def test_without_webgl_all_but_the_view_works(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8") as watched:
        page = watched.page
        page.add_init_script("HTMLCanvasElement.prototype.getContext = ((was) => function (kind, ...more) {"
                             " return kind.startsWith('webgl') ? null : was.call(this, kind, ...more); })"
                             "(HTMLCanvasElement.prototype.getContext);")  # fmt: skip
        page.reload()
        ready(page)
        assert "needs WebGL" in page.locator(".no-stage").inner_text()
        page.keyboard.press("+")
        until_query(page, keys="9")
        page.keyboard.press("ArrowUp")
        assert frame_of(page) > 0


def test_light_and_dark(look: Look, clip: str) -> None:
    def background(page: Any) -> str:
        return str(page.locator(".panel").evaluate("(panel) => getComputedStyle(panel).backgroundColor"))

    with look(f"/clips/{clip}?keys=5", color_scheme="dark") as watched:
        page = watched.page
        ready(page)
        dark, stage = background(page), page.locator("canvas.stage").screenshot()
        assert "theme=dark" in page.locator(".strip img").get_attribute("src")
        page.get_by_role("button", name="Colours").click()
        page.get_by_role("menuitemradio", name="Light").click()
        until(page, "document.querySelector('.strip img').src.includes('theme=light')")
        page.wait_for_timeout(800)
        assert background(page) != dark
        assert page.locator("canvas.stage").screenshot() != stage
        assert query_of(page)["keys"] == "5"
        assert errors(watched) == []
