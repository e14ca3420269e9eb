"""docs/api.md has every route and every error, and its examples run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from server_live import started

import keypose as kp
from keypose.server.failing import STATUS
from keypose.server.routes import ROUTERS

DOCS = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
HEADING = re.compile(r"^### (GET|POST|PUT|PATCH|DELETE) `([^`?]+)`", re.MULTILINE)
EXAMPLE = re.compile(r"(?:^    .*\n)+", re.MULTILINE)


def _routes() -> set[tuple[str, str]]:
    return {
        (method, route.path.replace("{clip}", "{hash}"))
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute) and (route.path.startswith("/api/") or route.path.endswith(".json"))
        for method in route.methods
    }


def _sections() -> dict[str, str]:
    parts = re.split(r"^### ", DOCS, flags=re.MULTILINE)[1:]
    return {part.splitlines()[0]: part for part in parts}


def test_every_route_is_documented_and_every_documented_route_is_there() -> None:
    assert set(HEADING.findall(DOCS)) == _routes()


def test_every_kind_of_error_is_documented_with_its_status() -> None:
    rows = [line for line in DOCS.splitlines() if line.startswith("| ")]
    for kind, status in STATUS.items():
        assert any(f"`{kind}`" in row and str(status) in row.split("|")[1] for row in rows), (kind, status)


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")
def test_every_example_runs(kept_library: Path, tmp_path: Path) -> None:
    """In the order of the page, each as somebody would type it."""
    library, here = tmp_path / "library", tmp_path / "here"
    shutil.copytree(kept_library, library)
    here.mkdir()
    kp.save(kp.demo_motion(fps=30)[:60], here / "walk.bvh")
    with kp.Library(library / "clips.db") as clips:
        walk = clips.clip("walk").hash
    with started(tmp_path / "log", library / "clips.db", upload_workers=1) as live:
        told = {**os.environ, "URL": live.origin, "AUTH": f"Authorization: Bearer {live.token}", "CLIP": walk}
        told["no_proxy"] = "*"
        for heading, section in _sections().items():
            (example,) = EXAMPLE.findall(section)
            typed = example.replace("curl ", "curl --silent --show-error --fail-with-body ", 1)
            done = subprocess.run(
                ["bash", "-euc", typed], cwd=here, env=told, capture_output=True, text=True, timeout=60
            )
            assert done.returncode == 0, f"{heading}: {done.stdout[:500]} {done.stderr}"
    assert {path.name for path in here.iterdir()} >= {
        "frames.bin",
        "strip.svg",
        "strip.png",
        "unbaked.bin",
        "clips.zip",
    }
