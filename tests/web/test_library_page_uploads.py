"""Uploads on the library page: by button, by drag and drop, folders; progress, errors, cancel and retry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from support.acclaim_pair import ASF, amc
from support.gltf_pair import gltf
from support.web_pages import OpenPage, ServerInfo, cut, expect, serve_copy

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(pages: None, library_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerInfo]:
    """A separate server: these tests change the library."""
    with serve_copy(library_folder, tmp_path_factory.mktemp("served")) as process:
        yield process


def _write_bvh(folder: Path, name: str, first: int, end: int) -> Path:
    folder.mkdir(exist_ok=True)
    kp.save(cut(name, first, end), folder / f"{name}.bvh")
    return folder / f"{name}.bvh"


def _drop_files(page: Any, *paths: Path) -> None:
    """Drop files or folders on the page."""
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}

    def dispatch(kind: str) -> None:
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 600, "y": 400, "data": data})

    dispatch("dragEnter")
    page.wait_for_selector(".drop-overlay:visible")
    for kind in ("dragOver", "dragOver", "drop"):  # the overlay now covers the target of the first one
        dispatch(kind)


def test_files_are_added_by_button(open_page: OpenPage, tmp_path: Path) -> None:
    files = [_write_bvh(tmp_path, f"button {k}", 40 * k, 40 * k + 60) for k in range(3)]
    with open_page() as tab:
        page = tab.page
        page.wait_for_selector(".card-name")
        page.get_by_role("button", name="Add clips").click()
        with page.expect_file_chooser() as chooser:
            page.get_by_role("menuitem", name="Add files…").click()
        chooser.value.set_files([str(file) for file in files])
        page.wait_for_selector(".uploads-summary:text('3 clips added')")
        for k in range(3):
            page.wait_for_selector(f".card:has(.card-name:text-is('button {k}')) .card-strip.loaded")
        page.get_by_role("button", name="Collapse uploads").click()
        expect(page.locator(".uploads-list")).to_be_hidden()
        page.get_by_role("button", name="Close uploads").click()
        expect(page.locator(".uploads")).to_be_hidden()
        assert tab.errors == []


def test_files_and_folders_can_be_dropped_anywhere(open_page: OpenPage, tmp_path: Path) -> None:
    folder = tmp_path / "takes"
    _write_bvh(folder, "in folder", 10, 70)
    _write_bvh(folder / "deeper", "deeper down", 60, 120)
    (folder / "notes.txt").write_text("not motion")
    (folder / ".hidden.bvh").write_text("not motion either")
    alone = _write_bvh(tmp_path, "dropped", 100, 160)
    with open_page() as tab:
        page = tab.page
        page.wait_for_selector(".card-name")
        _drop_files(page, folder, alone)
        page.wait_for_selector(".toast:has-text('2 files skipped')")  # first: it does not stay
        expect(page.locator(".drop-overlay")).to_be_hidden()
        page.wait_for_selector(".uploads-summary:text('3 clips added')")
        for name in ("in folder", "deeper down", "dropped"):
            page.wait_for_selector(f".card-name:text-is('{name}')")
        assert tab.errors == []


def test_duplicate_file_is_recognised(open_page: OpenPage, tmp_path: Path) -> None:
    file = _write_bvh(tmp_path, "twice", 5, 65)
    with open_page() as tab:
        page = tab.page
        page.wait_for_selector(".card-name")
        for status in ("Added (2.0 s)", "Already in the library"):
            page.set_input_files(".pick-files", str(file))
            page.wait_for_selector(f".upload-status:has-text('{status}')")
        assert tab.errors == []


def test_failed_upload_shows_line_and_hint_and_can_be_retried(open_page: OpenPage, tmp_path: Path) -> None:
    lines = _write_bvh(tmp_path, "whole", 15, 75).read_text().splitlines()
    at = next(number for number, line in enumerate(lines, 1) if "CHANNELS 3" in line)
    broken = [*lines[: at - 1], lines[at - 1].replace("CHANNELS 3", "CHANNELS 5"), *lines[at:]]
    file = tmp_path / "broken.bvh"
    file.write_text("\n".join(broken))
    with open_page() as tab:
        page = tab.page
        page.wait_for_selector(".card-name")
        page.set_input_files(".pick-files", str(file))
        problem = page.locator(".upload[data-stage=failed]")
        expect(problem).to_contain_text(f"Line {at}: ")
        expect(problem.locator(".upload-hint")).not_to_be_empty()
        with page.expect_request("**/api/uploads?*"):
            page.get_by_role("button", name="Try broken.bvh again").click()
        problem.wait_for()
        expect(page.locator(".uploads-summary")).to_have_text("0 clips added, 1 failed")
        assert all("Failed to load resource" in complaint for complaint in tab.errors)


def test_notes_of_the_reader_appear(open_page: OpenPage, tmp_path: Path) -> None:
    file = _write_bvh(tmp_path, "cut short", 25, 85)
    file.write_text(file.read_text().rstrip()[:-40])
    with open_page() as tab:
        page = tab.page
        page.wait_for_selector(".card-name")
        page.set_input_files(".pick-files", str(file))
        upload = page.locator(".upload[data-stage=done]")
        expect(upload.locator(".upload-status")).to_contain_text("Added (2.0 s)")
        expect(upload.locator(".upload-note")).to_contain_text("The last row has")
        expect(upload.locator(".upload-note")).to_contain_text("and is left out.")
        expect(page.locator(".uploads-summary")).to_have_text("1 clip added, 1 with a note")
        assert tab.errors == []


def _write_pairs(folder: Path) -> list[Path]:
    """Write motions and skeletons of two subjects, and two glTF scenes with their buffers."""
    folder.mkdir(exist_ok=True)
    for subject, takes in (("07", (61, 62)), ("08", (63,))):
        (folder / f"{subject}.asf").write_bytes(ASF)
        for frames in takes:
            (folder / f"{subject}_{frames}.amc").write_bytes(amc(frames))
    for name, first, buffers in (("jump", 33, ("numbers.bin",)), ("turn", 77, ("of the turn.bin", "more.bin"))):
        data, contents = gltf(cut(name, first, first + 60), *(each.replace(" ", "%20") for each in buffers))
        (folder / f"{name}.gltf").write_bytes(data)
        for buffer, content in zip(buffers, contents, strict=True):
            (folder / buffer).write_bytes(content)
    return sorted(folder.iterdir())


@pytest.mark.parametrize("way", ["button", "dropped", "folder"])
def test_companions_are_uploaded_together(open_page: OpenPage, tmp_path: Path, way: str) -> None:
    files = _write_pairs(tmp_path / "takes")
    with open_page() as tab:
        page = tab.page
        page.wait_for_selector(".card-name")
        if way == "button":
            page.set_input_files(".pick-files", [str(file) for file in files])
        elif way == "folder":
            page.set_input_files(".pick-folder", str(tmp_path / "takes"))
        else:
            _drop_files(page, *files)
        either = re.compile("^(5 clips added|0 clips added, 5 already in the library)$")  # by an earlier way
        expect(page.locator(".uploads-summary")).to_have_text(either)
        expect(page.locator(".upload-name")).to_have_count(5)
        for name in ("07_61", "07_62", "08_63", "jump", "turn"):
            page.wait_for_selector(f".card:has(.card-name:text-is('{name}')) .card-strip.loaded")
        if way == "button":  # later they are known
            for file, companions in (("07_61.amc", "07.asf"), ("turn.gltf", "more.bin, of the turn.bin")):
                status = page.locator(".upload", has_text=file).locator(".upload-status")
                expect(status).to_contain_text(f"s), with {companions}")
        assert tab.errors == []


def test_dropped_folder_keeps_companions_together(open_page: OpenPage, tmp_path: Path) -> None:
    folder = tmp_path / "takes"
    for name, first in (("one", 111), ("two", 142)):
        data, (content,) = gltf(cut(name, first, first + 60), "scene.bin")  # the same name in each
        (folder / name).mkdir(parents=True)
        (folder / name / f"{name}.gltf").write_bytes(data)
        (folder / name / "scene.bin").write_bytes(content)
    (folder / "nobody's.bin").write_bytes(b"of no clip")
    with open_page() as tab:
        page = tab.page
        page.wait_for_selector(".card-name")
        _drop_files(page, folder)
        page.wait_for_selector(".toast:has-text('1 file skipped')")
        expect(page.locator(".uploads-summary")).to_have_text("2 clips added")
        for name in ("one", "two"):
            page.wait_for_selector(f".card-name:text-is('{name}')")
        assert tab.errors == []


def test_missing_companion_is_reported(open_page: OpenPage, tmp_path: Path) -> None:
    (tmp_path / "07_99.amc").write_bytes(amc(99))
    (tmp_path / "09.asf").write_bytes(ASF)
    data, (content,) = gltf(cut("half", 90, 150), "half.bin")
    (tmp_path / "half.gltf").write_bytes(data)
    (tmp_path / "other.bin").write_bytes(content)
    acclaim, scene = "Select the .amc and its .asf together", "Select the .gltf and its .bin together"
    with open_page() as tab:
        page = tab.page
        page.wait_for_selector(".card-name")
        page.set_input_files(".pick-files", [str(path) for path in sorted(tmp_path.iterdir()) if path.is_file()])
        expect(page.locator(".uploads-summary")).to_have_text("0 clips added, 4 failed")
        for name, message, hint in (
            ("07_99.amc", "The motion has no skeleton", acclaim),
            ("09.asf", "The file holds a skeleton without motion", acclaim),
            ("half.gltf", "'half.bin': no such file", scene),
            ("other.bin", "The file holds data of a .gltf file", scene),
        ):
            problem = page.locator(".upload[data-stage=failed]", has_text=name).first
            expect(problem.locator(".upload-error")).to_contain_text(message)
            expect(problem.locator(".upload-hint")).to_contain_text(hint)
        assert all("Failed to load resource" in complaint for complaint in tab.errors)


def test_uploads_run_in_parallel_and_can_be_cancelled(open_page: OpenPage, tmp_path: Path) -> None:
    files = [_write_bvh(tmp_path, f"side {k}", 30 * k + 3, 30 * k + 63) for k in range(6)]
    with open_page(will_route=True) as tab:
        page = tab.page
        page.wait_for_selector(".card-name")
        routes: list[Any] = []
        is_paused = True
        page.route("**/api/uploads?*", lambda route: routes.append(route) if is_paused else route.continue_())
        page.set_input_files(".pick-files", [str(file) for file in files])
        waiting = page.locator(".upload[data-stage=waiting]")
        expect(waiting).to_have_count(2)
        expect(page.locator(".uploads-summary")).to_have_text("Adding 0 of 6")
        page.get_by_role("button", name="Cancel side 0.bvh").click()
        page.wait_for_selector(".upload[data-stage=cancelled]")
        expect(waiting).to_have_count(1)
        is_paused = False
        for route in routes:
            if not route.request.url.endswith("side+0.bvh"):  # they come in any order
                route.continue_()
        page.wait_for_selector(".uploads-summary:text('5 clips added')")
        page.get_by_role("button", name="Try side 0.bvh again").click()
        page.wait_for_selector(".uploads-summary:text('6 clips added')")
        page.wait_for_selector(".card-name:text-is('side 0')")
        assert [each for each in tab.errors if "Failed to load" not in each] == []
