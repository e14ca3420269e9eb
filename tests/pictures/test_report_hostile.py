"""Reports with hostile names and sizes: escaping, table values and runnable commands."""

from __future__ import annotations

import json
import re
import subprocess
import warnings
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.metrics import position_errors_mm
from keypose.pictures.page import format_shell_command
from keypose.pictures.report.analysis import ClipAnalysis, analyse_motion
from keypose.pictures.report.build import ReportJob, build_job_report
from keypose.pictures.report.player import build_player_clip
from keypose.pictures.report.settings import ReportSettings
from support.errors import raises
from support.html_pages import Page

ENDS = "</script><script>alert(1)</script>"
OPENS = "<!--<script>"


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=30.0)[60:130]


@pytest.fixture(scope="module")
def analysis(motion: kp.Motion) -> ClipAnalysis:
    return analyse_motion(motion, ReportSettings(keys=6))


@pytest.fixture(scope="module")
def evil(motion: kp.Motion) -> kp.Motion:
    names = tuple(f"{(ENDS, OPENS)[n % 2]}&{n}" for n in range(motion.n_joints))
    skeleton = replace(motion.skeleton, names=names)
    return replace(motion, name=ENDS + OPENS, notes=(ENDS, OPENS), skeleton=skeleton)


def test_no_name_ends_the_data_of_the_player(evil: kp.Motion):
    keyed = kp.unbake(evil, keys=4)
    text = build_player_clip(evil, keyed, keyed.sample(), np.eye(evil.n_frames, evil.n_joints)).text
    assert not set("<>&") & set(text)
    joints = json.loads(text)["joint_names"]
    assert joints and all(name.startswith((ENDS, OPENS)) for name in joints)


def test_a_page_of_such_names_has_its_own_scripts_alone(evil: kp.Motion, motion: kp.Motion, tmp_path: Path):
    pages = [kp.report(each, tmp_path / "r.html", keys=4).read_text() for each in (evil, motion)]
    counts = [[len(re.findall(sign, page, re.I)) for sign in ("<script", "</script", "<!--")] for page in pages]
    assert counts[0] == counts[1]
    parsed_page = Page(pages[0])
    assert parsed_page.faults == []
    (data,) = [
        each.text for each in parsed_page.find_all("script") if each.attributes.get("type") == "application/json"
    ]
    assert any(name.startswith(ENDS) for name in json.loads(data)["joint_names"])


def cells(body: str, caption: str) -> list[list[str]]:
    """Return the rows of the table with ``caption``."""
    rows = re.search(rf"<caption>{caption}.*?<tbody>(.*?)</tbody>", body, re.S)[1]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", rows)]


def test_score_table_values(motion: kp.Motion, tmp_path: Path):
    html = kp.report(motion, tmp_path / "r.html", keys=6).read_text()
    score = kp.score(motion, kp.unbake(motion, keys=6))
    rows = dict(cells(html, "How far the unbaked motion is"))
    assert rows["mean distance of joints"] == f"{score.mean_mm:.2f} mm"
    assert rows["95 % of joints and frames within"] == f"{score.p95_mm:.2f} mm"
    assert rows["largest distance"].startswith(f"{score.max_mm:.2f} mm ({score.worst_joint}")
    assert rows["mean rotation error"] == f"{score.mean_deg:.2f}°"
    assert rows["largest rotation error"].startswith(f"{score.max_deg:.1f}°")
    assert rows["stored"] == f"{score.stored_values:,} numbers"


def test_joints_table_values(motion: kp.Motion, analysis: ClipAnalysis, tmp_path: Path):
    html = kp.report(motion, tmp_path / "r.html", keys=6).read_text()
    errors = position_errors_mm(motion, analysis.rebuilt)
    rows = cells(html, "Error by joint")
    assert len(rows) == motion.n_joints
    for name, mean, p95, max_error, frame in rows:
        own = np.sort(errors[:, motion.skeleton.names.index(name)])
        at = 0.95 * (len(own) - 1)
        within = own[int(at)] + (at - int(at)) * (own[int(at) + 1] - own[int(at)])
        assert [float(mean), float(p95), float(max_error)] == pytest.approx([own.mean(), within, own[-1]], abs=0.006)
        assert errors[int(frame.replace(",", "")), motion.skeleton.names.index(name)] == own[-1]


NAMES = [b"n\xff.bvh", b"caf\xe9 '\\ $x.bvh", "\u202ewalk\x1b[31m.bvh".encode(), "wälk's.bvh".encode()]


@pytest.mark.parametrize("name", NAMES)
def test_commands_with_undecodable_file_names(name: bytes, motion: kp.Motion, tmp_path: Path):
    path = tmp_path / name.decode("utf-8", "surrogateescape")
    try:
        kp.save(motion, path)
    except kp.FileError:
        pytest.skip("there are no such names here")
    body = build_job_report(ReportJob(path, tmp_path / "r.html", keys=4))[0].section.subsections[-1].body
    lines = [unescape(each) for each in re.findall(r"<pre><code>(.*?)</code></pre>", body, re.S)]
    commands, python = lines[:-1], lines[-1]
    assert commands
    for command in commands:
        arguments = subprocess.run(
            ["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True
        ).stdout.split(b"\0")
        assert arguments[0] == b"keypose" and arguments[2] == bytes(path)
    names: dict[str, kp.Motion] = {}
    exec(python.split("\nkeyed = ")[0], names)
    assert names["m"].n_frames == motion.n_frames


def test_shell_arguments_are_escaped_only_if_needed():
    assert format_shell_command(["keypose", "a b", "it's"]) == "keypose 'a b' 'it'\"'\"'s'"
    assert format_shell_command(["n\udcff.bvh"]) == r"$'n\xff.bvh'"
    assert format_shell_command(["'\\\ud800"]) == r"$'\x27\x5c\xed\xa0\x80'"


def test_numpy_options_are_written_as_plain_numbers(motion: kp.Motion, tmp_path: Path):
    options = {"jump_penalty": np.float32(5), "pins": np.array([7, 20]), "weights": {"hands": np.float64(2)}}
    html = kp.report(motion, tmp_path / "r.html", keys=np.int64(6), **options).read_text()
    plain = {"jump_penalty": 5.0, "pins": [7, 20], "weights": {"hands": 2.0}}
    assert html == kp.report(motion, tmp_path / "p.html", keys=6, **plain).read_text()
    assert "--jump-penalty 5.0" in html and "np." not in html


def test_a_figure_too_small_to_measure_by_has_no_height(motion: kp.Motion, tmp_path: Path):
    tiny = scale_motion(motion, 1e-310)
    assert tiny.height == 0 and scale_motion(motion, 1e-90).height == pytest.approx(1e-90 * motion.height)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        html = kp.report(tiny, tmp_path / "r.html", keys=4).read_text()
        assert "The figure has no height" in html and Page(html).faults == []
        for measure in (lambda: position_errors_mm(tiny, tiny), lambda: kp.score(tiny, tiny)):
            with raises(kp.OptionError, code="no_height"):
                measure()
        with raises(kp.KeyposeError, code="no_height"):
            kp.compare(tiny, "uniform", curves=False)
        assert np.isfinite(position_errors_mm(scale_motion(motion, 1e-90), scale_motion(motion, 1e-90))).all()


def scale_motion(motion: kp.Motion, factor: float) -> kp.Motion:
    bones = motion.skeleton
    skeleton = replace(bones, offsets=factor * bones.offsets, end_offsets=factor * bones.end_offsets)
    return replace(motion, skeleton=skeleton, translations=factor * motion.translations, reference_pose=None)
