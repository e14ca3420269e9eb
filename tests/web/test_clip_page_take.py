"""What leaves a clip's page, opened again by our own readers; methods side by side; searches that start here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from clip_page import asked, errors, frame_of, keys_of, ready, slide, until_frame, until_query, written
from clip_scores import in_mm, polished_score
from web_served import Look, Served, expect, until

import keypose as kp

pytestmark = pytest.mark.browser
MEASURED = "(document.querySelector('.compare-table tbody')?.textContent ?? '…').includes('…') === false"


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


def test_a_capture_leaves_without_any_loss(look: Look, served: Served, clip: str, tmp_path: Path) -> None:
    """The very bytes that Python writes."""
    with look(f"/clips/{clip}?keys=9", accept_downloads=True) as watched:
        page = watched.page
        ready(page)
        page.keyboard.press("e")
        dialog = page.get_by_role("dialog")
        dialog.locator("input[value='.kps']").check()
        expect(dialog.get_by_label("Without any loss")).to_be_hidden()  # keys are never lossy
        dialog.get_by_text("Capture", exact=True).click()
        dialog.get_by_label("Without any loss").check()
        expect(dialog.get_by_label("No point farther off")).to_be_disabled()
        expect(page.locator(".take-note")).to_contain_text("every number as it is")
        with page.expect_download() as waiting:
            dialog.get_by_role("button", name="Download").click()
        waiting.value.save_as(tmp_path / "taken.kps")
        assert errors(watched) == []
    with kp.Library(served.library) as library:
        kp.save(replace(library.get(clip), name=library.clip(clip).name), tmp_path / "saved.kps", lossless=True)
    assert (tmp_path / "taken.kps").read_bytes() == (tmp_path / "saved.kps").read_bytes()


def test_an_edit_is_taken_away(look: Look, clip: str, tmp_path: Path) -> None:
    with look(f"/clips/{clip}?keys=7&panel=edit", accept_downloads=True) as watched:
        page = watched.page
        page.get_by_role("button", name="Edit these 7 keys").click()
        page.wait_for_selector(".edit-head")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("n")
        expect(page.locator(".history-step")).to_have_count(2)
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
        for each in missing:
            expect(dialog.locator(f"input[value='{each['suffix']}']")).to_be_disabled()
            expect(dialog.locator("label", has_text=each["suffix"])).to_contain_text(f"needs {each['needs']}")
        expect(dialog.locator("input[value='.glb']")).to_be_checked()
        assert errors(watched) == []


def test_the_dialog_says_what_is_in_each_file(look: Look, clip: str, tmp_path: Path) -> None:
    with look(f"/clips/{clip}?keys=7", accept_downloads=True) as watched:
        page = watched.page
        ready(page)
        page.keyboard.press("e")
        dialog, note = page.get_by_role("dialog"), page.locator(".take-note")
        for suffix, says in ((".glb", "Just the keys with curves"), (".bvh", "Every frame, sampled from the curves"),
                             (".keys.json", "The keys with their curves as text"), (".kps", "without any loss")):  # fmt: skip
            dialog.locator(f"input[value='{suffix}']").check()
            expect(note).to_contain_text(says)
        expect(dialog.get_by_label("No point farther off")).to_be_hidden()  # keys are kept as they are
        dialog.get_by_text("Capture", exact=True).click()
        expect(dialog.get_by_label("No point farther off")).to_be_visible()
        expect(note).to_contain_text("Every frame of the capture")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        page.get_by_role("heading", name="In-betweens").click()
        slide(page, "Detail of the capture", 100)
        until_query(page, residual="1")
        page.keyboard.press("e")
        expect(note).to_contain_text("Every frame: 100 % of the captured detail")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        dense = kp.load(take(page, tmp_path, "7 keys", ".glb"))
        assert kp.score(kp.load(take(page, tmp_path, "Capture", ".bvh")), dense).max_mm < 1.0  # as it is seen
        assert errors(watched) == []


def test_methods_side_by_side(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?keys=8") as watched:
        page = watched.page
        ready(page)
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url(f"**/compare/{clip}?keys=8")
        until(page, MEASURED)
        expect(page.locator(".compare-table tbody th")).to_have_text(["salient", "farthest", "uniform"])
        page.get_by_role("button", name="Add a method").click()
        page.get_by_role("menuitem", name="decimate").click()
        until_query(page, methods="salient,farthest,uniform,decimate")
        expect(page.locator(".compare-card canvas")).to_have_count(4)
        page.get_by_role("button", name="Leave farthest out").click()
        slide(page, "Number of keys", 12)
        until_query(page, methods="salient,uniform,decimate", keys="12")
        link = page.get_by_role("link", name="These methods as JSON")
        expect(link).to_have_attribute("href", f"/compare/{clip}.json?methods=salient,uniform,decimate&keys=12")
        said = asked(page, link.get_attribute("href"))
        for row, method in enumerate(said["methods"]):
            assert method["keys"] == 12
            shown = page.locator(".compare-table tbody tr").nth(row)
            score = polished_score(page, clip, method["frames"])
            expect(shown).to_contain_text(in_mm(score["mean_mm"]))
            expect(shown).to_contain_text(in_mm(score["max_mm"]))
            expect(shown).to_have_attribute("aria-busy", "false")
        page.get_by_role("slider", name="Frame").focus()
        page.keyboard.press("Shift+ArrowRight")
        until_query(page, frame="10")
        first = page.locator(".compare-card canvas").first.bounding_box()
        page.mouse.move(first["x"] + 100, first["y"] + 100)
        page.mouse.wheel(0, -200)
        until(page, "new URLSearchParams(location.search).has('camera')")
        address = written(page)
        page.reload()
        until(page, MEASURED)
        until_frame(page, 10)
        assert written(page) == address
        page.get_by_role("link", name="To the clip").click()
        page.wait_for_url(f"**/clips/{clip}")
        assert errors(watched) == []


def test_methods_have_as_many_keys_as_the_curve_says(look: Look, clip: str) -> None:
    with look(f"/compare/{clip}?methods=farthest,nonsense&frame=-1") as watched:
        page = watched.page
        expect(page.locator(".toast")).to_contain_text("there is no method “nonsense”")
        until_query(page, methods="farthest", frame=None)
        said = asked(page, f"/compare/{clip}.json?methods=farthest")
        expect(page.locator(".compare-keys output")).to_have_text(f"{said['keys']} keys")
        expect(page.get_by_role("button", name="Auto")).to_have_attribute("aria-pressed", "true")
        slide(page, "Number of keys", 9)
        until_query(page, keys="9")
        page.keyboard.press("a")
        until_query(page, keys=None)
        expect(page.locator(".compare-keys output")).to_have_text(f"{said['keys']} keys")
        assert errors(watched) == []


def test_searches_start_here(look: Look, clip: str) -> None:
    with look(f"/clips/{clip}?frame=30") as watched:
        page = watched.page
        ready(page)
        for item, wanted in (("More like this clip", {"like": clip}), ("This pose elsewhere", {"pose": f"{clip}:30"})):
            page.get_by_role("button", name="Find").click()
            page.get_by_role("menuitem", name=item).click()
            page.wait_for_url("**/?*")
            until_query(page, **wanted)
            page.go_back()
            ready(page)
        assert errors(watched) == []
