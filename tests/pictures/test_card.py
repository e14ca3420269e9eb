"""The card of a motion: drawn for any skeleton, small, quick, and safe to show."""

from __future__ import annotations

import re
import time
import warnings
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from drawn import assert_words_have_room, texts
from figures import figures
from motions import ANY_SKELETON, motion

import keypose as kp
from browsing import opened
from keypose.pictures.card import motion_card
from keypose.pictures.figure import body_of


def svg_of(html: str) -> str:
    return re.search(r"<svg.*?</svg>", html, re.S)[0]


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


@pytest.mark.parametrize("name", ANY_SKELETON)
def test_any_skeleton_gets_a_small_and_whole_card(name):
    m = ANY_SKELETON[name]
    html = motion_card(m)
    assert len(html.encode()) < 60_000
    assert Tags(html).open == []
    svg = svg_of(html)
    assert "nan" not in html
    assert "inf" not in html
    assert len(figures(svg)) == min(3 if name == "markers" else 6, m.n_frames)  # fewer of many solid parts
    assert_words_have_room(svg)
    labels = [word.text for word in texts(svg) if word.text.isdigit()]
    assert labels[0] == "0"
    assert labels[-1] == str(m.n_frames - 1)


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
    assert {tag for tag, _ in tags.seen} <= {"div", "svg", "title", "g", "path", "text", "table", "tr", "th", "td"}
    assert all(not a.startswith("on") and a not in ("href", "src") for _, attrs in tags.seen for a in attrs)
    assert "url(" not in html
    html.encode("utf-8")
    assert len(html) < 20_000
    assert "35 more notes" in tags.text


def test_limbs_that_are_left_out_are_counted():
    m = motion([-1, *([0] * 1000)], np.concatenate(([[0, 0, 0]], np.linspace(1, 2, 1000)[:, None] * [0, 1, 0])))
    assert f"the {body_of(m).left_out} shortest" in motion_card(m)


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
    paths = [*(data_dir / "formats" / "bvh").glob("*.bvh"), *(data_dir / "c3d").glob("[mop]*.c3d"),
             *(data_dir / "gltf").glob("*.glb")]  # fmt: skip
    assert len(paths) >= 20
    for path in sorted(paths):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kp.FormatWarning)
            html = motion_card(kp.load(path))
        assert len(html) < 60_000, path.name
        assert_words_have_room(svg_of(html))


@pytest.mark.browser
@pytest.mark.parametrize("colour", ["white", "#111"])
def test_a_browser_shows_it_without_a_complaint(browser, tmp_path: Path, colour: str) -> None:
    page = tmp_path / "card.html"
    page.write_text(
        f'<body style="background:{colour};color:{"#eee" if colour == "#111" else "#111"}">{motion_card(kp.demo_motion(30))}'
    )
    with opened(browser, page, viewport={"width": 500, "height": 600}) as watched:
        box = watched.page.locator("svg").bounding_box()
        assert box["width"] <= 500  # it shrinks with the page
        assert box["height"] > 60
        assert watched.complaints == []
        assert watched.requests == [page.resolve().as_uri()]
