#pragma once

#include <nanobind/nanobind.h>

void bind_swing_overlap(nanobind::module_& m);
