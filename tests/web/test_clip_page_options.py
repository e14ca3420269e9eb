"""The clip page: options of methods and curves, weights of joints, keys of each joint and their curves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import keypose as kp
from keypose.clip_edit.selection_spec import RESERVED_OPTIONS
from keypose.extremes import find_extremes, list_parts_at_keys
from support.clip_page import (
    call_api,
    export_clip,
    page_errors,
    read_keys,
    set_slider,
    timeline_point,
    wait_keys,
    wait_query,
    wait_ready,
)
from support.clip_scores import format_mm
from support.web_pages import FPS, OpenPage, cut, expect, poll, serious_violations, wait_until

pytestmark = pytest.mark.browser


def motion() -> kp.Motion:
    return cut("all of it", 0, 370)


def open_section(page: Any, name: str) -> None:
    page.get_by_role("heading", name=name, exact=True).click()


def ladder_keys(page: Any, clip: str, spec: dict[str, Any], count: int) -> list[int]:
    """Return the keys that the API selects."""
    ladder = call_api(page, f"/api/clips/{clip}/ladder", spec)
    order, counts = ladder["order"], ladder["counts"]
    return sorted(order[:count]) if order else ladder["selections"][counts.index(count)]


def test_every_option_of_every_method_has_a_field(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9") as tab:
        page = tab.page
        wait_ready(page)
        open_section(page, "Options of the method")
        form = page.locator(".panel-section", has_text="Options of the method").locator(".option-form").first
        for method in kp.methods():
            page.get_by_label("Select keys with").select_option(method.name)
            names = [each.name for each in method.option_descriptions if each.name not in RESERVED_OPTIONS]
            fields = form.locator("select, input:not([type=range])")
            expect(fields).to_have_count(len(names))
            for field in fields.all():  # help and errors are read with the field
                describing = (field.get_attribute("aria-describedby") or "").split()
                assert describing and page.locator(f"#{describing[0]}").inner_text()
        for name in ("Features", "Smoothing (s)"):
            expect(page.get_by_label(name)).to_be_visible()
        assert page_errors(tab) == []


def test_options_of_the_method_select_the_keys(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9&method=saliency") as tab:
        page = tab.page
        wait_ready(page)
        before = read_keys(page)
        open_section(page, "Options of the method")
        set_slider(page, "Sigma, dial", 0.15)
        spec = {"method": "saliency", "options": {"sigma_s": 0.15}}
        expected = ladder_keys(page, clip, spec, 9)
        assert expected != before
        wait_keys(page, expected)
        wait_query(page, options="sigma_s:0.15")
        page.get_by_label("Rank").select_option("joint")
        wait_keys(page, ladder_keys(page, clip, {**spec, "options": {"sigma_s": 0.15, "rank": "joint"}}, 9))
        page.get_by_label("Smoothing (s)").fill("0.3")
        page.keyboard.press("Enter")
        spec = {**spec, "options": {"sigma_s": 0.15, "rank": "joint"}, "smoothing_s": 0.3}
        wait_keys(page, ladder_keys(page, clip, spec, 9))
        wait_query(page, features="smoothing_s:0.3")
        page.reload()
        wait_ready(page)
        assert read_keys(page) == ladder_keys(page, clip, spec, 9)
        page.get_by_role("button", name="Reset options").first.click()
        wait_keys(page, before)
        assert page_errors(tab) == []


def test_wrong_values_are_explained_at_their_field(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9") as tab:
        page = tab.page
        wait_ready(page)
        keys = read_keys(page)
        open_section(page, "Options of the method")
        gap = page.get_by_label("Min gap (frames)")
        gap.fill("0")
        gap.press("Enter")
        expect(gap).to_have_attribute("aria-invalid", "true")
        message = page.locator(f"#{gap.get_attribute('id')}-error")
        expect(message).to_have_text(
            "0 is not valid, expected a whole number of at least 1. The default is used.", use_inner_text=True
        )
        assert read_keys(page) == keys
        gap.fill("")
        gap.press("Enter")
        expect(message).to_be_hidden()
        select = page.locator(".option-form").get_by_label("Loop")
        select.select_option("1")  # which the server refuses, as the clip is none
        loop = page.locator(f"#{select.get_attribute('id')}-error")
        expect(loop).to_contain_text("needs a last pose like the first")
        expect(page.locator(".ladder-status")).to_contain_text("needs a last pose like the first")


def test_options_of_curves_change_the_curves_and_the_export(open_page: OpenPage, clip: str, tmp_path: Path) -> None:
    with open_page(f"/clips/{clip}?keys=9", accept_downloads=True) as tab:
        page = tab.page
        wait_ready(page)
        keys = read_keys(page)
        open_section(page, "In-betweens")
        page.get_by_label("Rotation").select_option("euler")
        wait_query(page, curves="rotation:euler")
        expect(page.locator(".score")).to_have_attribute("aria-busy", "false")
        keyed = kp.load_keyed(export_clip(page, tmp_path, "9 keys", ".keys.json"))
        assert keyed.rotation_orders is not None
        expected = kp.unbake(motion(), keys, rotation="euler")
        assert keyed.rotations.values == pytest.approx(expected.rotations.values)
        page.get_by_text("Linear", exact=True).click()
        page.get_by_label("Jump penalty").fill("0.1")
        page.keyboard.press("Enter")
        field = page.get_by_label("Jump penalty").get_attribute("id")
        expect(page.locator(f"#{field}-error")).to_contain_text("only interpolation bezier has free tangents")


def test_weights_of_joints_and_of_the_root(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9&method=simplify") as tab:
        page = tab.page
        wait_ready(page)
        open_section(page, "Body parts")
        page.get_by_text("Joints of left arm").click()
        skeleton = motion().skeleton
        names, head = skeleton.names, [skeleton.names[j] for j in skeleton.joints("head")]
        joint = names[skeleton.joint("left_hand")]
        set_slider(page, joint, 8)
        wait_query(page, weights=f"joint.{joint}:8")
        wait_keys(page, ladder_keys(page, clip, {"method": "simplify", "weights": {joint: 8}}, 9))
        root = names[0]
        expect(page.locator(".weights output").first).to_have_text("Method's default")
        set_slider(page, f"Root ({root})", 6)
        weights = {root: 6, joint: 8}
        wait_keys(page, ladder_keys(page, clip, {"method": "simplify", "weights": weights}, 9))
        set_slider(page, "Head", 0)
        joints = [name for name in names if name not in head]
        wait_keys(page, ladder_keys(page, clip, {"method": "simplify", "weights": weights, "joints": joints}, 9))
        assert page_errors(tab) == []


def test_every_joint_has_keys_of_its_own(open_page: OpenPage, clip: str, tmp_path: Path) -> None:
    refined = kp.unbake(motion(), per="joint", method="refine", residual=False)
    with open_page(f"/clips/{clip}?method=refine&joint=LeftHand", accept_downloads=True) as tab:
        page = tab.page
        wait_ready(page)
        page.get_by_text("Each joint", exact=True).click()
        wait_query(page, per="joint")
        wait_keys(page, refined.joint_keys("LeftHand").tolist())
        own = refined.joint_keys("Head").tolist()
        page.get_by_label("Show the keys of").select_option("Head")
        wait_keys(page, own)
        expect(page.get_by_label("Show the keys of").locator("option:checked")).to_have_text(f"Head ({len(own)} keys)")
        expect(page.get_by_role("spinbutton", name="Number of keys")).to_have_value(str(len(own)))
        for suffix in (".keys.json", ".glb"):
            path = export_clip(page, tmp_path, "Keys per joint", suffix)
            assert path.name == f"all of it (keys per joint){suffix}"
            keyed = kp.load_keyed(path)
            assert keyed.is_per_joint
            assert keyed.joint_keys("Head").tolist() == own
        page.get_by_label("Select keys with").select_option("salient")
        page.get_by_text("Number", exact=True).click()
        set_slider(page, "Number of keys", 7)
        optimal = kp.unbake(motion(), per="joint", keys=7, residual=False)
        wait_keys(page, optimal.joint_keys("Head").tolist())
        page.get_by_role("tab", name="Edit").click()
        expect(page.get_by_role("button", name="Edit these keys")).to_be_disabled()
        page.get_by_role("tab", name="Keys").click()
        page.get_by_text("Whole poses", exact=True).click()
        wait_keys(page, ladder_keys(page, clip, {"method": "salient"}, 7))
        assert page_errors(tab) == []


def test_dialog_shows_table_curves_and_path_of_joints(open_page: OpenPage, clip: str, axe: str) -> None:
    rows = {row.joint: row for row in kp.refine_table(motion()).rows}
    with open_page(f"/clips/{clip}?per=joint&method=refine&joint=LeftHand") as tab:
        page = tab.page
        wait_ready(page)
        page.get_by_role("button", name="Curves of joints…").click()
        dialog = page.get_by_role("dialog", name="Curves of joints of “all of it”")
        picture = dialog.locator("img")
        wait_until(page, "document.querySelector('.joint-picture')?.naturalWidth > 0")
        expect(picture).to_have_attribute("alt", "Curves of LeftHand, captured and through the keys")
        head = dialog.get_by_role("row", name="Head")
        row = rows["Head"]
        axes = " / ".join(map(str, row.keys_per_axis))
        figures = [axes, str(row.overlap), str(row.keys), f"{100 * row.removed_ratio:.1f} %"]
        assert head.first.locator("td").all_inner_texts()[:4] == figures
        before = picture.get_attribute("src")
        dialog.get_by_role("button", name="Head", exact=True).click()
        wait_until(page, "(before) => document.querySelector('.joint-picture').src !== before", before)
        wait_query(page, joint="Head")
        captured = "Head, captured and through the keys"
        saliency = "Saliency of each axis of Head, with candidates and extrema"
        for control, alt in (
            ("Path", f"Path of {captured}"),
            ("Saliency", saliency),
            ("Curves", f"Curves of {captured}"),
        ):
            before = picture.get_attribute("src")
            dialog.get_by_text(control, exact=True).click()
            wait_until(page, "(before) => document.querySelector('.joint-picture').src !== before", before)
            expect(picture).to_have_attribute("alt", alt)
        set_slider(page, "Threshold, dial", 0.5)
        wait_query(page, options="threshold:0.499")
        coarse = {each.joint: each for each in kp.refine_table(motion(), threshold=0.499).rows}["Head"]
        assert coarse.keys < row.keys
        poll(lambda: head.first.locator("td").nth(2).inner_text(), lambda text: text == str(coarse.keys))
        assert serious_violations(page, axe) == []
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert page_errors(tab) == []


def test_forms_are_accessible_and_fit_a_phone(open_page: OpenPage, clip: str, axe: str) -> None:
    for context in ({"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 800}}):
        with open_page(f"/clips/{clip}?keys=9&method=refine&options=threshold:0.2&weights=head:2", **context) as tab:
            page = tab.page
            wait_ready(page)
            open_section(page, "In-betweens")
            assert serious_violations(page, axe) == []
            width = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert width == 0


def test_strip_scrolls_by_keyboard_on_a_phone(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9", viewport={"width": 390, "height": 800}) as tab:
        page = tab.page
        wait_ready(page)
        strip = page.get_by_role("figure", name="Key poses")
        expect(strip).to_have_attribute("tabindex", "0")
        strip.focus()
        page.keyboard.press("ArrowRight")
        poll(lambda: strip.evaluate("(strip) => strip.scrollLeft"), lambda left: left > 0)
        expect(page.get_by_role("slider", name="Frame")).to_have_attribute("aria-valuenow", "0")
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(strip).not_to_have_attribute("tabindex", "0")


def test_keys_show_the_parts_at_the_end_of_their_travel(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9") as tab:
        page = tab.page
        wait_ready(page)
        keys = read_keys(page)
        parts = list_parts_at_keys(np.array(keys), find_extremes(motion()), FPS)
        key, name = next((key, names[0]) for key, names in zip(keys, parts, strict=True) if len(names) == 1)
        text = f"key, end of travel of {name.replace('_', ' ')}"
        page.mouse.move(*timeline_point(page, key, "keys"))
        expect(page.locator(".timeline-tip")).to_have_text(f"Frame {key}: {text}")
        open_section(page, "List of keys")
        rows = page.locator(".key-list li")
        expect(rows).to_have_count(9)
        expect(rows.nth(keys.index(key))).to_have_text(f"{key}{name.replace('_', ' ')}")
        expect(rows.first).to_contain_text("first or last key")
        rows.nth(keys.index(key)).get_by_role("button", name=f"Go to frame {key}").click()
        valuetext = f"Frame {key} of 369, {key / FPS:.2f} s, {text}"
        expect(page.get_by_role("slider", name="Frame")).to_have_attribute("aria-valuetext", valuetext)
        set_slider(page, "Number of keys", 12)
        expect(rows).to_have_count(12)
        assert page_errors(tab) == []


def test_keys_are_moved_to_extremes(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9") as tab:
        page = tab.page
        wait_ready(page)
        before = read_keys(page)
        open_section(page, "Keys at extremes")
        page.get_by_label("Leading").select_option("right_hand")
        wait_query(page, extremes="leading:right_hand")
        spec = {"spec": {"leading": "right_hand"}, "keys": 9}
        moved = call_api(page, f"/api/clips/{clip}/selection", spec)["frames"]
        assert moved != before
        wait_keys(page, moved)
        page.get_by_text("Overlay", exact=True).click()  # which changes the address, not the keys
        expect(page.locator(".score")).to_have_attribute("aria-busy", "false")
        assert read_keys(page) == moved
        page.get_by_text("Auto", exact=True).click()
        automatic = kp.unbake(motion(), auto=True, leading="right_hand", residual=False).keys.tolist()
        wait_keys(page, automatic)
        page.get_by_text("Number", exact=True).click()
        set_slider(page, "Number of keys", 9)
        page.get_by_label("Leading").select_option("")
        wait_keys(page, before)
        page.get_by_label("Select keys with").select_option("uniform")
        expect(page.get_by_label("Leading")).to_have_count(0)
        expect(page.get_by_text("Keys of uniform are not moved to extremes, only those of salient.")).to_be_visible()
        assert page_errors(tab) == []


def test_smooth_curves(open_page: OpenPage, clip: str) -> None:
    """The quick curves are those without smoothing, the final ones those of the Python API."""
    frames = kp.select(motion(), "uniform", keys=60).frames.tolist()
    with open_page(f"/clips/{clip}?keys=60&method=uniform") as tab:
        page = tab.page
        wait_ready(page)
        mean = page.locator(".score dd").first
        for text, smooth in ((None, None), ("1", True), ("0", False)):
            if text is not None:
                if smooth:
                    open_section(page, "In-betweens")
                page.get_by_label("Smooth", exact=True).select_option(text)
                wait_query(page, curves=f"smooth:{text}")
            expect(page.locator(".score")).to_have_attribute("aria-busy", "false")
            score = kp.score(motion(), kp.unbake(motion(), frames, smooth=smooth, residual=False))
            expect(mean).to_have_text(format_mm(score.mean_mm))
        page.get_by_text("Linear", exact=True).click()
        page.get_by_label("Smooth", exact=True).select_option("1")
        field = page.get_by_label("Smooth", exact=True).get_attribute("id")
        expect(page.locator(f"#{field}-error")).not_to_be_empty()


def test_controls_without_effect_say_so(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=9&method=farthest&weights=joint.LeftArm:3,joint.LeftHand:3") as tab:
        page = tab.page
        wait_ready(page)
        wait_keys(page, ladder_keys(page, clip, {"method": "farthest", "weights": {"LeftHand": 3}}, 9))
        page.get_by_text("Joints of left arm").scroll_into_view_if_needed()
        message = page.get_by_text("No effect: farthest does not look at this joint.")
        expect(message).to_have_count(1)
        expect(page.locator(".slider", has=message)).to_contain_text("LeftArm")
        set_slider(page, "Head", 0)  # then all joints but the head count
        expect(message).to_have_count(0)
        page.get_by_text("Each joint", exact=True).click()
        tolerance = page.get_by_role("radio", name="Tolerance")
        expect(tolerance).to_be_disabled()
        expect(page.get_by_text("Keys of each joint within a tolerance need the method salient.")).to_be_visible()
        page.get_by_label("Select keys with").select_option("salient")
        expect(tolerance).to_be_enabled()
