#pragma once

#include <nanobind/nanobind.h>

void bind_kps(nanobind::module_& m);
