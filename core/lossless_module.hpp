// Puts the lossless columns into the Python module.
#pragma once

#include <nanobind/nanobind.h>

void bind_lossless(nanobind::module_& m);
