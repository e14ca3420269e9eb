// What Python sees of comparing windows: checks shapes, releases the lock, calls the kernel.
#include "windows_module.hpp"

#include <nanobind/ndarray.h>

#include <stdexcept>

#include "windows.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Vectors = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Singles = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bounds = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Chosen = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

void require_bounds(const Bounds& bounds, std::size_t end) {
    require(bounds.shape(0) > 1 && bounds(0) == 0 && static_cast<std::size_t>(bounds(bounds.shape(0) - 1)) == end,
            "bounds must begin at 0 and end with the vectors");
    for (std::size_t k = 1; k < bounds.shape(0); ++k) require(bounds(k - 1) < bounds(k), "bounds must rise");
}

template <typename Number>
nb::ndarray<nb::numpy, Number> filled(std::size_t rows, std::size_t columns, Number*& data) {
    data = new Number[rows * columns];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Number*>(p); });
    return nb::ndarray<nb::numpy, Number>(data, {rows, columns}, owner);
}

nb::tuple nearest_windows(Vectors query, Bounds ways, Vectors vectors, Singles squares, Singles weights, Bounds bounds,
                          Chosen chosen) {
    require(query.shape(1) == vectors.shape(1), "vectors must have as many numbers as the query's");
    require(squares.shape(0) == vectors.shape(0) && weights.shape(0) == vectors.shape(0), "one square and weight each");
    require_bounds(ways, query.shape(0));
    require_bounds(bounds, vectors.shape(0));
    const std::size_t clips = bounds.shape(0) - 1;
    for (std::size_t k = 0; k < chosen.shape(0); ++k)
        require(chosen(k) >= 0 && static_cast<std::size_t>(chosen(k)) < clips, "there is no such clip");
    float* there = nullptr;
    double* back = nullptr;
    auto there_out = filled(query.shape(0), chosen.shape(0), there);
    auto back_out = filled(ways.shape(0) - 1, chosen.shape(0), back);
    {
        nb::gil_scoped_release unlocked;
        const keypose::WindowsOfClips of_clips{vectors.data(), squares.data(), weights.data(), bounds.data(),
                                               vectors.shape(1)};
        keypose::nearest_windows(query.data(), query.shape(0), ways.data(), ways.shape(0) - 1, of_clips, chosen.data(),
                                 chosen.shape(0), there, back);
    }
    return nb::make_tuple(there_out, back_out);
}

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple nearest_place(Rows rows, Rows piece, std::size_t first, std::size_t last) {
    require(rows.shape(1) == piece.shape(1) && piece.shape(0) > 0, "both must have as many numbers in a row");
    require(first <= last && last + piece.shape(0) <= rows.shape(0), "the piece must lie within the rows");
    const auto found =
        keypose::nearest_place(rows.data(), piece.data(), piece.shape(0), piece.shape(1), first, last);
    return nb::make_tuple(found.at, found.square);
}

}  // namespace

void bind_windows(nb::module_& m) {
    m.def("nearest_windows", &nearest_windows, "query"_a, "ways"_a, "vectors"_a, "squares"_a, "weights"_a, "bounds"_a,
          "chosen"_a,
          "Distances from the windows of a query to the nearest of each chosen clip (W, K), and for each way to ask the "
          "weighted sum of those back (Q, K).");
    m.def("nearest_place", &nearest_place, "rows"_a, "piece"_a, "first"_a, "last"_a,
          "From which row on, between two of them, rows (N, D) are nearest to a piece (M, D), and the mean square there.");
}
