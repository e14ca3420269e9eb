"""``keypose stream``: keys while frames arrive, through a pipe and over UDP, in real time and with faults."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import keypose as kp
from keypose.features import compute_features
from keypose.methods.saliency import METHOD
from support import cli_docs

FPS = 60.0
HEADER = {"fps": FPS, "columns": [["arm", "x"], ["arm", "y"]]}


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stream") / "walk.bvh"
    kp.save(kp.demo_motion(fps=FPS)[:600], path)
    return path


@pytest.fixture(scope="module")
def curves() -> np.ndarray:
    """Two smooth curves of 400 frames."""
    t = np.arange(400) / FPS
    return np.stack((30 * np.sin(7 * t) + 9 * np.sin(17 * t + 1), 20 * np.cos(5 * t)), axis=1)


def records(text: str, kind: str) -> list[dict]:
    return [each for each in map(json.loads, text.splitlines()) if each["type"] == kind]


def key_frames(text: str) -> list[int]:
    return [each["frame"] for each in records(text, "key")]


def expected_keys(values: np.ndarray, columns: Sequence = HEADER["columns"], fps: float = FPS) -> list[int]:
    stream = kp.StreamingSaliency([tuple(column) for column in columns], fps)
    return [key for row in values for key in stream.push(row)] + list(stream.close())


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "keypose", "stream", *map(str, arguments)]


@pytest.fixture
def run(keypose, monkeypatch: pytest.MonkeyPatch):
    """Run a stream in this process, with ``content`` as its standard input."""

    def call(content: bytes | str, *arguments: object):
        data = content.encode() if isinstance(content, str) else content
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return keypose("stream", *arguments)

    return call


def lines(*items: object) -> str:
    return "".join((item if isinstance(item, str) else json.dumps(item)) + "\n" for item in items)


# Formats of the input


def test_rows_of_a_bvh_file_have_the_keys_of_its_features(run, walk: Path) -> None:
    features = compute_features(kp.load(walk), METHOD.feature_kind, METHOD.joints)
    done = run(walk.read_bytes(), "--json")
    assert (done.code, done.err) == (0, "")
    expected = expected_keys(features.values, features.columns)
    assert key_frames(done.out) == expected
    assert len(expected) >= 10
    (start,) = records(done.out, "start")
    assert (start["fps"], start["n_curves"], start["n_joints"]) == (FPS, len(features.columns), len(features.joints))
    assert max(key["delay_frames"] for key in records(done.out, "key")) <= start["max_delay_frames"] == 47
    for key in records(done.out, "key"):
        assert key["time_s"] == key["frame"] / FPS
        assert key["delay_s"] == key["delay_frames"] / FPS


def test_the_skeleton_may_come_from_a_file_or_a_json_line(run, walk: Path) -> None:
    data = walk.read_bytes()
    at = data.index(b"\n", data.index(b"Frame Time")) + 1
    arguments = ("--joints", "left_leg", "--json")
    expected = key_frames(run(data, *arguments).out)
    assert len(expected) >= 5
    assert key_frames(run(data[at:], "--skeleton", walk, *arguments).out) == expected
    header = walk.with_name("header.bvh")
    header.write_bytes(data[:at])  # without rows
    assert key_frames(run(data[at:], "--skeleton", header, *arguments).out) == expected
    rows = [[float(word) for word in row.split()] for row in data[at:].splitlines()]
    first = {"fps": FPS, "hierarchy": data[: data.index(b"MOTION")].decode()}
    numbered = [{"frame": n, "values": row} for n, row in enumerate(rows)]
    assert key_frames(run(lines(first, *numbered), *arguments).out) == expected
    assert key_frames(run(lines({"hierarchy": data[:at].decode()}, *rows), *arguments).out) == expected


def test_plain_columns(run, curves: np.ndarray) -> None:
    done = run(lines(HEADER, *curves.tolist(), {"end": True}, [1, 2]), "--json")
    assert key_frames(done.out) == expected_keys(curves)
    assert records(done.out, "end")[0]["n_frames"] == len(curves)
    assert run(lines(HEADER, *curves.tolist()), "--json", "--fps", "30").out.count('"key"') != done.out.count('"key"')


def test_text_has_the_keys_of_json(run, curves: np.ndarray) -> None:
    content = lines(HEADER, *curves.tolist())
    text, document = run(content).out.splitlines(), run(content, "--json").out
    keys = records(document, "key")
    assert [line.split() for line in text[2:-1]] == [
        [
            str(key["take"]),
            str(n),
            str(key["frame"]),
            f"{key['time_s']:.3f}",
            str(key["delay_frames"]),
            f"{key['delay_s']:.3f}",
        ]
        for n, key in enumerate(keys, 1)
    ]
    assert text[0] == "2 curves of 1 joint at 60 fps; keys are reported at most 47 frames (0.783 s) late"
    assert text[-1] == f"{len(keys)} keys of 400 frames"


def test_a_first_pose_is_left_out_by_skip(run, curves: np.ndarray) -> None:
    pose = [[500.0, -500.0]]
    done = run(lines(HEADER, *pose, *curves.tolist()), "--json", "--skip", "1")
    assert key_frames(done.out) == [key + 1 for key in expected_keys(curves)]


# Faults


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("[1]", "1 number, expected 2"),
        ("[1, 2, 3]", "3 numbers, expected 2"),
        ("[1, NaN]", "nan in 'values', expected finite numbers"),
        ("[1, 1e400]", "inf in 'values', expected finite numbers"),
        ("[1, true]", "True in 'values', expected finite numbers"),
        ('{"values": 3}', "no list of numbers, expected one of 2"),
        ('{"frame": -1, "values": [1, 2]}', "-1 as 'frame', expected a whole number from 0"),
        ('{"x": 1}', "no 'values', expected"),
        ("[" * 100_000, "no JSON: RecursionError"),
        ("[1, 2", "no JSON: Expecting ',' delimiter"),
        ("1 x", "'x' is not a number, expected a finite number"),
        ("1 nan", "'nan' is not finite, expected a finite number"),
        ("1", "1 number, expected 2"),
        ("1 2 3", "3 numbers, expected 2"),
        ("\x00\xff", "'\\x00"),
        ("7" * (1 << 21), "too long, expected at most 1048576 bytes"),
    ],
    ids=range(16),
)
def test_a_bad_row_is_named_and_filled_or_ends_the_stream(run, curves: np.ndarray, row: str, message: str) -> None:
    before, after = curves[:150].tolist(), curves[151:].tolist()
    filled = curves.copy()
    filled[150] = (curves[149] + curves[151]) / 2
    content = lines(HEADER, *before, row, *after)
    done = run(content, "--json")
    assert done.code == 0
    assert key_frames(done.out) == expected_keys(filled)
    (bad,) = records(done.out, "bad_row")
    assert bad["error"].startswith("stdin:152: ")
    assert message in bad["error"]
    assert bad["error_fields"]["line"] == 152
    end = records(done.out, "end")[0]
    assert (end["n_bad_rows"], end["n_filled"], end["n_frames"]) == (1, 1, 399)

    stopped = run(content, "--json", "--bad-rows", "stop")
    assert stopped.code == 1
    assert key_frames(stopped.out) == expected_keys(curves[:150])
    assert message in records(stopped.out, "error")[0]["error"]


def test_many_bad_rows_are_counted_and_named_up_to_a_limit(run) -> None:
    done = run(lines(HEADER, [0, 0], *["bad"] * 5000, [1, 1], [2, 1]))
    assert done.code == 0
    assert len(done.err.splitlines()) == 21
    assert done.out.splitlines()[-1] == "3 keys of 3 frames; 5000 bad rows skipped"  # a new take after the gap


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "stdin: no frames"),
        ("\n\n", "stdin: no frames"),
        ("1 2 3\n", "stdin:1: no header"),
        ("\n{}\n", "stdin:2: no header"),
        ("[1, 2]\n", "stdin:1: no header"),
        (lines({"columns": [["a", "x"]]}), "stdin:1: no 'fps'"),
        (lines({"fps": 0, "columns": [["a", "x"]]}), "stdin:1: 0 as 'fps'"),
        (lines({"fps": "120", "columns": [["a", "x"]]}), "as 'fps'"),
        (lines({"fps": 60, "columns": [["a"]]}), "stdin:1: 'columns' of another form"),
        (lines({"fps": 60, "columns": []}), "stdin:1: 'columns' of another form"),
        (lines({"fps": 60, "hierarchy": "x"}), "stdin, hierarchy"),
        (lines(HEADER), "stdin: no frames"),
        ("HIERARCHY\nROOT a\n{\n", "stdin:3: the stream ends here"),
        ("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 9 x\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n", "stdin:5: CHANNELS 9"),
        ("\n\nHIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 9 x\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n", "stdin:7: "),
    ],
)  # fmt: skip
def test_errors_of_headers(run, content: str, message: str) -> None:
    done = run(content)
    assert done.code == 1
    assert done.err.startswith("error: ")
    assert message in done.err
    assert len(done.err.splitlines()) == 1
    with_json = run(content, "--json")
    assert with_json.err == ""
    assert message in records(with_json.out, "error")[0]["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--udp", "8.8.8.8:9763"], "--udp 8.8.8.8:9763, expected a port of this computer"),
        (["--udp", "0.0.0.0:9763"], "--udp 0.0.0.0:9763, expected a port of this computer"),
        (["--udp", "example.com:9763"], "expected a port of this computer"),
        (["--udp", "[::]:9763"], "expected a port of this computer"),
        (["--udp", "70000"], "expected a port of this computer"),
        (["--udp", "-1"], "expected a port of this computer"),
        (["--udp", "x"], "expected a port of this computer"),
        (["--idle-s", "3"], "--idle-s 3, expected seconds above 0, and --udp with it"),
        (["--udp", "0", "--idle-s", "0"], "--idle-s 0, expected seconds above 0"),
        (["--skip", "-1"], "--skip -1, expected at least 0"),
        (["--fps", "0"], "--fps 0, expected a number above 0"),
        (["--lookahead-s", "0"], "--lookahead-s 0, expected a number above 0"),
        (["--sigma-s", "nan"], "--sigma-s nan, expected a number above 0"),
        (["--min-gap-s", "-1"], "--min-gap-s -1, expected a number of at least 0"),
        (["--bad-rows", "x"], "expected one of skip, stop"),
    ],
)
def test_a_wrong_command_line(keypose, arguments: list[str], message: str) -> None:
    result = keypose("stream", *arguments)
    assert result.code == 2
    assert message in result.err


def test_files_that_hold_no_skeleton(keypose, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("x")
    assert "no BVH file" in keypose("stream", "--skeleton", tmp_path / "x.txt").err
    assert "no such file" in keypose("stream", "--skeleton", tmp_path / "y.bvh").err


def test_unknown_joints_end_the_stream(run, walk: Path) -> None:
    done = run(walk.read_bytes(), "--joints", "tail")
    assert done.code == 1
    assert "tail" in done.err


# Order and gaps


def numbered_rows(curves: np.ndarray, numbers: Sequence[int], first: int = 0) -> str:
    return lines(HEADER, *({"frame": n, "values": curves[n - first].tolist()} for n in numbers))


def test_rows_out_of_order_wait_for_the_missing_ones(run, curves: np.ndarray) -> None:
    order = np.arange(400)
    for n in range(5, 390, 7):
        order[n : n + 4] = order[n : n + 4][[3, 0, 2, 1]]
    done = run(numbered_rows(curves, [*order.tolist(), 3, 399]), "--json")  # and two are repeated
    assert key_frames(done.out) == expected_keys(curves)
    assert records(done.out, "end")[0]["n_dropped"] == 2


def test_lost_rows_are_filled_by_straight_lines(run, curves: np.ndarray) -> None:
    lost = [50, 51, 52, 200, 397]
    present = [n for n in range(400) if n not in lost]
    filled = np.stack([np.interp(np.arange(400), present, curve[present]) for curve in curves.T], axis=1)
    done = run(numbered_rows(curves, present), "--json")
    assert key_frames(done.out) == expected_keys(filled)
    assert records(done.out, "end")[0]["n_filled"] == 5


def test_a_long_gap_and_a_sender_that_starts_again_begin_new_takes(run, curves: np.ndarray) -> None:
    twice = [*curves[:200].tolist(), *curves[:200].tolist()]
    own_keys = expected_keys(curves[:200])
    for second in (10_000, 0):  # a restart with smaller numbers loses the rows that came late
        frames = [*range(200), *range(second, second + 200)]
        rows = [{"frame": n, "values": row} for n, row in zip(frames, twice, strict=True)]
        done = run(lines(HEADER, *rows), "--json")
        takes = [[k["frame"] for k in records(done.out, "key") if k["take"] == take] for take in (1, 2)]
        assert takes[0] == own_keys
        n_lost = 0 if second else 8
        assert takes[1] == [key + second + n_lost for key in expected_keys(curves[n_lost:200])]
        assert records(done.out, "end")[0]["n_takes"] == 2


def test_a_number_far_ahead_does_not_disturb_the_others(run, curves: np.ndarray) -> None:
    numbers = [*range(100), 10**15, *range(100, 400)]
    rows = [{"frame": n, "values": curves[min(n, 399)].tolist()} for n in numbers]
    done = run(lines(HEADER, *rows), "--json")
    assert key_frames(done.out) == expected_keys(curves)
    assert records(done.out, "end")[0]["n_dropped"] == 1


# Real time


class Reader(threading.Thread):
    """Collects the lines of a process and when they came."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(daemon=True)
        self.lines: list[tuple[float, dict]] = []
        self._stdout = process.stdout
        self.start()

    def run(self) -> None:
        for line in self._stdout:
            self.lines.append((time.monotonic(), json.loads(line)))

    def wait_for(self, kind: str, timeout: float = 60.0) -> dict:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            for _, record in list(self.lines):
                if record["type"] == kind:
                    return record
            time.sleep(0.005)
        raise TimeoutError(kind)


@contextmanager
def child(*arguments: object, stdin: int | None = subprocess.PIPE) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command(*arguments), stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with suppress(OSError):  # what is in the buffer cannot be sent any more
                if pipe is not None:
                    pipe.close()


@contextmanager
def udp_child(*arguments: object) -> Iterator[tuple[subprocess.Popen[bytes], Reader, socket.socket]]:
    """Start a stream that receives packets; yield it with its output and a socket that sends to it."""
    with child("--udp", 0, "--json", *arguments, stdin=subprocess.DEVNULL) as process:
        reader = Reader(process)
        host, _, port = reader.wait_for("listening")["address"].rpartition(":")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.connect((host, int(port)))
            yield process, reader, sender


SLACK_S = 1.5  # a busy machine


def send_in_real_time(send, messages: Sequence[bytes], n_frames: int) -> list[float]:
    """Send each message at its time; return when."""
    start, sent = time.monotonic(), []
    for n, message in enumerate(messages):
        time.sleep(max(0.0, start + n / FPS - time.monotonic()))
        sent.append(time.monotonic())
        send(message)
    assert len(sent) == n_frames
    return sent


def check_delays(reader: Reader, sent: list[float], curves: np.ndarray) -> None:
    """Every key but those of the end came within the promised delay of its frame, in frames and on the clock."""
    start = reader.wait_for("start")
    keys = [(at, record) for at, record in reader.lines if record["type"] == "key"]
    assert [record["frame"] for _, record in keys] == expected_keys(curves)
    assert max(record["delay_frames"] for _, record in keys) <= start["max_delay_frames"]
    before_end = [(at, record) for at, record in keys if record["frame"] + start["max_delay_frames"] < len(sent)]
    assert len(before_end) >= 8
    delays = [at - sent[record["frame"]] for at, record in before_end]
    assert max(delays) <= start["max_delay_s"] + SLACK_S
    assert np.median(delays) <= start["max_delay_s"] + 0.1
    assert before_end[-1][0] < sent[-1]  # it did not wait for the end


@pytest.mark.one_python
def test_keys_come_in_time_through_a_pipe(curves: np.ndarray) -> None:
    messages = [(json.dumps(row) + "\n").encode() for row in curves.tolist()]
    with child("--json") as process:
        reader = Reader(process)
        process.stdin.write((json.dumps(HEADER) + "\n").encode())
        process.stdin.flush()
        reader.wait_for("start")

        def send(message: bytes) -> None:
            process.stdin.write(message)
            process.stdin.flush()

        sent = send_in_real_time(send, messages, len(curves))
        process.stdin.close()
        reader.join(30)
        assert process.wait(30) == 0
        check_delays(reader, sent, curves)


@pytest.mark.one_python
def test_keys_come_in_time_over_udp(curves: np.ndarray) -> None:
    messages = [json.dumps({"frame": n, "values": row}).encode() for n, row in enumerate(curves.tolist())]
    with udp_child() as (process, reader, sender):
        sender.send(json.dumps(HEADER).encode())
        reader.wait_for("start")
        sent = send_in_real_time(sender.send, messages, len(curves))
        sender.send(b'{"end": true}')
        reader.join(30)
        assert process.wait(30) == 0
        check_delays(reader, sent, curves)


def test_packets_with_faults(walk: Path, curves: np.ndarray) -> None:
    """Packets before the header, too large, empty or broken are skipped; an idle sender ends the stream."""
    with udp_child("--idle-s", "1.5") as (process, reader, sender):
        sender.send(b"[1, 2]")
        sender.send(b"HIERARCHY\nROOT a\n{\nCHANNELS 9 x\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n")
        sender.send(json.dumps(HEADER).encode())
        reader.wait_for("start")
        for n, row in enumerate(curves[:100].tolist()):
            sender.send(json.dumps({"frame": n, "values": row}).encode())
            if n == 50:
                sender.send(b"")
                sender.send(b"\xff\xfe")
                sender.send(b"0 " * 30_001)
            time.sleep(0.001)
        assert process.wait(30) == 0
        reader.join(30)
        everything = [record for _, record in reader.lines]
    assert [r["frame"] for r in everything if r["type"] == "key"] == expected_keys(curves[:100])
    errors = [r["error"] for r in everything if r["type"] == "bad_row"]
    assert len(errors) == 4
    for error, start in zip(
        errors, ("UDP:1: no header", "UDP:5: CHANNELS 9", "UDP:56: ", "UDP:57: too long"), strict=True
    ):
        assert error.startswith(start)
    assert everything[-1]["type"] == "end"
    assert everything[-1]["n_bad_rows"] == 4


def test_an_address_of_this_computer_that_is_taken(run) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        done = run("", "--udp", f"127.0.0.1:{other.getsockname()[1]}")
    assert done.code == 1
    assert "cannot be used" in done.err


# The end


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("source", ["pipe", "udp"])
def test_a_signal_ends_the_take_and_prints_its_last_keys(
    curves: np.ndarray, number: signal.Signals, source: str
) -> None:
    context = udp_child() if source == "udp" else child("--json")
    with context as opened:
        if source == "udp":
            process, reader, sender = opened
            send = sender.send
        else:
            process = opened
            reader = Reader(process)

            def send(message: bytes) -> None:
                process.stdin.write(message + b"\n")
                process.stdin.flush()

        send(json.dumps(HEADER).encode())
        reader.wait_for("start")
        for n, row in enumerate(curves[:200].tolist()):
            send(json.dumps({"frame": n, "values": row}).encode())
            time.sleep(0.001)
        time.sleep(0.5)
        os.kill(process.pid, number)
        assert process.wait(30) == 0
        reader.join(30)
        keys = [record["frame"] for _, record in reader.lines if record["type"] == "key"]
        assert keys == expected_keys(curves[:200])
        assert reader.lines[-1][1]["interrupted"] is True
        assert process.stderr.read() == b""


def test_a_closed_output_ends_quietly(curves: np.ndarray) -> None:
    with child() as process:
        process.stdin.write(lines(HEADER, *curves[:1].tolist()).encode())
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        try:
            for row in curves.tolist() * 20:
                process.stdin.write(lines(row).encode())
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.wait(30) == 141
        assert process.stderr.read() == b""


@pytest.mark.one_python
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory from /proc")
def test_memory_does_not_grow_with_the_length(curves: np.ndarray) -> None:
    content = lines(*curves.tolist()).encode()

    def resident_kb(process: subprocess.Popen[bytes]) -> int:
        status = Path(f"/proc/{process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    with child("--json") as process:
        reader = Reader(process)
        process.stdin.write((json.dumps(HEADER) + "\n").encode())
        sizes = []
        for n in range(200):  # 80,000 frames
            process.stdin.write(content)
            process.stdin.flush()
            if n in (20, 199):
                time.sleep(1.0)
                sizes.append(resident_kb(process))
        process.stdin.close()
        assert process.wait(60) == 0
        reader.join(30)
        assert records_of(reader, "end")[0]["n_frames"] == 80_000
    assert sizes[1] - sizes[0] < 4_000


def records_of(reader: Reader, kind: str) -> list[dict]:
    return [record for _, record in reader.lines if record["type"] == kind]


def test_the_fields_are_documented(run, curves: np.ndarray) -> None:
    done = run(lines(HEADER, *curves.tolist(), "bad"), "--json")
    failed = run("x", "--json")
    documented = cli_docs.documented_fields("stream")
    for line in (done.out + failed.out).splitlines():
        record = json.loads(line)
        assert record["type"] in documented
        assert set(record) <= documented, record


@pytest.mark.data
def test_a_real_clip_has_the_keys_of_its_features(run, data_dir: Path) -> None:
    path = data_dir / "cmu120" / "07_05_walk.bvh"
    features = compute_features(kp.load(path), METHOD.feature_kind, METHOD.joints)
    done = run(path.read_bytes(), "--skip", 1, "--json")  # without the T-pose
    assert key_frames(done.out) == [key + 1 for key in expected_keys(features.values, features.columns, 120.0)]
