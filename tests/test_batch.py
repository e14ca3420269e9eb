"""The map over clips: whatever one item does, the others have their outcome, and no process is left."""

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

import batch_jobs as jobs
from keypose.batch import Outcome, default_jobs, map_clips, pool
from keypose.errors import OptionError

HERE = Path(__file__).parent


def run(function: Callable[..., object], items: list[object], n: int = 2) -> list[Outcome[object]]:
    return sorted(map_clips(function, items, n), key=lambda outcome: outcome.index)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_item_has_its_outcome_under_its_own_index(n: int) -> None:
    outcomes = run(jobs.square, list(range(40)), n)
    assert [o.index for o in outcomes] == list(range(40))
    assert [o.value for o in outcomes] == [i * i for i in range(40)]
    assert all(o.failure is None and o.warnings == () and o.seconds >= 0 for o in outcomes)


def test_nothing_to_do() -> None:
    assert run(jobs.square, []) == []


def test_one_item_or_one_job_stays_in_this_process() -> None:
    assert run(jobs.process_id, [1], 8)[0].value == os.getpid()
    assert {o.value for o in run(jobs.process_id, [1, 2, 3], 1)} == {os.getpid()}


def test_several_jobs_are_several_processes() -> None:
    pids = {o.value for o in run(jobs.process_id, list(range(50)), 2)}
    assert os.getpid() not in pids
    assert 1 <= len(pids) <= 2
    assert not any(alive(int(str(pid))) for pid in pids)


def test_items_are_drawn_only_as_they_are_needed() -> None:
    drawn = 0

    def endless() -> Iterator[int]:
        nonlocal drawn
        while True:
            yield drawn
            drawn += 1

    with closing(map_clips(jobs.square, endless(), 2)) as outcomes:
        received = [next(outcomes) for _ in range(200)]
    assert len({o.index for o in received}) == 200
    assert drawn <= 200 + 6


def test_the_start_of_each_item_is_told() -> None:
    started: list[int] = []
    list(map_clips(jobs.square, range(9), 2, on_start=started.append))
    assert started == list(range(9))


@pytest.mark.parametrize("n", [1, 2])
def test_errors_come_back_as_they_were(n: int) -> None:
    names = list(jobs.ERRORS)
    for name, outcome in zip(names, run(jobs.fail_by_name, list(names), n), strict=True):
        assert outcome.value is None
        assert outcome.failure is not None
        assert (outcome.failure.kind, outcome.failure.message) == (name, str(jobs.ERRORS[name]))
        assert not outcome.failure.is_bug


@pytest.mark.parametrize(
    ("what", "said"),
    [("exit", "exit code 3"), ("kill", "SIGKILL, perhaps for want of memory"), ("segfault", "SIGSEGV")],
)
def test_a_worker_that_dies_costs_its_own_item_only(what: str, said: str) -> None:
    items: list[object] = [0, 1, what, 3, 4, 5, what, what, what, what, 10, 11]
    outcomes = run(jobs.misbehave, items)
    for item, outcome in zip(items, outcomes, strict=True):
        if item == what:
            assert outcome.failure is not None
            assert outcome.failure.kind == "crash"
            assert said in outcome.failure.message
        else:
            assert (outcome.value, outcome.failure) == (item, None)


@pytest.mark.parametrize("n", [1, 2])
def test_a_bug_is_told_from_bad_input(n: int) -> None:
    outcomes = run(jobs.misbehave, ["bug", 1, "memory", "sys.exit", 4], n)
    bug, memory, left = outcomes[0].failure, outcomes[2].failure, outcomes[3].failure
    assert bug is not None
    assert bug.is_bug
    assert (bug.kind, bug.message) == ("ZeroDivisionError", "division by zero")
    assert "misbehave" in bug.traceback
    assert memory is not None
    assert (memory.message, memory.is_bug) == ("not enough memory", False)
    assert left is not None
    assert left.kind == "SystemExit"
    assert [outcomes[i].value for i in (1, 4)] == [1, 4]


def test_what_cannot_be_pickled_fails_alone() -> None:
    items: list[object] = [0, jobs.Unpicklable(), jobs.PoisonOnArrival(), "unpicklable", "poison", 5]
    outcomes = run(jobs.misbehave, items)
    kinds = [o.failure.kind if o.failure else None for o in outcomes]
    assert kinds == [None, "RuntimeError", "ValueError", "RuntimeError", "ValueError", None]


@pytest.mark.parametrize("n", [1, 2])
def test_warnings_travel_with_the_outcome(n: int) -> None:
    outcomes = run(jobs.misbehave, ["warn", 1, "warn"], n)
    assert [o.warnings for o in outcomes] == [("a.bvh:3: repaired",), (), ("a.bvh:3: repaired",)]


def test_workers_do_not_write_to_our_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    run(jobs.misbehave, ["print", "print"])
    captured = capfd.readouterr()
    assert captured.out == ""


def test_closing_early_ends_the_workers_and_lets_them_tidy_up(tmp_path: Path) -> None:
    _close_while_asleep(jobs.tidy_sleep, tmp_path)
    assert len(list(tmp_path.glob("*.tidied"))) == len(list(tmp_path.glob("*.running"))) == 2


def test_closing_early_ends_workers_that_will_not_listen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "STOP_S", 0.3)
    _close_while_asleep(jobs.stubborn_sleep, tmp_path)


def _close_while_asleep(function: Callable[[str], None], folder: Path) -> None:
    """Two workers sleep; the first outcome (an item that cannot be sent) gives us the turn to close."""
    items: list[object] = [str(folder), str(folder), jobs.Unpicklable(), str(folder)]
    outcomes = map_clips(function, items, 3)  # type: ignore[arg-type]
    assert next(outcomes).index == 2
    wait_for(lambda: len(list(folder.glob("*.running"))) >= 2)
    pids = [int(path.stem) for path in folder.glob("*.running")]
    start = time.monotonic()
    outcomes.close()
    assert time.monotonic() - start < 5
    assert not any(alive(pid) for pid in pids)


INTERRUPTED = """
import sys
sys.path.insert(0, {here!r})
import batch_jobs
from keypose.batch import map_clips
if __name__ == "__main__":
    print("starting", flush=True)
    for outcome in map_clips(batch_jobs.tidy_sleep, [{folder!r}] * 5, 2):
        print(outcome)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("to_all", [False, True], ids=["to the parent", "to the whole group, as Ctrl-C does"])
def test_an_interrupt_ends_everything_soon(tmp_path: Path, to_all: bool) -> None:
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED.format(here=str(HERE), folder=str(tmp_path)))
    parent = subprocess.Popen([sys.executable, script], stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        wait_for(lambda: len(list(tmp_path.glob("*.running"))) == 2)
        pids = [int(path.stem) for path in tmp_path.glob("*.running")]
        (os.killpg if to_all else os.kill)(parent.pid, signal.SIGINT)
        _, stderr = parent.communicate(timeout=20)
    finally:
        parent.kill()
    assert stderr.count("Traceback") == 1  # the script's own KeyboardInterrupt, none of a worker's
    assert not any(alive(pid) for pid in pids)
    assert len(list(tmp_path.glob("*.tidied"))) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interrupt_while_workers_start_is_quiet_too(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED.format(here=str(HERE), folder=str(tmp_path)))
    for delay_s in (0.02, 0.05, 0.08, 0.11):  # a spawned interpreter needs about 0.15 s to its first own line
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
def test_workers_leave_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    text = INTERRUPTED.replace("tidy_sleep, [{folder!r}] * 5", "process_id, iter(int, 1)")
    text = text.replace("print(outcome)", "print(outcome.value, flush=True)")
    script.write_text(text.format(here=str(HERE), folder=str(tmp_path)))
    parent = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "starting\n"
    pids = {int(parent.stdout.readline()) for _ in range(50)}
    parent.kill()
    parent.stdout.close()
    parent.wait()
    wait_for(lambda: not any(alive(pid) for pid in pids))


def test_a_script_without_a_main_guard_is_told_what_it_lacks(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED.replace('if __name__ == "__main__"', "if True").format(here=str(HERE), folder="."))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "KeyposeError: worker processes cannot start" in done.stderr
    assert "if __name__ == '__main__':" in done.stderr


def test_a_function_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(OptionError, match="expected a function at the top of a module"):
        run(lambda item: item, [1, 2])


@pytest.mark.parametrize("n", [0, -1])
def test_at_least_one_job(n: int) -> None:
    with pytest.raises(OptionError, match="expected at least 1"):
        map_clips(jobs.square, [1, 2], n)


def test_few_clips_start_few_workers() -> None:
    assert default_jobs(0) == default_jobs(1) == 1
    assert 1 <= default_jobs(10**6) <= (os.cpu_count() or 1)
