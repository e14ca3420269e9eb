"""Clip page in Chromium: figure, timeline and key selection."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

import keypose as kp
from support.clip_page import (
    CLIP,
    call_api,
    drag,
    page_errors,
    read_frame,
    read_keys,
    read_query,
    set_slider,
    settled_address,
    take_picture,
    timeline_point,
    wait_frame,
    wait_keys,
    wait_picture,
    wait_query,
    wait_ready,
)
from support.clip_scores import wait_polished
from support.figures import figures
from support.web_pages import OpenPage, ServerInfo, cut, expect, poll, wait_until

pytestmark = pytest.mark.browser


def test_page_shows_figure_strip_timeline_and_score(open_page: OpenPage, clip: str, server: ServerInfo) -> None:
    with open_page(f"/clips/{clip}") as tab:
        page = tab.page
        wait_ready(page)
        expect(page).to_have_title(f"{CLIP} · Keypose")
        expect(page.locator(".clip-name")).to_contain_text("12 s · 370 frames · 30 fps · 26 joints")
        first = take_picture(page)
        page.keyboard.press("End")
        wait_frame(page, 369)
        wait_picture(page, unlike=first)  # the figure has moved
        for lane in ("Keys", "Pins", "Left foot", "Right foot", "Left arm"):
            expect(page.locator(".lane-label").get_by_text(lane, exact=True)).to_be_visible()
        hosts = {urlsplit(url.removeprefix("blob:")).netloc for url in tab.requests}
        assert hosts == {urlsplit(server.origin).netloc}
        assert page_errors(tab) == []


def test_browsing_key_counts_loads_the_ladder_once(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}") as tab:
        page = tab.page
        wait_ready(page)
        ladder = call_api(page, f"/api/clips/{clip}/ladder", {"method": "salient"})
        before = sum(url.endswith("/ladder") for url in tab.requests)
        for count in (6, 9, 14):
            set_slider(page, "Number of keys", count)
            expect(page.get_by_role("spinbutton", name="Number of keys")).to_have_value(str(count))
            wait_keys(page, ladder["selections"][ladder["counts"].index(count)])
        assert sum(url.endswith("/ladder") for url in tab.requests) == before
        wait_query(page, keys="14")
        wait_until(page, "performance.getEntriesByName('keys-redrawn').length === 3")
        wait_until(page, "performance.getEntriesByName('strip-redrawn').length >= 1")
        wait_polished(page, clip, ladder["selections"][ladder["counts"].index(14)])
        worst = page.locator(".score > div", has_text="Worst joint")
        before = worst.inner_text()
        page.get_by_role("heading", name="In-betweens").click()
        page.get_by_text("Linear", exact=True).click()
        expect(worst).not_to_have_text(before, use_inner_text=True)
        assert page_errors(tab) == []


def test_tolerance_and_auto_set_the_number_of_keys(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6") as tab:
        page = tab.page
        wait_ready(page)
        page.get_by_text("Tolerance", exact=True).click()
        page.get_by_label("Maximum error of any joint (mm)").fill("60")
        page.keyboard.press("Enter")
        spec = {"method": "salient"}
        within = call_api(page, f"/api/clips/{clip}/selection", {"spec": spec, "tolerance_mm": 60})
        wait_keys(page, within["frames"])
        wait_query(page, tolerance="60", keys=None)
        page.get_by_text("Auto", exact=True).click()
        automatic = call_api(page, f"/api/clips/{clip}/selection", {"spec": spec})
        assert automatic["frames"] == kp.unbake(cut("all of it", 0, 370), auto=True).keys.tolist()
        wait_keys(page, automatic["frames"])
        wait_query(page, tolerance=None, keys=None)
        expect(page.locator(".score")).to_have_attribute("aria-busy", "false")
        worst = page.locator(".score > div", has_text="Worst joint").locator("dd")
        assert float(worst.inner_text().removesuffix(" mm")) <= 17  # 1 % of the height
        ladder = call_api(page, f"/api/clips/{clip}/ladder", spec)
        cliff = next(each["keys"] for each in ladder["cliffs"] if each["keys"] != automatic["keys"])
        page.locator(f".cliffs [data-keys='{cliff}']").click()
        wait_keys(page, ladder["selections"][ladder["counts"].index(cliff)])
        assert page_errors(tab) == []


def test_keys_that_are_far_off_offer_the_number_within_20_mm(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=6") as tab:
        page = tab.page
        wait_ready(page)
        ladder = call_api(page, f"/api/clips/{clip}/ladder", {"method": "salient"})
        within = next(keys for keys, cost in zip(ladder["counts"], ladder["costs"], strict=True) if cost <= 20)
        row = page.locator(".score > div", has_text="Within 20 mm")
        expect(row.locator("dd")).to_have_text(f"{within} keys")
        row.get_by_role("button").click()
        wait_query(page, keys=str(within))
        wait_keys(page, ladder["selections"][ladder["counts"].index(within)])
        expect(row).to_have_count(0)
        assert page_errors(tab) == []


def test_pinned_frames_are_always_keys(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=5") as tab:
        page = tab.page
        wait_ready(page)
        assert 150 not in read_keys(page)
        page.mouse.click(*timeline_point(page, 150, "pins"))
        wait_query(page, pins="150")
        wait_until(page, "document.querySelector('.strip img').alt.includes(' 150,')")
        page.keyboard.down("Alt")
        page.mouse.click(*timeline_point(page, 220, "keys"))
        page.keyboard.up("Alt")
        wait_query(page, pins="150,220")
        wait_until(page, "document.querySelector('.strip img').alt.includes(' 220,')")
        assert len(read_keys(page)) == 5
        page.get_by_label("Select keys with").select_option("uniform")
        page.wait_for_selector("text=does not support pins")
        wait_until(page, "!document.querySelector('.strip img').alt.includes(' 150,')")
        page.get_by_label("Select keys with").select_option("salient")
        wait_until(page, "document.querySelector('.strip img').alt.includes(' 150,')")
        page.get_by_role("button", name="Unpin frame 150").click()
        wait_query(page, pins="220")
        assert page_errors(tab) == []


def test_methods_and_body_part_weights(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=7") as tab:
        page = tab.page
        wait_ready(page)
        for method in ("farthest", "uniform"):
            page.get_by_label("Select keys with").select_option(method)
            ladder = call_api(page, f"/api/clips/{clip}/ladder", {"method": method})
            chosen = ladder["order"][:7] if ladder["order"] else ladder["selections"][ladder["counts"].index(7)]
            wait_keys(page, sorted(chosen))
        page.get_by_label("Select keys with").select_option("salient")
        page.get_by_role("heading", name="Body parts").click()
        set_slider(page, "Left arm", 3)
        set_slider(page, "head", 0)
        wait_query(page, weights="left_arm:3,head:0")
        body_parts = ["torso", "left_arm", "right_arm", "left_leg", "right_leg", "left_fingers", "right_fingers"]
        spec = {"method": "salient", "joints": body_parts, "weights": {"left_arm": 3}}
        ladder = call_api(page, f"/api/clips/{clip}/ladder", spec)
        wait_keys(page, ladder["selections"][ladder["counts"].index(7)])
        page.get_by_role("button", name="Reset weights").click()
        wait_query(page, weights=None)
        assert page_errors(tab) == []


def test_range_is_marked_looped_and_searched(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=8") as tab:
        page = tab.page
        wait_ready(page)
        stage = page.locator(".stage-area").bounding_box()
        page.keyboard.down("Shift")
        drag(page, timeline_point(page, 100, "keys"), timeline_point(page, 180, "keys"))
        page.keyboard.up("Shift")
        wait_query(page, range="100-180")
        expect(page.get_by_role("group", name="Range")).to_be_visible()
        assert page.locator(".stage-area").bounding_box() == stage  # the layout does not shift
        page.get_by_label("Keys in this range only").check()
        wait_until(page, "/at frames 100, .*, 180$/.test(document.querySelector('.strip img').alt)")
        page.get_by_role("slider", name="Frame").focus()
        page.keyboard.press("End")
        wait_frame(page, 180)
        page.keyboard.press("Space")
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        frames: set[int] = set()
        poll(lambda: frames.add(read_frame(page)), lambda _: len(frames) > 20)
        assert min(frames) >= 100 and max(frames) <= 180
        page.keyboard.press("Space")
        expect(page.get_by_role("button", name="Play")).to_be_visible()
        page.get_by_role("button", name="Search for this range").click()
        page.wait_for_url(f"**/?span={clip}:100-180")
        page.go_back()
        wait_ready(page)
        wait_query(page, range="100-180")
        assert page_errors(tab) == []


def test_reload_keeps_the_view(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}") as tab:
        page = tab.page
        wait_ready(page)
        set_slider(page, "Number of keys", 9)
        page.get_by_text("Side by side", exact=True).click()
        page.keyboard.press("g")
        page.mouse.click(*timeline_point(page, 120, "keys"))
        box = page.locator("canvas.stage").bounding_box()
        middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        drag(page, middle, (middle[0] + 120, middle[1] + 30))
        wait_query(page, keys="9", view_mode="side_by_side", ghosts="2")
        page.mouse.move(5, 5)
        address = settled_address(page)
        assert "camera=" in address
        ladder = call_api(page, f"/api/clips/{clip}/ladder", {"method": "salient"})
        keys = ladder["selections"][ladder["counts"].index(9)]
        wait_keys(page, keys)
        wait_polished(page, clip, keys)
        before, frame = take_picture(page), read_frame(page)
        page.reload()
        wait_ready(page)
        wait_keys(page, keys)
        wait_polished(page, clip, keys)
        wait_frame(page, frame)
        expect(page.get_by_role("radio", name="Side by side")).to_be_checked()
        wait_picture(page, like=before)
        assert (settled_address(page), read_query(page)["frame"]) == (address, str(frame))
        assert page_errors(tab) == []


def test_curves_are_polished_once_after_the_last_change(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=5") as tab:
        page = tab.page
        wait_ready(page)
        ladder = call_api(page, f"/api/clips/{clip}/ladder", {"method": "salient"})
        wait_polished(page, clip, ladder["selections"][ladder["counts"].index(5)])
        bodies: list[dict[str, Any]] = []
        page.on("request", lambda request: bodies.append(request.post_data_json) if "/curves" in request.url else None)
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
        assert [each["frames"] for each in bodies if not each.get("quick")] == [chosen]
        assert chosen in [each["frames"] for each in bodies if each.get("quick")]
        wait_polished(page, clip, chosen)
        assert page_errors(tab) == []


def test_failed_curves_hide_the_score(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=5", will_route=True) as tab:
        page = tab.page
        wait_ready(page)
        page.route("**/curves", lambda route: route.fulfill(status=503, body="{}"))
        set_slider(page, "Number of keys", 12)
        expect(page.locator(".error-note")).to_contain_text("curves for these keys could not be loaded")
        expect(page.locator(".score")).to_be_hidden()
        page.unroute("**/curves")
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".score")).to_be_visible()
        wait_polished(page, clip, read_keys(page))
        expect(page.locator(".error-note")).to_be_hidden()


def test_strip_marks_the_current_pose(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=30") as tab:
        page = tab.page
        wait_ready(page)
        keys, marker, strip = read_keys(page), page.locator(".strip-marker"), page.locator(".strip")
        expect(marker).to_have_attribute("data-frame", "0")
        expect(strip).to_have_class("strip more-after")
        page.keyboard.press("]")
        expect(marker).to_have_attribute("data-frame", str(keys[1]))
        page.keyboard.press("ArrowRight")  # between two keys the previous one is marked
        wait_frame(page, keys[1] + 1)
        expect(marker).to_have_attribute("data-frame", str(keys[1]))
        expect(marker).to_have_class("strip-marker")
        page.keyboard.press("End")
        expect(marker).to_have_attribute("data-frame", "369")
        expect(marker).to_have_class("strip-marker exact")
        inside = """() => {
          const [box, mark] = [".strip", ".strip-marker"].map((each) => document.querySelector(each).getBoundingClientRect());
          return mark.left >= box.left && mark.right <= box.right;
        }"""
        wait_until(page, inside)
        expect(strip).to_have_class("strip more-before")
        box = page.locator(".strip-poses").bounding_box()
        mark = marker.bounding_box()
        page.mouse.click(mark["x"] + mark["width"] / 2, box["y"] + 40)
        wait_frame(page, 369)
        page.mouse.click(mark["x"] - 45, box["y"] + 40)  # a pose is about as wide as its caption
        wait_frame(page, keys[-2])
        expect(marker).to_have_attribute("data-frame", str(keys[-2]))
        assert page_errors(tab) == []


@pytest.mark.parametrize(
    ("query", "repaired", "reason"),
    [
        ("method=nonsense", {"method": None}, "there is no method “nonsense”"),
        ("keys=abc", {"keys": None}, "keys=abc is not valid"),
        ("frame=-5", {"frame": None}, "frame=-5 is not valid"),
        ("frame=9999", {"frame": "369"}, "the last frame is 369"),
        ("camera=NaN,0,1", {"camera": None}, "camera=NaN,0,1 is not valid"),
        ("camera=1,2", {"camera": None}, "camera=1,2 is not valid"),
        ("range=300-9999", {"range": "300-369"}, "the range ended after the last frame, 369"),
        ("pins=5,-3,4000", {"pins": "5"}, "some pinned frames are outside the clip"),
        ("trails=Nobody,Hips", {"trails": "Hips"}, "this clip does not have all of the joints with trails"),
        ("weights=left_arm:2,wing:3", {"weights": "left_arm:2"}, "some weights of body parts or joints are not valid"),
        ("weights=joint.Hips:2,joint.Wing:3", {"weights": "joint.Hips:2"}, "some weights of body parts or joints"),
        ("options=cost:chord,sigma_s:1", {"options": "cost:chord"}, "some options are not known"),
        ("curves=polish:0,wing:1", {"curves": "polish:0"}, "some options of curves are not known"),
        ("per=joint&keys=5&joint=Wing", {"per": "joint", "joint": None}, "this clip has no joint “Wing”"),
        ("interpolation=none&speed=99", {"interpolation": None, "speed": None}, "interpolation=none is not valid"),
    ],
)
def test_invalid_address_is_corrected(
    open_page: OpenPage, clip: str, query: str, repaired: dict[str, str | None], reason: str
) -> None:
    with open_page(f"/clips/{clip}?panel=keys&{query}") as tab:
        page = tab.page
        toast = page.locator(".toast", has_text="The address was corrected")
        expect(toast).to_contain_text(reason)  # first: the toast disappears
        wait_ready(page)
        wait_query(page, **repaired)
        expect(page.get_by_label("Select keys with")).to_have_value("salient")
        assert page_errors(tab) == []


def test_less_important_poses_can_be_more_transparent(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?method=farthest&keys=5") as tab:
        page = tab.page
        wait_ready(page)
        rank = page.get_by_role("button", name="Rank")
        expect(rank).to_have_attribute("aria-pressed", "false")
        keys = read_keys(page)
        assert opacities_of_strip(page) == [1.0] * 5
        rank.click()
        wait_query(page, rank="1")
        alt_end = "; less important ones are more transparent"
        wait_until(page, "(end) => document.querySelector('.strip img').alt.endsWith(end)", alt_end)
        expect(rank).to_have_attribute("aria-pressed", "true")
        order = call_api(page, f"/api/clips/{clip}/ladder", {"method": "farthest"})["order"][:5]
        assert sorted(order) == keys == read_keys(page)
        opacities = dict(zip(keys, opacities_of_strip(page), strict=True))
        assert [opacities[frame] for frame in order] == pytest.approx([1.0, 0.86, 0.72, 0.59, 0.45], abs=0.011)
        rank.click()
        wait_keys(page, keys)
        assert opacities_of_strip(page) == [1.0] * 5
    with open_page(f"/clips/{clip}?method=salient&keys=5&rank=1") as tab:
        wait_ready(tab.page)
        expect(tab.page.get_by_role("button", name="Rank")).to_be_hidden()
        assert opacities_of_strip(tab.page) == [1.0] * 5


def opacities_of_strip(page: Any) -> list[float]:
    """Return the opacity of each pose."""
    script = "async () => await (await fetch(document.querySelector('.strip img').src)).text()"
    return [figure.opacity for figure in figures(page.evaluate(script))]
