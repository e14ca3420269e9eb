"""The start of a child process that reads an untrusted file: sets limits, calls the reader, leaves its answer.

Runs by path in any interpreter that has the reader's library and numpy; imports nothing of this package.
"""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


def main(request_path: str) -> None:
    """Leaves ``facts.json`` and ``arrays.npz`` in the request's folder, or facts that say why not."""
    request = json.loads(Path(request_path).read_bytes())
    folder = Path(request["folder"])
    set_limits(request)
    spec = importlib.util.spec_from_file_location("reader", request["script"])
    assert spec is not None and spec.loader is not None
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    facts: dict[str, Any]
    try:
        arrays, facts = reader.read(request)
        np.savez(folder / "arrays.npz", **arrays)
    except reader.Refused as refusal:
        facts = refusal.facts
    except Exception as error:  # of any library that the file confused: it becomes a FormatError
        said = str(error).strip().replace(request["file"], "the file")
        missing = isinstance(error, ModuleNotFoundError) and error.name == reader.LIBRARY
        facts = {"missing": missing, "problem": f"cannot be read ({type(error).__name__}: {said[:300]})"}
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
