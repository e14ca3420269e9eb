"""Count the files of ``src/keypose`` that a reader passes in three walks: ``python tools/count_files.py``.

A file counts when a Python function of it is entered (``sys.setprofile``), in any thread of any process of the walk,
also while modules are imported. Module and class bodies are no functions; a comprehension belongs to the function or
body that contains it. The walks:

- ``unbake``: ``keypose unbake 07_05_walk.bvh out.glb --keys 12``, the whole process.
- ``add``: ``kp.Library(new file).add(folder of four clips, jobs=2)``, the whole process and its workers.
- ``search``: one request to ``keypose serve``, search by example for a stored clip. The server is new, has answered one
  listing, and its workers are idle. Counted are the functions that the server and its workers enter from the request
  until the workers are idle after the response; those that they enter only at their start or for the listing are not.

Exits with 1 when a walk crosses more than 60 % of the files in BEFORE, with 2 when a walk fails. Needs Linux (/proc)
and the clips in ../shared/data or in the directory KEYPOSE_TEST_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, Request, build_opener

# Files and functions, counted at commit 3c3f23a with Python 3.11.
BEFORE = {"unbake": (82, 389), "add": (104, 459), "search": (54, 187)}
MAX_PERCENT = 60.0

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("KEYPOSE_TEST_DATA") or ROOT.parent / "shared" / "data").resolve()
CLIP = DATA / "cmu120" / "07_05_walk.bvh"
TAKES = [DATA / "cmu30" / "running" / name for name in ("02_03.bvh", "09_01.bvh", "16_35.bvh", "35_17.bvh")]

# Everything that depends on names of the command line, the Python API and the API of the server.
UNBAKE = ["-m", "keypose", "unbake", str(CLIP), "out.glb", "--keys", "12"]
ADD = ["-c", "import keypose as kp; kp.Library('clips.db').add('takes', jobs=2)"]
SERVE = ["-m", "keypose", "serve", "--library", "clips.db", "--port", "0", "--json"]
PORT, TOKEN = "port", "token"  # fields of the JSON object that SERVE prints
LIST_ROUTE, CLIPS, HASH = "/api/clips", "clips", "hash"  # GET; the response lists clips, each with its hash
SEARCH_ROUTE, QUERY, HITS = "/api/search", "clip", "hits"  # POST {QUERY: hash}; the response lists hits

TIMEOUT_S = 300.0
IDLE_S, POLL_S = 2.0, 0.1  # workers that have used no processor time for so long are idle
STOP_S = 20.0

# Every Python process of a walk imports this when it starts, because its directory is on PYTHONPATH. A function is
# written to the log when it is first entered: workers end by os._exit and by signals, so exit handlers may not run.
BOOTSTRAP = """
import mmap, os, sys, threading

FOLDER, SOURCE = os.environ["COUNT_FILES_FOLDER"], os.environ["COUNT_FILES_SOURCE"]
LOG = os.open(os.path.join(FOLDER, "log"), os.O_WRONLY | os.O_APPEND)
with open(os.path.join(FOLDER, "switch"), "rb") as file:
    SWITCH = mmap.mmap(file.fileno(), 1, access=mmap.ACCESS_READ)
ON = ord("1")
FUNCTION = 3  # CO_OPTIMIZED | CO_NEWLOCALS, which bodies of modules and classes do not have
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
seen = {}  # code objects by id: they stay alive, so that no id is used twice


def record(frame, event, argument):
    code = frame.f_code
    if event != "call" or SWITCH[0] != ON or id(code) in seen:
        return
    seen[id(code)] = code
    if code.co_flags & FUNCTION == FUNCTION and code.co_name not in COMPREHENSIONS:
        path = os.path.realpath(code.co_filename)
        if path.startswith(SOURCE):
            os.write(LOG, f"{path.removeprefix(SOURCE)}\\t{code.co_qualname}\\n".encode())


threading.setprofile(record)
sys.setprofile(record)
"""


class WalkError(Exception):
    """A walk that could not be counted."""


class Recorder:
    """Starts the processes of one walk in a directory of their own, and collects the functions that they enter."""

    def __init__(self, tree: Path, python: str, directory: Path) -> None:
        self.python, self.directory, self.folder = python, directory, directory / "bootstrap"
        self.folder.mkdir()
        for name, text in {"sitecustomize.py": BOOTSTRAP, "log": "", "switch": "0"}.items():
            (self.folder / name).write_text(text)
        source = f"{(tree / 'src' / 'keypose').resolve()}{os.sep}"
        own = {"PYTHONPATH": str(self.folder), "COUNT_FILES_FOLDER": str(self.folder), "COUNT_FILES_SOURCE": source}
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("KEYPOSE_", "PYTHON"))} | own

    @contextmanager
    def record_calls(self) -> Iterator[None]:
        """Record functions in all processes of the walk, including those that already run."""
        with (self.folder / "switch").open("r+b", buffering=0) as file:  # in place, as processes have mapped the file
            file.write(b"1")
            yield
            file.seek(0)
            file.write(b"0")

    def run(self, arguments: list[str]) -> None:
        """Run Python with these arguments to its end."""
        command = [self.python, *arguments]
        done = subprocess.run(
            command, cwd=self.directory, env=self.environment, capture_output=True, text=True, timeout=TIMEOUT_S
        )
        if done.returncode:
            raise WalkError(f"{command}: exit code {done.returncode}, expected 0\n{done.stderr}")

    @contextmanager
    def run_server(self) -> Iterator[tuple[int, str, str]]:
        """Run the server; its process id, address and token."""
        command = [self.python, *SERVE]
        with subprocess.Popen(
            command, cwd=self.directory, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                text = ""
                while not text.endswith("}\n"):
                    text += (line := process.stdout.readline() if process.stdout else "")
                    if not line:
                        raise WalkError(f"{command}: exit code {process.wait()} before it listened")
                facts = json.loads(text)
                yield process.pid, f"http://127.0.0.1:{facts[PORT]}", facts[TOKEN]
            finally:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(STOP_S)
                except subprocess.TimeoutExpired:
                    process.kill()

    def functions(self) -> set[tuple[str, ...]]:
        """Return the functions entered so far: their file below src/keypose and their qualified name."""
        return {tuple(line.split("\t")) for line in (self.folder / "log").read_text().splitlines()}


def walk_unbake(recorder: Recorder) -> None:
    """Unbake a clip on the command line."""
    with recorder.record_calls():
        recorder.run(UNBAKE)


def walk_add(recorder: Recorder) -> None:
    """Add a folder to a new library."""
    copy_takes(recorder.directory)
    with recorder.record_calls():
        recorder.run(ADD)


def walk_search(recorder: Recorder) -> None:
    """Send one search request to a server whose library holds the same folder."""
    copy_takes(recorder.directory)
    recorder.run(ADD)
    with recorder.run_server() as (pid, address, token):
        clips = request_json(address + LIST_ROUTE, token)[CLIPS]
        wait_until_idle(pid)
        with recorder.record_calls():
            response = request_json(address + SEARCH_ROUTE, token, {QUERY: clips[0][HASH]})
            wait_until_idle(pid)
    if len(response[HITS]) != len(TAKES) - 1:
        raise WalkError(f"{SEARCH_ROUTE}: {len(response[HITS])} hits, expected {len(TAKES) - 1}")


WALKS: dict[str, Callable[[Recorder], None]] = {"unbake": walk_unbake, "add": walk_add, "search": walk_search}


def copy_takes(directory: Path) -> None:
    """Make the folder that is added to the library."""
    (directory / "takes").mkdir()
    for path in TAKES:
        shutil.copy(path, directory / "takes")


def request_json(url: str, token: str, body: dict[str, Any] | None = None) -> Any:
    """Return the JSON of a response: of GET, or of POST if there is a body."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = Request(url, None if body is None else json.dumps(body).encode(), headers)
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=TIMEOUT_S) as response:
            return json.load(response)
    except URLError as error:
        raise WalkError(f"{url}: {error}") from error


def wait_until_idle(server: int) -> None:
    """Wait until all processes below the server have slept for IDLE_S without using processor time."""
    started = since = time.monotonic()
    before: dict[int, tuple[str, ...]] = {}
    while time.monotonic() < since + IDLE_S:
        if time.monotonic() > started + TIMEOUT_S:
            raise WalkError(f"the workers of the server are busy after {TIMEOUT_S:g} s, expected idle ones: {before}")
        workers = read_workers(server)
        if not workers or workers != before or any(state != "S" for state, *_ in workers.values()):
            before, since = workers, time.monotonic()
        time.sleep(POLL_S)


def read_workers(pid: int) -> dict[int, tuple[str, ...]]:
    """Return the processes below a process: their state letter, and their user and system time in clock ticks."""
    found: dict[int, tuple[str, ...]] = {}
    try:
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in map(int, path.read_text().split()):
                fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
                found |= {child: (fields[0], fields[11], fields[12]), **read_workers(child)}
    except OSError:  # a process or thread has just ended
        found[pid] = ("ended",)
    return found


def count_walk(tree: Path, python: str, walk: str) -> dict[str, Any]:
    """Count the files and functions that one walk enters."""
    with tempfile.TemporaryDirectory(prefix="count_files-") as directory:
        recorder = Recorder(tree, python, Path(directory).resolve())
        WALKS[walk](recorder)
        functions = recorder.functions()
    if not functions:
        raise WalkError(f"{walk}: no function below {tree}/src/keypose was entered, expected {python} to import it")
    paths, (before, functions_before) = sorted({path for path, _ in functions}), BEFORE[walk]
    return {"files": len(paths), "before": before, "percent": round(100 * len(paths) / before, 1),
            "functions": len(functions), "functions_before": functions_before, "paths": paths}  # fmt: skip


def main() -> int:
    """Count all walks and print the counts; return the exit code."""
    parser = argparse.ArgumentParser(description="Count the files of src/keypose that three walks cross.")
    parser.add_argument("--tree", type=Path, help="another checkout, counted with its own .venv/bin/python")
    parser.add_argument("--list", action="store_true", help="print the files of each walk")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    tree = (options.tree or ROOT).resolve()
    python = str(tree / ".venv" / "bin" / "python") if options.tree else sys.executable
    try:
        counts = {walk: count_walk(tree, python, walk) for walk in WALKS}
    except (WalkError, OSError, LookupError, ValueError, subprocess.TimeoutExpired) as error:
        print(f"count_files.py: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    if not options.list:
        for c in counts.values():
            del c["paths"]
    if options.json:
        print(json.dumps(counts, indent=2))
    else:
        print("walk     files  before percent  functions  before")
        for walk, c in counts.items():
            verdict = f"above {MAX_PERCENT:g} %" if c["percent"] > MAX_PERCENT else "ok"
            print(f"{walk:<8} {c['files']:>5} {c['before']:>7} {c['percent']:>7.1f} "
                  f"{c['functions']:>10} {c['functions_before']:>7}  {verdict}")  # fmt: skip
            print("".join(f"  {path}\n" for path in c.get("paths", ())), end="")
    return int(any(c["percent"] > MAX_PERCENT for c in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
