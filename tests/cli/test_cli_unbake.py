"""``keypose unbake``: written files and output match the Python API."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

import keypose as kp
from keypose.batch.unbake import UnbakeJob, UnbakeResult, unbake_clip
from keypose.cli import unbake
from keypose.metrics import FootSlide, position_errors_mm
from keypose.rotations import angle_between
from support import cli_docs
from support.flips import turn_over


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def document(result) -> dict:
    return json.loads(result.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def same(one: kp.KeyedMotion, other: kp.KeyedMotion) -> bool:
    return one.keys.tolist() == other.keys.tolist() and all(
        np.array_equal(getattr(getattr(one, curves), part), getattr(getattr(other, curves), part))
        for curves in ("translations", "rotations")
        for part in ("values", "in_tangents", "out_tangents")
    )


@pytest.mark.parametrize("suffix", [".glb", ".gltf", ".bvh", ".bvh.gz", ".keys.json"])
def test_one_file(keypose, walk: Path, motion: kp.Motion, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / "new" / f"out{suffix}"
    result = keypose("unbake", walk, out, "--keys", 30)
    assert (result.code, result.err) == (0, "")
    assert names(tmp_path / "new") == sorted({f"out{suffix}", "out.keys.json"})
    expected = kp.unbake(motion, keys=30)
    keyed = kp.load_keyed(tmp_path / "new" / "out.keys.json")
    assert same(keyed, expected)
    assert position_errors_mm(motion, keyed.sample(1.0)).max() < 1e-6
    written = kp.load(out)
    joints = [written.skeleton.names.index(name) for name in motion.skeleton.names]
    scale = (written.metres_per_unit or 1.0) / (motion.metres_per_unit or 1.0) if written.metres_per_unit else 1.0
    off = written.world_positions()[:, joints] * scale - expected.sample().world_positions()
    assert np.abs(off).max() * motion.mm_per_unit < 0.01
    score = kp.score(motion, expected)
    assert f"30 of {motion.n_frames} frames, {100 * (1 - 30 / motion.n_frames):.1f} % removed (" in result.out
    assert (
        f"{unbake.format_mm(score.mean_mm)} mm on average, 95 % within {unbake.format_mm(score.p95_mm)} mm"
        in result.out
    )
    assert f"{unbake.format_mm(score.max_mm)} mm at most: " in result.out
    assert f"{unbake.format_mm(score.mean_deg)} degrees off on average" in result.out
    assert f"{tmp_path / 'new' / 'out.keys.json'} (" in result.out
    assert (f"all {motion.n_frames} frames, without keys and curves" in result.out) == ("bvh" in suffix)
    assert ("next: edit the frames, save them, " in result.out) == ("bvh" in suffix)
    (command,) = [line.strip() for line in result.out.splitlines() if line.startswith("  keypose rebake ")]
    edited, final = ("EDITED.bvh", "FINAL.bvh") if "bvh" in suffix else ("EDITED.glb", "FINAL.glb")
    assert command == f"keypose rebake {edited} {final} --from {tmp_path / 'new' / 'out.keys.json'}"
    assert ("for Blender" in result.out) == ("gl" in suffix)


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_a_file_that_keeps_keys_holds_as_many(
    keypose, walk: Path, motion: kp.Motion, tmp_path: Path, suffix: str
) -> None:
    assert keypose("unbake", walk, tmp_path / f"out{suffix}", "--keys", 30).code == 0
    written, expected = kp.load_keyed(tmp_path / f"out{suffix}"), kp.unbake(motion, keys=30)
    assert written.keys.tolist() == expected.keys.tolist()
    assert kp.score(motion, kp.load_keyed(tmp_path / "out.keys.json")).max_mm == kp.score(motion, expected).max_mm


def test_json_matches_the_api(keypose, walk: Path, motion: kp.Motion, tmp_path: Path) -> None:
    out = tmp_path / "out.glb"
    result = keypose("unbake", walk, out, "--keys", 30, "--json")
    assert (result.code, result.err) == (0, "")
    payload = document(result)
    assert list(payload) == ["unbaked", "failed", "skipped", "n_remaining", "interrupted", "seconds"]
    (unbaked,) = payload["unbaked"]
    keyed = kp.unbake(motion, keys=30)
    score = kp.score(motion, keyed)
    assert (unbaked["source"], unbaked["target"]) == (str(walk), str(out))
    assert unbaked["keys_file"] == str(tmp_path / "out.keys.json")
    assert (unbaked["n_frames"], unbaked["fps"], unbaked["method"]) == (motion.n_frames, 20.0, "salient")
    assert unbaked["frames"] == keyed.keys.tolist()
    assert unbaked["times_s"] == [frame / 20.0 for frame in unbaked["frames"]]
    assert unbaked["extremes"] == keyed.keys[keyed.extremes].tolist()
    assert unbaked["removed_percent"] == pytest.approx(100 * (1 - 30 / motion.n_frames))
    assert unbaked["score"] == {name: value for name, value in score.figures().items() if name != "bytes"}
    errors = position_errors_mm(motion, keyed.sample())
    joint = motion.joint(unbaked["score"]["worst_joint"])
    assert errors[unbaked["score"]["worst_frame"], joint] == pytest.approx(score.max_mm)
    frame, joint = unbaked["score"]["worst_rotation_frame"], motion.joint(unbaked["score"]["worst_rotation_joint"])
    angles = angle_between(motion.rotations[frame, joint], keyed.sample().rotations[frame, joint])
    assert np.rad2deg(angles) == pytest.approx(score.max_deg)
    assert unbaked["bytes"] == out.stat().st_size
    assert unbaked["keys_file_bytes"] == (tmp_path / "out.keys.json").stat().st_size
    assert (unbaked["keeps_keys"], unbaked["has_residual"]) == (True, True)
    assert unbaked["options"]["keys"] == 30
    assert keypose("unbake", walk, tmp_path / "q.glb", "-q", "--keys", 30) == type(result)(0, "", "")


def test_docs_name_every_json_field(keypose, walk: Path, tmp_path: Path) -> None:
    (payload,) = document(keypose("unbake", walk, tmp_path / "x.bvh", "--keys", 9, "--json"))["unbaked"]
    assert {*payload, *payload["score"]} <= cli_docs.documented_fields("unbake")


def test_how_many_keys(keypose, walk: Path, motion: kp.Motion, tmp_path: Path) -> None:
    for arguments, options, message in (
        ([], {"auto": True}, "; within 17 mm, 1 % of the figure (--keys or --tolerance-mm: another number)\n"),
        (["--auto"], {"auto": True}, "; within 17 mm, 1 % of the figure\n"),
        (["--tolerance-mm", 40], {"tolerance_mm": 40.0}, "; the fewest within 40 mm\n"),
    ):
        result = keypose("unbake", walk, tmp_path / "x.keys.json", "--overwrite", *arguments)
        assert message in result.out
        assert kp.load_keyed(tmp_path / "x.keys.json").keys.tolist() == kp.unbake(motion, **options).keys.tolist()
    assert kp.score(motion, kp.load_keyed(tmp_path / "x.keys.json")).max_mm <= 40.0


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--interpolation", "natural"], {"interpolation": "natural"}),
        (["--interpolation", "linear"], {"interpolation": "linear"}),
        (["--rotation", "euler"], {"rotation": "euler"}),
        (["--shared-tangents"], {"shared_tangents": True}),
        (["--jump-penalty", "0.01"], {"jump_penalty": 0.01}),
        (["--smooth"], {"smooth": True}),
        (["--no-smooth"], {"smooth": False}),
        (["--polish"], {"polish": True}),
        (["--polish-weight", "feet=5,head=2"], {"polish_weights": {"feet": 5.0, "head": 2.0}}),
        (["--no-polish"], {"polish": False}),
        (["--pin", "30,88", "--pin", "13", "--exclude", "40,41"], {"pins": (30, 88, 13), "excluded": (40, 41)}),
        (["--pin", "contacts"], {"pins": ("contacts",)}),
        (["--joints", "hands,head"], {"joints": ("hands", "head")}),
        (["--weight", "hands=3,head=2"], {"weights": {"hands": 3.0, "head": 2.0}}),
        (["--min-gap-frames", "3", "--max-gap-frames", "12"], {"min_gap_frames": 3, "max_gap_frames": 12}),
        (["--threads", "1", "--objective", "sum"], {"threads": 1, "objective": "sum"}),
        (["--measure", "mean", "--objective", "sum"], {"measure": "mean", "objective": "sum"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_every_option_arrives(
    keypose, walk: Path, motion: kp.Motion, tmp_path: Path, arguments: list[str], options
) -> None:
    result = keypose("unbake", walk, tmp_path / "x.keys.json", "--keys", 60, "--json", *arguments)
    assert result.code == 0, result.out
    (payload,) = document(result)["unbaked"]
    assert json.loads(json.dumps(options)).items() <= payload["options"].items()
    keyed, expected = kp.load_keyed(tmp_path / "x.keys.json"), kp.unbake(motion, keys=60, **options)
    assert same(keyed, expected)
    assert keyed.rotation_orders == expected.rotation_orders


def test_a_loop(keypose, tmp_path: Path) -> None:
    there = kp.demo_motion(fps=10.0)[10:25]
    back = replace(there, translations=there.translations[::-1][1:], rotations=there.rotations[::-1][1:])
    kp.save(kp.concatenate([there, back]), tmp_path / "loop.bvh")
    assert keypose("unbake", tmp_path / "loop.bvh", tmp_path / "x.keys.json", "--loop", "--keys", 6).code == 0
    expected = kp.unbake(kp.load(tmp_path / "loop.bvh"), keys=6, loop=True)
    assert same(kp.load_keyed(tmp_path / "x.keys.json"), expected)


def test_the_keys_of_another_method(keypose, walk: Path, motion: kp.Motion, tmp_path: Path) -> None:
    for arguments, chosen in (
        (["farthest", "--keys", 8], kp.select(motion, "farthest", keys=8)),
        (["farthest"], kp.select(motion, "farthest", auto=True)),
        (["saliency", "--set", "sigma_s=0.1"], kp.select(motion, "saliency", sigma_s=0.1)),
    ):
        out = tmp_path / "x.keys.json"
        assert keypose("unbake", walk, out, "--overwrite", "--method", *arguments).code == 0
        assert same(kp.load_keyed(out), kp.unbake(motion, chosen))


def test_a_part_at_another_rate(keypose, walk: Path, motion: kp.Motion, tmp_path: Path) -> None:
    out = tmp_path / "x.keys.json"
    arguments = ["--range", "40:140", "--fps", "10", "--pin", "60,100", "--exclude", "90"]
    result = keypose("unbake", walk, out, "--keys", 9, *arguments)
    assert result.code == 0
    expected = kp.unbake(motion[40:140].at_fps(10), keys=9, pins=(10, 30), excluded=(25,))
    keyed = kp.load_keyed(out)
    assert same(keyed, expected)
    assert (keyed.n_frames, keyed.fps, keyed.first_frame) == (50, 10.0, expected.first_frame)
    result = keypose("unbake", walk, tmp_path / "y.bvh", "--keys", 9, *arguments, "--pin", "30")
    assert (result.code, result.err) == (1, f"error: {walk}: --pin: frame 30, expected one of 40 to 138\n")


def test_without_the_detail_or_without_the_keys_beside(keypose, walk: Path, tmp_path: Path) -> None:
    result = keypose("unbake", walk, tmp_path / "a.glb", "--keys", 20, "--no-residual")
    assert kp.load_keyed(tmp_path / "a.keys.json").residual is None
    assert "keys and curves, no detail" in result.out
    assert "rebake" not in result.out
    result = keypose("unbake", walk, tmp_path / "b.glb", "--keys", 20, "--no-keys")
    assert names(tmp_path) == ["a.glb", "a.keys.json", "b.glb"]
    assert "rebake" not in result.out


def test_keys_of_an_earlier_run_are_the_capture_again(keypose, walk: Path, motion: kp.Motion, tmp_path: Path) -> None:
    assert keypose("unbake", walk, tmp_path / "few.keys.json", "--keys", 5).code == 0
    assert keypose("unbake", tmp_path / "few.keys.json", tmp_path / "more.keys.json", "--keys", 40).code == 0
    more = kp.load_keyed(tmp_path / "more.keys.json")
    assert kp.score(motion, more).mean_mm == pytest.approx(
        kp.score(motion, kp.unbake(motion, keys=40)).mean_mm, rel=1e-6
    )


def test_a_folder(keypose, clip, tmp_path: Path) -> None:
    for n, name in enumerate(("a.bvh", "deep/b.bvh", "deep/er/c.bvh", "notes.txt")):
        clip(f"takes/{name}", frames=30 + n)
    result = keypose("unbake", tmp_path / "takes", tmp_path / "out", "--to", "glb", "--keys", 5, "--jobs", 1)
    assert (result.code, result.err) == (0, "")
    files = ["a", "deep/b", "deep/er/c"]
    assert names(tmp_path / "out") == sorted(f"{name}{suffix}" for name in files for suffix in (".glb", ".keys.json"))
    rows = [line.split() for line in result.out.splitlines() if ".bvh" in line and ".glb" in line]
    assert [(row[0], row[1], row[2], row[-1]) for row in rows] == [
        (f"{name}.bvh", str(30 + n), "5", f"{name}.glb") for n, name in enumerate(files)
    ]
    assert "3 of 3 clips unbaked in " in result.out
    assert "15 keys of 93 frames, 83.9 % removed\n" in result.out
    assert "off by 0.00 mm on average in the median clip, by 0.00 mm at most: " in result.out
    assert f"written to {tmp_path / 'out'}: " in result.out
    assert "NAME.keys.json for rebake beside each" in result.out


def test_the_same_in_several_processes(program, clip, tmp_path: Path) -> None:
    files = [clip(f"{n}.bvh", frames=40 + n) for n in range(5)]
    result = [
        program("unbake", *files, tmp_path / f"out{jobs}", "--to", "keys.json", "--jobs", jobs, "--json")
        for jobs in (1, 2)
    ]
    one, two = (document(each)["unbaked"] for each in result)
    assert [command_result["frames"] for command_result in one] == [command_result["frames"] for command_result in two]
    assert [command_result["score"] for command_result in one] == [command_result["score"] for command_result in two]
    for n in range(5):
        assert (tmp_path / "out1" / f"{n}.keys.json").read_bytes() == (
            tmp_path / "out2" / f"{n}.keys.json"
        ).read_bytes()


def test_failures_are_listed_at_the_end(keypose, clip, tmp_path: Path) -> None:
    for n in range(4):
        clip(f"takes/{n}.bvh", frames=0 if n in (1, 3) else 20)
    result = keypose("unbake", tmp_path / "takes", tmp_path / "out", "--to", "bvh", "--jobs", 1)
    assert result.code == 1
    assert "2 of 4 clips unbaked" in result.out
    assert [line.split(".bvh")[0] for line in result.err.splitlines()] == [
        f"error: {tmp_path / 'takes' / n}" for n in "13"
    ]
    again = keypose("unbake", tmp_path / "takes", tmp_path / "out", "--to", "bvh", "--skip-existing", "--json")
    summary = document(again)
    assert (len(summary["unbaked"]), len(summary["failed"]), len(summary["skipped"])) == (0, 2, 2)


def test_a_figure_without_height(keypose, clip, tmp_path: Path) -> None:
    path = clip(frames=30)
    path.write_text(path.read_text().replace("OFFSET 0 12 0.5", "OFFSET 0 0 0").replace("OFFSET 0 9 1", "OFFSET 0 0 0"))
    result = keypose("unbake", path, tmp_path / "x.bvh", "--tolerance-mm", 5)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "the figure has no height" in result.err
    for n, arguments in enumerate((["--keys", 5], [], ["--method", "simplify", "--keys", 5])):  # need no millimetres
        result = keypose("unbake", path, tmp_path / f"x{n}.bvh", *arguments)
        assert (result.code, result.err) == (0, "")
        assert "not known in mm: the figure has no height" in result.out
        assert ("; within 1 % of the figure (" in result.out) == (not arguments)
        (payload,) = document(keypose("unbake", path, tmp_path / f"y{n}.bvh", "--json", *arguments))["unbaked"]
        assert payload["score"] is None


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_the_shortest_clips(keypose, clip, tmp_path: Path, frames: int) -> None:
    path = clip(frames=frames)
    for n, arguments in enumerate(([], ["--keys", min(frames, 2)], ["--tolerance-mm", 1])):
        out = tmp_path / f"{n}.bvh"
        result = keypose("unbake", path, out, "--reference-pose", "keep", *arguments)
        assert (result.code, result.err) == (0, "")
        assert kp.load(out, reference_pose="keep").n_frames == frames


@pytest.fixture(scope="module")
def build_unbaked(walk: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[UnbakeJob, UnbakeResult]:
    job = UnbakeJob(walk, tmp_path_factory.mktemp("out") / "walk.glb", keys=30)
    return job, unbake_clip(job)


@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (140, "clip frames keys removed mean mm max mm mean deg max deg slide written"),
        (100, "clip frames keys removed mean mm max mm mean deg max deg slide"),
        (80, "clip frames keys removed mean mm max mm slide"),
        (60, "clip keys removed mean mm max mm"),
    ],
)
def test_on_a_terminal_of_some_width(build_unbaked: tuple[UnbakeJob, UnbakeResult], width: int, headings: str) -> None:
    job, clip = build_unbaked
    stems = ("walk", "a_long_name_of_a_take_that_was_captured", "x" * 90, "名前" * 30)
    written = [(replace(job, source=Path(f"{stem}.bvh"), target=Path(f"{stem}.glb")), clip) for stem in stems]
    console = Console(width=width, highlight=False)
    with console.capture() as text:
        console.print(unbake.build_table(written, width))
        console.print(unbake.build_block(*written[1], 1.0))
    lines = text.get().splitlines()
    assert all(cell_len(line) <= width for line in lines)
    if width < 140:  # names so long leave no room for a second column of them
        assert lines[1].split() == headings.split()
    assert sum("83" in line or "%" in line for line in lines) >= 4


def test_a_table_of_short_names_has_every_column(build_unbaked: tuple[UnbakeJob, UnbakeResult]) -> None:
    job, clip = build_unbaked
    still = replace(clip, score=replace(clip.score, foot_slide_mm=None, original_foot_slide_mm=None))
    none = replace(clip, score=None)
    written = [(replace(job, source=Path("a.bvh"), target=Path("a.glb")), each) for each in (clip, still, none)]
    console = Console(width=120, highlight=False)
    with console.capture() as text:
        console.print(unbake.build_table(written, 120))
    lines = text.get().splitlines()
    assert lines[1].split() == "clip frames keys removed mean mm max mm mean deg max deg slide written".split()
    close = clip.score
    ratio = f"{close.foot_slide_mm / close.original_foot_slide_mm:.2f}"
    assert lines[3].split()[-6:] == [
        f"{close.max_mm:.1f}",
        f"{close.mean_deg:.2f}",
        f"{close.max_deg:.1f}",
        "x",
        ratio,
        "a.glb",
    ]
    assert lines[4].split()[-2:] == ["-", "a.glb"]
    assert lines[5].split()[-6:] == ["-"] * 5 + ["a.glb"]


def test_the_summary_names_the_worst_clip(build_unbaked: tuple[UnbakeJob, UnbakeResult]) -> None:
    job, clip = build_unbaked
    worst = {"a": 5.0, "b": 31.25, "c": 7.0}
    written = [
        (
            replace(job, source=Path(f"{name}.bvh")),
            replace(clip, score=replace(clip.score, max_mm=max_mm, max_outside_flips_mm=max_mm)),
        )
        for name, max_mm in worst.items()
    ]
    (line,) = [line for line in unbake.summary_lines(written) if line.startswith("off ")]
    mean, at = unbake.format_mm(clip.score.mean_mm), clip.score
    assert line == (
        f"off by {mean} mm on average in the median clip, by 31.2 mm at most: b.bvh, {at.worst_joint} "
        f"in frame {at.worst_frame} (on a figure of 1.7 m)"
    )


def test_flips_are_named_and_not_taken_for_errors_of_the_keys(keypose, motion: kp.Motion, tmp_path: Path) -> None:
    flipped = turn_over(turn_over(motion, "LeftArm", (61, 63)), "RightHandThumb1", (90, 91))
    kp.save(flipped, tmp_path / "flipped.bvh")
    flips = "LeftArm in frames 61-62; RightHandThumb1 in frame 90: the capture turns a joint over for a few frames"
    for arguments, omission in (
        (["--auto"], "; the curves omit it, the captured detail keeps it"),
        (["--keys", 60], "; the curves omit it, the captured detail keeps it"),
        (["--auto", "--no-residual"], "; the curves omit it"),
        (["--tolerance-mm", 17], ""),
    ):
        result = keypose("unbake", tmp_path / "flipped.bvh", tmp_path / "x.glb", "--overwrite", *arguments)
        assert f"flips      {flips}{omission}\n" in result.out
        follows = arguments[0] == "--tolerance-mm"
        (line,) = [line for line in result.out.splitlines() if line.startswith(" error ")]
        match = re.search(r"(\S+) mm at most: (\w+) in frame (\d+)(.*) \(on", line)
        assert match is not None
        if follows:
            assert float(match[1]) <= 17.0 and match[4] == ""
            continue
        assert float(match[1]) > 100 and match[2] != "LeftArm" and int(match[3]) in (61, 62)
        outside = re.fullmatch(r", a flip of the capture; (\S+) mm at most outside of flips", match[4])
        assert outside is not None and float(outside[1]) <= 17.0
        assert "far off" not in result.out
        assert ("within 17 mm, 1 % of the figure" in result.out) == ("--auto" in arguments)
    few = keypose("unbake", tmp_path / "flipped.bvh", tmp_path / "x.glb", "--overwrite", "--keys", 8, "--json")
    score = document(few)["unbaked"][0]["score"]
    text = keypose("unbake", tmp_path / "flipped.bvh", tmp_path / "x.glb", "--overwrite", "--keys", 8).out
    assert score["max_outside_flips_mm"] > 20
    assert f"far off    {unbake.format_mm(score['max_outside_flips_mm'])} mm with 8 keys; " in text


def test_only_a_detected_flip_is_called_one(build_unbaked: tuple[UnbakeJob, UnbakeResult]) -> None:
    """A large angle of a joint that the capture does not turn over is an error of the curves."""
    job, clip = build_unbaked
    kicked = {"max_deg": 179.9, "worst_rotation_joint": "LThumb", "worst_rotation_frame": 37}
    flips = {"LeftFoot": ((37, 37),)}  # of another joint in the same frame
    for others_deg, is_flip in ((179.9, False), (12.0, True)):
        other = replace(clip, score=replace(clip.score, max_outside_flips_deg=others_deg, **kicked), flips=flips)
        table = render(unbake.build_table([(job, clip), (job, other)], 200))
        block = render(unbake.build_block(job, other, 1))
        assert ("179.9*" in table) == (f"* {unbake.FLIP_NOTE}" in table) == is_flip
        assert f"180 at most: LThumb in frame 37{', a flip of the capture' if is_flip else ''}\n" in block
    assert other.score is not None and not other.score.is_worst_in_flip
    assert f"{other.score.worst_joint} in frame {other.score.worst_frame} (on" in block


def test_the_summary_names_the_worst_clip_outside_of_flips(build_unbaked: tuple[UnbakeJob, UnbakeResult]) -> None:
    job, clip = build_unbaked
    flipped = replace(clip.score, max_mm=400.0, max_outside_flips_mm=15.0)
    written = [(job, clip), (replace(job, source=Path("flipped.bvh")), replace(clip, score=flipped))]
    lines = unbake.summary_lines(written)
    assert f"by {unbake.format_mm(clip.score.max_mm)} mm at most: {job.source}, {clip.score.worst_joint}" in lines[1]
    assert lines[2] == (
        "off by up to 400 mm in flips of the capture, in 1 clip: the capture turns a joint over for a few frames"
    )
    worse = replace(flipped, max_outside_flips_mm=clip.score.max_mm + 1)
    lines = unbake.summary_lines([written[0], (written[1][0], replace(clip, score=worse))])
    expected = f"by {unbake.format_mm(worse.max_outside_flips_mm)} mm at most: flipped.bvh (on a figure of 1.7 m)"
    assert expected in lines[1]
    assert "flips" not in " ".join(unbake.summary_lines(written[:1]))


def render(renderable: Any) -> str:
    console = Console(width=200, highlight=False)
    with console.capture() as text:
        console.print(renderable)
    return "\n".join(line.rstrip() for line in text.get().splitlines())


def test_too_few_keys_are_far_off_and_the_number_for_20_mm_is_named(
    keypose, walk: Path, motion: kp.Motion, tmp_path: Path
) -> None:
    needed = kp.unbake(motion, tolerance_mm=20.0).n_keys
    result = keypose("unbake", walk, tmp_path / "x.glb", "--keys", 12)
    max_mm = kp.score(motion, kp.unbake(motion, keys=12)).max_mm
    expected = f"{unbake.format_mm(max_mm)} mm with 12 keys; {needed} keys would be within 20 mm (--tolerance-mm 20)"
    assert max_mm > 100 and expected in " ".join(result.out.split())
    for arguments, keys in (
        (["--keys", 12], needed),
        (["--keys", 12, "--method", "farthest"], needed),
        (["--keys", needed + 20], None),
        (["--tolerance-mm", 40], None),
        ([], None),
    ):
        (payload,) = document(keypose("unbake", walk, tmp_path / "y.glb", "--overwrite", "--json", *arguments))[
            "unbaked"
        ]
        assert payload["keys_for_20_mm"] == keys, arguments


def test_sliding_feet_are_named(build_unbaked: tuple[UnbakeJob, UnbakeResult]) -> None:
    job, clip = build_unbaked
    sliding = replace(clip, sliding_feet=(FootSlide("left foot", 12.34, 5.0),))
    assert "the left foot slides 12.3 mm, in the capture 5.00 mm" in render(unbake.build_block(job, sliding, 1))
    steady = replace(clip, sliding_feet=())
    (line,) = [line for line in unbake.summary_lines([(job, steady), (job, sliding)]) if line.startswith("feet ")]
    assert line == f"feet slide over 1.5 times as far as in the capture in 1 clip: {job.source}"


def test_a_blend_file_counts_otherwise(build_unbaked: tuple[UnbakeJob, UnbakeResult]) -> None:
    job, clip = build_unbaked
    for target, message in (("walk.blend", True), ("walk.glb", False)):
        console = Console(width=400, highlight=False)
        with console.capture() as text:
            console.print(unbake.build_block(replace(job, target=Path(target)), clip, 1.0))
        assert ("Blender counts from 1: frame 0 is its frame 1" in text.get()) == message
        assert ("  keypose rebake walk.blend FINAL.glb\n" in text.get()) == message


def test_very_many_keys_are_named_in_part(keypose, walk: Path, tmp_path: Path) -> None:
    out = keypose("unbake", walk, tmp_path / "x.bvh", "--keys", unbake.MAX_FRAMES + 6).out
    assert "and 6 more; --json has all" in out


@pytest.mark.data
def test_real_clips(keypose, data_dir: Path, tmp_path: Path) -> None:
    clips = [data_dir / "cmu120" / "07_05_walk.bvh", data_dir / "cmu120" / "09_01.bvh"]
    result = keypose("unbake", *clips, tmp_path, "--to", "glb", "--fps", 60, "--keys", 26, "--jobs", 1, "--json")
    assert result.code == 0
    walk, run = document(result)["unbaked"]
    original = kp.load(clips[0]).at_fps(60)
    assert walk["score"]["mean_mm"] == kp.score(original, kp.unbake(original, keys=26)).mean_mm < 2.0
    assert walk["score"]["original_foot_slide_mm"] > 0
    assert (run["n_frames"], len(run["frames"])) == (74, 26)
    assert kp.load(tmp_path / "09_01.glb").n_frames == 74


@pytest.mark.data
def test_real_markers(keypose, data_dir: Path, tmp_path: Path) -> None:
    markers = data_dir / "c3d" / "qualisys.c3d"
    result = keypose("unbake", markers, tmp_path / "m.keys.json", "--keys", 12, "--range", ":200", "--json")
    assert result.code == 0, result.out
    (payload,) = document(result)["unbaked"]
    assert payload["score"]["foot_slide_mm"] is None
    assert len(payload["frames"]) == 12
