#!/bin/sh
# Install one npm package into a cache shared by all checkouts; the last line printed is its folder.
# An existing installation is reused. Several runs at once are safe.
#
#   npm_cache.sh PACKAGE VERSION
#
#   KEYPOSE_CACHE    the cache folder; default ~/.cache/keypose
set -eu

package="$1" version="$2"
folder="${KEYPOSE_CACHE:-$HOME/.cache/keypose}/$package"
ready="$folder/ready-$version"
mkdir -p "$folder"

for program in node npm; do
    if ! command -v "$program" >/dev/null; then
        echo "$0: $package needs $program, which is not installed" >&2
        exit 1
    fi
done

exec 9>"$folder/lock"
flock 9

if ! [ -f "$ready" ] || ! [ -d "$folder/node_modules/$package" ]; then
    npm install --prefix "$folder" --no-audit --no-fund --no-package-lock --silent "$package@$version" >&2
    : >"$ready"
fi
echo "$folder"
