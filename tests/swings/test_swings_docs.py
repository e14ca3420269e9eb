"""docs/swings.md: its examples run, its picture is what the command prints, and it documents every operation and option."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
from rich.console import Console

import keypose as kp
from keypose.batch.swings import SwingsJob, SwingsLoader, find_clip_swings
from keypose.cli import swings_view
from keypose.swings.codec import SwingSize
from keypose.swings.edit import SwingChange, SwingEdit

PAGE = (Path(__file__).parents[2] / "docs" / "swings.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.S)
PICTURE = re.search(r"```text\n(.*?)```", PAGE, re.S)
WIDTH = 96


def test_every_example_runs():
    names: dict[str, object] = {}
    for example in EXAMPLES:
        exec(compile(example, "docs/swings.md", "exec"), names)
    sw, loaded, e, change = (names[name] for name in ("sw", "again", "e", "change"))
    assert isinstance(sw, kp.Swings) and isinstance(loaded, kp.Swings)
    assert (loaded.play().rotations == sw.play().rotations).all()
    assert repr(sw["right_thigh"][0]).startswith("Swing('RightUpLeg', frames 35 to 43, ")
    assert isinstance(e, SwingEdit) and isinstance(change, SwingChange)
    assert len(e.history) == 1 + 10 and e.history[-1] == "retime('all', 1.25)"
    assert any(tip.startswith("tips over from ") for tip in change.tips)
    m, kick = names["m"], names["kick"]
    assert len({swing.joint for swing in kick}) == 3
    assert kp.score(m, kp.swings_within(m, max_mm=20).play()).max_mm <= 20
    assert np.isfinite(e.play().world_positions()).all()


def test_the_picture_matches_the_command(tmp_path):
    kp.save(kp.demo_motion(fps=120.0), tmp_path / "demo.bvh")  # as keypose demo does
    job = SwingsJob(tmp_path / "demo.bvh", SwingsLoader(frames=(1080, 1400)))
    console = Console(width=WIDTH, no_color=True, highlight=False)
    with console.capture() as captured:
        console.print(swings_view.build_view(find_clip_swings(job), job, WIDTH, plain=False))
    printed = [line.rstrip() for line in captured.get().splitlines()]
    table = [line.rstrip() for line in PICTURE[1].splitlines()]
    assert [line for line in printed if line and "demo.bvh" not in line] == [
        line for line in table if line and "demo.bvh" not in line
    ]


def test_every_operation_and_option_is_documented():
    words = set(re.findall(r"\w+", PAGE))
    for name, member in inspect.getmembers(SwingEdit):
        if name.startswith("_"):
            continue
        assert name in words, name
        if inspect.isfunction(member):
            assert set(inspect.signature(member).parameters) - {"self"} <= words, name
    for function in (kp.Swings.find, kp.Swings.play, kp.Swings.error):
        assert set(inspect.signature(function).parameters) - {"self"} <= words, function
    assert {name for name in SwingSize.__dataclass_fields__ if name != "raw_bytes"} <= words
