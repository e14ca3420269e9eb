"""Tasks of every kind that a worker may have to do with."""

from __future__ import annotations

import ctypes
import json
import os
import time
from typing import Any

import numpy as np

from keypose.errors import FormatError, LimitError, MissingExtra, OptionError, UnknownJoint
from keypose.server.work.desk import Answer, Desk


def say(desk: Desk, told: dict[str, Any]) -> Answer:
    return Answer(json.dumps({"pid": os.getpid(), **told}).encode(), headers={"X-Said": "yes"})


def motion(desk: Desk, told: dict[str, Any]) -> Answer:
    first, again = desk.motion(told["clip"]), desk.motion(told["clip"])
    facts = {"frames": first.n_frames, "name": first.name, "same": first is again}
    return Answer(json.dumps(facts).encode())


def large(desk: Desk, told: dict[str, Any]) -> Answer:
    return Answer(bytes(told["bytes"]), "application/octet-stream")


def sleep(desk: Desk, told: dict[str, Any]) -> Answer:
    time.sleep(told["s"])
    return say(desk, told)


def crash(desk: Desk, told: dict[str, Any]) -> Answer:
    ctypes.string_at(0)
    return say(desk, told)


def leave(desk: Desk, told: dict[str, Any]) -> Answer:
    os._exit(3)


def grow(desk: Desk, told: dict[str, Any]) -> Answer:
    return Answer(bytes(np.ones(told["bytes"], np.uint8)[:1]))


def chatter(desk: Desk, told: dict[str, Any]) -> Answer:
    print("what a library prints is no answer")
    os.write(1, b"nor this\n")
    return say(desk, told)


def fail(desk: Desk, told: dict[str, Any]) -> Answer:
    raise {
        "FormatError": FormatError("/secret/folder/walk.bvh", "5 channels", line=41),
        "LimitError": LimitError("walk.bvh", "too many joints"),
        "MissingExtra": MissingExtra("reading USD needs: pip install 'keypose[usd]'"),
        "OptionError": OptionError("keys=0, expected more"),
        "UnknownJoint": UnknownJoint("hed", ["head"]),
        "bug": ZeroDivisionError("/secret/folder"),
    }[told["kind"]]


TASKS = {each.__name__: each for each in (say, motion, large, sleep, crash, leave, grow, chatter, fail)}
