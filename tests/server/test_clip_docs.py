"""docs/api.md documents every route and error code, and its examples run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from fastapi.routing import APIRoute

import keypose as kp
from keypose.errors import CODES
from keypose.server.error_responses import RESPONSES
from keypose.server.routes import ROUTERS
from support.live_server import start_server

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
    sections = re.split(r"^### ", DOCS, flags=re.MULTILINE)[1:]
    return {section.splitlines()[0]: section for section in sections}


def test_documented_routes_match_routes() -> None:
    assert set(HEADING.findall(DOCS)) == _routes()


def test_error_codes_are_documented() -> None:
    rows = [line for line in DOCS.splitlines() if line.startswith("| ")]
    for code, kind in RESPONSES.items():
        assert any(f"`{code}`" in row and str(kind.status) in row.split("|")[1] for row in rows), (code, kind.status)


def test_codes_of_responses_have_a_meaning() -> None:
    assert set(RESPONSES) - set(CODES) == set()


@pytest.mark.skipif(shutil.which("curl") is None, reason="no curl on this machine")
def test_every_example_runs(library_template: Path, tmp_path: Path) -> None:
    """In the order of the page."""
    library, folder = tmp_path / "library", tmp_path / "here"
    shutil.copytree(library_template, library)
    folder.mkdir()
    kp.save(kp.demo_motion(fps=30)[:60], folder / "walk.bvh")
    with kp.Library(library / "clips.db") as clips:
        walk = clips.clip("walk").hash
    with start_server(tmp_path / "log", library / "clips.db", upload_workers=1) as live:
        environment = {**os.environ, "URL": live.origin, "AUTH": f"Authorization: Bearer {live.token}", "CLIP": walk}
        environment["no_proxy"] = "*"
        for heading, section in _sections().items():
            (example,) = EXAMPLE.findall(section)
            command = example.replace("curl ", "curl --silent --show-error --fail-with-body ", 1)
            process = subprocess.run(
                ["bash", "-euc", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
            )
            assert process.returncode == 0, f"{heading}: {process.stdout[:500]} {process.stderr}"
    assert {path.name for path in folder.iterdir()} >= {
        "frames.bin",
        "strip.svg",
        "strip.png",
        "curves.bin",
        "clips.zip",
    }
