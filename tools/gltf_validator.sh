#!/bin/sh
# Installs the Khronos glTF validator (about 2 MB); the last line printed is the folder that holds it. See npm_cache.sh.
exec "$(dirname "$0")/npm_cache.sh" gltf-validator 2.0.0-dev.3.10
