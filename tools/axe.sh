#!/bin/sh
# Install axe-core (3 MB), which checks the accessibility of pages; the last line printed is its folder. See npm_cache.sh.
exec "$(dirname "$0")/npm_cache.sh" axe-core 4.10.2
