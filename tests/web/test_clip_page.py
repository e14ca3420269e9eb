"""The page of one clip in real Chromium: the figure, its timeline, and keys chosen in every way."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from clip_page import (
    CLIP,
    asked,
    drag,
    errors,
    frame_of,
    keys_of,
    place_of,
    query_of,
    ready,
    slide,
    until_keys,
    until_query,
)
from web_served import Look, Served, until

pytestmark = pytest.mark.browser


@pytest.fixture
def clip(hashes: dict[str, str]) -> str:
    """The hash of the clip that is looked at."""
    return hashes[CLIP]


def test_figure_strip_timeline_and_score_are_there(look: Look, clip: str, served: Served) -> None:
    with look(f"/clips/{clip}") as watched:
        page = watched.page
        ready(page)
        assert page.title() == f"{CLIP} · Keypose"
        assert "12 s · 370 frames · 30 fps · 26 joints" in page.locator(".clip-name").inner_text()
        first = page.locator("canvas.stage").screenshot()
        page.keyboard.press("End")
        assert frame_of(page) == 369
        page.wait_for_timeout(800)
        assert page.locator("canvas.stage").screenshot() != first  # the figure has moved
        lanes = page.locator(".lane-label").all_inner_texts()
        assert {"Keys", "Pins", "left foot", "right foot", "left arm"} <= set(lanes)
        assert {urlsplit(url).netloc for url in watched.requests} == {urlsplit(served.origin).netloc}
        assert errors(watched) == []


def test_browsing_the_ladder_asks_for_no_other_one(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}") as watched:
        page = watched.page
        ready(page)
        ladder = asked(page, f"/api/clips/{clip}/ladder", {"method": "salient"})
        before = sum(url.endswith("/ladder") for url in watched.requests)
        for count in (6, 9, 14):
            slide(page, "Number of keys", count)
            assert page.get_by_role("spinbutton", name="Number of keys").input_value() == str(count)
            until_keys(page, ladder["selections"][ladder["counts"].index(count)])
        assert sum(url.endswith("/ladder") for url in watched.requests) == before
        until_query(page, keys="14")
        measured = page.evaluate("performance.getEntriesByType('measure').map((each) => each.name)")
        assert measured.count("keys-redrawn") == 3
        assert "strip-redrawn" in measured
        worst = page.locator(".score div", has_text="worst").inner_text()
        page.get_by_role("heading", name="In-betweens").click()
        page.get_by_text("Straight", exact=True).click()
        until(page, "(was) => document.querySelectorAll('.score div')[2].innerText !== was", worst)
        assert errors(watched) == []


def test_tolerance_and_auto_choose_the_number(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=6") as watched:
        page = watched.page
        ready(page)
        page.get_by_text("Tolerance", exact=True).click()
        page.get_by_label("No joint farther off than (mm)").fill("60")
        page.keyboard.press("Enter")
        recipe = {"method": "salient"}
        within = asked(page, f"/api/clips/{clip}/within", {"recipe": recipe, "tolerance_mm": 60})
        until_keys(page, within["frames"])
        until_query(page, tolerance="60", keys=None)
        page.get_by_text("Auto", exact=True).click()
        ladder = asked(page, f"/api/clips/{clip}/ladder", recipe)
        until_keys(page, ladder["selections"][ladder["counts"].index(ladder["auto"])])
        until_query(page, tolerance=None, keys=None)
        cliff = next(each["keys"] for each in ladder["cliffs"] if each["keys"] != ladder["auto"])
        page.locator(f".cliffs [data-keys='{cliff}']").click()
        until_keys(page, ladder["selections"][ladder["counts"].index(cliff)])
        assert errors(watched) == []


def test_pins_are_keys_whatever_else_is_chosen(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=5") as watched:
        page = watched.page
        ready(page)
        assert 150 not in keys_of(page)
        page.mouse.click(*place_of(page, 150, "pins"))
        until_query(page, pins="150")
        until(page, "document.querySelector('.strip img').alt.includes(' 150,')")
        page.keyboard.down("Alt")
        page.mouse.click(*place_of(page, 220, "keys"))
        page.keyboard.up("Alt")
        until_query(page, pins="150,220")
        until(page, "document.querySelector('.strip img').alt.includes(' 220,')")
        assert len(keys_of(page)) == 5
        page.get_by_label("Chosen by").select_option("uniform")
        page.wait_for_selector("text=pins wait until")
        until(page, "!document.querySelector('.strip img').alt.includes(' 150,')")
        page.get_by_label("Chosen by").select_option("salient")
        until(page, "document.querySelector('.strip img').alt.includes(' 150,')")
        page.get_by_role("button", name="Unpin frame 150").click()
        until_query(page, pins="220")
        assert errors(watched) == []


def test_methods_and_parts_of_the_body(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=7") as watched:
        page = watched.page
        ready(page)
        for method in ("farthest", "uniform"):
            page.get_by_label("Chosen by").select_option(method)
            said = asked(page, f"/api/clips/{clip}/ladder", {"method": method})
            chosen = said["order"][:7] if said["order"] else said["selections"][said["counts"].index(7)]
            until_keys(page, sorted(chosen))
        page.get_by_label("Chosen by").select_option("salient")
        page.get_by_role("heading", name="Parts of the body").click()
        slide(page, "left arm", 3)
        slide(page, "head", 0)
        until_query(page, parts="left_arm:3,head:0")
        parts = ["torso", "left_arm", "right_arm", "left_leg", "right_leg", "left_fingers", "right_fingers"]
        told = {"method": "salient", "joints": parts, "weights": {"left_arm": 3}}
        said = asked(page, f"/api/clips/{clip}/ladder", told)
        until_keys(page, said["selections"][said["counts"].index(7)])
        page.get_by_role("button", name="As usual").click()
        until_query(page, parts=None)
        assert errors(watched) == []


def test_a_range_is_marked_looped_and_found_elsewhere(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8") as watched:
        page = watched.page
        ready(page)
        page.keyboard.down("Shift")
        drag(page, place_of(page, 100, "keys"), place_of(page, 180, "keys"))
        page.keyboard.up("Shift")
        until_query(page, range="100-180")
        page.get_by_label("Keys in it only").check()
        until(page, "document.querySelector('.strip img').alt.includes('at frames 100,')")
        assert keys_of(page)[-1] == 180
        page.get_by_role("slider", name="Frame").focus()
        page.keyboard.press("End")
        assert frame_of(page) == 180
        page.keyboard.press("Space")
        seen = set()
        for _ in range(40):
            seen.add(frame_of(page))
            page.wait_for_timeout(40)
        assert len(seen) > 3 and min(seen) >= 100 and max(seen) <= 180
        page.keyboard.press("Space")
        page.get_by_role("button", name="Find this elsewhere").click()
        page.wait_for_url(f"**/?part={clip}:100-180")
        page.go_back()
        ready(page)
        assert query_of(page)["range"] == "100-180"
        assert errors(watched) == []


def test_reload_keeps_the_view(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}") as watched:
        page = watched.page
        ready(page)
        slide(page, "Number of keys", 9)
        page.get_by_text("Beside", exact=True).click()
        page.keyboard.press("g")
        page.mouse.click(*place_of(page, 120, "keys"))
        box = page.locator("canvas.stage").bounding_box()
        middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        drag(page, middle, (middle[0] + 120, middle[1] + 30))
        until(page, "new URLSearchParams(location.search).has('camera')")
        until_query(page, keys="9", show="beside", ghosts="2")
        page.mouse.move(5, 5)
        page.wait_for_timeout(1200)
        before, address, keys = page.locator("canvas.stage").screenshot(), page.url, keys_of(page)
        page.reload()
        ready(page)
        page.wait_for_timeout(1500)
        assert (page.url, keys_of(page), frame_of(page)) == (address, keys, int(query_of(page)["frame"]))
        assert page.get_by_role("radio", name="Beside").is_checked()
        assert page.locator("canvas.stage").screenshot() == before
        assert errors(watched) == []
