"""The notebook card of a motion: any skeleton, size, speed, escaping."""

from __future__ import annotations

import re
import time
import warnings
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.pictures.cards import motion_card
from keypose.pictures.figure import build_body
from support.chromium import open_page
from support.figures import figures
from support.motions import ANY_SKELETON, motion
from support.svg_content import assert_texts_fit, text_boxes


def svg_of(html: str) -> str:
    return re.search(r"<svg.*?</svg>", html, re.S)[0]


class Tags(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += f" {data}"


@pytest.mark.parametrize("name", ANY_SKELETON)
def test_card_of_any_skeleton_is_small_and_complete(name):
    m = ANY_SKELETON[name]
    html = motion_card(m)
    assert len(html.encode()) < 60_000
    assert Tags(html).open == []
    svg = svg_of(html)
    assert "nan" not in html
    assert "inf" not in html
    assert len(figures(svg)) == min(3 if name == "markers" else 6, m.n_frames)  # fewer of many solid parts
    assert_texts_fit(svg)
    labels = [word.text for word in text_boxes(svg) if word.text.isdigit()]
    assert labels[0] == "0"
    assert labels[-1] == str(m.n_frames - 1)


def test_notebook_repr_is_the_card():
    m = kp.demo_motion(10)
    assert m._repr_html_() == motion_card(m)


def test_card_lists_facts():
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
    assert {tag for tag, _ in tags.tags} <= {"div", "svg", "title", "g", "path", "text", "table", "tr", "th", "td"}
    assert all(not a.startswith("on") and a not in ("href", "src") for _, attrs in tags.tags for a in attrs)
    assert "url(" not in html
    html.encode("utf-8")
    assert len(html) < 20_000
    assert "35 more notes" in tags.text


def test_omitted_limbs_are_counted():
    m = motion([-1, *([0] * 1000)], np.concatenate(([[0, 0, 0]], np.linspace(1, 2, 1000)[:, None] * [0, 1, 0])))
    assert f"the {build_body(m).n_omitted} shortest" in motion_card(m)


def test_only_drawn_frames_are_computed():
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
    paths = [*(data_dir / "formats" / "bvh").glob("*.bvh"), *(data_dir / "c3d").glob("[mop]*.c3d"),
             *(data_dir / "gltf").glob("*.glb")]  # fmt: skip
    assert len(paths) >= 20
    for path in sorted(paths):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kp.FormatWarning)
            html = motion_card(kp.load(path))
        assert len(html) < 60_000, path.name
        assert_texts_fit(svg_of(html))


@pytest.mark.browser
@pytest.mark.parametrize("colour", ["white", "#111"])
def test_browser_shows_card_without_errors(browser, tmp_path: Path, colour: str) -> None:
    page = tmp_path / "card.html"
    page.write_text(
        f'<body style="background:{colour};color:{"#eee" if colour == "#111" else "#111"}">{motion_card(kp.demo_motion(30))}'
    )
    with open_page(browser, page, viewport={"width": 500, "height": 600}) as watched:
        box = watched.page.locator("svg").bounding_box()
        assert box["width"] <= 500  # it shrinks with the page
        assert box["height"] > 60
        assert watched.errors == []
        assert watched.requests == [page.resolve().as_uri()]
