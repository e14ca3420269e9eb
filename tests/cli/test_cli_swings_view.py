"""The text output of ``keypose swings``: tables, bars, axes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

import keypose as kp
from keypose.batch.swings import SwingsJob, SwingsLoader, find_clip_swings
from keypose.cli import swings_view
from keypose.cli.swings_table import BLOCKS, PLAIN, TimeScale, max_speed
from keypose.swings.timeline import Bar, Row


def view_of(path: Path, width: int, *, plain: bool = False, **finding) -> str:
    expected = SwingsJob(path, SwingsLoader(options=finding))
    console = Console(width=width, file=None, record=True, highlight=False)
    with console.capture() as captured:
        console.print(swings_view.build_view(find_clip_swings(expected), expected, width, plain=plain))
    return captured.get()


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160, 300])
def test_the_table_fits_the_terminal(kick: Path, width: int) -> None:
    text = view_of(kick, width, fallback="keys")
    assert max(map(cell_len, text.splitlines())) <= width
    rows = [line for line in text.splitlines() if re.match(r" (Left|Right|Hips)", line)]
    assert len(rows) > 8 and all(re.search(r"[▁▂▃▄▅▆▇█·─]", row) for row in rows)
    assert "left foot" in text and "━━" in text


def test_plain_characters_where_the_terminal_has_no_others(kick: Path) -> None:
    table = view_of(kick, 100, plain=True, fallback="keys").split("joint ")[1]
    assert not set(table) & set("▁▂▃▄▅▆▇█·•━")


def drawn_by_frames(row: Row, n_frames: int, columns: int) -> str:
    """Slow reference of a bar: count the frames of each column."""
    of_frame = [" "] * n_frames
    for bar in row.bars:
        for frame in range(bar.start, bar.end + 1):
            of_frame[frame] = {"swing": "S", "rest": "R", "keys": "K"}[bar.kind]
    per = n_frames // columns
    text = ""
    for column in range(columns):
        some = of_frame[column * per : (column + 1) * per]
        main_kind = max("SRK", key=some.count)
        text += main_kind if some.count(main_kind) >= per / 2 else "k" if "K" in some else " "
    return text


@pytest.mark.parametrize("symbols", [BLOCKS, PLAIN], ids=["blocks", "plain"])
def test_bar_shows_the_main_kind_of_each_column(capture: kp.Motion, symbols) -> None:
    timeline = kp.swings(capture, fallback="keys").timeline()
    names = str.maketrans(
        {**dict.fromkeys(symbols.speeds, "S"), symbols.rest: "R", symbols.keys: "K", symbols.key_mark: "k"}
    )
    for columns in (20, 32, 80, 160):
        scale = TimeScale(160, columns, max_speed(timeline.rows), symbols)
        for row in timeline.rows:
            assert scale.bar(row).plain.translate(names) == drawn_by_frames(row, 160, columns)


def test_heights_grow_with_speed_and_colours_change_from_swing_to_swing() -> None:
    bars = [Bar("swing", 10 * n, 10 * n + 9, n, n + 0.9, angle) for n, angle in enumerate((1.0, 5.0, 20.0, 90.0))]
    row = Row("arm", None, False, tuple(bars))
    text = TimeScale(40, 20, max_speed([row]), BLOCKS).bar(row)
    heights = [BLOCKS.speeds.index(text.plain[column]) for column in (0, 5, 10, 15)]
    assert heights == sorted(set(heights)) and heights[-1] == 7
    styles = [str(span.style) for column in (0, 5, 10, 15) for span in text.spans if span.start <= column < span.end]
    assert styles[0] == styles[2] != styles[1] == styles[3]


@pytest.mark.parametrize(("n_frames", "fps"), [(1, 30.0), (40, 24.0), (10_000, 120.0), (3, 10_000.0)])
def test_the_axis_has_round_times_within_its_width(n_frames: int, fps: float) -> None:
    axis = TimeScale(n_frames, 40, 1.0).axis(fps)
    assert axis.startswith("0 s") and len(axis) <= 40
    last = float(axis.split()[-1]) if len(axis) > 3 else 0.0
    assert last <= n_frames / fps


def test_names_from_files_are_harmless(keypose, clip, tmp_path: Path) -> None:
    path = clip("odd.bvh", frames=60, joint="Che\x1b[31mst")
    result = keypose("swings", path, "--joints", "all")
    assert result.code == 0 and "\x1b" not in result.out and r"\x1b[31m" in result.out
    edited = keypose("swings", path, "--intensify", "all=0.5", "-o", tmp_path / "out.bvh")
    assert edited.code == 0 and "\x1b" not in edited.out + edited.err


@pytest.mark.parametrize("width", [60, 80, 120, 300])
def test_the_list_of_actions_fits_the_terminal(kick: Path, width: int) -> None:
    job = SwingsJob(kick, actions=True)
    clip = find_clip_swings(job)
    console = Console(width=width, record=True, highlight=False)
    with console.capture() as captured:
        console.print(swings_view.build_view(clip, job, width, plain=False))
    lines = captured.get().splitlines()
    assert max(map(cell_len, lines)) <= width
    table = lines[next(n for n, line in enumerate(lines) if "from s" in line) :]
    assert "what" in table[0] and "lead" in table[0]
    assert clip.actions is not None
    rows = [line for line in table if re.match(r" +\d+\.\d\d +\d", line)]
    assert [float(row.split()[0]) for row in rows] == [round(action.start_s, 2) for action in clip.actions]
    if width == 300:
        assert all(action.phrase in row for row, action in zip(rows, clip.actions, strict=True))
        assert "follow" in table[0]
