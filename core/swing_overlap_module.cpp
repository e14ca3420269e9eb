// What Python sees of laying swings over each other: checks shapes, releases the lock, calls the kernel.
#include "swing_overlap_module.hpp"

#include <nanobind/ndarray.h>

#include <cmath>
#include <stdexcept>

#include "swing_overlap.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Parts = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Times = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Axes = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const bool, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr double kMostSamples = 1e8;

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

keypose::SwingSheet sheet_of(const nb::tuple& given, double from, double to, double rate) {
    require(given.size() == 5, "a sheet is parts, starts, ends, axes and which parts there are");
    const auto parts = nb::cast<Parts>(given[0], false);
    const auto starts = nb::cast<Times>(given[1], false), ends = nb::cast<Times>(given[2], false);
    const auto axes = nb::cast<Axes>(given[3], false);
    const auto present = nb::cast<Flags>(given[4], false);
    const std::size_t n = parts.shape(0);
    require(starts.shape(0) == n && ends.shape(0) == n && axes.shape(0) == n, "each swing has a part, times and an axis");
    for (std::size_t k = 0; k < n; ++k)
        require(parts(k) >= 0 && static_cast<std::size_t>(parts(k)) < present.shape(0), "there is no such part");
    require(std::isfinite(from) && from <= to && (to - from) * rate < kMostSamples, "times must rise, and not too far");
    return {parts.data(), starts.data(), ends.data(), axes.data(), n, present.data(), from, to};
}

template <typename Number>
nb::ndarray<nb::numpy, Number> filled(std::size_t rows, std::size_t columns, Number*& data) {
    data = new Number[rows * columns];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<Number*>(p); });
    return nb::ndarray<nb::numpy, Number>(data, {rows, columns}, owner);
}

nb::tuple overlap_swings(nb::tuple query, double query_from, double query_to, nb::tuple other, double other_from,
                         double other_to, double rate, double least_cosine, bool by_axes) {
    require(rate > 0.0 && std::isfinite(rate), "the rate must be above 0");
    const auto ours = sheet_of(query, query_from, query_to, rate), theirs = sheet_of(other, other_from, other_to, rate);
    const std::size_t n_parts = nb::cast<Flags>(query[4], false).shape(0);
    require(nb::cast<Flags>(other[4], false).shape(0) == n_parts, "both must be of the same parts");
    keypose::SwingOverlap found;
    {
        nb::gil_scoped_release unlocked;
        found = keypose::overlap_swings(ours, theirs, n_parts, rate, least_cosine, by_axes);
    }
    std::int32_t* places = nullptr;
    double* cosines = nullptr;
    auto places_out = filled(found.agreeing.size(), 2, places);
    auto cosines_out = filled(found.agreeing.size(), 1, cosines);
    for (std::size_t k = 0; k < found.agreeing.size(); ++k) {
        places[2 * k] = found.agreeing[k].query;
        places[2 * k + 1] = found.agreeing[k].other;
        cosines[k] = found.agreeing[k].cosine;
    }
    return nb::make_tuple(found.score, found.shift, places_out, cosines_out);
}

}  // namespace

void bind_swing_overlap(nb::module_& m) {
    m.def("overlap_swings", &overlap_swings, "query"_a, "query_from"_a, "query_to"_a, "other"_a, "other_from"_a,
          "other_to"_a, "rate"_a, "least_cosine"_a, "by_axes"_a,
          "How much the swings of two clips overlap where they do most, at which shift, in samples, and which agree "
          "there: pairs of places (A, 2), and the cosines between their axes (A, 1).");
}
