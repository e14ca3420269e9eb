"""Functions that damage a file, each with a seeded generator."""

from __future__ import annotations

import random
import re
import struct

WORDS = (
    b"nan", b"inf", b"-1", b"0", b"1e999", b"-0", b"99999999999999999999", b"1.#IND", b"", b"{", b"}", b"[[[[", b'"',
    b"\x00", b"\xff\xff\xff\xff", b"JOINT", b"ROOT", b"End Site", b"CHANNELS", b"MOTION", b"null", b"true", b":root",
    b"begin", b"end", b"../../x", b"\xe2\x80\xae", b"1e-320", b"4294967295", b"2147483648", b"-2147483649", b"65536",
)  # fmt: skip
INTEGERS = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def damage(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Apply one to six random damages, mostly few."""
    for _ in range(min(6, 1 + int(rng.expovariate(0.8)))):
        data = rng.choice(DAMAGES)(data, others, rng)
    return data


def flip_bits(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if out:
            out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def truncate(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def cut_out(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    a, b = _span(data, rng)
    return data[:a] + data[b:]


def repeat(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    a, b = _span(data, rng)
    return data[:b] + data[a:b] * rng.choice((1, 2, 40)) + data[b:]


def splice(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    other = rng.choice(others)
    a, b = _span(data, rng)
    c, d = _span(other, rng)
    return data[:a] + other[c:d] + data[b:]


def put_integer(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    form = rng.choice(("<B", "<H", ">H", "<I", ">I"))
    size = struct.calcsize(form)
    at = rng.randrange(max(1, min(len(data), rng.choice((64, 600, 1 << 30)))))
    number = rng.choice(INTEGERS) & ((1 << 8 * size) - 1)
    return data[:at] + struct.pack(form, number) + data[at + size :]


def put_word(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    words = [match.span() for match in re.finditer(rb"[^\s,:{}\[\]\"()]+", data[: 1 << 16])]
    if not words:
        return data + rng.choice(WORDS)
    a, b = rng.choice(words[: rng.choice((40, 400, len(words)))])
    return data[:a] + rng.choice(WORDS) + data[b:]


def swap_lines(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def drop_line(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    del lines[rng.randrange(min(len(lines), rng.choice((30, 300, len(lines)))))]
    return b"\n".join(lines)


def _span(data: bytes, rng: random.Random) -> tuple[int, int]:
    a = rng.randrange(len(data) + 1)
    return a, min(len(data), a + int(rng.expovariate(1 / rng.choice((4, 40, 400)))))


DAMAGES = (flip_bits, truncate, cut_out, repeat, splice, put_integer, put_word, put_word, swap_lines, drop_line)
