"""Commands and Python code of a report reproduce its keys and curves."""

from __future__ import annotations

import re
import shlex
import warnings
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.errors import FormatWarning
from keypose.options import LoadOptions
from keypose.pictures.report.analysis import analyse_motion
from keypose.pictures.report.build import ReportJob, build_job_report
from keypose.pictures.report.settings import ReportSettings, Source, python_script, report_command, unbake_command
from support.html_pages import Page


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=120.0)[300:541]


def run_python_script(lines: str, folder: Path, **namespace: object) -> kp.KeyedMotion:
    """Run the Python code of a page and return its keyed motion."""
    names: dict[str, object] = dict(namespace)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)  # GLB has no Euler curves, and says so
        exec(lines.replace("kp.save(keyed, '", f"kp.save(keyed, '{folder}/"), names)
    return names["keyed"]  # type: ignore[return-value]


CASES = [
    ReportSettings(keys=7),
    ReportSettings(tolerance_mm=20.0),
    ReportSettings(auto=True, curve_options={"interpolation": "linear"}),
    ReportSettings(
        keys=6, key_options={"pins": (10, "contacts"), "weights": {"hands": 2.0}}, curve_options={"polish": False}
    ),
    ReportSettings("farthest", keys=5, curve_options={"rotation": "euler", "shared_tangents": True}),
]


@pytest.mark.parametrize("settings", CASES, ids=["keys", "tolerance", "linear", "pins", "farthest"])
def test_python_script_reproduces_the_keys(settings: ReportSettings, motion: kp.Motion, tmp_path: Path):
    part = motion[:90]
    keyed = analyse_motion(part, settings).keyed
    result = run_python_script(python_script(settings, None, part), tmp_path, m=part)
    assert result.keys.tolist() == keyed.keys.tolist()
    assert np.array_equal(result.rotations.values, keyed.rotations.values)
    assert np.array_equal(result.sample().rotations, keyed.sample().rotations)


def test_command_and_script_of_a_file_reproduce_the_result(motion: kp.Motion, tmp_path: Path):
    from keypose.cli.app import run

    file = tmp_path / "a walk's.bvh"
    kp.save(motion, file)
    job = ReportJob(file, tmp_path / "r.html", None, None, LoadOptions(reference_pose="keep"), (20, 180), 60.0, keys=6,
                    key_options={"pins": (60,), "joints": ("hands", "feet")}, curve_options={"polish": False, "residual": False})  # fmt: skip
    html = build_job_report(job)[0].section.subsections[-1].body
    command, page, lines = [Page(each).find_all("pre")[0].text for each in re.findall(r"<pre>.*?</pre>", html, re.S)]
    keyed = run_python_script(lines, tmp_path)
    assert keyed.n_frames == 80
    assert (60 - 20) // 2 in keyed.keys
    arguments = shlex.split(command)
    assert arguments[:3] == ["keypose", "unbake", str(file)]
    arguments[3] = str(tmp_path / "out.keys.json")
    assert run([*arguments[1:], "--quiet"]) == 0
    command_result = kp.load_keyed(tmp_path / "out.keys.json")
    assert command_result.keys.tolist() == keyed.keys.tolist()
    assert np.array_equal(command_result.rotations.values, keyed.rotations.values)
    arguments = shlex.split(page)
    assert arguments[:4] == ["keypose", "report", str(file), "-o"]
    arguments[4] = str(tmp_path / "again.html")
    assert run([*arguments[1:], "--quiet"]) == 0
    assert html in (tmp_path / "again.html").read_text()


def test_python_only_options_have_no_command():
    assert unbake_command(ReportSettings(keys=3, curve_options={"extremes": (0,)}), None, "walk") is None
    assert unbake_command(ReportSettings(keys=3, key_options={"max_keys": 9}), None, "walk") is None
    assert report_command(ReportSettings(keys=3, curve_options={"extremes": (0,)}), None, "walk") is None
    page = report_command(ReportSettings("farthest", keys=3, curve_options={"residual": False}), None, "walk")
    assert page == "keypose report walk.bvh -o walk.html --method farthest --keys 3"
    line = unbake_command(
        ReportSettings(tolerance_mm=2.5, key_options={"loop": True}, curve_options={"threads": 2}), None, "a/../b;c"
    )
    assert shlex.split(line) == ["keypose", "unbake", "a/../b;c.bvh", "a_.._b_c.glb", "--tolerance-mm", "2.5", "--loop"]


def test_the_lines_do_not_replace_the_source(motion: kp.Motion):
    source = Source(Path("walk.GLB"), "0" * 64)
    line = unbake_command(ReportSettings(keys=7), source, "walk")
    assert line is not None
    assert shlex.split(line)[2:4] == ["walk.GLB", "walk-unbaked.glb"]
    assert "kp.save(keyed, 'demo.glb')" in python_script(ReportSettings(keys=7), source, motion)
    assert "kp.save(keyed, 'demo-unbaked.glb')" in python_script(
        ReportSettings(keys=7), Source(Path("takes/demo.glb"), "0" * 64), motion
    )


def test_load_options_are_part_of_the_lines():
    load_options = LoadOptions("drop", Path("x.asf"), "refuse", 2, 24.0, kp.Limits(joints=5))
    source = Source(Path("take.amc"), "0" * 64, (None, 9), None, {}, load_options)
    arguments = shlex.split(unbake_command(ReportSettings(), source, "take"))
    assert arguments[4:] == ["--range", ":9", "--reference-pose", "drop", "--asf", "x.asf", "--gaps", "refuse", "--animation", "2",
                         "--read-fps", "24.0", "--limit", "joints=5"]  # fmt: skip
    lines = python_script(ReportSettings(), source, kp.demo_motion()[:2])
    assert ("m = kp.load('take.amc', reference_pose='drop', asf='x.asf', gaps='refuse', animation=2, fps=24.0, "
            "limits=kp.Limits(joints=5))[:9]") in lines  # fmt: skip


def test_keys_files_are_loaded_with_residual(motion: kp.Motion, tmp_path: Path):
    file = tmp_path / "walk.keys.json"
    kp.save(kp.unbake(motion[:80], keys=5), file)
    clip_report = build_job_report(ReportJob(file, tmp_path / "r.html", keys=4))[0]
    lines = (
        Page(re.findall(r"<pre>.*?</pre>", clip_report.section.subsections[-1].body, re.S)[-1]).find_all("pre")[0].text
    )
    assert "kp.load_keyed(" in lines
    result = run_python_script(lines, tmp_path)
    assert result.n_keys == 4
    assert clip_report.score is not None
    assert kp.score(motion[:80], result).max_mm == pytest.approx(clip_report.score.max_mm)
