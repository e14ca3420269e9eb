"""Clips that are no dense capture of one body, in Chromium: markers, no bones, two frames, joints of no body part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import keypose as kp
from keypose.rotations import from_euler, multiply
from support.character_files import character_glb
from support.clip_page import call_api, page_errors, read_keys, set_slider, take_picture, wait_query, wait_ready
from support.flips import turn_over
from support.motions import motion
from support.server_process import ServerInfo, run_server
from support.web_pages import OpenPage, cut, expect, wait_until

pytestmark = pytest.mark.browser

# Counts pixels of the preview that are no shade of grey: those of a figure's left and right side.
COLOURED = """() => {
  const canvas = document.querySelector(".card-preview");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let k = 0; k < data.length; k += 4) {
    const channels = [data[k], data[k + 1], data[k + 2]];
    if (Math.max(...channels) - Math.min(...channels) > 60) count += 1;
  }
  return count;
}"""


# Counts the pixels in the middle of the view that are much darker than its background, as a figure is.
SOLID = """async ([png]) => {
  const image = await createImageBitmap(new Blob([new Uint8Array(png)], { type: "image/png" }));
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  const [width, height] = [image.width >> 2, image.height];
  const { data } = context.getImageData((image.width - width) >> 1, height >> 2, width, height - (height >> 2));
  let count = 0;
  for (let k = 0; k < data.length; k += 4) if (Math.max(data[k], data[k + 1], data[k + 2]) < 170) count += 1;
  return count;
}"""


def _markers() -> kp.Motion:
    """Return the joints of the demo figure as markers without a skeleton."""
    body = kp.demo_motion(fps=30)[:60]
    positions = body.world_positions()
    still = motion([-1] * body.n_joints, np.zeros((body.n_joints, 3)), frames=60, names=body.skeleton.names)
    return replace(still, name="markers", translations=positions, up=body.up, metres_per_unit=0.01)


def _box() -> kp.Motion:
    """Return a motion of joints that coincide in the first frame, as those of an animated box."""
    still = motion([-1, 0, 1], np.zeros((3, 3)), frames=40, name="box", metres_per_unit=1.0)
    translations = still.translations.copy()
    translations[:, 0, 1] = np.linspace(0, 4.0, 40)
    return replace(still, translations=translations, reference_pose=kp.Pose(still.translations[0], still.rotations[0]))


def _with_tail() -> kp.Motion:
    """Return a figure with joints that belong to no body part."""
    body = cut("tail", 20, 110)
    skeleton = body.skeleton
    names = (*skeleton.names, "Tail1", "Tail2")
    parents = [*skeleton.parents, 0, len(skeleton.names)]
    offsets = np.vstack((skeleton.offsets, [[0, 0, -20.0], [0, 0, -20.0]]))
    rig = kp.Skeleton(names, np.array(parents), offsets)
    translations = np.concatenate((body.translations, np.tile(offsets[-2:], (body.n_frames, 1, 1))), axis=1)
    rotations = np.concatenate((body.rotations, np.tile([1.0, 0, 0, 0], (body.n_frames, 2, 1))), axis=1)
    return replace(body, skeleton=rig, translations=translations, rotations=rotations, reference_pose=None)


def _with_spike() -> kp.Motion:
    """Return a walk in which an arm jumps away for one frame."""
    walk = cut("spike", 20, 140)
    rotations, arm = walk.rotations.copy(), walk.skeleton.joint("left_upper_arm")
    rotations[60, arm] = multiply(rotations[60, arm], from_euler(np.array([1.5, 0.4, 0.0]), "XYZ"))
    return replace(walk, rotations=rotations)


@pytest.fixture(scope="module")
def server(pages: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerInfo]:
    """A server of unusual clips."""
    path = tmp_path_factory.mktemp("unusual") / "clips.db"
    with kp.Library(path) as library:
        for each in (_markers(), _box(), _with_tail(), cut("two frames", 20, 22)):
            library.add(each)
        library.add(turn_over(cut("flipped", 20, 140), "LeftArm", (61, 63)))
        library.add(replace(kp.demo_motion(fps=120), name="many frames"))
        library.add(_with_spike())
        library.add(character_glb(cut("knight", 265, 350)), name="knight")
        noted = replace(cut("noted", 20, 50), notes=("3 frames of a joint were filled",))
        library.add(noted, source="https://example.org/takes", licence="CC BY 4.0", note="second take")
    with run_server(path) as process:
        yield process


def _card(page: Any, name: str) -> Any:
    return page.locator(".card", has=page.get_by_role("link", name=name, exact=True))


def _open_clip(page: Any, name: str) -> None:
    _card(page, name).get_by_role("link", name=name, exact=True).click()
    page.wait_for_url("**/clips/*")


def test_preview_shows_markers(open_page: OpenPage) -> None:
    with open_page() as tab:
        page = tab.page
        wait_until(page, "document.querySelectorAll('.card-strip.loaded').length === 9")
        _card(page, "markers").hover()
        page.wait_for_selector(".card-preview")
        wait_until(page, f"({COLOURED})() > 40")
        assert tab.errors == []


def test_figure_without_bones_is_visible_and_has_a_note(open_page: OpenPage) -> None:
    with open_page() as tab:
        page = tab.page
        _open_clip(page, "box")
        wait_until(page, "document.querySelector('.strip')?.getAttribute('aria-busy') === 'false'")
        expect(page.get_by_text("errors cannot be stated in mm")).to_be_visible()
        figures = []
        for key in ("Home", "End"):  # on the ground, and 4 m above it
            page.keyboard.press(key)
            figures.append(page.evaluate(SOLID, [list(take_picture(page))]))
        assert min(figures) > 50, figures
        assert page_errors(tab) == []


def test_clip_of_two_frames_is_not_called_long(open_page: OpenPage) -> None:
    with open_page() as tab:
        page = tab.page
        _open_clip(page, "two frames")
        wait_ready(page)
        method = page.locator(".panel-section", has=page.get_by_role("heading", name="Method", exact=True))
        expect(method).to_contain_text("salient")
        expect(method).not_to_contain_text("Minimises")  # there is nothing to choose between
        expect(page.locator(".panel")).not_to_contain_text("long clip")
        assert page_errors(tab) == []


def test_body_part_is_ignored_beside_joints_of_no_body_part(open_page: OpenPage) -> None:
    with open_page() as tab:
        page = tab.page
        _open_clip(page, "tail")
        wait_ready(page)
        page.get_by_role("heading", name="Body parts").click()
        with page.expect_request("**/ladder") as request:
            set_slider(page, "Left arm", 0)
        assert {"Tail1", "Tail2", "right_arm"} <= set(request.value.post_data_json["joints"])
        assert request.value.response().status == 200
        wait_query(page, weights="left_arm:0")
        expect(page.locator(".ladder-status")).to_be_hidden()
        for each in page.locator(".weights input[type=range]").all():
            each.evaluate(
                "(slider) => { slider.value = 0; slider.dispatchEvent(new Event('input', { bubbles: true })); }"
            )
        expect(page.get_by_text("All body parts are ignored")).to_be_hidden()  # those two joints are left
        expect(page.locator(".ladder-status")).to_be_hidden()
        assert page_errors(tab) == []


def test_info_shows_source_licence_and_notes(open_page: OpenPage) -> None:
    with open_page() as tab:
        page = tab.page
        _open_clip(page, "noted")
        wait_ready(page)
        tab_button = page.get_by_role("tab", name="Info")
        expect(tab_button).to_have_accessible_name("Info , has notes of the reader")
        tab_button.click()
        wait_query(page, panel="info")
        panel = page.get_by_role("tabpanel", name="Info")
        for text in ("https://example.org/takes", "CC BY 4.0", "second take", "3 frames of a joint were filled"):
            expect(panel).to_contain_text(text)
        page.reload()
        expect(panel).to_contain_text("CC BY 4.0")
        details = call_api(page, page.evaluate("`/api${location.pathname}`"))
        assert details["notes"] == ["3 frames of a joint were filled"]
        page.keyboard.press("Escape")
        tab_button.focus()
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("tab", name="Keys")).to_have_attribute("aria-selected", "true")
        assert page_errors(tab) == []


def test_a_flip_of_the_capture_is_no_error_of_the_keys(open_page: OpenPage, server: ServerInfo) -> None:
    with kp.Library(server.library, create=False) as library:
        hashes = {clip.name: clip.hash for clip in library.clips()}
    with open_page(f"/clips/{hashes['flipped']}") as tab:
        page = tab.page
        wait_ready(page)
        score = page.locator(".score")
        expect(score).to_have_attribute("aria-busy", "false")
        flip = score.locator("div", has_text="Flip of the capture at")
        assert float(flip.locator("dd").inner_text().removesuffix(" mm")) > 100
        assert flip.get_by_role("button").inner_text() in ("61", "62")
        outside = score.locator("div", has_text="Worst outside of flips").locator("dd").inner_text()
        assert float(outside.removesuffix(" mm")) <= 17
        expect(score.get_by_text("Within 20 mm")).to_have_count(0)
        assert page_errors(tab) == []


def test_far_keys_offer_a_tolerance_where_the_number_is_unknown(open_page: OpenPage, server: ServerInfo) -> None:
    with kp.Library(server.library, create=False) as library:
        hashes = {clip.name: clip.hash for clip in library.clips()}
    with open_page(f"/clips/{hashes['many frames']}?keys=6") as tab:
        page = tab.page
        wait_ready(page)
        row = page.locator(".score > div", has_text="Within 20 mm")
        expect(row.locator("dd")).to_have_text("fewest keys")
        row.get_by_role("button").click()
        wait_query(page, keys=None, tolerance="20")
        expect(row).to_have_count(0)
        worst = page.locator(".score > div", has_text="Worst joint").locator("dd")
        assert float(worst.inner_text().removesuffix(" mm")) <= 20
        assert page_errors(tab) == []


def test_spike_of_the_capture_is_noted(open_page: OpenPage) -> None:
    with open_page() as tab:
        page = tab.page
        _open_clip(page, "spike")
        wait_ready(page)
        page.get_by_role("tab", name="Info").click()
        note = page.locator(".file-notes li")
        expect(note).to_contain_text("Frame 60: LeftArm jumps by")
        expect(note).to_contain_text("keypose unbake --repair")
        assert page_errors(tab) == []


def test_export_into_the_file_of_a_character(open_page: OpenPage, server: ServerInfo, tmp_path: Path) -> None:
    """It has the bytes that Python writes into the file; the tracks of scale are reduced unless they are to stay."""
    source = tmp_path / "knight.glb"
    source.write_bytes(character_glb(cut("knight", 265, 350)))
    with open_page("/", accept_downloads=True) as tab:
        page = tab.page
        _open_clip(page, "knight")
        wait_ready(page)
        set_slider(page, "Number of keys", 7)
        wait_query(page, keys="7")
        wait_ready(page)
        keyed = kp.unbake(kp.load(source), read_keys(page))
        sizes = []
        for reduce_tracks in (True, False):
            page.locator(".clip-actions").get_by_role("button", name="Export").click()
            dialog = page.get_by_role("dialog")
            dialog.locator("input[value='.bvh']").check()
            expect(dialog.get_by_label("Into the clip’s own file")).to_be_hidden()
            dialog.locator("input[value='.glb']").check()
            box = dialog.get_by_label("Reduce its tracks of scale and morph weights")
            expect(box).to_be_hidden()
            dialog.get_by_label("Into the clip’s own file").check()
            expect(dialog.locator(".export-note")).to_contain_text("1 mesh and 1 track of scale and morph weights")
            box.set_checked(reduce_tracks)
            with page.expect_download() as download:
                dialog.get_by_role("button", name="Download").click()
            assert download.value.suggested_filename == "knight (7 keys, character).glb"
            result, expected = tmp_path / "result.glb", tmp_path / "expected.glb"
            download.value.save_as(result)
            page.wait_for_selector("dialog", state="detached")
            kp.save(keyed, expected, into=source, reduce_tracks=reduce_tracks)
            assert result.read_bytes() == expected.read_bytes()
            sizes.append(result.stat().st_size)
        assert sizes[0] < sizes[1] < source.stat().st_size
        assert page_errors(tab) == []
