#!/bin/sh
# Installs three.js (npm package three, about 30 MB) into a cache shared by all checkouts; the last line printed is
# the folder that holds it. Run it as often as you like, even twice at once.
#
#   KEYPOSE_CACHE    where to keep it, else ~/.cache/keypose
set -eu

version=0.180.0
folder="${KEYPOSE_CACHE:-$HOME/.cache/keypose}/three"
ready="$folder/ready-$version"
mkdir -p "$folder"

for program in node npm; do
    if ! command -v "$program" >/dev/null; then
        echo "$0: no $program, which three.js needs" >&2
        exit 1
    fi
done

exec 9>"$folder/lock"
flock 9

if ! [ -f "$ready" ] || ! [ -d "$folder/node_modules/three" ]; then
    npm install --prefix "$folder" --no-audit --no-fund --no-package-lock --silent "three@$version" >&2
    : >"$ready"
fi
echo "$folder"
