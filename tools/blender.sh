#!/bin/sh
# Install Blender's Python module (bpy, about 1 GB) into a cache shared by all checkouts; the last line
# printed is the path of the interpreter that can import it. An existing installation is reused. Several runs at once are safe.
#
#   blender.sh [4.5|5.2]    the version of Blender; default 4.5
#
#   KEYPOSE_CACHE    the cache folder; default ~/.cache/keypose
#   KEYPOSE_PYTHON   the one version of Python that this version of bpy supports; default: searched for
set -eu

version="${1:-4.5}"
case $version in
4.5) python_version=3.11 ;;
5.2) python_version=3.13 ;;
*)
    echo "$0: Blender $version, expected 4.5 or 5.2" >&2
    exit 2
    ;;
esac
folder="${KEYPOSE_CACHE:-$HOME/.cache/keypose}/bpy-$version"
ready="$folder/ready"
mkdir -p "$folder"

exec 9>"$folder/lock"
flock 9

works() {
    [ -f "$ready" ] && "$folder/venv/bin/python" -c 'import importlib.util as u, sys; sys.exit(u.find_spec("bpy") is None)'
}

if ! works; then
    python="${KEYPOSE_PYTHON:-$("$(dirname "$0")/python.sh" "$python_version")}"
    if [ "$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" != "$python_version" ]; then
        echo "$0: $python is not Python $python_version, which bpy $version needs: set KEYPOSE_PYTHON" >&2
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
