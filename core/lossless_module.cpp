// Python bindings of the lossless codec: check shapes, release the GIL, call the kernels.
#include "lossless_module.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arguments.hpp"
#include "channel_text.hpp"
#include "robust_fit.hpp"
#include "lossless.hpp"
#include "integer_coder.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using keypose::checked, keypose::require;

namespace {

using Plan = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Target = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Decimals = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t kKinds = 32;  // number of kinds of integers in a stream

nb::bytes as_bytes(const std::vector<std::uint8_t>& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

const std::uint8_t* byte_data(const nb::bytes& bytes) { return reinterpret_cast<const std::uint8_t*>(bytes.c_str()); }

nb::bytes encode(Plan plan, Numbers numbers) {
    std::vector<std::uint8_t> bytes;
    {
        nb::gil_scoped_release unlocked;
        const auto columns = keypose::lossless_columns(plan.data(), plan.shape(0));
        require(columns.size() == numbers.shape(0), "numbers must have one row per column of the plan");
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
        require(columns > 0 || frames <= keypose::kMaxLength, "too many frames");
        *numbers = keypose::lossless_decode(parsed, byte_data(bytes), bytes.size(), frames);
    }
    return nb::ndarray<nb::numpy, std::int64_t>(numbers->data(), {columns, frames}, owner);
}

nb::bytes format_columns(Values values, Decimals decimals) {
    require(decimals.shape(0) == values.shape(1), "decimals must have one entry per column");
    require(std::all_of(decimals.data(), decimals.data() + decimals.shape(0), [](int d) { return d <= 100; }),
            "decimals must be at most 100");
    std::string text;
    {
        nb::gil_scoped_release unlocked;
        text = keypose::format_columns(values.data(), values.shape(0), values.shape(1), decimals.data());
    }
    return nb::bytes(text.data(), text.size());
}

nb::ndarray<nb::numpy, double> robust_fits(Values features, Target target, std::vector<std::size_t> counts) {
    const std::size_t rows = features.shape(0), columns = features.shape(1);
    require(target.shape(0) == rows, "target must have one entry per row");
    require(std::all_of(counts.begin(), counts.end(), [&](std::size_t n) { return n <= columns; }), "a count exceeds the number of columns");
    auto* weights = new std::vector<double>();
    nb::capsule owner(weights, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    {
        nb::gil_scoped_release unlocked;
        *weights = keypose::robust_fits(features.data(), target.data(), rows, columns, counts);
    }
    return nb::ndarray<nb::numpy, double>(weights->data(), {weights->size()}, owner);
}

double error_bits(Plan errors, Flags first) {
    require(first.shape(0) == errors.shape(0), "first must have one flag per error");
    nb::gil_scoped_release unlocked;
    return keypose::error_bits(errors.data(), first.data(), errors.shape(0));
}

// A stream of integers of several kinds, each kind with its own model.
class IntegerWriter {
public:
    void write(std::size_t kind, std::int64_t number) {
        require(kind < kKinds, "there is no such kind of number");
        writer_.write(models_[kind], number, 0, previous_[kind]);
        previous_[kind] = number;
    }

    nb::bytes finish() { return as_bytes(writer_.finish()); }

private:
    keypose::NumberWriter writer_;
    keypose::NumberModel models_[kKinds];
    std::int64_t previous_[kKinds] = {};
};

class IntegerReader {
public:
    explicit IntegerReader(nb::bytes bytes)
        : bytes_(byte_data(bytes), byte_data(bytes) + bytes.size()), reader_(bytes_.data(), bytes_.size()) {}

    std::int64_t read(std::size_t kind) {
        require(kind < kKinds, "there is no such kind of number");
        const std::int64_t number = reader_.read(models_[kind], 0, previous_[kind]);
        reader_.check();
        return previous_[kind] = number;
    }

    void finish() { reader_.finish(); }

private:
    std::vector<std::uint8_t> bytes_;  // declared before the reader, which points into them
    keypose::NumberReader reader_;
    keypose::NumberModel models_[kKinds];
    std::int64_t previous_[kKinds] = {};
};

}  // namespace

void bind_lossless(nb::module_& m) {
    m.def("lossless_encode", checked(&encode), "plan"_a, "numbers"_a,
          "Encode integers (columns, frames) with the predictors of the plan.");
    m.def("lossless_decode", checked(&decode), "plan"_a, "bytes"_a, "frames"_a, "Decode integers (columns, frames).");
    m.def("format_columns", checked(&format_columns), "values"_a, "decimals"_a,
          "Format rows of numbers with the given decimals per column; negative: the shortest exact text.");
    m.def("robust_fits", checked(&robust_fits), "features"_a, "target"_a, "counts"_a,
          "Return robust least-squares weights of the first `count` columns of features for target, for each count, concatenated.");
    m.def("error_bits", checked(&error_bits), "errors"_a, "first"_a, "Return the approximate size of prediction errors in bits.");
    nb::class_<IntegerWriter>(m, "IntegerWriter")
        .def(nb::init<>())
        .def("write", &IntegerWriter::write, "kind"_a, "number"_a)
        .def("finish", &IntegerWriter::finish);
    nb::class_<IntegerReader>(m, "IntegerReader")
        .def(nb::init<nb::bytes>(), "bytes"_a)
        .def("read", &IntegerReader::read, "kind"_a)
        .def("finish", &IntegerReader::finish);
}
