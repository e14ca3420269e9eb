"""The entry point of a child process that reads or writes a file: sets limits, calls a script.

Run by path in any interpreter that has the script's library and numpy; imports nothing of this package.
"""

import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1  # of Linux's prctl.h
MAX_REASON_CHARS = 300


def exit_with_parent() -> None:
    """Let the system end this process when its parent ends, on Linux."""
    if sys.platform == "linux":
        try:
            import ctypes

            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        except (ImportError, OSError, AttributeError):
            pass


if __name__ == "__main__":
    exit_with_parent()  # before the slow imports

import numpy as np  # noqa: E402


def main(request_path: str) -> None:
    """Write ``facts.json`` and ``arrays.npz`` to the request's folder, or facts that describe the failure.

    A request with ``input`` arrays is for writing a file: the script writes it to the path ``out``.
    """
    request = json.loads(Path(request_path).read_bytes())
    folder = Path(request["folder"])
    set_limits(request)
    sys.path.append(str(Path(__file__).resolve().parent))  # scripts may share modules
    spec = importlib.util.spec_from_file_location("script", request["script"])
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    facts: dict[str, Any]
    try:
        if "input" in request:
            with np.load(request["input"], allow_pickle=False) as arrays_file:
                facts = script.write(request, dict(arrays_file.items()))
        else:
            arrays, facts = script.read(request)
            np.savez(folder / "arrays.npz", **arrays)
    except getattr(script, "FileRejectedError", ()) as rejection:
        facts = rejection.facts
    except Exception as error:  # any library may raise anything for a damaged file; it becomes a FormatError
        library = sys.modules.get(script.LIBRARY)
        facts = {
            "missing": isinstance(error, ModuleNotFoundError) and error.name == script.LIBRARY,
            "failure": describe_error(error, [request[key] for key in ("file", "out") if key in request]),
            "version": getattr(getattr(library, "app", None), "version_string", None),  # of Blender
        }
    (folder / "facts.json").write_text(json.dumps(facts))


def describe_error(error: Exception, paths: list[str]) -> str:
    """Return the reason of an error in one line; ``paths`` in it become "the file".

    Blender's operators raise a RuntimeError with the traceback of a script, whose last line is the reason, or with
    messages of their own.
    """
    text = str(error).strip()
    for path in paths:
        text = text.replace(path, "the file")
    if "Traceback (most recent call last):" in text:
        lines = [line for line in text.splitlines() if line.strip() and not line.startswith((" ", "Location: "))]
        return lines[-1][:MAX_REASON_CHARS]
    reason = " ".join(text.split())
    if isinstance(error, RuntimeError) and reason.startswith("Error: "):
        return reason.removeprefix("Error: ")[:MAX_REASON_CHARS]
    return f"{type(error).__name__}{reason and ': '}{reason}"[:MAX_REASON_CHARS]


def set_limits(request: dict[str, Any]) -> None:
    """Limit memory, processor time and written bytes, if the system can; no core dumps."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows: only the parent's timeout applies
        return
    for resource_kind, limit in (
        (resource.RLIMIT_AS, request["address_bytes"]),
        (resource.RLIMIT_CPU, request["seconds"]),
        (resource.RLIMIT_FSIZE, request["file_bytes"]),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard_limit = resource.getrlimit(resource_kind)
        limit = limit if hard_limit == resource.RLIM_INFINITY else min(limit, hard_limit)
        resource.setrlimit(resource_kind, (limit, limit))


if __name__ == "__main__":
    main(sys.argv[1])
    os._exit(0)  # the result is written, and Blender may hang in its cleanup after some files
