#pragma once

#include <nanobind/nanobind.h>

void bind_windows(nanobind::module_& m);
