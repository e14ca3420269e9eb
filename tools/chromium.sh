#!/bin/sh
# Install Chromium from Debian if it is missing; the last line printed is the path of the program.
set -e
"$(dirname "$0")/need.sh" chromium >&2
command -v chromium
