"""Notebook cards: size, escaping and content."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.pictures.cards import keyed_card, ladder_card, score_card, selection_card, swings_card
from support.chromium import open_page
from support.svg_content import paths, points

MOTION = kp.demo_motion(fps=30)[:300]
SELECTION = kp.select(MOTION, "farthest", keys=9)
LADDER = kp.ladder(MOTION, "simplify", max_keys=60)
SWINGS = kp.swings(MOTION)
KEYED = kp.unbake(MOTION, SELECTION, polish=False)
SCORE = kp.score(MOTION, KEYED)
MAX_BYTES = 60_000
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>&\"'\x00\ud800\u202e" + "x" * 10_000
CARDS = {
    "selection": selection_card(SELECTION),
    "ladder": ladder_card(LADDER),
    "swings": swings_card(SWINGS),
    "score": score_card(SCORE),
    "keyed": keyed_card(KEYED),
}
TAGS = {"div", "table", "tr", "th", "td", "svg", "title", "rect", "path", "text", "g"}


class _TagCollector(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def facts(html: str) -> dict[str, str]:
    return {unescape(a): unescape(b) for a, b in re.findall(r"<th[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", html)}


@pytest.mark.parametrize("name", CARDS)
def test_a_card_is_small_and_safe(name: str) -> None:
    collector = _TagCollector(CARDS[name])
    assert collector.tags <= TAGS
    assert not {
        attribute
        for attribute in collector.attributes
        if attribute.startswith("on") or attribute in ("href", "src", "id")
    }
    assert len(CARDS[name].encode()) < MAX_BYTES
    assert 'height="100%"' not in CARDS[name]  # no paper of its own under the notebook's


def test_selection_card_lists_and_draws_frames() -> None:
    card_facts = facts(CARDS["selection"])
    assert card_facts["frames"] == " ".join(map(str, SELECTION.frames.tolist()))
    assert card_facts["by importance"] == " ".join(map(str, SELECTION.order.tolist()))
    assert card_facts["keys"] == "9 of 300 frames: 97.0 % removed"
    path = re.search(r'data-keys="9" d="([^"]*)"', CARDS["selection"])
    assert path
    tall = {float(x): -float(h) for x, h in re.findall(r"M([\d.]+) [\d.]+v([-\d.]+)", path[1])}
    frames = dict(zip(sorted(tall), SELECTION.frames.tolist(), strict=True))
    by_height = [frames[x] for x in sorted(tall, key=lambda x: -tall[x])]
    assert by_height == SELECTION.order.tolist()
    xs = np.array(sorted(tall))
    np.testing.assert_allclose((xs - 10) / 614 * 299, SELECTION.frames, atol=0.1)


def test_keys_without_order_have_equal_height() -> None:
    html = selection_card(kp.Selection([3, 60, 200], 300, "hand"))
    path = re.search(r'data-keys="3" d="([^"]*)"', html)
    assert path
    assert len(set(re.findall(r"v([-\d.]+)", path[1]))) == 1
    assert "by importance" not in facts(html)
    assert "gaps" not in facts(selection_card(kp.Selection([3], 300, "hand")))


def test_ladder_card_lists_cliffs_and_knee() -> None:
    card_facts = facts(CARDS["ladder"])
    assert card_facts["keys"].startswith(f"2 to 60 of {LADDER.n_frames} frames")
    assert card_facts["knee"] == f"{LADDER.knee()} keys"
    for cliff in LADDER.cliffs()[:5]:
        assert f"{cliff.keys} (cost {LADDER.costs[cliff.keys]:.3g})" in card_facts["cliffs"]
    natural = kp.ladder(MOTION, "saliency")
    assert card_facts.get("the method's own") is None
    assert facts(ladder_card(natural))["the method's own"].startswith(f"{natural.natural} of 300 frames")


def test_score_card_lists_measures() -> None:
    card_facts = facts(CARDS["score"])
    assert f"{SCORE.mean_mm:.3g} mm on average" in card_facts["error of positions"]
    assert card_facts["worst"].startswith(f"{SCORE.worst_joint} in frame {SCORE.worst_frame}; over all joints frame ")
    assert f"{SCORE.bytes:,} bytes" in card_facts["stored"]
    assert "feet slide" not in facts(score_card(replace(SCORE, foot_slide_mm=None, original_foot_slide_mm=None)))


def test_score_mark_is_at_the_drawn_peak() -> None:
    """The largest error of a joint may be in another frame than the largest mean."""
    means = np.full(101, 0.25)
    means[40], means[80] = 9.0, 2.0
    svg = re.search(r"<svg.*?</svg>", score_card(replace(SCORE, per_frame_mm=means, worst_frame=80)), re.S)[0]
    (mark,) = (path for path in paths(svg, stroke_dasharray="5 4") if "V" in path.get("d", ""))
    (curve,) = (points(path)[0] for path in paths(svg, stroke_width="1.2"))
    assert float(mark.get("d").split()[0][1:]) == pytest.approx(min(curve, key=lambda point: point[1])[0], abs=0.2)
    assert "largest mean" in svg


def test_swings_card_shows_timeline() -> None:
    card_facts = facts(CARDS["swings"])
    assert card_facts["swings"] == f"{SWINGS.n_swings} of {SWINGS.n_joints} joints"
    assert 'data-bars="heat' in CARDS["swings"]
    keyed = kp.swings(MOTION, fallback="keys")
    assert facts(swings_card(keyed))["keys"].startswith(f"{keyed.n_keys:,} ")


def test_keyed_card_distinguishes_breakdowns() -> None:
    card_facts = facts(CARDS["keyed"])
    assert card_facts["between keys"] == "cubic curves of quaternions"
    assert card_facts["residual"].startswith("stored")
    mixed = replace(KEYED, extremes=np.arange(9) % 2 == 0, residual=None)
    card_facts = facts(keyed_card(mixed))
    assert card_facts["breakdowns"] == "4, drawn lower"
    assert card_facts["residual"] == "none"
    path = re.search(r'data-keys="9" d="([^"]*)"', keyed_card(mixed))
    assert path
    assert len(set(re.findall(r"v([-\d.]+)", path[1]))) == 2


def test_hostile_names_are_only_text() -> None:
    skeleton = replace(MOTION.skeleton, names=(EVIL, *MOTION.skeleton.names[1:]))
    evil = replace(MOTION, name=EVIL, skeleton=skeleton, notes=(EVIL,) * 9)
    cards = [
        swings_card(kp.swings(evil)),
        keyed_card(kp.unbake(evil, [0, 150, 299], polish=False)),
        score_card(replace(SCORE, worst_joint=EVIL)),
        selection_card(kp.Selection([0, 3], 9, EVIL)),
        ladder_card(replace(LADDER, method=EVIL)),
    ]
    for html in cards:
        collector = _TagCollector(html)
        assert collector.tags <= TAGS
        assert not any(attribute.startswith("on") for attribute in collector.attributes)
        assert len(html.encode()) < MAX_BYTES
        assert "\x00" not in html


def test_very_many_keys_frames_and_joints_stay_small() -> None:
    n = 200_000
    all_frames = kp.Selection(np.arange(n), n, "all", np.arange(n)[::-1])
    assert len(selection_card(all_frames)) < MAX_BYTES
    assert (
        len(ladder_card(kp.Ladder.from_order("all", n, np.arange(n), np.linspace(9, 1, n - 1), min_keys=2))) < MAX_BYTES
    )
    assert len(score_card(replace(SCORE, per_frame_mm=np.random.default_rng(0).exponential(size=n)))) < MAX_BYTES
    rng = np.random.default_rng(0)
    rotations = np.cumsum(rng.normal(size=(900, 120, 4)) * 0.08, axis=0) + (4.0, 0.0, 0.0, 0.0)
    rotations /= np.linalg.norm(rotations, axis=2, keepdims=True)
    names = tuple(f"joint {j}" for j in range(120))
    skeleton = kp.Skeleton(names, np.arange(-1, 119), np.tile((0.0, 1.0, 0.0), (120, 1)))
    html = swings_card(kp.swings(kp.Motion("many", skeleton, 30.0, np.tile(skeleton.offsets, (900, 1, 1)), rotations)))
    assert len(html) < MAX_BYTES
    assert "joints that swing longest" in html


def test_cards_of_one_frame() -> None:
    one_frame = MOTION[:1]
    only = kp.Selection([0], 1, "hand")
    assert "1 of 1 frame" in selection_card(only)
    assert "Ladder" in ladder_card(kp.Ladder.from_order("hand", 1, [0], [0.0]))
    assert "0 of" in swings_card(kp.swings(one_frame))
    assert "mm on average" in score_card(kp.score(one_frame, one_frame))


@pytest.mark.browser
def test_cards_in_a_browser(browser, tmp_path: Path) -> None:
    page = tmp_path / "cards.html"
    page.write_text(
        "<!doctype html><meta charset=utf-8><body style='background:#111;color:#eee'>" + "".join(CARDS.values())
    )
    with open_page(browser, page, viewport={"width": 900, "height": 900}) as watched:
        assert watched.errors == []
        assert watched.requests == [page.resolve().as_uri()]
        assert watched.page.locator("svg").count() == len(CARDS)
        wide = watched.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 900
        inside = """() => [...document.querySelectorAll('svg text')].every(text => {
            const box = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
            return box.left >= all.left - 1 && box.right <= all.right + 1 && box.bottom <= all.bottom + 1;
        })"""
        assert watched.page.evaluate(inside)
