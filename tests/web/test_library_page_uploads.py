"""Files come into the library: by button, dropped, as a folder; with progress, errors, cancel and retry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from web_served import Look, cut, until

import keypose as kp

pytestmark = pytest.mark.browser


def _file(folder: Path, name: str, first: int, end: int) -> Path:
    folder.mkdir(exist_ok=True)
    kp.save(cut(name, first, end), folder / f"{name}.bvh")
    return folder / f"{name}.bvh"


def _drop(page: Any, *paths: Path) -> None:
    """Drops files or folders from outside on the page, as a hand would."""
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 600, "y": 400, "data": data})
    page.wait_for_selector(".drop-veil:visible")
    session.send("Input.dispatchDragEvent", {"type": "drop", "x": 600, "y": 400, "data": data})
    page.wait_for_selector(".drop-veil", state="hidden")


def test_files_by_button_come_with_their_strips(look: Look, tmp_path: Path) -> None:
    files = [_file(tmp_path, f"button {k}", 40 * k, 40 * k + 60) for k in range(3)]
    with look() as watched:
        page = watched.page
        page.wait_for_selector(".card-name")
        page.get_by_role("button", name="Add clips").click()
        with page.expect_file_chooser() as chooser:
            page.get_by_role("menuitem", name="Files…").click()
        chooser.value.set_files([str(file) for file in files])
        page.wait_for_selector(".uploads-summary:text('3 clips added')")
        for k in range(3):
            page.wait_for_selector(f".card:has(.card-name:text-is('button {k}')) .card-strip.there")
        page.get_by_role("button", name="Fold the list of uploads").click()
        assert not page.locator(".uploads-list").is_visible()
        page.get_by_role("button", name="Close the list of uploads").click()
        assert not page.locator(".uploads").is_visible()
        assert watched.complaints == []


def test_files_and_folders_can_be_dropped_anywhere(look: Look, tmp_path: Path) -> None:
    folder = tmp_path / "takes"
    _file(folder, "in folder", 10, 70)
    _file(folder / "deeper", "deeper down", 60, 120)
    (folder / "notes.txt").write_text("not motion")
    (folder / ".hidden.bvh").write_text("not motion either")
    alone = _file(tmp_path, "dropped", 100, 160)
    with look() as watched:
        page = watched.page
        page.wait_for_selector(".card-name")
        _drop(page, folder, alone)
        page.wait_for_selector(".toast:has-text('2 files left out')")
        page.wait_for_selector(".uploads-summary:text('3 clips added')")
        for name in ("in folder", "deeper down", "dropped"):
            page.wait_for_selector(f".card-name:text-is('{name}')")
        assert watched.complaints == []


def test_the_same_file_again_is_known(look: Look, tmp_path: Path) -> None:
    file = _file(tmp_path, "twice", 5, 65)
    with look() as watched:
        page = watched.page
        page.wait_for_selector(".card-name")
        for says in ("Added: 2.0 s", "Was in the library already"):
            page.set_input_files(".pick-files", str(file))
            page.wait_for_selector(f".upload-says:has-text('{says}')")
        assert watched.complaints == []


def test_an_error_says_line_and_remedy_and_can_be_tried_again(look: Look, tmp_path: Path) -> None:
    lines = _file(tmp_path, "whole", 15, 75).read_text().splitlines()
    at = next(number for number, line in enumerate(lines, 1) if "CHANNELS 3" in line)
    broken = [*lines[: at - 1], lines[at - 1].replace("CHANNELS 3", "CHANNELS 5"), *lines[at:]]
    file = tmp_path / "broken.bvh"
    file.write_text("\n".join(broken))
    with look() as watched:
        page = watched.page
        page.wait_for_selector(".card-name")
        page.set_input_files(".pick-files", str(file))
        problem = page.locator(".upload[data-stage=failed]")
        problem.wait_for()
        assert f"Line {at}: " in problem.inner_text()
        assert problem.locator(".upload-remedy").inner_text() != ""
        page.get_by_role("button", name="Try broken.bvh again").click()
        page.wait_for_selector(".upload[data-stage=failed]")
        assert page.locator(".uploads-summary").inner_text() == "0 clips added, 1 failed"
        assert all("Failed to load resource" in complaint for complaint in watched.complaints)


def test_uploads_go_on_side_by_side_and_can_be_cancelled(look: Look, tmp_path: Path) -> None:
    files = [_file(tmp_path, f"side {k}", 30 * k + 3, 30 * k + 63) for k in range(6)]
    with look() as watched:
        page = watched.page
        page.wait_for_selector(".card-name")
        held: list[Any] = []
        holding = True
        page.route("**/api/uploads?*", lambda route: held.append(route) if holding else route.continue_())
        page.set_input_files(".pick-files", [str(file) for file in files])
        until(page, "document.querySelectorAll('.upload[data-stage=waiting]').length === 2")
        assert page.locator(".uploads-summary").inner_text() == "Adding 0 of 6"
        page.get_by_role("button", name="Cancel side 0.bvh").click()
        page.wait_for_selector(".upload[data-stage=cancelled]")
        until(page, "document.querySelectorAll('.upload[data-stage=waiting]').length === 1")
        holding = False
        for route in held[1:]:
            route.continue_()
        page.wait_for_selector(".uploads-summary:text('5 clips added')")
        page.get_by_role("button", name="Try side 0.bvh again").click()
        page.wait_for_selector(".uploads-summary:text('6 clips added')")
        page.wait_for_selector(".card-name:text-is('side 0')")
        assert [each for each in watched.complaints if "Failed to load" not in each] == []
