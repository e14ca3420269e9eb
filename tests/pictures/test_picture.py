"""Themes, SVG text and saving of pictures."""

from __future__ import annotations

import re
import struct
import sys
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import keypose as kp
from keypose.pictures import svg
from keypose.pictures.svg import THEMES, Picture, find_theme, mix, page_css, picture_path
from keypose.validation import MAX_LINE_LENGTH, clean_line
from support.errors import raises

LIGHT = find_theme("light")


def picture(body: str = "", width: float = 60, height: float = 40, theme: str = "light") -> Picture:
    text = svg.document(body, width, height, find_theme(theme), title="t", alt_text="a test")
    return Picture(text, width, height, "a test")


def pixels(png: bytes) -> np.ndarray:
    """Decode a PNG of 8-bit RGBA to (H, W, 4)."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (png[:8], depth, kind) == (b"\x89PNG\r\n\x1a\n", 8, 6)
    at, data = 8, b""
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + length] if name == b"IDAT" else b""
        at += 12 + length
    raw = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + 4 * width)
    rows, above = [], np.zeros(4 * width, int)
    for line in raw:
        filter_type, row = int(line[0]), line[1:].astype(int)
        for i in range(4 * width):
            a, b, c = (row[i - 4], above[i], above[i - 4]) if i >= 4 else (0, above[i], 0)
            nearest = min((a, b, c), key=lambda v: abs(a + b - c - v))
            row[i] = (row[i] + (0, a, b, (a + b) // 2, nearest)[filter_type]) % 256
        above = row
        rows.append(row)
    return np.array(rows).reshape(height, width, 4)


class TestThemes:
    def test_all_have_the_same_colours(self):
        assert all(theme.colours.keys() == LIGHT.colours.keys() for theme in THEMES.values())

    @pytest.mark.parametrize("name", ["light", "dark"])
    def test_colours_are_valid_and_contrast_is_sufficient(self, name):
        theme = find_theme(name)
        assert all(re.fullmatch(r"#[0-9a-f]{6}([0-9a-f]{2})?", colour) for colour in theme.colours.values())
        for text, min_contrast in (("ink", 12), ("muted", 4.5)):
            assert contrast(theme[text], theme["paper"]) >= min_contrast
        for mark in ("key", "cliff", "contact", *(f"line{i}" for i in range(10))):
            assert contrast(theme[mark], theme["paper"]) >= 2.9, mark

    @pytest.mark.parametrize("name", ["light", "dark", "notebook"])
    def test_left_is_darker_than_right_in_every_tone(self, name):
        theme = find_theme(name)
        assert all(luminance(theme[f"left{tone}"]) < luminance(theme[f"right{tone}"]) for tone in range(6))

    def test_a_page_defines_every_colour_for_both_schemes(self):
        css = page_css()
        for name in LIGHT.colours:
            assert css.count(f"--kp-{name}:") == 3
            assert find_theme("page")[name] == f"var(--kp-{name})"

    def test_mix(self):
        assert (mix("#000000", "#ffffff", 0.5), mix("#102030", "#405060", 0.0)) == ("#808080", "#102030")

    @pytest.mark.parametrize("name", ["neon", "", None, 3])
    def test_unknown_theme(self, name):
        with raises(kp.OptionError, expected="one of light, dark, page, notebook"):
            find_theme(name)


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, other: str) -> float:
    high, low = sorted((luminance(first), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


class TestText:
    @given(st.text(max_size=300))
    def test_any_text_is_escaped(self, text):
        parsed_text = ET.fromstring(svg.text_element(1, 2, text, 10, "#000")).text or ""
        assert parsed_text == clean_line(text) and len(parsed_text) <= MAX_LINE_LENGTH
        ET.fromstring(svg.document(svg.text_element(0, 9, text, 9, "red"), 9, 9, LIGHT, title=text, alt_text=text))

    def test_control_characters_and_long_names(self):
        assert clean_line("a\x00b\nc\ud800d") == "a b c d"
        assert clean_line("x" * 10_000) == "x" * 199 + "…"

    @given(st.text(max_size=60), st.floats(0, 200))
    def test_fit_text(self, text, width):
        cut = svg.fit_text(text, width, 10.0)
        assert svg.text_width(cut, 10.0) <= width or cut == ""
        assert cut == clean_line(text) or cut.endswith("…") or cut == ""

    def test_numbers_are_short(self):
        assert [svg.number(v) for v in (3.0, 2.54, -0.04, 1e6)] == ["3", "2.5", "-0", "1000000"]

    @pytest.mark.browser
    def test_text_width_is_an_upper_bound(self, browser):
        texts = [
            "frame 120",
            "0.42 s",
            "LeftUpperArm",
            "MMMM WWWW",
            "12,345 mm",
            "illicit (fit)",
            "Grün — Öl",
            "90 % removed",
            "right_thigh: 48°",
        ]
        page = browser.new_page()
        widths = page.evaluate(
            """texts => ['DejaVu Sans', 'Liberation Sans', 'sans-serif', 'system-ui'].map(font => {
                const c = document.createElement('canvas').getContext('2d'); c.font = `100px '${font}'`;
                return texts.map(t => c.measureText(t).width) })""",
            texts,
        )
        page.close()
        assert all(
            width <= svg.text_width(text, 100.0) for row in widths for text, width in zip(texts, row, strict=True)
        )


class TestSave:
    def test_svg_file_and_attributes(self, tmp_path):
        sample_picture = picture("<circle r='3'/>")
        assert sample_picture.save(tmp_path / "a.SVG").read_text() == sample_picture.svg
        root = ET.fromstring(sample_picture.svg)
        assert (root.get("width"), root.get("viewBox"), root.get("aria-label")) == ("60", "0 0 60 40", "a test")

    def test_png_has_the_colours_at_the_scale(self, tmp_path):
        sample_picture = picture(f'<rect x="10" y="10" width="20" height="20" fill="{LIGHT["left5"]}"/>')
        rgba = pixels(sample_picture.save(tmp_path / "a.png", scale=0.5).read_bytes())
        assert rgba.shape == (20, 30, 4)
        assert "#" + bytes(rgba[10, 10, :3].astype(np.uint8)).hex() == LIGHT["left5"]
        assert tuple(rgba[1, 1]) == (255, 255, 255, 255)

    def test_text_is_drawn_without_system_fonts(self):
        blank, with_text = (pixels(picture(svg.text_element(5, 25, text, 20, "#000000")).png(1)) for text in ("", "12"))
        assert (with_text[..., 0] < 128).sum() > 20 > (blank[..., 0] < 128).sum()

    def test_the_same_bytes_every_time(self):
        sample_picture = picture(svg.text_element(5, 25, "12", 20, "#000000"))
        assert sample_picture.png() == sample_picture.png()

    @pytest.mark.parametrize("name", ["a.jpg", "a", "a.svg.gz", ""])
    def test_unknown_suffix(self, name):
        with raises(kp.OptionError, path=str(Path(name)), expected="one of .svg, .png"):
            picture_path(name)

    def test_too_large_png_is_rejected(self):
        with raises(kp.OptionError, expected="at most 67,108,864 in all: take a smaller scale"):
            picture(width=20_000, height=20_000).png()

    @pytest.mark.parametrize("scale", [0, -1, float("nan"), "2", 1e9])
    def test_a_scale_is_a_sane_number(self, scale):
        with raises(kp.OptionError, option="scale"):
            picture().png(scale)

    def test_missing_folder(self, tmp_path):
        with raises(kp.FileError, code="write_failed"):
            picture().save(tmp_path / "no" / "a.svg")

    def test_a_notebook_shows_it_apart_from_its_page(self):
        html = Picture("<svg/>", 10, 20, 'says "<b>"')._repr_html_()
        assert html.startswith("<img ") and "data:image/svg+xml;base64," in html and "<b>" not in html

    def test_repr(self):
        assert repr(picture()) == "Picture(60 x 40 px: a test)"


def test_pictures_do_not_load_what_only_png_needs():
    import subprocess

    code = "import keypose.pictures.svg, sys; print([m for m in sys.modules if 'resvg' in m or 'font_source' in m])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd()).stdout
        == "[]\n"
    )
