"""Selected clips on the library page: tag, rename, export, trash and restore."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from support.web_pages import CUTS, OpenPage, ServerInfo, expect, serve_copy

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(pages: None, library_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerInfo]:
    """A separate server: these tests change the library."""
    with serve_copy(library_folder, tmp_path_factory.mktemp("served")) as process:
        yield process


def _card(page: Any, name: str) -> Any:
    return page.locator(".card", has=page.get_by_role("link", name=name, exact=True))


def _toast(page: Any, text: str) -> Any:
    """Return a toast, hovered so that it stays."""
    toast = page.locator(".toast", has_text=text)
    toast.hover()
    return toast


def _tags(server: ServerInfo, name: str) -> set[str]:
    with kp.Library(server.library, create=False) as library:
        return set(library.clip(name).tags)


def test_long_tag_hides_no_count(open_page: OpenPage, server: ServerInfo) -> None:
    long = "a tag that is much longer than the list is wide"
    with kp.Library(server.library, create=False) as library:
        library.tag("turn", long)
        with open_page() as tab:
            for tag in ("demo", long):
                expect(tab.page.locator(f"[data-facet='tag {tag}'] .facet-count")).to_be_in_viewport(ratio=1)
        library.untag("turn", long)


def test_selected_clips_are_tagged_and_untagged(open_page: OpenPage, server: ServerInfo) -> None:
    with open_page("/?sort=name") as tab:
        page = tab.page
        for name in ("kick", "high kick"):
            _card(page, name).hover()
            _card(page, name).get_by_role("checkbox").check()
        expect(page.locator(".selection-count")).to_have_text("2 clips selected")
        page.get_by_role("button", name="Edit tags…").click()
        dialog = page.get_by_role("dialog", name="Edit tags of 2 clips")
        dialog.get_by_label("Add tags").fill("combat, studio b")
        dialog.get_by_role("button", name="Remove fast").click()
        dialog.get_by_role("button", name="Apply").click()
        _toast(page, "Tags of 2 clips changed")
        assert _tags(server, "kick") == {"demo", "kick", "combat", "studio b"}
        assert _tags(server, "high kick") == {"demo", "kick", "combat", "studio b"}
        page.wait_for_selector("[data-facet='tag combat']")
        page.keyboard.press("Control+z")
        page.wait_for_selector("[data-facet='tag combat']", state="detached")
        assert _tags(server, "kick") == {"demo", "kick", "fast"}
        assert _tags(server, "high kick") == {"demo", "kick"}
        assert tab.errors == []


def test_ranges_and_all_clips_are_selected(open_page: OpenPage) -> None:
    with open_page("/?sort=name") as tab:
        page = tab.page
        page.wait_for_selector(".card-name")
        count = page.locator(".selection-count")
        _card(page, "high kick").hover()
        _card(page, "high kick").get_by_role("checkbox").click()
        _card(page, "landing").click(modifiers=["Shift"])
        chosen = page.locator(".card[aria-selected=true] .card-name")
        expect(chosen).to_have_text(["high kick", "jump", "kick", "landing"])
        page.keyboard.press("Control+a")
        expect(chosen).to_have_count(len(CUTS))
        expect(count).to_have_text(f"{len(CUTS)} clips selected")
        page.keyboard.press("Escape")
        expect(count).to_be_hidden()
        box = _card(page, "jump").get_by_role("checkbox", name="Select jump")
        box.focus()
        page.keyboard.press("Space")
        expect(count).to_have_text("1 clip selected")
        expect(box).to_be_focused()
        page.keyboard.press("Escape")  # once, also from the box
        expect(count).to_be_hidden()
        assert tab.errors == []


def test_right_click_opens_a_menu_that_stays(open_page: OpenPage) -> None:
    with open_page("/?sort=name") as tab:
        page = tab.page
        menu = page.get_by_role("menu")

        def right_click(name: str) -> None:
            box = _card(page, name).bounding_box()
            page.mouse.move(box["x"] + 100, box["y"] + 40)
            page.mouse.down(button="right")
            expect(menu).to_have_accessible_name(f"Actions for {name}")
            page.mouse.up(button="right")

        _card(page, "kick").wait_for()
        right_click("kick")
        page.wait_for_timeout(300)  # what closed it came with the release
        expect(menu).to_be_visible()
        right_click("landing")  # another one in its place
        expect(menu).to_have_count(1)
        page.keyboard.press("Escape")
        expect(menu).to_have_count(0)
        for leave in (lambda: page.mouse.click(20, 780), lambda: page.mouse.wheel(0, 50)):
            right_click("kick")
            page.mouse.move(20, 780)
            leave()
            expect(menu).to_have_count(0)
        expect(page.locator(".selection-bar")).to_be_hidden()
        right_click("kick")
        page.get_by_role("menuitem", name="Search for similar clips").click()
        page.get_by_role("heading", name="Clips similar to kick").wait_for()
        page.go_back()
        button = page.get_by_role("button", name="Add clips")
        for n_menus in (1, 0, 1):  # a button opens its menu and closes it
            button.click()
            expect(menu).to_have_count(n_menus)
            expect(button).to_have_attribute("aria-expanded", "true" if n_menus else "false")
        assert tab.errors == []


def test_trashed_clips_are_restored_by_undo(open_page: OpenPage, server: ServerInfo) -> None:
    with open_page("/?sort=name") as tab:
        page = tab.page
        for name in ("turn", "landing"):
            _card(page, name).hover()
            _card(page, name).get_by_role("checkbox").check()
        page.get_by_role("toolbar").get_by_role("button", name="Move to trash").click()
        toast = _toast(page, "2 clips moved to the trash")
        expect(page.locator(".library-count")).to_have_text("6 clips")
        expect(_card(page, "turn")).to_have_count(0)
        with kp.Library(server.library, create=False) as library:
            assert {clip.name for clip in library.clips()}.isdisjoint({"turn", "landing"})
        toast.get_by_role("button", name="Undo").click()
        expect(page.locator(".library-count")).to_have_text("8 clips")
        _card(page, "turn").wait_for()
        _card(page, "landing").wait_for()
        assert tab.errors == []


def _remove(page: Any, *names: str) -> None:
    """Trash clips one by one, closing each toast."""
    for name in names:
        _card(page, name).focus()
        page.keyboard.press("Delete")
        _toast(page, "1 clip moved to the trash").get_by_role("button", name="Close").click()
        expect(_card(page, name)).to_have_count(0)


def test_undo_outlives_the_toast(open_page: OpenPage) -> None:
    with open_page("/?sort=name") as tab:
        page = tab.page
        _remove(page, "kick", "jump")
        expect(page.locator(".toast")).to_have_count(0)
        page.keyboard.press("Control+z")
        _card(page, "jump").wait_for()
        _card(page, "walk").get_by_role("link").click()  # another page, and back
        page.wait_for_url("**/clips/*")
        page.go_back()
        expect(page.locator(".library-count")).to_have_text("7 clips")
        page.keyboard.press("Control+z")
        _card(page, "kick").wait_for()
        expect(page.locator(".library-count")).to_have_text("8 clips")
        assert tab.errors == []


def test_trash_lists_and_restores_clips(open_page: OpenPage, server: ServerInfo) -> None:
    with open_page("/?sort=name") as tab:
        page = tab.page
        page.wait_for_selector(".card-name")
        link = page.get_by_role("link", name="Trash")
        expect(link).to_be_hidden()
        _remove(page, "kick", "jump", "turn", "walk")
        expect(link).to_have_text("Trash4")
        link.click()
        page.wait_for_url("**/?trash=1")
        expect(page).to_have_title("Trash · Keypose")
        rows = page.locator(".trash-name")
        expect(rows).to_have_text(["walk", "turn", "jump", "kick"])  # the last one first
        facts = page.locator(".trash-row", has_text="jump").locator(".trash-details")
        expect(facts).to_have_text("2.3 s · moved here just now · 30 days left")
        page.get_by_role("button", name="Restore jump").click()
        expect(rows).to_have_text(["walk", "turn", "kick"])
        page.get_by_role("checkbox", name="Select walk").click()
        page.get_by_role("checkbox", name="Select turn").click(modifiers=["Shift"])
        page.get_by_role("button", name="Restore 2 clips").click()
        expect(rows).to_have_text(["kick"])
        page.reload()
        expect(rows).to_have_text(["kick"])
        page.get_by_role("button", name="Restore all").click()
        page.get_by_role("heading", name="The trash is empty").wait_for()
        page.get_by_role("link", name="Go to the library").click()
        expect(page.locator(".library-count")).to_have_text("8 clips")
        expect(link).to_be_hidden()
        page.go_back()
        page.get_by_role("heading", name="The trash is empty").wait_for()
        with kp.Library(server.library, create=False) as library:
            assert library.list_trash() == ()
        assert tab.errors == []


def test_clip_is_renamed_in_place(open_page: OpenPage, server: ServerInfo) -> None:
    with open_page("/?sort=name") as tab:
        page = tab.page
        _card(page, "all of it").hover()
        _card(page, "all of it").get_by_role("button", name="Actions for all of it").click()
        page.get_by_role("menuitem", name="Rename").click()
        field = page.get_by_role("textbox", name="Name", exact=True)
        expect(field).to_be_focused()
        page.keyboard.type("the <b>whole</b> thing")
        with page.expect_response("**/api/clips/*"):
            page.keyboard.press("Enter")
        _card(page, "the <b>whole</b> thing").wait_for()
        names = ["high kick", "jump", "kick", "landing", "the <b>whole</b> thing", "turn", "walk", "walk again"]
        expect(page.locator(".card-name:visible")).to_have_text(names)  # at its place by name
        expect(_card(page, "the <b>whole</b> thing")).to_be_focused()
        expect(page.locator(".card b:not(.match b)")).to_have_count(0)  # names are never markup
        with kp.Library(server.library, create=False) as library:
            assert library.clip("the <b>whole</b> thing").n_frames == 370
        card = page.locator(".card", has_text="the <b>whole</b> thing")
        card.focus()
        page.keyboard.press("F2")
        expect(field).to_be_focused()
        page.keyboard.type("not this")
        page.keyboard.press("Escape")
        expect(_card(page, "the <b>whole</b> thing")).to_be_focused()
        page.keyboard.press("F2")
        expect(field).to_be_focused()
        page.keyboard.type("something else")
        with page.expect_response("**/api/clips/*"):
            page.keyboard.press("Enter")
        expect(_card(page, "something else")).to_be_focused()
        for name in ("the <b>whole</b> thing", "all of it"):
            page.keyboard.press("Control+z")
            _card(page, name).wait_for()
        assert tab.errors == []


def test_selected_clips_are_exported_as_a_zip(open_page: OpenPage, tmp_path: Path) -> None:
    with open_page("/?sort=name") as tab:
        page = tab.page
        for name in ("jump", "walk"):
            _card(page, name).hover()
            _card(page, name).get_by_role("checkbox").check()
        page.get_by_role("button", name="Export…").click()
        dialog = page.get_by_role("dialog", name="Export 2 clips")
        dialog.get_by_role("radio", name="GLB, binary glTF .glb").check()
        with page.expect_download() as downloading:
            dialog.get_by_role("button", name="Download zip").click()
        downloading.value.save_as(tmp_path / "clips.zip")
        dialog.wait_for(state="hidden")
        with zipfile.ZipFile(tmp_path / "clips.zip") as bundle:
            names = sorted(name for name in bundle.namelist() if name.endswith(".glb"))
            bundle.extractall(tmp_path)
        assert [Path(name).name for name in names] == ["jump.glb", "walk.glb"]
        assert [kp.load(tmp_path / name).n_frames for name in names] == [70, 90]
        assert tab.errors == []
