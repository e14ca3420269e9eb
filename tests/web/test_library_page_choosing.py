"""Many clips at once on the library page: chosen, tagged, renamed, taken away, removed and brought back."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from web_served import CUTS, Look, Served, until

import keypose as kp

pytestmark = pytest.mark.browser


def _card(page: Any, name: str) -> Any:
    return page.locator(".card", has=page.get_by_role("link", name=name, exact=True))


def _tags(served: Served, name: str) -> set[str]:
    with kp.Library(served.library, create=False) as library:
        return set(library.clip(name).tags)


def test_chosen_clips_are_tagged_and_untagged(look: Look, served: Served) -> None:
    with look("/?sort=name") as watched:
        page = watched.page
        for name in ("kick", "high kick"):
            _card(page, name).hover()
            _card(page, name).get_by_role("checkbox").check()
        assert page.locator(".selection-count").inner_text() == "2 clips chosen"
        page.get_by_role("button", name="Tag…").click()
        dialog = page.get_by_role("dialog", name="Tags of 2 clips")
        dialog.get_by_label("Add tags").fill("combat, studio b")
        dialog.get_by_role("button", name="Remove fast").click()
        dialog.get_by_role("button", name="Apply").click()
        page.wait_for_selector(".toast:has-text('Tags of 2 clips changed')")
        assert _tags(served, "kick") == {"demo", "kick", "combat", "studio b"}
        assert _tags(served, "high kick") == {"demo", "kick", "combat", "studio b"}
        page.wait_for_selector("[data-facet='tag combat']")
        page.keyboard.press("Control+z")
        page.wait_for_selector("[data-facet='tag combat']", state="detached")
        assert _tags(served, "kick") == {"demo", "kick", "fast"}
        assert _tags(served, "high kick") == {"demo", "kick"}
        assert watched.complaints == []


def test_ranges_and_all_are_chosen(look: Look) -> None:
    with look("/?sort=name") as watched:
        page = watched.page
        page.wait_for_selector(".card-name")
        count = page.locator(".selection-count")
        _card(page, "high kick").hover()
        _card(page, "high kick").get_by_role("checkbox").click()
        _card(page, "landing").click(modifiers=["Shift"])
        until(page, "document.querySelectorAll('.card[aria-selected=true]').length === 4")
        assert page.locator(".card[aria-selected=true] .card-name").all_inner_texts() == [
            "high kick", "jump", "kick", "landing"]  # fmt: skip
        page.keyboard.press("Control+a")
        until(page, "document.querySelectorAll('.card[aria-selected=true]').length === 8")
        assert count.inner_text() == f"{len(CUTS)} clips chosen"
        page.keyboard.press("Escape")
        count.wait_for(state="hidden")
        assert watched.complaints == []


def test_removed_clips_come_back(look: Look, served: Served) -> None:
    with look("/?sort=name") as watched:
        page = watched.page
        for name in ("turn", "landing"):
            _card(page, name).hover()
            _card(page, name).get_by_role("checkbox").check()
        page.get_by_role("toolbar").get_by_role("button", name="Remove").click()
        page.wait_for_selector(".library-count:text('6 clips')")
        assert _card(page, "turn").count() == 0
        with kp.Library(served.library, create=False) as library:
            assert {clip.name for clip in library.clips()}.isdisjoint({"turn", "landing"})
        page.locator(".toast").get_by_role("button", name="Undo").click()
        page.wait_for_selector(".library-count:text('8 clips')")
        _card(page, "turn").wait_for()
        _card(page, "landing").wait_for()
        assert watched.complaints == []


def test_a_clip_is_renamed_in_place(look: Look, served: Served) -> None:
    with look("/?sort=name") as watched:
        page = watched.page
        _card(page, "all of it").hover()
        _card(page, "all of it").get_by_role("button", name="Actions for all of it").click()
        page.get_by_role("menuitem", name="Rename").click()
        page.keyboard.type("the <b>whole</b> thing")
        with page.expect_response("**/api/clips/*"):
            page.keyboard.press("Enter")
        _card(page, "the <b>whole</b> thing").wait_for()
        assert page.locator(".card b:not(.match b)").count() == 0  # names are never markup
        with kp.Library(served.library, create=False) as library:
            assert library.clip("the <b>whole</b> thing").n_frames == 370
        card = page.locator(".card", has_text="the <b>whole</b> thing")
        card.focus()
        page.keyboard.press("F2")
        page.keyboard.type("not this")
        page.keyboard.press("Escape")
        assert _card(page, "the <b>whole</b> thing").count() == 1
        page.keyboard.press("F2")
        page.keyboard.type("all of it")
        with page.expect_response("**/api/clips/*"):
            page.keyboard.press("Enter")
        _card(page, "all of it").wait_for()
        assert watched.complaints == []


def test_chosen_clips_are_taken_away_as_a_zip(look: Look, tmp_path: Path) -> None:
    with look("/?sort=name") as watched:
        page = watched.page
        for name in ("jump", "walk"):
            _card(page, name).hover()
            _card(page, name).get_by_role("checkbox").check()
        page.get_by_role("button", name="Export…").click()
        dialog = page.get_by_role("dialog", name="Export 2 clips")
        dialog.get_by_role("radio", name="GLB .glb").check()
        with page.expect_download() as downloading:
            dialog.get_by_role("button", name="Download zip").click()
        downloading.value.save_as(tmp_path / "clips.zip")
        dialog.wait_for(state="hidden")
        with zipfile.ZipFile(tmp_path / "clips.zip") as bundle:
            names = sorted(name for name in bundle.namelist() if name.endswith(".glb"))
            bundle.extractall(tmp_path)
        assert [Path(name).name for name in names] == ["jump.glb", "walk.glb"]
        assert [kp.load(tmp_path / name).n_frames for name in names] == [70, 90]
        assert watched.complaints == []
