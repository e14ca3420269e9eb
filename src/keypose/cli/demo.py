"""``keypose demo``: the main job on a motion made in code."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from keypose.cli.options import Json


def demo(
    out: Annotated[str, Parameter(show_default=True, help="The folder for the files that it makes.")] = "out",
    /,
    *,
    fps: Annotated[float, Parameter(show_default=True, help="The frame rate of the motion.")] = 120.0,
    seed: Annotated[int, Parameter(show_default=True, help="Another number sways a little differently.")] = 0,
    json: Json = False,
) -> int:
    """Make a motion in code, save it, read it back and choose its keys, each step timed.

    For example:
      keypose demo
      keypose demo somewhere/ --fps 60
    """
    from dataclasses import asdict
    from pathlib import Path

    from keypose.batch.demo import run_demo
    from keypose.cli import clip_view, output
    from keypose.cli.exits import UsageError

    if not out:
        raise UsageError("an empty name, expected a folder; . is the current one")
    report = run_demo(Path(out), fps=fps, seed=seed)
    if json:
        output.show_json(asdict(report))
        return 0
    output.line(f"a figure of {report.joints} joints: {report.frames} frames at {report.fps:g} fps, "
                f"{clip_view.duration(report.duration_s)}")  # fmt: skip
    for step in report.steps:
        size = f", {clip_view.file_size(step.bytes)}" if step.bytes is not None else ""
        found = f", poses within {step.error_mm:.2g} mm" if step.error_mm is not None else ""
        keys = f": frames {' '.join(map(str, step.keys))}" if step.keys is not None else ""
        output.line(f"{step.seconds * 1000:7.1f} ms  {step.what}{size}{found}{keys}")
    output.line(f"next: open {Path(out, 'demo.glb')} in any glTF viewer, or in Blender "
                f"(there set the scene to {report.fps:g} fps before importing), "
                f"and try: keypose keys {Path(out, 'demo.bvh')}")  # fmt: skip
    return 0
