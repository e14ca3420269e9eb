"""docs/papers.md: its commands run, and its figures are those that the benchmark expects."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import keypose as kp
from keypose.cli.app import run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text()
EXPECTED = tomllib.loads((ROOT / "benchmarks" / "papers" / "expected.toml").read_text())
COMMANDS = dict.fromkeys(line for line in re.findall(r"`keypose ([^`]*)`", PAGE) if line.count(" ") > 1)
NEEDS_OTHERS = ("library", "rebake")  # a library, an edited file


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.split()[0] not in NEEDS_OTHERS])
def test_every_command_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("walk", "kick", "run", "jump"):
        kp.save(kp.demo_motion(20)[:120], f"{name}.bvh")
    kp.save(kp.demo_motion(20)[:120], "hero.glb")
    assert run(command.split()) == 0


def test_each_paper_has_commands() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:6]
    assert all("`keypose " in section and "What differs:" in section for section in sections)


@pytest.mark.parametrize(
    ("pattern", "figure"),
    [
        (r"largest distance ([\d.]+) times, never", "greedy_over_optimal_cost_median"),
        (r"at most (\d\.\d) mm; medians of 20", "salient_curves_inbetween_max_mm_90_removed"),
        (r"which-keys\) \| fitted, polished \| (0\.\d+),", "salient_curves_inbetween_mean_mm_80_removed"),
        (
            r"1\.17 times that of simplification on the left upper leg, ([\d.]+) times in the median",
            "saliency_error_over_simplify_in_time_single_joints",
        ),
        (r"with rests, the default \| `sw.error\(m\)` \| – \| ([\d.]+) degrees", "swings_mean_error_with_rests_deg"),
        (r"(\d\.\d) mm with the curves that `unbake` writes", "fitted_mean_mm_90_removed"),
        (r"3\.0 times \(from the plots\) \| ([\d.]+) times", "pca_error_over_keys"),
        (r"at most (\d+) frames later", "streaming_max_delay_frames"),
        (r"25\.50 degrees \| ([\d.]+) degrees", "swings_mean_error_deg"),
        (r"\| ([\d.]+) of the AMC numbers", "swings_packed_over_raw"),
        (r"of all eight kinds (\d+) %", "swings_precision_6"),
    ],
)
def test_figures_are_within_the_expectations(pattern: str, figure: str) -> None:
    (text,) = re.findall(pattern, PAGE)
    value = float(text) / (100 if "precision" in figure else 1)
    bounds = EXPECTED[figure]
    assert bounds.get("at_least", value) <= value <= bounds.get("at_most", value)
