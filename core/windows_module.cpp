// Python bindings of the window distances: check shapes, release the GIL, call the kernel.
#include "windows_module.hpp"

#include <nanobind/ndarray.h>

#include "arguments.hpp"
#include "windows.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using keypose::checked, keypose::require;

namespace {

using Vectors = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Singles = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bounds = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ClipIndices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require_bounds(const Bounds& bounds, std::size_t end) {
    require(bounds.shape(0) > 1 && bounds(0) == 0 && static_cast<std::size_t>(bounds(bounds.shape(0) - 1)) == end,
            "bounds must begin with 0 and end with the number of vectors");
    for (std::size_t k = 1; k < bounds.shape(0); ++k) require(bounds(k - 1) < bounds(k), "bounds must increase");
}

template <typename Number>
nb::ndarray<nb::numpy, Number> make_array(std::size_t rows, std::size_t columns, Number*& data) {
    data = new Number[rows * columns];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Number*>(p); });
    return nb::ndarray<nb::numpy, Number>(data, {rows, columns}, owner);
}

nb::tuple nearest_windows(Vectors query, Bounds variants, Vectors vectors, Singles squares, Singles weights, Bounds bounds,
                          ClipIndices clip_indices) {
    require(query.shape(1) == vectors.shape(1) && query.shape(1) > 0, "query and vectors must have the same number of columns");
    require(squares.shape(0) == vectors.shape(0) && weights.shape(0) == vectors.shape(0), "squares and weights must have one entry per vector");
    require_bounds(variants, query.shape(0));
    require_bounds(bounds, vectors.shape(0));
    const std::size_t clips = bounds.shape(0) - 1;
    for (std::size_t k = 0; k < clip_indices.shape(0); ++k)
        require(clip_indices(k) >= 0 && static_cast<std::size_t>(clip_indices(k)) < clips, "there is no such clip");
    float* forward = nullptr;
    double* backward = nullptr;
    auto forward_out = make_array(query.shape(0), clip_indices.shape(0), forward);
    auto backward_out = make_array(variants.shape(0) - 1, clip_indices.shape(0), backward);
    {
        nb::gil_scoped_release unlocked;
        const keypose::ClipWindows windows{vectors.data(), squares.data(), weights.data(), bounds.data(),
                                               vectors.shape(1)};
        keypose::nearest_windows(query.data(), query.shape(0), variants.data(), variants.shape(0) - 1, windows, clip_indices.data(),
                                 clip_indices.shape(0), forward, backward);
    }
    return nb::make_tuple(forward_out, backward_out);
}

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple nearest_match(Rows rows, Rows pattern, std::size_t first, std::size_t last) {
    require(rows.shape(1) == pattern.shape(1) && pattern.shape(0) > 0, "rows and pattern must have the same number of columns");
    require(pattern.shape(0) <= rows.shape(0) && first <= last && last <= rows.shape(0) - pattern.shape(0),
            "the pattern must lie within the rows");
    const auto match =
        keypose::nearest_match(rows.data(), pattern.data(), pattern.shape(0), pattern.shape(1), first, last);
    return nb::make_tuple(match.at, match.square);
}

}  // namespace

void bind_windows(nb::module_& m) {
    m.def("nearest_windows", checked(&nearest_windows), "query"_a, "variants"_a, "vectors"_a, "squares"_a, "weights"_a, "bounds"_a,
          "clip_indices"_a,
          "Return the distances from the windows of a query to the nearest window of each clip (W, K), and for each variant of "
          "the query the weighted sums of the distances from the windows of each clip to the nearest of the query (Q, K).");
    m.def("nearest_match", checked(&nearest_match), "rows"_a, "pattern"_a, "first"_a, "last"_a,
          "Return the row from first to last at which rows (N, D) are nearest to a pattern (M, D), and the mean squared distance there.");
}
