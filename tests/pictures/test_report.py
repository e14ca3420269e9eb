"""Reports: the page agrees with the public functions, and its commands reproduce it."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.curves.cubic_fit import compute_inbetween_costs
from keypose.errors import FileError, OptionError
from keypose.metrics import position_errors_mm
from keypose.pictures.figure import build_body
from keypose.pictures.report import report
from keypose.pictures.report.analysis import ClipAnalysis, analyse_motion
from keypose.pictures.report.player import build_player_clip
from keypose.pictures.report.sections import build_clip_report
from keypose.pictures.report.settings import ReportSettings
from support.errors import raises
from support.flips import turn_over
from support.html_pages import Page
from support.motions import markers

EVIL = "<script>alert(1)</script></script><img src=x onerror=alert(1)>\"'&\x00\x1b\u202e\ud800" + "x" * 10_000


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=120.0)[300:541]


@pytest.fixture(scope="module")
def analysis(motion: kp.Motion) -> ClipAnalysis:
    return analyse_motion(motion, ReportSettings(keys=9))


@pytest.fixture(scope="module")
def html(motion: kp.Motion, tmp_path_factory: pytest.TempPathFactory) -> str:
    return report(motion, tmp_path_factory.mktemp("report") / "r.html", keys=9).read_text()


def test_sections_and_headings(html: str, motion: kp.Motion):
    parsed_page = Page(html)
    assert parsed_page.faults == []
    assert parsed_page.headings[0] == (1, motion.name)
    assert [text for level, text in parsed_page.headings if level == 2] == [
        "Key poses", "Original and unbaked", "Accuracy", "Error and number of keys", "Error by joint and frame", "Swings",
        "Keys", "Reproduce this result"]  # fmt: skip
    assert {level for level, _ in parsed_page.headings} == {1, 2}
    assert len(set(parsed_page.ids)) == len(parsed_page.ids)
    pictures = [e for e in parsed_page.find_all("svg") if e.attributes.get("role") == "img"]
    assert len(pictures) == 4
    assert all(e.attributes["aria-label"] for e in pictures)
    assert len(parsed_page.find_all("canvas")) == 1
    assert len(parsed_page.find_all("noscript")) == 1


def test_page_has_no_external_resources(html: str):
    parsed_page = Page(html)
    for element in parsed_page.elements:
        for name, value in element.attributes.items():
            if name in ("src", "href", "srcset", "action", "data", "poster", "xlink:href"):
                assert (value or "").startswith("#"), element
        assert element.tag not in ("link", "iframe", "object", "embed", "form")
    assert "@import" not in html
    assert set(re.findall(r"url\(([^)]{0,20})", "".join(e.text for e in parsed_page.find_all("style")))) == set()


def test_keys_table(html: str, motion: kp.Motion, analysis: ClipAnalysis):
    keyed = kp.unbake(motion, keys=9)
    rows = re.search(r"<caption>Keys\..*?<tbody>(.*?)</tbody>", html, re.S)[1]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", rows)]
    assert [int(row[0].replace(",", "")) for row in cells] == keyed.keys.tolist()
    assert [int(row[1].replace(",", "")) for row in cells] == (keyed.keys + motion.first_frame).tolist()
    assert [row[3] == "extreme" for row in cells] == keyed.extremes.tolist()
    costs = compute_inbetween_costs(motion)
    for k, row in enumerate(cells[1:-1], 1):
        removal_error = costs.span_costs(keyed.keys[[k - 1, k + 1]])[0]  # reference: one at a time
        assert float(row[4]) == pytest.approx(removal_error, abs=0.006)
        assert analysis.removal_errors[k] == pytest.approx(removal_error)
    assert np.isnan(analysis.removal_errors[[0, -1]]).all()


def test_score_table(html: str, motion: kp.Motion):
    score = kp.score(motion, kp.unbake(motion, keys=9))
    for text in (f"{score.mean_mm:.2f} mm", f"{score.p95_mm:.2f} mm", f"{score.max_mm:.2f} mm ({score.worst_joint}, frame "
                 f"{score.worst_frame:,})", f"{score.stored_values:,} numbers"):  # fmt: skip
        assert text in html


def test_flips_are_named(motion: kp.Motion, tmp_path: Path):
    flipped = turn_over(motion, "LeftArm", (61, 63))
    for options, omission in (({"keys": 12}, "; the curves omit it"), ({"tolerance_mm": 30.0}, "")):
        html = kp.report(flipped, tmp_path / "r.html", **options).read_text()
        score = kp.score(flipped, kp.unbake(flipped, **options))
        assert f"LeftArm in frames 61-62: the capture turns a joint over for a few frames{omission}</dd>" in html
        is_in_flip = bool(omission)
        assert score.is_worst_in_flip == is_in_flip
        at = f"{score.worst_joint}, frame {score.worst_frame:,}{', a flip of the capture' * is_in_flip}"
        assert f"{score.max_mm:.2f} mm ({at})" in html
        outside = f"{score.max_mm:.1f} mm at most in a flip of the capture, {score.max_outside_flips_mm:.1f} mm outside"
        assert (outside in html) == is_in_flip == ("largest distance outside of flips" in html)
    assert "flip" not in kp.report(motion, tmp_path / "steady.html", keys=12).read_text()


def test_the_largest_turn_off_names_its_joint_and_frame(html: str, motion: kp.Motion):
    rebuilt = kp.unbake(motion, keys=9).sample()
    off = kp.rotations.angle_between(motion.rotations, rebuilt.rotations)
    frame, joint = np.unravel_index(off.argmax(), off.shape)
    assert f"{np.degrees(off.max()):.1f}° ({motion.skeleton.names[joint]}, frame {frame:,})" in html


@pytest.mark.parametrize(("keys", "n_poses", "rows"), [(4, 4, 1), (12, 12, 1), (20, 20, 2), (36, 36, 3), (50, 36, 3)])
def test_strip_shows_up_to_36_keys(motion: kp.Motion, keys: int, n_poses: int, rows: int):
    analysis = analyse_motion(motion, ReportSettings("uniform", keys=keys))
    body = build_clip_report(analysis, "clip-1").section.subsections[0].body
    frames = [int(each) for each in re.findall(r">(\d+)</text>", body)]
    assert len(frames) == n_poses
    assert set(frames) <= set(analysis.keyed.keys.tolist())
    assert body.count('fill="var(--kp-panel)"') == rows
    assert ("36 of the 50 keys" in body) == (keys == 50)


def test_caption_describes_sides(motion: kp.Motion):
    names = ("LA", "RA", "C7", "T10")
    few = markers(4)
    few_with_sides = replace(few, skeleton=replace(few.skeleton, names=names))
    many = replace(markers(120), skeleton=replace(markers(120).skeleton, names=(
        *(f"L{n}" for n in range(60)), *(f"R{n}" for n in range(60)))))  # fmt: skip
    for m, expected in ((motion, "right is blue and striped"), (few_with_sides, "right is blue and striped"),
                     (many, "right is blue and dashed"), (few, None)):  # fmt: skip
        body = (
            build_clip_report(analyse_motion(m, ReportSettings("uniform", keys=2)), "clip-1")
            .section.subsections[0]
            .body
        )
        caption = re.search(r"<figcaption>(.*?)</figcaption>", body)[1]
        assert (expected or "Below each pose") in caption
        assert expected is not None or "blue" not in caption


def test_error_curve_axis_label(html: str, motion: kp.Motion, tmp_path: Path):
    assert ">largest error (mm)</text>" in html
    others = report(motion, tmp_path / "r.html", keys=9, joints="hands").read_text()
    assert "largest error (mm)" not in others
    assert ">cost (mm)</text>" in others


@pytest.mark.parametrize(
    "options", [{}, {"curve_options": {"interpolation": "linear"}}, {"key_options": {"pins": (7,)}}]
)
def test_automatic_keys_are_those_of_unbake(motion: kp.Motion, options: dict):
    part = motion[:90]
    analysis = analyse_motion(part, ReportSettings(**options))
    plain = kp.unbake(part, auto=True, **options.get("curve_options", {}), **options.get("key_options", {}))
    assert analysis.keyed.keys.tolist() == plain.keys.tolist()
    assert np.array_equal(analysis.keyed.sample().rotations, plain.sample().rotations)
    assert analysis.ladder.counts[-1] == min(90, max(2 * plain.n_keys, 24))


def decode_payload(text: str) -> dict:
    """Decode the data of the player, with points (F, 2, P, 3) in mm."""
    payload = json.loads(text)

    def numbers(name: str, kind: str):
        return np.frombuffer(base64.b64decode(payload[name]), kind)

    payload["stored_frames"], path = numbers("stored_frames", "<u4"), numbers("path", "<f4").reshape(-1, 3)
    positions = numbers("positions", "<i2").reshape(len(path), 2, -1, 3)
    payload["points"] = payload["unit"] * positions + path[:, None, None]
    if payload["errors"]:
        payload["errors"] = payload["error_unit"] * numbers("errors", "<u2").reshape(-1, 2)
        payload["worst_joints"] = numbers("worst_joints", "<u2")
    return payload


def test_player_points_are_exact_up_to_rounding(motion: kp.Motion, analysis: ClipAnalysis):
    clip = build_player_clip(motion, analysis.keyed, analysis.rebuilt, analysis.errors_mm)
    payload, body = decode_payload(clip.text), build_body(motion)
    assert set(range(0, 241, 2)) | set(analysis.keyed.keys.tolist()) | {240} == set(payload["stored_frames"].tolist())
    assert clip.n_stored_frames == len(payload["stored_frames"])
    assert clip.rounding_mm < 0.5
    used = sorted({point for hull in body.hulls for point in hull.points})
    for figure_index, clip_motion in enumerate((motion, analysis.rebuilt)):
        world = body.points_at(clip_motion, payload["stored_frames"].astype(int))[:, used] * motion.mm_per_unit
        player_points = payload["points"][:, figure_index]
        # Distances are those of the world, whatever the axes and the origin.
        first = np.linalg.norm(world - world[:1, :1], axis=-1)
        assert (
            np.abs(np.linalg.norm(player_points - player_points[:1, :1], axis=-1) - first).max()
            < 4 * clip.rounding_mm + 1e-3
        )
        heights = world[..., 1] - world[0, 0, 1]
        assert np.abs(player_points[..., 1] - player_points[0, 0, 1] - heights).max() < 4 * clip.rounding_mm + 1e-3
    both = payload["points"]
    apart = np.linalg.norm(both[:, 0] - both[:, 1], axis=-1)
    assert apart[np.isin(payload["stored_frames"], analysis.keyed.keys)].max() < 4 * clip.rounding_mm  # keys are exact
    errors = position_errors_mm(motion, analysis.rebuilt)
    assert (
        np.abs(payload["errors"] - np.stack((errors.mean(axis=1), errors.max(axis=1)), axis=1)).max()
        < 1e-3 * errors.max()
    )
    names = [payload["joint_names"][joint] for joint in payload["worst_joints"]]
    assert names == [motion.skeleton.names[j] for j in errors.argmax(axis=1)]


@pytest.mark.parametrize("up", ["X", "Y", "Z", "-X", "-Y", "-Z"])
def test_up_is_up_in_the_player(up: str):
    axis, sign = "XYZ".index(up[-1]), -1.0 if up[0] == "-" else 1.0
    offsets = np.zeros((3, 3))
    offsets[1:, axis] = sign
    rotations = np.zeros((4, 3, 4))
    rotations[..., 0] = 1.0
    skeleton = kp.Skeleton(("a", "b", "c"), np.array([-1, 0, 1]), offsets)
    motion = kp.Motion("pole", skeleton, 30.0, np.repeat(offsets[None], 4, 0), rotations, up=up)
    payload = decode_payload(build_player_clip(motion, kp.unbake(motion), motion, None).text)
    heights = payload["points"][0, 0, :, 1]
    assert np.ptp(heights) == pytest.approx(1700.0, rel=1e-3)
    assert np.ptp(payload["points"][0, 0][:, [0, 2]], axis=0).max() < 1.0
    assert payload["floor"] == pytest.approx(heights.min(), abs=1.0)


def test_long_clip_is_thinned(analysis: ClipAnalysis):
    long = kp.demo_motion(fps=120.0)
    longer = replace(
        long, translations=np.concatenate([long.translations] * 15), rotations=np.concatenate([long.rotations] * 15)
    )
    keyed = kp.unbake(longer, (0, 3001, longer.n_frames - 1), residual=False, polish=False)
    clip = build_player_clip(longer, keyed, longer, None)
    assert clip.step > 2
    assert len(clip.text) < 4.2e6
    assert {0, 3001, longer.n_frames - 1} <= set(decode_payload(clip.text)["stored_frames"].tolist())


def test_the_same_motion_gives_the_same_bytes(motion: kp.Motion, html: str, tmp_path: Path):
    assert report([motion], tmp_path / "again.html", keys=9).read_text() == html


def test_pages_are_small(html: str):
    assert len(html.encode()) < 500_000  # 241 frames


def test_multiple_motions_in_one_page(motion: kp.Motion, tmp_path: Path):
    progress_calls: list[tuple[int, int]] = []
    clips = [replace(motion[:60], name="first"), replace(motion[60:130], name="second <b>")]
    path = report(clips, tmp_path / "r.html", keys=4, title="Both", progress=lambda *at: progress_calls.append(at))
    parsed_page = Page(path.read_text())
    assert progress_calls == [(1, 2), (2, 2)]
    assert parsed_page.faults == []
    assert len(set(parsed_page.ids)) == len(parsed_page.ids)
    assert [text for level, text in parsed_page.headings if level < 3] == ["Both", "first", "second <b>"]
    assert [e.attributes["href"] for e in parsed_page.find_all("a")][1:] == ["#clip-1", "#clip-2"]
    assert len(parsed_page.find_all("canvas")) == 2
    assert (
        sum(e.attributes.get("type") is None for e in parsed_page.find_all("script")) == 2
    )  # the page's and the players'


def test_text_from_files_stays_text(motion: kp.Motion, tmp_path: Path):
    names = tuple(f"{EVIL}{n}" for n in range(motion.n_joints))
    evil = replace(motion[:40], name=EVIL, notes=(EVIL,) * 40, skeleton=replace(motion.skeleton, names=names))
    html = report(evil, tmp_path / "r.html", keys=4).read_text()
    parsed_page = Page(html)
    assert parsed_page.faults == []
    assert not parsed_page.find_all("img")
    assert len(parsed_page.find_all("script")) == 3
    assert "<script>alert(1)</script>" in parsed_page.find_all("h1")[0].text
    assert not re.search("[\x00\x1b\u202e]", html)


def pole(frames: int, joints: int = 3, step=(0.0, 1.0, 0.0), scale: float = 1.0) -> kp.Motion:
    offsets = scale * np.array([(0.0, 0.0, 0.0)] + [step] * (joints - 1))
    rotations = np.zeros((frames, joints, 4))
    rotations[..., 0], rotations[..., 1] = (
        np.cos(np.arange(frames) / 20)[:, None],
        np.sin(np.arange(frames) / 20)[:, None],
    )
    skeleton = kp.Skeleton(tuple(f"j{n}" for n in range(joints)), np.arange(-1, joints - 1), offsets)
    return kp.Motion("pole", skeleton, 30.0, np.repeat(offsets[None], frames, 0), rotations)


@pytest.mark.parametrize(
    "odd",
    [
        pole(1),
        pole(2),
        pole(20, 1),
        pole(1, 1),
        pole(9, 3, (1.0, 0.0, 0.0)),
        pole(20, scale=1e14),
        pole(20, scale=1e-12),
    ],
    ids=["one frame", "two frames", "one joint", "one of each", "no height", "huge", "tiny"],
)
def test_degenerate_motions_get_a_complete_page(odd: kp.Motion, tmp_path: Path):
    parsed_page = Page(report(odd, tmp_path / "r.html").read_text())
    assert parsed_page.faults == []
    assert len(parsed_page.find_all("canvas")) == 1
    text = next(e.text for e in parsed_page.find_all("script") if e.attributes.get("type") == "application/json")
    assert np.isfinite(decode_payload(text)["points"]).all()
    main_text = parsed_page.find_all("main")[0].text
    assert ("no height" in main_text) == (odd.height <= 0)


def test_a_comparison_gets_its_own_page(motion: kp.Motion, tmp_path: Path):
    from keypose.batch.compare import compare
    from keypose.pictures.comparison import comparison_page

    comparison = compare([motion[:60]], ["uniform"])
    path = report(comparison, tmp_path / "r.html", title="Which?")
    assert path.read_text() == comparison_page(comparison, title="Which?")
    with raises(OptionError, expected="title= at most"):
        report(comparison, tmp_path / "r.html", keys=3)


@pytest.mark.parametrize(
    ("motions", "options", "fields"),
    [
        ([], {}, {"expected": "a Motion, as kp.load gives, or several of them"}),
        (["walk.bvh"], {}, {"expected": "a Motion, as kp.load gives, or several of them"}),
        (None, {"keys": 3, "auto": True}, {"code": "conflicting_options"}),
        (None, {"method": "nothing"}, {"option": "method", "value": "nothing"}),
        (None, {"method": "farthest", "tolerance_mm": 3.0}, {"option": "tolerance_mm", "value": 3.0}),
        (None, {"colour": 3}, {"value": "colour"}),
    ],
)
def test_invalid_arguments(motion: kp.Motion, tmp_path: Path, motions, options, fields):
    with raises(OptionError, **fields):
        report(motion[:30] if motions is None else motions, tmp_path / "r.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_invalid_path_is_rejected_first(tmp_path: Path):
    with raises(OptionError, code="unwritable", path=str(tmp_path / "r.pdf")):
        report(None, tmp_path / "r.pdf")  # type: ignore[arg-type]
    with raises(FileError, code="write_failed"):
        report(pole(2), tmp_path / "none" / "r.html")


@pytest.mark.data
def test_real_clips_of_every_kind_get_a_page_within_its_budget(data_dir: Path, tmp_path: Path):
    walk = kp.load(data_dir / "cmu120" / "07_05_walk.bvh")
    assert walk.n_frames > 500
    assert report(walk, tmp_path / "walk.html").stat().st_size < 1_000_000
    clips = [kp.load(data_dir / "gltf" / "Fox.glb"), kp.load(data_dir / "gltf" / "RobotExpressive.glb")]
    assert Page(report(clips, tmp_path / "several.html").read_text()).faults == []
