"""map_clips: a failing item does not affect the others, and no process is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from keypose.batch import Outcome, default_jobs, map_clips, pool
from keypose.errors import KeyposeError, OptionError
from support import batch_jobs as jobs
from support.errors import raises

TESTS = Path(__file__).parents[1]


def run_sorted(function: Callable[..., object], items: list[object], n: int = 2) -> list[Outcome[object]]:
    return sorted(map_clips(function, items, n), key=lambda outcome: outcome.index)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.02)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_outcome_index_is_item_index(n: int) -> None:
    outcomes = run_sorted(jobs.square, list(range(40)), n)
    assert [o.index for o in outcomes] == list(range(40))
    assert [o.value for o in outcomes] == [i * i for i in range(40)]
    assert all(o.failure is None and o.warnings == () and o.seconds >= 0 for o in outcomes)


def test_map_of_no_items_has_no_outcomes() -> None:
    assert run_sorted(jobs.square, []) == []


def test_single_item_or_job_runs_in_process() -> None:
    assert run_sorted(jobs.process_id, [1], 8)[0].value == os.getpid()
    assert {o.value for o in run_sorted(jobs.process_id, [1, 2, 3], 1)} == {os.getpid()}


def test_jobs_run_in_worker_processes() -> None:
    pids = {o.value for o in run_sorted(jobs.process_id, list(range(50)), 2)}
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= 2
    assert not any(is_alive(int(str(pid))) for pid in pids)


def test_items_are_consumed_lazily() -> None:
    n_consumed = 0

    def endless() -> Iterator[int]:
        nonlocal n_consumed
        while True:
            yield n_consumed
            n_consumed += 1

    with closing(map_clips(jobs.square, endless(), 2)) as outcomes:
        outcomes_received = [next(outcomes) for _ in range(200)]
    assert len({o.index for o in outcomes_received}) == 200
    assert n_consumed <= 200 + 6


def test_on_start_is_called_for_each_item() -> None:
    indices: list[int] = []
    list(map_clips(jobs.square, range(9), 2, on_start=indices.append))
    assert indices == list(range(9))


@pytest.mark.parametrize("n", [1, 2])
def test_errors_keep_kind_and_message(n: int) -> None:
    names = list(jobs.ERRORS)
    for name, outcome in zip(names, run_sorted(jobs.fail_by_name, list(names), n), strict=True):
        assert outcome.value is None
        assert outcome.failure is not None
        assert (outcome.failure.kind, outcome.failure.message) == (name, str(jobs.ERRORS[name]))
        assert not outcome.failure.is_bug


@pytest.mark.parametrize(
    ("cause", "expected"),
    [("exit", "exit code 3"), ("kill", "SIGKILL, possibly out of memory"), ("segfault", "SIGSEGV")],
)
def test_dead_worker_fails_its_own_item_only(cause: str, expected: str) -> None:
    items: list[object] = [0, 1, cause, 3, 4, 5, cause, cause, cause, cause, 10, 11]
    outcomes = run_sorted(jobs.misbehave, items)
    for item, outcome in zip(items, outcomes, strict=True):
        if item == cause:
            assert outcome.failure is not None
            assert outcome.failure.kind == "crash"
            assert expected in outcome.failure.message
        else:
            assert (outcome.value, outcome.failure) == (item, None)


@pytest.mark.parametrize("n", [1, 2])
def test_bug_is_distinguished_from_bad_input(n: int) -> None:
    outcomes = run_sorted(jobs.misbehave, ["bug", 1, "memory", "sys.exit", 4], n)
    bug, memory, system_exit = outcomes[0].failure, outcomes[2].failure, outcomes[3].failure
    assert bug is not None
    assert bug.is_bug
    assert (bug.kind, bug.message) == ("ZeroDivisionError", "division by zero")
    assert "misbehave" in bug.traceback
    assert memory is not None
    assert (memory.message, memory.is_bug) == ("not enough memory", False)
    assert system_exit is not None
    assert system_exit.kind == "SystemExit"
    assert [outcomes[i].value for i in (1, 4)] == [1, 4]


def test_unpicklable_item_or_result_fails_alone() -> None:
    items: list[object] = [0, jobs.Unpicklable(), jobs.FailsOnUnpickle(), "unpicklable", "poison", 5]
    outcomes = run_sorted(jobs.misbehave, items)
    kinds = [o.failure.kind if o.failure else None for o in outcomes]
    assert kinds == [None, "RuntimeError", "ValueError", "RuntimeError", "ValueError", None]


@pytest.mark.parametrize("n", [1, 2])
def test_outcome_carries_warnings(n: int) -> None:
    outcomes = run_sorted(jobs.misbehave, ["warn", 1, "warn"], n)
    assert [[(w.path, w.line, w.problem) for w in o.warnings] for o in outcomes] == [
        [("a.bvh", 3, "repaired")],
        [],
        [("a.bvh", 3, "repaired")],
    ]


def test_workers_do_not_write_to_parent_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    run_sorted(jobs.misbehave, ["print", "print"])
    captured = capfd.readouterr()
    assert captured.out == ""


def test_close_stops_workers_after_cleanup(tmp_path: Path) -> None:
    _close_while_asleep(jobs.sleep_with_cleanup, tmp_path)
    assert len(list(tmp_path.glob("*.tidied"))) == len(list(tmp_path.glob("*.running"))) == 2


def test_close_kills_workers_that_ignore_sigterm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "STOP_S", 0.3)
    _close_while_asleep(jobs.sleep_ignoring_sigterm, tmp_path)


def _close_while_asleep(function: Callable[[str], None], folder: Path) -> None:
    """Close the map while two workers sleep; the first outcome, of an item that cannot be sent, gives the chance to."""
    items: list[object] = [str(folder), str(folder), jobs.Unpicklable(), str(folder)]
    outcomes = map_clips(function, items, 3)  # type: ignore[arg-type]
    assert next(outcomes).index == 2
    wait_for(lambda: len(list(folder.glob("*.running"))) >= 2)
    pids = [int(path.stem) for path in folder.glob("*.running")]
    start = time.monotonic()
    outcomes.close()
    assert time.monotonic() - start < 5
    assert not any(is_alive(pid) for pid in pids)


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
from support import batch_jobs
from keypose.batch import map_clips
print("starting", flush=True)
for outcome in map_clips(batch_jobs.sleep_with_cleanup, [{folder!r}] * 5, 2):
    print(outcome)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("to_all", [False, True], ids=["to the parent", "to the whole group, as Ctrl-C does"])
def test_interrupt_stops_parent_and_workers(tmp_path: Path, to_all: bool) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(here=str(TESTS), folder=str(tmp_path)))
    parent = subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        wait_for(lambda: len(list(tmp_path.glob("*.running"))) == 2)
        pids = [int(path.stem) for path in tmp_path.glob("*.running")]
        (os.killpg if to_all else os.kill)(parent.pid, signal.SIGINT)
        _, stderr = parent.communicate(timeout=20)
    finally:
        parent.kill()
    assert stderr.count("Traceback") == 1  # the script's own KeyboardInterrupt, none from a worker
    assert not any(is_alive(pid) for pid in pids)
    assert len(list(tmp_path.glob("*.tidied"))) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_interrupt_during_worker_start_prints_one_traceback(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(here=str(TESTS), folder=str(tmp_path)))
    for delay_s in (0.02, 0.05, 0.08, 0.11):  # a new interpreter needs about 0.15 s until it runs our code
        parent = subprocess.Popen(
            [sys.executable, script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert parent.stdout is not None
        assert parent.stdout.readline() == "starting\n"
        time.sleep(delay_s)
        os.killpg(parent.pid, signal.SIGINT)
        _, stderr = parent.communicate(timeout=20)
        assert stderr.count("Traceback") == 1
        assert "keypose-worker" not in stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_workers_exit_when_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    text = SCRIPT.replace("sleep_with_cleanup, [{folder!r}] * 5", "process_id, iter(int, 1)")
    text = text.replace("print(outcome)", "print(outcome.value, flush=True)")
    script.write_text(text.format(here=str(TESTS), folder=str(tmp_path)))
    parent = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "starting\n"
    pids = {int(parent.stdout.readline()) for _ in range(50)}
    parent.kill()
    parent.stdout.close()
    parent.wait()
    wait_for(lambda: not any(is_alive(pid) for pid in pids))


def test_workers_that_cannot_start_raise(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if Path(folder) != TESTS])  # of ``support``
    with raises(KeyposeError, code="worker", problem="worker processes cannot start (ended with exit code 1)"):
        run_sorted(jobs.square, [1, 2, 3])
    assert "ModuleNotFoundError: No module named 'support'" in capfd.readouterr().err


def test_unpicklable_function_is_rejected() -> None:
    with raises(OptionError, expected="a function at the top of a module"):
        run_sorted(lambda item: item, [1, 2])


@pytest.mark.parametrize("n", [0, -1])
def test_fewer_than_one_job_is_rejected(n: int) -> None:
    with raises(OptionError, option="jobs", value=n):
        map_clips(jobs.square, [1, 2], n)


def test_default_jobs_grows_with_clips() -> None:
    assert default_jobs(0) == default_jobs(1) == 1
    assert 1 <= default_jobs(10**6) <= (os.cpu_count() or 1)
