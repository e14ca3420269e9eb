// Adds the lossless codec to the Python module.
#pragma once

#include <nanobind/nanobind.h>

void bind_lossless(nanobind::module_& m);
