"""The timeline of swings: bars, shades, rows and legend."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import OptionError, UnknownJoint
from keypose.pictures.chart.axes import frame_scale
from keypose.pictures.svg import find_theme
from keypose.pictures.timeline import ANGLES, MAX_DEFAULT_ROWS, draw_bars, find_shade, group_actions, timeline
from keypose.swings import KeyedSpan, Rest, Swing, Swings, Track
from keypose.swings.timeline import Bar, Row
from support.errors import Pattern, raises
from support.svg_content import assert_texts_fit, level_strokes, parse_svg, paths, text_boxes

MOTION = kp.demo_motion(fps=60)[:600]
SWINGS = kp.swings(MOTION)
ORDER = ("head", "spine", "left_arm", "right_arm", "left_leg", "right_leg")
STILL = np.array((1.0, 0.0, 0.0, 0.0))


def by_hand(names: tuple[str, ...], tracks: list[Track], n_frames: int = 100) -> Swings:
    skeleton = kp.Skeleton(names, np.arange(-1, len(names) - 1), np.tile((0.0, 1.0, 0.0), (len(names), 1)))
    return Swings("by hand", skeleton, 25.0, n_frames, tuple(tracks), np.zeros((len(names), 3)))


def bars_of(svg: str) -> dict[str, list[tuple[float, float, float]]]:
    """Return x, y and width of all bars, by shade and kind."""
    bars = {}
    for path in parse_svg(svg).iter():
        if path.get("data-bars"):
            bars[path.get("data-bars")] = level_strokes(path)
    return bars


def row_of(svg: str, name: str) -> float:
    """Return the y of a joint's row, by its name."""
    text = next(text for text in text_boxes(svg) if text.text == name)
    return (text.top + text.bottom) / 2


def test_every_bar_is_at_its_time_in_its_row_and_shade() -> None:
    axis = np.array((1.0, 0.0, 0.0))
    first = Track.build(
        "Hips", STILL, [Swing("Hips", 10, 30, STILL, axis, np.deg2rad(50)), Swing("Hips", 31, 60, STILL, axis, 0.05)]
    )
    second = Track.build("Chest", STILL, [Swing("Chest", 0, 99, STILL, axis, np.deg2rad(175))])
    third = Track.build("Tail", STILL, [], [KeyedSpan([0, 50], np.tile(STILL, (2, 1)))], [Rest("Tail", 60, 99, STILL)])
    picture = timeline(by_hand(("Hips", "Chest", "Tail"), [first, second, third]))
    bars = bars_of(picture.svg)
    assert sorted(bars) == ["heat0", "heat5", "heat8", "keys", "rest"]
    ((left, _, full_width),) = bars["heat8"]  # frames 0 to 99: the whole width
    for kind, start, end, joint in (
        ("heat5", 10, 30, "Hips"),
        ("heat0", 31, 60, "Hips"),
        ("keys", 0, 50, "Tail"),
        ("rest", 60, 99, "Tail"),
    ):
        ((x, y, wide),) = bars[kind]
        assert x == pytest.approx(left + start / 99 * full_width, abs=1.0)
        assert wide == pytest.approx((end - start) / 99 * full_width, abs=1.0)
        assert y == pytest.approx(row_of(picture.svg, joint), abs=2.0)


def test_all_swings_are_drawn() -> None:
    picture = timeline(SWINGS)
    bars_by_kind = bars_of(picture.svg)
    rows = {text.text for text in text_boxes(picture.svg)} & set(SWINGS.skeleton.names)
    visible_rows = [row for row in SWINGS.timeline().rows if row.joint in rows]
    for step in range(9):
        swung = [
            bar for row in visible_rows for bar in row.bars if bar.kind == "swing" and find_shade(bar.angle_deg) == step
        ]
        assert len(bars_by_kind.get(f"heat{step}", [])) == len(swung)
    assert len(bars_by_kind["rest"]) == sum(bar.kind == "rest" for row in visible_rows for bar in row.bars)
    assert all(x > 0 and x + wide <= picture.width and 0 < y < picture.height
               for bars in bars_by_kind.values() for x, y, wide in bars)  # fmt: skip


def test_order_of_body_regions() -> None:
    svg = timeline(SWINGS).svg
    anatomy = SWINGS.skeleton.anatomy
    names_in_picture = {text.text for text in text_boxes(svg)}
    heights = []
    for region in ORDER:
        names = [
            SWINGS.skeleton.names[j] for j in anatomy.joints(region) if SWINGS.skeleton.names[j] in names_in_picture
        ]
        heights.append([row_of(svg, name) for name in names])
    assert all(max(upper) < min(lower) for upper, lower in pairwise(heights) if upper and lower)
    thigh, shin = (SWINGS.skeleton.names[anatomy.joint(part)] for part in ("left_thigh", "left_shin"))
    assert row_of(svg, thigh) < row_of(svg, shin)  # outwards


def test_sides_differ_by_colour_and_by_more() -> None:
    svg = timeline(SWINGS).svg
    theme = find_theme("light")
    left, right = (paths(svg, stroke=theme[f"{side}4"]) for side in ("left", "right"))
    assert left
    assert len(left) == len(right)
    assert all(path.get("stroke-dasharray") is None for path in left)
    assert all(path.get("stroke-dasharray") for path in right)


def test_keys_from_any_source_are_marked() -> None:
    frames = [0, 100, 250, 599]
    selection = kp.Selection(frames, 600, "hand")
    keyed = kp.unbake(MOTION, selection, polish=False)
    pictures = [timeline(SWINGS, keys=keys).svg for keys in (frames, selection, keyed)]
    assert pictures[0] == pictures[1] == pictures[2]
    (path,) = paths(pictures[0], data_keys="4")
    at = [float(segment.split()[0]) for segment in path.get("d", "").split("M")[1:]]
    np.testing.assert_allclose(np.diff(at) / (at[-1] - at[0]), np.diff(frames) / 599, atol=1e-3)
    assert "4 keys" in {text.text for text in text_boxes(pictures[0])}


def test_feet_on_the_ground_have_a_row_below_their_leg() -> None:
    svg = timeline(SWINGS).svg
    contacts = SWINGS.timeline().contacts
    strokes = [stroke for path in paths(svg, data_bars="contact") for stroke in level_strokes(path)]
    assert contacts
    assert len(strokes) == len(contacts)
    labels = [text for text in text_boxes(svg) if text.text == "on the ground"]
    assert len(labels) == len({contact.foot for contact in contacts})
    assert "contact" not in bars_of(timeline(replace(SWINGS, contacts=None)).svg)


def test_excluded_joints_are_named() -> None:
    swings = kp.swings(MOTION, left_out="feet")
    feet = [swings.skeleton.names[j] for j in swings.skeleton.joints("feet")]
    picture = timeline(swings)
    labels = {text.text for text in text_boxes(picture.svg)}
    assert not labels & set(feet)
    assert f"{len(feet)} stored frame by frame" in picture.alt_text
    assert any(f"{len(feet)} stored frame by frame" in text for text in labels)
    feet_picture = timeline(swings, joints="feet")
    assert {text.text for text in text_boxes(feet_picture.svg)} & set(swings.skeleton.names) == set(feet)
    assert len(bars_of(feet_picture.svg)["keys"]) == len(feet)


@pytest.mark.parametrize("width", [240, 500, 960, 2000])
@pytest.mark.parametrize("row", [10, 15, 30])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_fit_in_every_size(width: int, row: int, theme: str) -> None:
    assert_texts_fit(timeline(SWINGS, keys=[0, 9], width_px=width, row_px=row, theme=theme).svg)


@pytest.mark.parametrize("width", [300, 960])
def test_legend_explains_last_shade_and_blanks(width: int) -> None:
    labels = {text.text for text in text_boxes(timeline(SWINGS, width_px=width).svg)}
    assert "120°+" in labels and "90°" in labels and "blank: interpolated" in labels


def test_crowded_rows_show_the_widest_swing_of_each_px() -> None:
    rng = np.random.default_rng(2)
    starts = np.arange(0, 20_000, 5)
    angles = rng.choice([2.0, 25.0, 130.0], len(starts), p=[0.9, 0.08, 0.02])
    bars = [
        Bar("swing", s, s + 4, 0.0, 1.0, a, (1.0, 0.0, 0.0))
        for s, a in zip(starts.tolist(), angles.tolist(), strict=True)
    ]
    scale = frame_scale(20_000, 100.0, 500.0)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg">{draw_bars([(Row("a", None, False, tuple(bars)), 9.0)], scale, 15.0, find_theme("light"))}</svg>'
    assert len(svg) < 10_000
    actual = np.full(401, -1)
    for kind, strokes in bars_of(svg).items():
        for x, _, wide in strokes:
            actual[round(x - 100) : round(x - 100 + wide)] = int(kind[4:])
    expected = np.full(401, -1)  # reference
    for bar in bars:
        for frame in range(bar.start, bar.end + 1):
            px = int(frame / 19_999 * 400)
            expected[px] = max(expected[px], find_shade(bar.angle_deg))
    assert (actual == expected).mean() > 0.99  # a px may start a frame earlier or later


@pytest.mark.parametrize(
    ("angle", "shade"), [(0.0, 0), (4.9, 0), (5.0, 1), (44.0, 4), (119.0, 7), (120.0, 8), (500.0, 8)]
)
def test_shades(angle: float, shade: int) -> None:
    assert find_shade(angle) == shade
    assert len(ANGLES) == 9


def test_nothing_swings() -> None:
    still = replace(MOTION, rotations=np.tile(MOTION.rotations[:1], (600, 1, 1)), translations=np.tile(MOTION.translations[:1], (600, 1, 1)))  # fmt: skip
    picture = timeline(kp.swings(still))
    assert "No joint swings." in {text.text for text in text_boxes(picture.svg)}
    assert_texts_fit(picture.svg)
    assert_texts_fit(timeline(kp.swings(MOTION[:1])).svg)


def test_hostile_names_are_only_text() -> None:
    names = ("<script>", "a&b\"'", "x" * 10_000, "\u202eabc\x00\x1b", "\ud800", "כן")
    track = [Track.build(n, STILL, [Swing(n, 0, 9, STILL, np.array((0.0, 1.0, 0.0)), 1.0)]) for n in names]
    picture = timeline(replace(by_hand(names, track), name="<b>" * 1000), keys=[3])
    tags = {element.tag.rpartition("}")[2] for element in parse_svg(picture.svg).iter()}
    assert tags <= {"svg", "title", "rect", "path", "text", "g"}
    assert_texts_fit(picture.svg)
    assert len(picture.svg) < 20_000


def test_longest_swinging_joints_are_selected() -> None:
    names = tuple(f"joint {n}" for n in range(300))
    tracks = [
        Track.build(n, STILL, [Swing(n, 0, 10 + k % 90, STILL, np.array((0.0, 1.0, 0.0)), 1.0)])
        for k, n in enumerate(names)
    ]
    picture = timeline(by_hand(names, tracks))
    visible = {text.text for text in text_boxes(picture.svg)} & set(names)
    assert len(visible) == MAX_DEFAULT_ROWS
    assert {"joint 89", "joint 179"} <= visible
    assert f"{300 - MAX_DEFAULT_ROWS} that swing least" in picture.alt_text


def test_it_is_saved_as_svg_and_png(tmp_path: Path) -> None:
    picture = timeline(SWINGS, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text() == picture.svg
    timeline(SWINGS, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_invalid_arguments(tmp_path: Path) -> None:
    with raises(OptionError, expected="Swings, as kp.swings gives them"):
        timeline(MOTION)  # type: ignore[arg-type]
    with raises(OptionError, option="keys"):
        timeline(SWINGS, keys=[3, 600])
    with raises(OptionError, expected="those of the 600 that are shown"):
        timeline(SWINGS, keys=kp.Selection([0], 10, "x"))
    with raises(OptionError, hint="or a Selection or a KeyedMotion"):
        timeline(SWINGS, keys=[0.5])  # type: ignore[list-item]
    with pytest.raises(UnknownJoint):
        timeline(SWINGS, joints="wings")
    with raises(OptionError, path=str(tmp_path / "a.gif"), expected="one of .svg, .png"):
        timeline(SWINGS, tmp_path / "a.gif")


@pytest.mark.data
def test_a_real_kick(data_dir: Path) -> None:
    motion = kp.load(data_dir / "cmu120" / "135_07_kicking.bvh")
    picture = timeline(kp.swings(motion), keys=kp.select(motion, "farthest", keys=12))
    assert_texts_fit(picture.svg)
    assert len(picture.svg) < 40_000
    assert {"LeftUpLeg", "RightLeg", "Head"} <= {text.text for text in text_boxes(picture.svg)}
    assert "8 stored frame by frame" in picture.alt_text


def test_actions_have_rows_of_their_limbs_at_their_times() -> None:
    actions = SWINGS.actions(MOTION)
    svg = timeline(SWINGS, actions=actions).svg
    bars = paths(svg, data_bars="action")
    whole_body = [action for action in actions.body_actions if not action.limbs]
    strokes = [stroke for bar in bars for stroke in level_strokes(bar)]
    assert len(strokes) == len(whole_body) + len(actions.limb_actions) > 5
    left_edge, right_edge = frame_edges(svg)
    px = (right_edge - left_edge) / (SWINGS.n_frames - 1)
    for limb, own in (
        ("body", whole_body),
        *((a, [b for b in actions.limb_actions if b.limbs == (a,)]) for a in ("left leg", "right arm")),
    ):
        y = row_of(svg, limb)
        lanes = [stroke for stroke in strokes if abs(stroke[1] - y) < 1]
        assert {round(x, 1) for x, _, _ in lanes} <= {round(left_edge + action.start * px, 1) for action in own}
    assert f"{len(actions)} actions" in timeline(SWINGS, actions=actions).alt_text
    assert "action" not in bars_of(timeline(SWINGS).svg)


def frame_edges(svg: str) -> tuple[float, float]:
    """Return the x of the first and of the last frame: those of the widest track."""
    spans = [(x, x + wide) for strokes in bars_of(svg).values() for x, _, wide in strokes]
    return min(x for x, _ in spans), max(x for _, x in spans)


@pytest.mark.parametrize("theme", ["light", "dark", "page", "notebook"])
@pytest.mark.parametrize("width", [320.0, 960.0])
def test_texts_of_actions_fit(theme: str, width: float) -> None:
    assert_texts_fit(timeline(SWINGS, actions=True, width_px=width, theme=theme).svg)


def test_actions_of_a_row_do_not_overlap() -> None:
    for lanes in group_actions(SWINGS.actions(MOTION)).values():
        assert all(before.end <= after.start for lane in lanes for before, after in pairwise(lane))


def test_a_figure_without_actions_says_so() -> None:
    names = ("Hips", "Chest", "Tail")
    swings = by_hand(names, [Track.build(name, STILL) for name in names])
    picture = timeline(swings, actions=True)
    assert "No actions: no arm or leg is recognised" in picture.alt_text
    assert "action" not in bars_of(picture.svg)


def test_actions_of_another_clip_are_refused() -> None:
    with raises(OptionError, expected=Pattern("those of the 600 at 60")):
        timeline(SWINGS, actions=kp.swings(MOTION[:300]).actions())
    with raises(OptionError, option="actions", value=3):
        timeline(SWINGS, actions=3)  # type: ignore[arg-type]
