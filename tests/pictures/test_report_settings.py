"""The lines of a report that make its keys and curves again: run as they stand, they do."""

from __future__ import annotations

import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest
from html_pages import Page

import keypose as kp
from keypose.batch.reading import Reading
from keypose.errors import FormatWarning
from keypose.pictures.report.clips import Reporting, report_clip
from keypose.pictures.report.settings import Settings, Source, command_line, python_lines, report_line
from keypose.pictures.report.take import take_of


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=120.0)[300:541]


def unbaked_by_lines(lines: str, folder: Path, **given: object) -> kp.KeyedMotion:
    """What the Python lines of a page make, run as they are."""
    names: dict[str, object] = dict(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)  # GLB has no Euler curves, and says so
        exec(lines.replace("kp.save(keyed, '", f"kp.save(keyed, '{folder}/"), names)
    return names["keyed"]  # type: ignore[return-value]


CASES = [
    Settings(keys=7),
    Settings(tolerance_mm=20.0),
    Settings(auto=True, fitting={"interpolation": "linear"}),
    Settings(keys=6, choosing={"pins": (10, "contacts"), "weights": {"hands": 2.0}}, fitting={"polish": False}),
    Settings("farthest", keys=5, fitting={"rotation": "euler", "shared_tangents": True}),
]


@pytest.mark.parametrize("settings", CASES, ids=["keys", "tolerance", "linear", "pins", "farthest"])
def test_the_lines_make_the_same_keys_again(settings: Settings, motion: kp.Motion, tmp_path: Path):
    part = motion[:90]
    keyed = take_of(part, settings).keyed
    again = unbaked_by_lines(python_lines(settings, None, part), tmp_path, m=part)
    assert again.keys.tolist() == keyed.keys.tolist()
    assert np.array_equal(again.rotations.values, keyed.rotations.values)
    assert np.array_equal(again.sample().rotations, keyed.sample().rotations)


def test_the_lines_of_a_file_make_it_again_on_the_command_line_and_in_python(motion: kp.Motion, tmp_path: Path):
    from keypose.cli.app import run

    file = tmp_path / "a walk's.bvh"
    kp.save(motion, file)
    job = Reporting(file, tmp_path / "r.html", "clip-1", Reading(reference_pose="keep"), (20, 180), 60.0, keys=6,
                    choosing={"pins": (60,), "joints": ("hands", "feet")}, fitting={"polish": False, "residual": False})  # fmt: skip
    html = report_clip(job).take.section.parts[-1].body
    command, page, lines = [Page(each).of("pre")[0].text for each in re.findall(r"<pre>.*?</pre>", html, re.S)]
    keyed = unbaked_by_lines(lines, tmp_path)
    assert keyed.n_frames == 80
    assert (60 - 20) // 2 in keyed.keys
    words = shlex.split(command)
    assert words[:3] == ["keypose", "unbake", str(file)]
    words[3] = str(tmp_path / "out.keys.json")
    assert run([*words[1:], "--quiet"]) == 0
    typed = kp.load_keyed(tmp_path / "out.keys.json")
    assert typed.keys.tolist() == keyed.keys.tolist()
    assert np.array_equal(typed.rotations.values, keyed.rotations.values)
    words = shlex.split(page)
    assert words[:4] == ["keypose", "report", str(file), "-o"]
    words[4] = str(tmp_path / "again.html")
    assert run([*words[1:], "--quiet"]) == 0
    assert html in (tmp_path / "again.html").read_text()


def test_what_only_python_can_say_has_no_command_line():
    assert command_line(Settings(keys=3, fitting={"extremes": (0,)}), None, "walk") is None
    assert command_line(Settings(keys=3, choosing={"max_keys": 9}), None, "walk") is None
    assert report_line(Settings(keys=3, fitting={"extremes": (0,)}), None, "walk") is None
    page = report_line(Settings("farthest", keys=3, fitting={"residual": False}), None, "walk")
    assert page == "keypose report walk.bvh -o walk.html --method farthest --keys 3"
    line = command_line(Settings(tolerance_mm=2.5, choosing={"loop": True}, fitting={"threads": 2}), None, "a/../b;c")
    assert shlex.split(line) == ["keypose", "unbake", "a/../b;c.bvh", "a_.._b_c.glb", "--tolerance-mm", "2.5", "--loop"]


def test_reading_options_are_part_of_the_lines():
    reading = Reading("drop", Path("x.asf"), "refuse", 2, 24.0, kp.Limits(joints=5))
    source = Source(Path("take.amc"), "0" * 64, (None, 9), None, {}, reading)
    words = shlex.split(command_line(Settings(), source, "take"))
    assert words[4:] == ["--range", ":9", "--reference-pose", "drop", "--asf", "x.asf", "--gaps", "refuse", "--animation", "2",
                         "--read-fps", "24.0", "--limit", "joints=5"]  # fmt: skip
    lines = python_lines(Settings(), source, kp.demo_motion()[:2])
    assert ("m = kp.load('take.amc', reference_pose='drop', asf='x.asf', gaps='refuse', animation=2, fps=24.0, "
            "limits=kp.Limits(joints=5))[:9]") in lines  # fmt: skip


def test_keys_files_are_read_with_their_detail(motion: kp.Motion, tmp_path: Path):
    file = tmp_path / "walk.keys.json"
    kp.save(kp.unbake(motion[:80], keys=5), file)
    made = report_clip(Reporting(file, tmp_path / "r.html", "clip-1", keys=4)).take
    lines = Page(re.findall(r"<pre>.*?</pre>", made.section.parts[-1].body, re.S)[-1]).of("pre")[0].text
    assert "kp.load_keyed(" in lines
    again = unbaked_by_lines(lines, tmp_path)
    assert again.n_keys == 4
    assert kp.score(motion[:80], again).max_mm == pytest.approx(made.max_mm)
