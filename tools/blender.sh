#!/bin/sh
# Install Blender's Python module (bpy, about 950 MB) into a cache shared by all checkouts; the last line
# printed is the path of the interpreter that can import it. An existing installation is reused. Several runs at once are safe.
#
#   KEYPOSE_CACHE    the cache folder; default ~/.cache/keypose
#   KEYPOSE_PYTHON   a Python 3.11; default: searched for (this version of bpy supports no other)
set -eu

version=4.5
folder="${KEYPOSE_CACHE:-$HOME/.cache/keypose}/bpy-$version"
ready="$folder/ready"
mkdir -p "$folder"

exec 9>"$folder/lock"
flock 9

works() {
    [ -f "$ready" ] && "$folder/venv/bin/python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("bpy") is None)'
}

if ! works; then
    python="${KEYPOSE_PYTHON:-$("$(dirname "$0")/python.sh" 3.11)}"
    if ! "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then
        echo "$0: $python is not Python 3.11, which bpy $version needs: set KEYPOSE_PYTHON" >&2
        exit 1
    fi
    # An incomplete environment is removed. The file "ready" is written last, so it exists only in complete ones.
    rm -rf "$ready" "$folder/venv"
    "$python" -m venv "$folder/venv" >&2
    "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir "bpy==$version.*" >&2
    # On a machine without a display the libraries that Blender links to may be missing.
    "$folder/venv/bin/python" -c 'import bpy' 2>/dev/null ||
        "$(dirname "$0")/apt.sh" libgl1 libsm6 libxfixes3 libxi6 libxkbcommon0 libxrender1 >&2
    "$folder/venv/bin/python" -c 'import bpy; print("Blender", bpy.app.version_string)' >&2
    : >"$ready"
fi
echo "$folder/venv/bin/python"
