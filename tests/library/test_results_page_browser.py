"""A page of results in real Chromium: no requests, keyboard, screen readers, small screens and print."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.library.records import Clip
from keypose.library.results_page import PageHit, PageQuery, results_page
from keypose.library.search.hits import Hit, MatchDetails
from keypose.library.search.swing_overlap import SwingMatch
from support.chromium import open_page

pytestmark = pytest.mark.browser
EVIL = "<img src=x onerror=alert(1)>\"'&"
KEYS = (0, 10, 20, 30, 40, 50, 60, 79)
_AXE = Path(__file__).resolve().parents[2] / "tools" / "axe.sh"


def _page_hit(rank: int, keys: tuple[int, ...] = KEYS) -> PageHit:
    motion = replace(kp.demo_motion(fps=20)[10 * rank : 10 * rank + 80], name="clip")
    name = EVIL if rank == 3 else f"walk {rank}"
    clip = Clip(f"{rank:064d}", name, ("other",), ("walk", f"tag{rank}"), "takes/x.bvh", "CC0", "", 20.0, 80, 4.0, 24, "s" * 64,
                ".bvh", 9000, "cd" * 32, datetime(2026, 11, 16, tzinfo=UTC))  # fmt: skip
    why = MatchDetails(load_swings=lambda: (SwingMatch("left_thigh", 0.25, 1.0, 1.5, 2.25, 0.9),))
    start, end = 5 * rank, 5 * rank + 30
    hit = Hit(clip, 1 - rank / 10, start, end, start / 20, end / 20, 0.0, 1.5, rank == 1, ("a copy",) * (rank % 2), why)
    return PageHit(clip, hit, keys, kp.strip(motion, keys, size_px=(320, 80), captions=False, background=False))


def _write_page(folder: Path, page_hits: list[PageHit]) -> Path:
    page_query = PageQuery(
        "Clips like walk", "clips.db", page_hits[0].strip, (("tags", "walk"),), "keypose library search walk"
    )
    path = folder / "results.html"
    path.write_text(results_page(page_query, page_hits))
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _write_page(tmp_path_factory.mktemp("results"), [_page_hit(rank) for rank in range(8)])


def test_the_page_makes_no_requests_and_logs_no_errors(browser: Any, file: Path) -> None:
    with open_page(browser, file) as watched:
        assert watched.page.locator(".hit").count() == 8
        assert watched.page.get_by_role("link", name=EVIL, exact=True).count() == 1
        assert watched.page.locator("img").count() == 0
        assert watched.errors == []
        assert watched.requests == [file.resolve().as_uri()]


def test_arrow_keys_move_between_hits(browser: Any, file: Path) -> None:
    with open_page(browser, file) as watched:
        page = watched.page
        name = "document.activeElement.textContent"
        page.locator(".head a").first.focus()
        for key, there in (
            ("ArrowDown", "walk 1"),
            ("ArrowDown", "walk 2"),
            ("ArrowUp", "walk 1"),
            ("ArrowUp", "walk 0"),
            ("ArrowUp", "walk 0"),
        ):
            page.keyboard.press(key)
            assert page.evaluate(name) == there
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # unfolds what is known about the clip
        assert page.locator("#hit-1 details").first.get_attribute("open") is not None
        assert watched.errors == []


def test_typed_words_filter_the_hits(browser: Any, file: Path) -> None:
    with open_page(browser, file) as watched:
        page = watched.page
        box = page.get_by_label("Show only")
        box.fill("WALK tag2")
        assert page.locator(".hit:visible").count() == 1
        assert page.locator(".only output").inner_text() == "1 of 8"
        box.fill("nothing like it")
        assert page.locator(".hit:visible").count() == 0
        box.fill("")
        assert page.locator(".hit:visible").count() == 8
        assert page.locator(".only output").inner_text() == ""


def test_faint_poses_and_dark_strips(browser: Any, file: Path) -> None:
    with open_page(browser, file, color_scheme="dark") as watched:
        page = watched.page
        figures = page.locator("#hit-3 .strip svg > g").last.locator("> g")
        opacity = [figures.nth(k).evaluate("(e) => getComputedStyle(e).opacity") for k in range(8)]
        assert [value == "1" for value in opacity] == [10 <= key < 40 for key in KEYS]
        fill = "(e) => getComputedStyle(e).fill"
        dark = page.locator("#hit-1 .strip path").first.evaluate(fill)
        page.get_by_role("button", name="Light colours").click()
        assert page.locator("#hit-1 .strip path").first.evaluate(fill) != dark


def test_small_screens_do_not_scroll_sideways(browser: Any, file: Path) -> None:
    with open_page(browser, file, viewport={"width": 360, "height": 740}) as watched:
        page = watched.page
        page.locator("details").evaluate_all("(all) => all.forEach((each) => (each.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_without_scripts_all_hits_are_there(browser: Any, file: Path) -> None:
    with open_page(browser, file, java_script_enabled=False) as watched:
        assert watched.page.locator(".hit:visible").count() == 8
        assert not watched.page.get_by_label("Show only").is_visible()


def test_on_paper_hits_are_whole(browser: Any, file: Path) -> None:
    with open_page(browser, file) as watched:
        watched.page.emulate_media(media="print")
        style = "(e) => [getComputedStyle(e).breakInside, getComputedStyle(e).contentVisibility]"
        assert watched.page.locator("#hit-8").evaluate(style) == ["avoid", "visible"]
        assert not watched.page.locator(".only").is_visible()


@pytest.mark.node
@pytest.mark.parametrize(
    "look",
    [{"color_scheme": "light"}, {"color_scheme": "dark", "viewport": {"width": 390, "height": 800}}],
    ids=["light", "dark and narrow"],
)
def test_axe_finds_nothing(browser: Any, tmp_path: Path, look: dict[str, Any]) -> None:
    if shutil.which("npm") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no npm on this machine, which installs axe-core")
    folder = subprocess.run([_AXE], check=True, capture_output=True, text=True).stdout.split()[-1]
    axe = (Path(folder) / "node_modules" / "axe-core" / "axe.min.js").read_text()
    file = _write_page(tmp_path, [_page_hit(rank, (0, 79)) for rank in range(6)])
    with open_page(browser, file, **look) as watched:
        watched.page.locator("details").evaluate_all("(all) => all.forEach((each) => (each.open = true))")
        watched.page.evaluate(axe)
        page_hits = watched.page.evaluate("async () => (await axe.run()).violations")
        assert [(each["id"], each["nodes"][0]["html"][:200]) for each in page_hits] == []
