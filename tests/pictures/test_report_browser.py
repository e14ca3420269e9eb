"""The report in Chromium: no console errors, no requests, and the controls of the player."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import keypose as kp
from keypose.pictures.report import report
from support.chromium import WatchedPage, open_page

pytestmark = pytest.mark.browser
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
STILL = {"reduced_motion": "reduce", "viewport": {"width": 1100, "height": 1000}}
_AXE = Path(__file__).resolve().parents[2] / "tools" / "axe.sh"


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return replace(kp.demo_motion(fps=120.0)[300:541], first_frame=0)


@pytest.fixture(scope="module")
def keyed(motion: kp.Motion) -> kp.KeyedMotion:
    return kp.unbake(motion, keys=9)


@pytest.fixture(scope="module")
def file(motion: kp.Motion, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(motion, tmp_path_factory.mktemp("report") / "r.html", keys=9)


@pytest.fixture
def still(browser: Any, file: Path) -> Iterator[Player]:
    """Open the page with reduced motion; no errors and requests are allowed."""
    with open_page(browser, file, **STILL) as watched:
        player = Player(watched)
        player.stage.scroll_into_view_if_needed()
        yield player
        assert watched.errors == []
        assert watched.requests == [file.resolve().as_uri()]


class Player:
    def __init__(self, watched: WatchedPage, index: int = 0) -> None:
        self.page = watched.page
        self.root = watched.page.locator(".player").nth(index)
        self.stage = self.part("stage")
        handle = self.part("status").element_handle()
        self.page.wait_for_function("(status) => status.textContent !== ''", arg=handle)  # it has drawn

    def part(self, name: str) -> Any:
        return self.root.locator(f'[data-part="{name}"]')

    @property
    def frame(self) -> int:
        return int(self.part("scrub").input_value())

    @property
    def status_text(self) -> str:
        return self.part("status").inner_text()

    @property
    def is_playing(self) -> bool:
        return self.part("play").inner_text() == "Pause"

    def pixels(self) -> str:
        return self.root.locator("canvas").evaluate("(canvas) => canvas.toDataURL()")

    def figure_share(self, left: float, right: float) -> float:
        """Return the share of figure pixels in a stripe of the canvas; paper, floor and shadow are grey."""
        return self.root.locator("canvas").evaluate(
            """(canvas, [left, right]) => {
              const [from, to] = [left, right].map((part) => Math.round(part * canvas.width));
              const copy = new OffscreenCanvas(to - from, canvas.height).getContext("2d", { willReadFrequently: true });
              copy.drawImage(canvas, -from, 0);
              const data = copy.getImageData(0, 0, to - from, canvas.height).data;
              let some = 0;
              for (let k = 0; k < data.length; k += 4) {
                const [r, g, b] = data.subarray(k, k + 3);
                if (Math.max(r, g, b) - Math.min(r, g, b) > 40) some++;
              }
              return (4 * some) / data.length;
            }""",
            [left, right],
        )

    def wait_for_redraws(self, count: int) -> None:
        """Wait until the browser has drawn ``count`` frames."""
        self.page.evaluate(
            """(many) => new Promise((done) => {
              const next = () => (many-- > 0 ? requestAnimationFrame(next) : done());
              next();
            })""",
            count,
        )

    def wait_for_frame(self, min_frame: int) -> None:
        self.page.wait_for_function("([scrub, least]) => Number(scrub.value) >= least",
                                    arg=[self.part("scrub").element_handle(), min_frame])  # fmt: skip


def test_first_pose_is_drawn_before_playback(still: Player):
    assert not still.is_playing
    assert still.frame == 0
    assert "frame 0 · 0.00 s · key · off by 0.0 mm on average" in still.status_text
    assert still.figure_share(0.0, 0.5) > 0.01
    assert still.figure_share(0.5, 1.0) > 0.01


def test_it_plays_pauses_and_goes_round(still: Player, motion: kp.Motion):
    first = still.pixels()
    still.part("play").click()
    still.wait_for_frame(20)
    assert still.is_playing
    assert still.pixels() != first
    still.part("play").click()
    assert not still.is_playing
    frame = still.frame
    still.wait_for_redraws(5)
    assert still.frame == frame
    still.part("scrub").fill(str(motion.n_frames - 2))
    still.part("play").click()
    still.page.wait_for_function("(scrub) => Number(scrub.value) < 100", arg=still.part("scrub").element_handle())
    assert still.is_playing  # it goes round
    still.part("loop").uncheck()
    still.part("speed").select_option("2")
    still.wait_for_frame(motion.n_frames - 1)
    assert not still.is_playing  # and now it ends


def test_autoplay_without_reduced_motion(browser: Any, file: Path):
    with open_page(browser, file, viewport={"width": 1100, "height": 1000}, reduced_motion="no-preference") as watched:
        player = Player(watched)
        player.stage.scroll_into_view_if_needed()
        player.wait_for_frame(3)
        assert player.is_playing
        watched.page.evaluate("window.scrollTo(0, document.body.scrollHeight)")  # out of sight it rests
        player.wait_for_redraws(5)  # until it has noticed
        frame = player.frame
        player.wait_for_redraws(10)
        assert player.frame == frame
        assert watched.errors == []


def test_frames_and_keys_with_the_keyboard(still: Player, motion: kp.Motion, keyed: kp.KeyedMotion):
    press = still.page.keyboard.press
    still.stage.focus()
    keys, last = keyed.keys.tolist(), motion.n_frames - 1
    press("n")
    assert still.frame == keys[1]
    assert " · key · off by 0.0 mm" in still.status_text
    press("n")
    press("p")
    assert still.frame == keys[1]
    press(".")
    assert still.frame == keys[1] + 1
    press(",")
    press(",")
    assert still.frame == keys[1] - 1
    press("End")
    assert still.frame == last
    press("Home")
    assert still.frame == 0
    press("Space")
    assert still.is_playing
    press("Space")
    assert not still.is_playing
    press("p")
    assert still.frame in (0, *keys)
    still.part("scrub").focus()
    frame = still.frame
    press("ArrowRight")
    assert still.frame == frame + 1
    value = still.part("scrub").get_attribute("aria-valuetext")
    assert re.fullmatch(rf"frame {frame + 1}, [\d.]+ s(, key)?", value)


def test_the_view_turns_with_arrows_mouse_and_wheel(still: Player):
    images = [still.pixels()]
    still.stage.focus()
    for key in ("ArrowLeft", "ArrowUp", "+"):
        still.page.keyboard.press(key)
        images.append(still.pixels())
    assert len(set(images)) == 4
    still.page.keyboard.press("0")
    assert still.pixels() == images[0]
    box = still.stage.bounding_box()
    still.page.mouse.move(box["x"] + 200, box["y"] + 200)
    still.page.mouse.down()
    still.page.mouse.move(box["x"] + 260, box["y"] + 220)
    still.page.mouse.up()
    assert still.pixels() not in images
    still.part("reset").click()
    assert still.pixels() == images[0]
    still.stage.focus()
    box = still.stage.bounding_box()
    still.page.mouse.move(box["x"] + 200, box["y"] + 200)
    still.page.mouse.wheel(0, -300)
    still.page.wait_for_function("([canvas, before]) => canvas.toDataURL() !== before",
                                 arg=[still.root.locator("canvas").element_handle(), images[0]])  # fmt: skip


def test_the_wheel_scrolls_the_page_until_the_view_is_chosen(still: Player):
    before = still.pixels()
    box = still.stage.bounding_box()
    still.page.mouse.move(box["x"] + 200, box["y"] + 100)
    at = still.page.evaluate("window.scrollY")
    still.page.mouse.wheel(0, 120)
    still.page.wait_for_function("(at) => window.scrollY > at", arg=at)
    assert still.pixels() == before


def test_overlay_uses_one_view(still: Player):
    still.part("view").select_option("over")
    assert still.root.get_by_text("unbaked, over the original in grey").is_visible()
    assert still.figure_share(0.35, 0.65) > 2 * still.figure_share(0.0, 0.3)
    still.part("view").select_option("side")
    assert still.root.get_by_text("original", exact=True).is_visible()
    assert still.figure_share(0.0, 0.5) == pytest.approx(still.figure_share(0.5, 1.0), rel=0.1)


def test_without_following_the_figure_moves_through_the_view(still: Player, motion: kp.Motion):
    still.part("follow").uncheck()
    first = still.pixels()
    still.part("scrub").fill(str(motion.n_frames - 1))
    assert still.pixels() != first


def test_key_marks_align_with_the_slider(still: Player, motion: kp.Motion, keyed: kp.KeyedMotion):
    marks, scrub = still.root.locator("svg.marks").bounding_box(), still.part("scrub").bounding_box()
    assert marks["x"] - scrub["x"] == pytest.approx(8, abs=0.5)  # half of the thumb
    assert marks["width"] == pytest.approx(scrub["width"] - 16, abs=0.5)
    path = still.root.locator("svg.marks path").get_attribute("d")
    positions = [float(x) for x in re.findall(r"M([\d.]+) 0", path)]
    assert positions == pytest.approx((1000 * keyed.keys / (motion.n_frames - 1)).tolist(), abs=0.06)
    assert [int(y) == 10 for y in re.findall(r"V(\d+)", path)] == keyed.extremes.tolist()


def test_dark_colours_reach_the_canvas(still: Player):
    light = still.pixels()
    still.page.get_by_role("button", name="Dark colours").click()
    assert still.pixels() != light
    still.page.get_by_role("button", name="Light colours").click()
    assert still.pixels() == light


def test_the_canvas_is_as_fine_as_the_screen_and_follows_the_window(browser: Any, file: Path):
    with open_page(browser, file, device_scale_factor=2, **STILL) as watched:
        player = Player(watched)
        player.stage.scroll_into_view_if_needed()
        for width in (1100, 390):
            watched.page.set_viewport_size({"width": width, "height": 800})
            watched.page.wait_for_function(
                "(canvas) => Math.abs(canvas.width - 2 * canvas.clientWidth) <= 4",
                arg=player.root.locator("canvas").element_handle(),
            )
            assert watched.page.evaluate("document.documentElement.scrollWidth") == width
            assert player.figure_share(0.0, 1.0) > 0.005
        assert watched.errors == []


def test_it_prints_in_light_colours_with_its_pictures(browser: Any, file: Path):
    with open_page(browser, file, **STILL) as watched:
        on_paper = Player(watched).pixels()
    with open_page(browser, file, color_scheme="dark", **STILL) as watched:
        player = Player(watched)
        dark = player.pixels()
        watched.page.evaluate(
            """() => window.addEventListener("beforeprint", () => {
              window.printed = document.querySelector(".player canvas").toDataURL();
            })"""
        )
        pdf = watched.page.pdf()
        assert watched.page.evaluate("window.printed") == on_paper != dark
        assert player.pixels() == dark  # and is as it was
        assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 12
        watched.page.emulate_media(media="print")
        assert not player.part("play").is_visible()
        assert player.stage.is_visible()
        assert (
            watched.page.locator("figure svg").evaluate_all("(all) => all.map((svg) => svg.clientWidth > 300)")
            == [True] * 4
        )
        assert watched.errors == []


def test_on_paper_a_table_is_not_torn_after_one_row(browser: Any, file: Path):
    with open_page(browser, file, **STILL) as watched:
        watched.page.emulate_media(media="print")
        breaks = watched.page.locator("#clip-1-keys tbody tr").evaluate_all(
            "(rows) => rows.map((row) => [getComputedStyle(row).breakBefore, getComputedStyle(row).breakAfter])"
        )
        assert [after for _, after in breaks[:3]] == ["avoid"] * 3
        assert [before for before, _ in breaks[-3:]] == ["avoid"] * 3
        assert breaks[4] == ["auto", "auto"]


def test_on_paper_the_times_below_poses_can_be_read(browser: Any, motion: kp.Motion, tmp_path: Path):
    twelve = report(motion, tmp_path / "r.html", keys=12)
    with open_page(browser, twelve, reduced_motion="reduce", viewport={"width": 688, "height": 1000}) as watched:  # A4
        watched.page.emulate_media(media="print")
        tall = watched.page.locator("#clip-1-strip-picture text").evaluate_all(
            "(all) => all.map((text) => parseFloat(text.getAttribute('font-size')) * text.getScreenCTM().a)"
        )
        assert len(tall) == 24
        assert min(tall) * 0.75 >= 5.9  # points


def test_right_side_is_marked_by_more_than_colour(still: Player):
    """Stripes along solid limbs, bars across markers, dashes where a stripe would be too fine."""
    strokes = still.page.evaluate(
        """() => {
          const look = { light: [0, 0], lit: 0.5, stripe: 0.4, depth: 1, dashed: false, dashes: 2 };
          const paint = { dark: Array(3).fill(Array(6).fill("black")), lit: Array(3).fill(Array(6).fill("black")),
            outline: "black", stripe: "white" };
          const marks = (points, radius, more) => {
            const ctx = new OffscreenCanvas(40, 40).getContext("2d");
            const found = [];
            const stroke = ctx.stroke.bind(ctx);
            ctx.stroke = () => {
              if (ctx.strokeStyle === "#ffffff") found.push([ctx.lineWidth, ctx.getLineDash().length]);
              stroke();
            };
            const parts = [{ points, radii: points.map(() => radius), side: 2, bias: 0, striped: true }];
            const project = (x, y, z) => [x, y, 1, z];
            keyposeScene.figure(ctx, project, parts, [10, 10, 0, 30, 30, 0], { ...look, ...more }, paint);
            return [...found[0], ctx.getImageData(10, 10, 1, 1).data[0] > 200];
          };
          return [marks([0, 1], 5, {}), marks([0], 5, {}), marks([0, 1], 1, {}), marks([0, 1], 5, { dashed: true })];
        }"""
    )
    assert strokes == [[2, 0, True], [2, 0, True], [2, 2, True], [10, 2, True]]


def test_multiple_players_are_independent(browser: Any, motion: kp.Motion, tmp_path: Path):
    clips = [replace(motion[:60], name="one"), replace(motion[60:130], name="two")]
    with open_page(browser, report(clips, tmp_path / "r.html", keys=4), **STILL) as watched:
        first, second = Player(watched, 0), Player(watched, 1)
        second.stage.scroll_into_view_if_needed()
        second.stage.focus()
        watched.page.keyboard.press("n")
        assert second.frame == kp.unbake(clips[1], keys=4).keys[1]
        assert first.frame == 0
        assert watched.errors == []


def test_names_stay_text(browser: Any, motion: kp.Motion, tmp_path: Path):
    names = tuple(f"{EVIL}{n}" for n in range(motion.n_joints))
    evil = replace(motion[:30], name=EVIL, notes=(EVIL,), skeleton=replace(motion.skeleton, names=names))
    with open_page(browser, report(evil, tmp_path / "r.html", keys=3), **STILL) as watched:
        player = Player(watched)
        player.stage.scroll_into_view_if_needed()
        player.part("scrub").fill("7")
        assert f"({EVIL}" in player.status_text
        assert watched.page.title() == EVIL
        assert watched.page.locator("img").count() == 0
        assert watched.errors == []
        assert len(watched.requests) == 1


def test_page_without_javascript(browser: Any, file: Path):
    with open_page(browser, file, java_script_enabled=False) as watched:
        assert watched.page.locator("noscript p").is_visible()
        assert not watched.page.locator(".stage").is_visible()
        assert watched.page.locator("#clip-1-strip-picture svg").is_visible()
        assert not watched.page.locator("button.theme").is_visible()


@pytest.mark.node
@pytest.mark.parametrize(
    "look",
    [{"color_scheme": "light"}, {"color_scheme": "dark", "viewport": {"width": 390, "height": 800}}],
    ids=["light", "dark and narrow"],
)
def test_axe_reports_no_violations(browser: Any, file: Path, look: dict[str, Any]):
    if shutil.which("npm") is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("no npm on this machine, which installs axe-core")
    folder = subprocess.run([_AXE], check=True, capture_output=True, text=True).stdout.split()[-1]
    axe = (Path(folder) / "node_modules" / "axe-core" / "axe.min.js").read_text()
    with open_page(browser, file, **(STILL | look)) as watched:
        watched.page.locator("details").evaluate_all("(all) => all.forEach((each) => (each.open = true))")
        watched.page.evaluate(axe)
        violations = watched.page.evaluate("async () => (await axe.run()).violations")
        assert [(each["id"], each["nodes"][0]["html"][:200]) for each in violations] == []
