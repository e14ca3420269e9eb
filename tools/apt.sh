#!/bin/sh
# Install Debian packages: apt.sh PACKAGE...
set -e
[ "$(id -u)" = 0 ] && as_root= || as_root=sudo
$as_root apt-get install -y -q "$@" || { $as_root apt-get update -q && $as_root apt-get install -y -q "$@"; }
