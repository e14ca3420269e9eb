"""``keypose stream``: print key poses while frames arrive."""

from __future__ import annotations

import ipaddress
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import numpy as np
from cyclopts import Parameter

from keypose.arrays import Floats
from keypose.cli import output
from keypose.cli.error_text import error_fields, render_error
from keypose.cli.options import Json, WholeNumber, check_fps, parse_joints
from keypose.cli.output import FAILED, UsageError
from keypose.errors import FileError, FormatError, KeyposeError, OptionError, format_count
from keypose.formats.frame_stream import (
    MAX_LINE_BYTES,
    FrameOrder,
    OrderedRow,
    RowCurves,
    StreamHeader,
    StreamParser,
    read_skeleton_file,
)
from keypose.methods.saliency.curves import SIGMA_S
from keypose.methods.saliency.streaming import LOOKAHEAD_S, StreamingSaliency

MAX_PACKET_BYTES = 60_000
RECEIVE_BUFFER_BYTES = 4 << 20
MAX_WARNINGS = 20  # about skipped rows; further ones are only counted
Value = TypeVar("Value")


def stream(
    *,
    udp: Annotated[
        str | None,
        Parameter(
            help="Receive packets at this port of this computer, PORT or HOST:PORT; 0 is any free port. "
            "Default: read lines from standard input."
        ),
    ] = None,
    skeleton: Annotated[
        Path | None,
        Parameter(help="The BVH file whose channels and rate the rows have. Default: the stream has a header."),
    ] = None,
    fps: Annotated[float | None, Parameter(help="Frames per second. Default: those of the header.")] = None,
    joints: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Joints to follow: names, body parts or groups such as hands. Default: body."),
    ] = (),
    lookahead_s: Annotated[
        float,
        Parameter(
            help="Seconds after a frame that are seen before it is decided; less is earlier, and agrees less "
            "with the whole clip."
        ),
    ] = LOOKAHEAD_S,
    sigma_s: Annotated[
        float, Parameter(help="Sigma of the finer Gaussian in seconds; the keys are reported that much later.")
    ] = SIGMA_S,
    min_gap_s: Annotated[
        float | None,
        Parameter(help="Minimum seconds between two keys. Default: 0.083 for one joint, 0.167 for several."),
    ] = None,
    skip: Annotated[
        WholeNumber, Parameter(help="Leave out this many frames at the start, such as a T-pose. Default: 0.")
    ] = None,
    bad_rows: Annotated[
        Literal["skip", "stop"],
        Parameter(help="What to do with a row that cannot be read: name and skip it, or stop. Default: skip."),
    ] = "skip",
    idle_s: Annotated[
        float | None, Parameter(help="End after this many seconds without a packet. Default: never.")
    ] = None,
    json: Json = False,
) -> int:
    """Print key poses while frames arrive.

    Frames come from standard input or a UDP port of this computer, as rows of a
    BVH file or JSON lines. Each key is printed as soon as it is certain, by curve
    saliency (Bulut and Capin), with its delay. The end of the input or Ctrl-C ends
    the take and prints its last keys. With --json each line is a JSON object.

    For example:
      keypose stream < walk.bvh
      recorder | keypose stream --skeleton actor.bvh --json
      keypose stream --udp 9763 --skeleton actor.bvh --joints hands
      keypose stream --udp 9763 --lookahead-s 0.2 --idle-s 5
    """
    address = None if udp is None else _parse_address(udp)
    if idle_s is not None and (address is None or not 0 < idle_s < 1e9):
        raise UsageError(option="idle_s", value=idle_s, expected="seconds above 0, and --udp with it")
    if skip is not None and skip < 0:
        raise UsageError(option="skip", value=skip, expected="at least 0")
    joint_names = parse_joints("joints", joints) if joints else "body"
    settings: dict[str, Any] = {"lookahead_s": lookahead_s, "sigma_s": sigma_s, "min_gap_s": min_gap_s}
    try:
        StreamingSaliency(1, check_fps(fps) or 1.0, **settings)
    except OptionError as error:
        raise UsageError.from_error(error) from None
    known = None if skeleton is None else read_skeleton_file(skeleton)
    name, max_bytes = ("stdin", MAX_LINE_BYTES) if address is None else ("UDP", MAX_PACKET_BYTES)
    parser = StreamParser(name, joint_names, fps, known, max_bytes)
    printer = _JsonPrinter() if json else _TextPrinter()
    with ExitStack() as resources:
        interrupt = resources.enter_context(_interrupts())
        if address is None:
            lines = _read_lines(interrupt)
        else:
            lines = _receive_packets(resources.enter_context(_open_socket(address, idle_s, printer)), interrupt)
        return _run(
            lines,
            parser,
            settings,
            printer,
            interrupt,
            n_to_skip=skip or 0,
            stops_at_bad_rows=bad_rows == "stop",
            needs_header_first=address is None,
        )


class LiveKey(NamedTuple):
    """A key, and the newest frame when it was found."""

    take: int
    frame: int
    newest_frame: int

    @property
    def delay_frames(self) -> int:
        """The number of frames that were received after the key."""
        return self.newest_frame - self.frame


class KeyFinder:
    """Finds the keys of ordered rows; fills gaps by straight lines and starts new takes."""

    def __init__(self, header: StreamHeader, settings: dict[str, Any]) -> None:
        self._header = header
        self._settings = settings
        self._first = 0  # number of the first frame of the take
        self._previous: Floats | None = None
        self.n_takes = 0
        self.n_frames = 0  # received
        self.n_filled = 0  # computed in their place
        self._start()

    @property
    def max_delay_frames(self) -> int:
        """The maximum number of frames between a key and its report."""
        return self._saliency.max_delay_frames

    def push(self, row: OrderedRow) -> list[LiveKey]:
        """Return the keys that are certain with this row."""
        keys = []
        if row.is_new_take or self.n_takes == 0:
            keys += self.finish()
            self._start()
            self._first = row.number
            self.n_takes += 1
        curves = self._rows.curves(row.values)
        if self._previous is not None:
            for share in np.linspace(0, 1, row.n_missing + 2)[1:-1]:
                keys += self._push_curves((1 - share) * self._previous + share * curves)
        keys += self._push_curves(curves)
        self.n_frames += 1
        self.n_filled += row.n_missing
        self._previous = curves
        return keys

    def finish(self) -> list[LiveKey]:
        """Return the remaining keys of the take."""
        return self._name_keys(self._saliency.close())

    def _start(self) -> None:
        self._previous = None
        self._rows = RowCurves(self._header)
        self._saliency = StreamingSaliency(self._header.columns, self._header.fps, **self._settings)

    def _push_curves(self, curves: Floats) -> list[LiveKey]:
        return self._name_keys(self._saliency.push(curves))

    def _name_keys(self, frames: tuple[int, ...]) -> list[LiveKey]:
        newest = self._first + self._saliency.n_frames - 1
        return [LiveKey(self.n_takes, self._first + frame, newest) for frame in frames]


class _TextPrinter:
    """Prints keys as the rows of a table."""

    def __init__(self) -> None:
        self._n_keys = 0
        self._fps = 0.0

    def listen(self, address: str) -> None:
        """Print where packets are received."""
        output.print_note(f"receiving packets at {address}; Ctrl-C ends the take")

    def start(self, header: StreamHeader, max_delay_frames: int) -> None:
        """Print what is followed, and the headings."""
        self._fps = header.fps
        curves = f"{format_count(len(header.columns), 'curve')} of {format_count(header.n_joints, 'joint')}"
        delay = f"{format_count(max_delay_frames, 'frame')} ({max_delay_frames / header.fps:.3f} s)"
        self._print(f"{curves} at {header.fps:.6g} fps; keys are reported at most {delay} late")
        self._print("take    key     frame     time s   delay frames   delay s")

    def key(self, key: LiveKey) -> None:
        """Print a key."""
        self._n_keys += 1
        time_s, delay_s = key.frame / self._fps, key.delay_frames / self._fps
        self._print(
            f"{key.take:4d} {self._n_keys:6d} {key.frame:9d} {time_s:10.3f} {key.delay_frames:14d} {delay_s:9.3f}"
        )

    def bad_row(self, error: FormatError, n_bad: int) -> None:
        """Name a row that is skipped."""
        if n_bad <= MAX_WARNINGS:
            output.print_warning(render_error(error))
        if n_bad == MAX_WARNINGS:
            output.print_warning("further rows that cannot be read are counted, but not named")

    def fail(self, error: KeyposeError) -> None:
        """Print the error that ended the stream."""
        output.flush()
        output.print_error(render_error(error))

    def end(self, counts: dict[str, Any]) -> None:
        """Print a summary."""
        filled = f", {counts['n_filled']} missing ones filled" if counts["n_filled"] else ""
        bad = f"; {format_count(counts['n_bad_rows'], 'bad row')} skipped" if counts["n_bad_rows"] else ""
        late = f"; {counts['n_dropped']} late, repeated or single ones dropped" if counts["n_dropped"] else ""
        self._print(
            f"{format_count(self._n_keys, 'key')} of {format_count(counts['n_frames'], 'frame')}{filled}{bad}{late}"
        )

    def _print(self, text: str) -> None:
        output.print_line(text)
        output.flush()


class _JsonPrinter(_TextPrinter):
    """Prints JSON lines."""

    def listen(self, address: str) -> None:
        """Print where packets are received."""
        self._print_record("listening", {"address": address})

    def start(self, header: StreamHeader, max_delay_frames: int) -> None:
        """Print what is followed."""
        self._fps = header.fps
        delay = {"max_delay_frames": max_delay_frames, "max_delay_s": max_delay_frames / header.fps}
        counts = {"n_curves": len(header.columns), "n_joints": header.n_joints}
        self._print_record("start", {"fps": header.fps, **counts, **delay})

    def key(self, key: LiveKey) -> None:
        """Print a key."""
        self._n_keys += 1
        times = {"time_s": key.frame / self._fps, "delay_frames": key.delay_frames}
        self._print_record(
            "key", {"take": key.take, "frame": key.frame, **times, "delay_s": key.delay_frames / self._fps}
        )

    def bad_row(self, error: FormatError, n_bad: int) -> None:
        """Name a row that is skipped."""
        if n_bad <= MAX_WARNINGS:
            self._print_record("bad_row", {"error": render_error(error), "error_fields": error_fields(error)})

    def fail(self, error: KeyposeError) -> None:
        """Print the error that ended the stream."""
        fields = {"error": render_error(error), "error_kind": type(error).__name__, "error_fields": error_fields(error)}
        self._print_record("error", fields)

    def end(self, counts: dict[str, Any]) -> None:
        """Print the counts."""
        self._print_record("end", {"n_keys": self._n_keys, **counts})

    def _print_record(self, kind: str, fields: dict[str, Any]) -> None:
        output.print_json_line({"type": kind, **fields})
        output.flush()


class _Interrupt:
    """Ctrl-C: ends the wait for the next line or packet, and never interrupts the work on one."""

    def __init__(self) -> None:
        self.is_requested = False
        self._is_waiting = False

    def wait(self, read: Callable[[], Value]) -> Value | None:
        """Return what ``read`` returns; None if Ctrl-C was pressed before or meanwhile."""
        try:
            self._is_waiting = True
            return None if self.is_requested else read()
        except KeyboardInterrupt:
            self.is_requested = True
            return None
        finally:
            self._is_waiting = False

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal; a second one ends the program even if it cannot print."""
        if self._is_waiting or self.is_requested:
            raise KeyboardInterrupt
        self.is_requested = True


@contextmanager
def _interrupts() -> Iterator[_Interrupt]:
    """Handle Ctrl-C by the ``_Interrupt`` that is yielded, and SIGTERM in the same way."""
    interrupt = _Interrupt()
    previous = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as with nohup
                previous[number] = signal.signal(number, interrupt.handle)
    try:
        yield interrupt
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _run(
    lines: Iterator[tuple[int, bytes]],
    parser: StreamParser,
    settings: dict[str, Any],
    printer: _TextPrinter,
    interrupt: _Interrupt,
    *,
    n_to_skip: int,
    stops_at_bad_rows: bool,
    needs_header_first: bool,
) -> int:
    """Print the keys of a stream; return the exit code. Packets before the header are bad rows."""
    order: FrameOrder | None = None
    finder: KeyFinder | None = None
    failure: KeyposeError | None = None
    line = n_bad = 0
    try:
        for line, text in lines:
            has_header = parser.header is not None
            try:
                row = parser.parse(text, line)
            except FormatError as error:
                if needs_header_first and not has_header:
                    raise
                if stops_at_bad_rows:
                    failure = error
                    break
                n_bad += 1
                printer.bad_row(error, n_bad)
                if order is not None:
                    order.skip()
                continue
            if parser.header is not None and (order is None or finder is None):
                order, finder = FrameOrder(parser.header.fps), KeyFinder(parser.header, settings)
                printer.start(parser.header, finder.max_delay_frames)
            if row is not None and order is not None and finder is not None:
                if n_to_skip:
                    n_to_skip -= 1
                    order.skip()
                    continue
                for ordered in order.add(row):
                    _print_keys(finder.push(ordered), printer)
            if parser.has_ended:
                break
        if failure is None and needs_header_first and not interrupt.is_requested:
            parser.finish(line)
    except KeyposeError as error:
        failure = error
    n_frames = n_takes = n_filled = n_dropped = 0
    if order is not None and finder is not None:
        for ordered in order.finish():
            _print_keys(finder.push(ordered), printer)
        _print_keys(finder.finish(), printer)
        n_frames, n_takes, n_filled, n_dropped = finder.n_frames, finder.n_takes, finder.n_filled, order.n_dropped
    if failure is None and n_frames == 0 and needs_header_first and not interrupt.is_requested:
        failure = FormatError(parser.name, "no frames", code="missing_data", expected="a header and rows of numbers")
    if failure is not None:
        printer.fail(failure)
    if parser.header is not None or failure is None:
        printer.end(
            {
                "n_frames": n_frames,
                "n_takes": n_takes,
                "n_filled": n_filled,
                "n_bad_rows": n_bad,
                "n_dropped": n_dropped,
                "interrupted": interrupt.is_requested,
            }
        )
    return 0 if failure is None else FAILED


def _print_keys(keys: list[LiveKey], printer: _TextPrinter) -> None:
    for key in keys:
        printer.key(key)


def _read_lines(interrupt: _Interrupt) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of standard input and their numbers, each as soon as it is there; the start of very long ones."""
    if sys.stdin is None:
        raise FileError("standard input is closed", expected="rows of numbers, or --udp")
    n = 0
    try:
        while text := interrupt.wait(lambda: sys.stdin.buffer.readline(MAX_LINE_BYTES + 2)):
            n += 1
            yield n, text
            while len(text) > MAX_LINE_BYTES and not text.endswith(b"\n"):  # the rest of the line
                text = interrupt.wait(lambda: sys.stdin.buffer.readline(MAX_LINE_BYTES)) or b""
                if len(text) < MAX_LINE_BYTES:
                    break
    except OSError as error:
        raise FileError(f"standard input cannot be read ({error.strerror})", code="read_failed") from None


def _parse_address(text: str) -> tuple[str, int]:
    """Parse ``9763``, ``127.0.0.1:9763`` or ``[::1]:9763``; only addresses of this computer are accepted."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
        is_valid = address.is_loopback and port.isascii() and port.isdecimal() and int(port) <= 65535
    except ValueError:
        is_valid = False
    if not is_valid:
        expected = "a port of this computer, 9763 or 127.0.0.1:9763"
        raise UsageError(option="udp", value=text, expected=expected)
    return str(address), int(port)


@contextmanager
def _open_socket(address: tuple[str, int], idle_s: float | None, printer: _TextPrinter) -> Iterator[socket.socket]:
    """Open a UDP socket at ``address``."""
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as receiver:
        try:
            receiver.bind(address)
        except OSError as error:
            problem = f"UDP port {address[1]} of {address[0]} cannot be used ({error.strerror})"
            raise FileError(problem, hint="choose another one, or 0 for any free one") from None
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)  # the system may allow less
        receiver.settimeout(idle_s)
        host, port = receiver.getsockname()[:2]
        printer.listen(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
        yield receiver


def _receive_packets(receiver: socket.socket, interrupt: _Interrupt) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of packets and the numbers of the packets; a packet that is too large as a whole."""
    n = 0
    try:
        while (packet := interrupt.wait(lambda: receiver.recv(1 << 16))) is not None:
            n += 1
            for text in [packet] if len(packet) > MAX_PACKET_BYTES else packet.splitlines():
                yield n, text
    except TimeoutError:
        return
