"""The card of a motion: drawn for any skeleton, small, quick, and safe to show."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import keypose as kp
from keypose.pictures import motion_card, stick

SVG = "{http://www.w3.org/2000/svg}"
COLOURS = {"left": "#e8590c", "right": "#1c7ed6"}


def motion(parents, offsets, *, frames=10, names=None, **rest) -> kp.Motion:
    """A motion at rest of a skeleton given by parents and offsets."""
    skeleton = kp.Skeleton(names or tuple(f"j{k}" for k in range(len(parents))), np.array(parents), np.array(offsets))
    translations = np.tile(skeleton.offsets, (frames, 1, 1))
    rotations = np.tile([1.0, 0.0, 0.0, 0.0], (frames, len(parents), 1))
    return kp.Motion(rest.pop("name", "clip"), skeleton, 30.0, translations, rotations, **rest)


def markers(count: int, frames: int = 10) -> kp.Motion:
    random = np.random.default_rng(3)
    m = motion([-1] * count, np.zeros((count, 3)), frames=frames, metres_per_unit=0.001, up="Z")
    return replace(m, translations=random.uniform(0, 1700, (frames, count, 3)))


def svg_of(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(re.search(r"<svg.*?</svg>", html, re.S)[0])


def assert_heads_inside(svg: ElementTree.Element) -> None:
    """Every head, its line included, lies within the width of its pose and above the labels."""
    width, height = (float(x) for x in svg.get("viewBox").split()[2:])
    circles = list(svg.iter(f"{SVG}circle"))
    for k, circle in enumerate(circles):
        x, y, radius = (float(circle.get(key)) for key in ("cx", "cy", "r"))
        reach = radius + stick.STROKE_PX / 2
        assert k * width / len(circles) <= x - reach
        assert x + reach <= (k + 1) * width / len(circles)
        assert reach <= y <= height - 16.0 - reach


def strokes_of(svg: ElementTree.Element) -> dict[str, list[np.ndarray]]:
    """Colour -> the ends (N, 2, 2) of strokes, per path."""
    found: dict[str, list[np.ndarray]] = {}
    for path in svg.iter(f"{SVG}path"):
        ends = re.findall(r"M(-?[\d.]+) (-?[\d.]+)L(-?[\d.]+) (-?[\d.]+)", path.get("d"))
        if ends:
            found.setdefault(path.get("stroke"), []).append(np.array(ends, float).reshape(-1, 2, 2))
    return found


class Tags(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += f" {data}"


ANY_SKELETON = {
    "demo": kp.demo_motion(30),
    "one joint, one frame": motion([-1], [[1.0, 2.0, 3.0]], frames=1),
    "one marker": markers(1),
    "markers": markers(40),
    "no height": motion([-1, 0, 1], [[0, 0, 0], [1.0, 0, 0], [0, 0, 2.0]]),
    "no extent": motion([-1, 0, 1], np.zeros((3, 3))),
    "170 joints": motion([-1, *range(169)], np.random.default_rng(0).normal(size=(170, 3)), frames=3),
    "3000 joints": motion([-1, *([0] * 2999)], np.random.default_rng(0).normal(size=(3000, 3)), frames=2),
    "3000 markers": markers(3000, frames=2),
    "two roots": motion([-1, 0, -1, 2], np.eye(4, 3)),
    "huge": motion([-1, 0, 1], 1e15 * np.eye(3), frames=2),
    "minute": motion([-1, 0, 1], 1e-310 * np.eye(3), frames=2),
    "far away": motion([-1, 0], [[1e9, 5.0, -1e9], [0.0, 1.0, 0.0]], frames=2),
}


@pytest.mark.parametrize("name", ANY_SKELETON)
def test_any_skeleton_gets_a_small_and_whole_card(name):
    m = ANY_SKELETON[name]
    html = motion_card(m)
    assert len(html.encode()) < 60_000
    tags = Tags(html)
    assert tags.open == []
    svg = svg_of(html)
    width, height = (float(x) for x in svg.get("viewBox").split()[2:])
    assert "nan" not in html
    assert "inf" not in html
    numbers = [p.get("d") for p in svg.iter(f"{SVG}path")]
    for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", " ".join(numbers)):
        assert 0 <= float(x) <= width
        assert 0 <= float(y) <= height
    assert_heads_inside(svg)
    labels = [text.text for text in svg.iter(f"{SVG}text")]
    assert len(labels) == min(6, m.n_frames)
    assert labels[0] == "0"
    assert labels[-1] == str(m.n_frames - 1)


@pytest.mark.parametrize("way", [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)])
@pytest.mark.parametrize("crown", [False, True])
def test_a_head_beyond_all_joints_is_not_cut_off(way, crown):
    """The head of an animal, or of one who lies or stands on it."""
    names = ("Hips", "Spine", "Neck", "Head", "LeftUpLeg", "RightUpLeg")
    offsets = [[0, 1, 0], *(np.outer((1.0, 0.3, 0.05), way)), [0.0, -0.3, 0.1], [0.0, -0.3, -0.1]]
    m = motion([-1, 0, 1, 2, 0, 0], offsets, names=names, up="Y")
    if crown:
        end = replace(m.skeleton, end_offsets=0.05 * np.array([way]), end_joints=np.array([3], np.int32))
        m = replace(m, skeleton=end)
    svg = svg_of(motion_card(m))
    assert len(list(svg.iter(f"{SVG}circle"))) == 6
    assert_heads_inside(svg)


def test_the_card_is_what_a_notebook_shows():
    m = kp.demo_motion(10)
    assert m._repr_html_() == motion_card(m)


def test_the_facts_are_told():
    m = replace(kp.demo_motion(30), notes=("header says 7",), first_frame=1000)
    text = " ".join(Tags(motion_card(m)).text.split())
    for fact in ("demo", f"{m.n_frames} at 30 fps", f"{m.duration_s:.2f} s", "26 and 7 end sites", "26 recognised",
                 "Y axis", "1.7 units = 1.7 m", "number 1,000", "header says 7"):  # fmt: skip
        assert fact in text
    assert "not stated" in Tags(motion_card(motion([-1], [[0.0, 0, 0]]))).text


def test_text_from_files_cannot_become_markup():
    evil = "</title></svg><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x00\u202e\ud800"
    m = motion([-1, 0], np.eye(2, 3), names=(evil, evil + "2"), name=evil, notes=(evil, evil * 1000) * 20)
    html = motion_card(m)
    tags = Tags(html)
    assert {tag for tag, _ in tags.seen} <= {"div", "svg", "g", "path", "circle", "text", "table", "tr", "th", "td"}
    assert all(not a.startswith("on") and a not in ("href", "src") for _, attrs in tags.seen for a in attrs)
    assert "url(" not in html
    html.encode("utf-8")
    assert len(html) < 10_000
    assert "35 more notes" in tags.text


def test_left_and_right_differ_in_colour_and_in_line():
    svg = svg_of(motion_card(kp.demo_motion(30)))
    left, right = ([p for p in svg.iter(f"{SVG}path") if p.get("stroke") == COLOURS[s]] for s in ("left", "right"))
    assert len(left) == len(right) == 6
    assert all(p.get("stroke-dasharray") is None for p in left)
    assert all(p.get("stroke-dasharray") for p in right)
    assert len(list(svg.iter(f"{SVG}circle"))) == 6


@pytest.mark.parametrize("up", ["X", "Y", "Z", "-X", "-Y", "-Z"])
def test_up_is_up_on_the_page_and_nothing_is_mirrored(up):
    axis, sign = "XYZ".index(up[-1]), -1.0 if up[0] == "-" else 1.0
    upward, left = sign * np.eye(3)[axis], np.eye(3)[(axis + 1) % 3]
    names = ("Hips", "Spine", "LeftArm", "RightArm", "LeftUpLeg", "RightUpLeg")
    offsets = [0 * upward, 0.5 * upward, 0.5 * left, -0.5 * left, 0.1 * left - upward, -0.1 * left - upward]
    m = motion([-1, 0, 1, 1, 0, 0], offsets, names=names, up=up)
    strokes = strokes_of(svg_of(motion_card(m)))
    ends = {side: np.concatenate(strokes[colour]) for side, colour in COLOURS.items()}
    arm, leg = ends["left"][0], ends["left"][1]
    assert arm[1, 1] == pytest.approx(arm[0, 1], abs=0.2)
    assert leg[1, 1] > leg[0, 1] + 50  # y grows downwards
    # Seen from the front, its left is at the right of the page.
    assert ends["left"][:, 1, 0].min() > ends["right"][:2, 1, 0].max()


def test_the_view_is_across_what_moves():
    t = np.linspace(0, 2 * np.pi, 20)
    points = np.zeros((20, 3, 3))
    points[:, 1, 0], points[:, 2, 0] = -0.5, 0.5  # wide along x ...
    points[:, 1, 2], points[:, 2, 2] = np.sin(t), -np.sin(t)  # ... but moving along z
    view = stick.view_of(points, "Y")
    assert abs(view.right[2]) > 0.99
    still = np.repeat(points[:1], 20, axis=0)
    assert abs(stick.view_of(still, "Y").right[0]) > 0.99
    travelling = points - [0, 0, 1] * np.linspace(0, 9, 20)[:, None, None]
    assert stick.view_of(travelling, "Y").right[2] < -0.99


def test_a_view_is_a_right_handed_frame():
    points = np.random.default_rng(1).normal(size=(5, 8, 3))
    for up in ("X", "Y", "Z", "-X", "-Y", "-Z"):
        v = stick.view_of(points, up)
        assert np.allclose(np.stack((v.right, v.up, v.towards)) @ np.stack((v.right, v.up, v.towards)).T, np.eye(3))
        assert np.allclose(np.cross(v.right, v.up), v.towards)


def test_a_root_on_the_floor_is_not_drawn_as_a_limb():
    names = ("Reference", "Hips", "Spine", "LeftUpLeg", "RightUpLeg")
    offsets = [[0, 0, 0], [0, 1.0, 0], [0, 0.5, 0], [0.1, -0.4, 0], [-0.1, -0.4, 0]]
    figure = stick.figure_of(motion([-1, 0, 1, 1, 1], offsets, names=names).skeleton)
    limbs = {tuple(limb) for limbs in figure.limbs.values() for limb in limbs.tolist()}
    assert limbs == {(1, 2), (1, 3), (1, 4)}


def test_the_longest_limbs_are_drawn_and_the_others_counted():
    lengths = np.random.default_rng(0).permutation(1000) + 1.0
    m = motion([-1, *([0] * 1000)], np.concatenate(([[0, 0, 0]], lengths[:, None] * [0, 1, 0])))
    figure = stick.figure_of(m.skeleton)
    drawn = np.concatenate(list(figure.limbs.values()))[:, 1]
    assert len(drawn) == stick.MOST_MARKS
    assert np.linalg.norm(m.skeleton.offsets[drawn], axis=1).min() == 1000 - stick.MOST_MARKS + 1
    assert figure.left_out == 1000 - stick.MOST_MARKS
    assert f"the {figure.left_out} shortest" in motion_card(m)


def test_only_the_drawn_frames_are_computed():
    clip = kp.demo_motion(30)
    long = replace(
        clip, translations=np.tile(clip.translations, (14, 1, 1)), rotations=np.tile(clip.rotations, (14, 1, 1))
    )
    assert long.n_frames > 5000
    motion_card(clip)
    spent = []
    for _ in range(5):
        start = time.process_time()
        motion_card(long)
        spent.append(time.process_time() - start)
    assert min(spent) < 0.02
    assert "_world" not in vars(long)


@pytest.mark.data
def test_real_clips_of_every_exporter_get_a_card(data_dir):
    paths = sorted((data_dir / "formats" / "bvh").glob("*.bvh"))
    assert len(paths) >= 10
    for path in paths:
        html = motion_card(kp.load(path))
        assert len(html) < 60_000
        svg_of(html)


@pytest.mark.data
def test_the_head_of_a_fox_is_not_cut_off(data_dir):
    svg = svg_of(motion_card(kp.load(data_dir / "gltf" / "Fox.glb")))
    assert len(list(svg.iter(f"{SVG}circle"))) == 6
    assert_heads_inside(svg)
