"""Installation with pip: what is built contains the pages, and the plain installation does the main job."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import urllib.request
import zipfile
from pathlib import Path
from venv import EnvBuilder

import pytest
from packaging.requirements import Requirement

from keypose.formats.base import BLENDER_PYTHONS, BLENDER_VERSIONS
from keypose.server.static_files import FOLDER

ROOT = Path(__file__).parents[2]
NEEDED = ("CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml")  # by a build, beside folders
LINE_TO_TYPE = "The pages of the web app are not built. In the checkout, type: make web"
INSTALL_LIMIT_S, COMMAND_LIMIT_S = 900, 120


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=INSTALL_LIMIT_S,
    )


def pip(python: Path | str, *arguments: object, cwd: Path) -> None:
    result = run(python, "-m", "pip", "--disable-pip-version-check", *arguments, cwd=cwd)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_build_without_pages_fails(kind: str, tmp_path: Path) -> None:
    """Before anything is compiled, with the line to type."""
    for name in NEEDED:
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "core", tmp_path / "core")
    shutil.copytree(
        ROOT / "src" / "keypose", tmp_path / "src" / "keypose", ignore=shutil.ignore_patterns("static", "__pycache__")
    )
    build = f"from scikit_build_core import build; build.build_{kind}({str(tmp_path / 'dist')!r})"
    result = run(sys.executable, "-c", build, cwd=tmp_path)
    assert result.returncode == 1
    assert LINE_TO_TYPE in re.sub(r"\s+", " ", result.stdout + result.stderr)
    assert not list(tmp_path.rglob("*.o")) and not (tmp_path / "dist").exists()


def test_versions_of_blender_agree() -> None:
    """Each Python has a range of bpy that is tested, installs with it, and ends before the next version."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    requirements = [Requirement(text) for text in extras["blender"]]
    cases = re.findall(
        r"^([\d.]+)\) python_version=([\d.]+)", (ROOT / "tools" / "blender.sh").read_text(), re.MULTILINE
    )
    assert tuple(version for version, _ in cases) == BLENDER_VERSIONS
    assert " or ".join(python for _, python in cases) == BLENDER_PYTHONS
    for version, python in cases:
        (of_python,) = (
            r for r in requirements if r.marker is not None and r.marker.evaluate({"python_version": python})
        )
        tested = [
            each for each in ("4.4", "4.5", "4.6", "5.0", "5.1", "5.2", "5.3") if f"{each}.1" in of_python.specifier
        ]
        assert (of_python.name, tested) == ("bpy", [version])


@pytest.mark.one_python
def test_wheel_runs_the_demo_and_the_web_app(tmp_path: Path) -> None:
    """A plain installation in a new environment, then the extra ``serve``; only the build is that of the checkout."""
    pages = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    if "index.html" not in pages:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("the pages are not built: make web")
    pip(sys.executable, "wheel", "--no-build-isolation", "--no-deps", "-w", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    folder = "keypose/server/static/"
    with zipfile.ZipFile(wheel) as archive:
        assert {name.removeprefix(folder) for name in archive.namelist() if name.startswith(folder)} == pages

    EnvBuilder(with_pip=True).create(tmp_path / "venv")
    programs = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    pip(programs / "python", "install", "-c", ROOT / "constraints.txt", wheel, cwd=tmp_path)
    demo = run(programs / "keypose", "demo", "out", "--fps", "30", cwd=tmp_path)
    assert (demo.returncode, demo.stderr) == (0, "")
    assert (tmp_path / "out" / "demo_strip.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "demo_report.html").is_file()
    missing = re.findall(r"^for .*: pip install 'keypose\[(\w+)\]'", demo.stdout, re.MULTILINE)
    assert missing == ["library", "serve", "usd", "fbx", "blender"]
    serve = run(programs / "keypose", "serve", cwd=tmp_path)
    assert serve.returncode == 1 and "pip install 'keypose[serve]'" in serve.stderr

    pip(programs / "python", "install", "-c", ROOT / "constraints.txt", f"{wheel}[serve]", cwd=tmp_path)
    with subprocess.Popen(
        [programs / "keypose", "serve", "--json", "--port", "0"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            lines = []
            while not lines or lines[-1] not in ("}\n", ""):
                lines.append(process.stdout.readline())
            info = json.loads("".join(lines))
            request = urllib.request.Request(
                f"http://127.0.0.1:{info['port']}/", headers={"Authorization": f"Bearer {info['token']}"}
            )
            with urllib.request.urlopen(request, timeout=COMMAND_LIMIT_S) as response:
                assert response.read() == (FOLDER / "index.html").read_bytes()
            process.send_signal(signal.SIGTERM)
            assert process.wait(COMMAND_LIMIT_S) == 0
        finally:
            process.kill()
