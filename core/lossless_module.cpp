// What Python sees of the lossless columns: checks shapes, releases the lock, calls the kernels.
#include "lossless_module.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "channel_text.hpp"
#include "fitting.hpp"
#include "lossless.hpp"
#include "whole_numbers.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Plan = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Target = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Decimals = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kKinds = 32;  // of numbers that a stream tells apart

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

nb::bytes as_bytes(const std::vector<std::uint8_t>& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

const std::uint8_t* start_of(const nb::bytes& bytes) { return reinterpret_cast<const std::uint8_t*>(bytes.c_str()); }

nb::bytes encode(Plan plan, Numbers numbers) {
    std::vector<std::uint8_t> bytes;
    {
        nb::gil_scoped_release unlocked;
        const auto columns = keypose::lossless_columns(plan.data(), plan.shape(0));
        require(columns.size() == numbers.shape(0), "one row of numbers a column");
        bytes = keypose::lossless_encode(columns, numbers.data(), numbers.shape(1));
    }
    return as_bytes(bytes);
}

nb::ndarray<nb::numpy, std::int64_t> decode(Plan plan, nb::bytes bytes, std::size_t frames) {
    auto* numbers = new std::vector<std::int64_t>();
    nb::capsule owner(numbers, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    std::size_t columns;
    {
        nb::gil_scoped_release unlocked;
        const auto parsed = keypose::lossless_columns(plan.data(), plan.shape(0));
        columns = parsed.size();
        *numbers = keypose::lossless_decode(parsed, start_of(bytes), bytes.size(), frames);
    }
    return nb::ndarray<nb::numpy, std::int64_t>(numbers->data(), {columns, frames}, owner);
}

nb::bytes format_columns(Values values, Decimals decimals) {
    require(decimals.shape(0) == values.shape(1), "one number of decimals a column");
    require(std::all_of(decimals.data(), decimals.data() + decimals.shape(0), [](int d) { return d <= 100; }),
            "decimals must be at most 100");
    std::string text;
    {
        nb::gil_scoped_release unlocked;
        text = keypose::format_columns(values.data(), values.shape(0), values.shape(1), decimals.data());
    }
    return nb::bytes(text.data(), text.size());
}

nb::ndarray<nb::numpy, double> trusting_fits(Values features, Target target, std::vector<std::size_t> counts) {
    const std::size_t rows = features.shape(0), columns = features.shape(1);
    require(target.shape(0) == rows, "one target a row");
    require(std::all_of(counts.begin(), counts.end(), [&](std::size_t n) { return n <= columns; }), "too many columns");
    auto* weights = new std::vector<double>();
    nb::capsule owner(weights, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    {
        nb::gil_scoped_release unlocked;
        *weights = keypose::trusting_fits(features.data(), target.data(), rows, columns, counts);
    }
    return nb::ndarray<nb::numpy, double>(weights->data(), {weights->size()}, owner);
}

double miss_bits(Plan misses, Flags first) {
    require(first.shape(0) == misses.shape(0), "one flag a miss");
    nb::gil_scoped_release unlocked;
    return keypose::miss_bits(misses.data(), first.data(), misses.shape(0));
}

// A few numbers of several kinds, each kind learnt apart.
class NumbersOut {
public:
    void put(std::size_t kind, std::int64_t number) {
        require(kind < kKinds, "no such kind of number");
        writer_.put(models_[kind], number, 0, before_[kind]);
        before_[kind] = number;
    }

    nb::bytes finish() { return as_bytes(writer_.finish()); }

private:
    keypose::NumberWriter writer_;
    keypose::NumberModel models_[kKinds];
    std::int64_t before_[kKinds] = {};
};

class NumbersIn {
public:
    explicit NumbersIn(nb::bytes bytes)
        : bytes_(start_of(bytes), start_of(bytes) + bytes.size()), reader_(bytes_.data(), bytes_.size()) {}

    std::int64_t take(std::size_t kind) {
        require(kind < kKinds, "no such kind of number");
        const std::int64_t number = reader_.take(models_[kind], 0, before_[kind]);
        reader_.check();
        return before_[kind] = number;
    }

    void finish() { reader_.finish(); }

private:
    std::vector<std::uint8_t> bytes_;  // before the reader, which looks at them
    keypose::NumberReader reader_;
    keypose::NumberModel models_[kKinds];
    std::int64_t before_[kKinds] = {};
};

}  // namespace

void bind_lossless(nb::module_& m) {
    m.def("lossless_encode", &encode, "plan"_a, "numbers"_a,
          "Whole numbers (columns, frames), foretold as the plan says -> bytes.");
    m.def("lossless_decode", &decode, "plan"_a, "bytes"_a, "frames"_a, "The numbers (columns, frames) again.");
    m.def("format_columns", &format_columns, "values"_a, "decimals"_a,
          "Rows of numbers as text, so many decimals of each column; below 0: as few digits as tell the number.");
    m.def("trusting_fits", &trusting_fits, "features"_a, "target"_a, "counts"_a,
          "Weights of the first so many columns of features that come nearest to target, for each count, one after another.");
    m.def("miss_bits", &miss_bits, "misses"_a, "first"_a, "About how many bits misses take.");
    nb::class_<NumbersOut>(m, "NumbersOut")
        .def(nb::init<>())
        .def("put", &NumbersOut::put, "kind"_a, "number"_a)
        .def("finish", &NumbersOut::finish);
    nb::class_<NumbersIn>(m, "NumbersIn")
        .def(nb::init<nb::bytes>(), "bytes"_a)
        .def("take", &NumbersIn::take, "kind"_a)
        .def("finish", &NumbersIn::finish);
}
