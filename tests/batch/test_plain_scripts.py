"""Programs without ``if __name__ == "__main__":`` use several processes: scripts, ``-c``, standard input, a session."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import keypose as kp

# Each program asserts what it computed. An audit hook counts the workers that it has started.
START = """
import sys
n_workers = 0
def count(event, arguments):
    global n_workers
    n_workers += event == "subprocess.Popen"
sys.addaudithook(count)
import keypose as kp
print("started")
"""
PROGRAMS = {
    "add": "assert len(kp.Library('clips.db').add('takes', jobs=2).added) == 8",
    "add_default_jobs": "assert len(kp.Library('clips.db').add('takes').added) == 8",
    "rebuild": """
library = kp.Library('clips.db')
library.add('takes', jobs=1)
assert library.rebuild(jobs=2) == ()
""",
    "compare": """
import glob
comparison = kp.compare(sorted(glob.glob('takes/*'))[:2], 'uniform', curves=False, jobs=2)
assert len(comparison.rows) > 0
""",
    "report": """
import glob
motions = [kp.load(path) for path in sorted(glob.glob('takes/*'))[:2]]
comparison = kp.compare(motions, 'uniform', curves=False, jobs=2)
kp.report(comparison, 'comparison.html')
kp.report(motions, 'report.html', keys=5)
""",
    "command": """
from keypose.cli import main
sys.argv[1:] = ['convert', 'takes', 'out', '--to', 'glb', '--jobs', '2']
assert main() == 0
""",
    "map": """
import own_module
from keypose.batch import map_clips
assert sorted(outcome.value for outcome in map_clips(own_module.double, range(8), 2)) == list(range(0, 16, 2))
""",
}
END = "\nassert n_workers == 2, n_workers\nprint('finished')\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "takes").mkdir()
    for i in range(8):
        kp.save(kp.demo_motion()[: 40 + i], tmp_path / "takes" / f"{i}.bvh")
    (tmp_path / "own_module.py").write_text("def double(n):\n    return 2 * n\n")
    return tmp_path


def run(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, input=stdin, capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_plain_script_runs_once(folder: Path, name: str) -> None:
    (folder / "script.py").write_text(START + PROGRAMS[name] + END)
    done = run(folder, "script.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("started") == done.stdout.count("finished") == 1


@pytest.mark.parametrize("how", ["-c", "stdin", "-m", "session"])
def test_programs_without_a_script_file(folder: Path, how: str) -> None:
    """A session reads statements from a terminal; ``-i`` makes it read them from a pipe."""
    program = START.replace("sys.addaudithook", "\nsys.addaudithook") + PROGRAMS["map"] + END
    (folder / "program.py").write_text(program)
    arguments = {"-c": ("-c", program), "stdin": ("-",), "-m": ("-m", "program"), "session": ("-i", "-q")}[how]
    done = run(folder, *arguments, stdin=program if how in ("stdin", "session") else "")
    assert (done.returncode, done.stderr.replace(">>> ", "").replace("... ", "").strip()) == (0, "")
    assert done.stdout.count("started") == done.stdout.count("finished") == 1


def test_folder_that_the_program_has_left_stays_importable(folder: Path) -> None:
    program = "import os, keypose.batch, own_module\nos.chdir('takes')\n" + START + PROGRAMS["map"] + END
    done = run(folder, "-c", program)
    assert (done.returncode, done.stderr) == (0, "")


def test_entries_of_the_import_path_that_are_no_texts_are_ignored(folder: Path) -> None:
    program = (
        "import pathlib, sys\nsys.path[:0] = [pathlib.Path('takes'), b'takes', None]\n" + START + PROGRAMS["map"] + END
    )
    done = run(folder, "-c", program)
    assert (done.returncode, done.stderr) == (0, "")


def test_workers_get_flags_and_environment(folder: Path) -> None:
    (folder / "own_module.py").write_text(
        "import os, sys\ndef facts(n):\n    return os.environ['OWN'], sys.flags.optimize, sys.stdin.read()\n"
    )
    program = """
import os, own_module
os.environ["OWN"] = "set after the start"
from keypose.batch import map_clips
print({outcome.value for outcome in map_clips(own_module.facts, range(3), 2)})
"""
    done = run(folder, "-O", "-c", program, stdin="of the parent")
    assert (done.stdout, done.stderr) == ("{('set after the start', 1, '')}\n", "")


def test_function_of_the_main_script_is_refused_before_a_worker_starts(folder: Path) -> None:
    program = """
from keypose.batch import map_clips
def double(n):
    return 2 * n
assert [outcome.value for outcome in map_clips(double, range(3), 1)] == [0, 2, 4]
try:
    map_clips(double, range(3), 2)
except kp.OptionError as error:
    print(error)
print(n_workers)
"""
    (folder / "script.py").write_text(START + program)
    done = run(folder, "script.py")
    assert done.stdout == (
        "started\ndouble is defined in the main script, which worker processes do not import, "
        "expected it in a module of its own, or jobs=1\n0\n"
    )


def test_item_of_a_class_of_the_main_script_fails_alone(folder: Path) -> None:
    program = """
import operator
from keypose.batch import map_clips
class Number(int):
    pass
outcomes = sorted(map_clips(operator.neg, [1, Number(2), 3], 2), key=lambda outcome: outcome.index)
print([outcome.value for outcome in outcomes], outcomes[1].failure.kind, outcomes[1].failure.is_bug)
"""
    (folder / "script.py").write_text(program)
    done = run(folder, "script.py")
    assert (done.stdout, done.stderr) == ("[-1, None, -3] OptionError False\n", "")


def test_workers_end_with_a_program_that_leaves_the_map_open(folder: Path) -> None:
    (folder / "own_module.py").write_text("import time\ndef nap(n):\n    time.sleep(60 * n)\n")
    program = """
import own_module
from keypose.batch import map_clips
outcomes = map_clips(own_module.nap, [0, 1, 1, 1], 2)
next(outcomes)
import builtins
builtins.outcomes = outcomes  # it is not collected before the interpreter ends
"""
    done = run(folder, "-c", program)  # would wait for workers: they hold its standard error
    assert (done.returncode, done.stderr) == (0, "")
