#!/bin/sh
# Install the Khronos glTF validator (about 2 MB); the last line printed is its folder. See npm_cache.sh.
exec "$(dirname "$0")/npm_cache.sh" gltf-validator 2.0.0-dev.3.10
