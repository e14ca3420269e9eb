"""Check that this tree computes what the commit before the restructuring did.

    .venv/bin/python tools/compare_results.py [--quick] [--cases "kps*"] [--keep-old DIR]

Both trees are built, every case of compare_results_cases.py runs in both, and all results are compared: arrays by hash,
numbers by their bits, errors by type. Each tree also decodes the .kps files that the other one has written. The old
tree and its results stay in a cache folder, so that it is built once and each case runs in it once.

Exit code: 0 where all is equal or allowed, 1 where something differs, 2 where a tree could not be built or run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BASE = "3c3f23a226714cd2c988dc739bc5d9c2823ff5c6"

# What has another name in the new tree: {"old name": "new name"}. The cases use old names; the new tree translates.
#   "least_gap_frames": "min_gap_frames"              a keyword, attribute, function, method or class
#   "Curves.arriving": "in_tangents"                  an attribute or method of one class (old name of the class)
#   "Clip.note": "metadata.note"                      the new name may be a path of attributes
#   "kp.swings.least_s": "min_duration_s"             a keyword of one public function,
#   "Library.search_part.several": "multiple"         or of one method
#   "keypose.verbs.sweep": "keypose.api.swings.sweep" a member of a module, or the module alone
#   "keypose --least-gap-frames": "--min-gap-frames"  an option or a command of the command line
RENAMED: dict[str, str] = {
    # Modules
    "keypose.inbetween.editing": "keypose.curves.edit",
    "keypose.library.canonical.canonical": "keypose.library.canonical.canonical_body",
    "keypose.swings.packed": "keypose.swings.codec",
    "keypose.verbs.sweep": "keypose.api.swings.sweep",
    # Classes
    "Agreement": "SwingMatch",
    "Canonical": "CanonicalBody",
    "Hinged": "HingeResult",
    "Ingested": "IngestReport",
    "Middle": "MedianRow",
    "NotAdded": "IngestFailure",
    "Planted": "PlantResult",
    "Sheet": "SwingTable",
    "Standing": "ContactBar",
    "Tally": "IngestCounts",
    "Why": "MatchDetails",
    # Attributes and methods
    "Agreement.part": "body_part",
    "Anatomy.parts": "body_parts",
    "Balance.corners": "n_corners",
    "Balance.extrapolated": "extrapolated_centre_of_mass",
    "Balance.level": "ground_axes",
    "Clip.also_named": "other_names",
    "Clip.within_mm": "tolerance_mm",
    "Curves.arriving": "in_tangents",
    "Curves.leaving": "out_tangents",
    "Curves.still": "still_joints",
    "Damage.loses_nothing": "is_harmless",
    "Facets.parts": "body_parts",
    "FootContacts.touching": "in_contact",
    "Hinged.joints_held": "corrected_joints",
    "Hinged.most_deg": "max_correction_deg",
    "Hit.also": "duplicates",
    "Hit.also_hashes": "duplicate_hashes",
    "Hit.why": "details",
    "Ingested.clips": "added",
    "Ingested.known": "existing",
    "kp.Ladder.nested": "from_order",
    "kp.Ladder.of_paths": "from_paths",
    "Library.drop_draft": "delete_draft",
    "Library.forget_thrown_away": "empty_trash",
    "Library.keep_draft": "save_draft",
    "Library.named": "clips_named",
    "Library.pose_numbers": "pose_vector",
    "Library.throw_away": "trash",
    "Library.thrown_away": "list_trash",
    "Method.recipe": "feature_kind",
    "Comparison.middles": "medians",
    "Middle.clips": "n_clips",
    "Middle.exact": "n_exact",
    "Planted.legs_moved": "moved_legs",
    "RefineRow.removed": "removed_ratio",
    "RefineTable.mean_removed": "mean_removed_ratio",
    "Residual.turns": "rotations",
    "Row.keys_asked": "target_keys",
    "Row.part": "series",
    "Row.removed_percent_asked": "target_removed_percent",
    "Settings.least_s": "min_duration_s",
    "Sheet.parts": "body_parts",
    "SpanPair.unlikeness": "distance",
    "StoredMotion.sound": "intact_spans",
    "StreamingSaliency.greatest_delay_frames": "max_delay_frames",
    "Swing.turn": "rotation_vector",
    "SwingChange.played": "motion",
    "SwingEdit.hinged": "limit_hinges",
    "SwingEdit.planted": "plant_feet",
    "SwingEdit.tips": "find_tips",
    "Swings.coarser": "simplify",
    "Swings.places": "translations",
    "Tally.known": "existing",
    "TimelineRow.part": "body_part",
    "Track.turns": "rotation_vectors",
    "Why.centimetres": "joint_distance_cm",
    "Windows.usual": "background_distance",
    # Keywords
    "each_cluster": "keys_per_cluster",
    "fold": "deduplicate",
    "greatest_gap_frames": "max_gap_frames",
    "keep_place": "keep_position",
    "least_duration_s": "min_duration_s",
    "least_error": "min_error",
    "least_gap_frames": "min_gap_frames",
    "least_gap_s": "min_gap_s",
    "most_duration_s": "max_duration_s",
    "several": "multiple",
    "within_mm": "tolerance_mm",
    "kp.swings.least_s": "min_duration_s",
    "kp.tips_over.least_s": "min_duration_s",
    "Library.clips.part": "body_part",
    "Library.search_pose.numbers": "pose_vector",
    # Command line
    "keypose --least-gap-frames": "--min-gap-frames",
}

# Strings with a meaning that changed, both as arguments and in results: {"old value": "new value"}.
RENAMED_VALUES: dict[str, str] = {}

# Differences that are meant: {"case" or "case: path", where * stands for anything: why}.
ALLOWED_DIFFERENCES: dict[str, str] = {
    "charts: card of swings[0]": 'the card says "stored frame by frame" where it said "kept frame by frame"',
    "charts: timeline joints[svg]": 'the legend says "stored as keys" where it said "kept by keys"',
}

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
CASES = Path(__file__).with_name("compare_results_cases.py")
CACHE = Path(os.environ.get("KEYPOSE_CACHE") or Path.home() / ".cache" / "keypose")
BROKEN = ("AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "TypeError")  # never a result
MAX_PATHS = 5  # printed for each case

Results = dict[str, dict[str, Any]]  # by case: values by path, messages of errors, seconds


class TreeError(Exception):
    """A tree could not be built or run."""


def call(*command: str | Path, folder: Path = ROOT, **environment: str) -> None:
    names = ("KEYPOSE_BLENDER_PYTHON", "MAKEFLAGS", "PYTHONPATH", "VIRTUAL_ENV")
    variables = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run([str(part) for part in command], cwd=folder, env=variables | environment)
    if done.returncode:
        raise TreeError(f"{' '.join(map(str, command))}: exit code {done.returncode}")


def build_old(folder: Path) -> Path:
    """The old tree in ``folder``, built, with an environment of its own."""
    tree = folder / "tree"
    if not (folder / "built").exists():
        print(f"building {BASE[:7]} in {tree}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        if not tree.exists():
            call("git", "clone", "--quiet", "--no-checkout", ROOT, tree)
        call("git", "checkout", "--quiet", "--detach", BASE, folder=tree)
        call("make", "-s", ".venv/.demo", f"PYTHON={sys.executable}", folder=tree)
        extras = ("-c", "constraints.txt", "--no-build-isolation", "-e", ".[all]")
        call(tree / ".venv/bin/pip", "install", "-q", "--disable-pip-version-check", *extras, folder=tree)
        (folder / "built").touch()
    return tree


class Tree:
    """A checkout that runs cases in its own environment."""

    def __init__(self, path: Path, python: str | Path, files: Path, names: str) -> None:
        self.path = path
        self.python = python
        self.files = files
        self.names = names
        files.mkdir(parents=True, exist_ok=True)

    def run(self, *options: str | Path) -> Results:
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            arguments = (
                "--tree",
                self.path,
                "--data",
                DATA,
                "--files",
                self.files,
                "--names",
                self.names,
                "--out",
                out.name,
            )
            one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
            call(self.python, CASES, *arguments, *options, **one_thread)
            results: Results = json.loads(Path(out.name).read_text("utf-8"))
        return results


def run_old(tree: Tree, names: list[str], cache: Path) -> Results:
    """The results of the old tree, of which those that are in the file ``cache`` are not computed again."""
    results: Results = json.loads(cache.read_text("utf-8")) if cache.exists() else {}
    missing = [name for name in names if name not in results]
    if missing:
        results |= tree.run("--cases", ",".join(missing))
        cache.write_text(json.dumps(results), "utf-8")
    return {name: results[name] for name in names}


def is_allowed(case: str, path: str) -> str | None:
    """The row of ALLOWED_DIFFERENCES that allows a difference."""
    for pattern in ALLOWED_DIFFERENCES:
        expression = ".*".join(map(re.escape, pattern.split("*")))
        if re.fullmatch(expression, case) or re.fullmatch(expression, f"{case}: {path}"):
            return pattern
    return None


def compare(old: Results, new: Results) -> tuple[int, set[str]]:
    """Print what differs; return the number of cases that differ and the used rows of ALLOWED_DIFFERENCES."""
    n_differing, used = 0, set()
    for case in old:
        before, after = old[case]["values"], new[case]["values"]
        paths = [path for path in before | after if before.get(path) != after.get(path) or is_broken(before[path])]
        rows = {path: is_allowed(case, path) for path in paths}
        used |= {row for row in rows.values() if row}
        paths = [path for path in paths if rows[path] is None]
        paths.sort(key=lambda path: not (before.get(path, "") + after.get(path, "")).startswith("error "))
        if not paths:
            continue
        n_differing += 1
        print(f"\n{case}: {len(paths)} of {len(before | after)} values differ")
        for path in paths[:MAX_PATHS]:
            print(f"  {path}\n    old: {before.get(path, 'none')}\n    new: {after.get(path, 'none')}")
            for results in (old, new):
                if message := results[case]["messages"].get(path):
                    print("    " + message.strip().replace("\n", "\n    "))
                    break
        if len(paths) > MAX_PATHS:
            print(f"  ... and {len(paths) - MAX_PATHS} more")
    return n_differing, used


def is_broken(value: str) -> bool:
    """Whether a value, though equal in both trees, is an error of the case itself."""
    return value.startswith("error ") and value.split()[1] in BROKEN


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="leave out slow cases")
    parser.add_argument("--cases", default="*", help="only cases whose names match one of these, with commas between")
    parser.add_argument("--keep-old", type=Path, default=CACHE / "compare-results" / BASE, metavar="DIR",
                        help="where the old tree and its results are kept")  # fmt: skip
    options = parser.parse_args()
    folder = options.keep_old.resolve()
    start = time.perf_counter()
    try:
        if not Path(sys.prefix).is_relative_to(ROOT):
            raise TreeError(f"{sys.executable} is not of this tree, expected {ROOT}/.venv/bin/python")
        old_tree = build_old(folder)
        call("make", "-s", ".venv/.dev")
        key = hashlib.sha256(CASES.read_bytes() + (DATA / "MANIFEST.csv").read_bytes()).hexdigest()[:16]
        command = [sys.executable, CASES, "--list", "--cases", options.cases, *(["--quick"] if options.quick else [])]
        names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        with tempfile.TemporaryDirectory(prefix="keypose-compare-") as scratch:
            old = Tree(old_tree, old_tree / ".venv/bin/python", folder / f"files-{key}", "[{}, {}]")
            new = Tree(ROOT, sys.executable, Path(scratch), json.dumps([RENAMED, RENAMED_VALUES]))
            before = run_old(old, names, folder / f"results-{key}.json")
            after = new.run("--cases", ",".join(names))
            if any(name.startswith("kps") for name in names):  # each tree decodes what the other has written
                for label, files in {
                    "kps files of the old tree": old.files,
                    "kps files of the new tree": new.files,
                }.items():
                    before[label] = old.run("--decode", files)["decode"]
                    after[label] = new.run("--decode", files)["decode"]
    except (TreeError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 2
    n_differing, used = compare(before, after)
    for pattern in ALLOWED_DIFFERENCES.keys() - used if options.cases == "*" and not options.quick else ():
        print(f"\nALLOWED_DIFFERENCES has {pattern!r}, which nothing needs")
    count = sum(len(result["values"]) for result in after.values())
    seconds = [sum(result["seconds"] for result in results.values()) for results in (before, after)]
    print(f"\n{len(after)} cases, {count:,} values compared with {BASE[:7]} in {time.perf_counter() - start:.0f} s "
          f"(cases alone: old {seconds[0]:.1f} s, new {seconds[1]:.1f} s)")  # fmt: skip
    print(f"{n_differing} cases differ" if n_differing else f"no difference, {len(used)} rows of allowed differences")
    return 1 if n_differing else 0


if __name__ == "__main__":
    sys.exit(main())
