"""Reports: what is in the page is what the verbs answer, and the lines in it make it again."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from html_pages import Page
from motions import markers

import keypose as kp
from keypose.errors import FileError, OptionError
from keypose.inbetween.costs import inbetween_costs
from keypose.metrics import position_errors_mm
from keypose.pictures.figure import body_of
from keypose.pictures.report import report
from keypose.pictures.report.clip import played_clip
from keypose.pictures.report.sections import reported
from keypose.pictures.report.settings import Settings
from keypose.pictures.report.take import Take, take_of

EVIL = "<script>alert(1)</script></script><img src=x onerror=alert(1)>\"'&\x00\x1b\u202e\ud800" + "x" * 10_000


@pytest.fixture(scope="module")
def motion() -> kp.Motion:
    return kp.demo_motion(fps=120.0)[300:541]


@pytest.fixture(scope="module")
def take(motion: kp.Motion) -> Take:
    return take_of(motion, Settings(keys=9))


@pytest.fixture(scope="module")
def html(motion: kp.Motion, tmp_path_factory: pytest.TempPathFactory) -> str:
    return report(motion, tmp_path_factory.mktemp("report") / "r.html", keys=9).read_text()


def test_all_parts_are_there_under_headings_in_order(html: str, motion: kp.Motion):
    found = Page(html)
    assert found.faults == []
    assert found.headings[0] == (1, motion.name)
    assert [text for level, text in found.headings if level == 2] == [
        "Key poses", "Original and unbaked", "How close it is", "Error and number of keys", "Where it is off", "Swings",
        "Keys", "Make it again"]  # fmt: skip
    assert {level for level, _ in found.headings} == {1, 2}
    assert len(set(found.ids)) == len(found.ids)
    pictures = [e for e in found.of("svg") if e.attributes.get("role") == "img"]
    assert len(pictures) == 4
    assert all(e.attributes["aria-label"] for e in pictures)
    assert len(found.of("canvas")) == 1
    assert len(found.of("noscript")) == 1


def test_nothing_in_the_page_is_from_elsewhere(html: str):
    found = Page(html)
    for element in found.elements:
        for name, value in element.attributes.items():
            if name in ("src", "href", "srcset", "action", "data", "poster", "xlink:href"):
                assert (value or "").startswith("#"), element
        assert element.tag not in ("link", "iframe", "object", "embed", "form")
    assert "@import" not in html
    assert set(re.findall(r"url\(([^)]{0,20})", "".join(e.text for e in found.of("style")))) == set()


def test_the_keys_are_listed_with_what_they_are_worth(html: str, motion: kp.Motion, take: Take):
    keyed = kp.unbake(motion, keys=9)
    rows = re.search(r"<caption>Keys\..*?<tbody>(.*?)</tbody>", html, re.S)[1]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", rows)]
    assert [int(row[0].replace(",", "")) for row in cells] == keyed.keys.tolist()
    assert [int(row[1].replace(",", "")) for row in cells] == (keyed.keys + motion.first_frame).tolist()
    assert [row[3] == "extreme" for row in cells] == keyed.extremes.tolist()
    costs = inbetween_costs(motion)
    for k, row in enumerate(cells[1:-1], 1):
        worth = costs.of_spans(keyed.keys[[k - 1, k + 1]])[0]  # one at a time: the slow way
        assert float(row[4]) == pytest.approx(worth, abs=0.006)
        assert take.worth[k] == pytest.approx(worth)
    assert np.isnan(take.worth[[0, -1]]).all()


def test_the_figures_are_those_of_the_score(html: str, motion: kp.Motion):
    score = kp.score(motion, kp.unbake(motion, keys=9))
    for text in (f"{score.mean_mm:.2f} mm", f"{score.p95_mm:.2f} mm", f"{score.max_mm:.2f} mm ({score.worst_joint}, frame "
                 f"{score.worst_frame:,})", f"{score.stored_values:,} numbers"):  # fmt: skip
        assert text in html


def test_the_largest_turn_off_names_its_joint_and_frame(html: str, motion: kp.Motion):
    rebuilt = kp.unbake(motion, keys=9).sample()
    off = kp.rotations.angle_between(motion.rotations, rebuilt.rotations)
    frame, joint = np.unravel_index(off.argmax(), off.shape)
    assert f"{np.degrees(off.max()):.1f}° ({motion.skeleton.names[joint]}, frame {frame:,})" in html


@pytest.mark.parametrize(("keys", "shown", "rows"), [(4, 4, 1), (12, 12, 1), (20, 20, 2), (36, 36, 3), (50, 36, 3)])
def test_all_keys_are_in_the_strip_as_far_as_there_is_room(motion: kp.Motion, keys: int, shown: int, rows: int):
    made = take_of(motion, Settings("uniform", keys=keys))
    body = reported(made, "clip-1").section.parts[0].body
    said = [int(each) for each in re.findall(r">(\d+)</text>", body)]
    assert len(said) == shown
    assert set(said) <= set(made.keyed.keys.tolist())
    assert body.count('fill="var(--kp-panel)"') == rows
    assert ("36 of the 50 keys" in body) == (keys == 50)


def test_the_words_about_sides_are_those_of_the_figure(motion: kp.Motion):
    names = ("LA", "RA", "C7", "T10")
    few = markers(4)
    sided = replace(few, skeleton=replace(few.skeleton, names=names))
    many = replace(markers(120), skeleton=replace(markers(120).skeleton, names=(
        *(f"L{n}" for n in range(60)), *(f"R{n}" for n in range(60)))))  # fmt: skip
    for m, words in ((motion, "right is blue and striped"), (sided, "right is blue and striped"),
                     (many, "right is blue and dashed"), (few, None)):  # fmt: skip
        body = reported(take_of(m, Settings("uniform", keys=2)), "clip-1").section.parts[0].body
        caption = re.search(r"<figcaption>(.*?)</figcaption>", body)[1]
        assert (words or "Below each pose") in caption
        assert words is not None or "blue" not in caption


def test_the_error_curve_says_what_its_axis_is(html: str, motion: kp.Motion, tmp_path: Path):
    assert ">largest error (mm)</text>" in html
    others = report(motion, tmp_path / "r.html", keys=9, joints="hands").read_text()
    assert "largest error (mm)" not in others
    assert ">cost (mm)</text>" in others


@pytest.mark.parametrize("options", [{}, {"fitting": {"interpolation": "linear"}}, {"choosing": {"pins": (7,)}}])
def test_without_a_number_of_keys_one_search_gives_keys_and_curve(
    motion: kp.Motion, options: dict, monkeypatch: pytest.MonkeyPatch
):
    part, calls = motion[:90], []
    monkeypatch.setattr("keypose.pictures.report.take.ladder", lambda *a, **k: calls.append(a))
    made = take_of(part, Settings(**options))
    plain = kp.unbake(part, auto=True, **options.get("fitting", {}), **options.get("choosing", {}))
    assert calls == []
    assert made.keyed.keys.tolist() == plain.keys.tolist()
    assert np.array_equal(made.keyed.sample().rotations, plain.sample().rotations)
    assert made.ladder.at(made.keyed.n_keys).frames.tolist() == plain.keys.tolist()
    assert made.ladder.counts[-1] == min(90, max(2 * plain.n_keys, 24))


def decoded(text: str) -> dict:
    """The player's data as the page has them: positions (F, 2, P, 3) in mm."""
    told = json.loads(text)

    def numbers(name: str, kind: str):
        return np.frombuffer(base64.b64decode(told[name]), kind)

    told["at"], path = numbers("at", "<u4"), numbers("path", "<f4").reshape(-1, 3)
    places = numbers("places", "<i2").reshape(len(path), 2, -1, 3)
    told["points"] = told["unit"] * places + path[:, None, None]
    if told["off"]:
        told["off"] = told["off_unit"] * numbers("off", "<u2").reshape(-1, 2)
        told["worst"] = numbers("worst", "<u2")
    return told


def test_the_player_gets_the_very_points_but_for_rounding(motion: kp.Motion, take: Take):
    clip = played_clip(motion, take.keyed, take.rebuilt, take.errors_mm)
    told, body = decoded(clip.text), body_of(motion)
    assert set(range(0, 241, 2)) | set(take.keyed.keys.tolist()) | {240} == set(told["at"].tolist())
    assert clip.n_stored == len(told["at"])
    assert clip.rounding_mm < 0.5
    used = sorted({point for part in body.parts for point in part.points})
    for which, each in enumerate((motion, take.rebuilt)):
        world = body.points_at(each, told["at"].astype(int))[:, used] * motion.mm_per_unit
        shown = told["points"][:, which]
        # As far from each other as in the world, whatever the axes and the origin are.
        first = np.linalg.norm(world - world[:1, :1], axis=-1)
        assert np.abs(np.linalg.norm(shown - shown[:1, :1], axis=-1) - first).max() < 4 * clip.rounding_mm + 1e-3
        heights = world[..., 1] - world[0, 0, 1]
        assert np.abs(shown[..., 1] - shown[0, 0, 1] - heights).max() < 4 * clip.rounding_mm + 1e-3
    both = told["points"]
    apart = np.linalg.norm(both[:, 0] - both[:, 1], axis=-1)
    assert apart[np.isin(told["at"], take.keyed.keys)].max() < 4 * clip.rounding_mm  # keys are seen as they are
    errors = position_errors_mm(motion, take.rebuilt)
    assert np.abs(told["off"] - np.stack((errors.mean(axis=1), errors.max(axis=1)), axis=1)).max() < 1e-3 * errors.max()
    names = [told["joints"][joint] for joint in told["worst"]]
    assert names == [motion.skeleton.names[j] for j in errors.argmax(axis=1)]


@pytest.mark.parametrize("up", ["X", "Y", "Z", "-X", "-Y", "-Z"])
def test_up_is_up_in_the_player(up: str):
    axis, sign = "XYZ".index(up[-1]), -1.0 if up[0] == "-" else 1.0
    offsets = np.zeros((3, 3))
    offsets[1:, axis] = sign
    turns = np.zeros((4, 3, 4))
    turns[..., 0] = 1.0
    skeleton = kp.Skeleton(("a", "b", "c"), np.array([-1, 0, 1]), offsets)
    motion = kp.Motion("pole", skeleton, 30.0, np.repeat(offsets[None], 4, 0), turns, up=up)
    told = decoded(played_clip(motion, kp.unbake(motion), motion, None).text)
    heights = told["points"][0, 0, :, 1]
    assert np.ptp(heights) == pytest.approx(1700.0, rel=1e-3)
    assert np.ptp(told["points"][0, 0][:, [0, 2]], axis=0).max() < 1.0
    assert told["floor"] == pytest.approx(heights.min(), abs=1.0)


def test_a_long_clip_is_thinned_and_says_so(take: Take):
    long = kp.demo_motion(fps=120.0)
    longer = replace(
        long, translations=np.concatenate([long.translations] * 15), rotations=np.concatenate([long.rotations] * 15)
    )
    keyed = kp.unbake(longer, (0, 3001, longer.n_frames - 1), residual=False, polish=False)
    clip = played_clip(longer, keyed, longer, None)
    assert clip.step > 2
    assert len(clip.text) < 4.2e6
    assert {0, 3001, longer.n_frames - 1} <= set(decoded(clip.text)["at"].tolist())


def test_the_same_motion_gives_the_same_bytes(motion: kp.Motion, html: str, tmp_path: Path):
    assert report([motion], tmp_path / "again.html", keys=9).read_text() == html


def test_pages_are_small(html: str):
    assert len(html.encode()) < 500_000  # 241 frames


def test_several_motions_go_into_one_page(motion: kp.Motion, tmp_path: Path):
    told: list[tuple[int, int]] = []
    parts = [replace(motion[:60], name="first"), replace(motion[60:130], name="second <b>")]
    path = report(parts, tmp_path / "r.html", keys=4, title="Both", progress=lambda *at: told.append(at))
    found = Page(path.read_text())
    assert told == [(1, 2), (2, 2)]
    assert found.faults == []
    assert len(set(found.ids)) == len(found.ids)
    assert [text for level, text in found.headings if level < 3] == ["Both", "first", "second <b>"]
    assert [e.attributes["href"] for e in found.of("a")][1:] == ["#clip-1", "#clip-2"]
    assert len(found.of("canvas")) == 2
    assert sum(e.attributes.get("type") is None for e in found.of("script")) == 2  # the page's and the players'


def test_text_from_files_stays_text(motion: kp.Motion, tmp_path: Path):
    names = tuple(f"{EVIL}{n}" for n in range(motion.n_joints))
    evil = replace(motion[:40], name=EVIL, notes=(EVIL,) * 40, skeleton=replace(motion.skeleton, names=names))
    html = report(evil, tmp_path / "r.html", keys=4).read_text()
    found = Page(html)
    assert found.faults == []
    assert not found.of("img")
    assert len(found.of("script")) == 3
    assert "<script>alert(1)</script>" in found.of("h1")[0].text
    assert not re.search("[\x00\x1b\u202e]", html)


def pole(frames: int, joints: int = 3, step=(0.0, 1.0, 0.0), scale: float = 1.0) -> kp.Motion:
    offsets = scale * np.array([(0.0, 0.0, 0.0)] + [step] * (joints - 1))
    turns = np.zeros((frames, joints, 4))
    turns[..., 0], turns[..., 1] = np.cos(np.arange(frames) / 20)[:, None], np.sin(np.arange(frames) / 20)[:, None]
    skeleton = kp.Skeleton(tuple(f"j{n}" for n in range(joints)), np.arange(-1, joints - 1), offsets)
    return kp.Motion("pole", skeleton, 30.0, np.repeat(offsets[None], frames, 0), turns)


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
def test_odd_motions_get_a_whole_page(odd: kp.Motion, tmp_path: Path):
    found = Page(report(odd, tmp_path / "r.html").read_text())
    assert found.faults == []
    assert len(found.of("canvas")) == 1
    text = next(e.text for e in found.of("script") if e.attributes.get("type") == "application/json")
    assert np.isfinite(decoded(text)["points"]).all()
    shown = found.of("main")[0].text
    assert ("no height" in shown) == (odd.height <= 0)


def test_a_comparison_gets_its_own_page(motion: kp.Motion, tmp_path: Path):
    from keypose.batch.compare import compare
    from keypose.pictures.comparison import comparison_page

    compared = compare([motion[:60]], ["uniform"])
    path = report(compared, tmp_path / "r.html", title="Which?")
    assert path.read_text() == comparison_page(compared, title="Which?")
    with pytest.raises(OptionError, match="measured already"):
        report(compared, tmp_path / "r.html", keys=3)


@pytest.mark.parametrize(
    ("motions", "options", "message"),
    [
        ([], {}, "expected a Motion"),
        (["walk.bvh"], {}, "expected a Motion"),
        (None, {"keys": 3, "auto": True}, "not several"),
        (None, {"method": "nothing"}, "method 'nothing'"),
        (None, {"method": "farthest", "tolerance_mm": 3.0}, "only salient"),
        (None, {"colour": 3}, "colour"),
    ],
)
def test_what_cannot_be_is_refused(motion: kp.Motion, tmp_path: Path, motions, options, message):
    with pytest.raises(OptionError, match=message):
        report(motion[:30] if motions is None else motions, tmp_path / "r.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_refused_before_any_work(tmp_path: Path):
    with pytest.raises(OptionError, match=r"\.html"):
        report(None, tmp_path / "r.pdf")  # type: ignore[arg-type]
    with pytest.raises(FileError, match="cannot be written"):
        report(pole(2), tmp_path / "none" / "r.html")


@pytest.mark.data
def test_real_clips_of_every_kind_get_a_page_within_its_budget(data_dir: Path, tmp_path: Path):
    walk = kp.load(data_dir / "cmu120" / "07_05_walk.bvh")
    assert walk.n_frames > 500
    assert report(walk, tmp_path / "walk.html").stat().st_size < 1_000_000
    several = [kp.load(data_dir / "gltf" / "Fox.glb"), kp.load(data_dir / "gltf" / "RobotExpressive.glb")]
    assert Page(report(several, tmp_path / "several.html").read_text()).faults == []
