"""The page of one clip in real Chromium: the figure, its timeline, and keys chosen in every way."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from clip_page import (
    CLIP,
    asked,
    drag,
    errors,
    frame_of,
    keys_of,
    picture,
    place_of,
    query_of,
    ready,
    slide,
    until_frame,
    until_keys,
    until_picture,
    until_query,
    written,
)
from clip_scores import until_polished
from web_served import Look, Served, awaited, expect, until

pytestmark = pytest.mark.browser


def test_figure_strip_timeline_and_score_are_there(look: Look, clip: str, served: Served) -> None:
    with look(f"/clips/{clip}") as watched:
        page = watched.page
        ready(page)
        expect(page).to_have_title(f"{CLIP} · Keypose")
        expect(page.locator(".clip-name")).to_contain_text("12 s · 370 frames · 30 fps · 26 joints")
        first = picture(page)
        page.keyboard.press("End")
        until_frame(page, 369)
        until_picture(page, unlike=first)  # the figure has moved
        for lane in ("Keys", "Pins", "left foot", "right foot", "left arm"):
            expect(page.locator(".lane-label").get_by_text(lane, exact=True)).to_be_visible()
        asked_of = {urlsplit(url.removeprefix("blob:")).netloc for url in watched.requests}
        assert asked_of == {urlsplit(served.origin).netloc}
        assert errors(watched) == []


def test_browsing_the_ladder_asks_for_no_other_one(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}") as watched:
        page = watched.page
        ready(page)
        ladder = asked(page, f"/api/clips/{clip}/ladder", {"method": "salient"})
        before = sum(url.endswith("/ladder") for url in watched.requests)
        for count in (6, 9, 14):
            slide(page, "Number of keys", count)
            expect(page.get_by_role("spinbutton", name="Number of keys")).to_have_value(str(count))
            until_keys(page, ladder["selections"][ladder["counts"].index(count)])
        assert sum(url.endswith("/ladder") for url in watched.requests) == before
        until_query(page, keys="14")
        until(page, "performance.getEntriesByName('keys-redrawn').length === 3")
        until(page, "performance.getEntriesByName('strip-redrawn').length >= 1")
        until_polished(page, clip, ladder["selections"][ladder["counts"].index(14)])
        worst = page.locator(".score > div", has_text="worst")
        was = worst.inner_text()
        page.get_by_role("heading", name="In-betweens").click()
        page.get_by_text("Straight", exact=True).click()
        expect(worst).not_to_have_text(was, use_inner_text=True)
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
        stage = page.locator(".stage-area").bounding_box()
        page.keyboard.down("Shift")
        drag(page, place_of(page, 100, "keys"), place_of(page, 180, "keys"))
        page.keyboard.up("Shift")
        until_query(page, range="100-180")
        expect(page.get_by_role("group", name="Range")).to_be_visible()
        assert page.locator(".stage-area").bounding_box() == stage  # what appears pushes nothing
        page.get_by_label("Keys in it only").check()
        until(page, "/at frames 100, .*, 180$/.test(document.querySelector('.strip img').alt)")
        page.get_by_role("slider", name="Frame").focus()
        page.keyboard.press("End")
        until_frame(page, 180)
        page.keyboard.press("Space")
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        seen: set[int] = set()
        awaited(lambda: seen.add(frame_of(page)), lambda _: len(seen) > 20)
        assert min(seen) >= 100 and max(seen) <= 180
        page.keyboard.press("Space")
        expect(page.get_by_role("button", name="Play")).to_be_visible()
        page.get_by_role("button", name="Find this elsewhere").click()
        page.wait_for_url(f"**/?part={clip}:100-180")
        page.go_back()
        ready(page)
        until_query(page, range="100-180")
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
        until_query(page, keys="9", show="beside", ghosts="2")
        page.mouse.move(5, 5)
        address = written(page)
        assert "camera=" in address
        ladder = asked(page, f"/api/clips/{clip}/ladder", {"method": "salient"})
        keys = ladder["selections"][ladder["counts"].index(9)]
        until_keys(page, keys)
        until_polished(page, clip, keys)
        before, frame = picture(page), frame_of(page)
        page.reload()
        ready(page)
        until_keys(page, keys)
        until_polished(page, clip, keys)
        until_frame(page, frame)
        expect(page.get_by_role("radio", name="Beside")).to_be_checked()
        until_picture(page, like=before)
        assert (written(page), query_of(page)["frame"]) == (address, str(frame))
        assert errors(watched) == []


def test_curves_are_polished_once_when_keys_have_come_to_rest(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=5") as watched:
        page = watched.page
        ready(page)
        ladder = asked(page, f"/api/clips/{clip}/ladder", {"method": "salient"})
        until_polished(page, clip, ladder["selections"][ladder["counts"].index(5)])
        told: list[dict[str, Any]] = []
        page.on("request", lambda request: told.append(request.post_data_json) if "/unbaked" in request.url else None)
        page.get_by_role("slider", name="Number of keys").evaluate(
            """async (slider) => {
              for (const count of [6, 7, 8, 9, 10, 11]) {
                slider.value = count;
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                await new Promise((done) => setTimeout(done, 60));
              }
            }"""
        )
        expect(page.locator(".score")).to_have_attribute("aria-busy", "false")
        chosen = ladder["selections"][ladder["counts"].index(11)]
        assert [each["frames"] for each in told if each.get("polish")] == [chosen]
        assert chosen in [each["frames"] for each in told if not each.get("polish")]
        until_polished(page, clip, chosen)
        assert errors(watched) == []


def test_curves_that_fail_leave_no_figures_of_other_keys(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=5") as watched:
        page = watched.page
        ready(page)
        page.route("**/unbaked", lambda route: route.fulfill(status=503, body="{}"))
        slide(page, "Number of keys", 12)
        expect(page.locator(".failed-note")).to_contain_text("no curves through these keys")
        expect(page.locator(".score")).to_be_hidden()
        page.unroute("**/unbaked")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".score")).to_be_visible()
        until_polished(page, clip, keys_of(page))
        expect(page.locator(".failed-note")).to_be_hidden()


def test_the_strip_marks_the_pose_of_now(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=30") as watched:
        page = watched.page
        ready(page)
        keys, here, strip = keys_of(page), page.locator(".strip-here"), page.locator(".strip")
        expect(here).to_have_attribute("data-frame", "0")
        expect(strip).to_have_class("strip more-after")
        page.keyboard.press("]")
        expect(here).to_have_attribute("data-frame", str(keys[1]))
        page.keyboard.press("ArrowRight")  # between two keys the one before is meant
        until_frame(page, keys[1] + 1)
        expect(here).to_have_attribute("data-frame", str(keys[1]))
        expect(here).to_have_class("strip-here")
        page.keyboard.press("End")
        expect(here).to_have_attribute("data-frame", "369")
        expect(here).to_have_class("strip-here exact")
        inside = """() => {
          const [box, mark] = [".strip", ".strip-here"].map((each) => document.querySelector(each).getBoundingClientRect());
          return mark.left >= box.left && mark.right <= box.right;
        }"""
        until(page, inside)
        expect(strip).to_have_class("strip more-before")
        box = page.locator(".strip-poses").bounding_box()
        mark = here.bounding_box()
        page.mouse.click(mark["x"] + mark["width"] / 2, box["y"] + 40)
        until_frame(page, 369)
        page.mouse.click(mark["x"] - 45, box["y"] + 40)  # a pose is about as wide as its caption
        until_frame(page, keys[-2])
        expect(here).to_have_attribute("data-frame", str(keys[-2]))
        assert errors(watched) == []


@pytest.mark.parametrize(
    ("said", "left", "why"),
    [
        ("method=nonsense", {"method": None}, "there is no method “nonsense”"),
        ("keys=abc", {"keys": None}, "keys=abc cannot be"),
        ("frame=-5", {"frame": None}, "frame=-5 cannot be"),
        ("frame=9999", {"frame": "369"}, "the last frame is 369"),
        ("camera=NaN,0,1", {"camera": None}, "camera=NaN,0,1 cannot be"),
        ("camera=1,2", {"camera": None}, "camera=1,2 cannot be"),
        ("range=300-9999", {"range": "300-369"}, "the range ends at frame 369"),
        ("pins=5,-3,4000", {"pins": "5"}, "some pins are no frames"),
        ("trails=Nobody,Hips", {"trails": "Hips"}, "some trails are of no joint"),
        ("parts=left_arm:2,wing:3", {"parts": "left_arm:2"}, "some parts or weights are not known"),
        ("interpolation=none&speed=99", {"interpolation": None, "speed": None}, "interpolation=none cannot be"),
    ],
)
def test_an_address_that_cannot_be_is_put_right(
    look: Look, clip: str, said: str, left: dict[str, str | None], why: str
) -> None:
    with look(f"/clips/{clip}?panel=keys&{said}") as watched:
        page = watched.page
        toast = page.locator(".toast", has_text="The address was put right")
        expect(toast).to_contain_text(why)  # first: it does not stay
        ready(page)
        until_query(page, **left)
        expect(page.get_by_label("Chosen by")).to_have_value("salient")
        assert errors(watched) == []
