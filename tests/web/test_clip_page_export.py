"""Exports of the clip page, loaded again by Keypose; the compare page; searches from a clip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import keypose as kp
from support.clip_page import (
    call_api,
    export_clip,
    page_errors,
    read_frame,
    read_keys,
    set_slider,
    settled_address,
    wait_frame,
    wait_query,
    wait_ready,
)
from support.clip_scores import fetch_polished_score, format_mm
from support.web_pages import OpenPage, ServerInfo, expect, wait_until

pytestmark = pytest.mark.browser
IS_MEASURED = "(document.querySelector('.compare-table tbody')?.textContent ?? '…').includes('…') === false"


def test_exported_capture_and_keys_can_be_loaded(open_page: OpenPage, clip: str, tmp_path: Path) -> None:
    with open_page(f"/clips/{clip}?keys=9", accept_downloads=True) as tab:
        page = tab.page
        wait_ready(page)
        keys = read_keys(page)
        bvh = export_clip(page, tmp_path, "Capture", ".bvh")
        assert bvh.name == "all of it.bvh"
        assert kp.load(bvh).n_frames == 370
        for suffix in (".keys.json", ".glb"):
            path = export_clip(page, tmp_path, "9 keys", suffix)
            assert path.name == f"all of it (9 keys){suffix}"
            keyed = kp.load_keyed(path)
            assert keyed.keys.tolist() == keys
        small = export_clip(page, tmp_path, "Capture", ".kps")
        assert kp.load(small).n_frames == 370
        assert small.stat().st_size < bvh.stat().st_size / 4
        strip = export_clip(page, tmp_path, "9 keys", ".strip.svg")
        assert strip.read_text().startswith("<svg")
        report = export_clip(page, tmp_path, "9 keys", ".report.html")
        assert "<html" in report.read_text()[:200].lower()
        assert page_errors(tab) == []


def test_lossless_export_of_a_capture(open_page: OpenPage, server: ServerInfo, clip: str, tmp_path: Path) -> None:
    """The export equals what Python writes, byte by byte."""
    with open_page(f"/clips/{clip}?keys=9", accept_downloads=True) as tab:
        page = tab.page
        wait_ready(page)
        page.keyboard.press("e")
        dialog = page.get_by_role("dialog")
        dialog.locator("input[value='.kps']").check()
        expect(dialog.get_by_label("Lossless")).to_be_hidden()  # keys are never lossy
        dialog.get_by_text("Capture", exact=True).click()
        dialog.get_by_label("Lossless").check()
        expect(dialog.get_by_label("Maximum error (mm)")).to_be_disabled()
        expect(page.locator(".export-note")).to_contain_text("Every number is stored exactly")
        with page.expect_download() as download:
            dialog.get_by_role("button", name="Download").click()
        download.value.save_as(tmp_path / "taken.kps")
        assert page_errors(tab) == []
    with kp.Library(server.library) as library:
        kp.save(replace(library.get(clip), name=library.clip(clip).name), tmp_path / "saved.kps", lossless=True)
    assert (tmp_path / "taken.kps").read_bytes() == (tmp_path / "saved.kps").read_bytes()


def test_edit_is_exported(open_page: OpenPage, clip: str, tmp_path: Path) -> None:
    with open_page(f"/clips/{clip}?keys=7&panel=edit", accept_downloads=True) as tab:
        page = tab.page
        page.get_by_role("button", name="Edit these 7 keys").click()
        page.wait_for_selector(".edit-head")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("n")
        expect(page.locator(".history-step")).to_have_count(2)
        added = read_frame(page)
        keyed = kp.load_keyed(export_clip(page, tmp_path, "Edited keys", ".keys.json"))
        assert keyed.n_keys == 8
        assert added in keyed.keys.tolist()
        motion = kp.load(export_clip(page, tmp_path, "Edited keys", ".bvh"))
        assert motion.n_frames == 370
        assert page_errors(tab) == []


def test_missing_extras_are_listed(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=7") as tab:
        page = tab.page
        wait_ready(page)
        missing = [each for each in call_api(page, "/api/library")["formats"] if each["install_command"]]
        if not missing:
            pytest.skip("everything is installed here")
        page.keyboard.press("e")
        dialog = page.get_by_role("dialog")
        for each in missing:
            expect(dialog.locator(f"input[value='{each['suffix']}']")).to_be_disabled()
            expect(dialog.locator("label", has_text=each["suffix"])).to_contain_text(
                f"Not installed on the server: {each['install_command']}"
            )
        expect(dialog.locator("input[value='.glb']")).to_be_checked()
        assert page_errors(tab) == []


def test_dialog_describes_the_content_of_each_file(open_page: OpenPage, clip: str, tmp_path: Path) -> None:
    with open_page(f"/clips/{clip}?keys=7", accept_downloads=True) as tab:
        page = tab.page
        wait_ready(page)
        page.keyboard.press("e")
        dialog, note = page.get_by_role("dialog"), page.locator(".export-note")
        for suffix, text in ((".glb", "Only the keys, with curves"), (".bvh", "Every frame, sampled from the curves"),
                             (".keys.json", "Only the keys, with curves between them"), (".kps", "own compact format")):  # fmt: skip
            dialog.locator(f"input[value='{suffix}']").check()
            expect(note).to_contain_text(text)
        expect(dialog.get_by_label("Maximum error (mm)")).to_be_hidden()  # keys are kept as they are
        dialog.get_by_text("Capture", exact=True).click()
        expect(dialog.get_by_label("Maximum error (mm)")).to_be_visible()
        expect(note).to_contain_text("Every frame of the capture")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        page.get_by_role("heading", name="In-betweens").click()
        set_slider(page, "Captured detail", 100)
        wait_query(page, residual="1")
        page.keyboard.press("e")
        expect(note).to_contain_text("Every frame, with 100 % of the captured detail")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        dense = kp.load(export_clip(page, tmp_path, "7 keys", ".glb"))
        assert kp.score(kp.load(export_clip(page, tmp_path, "Capture", ".bvh")), dense).max_mm < 1.0  # as it is seen
        assert page_errors(tab) == []


def test_methods_side_by_side(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?keys=8") as tab:
        page = tab.page
        wait_ready(page)
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url(f"**/compare/{clip}?keys=8")
        wait_until(page, IS_MEASURED)
        expect(page.locator(".compare-table tbody th")).to_have_text(["salient", "farthest", "uniform"])
        page.get_by_role("button", name="Add a method").click()
        page.get_by_role("menuitem", name="decimate").click()
        wait_query(page, methods="salient,farthest,uniform,decimate")
        expect(page.locator(".compare-card canvas")).to_have_count(4)
        page.get_by_role("button", name="Remove farthest").click()
        set_slider(page, "Number of keys", 12)
        wait_query(page, methods="salient,uniform,decimate", keys="12")
        link = page.get_by_role("link", name="Results as JSON")
        expect(link).to_have_attribute("href", f"/compare/{clip}.json?methods=salient,uniform,decimate&keys=12")
        comparison = call_api(page, link.get_attribute("href"))
        for row, method in enumerate(comparison["methods"]):
            assert method["keys"] == 12
            table_row = page.locator(".compare-table tbody tr").nth(row)
            score = fetch_polished_score(page, clip, method["frames"])
            expect(table_row).to_contain_text(format_mm(score["mean_mm"]))
            expect(table_row).to_contain_text(format_mm(score["max_mm"]))
            expect(table_row).to_have_attribute("aria-busy", "false")
        page.get_by_role("slider", name="Frame").focus()
        page.keyboard.press("Shift+ArrowRight")
        wait_query(page, frame="10")
        first = page.locator(".compare-card canvas").first.bounding_box()
        page.mouse.move(first["x"] + 100, first["y"] + 100)
        page.mouse.wheel(0, -200)
        wait_until(page, "new URLSearchParams(location.search).has('camera')")
        address = settled_address(page)
        page.reload()
        wait_until(page, IS_MEASURED)
        wait_frame(page, 10)
        assert settled_address(page) == address
        page.get_by_role("link", name="Back to the clip").click()
        page.wait_for_url(f"**/clips/{clip}")
        assert page_errors(tab) == []


def test_automatic_number_of_keys_in_comparison(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/compare/{clip}?methods=farthest,salient,nonsense&frame=-1") as tab:
        page = tab.page
        expect(page.locator(".toast")).to_contain_text("there is no method “nonsense”")
        wait_query(page, methods="farthest,salient", frame=None)
        comparison = call_api(page, f"/compare/{clip}.json?methods=farthest,salient")
        automatic = call_api(page, f"/api/clips/{clip}/selection", {"spec": {}})["frames"]
        assert comparison["methods"][1]["frames"] == automatic
        with page.expect_request(
            lambda each: each.url.endswith("/curves") and each.post_data_json["frames"] == automatic
        ):
            page.reload()
        expect(page.locator(".compare-keys output")).to_have_text(f"{comparison['keys']} keys")
        expect(page.get_by_role("button", name="Auto")).to_have_attribute("aria-pressed", "true")
        set_slider(page, "Number of keys", 9)
        wait_query(page, keys="9")
        page.keyboard.press("a")
        wait_query(page, keys=None)
        expect(page.locator(".compare-keys output")).to_have_text(f"{comparison['keys']} keys")
        assert page_errors(tab) == []


def test_searches_start_from_the_clip_page(open_page: OpenPage, clip: str) -> None:
    with open_page(f"/clips/{clip}?frame=30") as tab:
        page = tab.page
        wait_ready(page)
        for item, query in (
            ("Search for similar clips", {"clip": clip}),
            ("Search for this pose", {"pose": f"{clip}:30"}),
        ):
            page.get_by_role("button", name="Search", exact=True).click()
            page.get_by_role("menuitem", name=item).click()
            page.wait_for_url("**/?*")
            wait_query(page, **query)
            page.go_back()
            wait_ready(page)
        assert page_errors(tab) == []
