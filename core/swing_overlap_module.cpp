// Python bindings of the swing overlap: check shapes, release the GIL, call the kernel.
#include "swing_overlap_module.hpp"

#include <nanobind/ndarray.h>

#include <cmath>

#include "arguments.hpp"
#include "swing_overlap.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using keypose::checked, keypose::require;

namespace {

using BodyParts = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Times = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Axes = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr double kMaxSamples = 1e8;

keypose::SwingTable parse_table(const nb::tuple& arrays, double start_s, double end_s, double rate) {
    require(arrays.size() == 5, "a table of swings is (body parts, starts, ends, axes, present body parts)");
    const auto body_parts = nb::cast<BodyParts>(arrays[0], false);
    const auto starts = nb::cast<Times>(arrays[1], false), ends = nb::cast<Times>(arrays[2], false);
    const auto axes = nb::cast<Axes>(arrays[3], false);
    const auto present = nb::cast<Flags>(arrays[4], false);
    const std::size_t n = body_parts.shape(0);
    require(starts.shape(0) == n && ends.shape(0) == n && axes.shape(0) == n, "each swing must have a body part, a start, an end and an axis");
    for (std::size_t k = 0; k < n; ++k)
        require(body_parts(k) >= 0 && static_cast<std::size_t>(body_parts(k)) < present.shape(0), "there is no such body part");
    require(std::isfinite(start_s) && start_s <= end_s && (end_s - start_s) * rate < kMaxSamples, "the end must not be before the start, and the range not too long");
    return {body_parts.data(), starts.data(), ends.data(), axes.data(), n, present.data(), start_s, end_s};
}

template <typename Number>
nb::ndarray<nb::numpy, Number> make_array(std::size_t rows, std::size_t columns, Number*& data) {
    data = new Number[rows * columns];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Number*>(p); });
    return nb::ndarray<nb::numpy, Number>(data, {rows, columns}, owner);
}

nb::tuple overlap_swings(nb::tuple query, double query_from, double query_to, nb::tuple other, double other_from,
                         double other_to, double rate, double min_cosine, bool by_axes) {
    require(rate > 0.0 && std::isfinite(rate), "the rate must be above 0");
    const auto query_table = parse_table(query, query_from, query_to, rate), other_table = parse_table(other, other_from, other_to, rate);
    const std::size_t n_body_parts = nb::cast<Flags>(query[4], false).shape(0);
    require(nb::cast<Flags>(other[4], false).shape(0) == n_body_parts, "both tables must have the same body parts");
    keypose::SwingOverlap result;
    {
        nb::gil_scoped_release unlocked;
        result = keypose::overlap_swings(query_table, other_table, n_body_parts, rate, min_cosine, by_axes);
    }
    std::int32_t* indices = nullptr;
    double* cosines = nullptr;
    auto indices_out = make_array(result.matches.size(), 2, indices);
    auto cosines_out = make_array(result.matches.size(), 1, cosines);
    for (std::size_t k = 0; k < result.matches.size(); ++k) {
        indices[2 * k] = result.matches[k].query;
        indices[2 * k + 1] = result.matches[k].other;
        cosines[k] = result.matches[k].cosine;
    }
    return nb::make_tuple(result.score, result.shift, indices_out, cosines_out);
}

}  // namespace

void bind_swing_overlap(nb::module_& m) {
    m.def("overlap_swings", checked(&overlap_swings), "query"_a, "query_start_s"_a, "query_end_s"_a, "other"_a, "other_start_s"_a,
          "other_end_s"_a, "rate"_a, "min_cosine"_a, "by_axes"_a,
          "Return the best overlap score of the swings of two clips, its shift in samples, the pairs of matching swings "
          "there (A, 2), and the cosines between their axes (A, 1).");
}
