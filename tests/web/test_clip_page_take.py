"""What leaves a clip's page, opened again by our own readers; methods side by side; searches that start here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from clip_page import CLIP, asked, errors, frame_of, keys_of, query_of, ready, slide, until_query
from web_served import Look, until

import keypose as kp

pytestmark = pytest.mark.browser
MEASURED = "(document.querySelector('.compare-table tbody')?.textContent ?? '…').includes('…') === false"


@pytest.fixture
def clip(hashes: dict[str, str]) -> str:
    """The hash of the clip that is looked at."""
    return hashes[CLIP]


def take(page: Any, folder: Path, what: str, suffix: str) -> Path:
    """Takes the clip away through the dialog; the file."""
    page.locator(".clip-actions").get_by_role("button", name="Take away").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text(what, exact=True).click()
    dialog.locator(f"input[value='{suffix}']").check()
    with page.expect_download() as waiting:
        dialog.get_by_role("button", name="Download").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    page.wait_for_selector("dialog", state="detached")
    return path


def test_capture_and_keys_are_opened_again_by_our_own_readers(look: Look, clip: str, tmp_path: Path) -> None:
    with look(f"/clips/{clip}?keys=9", accept_downloads=True) as watched:
        page = watched.page
        ready(page)
        keys = keys_of(page)
        bvh = take(page, tmp_path, "Capture", ".bvh")
        assert bvh.name == "all of it.bvh"
        assert kp.load(bvh).n_frames == 370
        for suffix in (".keys.json", ".glb"):
            keyed = kp.load_keyed(take(page, tmp_path, "9 keys", suffix))
            assert keyed.keys.tolist() == keys
        small = take(page, tmp_path, "Capture", ".kps")
        assert kp.load(small).n_frames == 370
        assert small.stat().st_size < bvh.stat().st_size / 4
        strip = take(page, tmp_path, "9 keys", ".strip.svg")
        assert strip.read_text().startswith("<svg")
        report = take(page, tmp_path, "9 keys", ".report.html")
        assert "<html" in report.read_text()[:200].lower()
        assert errors(watched) == []


def test_an_edit_is_taken_away(look: Look, clip: str, tmp_path: Path) -> None:
    with look(f"/clips/{clip}?keys=7&panel=edit", accept_downloads=True) as watched:
        page = watched.page
        page.get_by_role("button", name="Edit these 7 keys").click()
        page.wait_for_selector(".edit-head")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("n")
        until(page, "document.querySelectorAll('.history-step').length === 2")
        added = frame_of(page)
        keyed = kp.load_keyed(take(page, tmp_path, "Edit", ".keys.json"))
        assert keyed.n_keys == 8
        assert added in keyed.keys.tolist()
        motion = kp.load(take(page, tmp_path, "Edit", ".bvh"))
        assert motion.n_frames == 370
        assert errors(watched) == []


def test_what_is_not_installed_is_said_in_words(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=7") as watched:
        page = watched.page
        ready(page)
        missing = [each for each in asked(page, "/api/library")["formats"] if each["needs"]]
        if not missing:
            pytest.skip("everything is installed here")
        page.keyboard.press("e")
        dialog = page.get_by_role("dialog")
        dialog.locator(f"input[value='{missing[0]['suffix']}']").check()
        assert missing[0]["needs"] in dialog.inner_text()
        dialog.get_by_role("button", name="Download").click()
        dialog.get_by_role("alert").wait_for()
        assert "pip install" in dialog.get_by_role("alert").inner_text()
        assert [said for said in errors(watched) if "Failed to load resource" not in said] == []


def test_methods_side_by_side(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8") as watched:
        page = watched.page
        ready(page)
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url(f"**/compare/{clip}?keys=8")
        until(page, MEASURED)
        assert page.locator(".compare-table tbody th").all_inner_texts() == ["salient", "farthest", "uniform"]
        page.get_by_role("button", name="Add a method").click()
        page.get_by_role("menuitem", name="decimate").click()
        until_query(page, methods="salient,farthest,uniform,decimate")
        until(page, "document.querySelectorAll('.compare-card canvas').length === 4")
        page.get_by_role("button", name="Leave farthest out").click()
        slide(page, "Number of keys", 12)
        until_query(page, methods="salient,uniform,decimate", keys="12")
        said = asked(page, f"/compare/{clip}.json?methods=salient,uniform,decimate&keys=12")
        for row, method in enumerate(said["methods"]):
            assert method["keys"] == 12
            mean = f"{method['score']['mean_mm']:.1f} mm"
            until(page, "([row, text]) => document.querySelectorAll('.compare-table tbody tr')[row].innerText.includes(text)",
                  [row, mean])  # fmt: skip
        page.get_by_role("slider", name="Frame").focus()
        page.keyboard.press("Shift+ArrowRight")
        until_query(page, frame="10")
        first = page.locator(".compare-card canvas").first.bounding_box()
        page.mouse.move(first["x"] + 100, first["y"] + 100)
        page.mouse.wheel(0, -200)
        until(page, "new URLSearchParams(location.search).has('camera')")
        address = page.url
        page.reload()
        until(page, MEASURED)
        assert page.url == address and frame_of(page) == 10
        page.get_by_role("link", name="To the clip").click()
        page.wait_for_url(f"**/clips/{clip}")
        assert errors(watched) == []


def test_searches_start_here(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?frame=30") as watched:
        page = watched.page
        ready(page)
        for item, wanted in (("More like this clip", {"like": clip}), ("This pose elsewhere", {"pose": f"{clip}:30"})):
            page.get_by_role("button", name="Find").click()
            page.get_by_role("menuitem", name=item).click()
            page.wait_for_url("**/?*")
            assert wanted.items() <= query_of(page).items()
            page.go_back()
            ready(page)
        assert errors(watched) == []
