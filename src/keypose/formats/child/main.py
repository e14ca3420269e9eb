"""The start of a child process that reads an untrusted file or writes one: sets limits, calls a script.

Runs by path in any interpreter that has the script's library and numpy; imports nothing of this package.
"""

import importlib.util
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1  # of Linux's prctl.h


def leave_with_parent() -> None:
    """Ends this process when the one that started it is gone, where the system can do that: nobody wants the answer."""
    if sys.platform == "linux":
        try:
            import ctypes

            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
        except (ImportError, OSError, AttributeError):
            pass


if __name__ == "__main__":
    leave_with_parent()  # now: what is imported takes long

import numpy as np  # noqa: E402


def main(request_path: str) -> None:
    """Leaves ``facts.json`` and ``arrays.npz`` in the request's folder, or facts that say why not.

    A request with ``given`` arrays is for a file: the script leaves it at the path ``out``.
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
        if "given" in request:
            with np.load(request["given"], allow_pickle=False) as given:
                facts = script.write(request, dict(given.items()))
        else:
            arrays, facts = script.read(request)
            np.savez(folder / "arrays.npz", **arrays)
    except getattr(script, "Refused", ()) as refusal:
        facts = refusal.facts
    except Exception as error:  # of any library that the file confused: it becomes a FormatError
        said = str(error).strip()
        for path, name in ((request.get("file"), "the file"), (request.get("out"), "the file")):
            said = said.replace(path, name) if path else said
        missing = isinstance(error, ModuleNotFoundError) and error.name == script.LIBRARY
        verb = "written" if "given" in request else "read"
        facts = {"missing": missing, "problem": f"cannot be {verb} ({type(error).__name__}: {said[:300]})"}
    (folder / "facts.json").write_text(json.dumps(facts))


def set_limits(request: dict[str, Any]) -> None:
    """Memory, processor time and written bytes, where the system can limit them; no core dumps."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows: only the time limit of the parent process holds
        return
    for what, limit in (
        (resource.RLIMIT_AS, request["address_bytes"]),
        (resource.RLIMIT_CPU, request["seconds"]),
        (resource.RLIMIT_FSIZE, request["file_bytes"]),
        (resource.RLIMIT_CORE, 0),
    ):
        _, most = resource.getrlimit(what)
        limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(what, (limit, limit))


if __name__ == "__main__":
    main(sys.argv[1])
    os._exit(0)  # the answer is there: Blender may hang while it cleans up after some files
