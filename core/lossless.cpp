#include "lossless.hpp"

#include <algorithm>

#include "ladder.hpp"
#include "whole_numbers.hpp"
#include "wrapping.hpp"

namespace keypose {
namespace {

using std::int64_t;
using std::size_t;
using std::uint64_t;

constexpr int kUnit = 24;        // charts take numbers as parts of 2^24
constexpr int kChartParts = 4;   // and have coefficients in parts of 2^4
constexpr int kContexts = 24;    // models of misses, by how large one is expected
constexpr size_t kMostPerByte = 12000;  // numbers: a bit costs at least 32 / 2^16 of a number

// Four times the logarithm to base 2, rounded down, of a number that is at least 1.
int quarters(uint64_t number) {
    const int length = bit_length(number) - 1;
    return 4 * length + static_cast<int>((length >= 2 ? number >> (length - 2) : number << (2 - length)) & 3);
}

// What is expected of the next miss, from those before it in the column.
class Expectation {
public:
    explicit Expectation(const LosslessColumn& column)
        : mean_((bits(4 + column.size % 4) << (column.size / 4)) >> 2), first_(column.first_size), lags_(column.lags) {}

    int size() const {
        if (seen_ == 0) return first_;
        return std::min(255, quarters(mean_ + 1) + (seen_ == 1 && lags_ > 1 ? 4 : 0));
    }

    void learn(int64_t miss) {
        if (seen_++) {
            const int64_t now = static_cast<int64_t>(std::min(magnitude(miss), uint64_t{1} << 55)) * 16;
            const int64_t mean = static_cast<int64_t>(std::min(mean_, uint64_t{1} << 59));
            mean_ = bits(mean + down((now - mean) * 5, 4));
        }
    }

private:
    uint64_t mean_;  // of the misses' magnitudes, times 16
    int first_, lags_;
    size_t seen_ = 0;
};

// The polynomial of one or two other columns about which a column lies.
class Chart {
public:
    Chart(const LosslessColumn& column, const std::vector<LosslessColumn>& columns)
        : column_(column), columns_(columns) {}

    int64_t at(const int64_t* numbers, size_t frames, size_t frame) const {
        if (column_.inputs.empty()) return 0;
        int64_t powers[2][6];
        for (size_t i = 0; i < 2; ++i) {
            powers[i][0] = int64_t{1} << kUnit;
            const int64_t x = i < column_.inputs.size() ? unit(column_.inputs[i], numbers, frames, frame) : 0;
            for (int k = 1; k <= column_.degree; ++k) powers[i][k] = down(powers[i][k - 1] * x, kUnit);
        }
        const int widest = column_.inputs.size() == 2 ? column_.degree : 0;
        int64_t sum = int64_t{1} << (kUnit + kChartParts - 1);
        auto coefficient = column_.chart.begin();
        for (int degree = 0; degree <= column_.degree; ++degree)
            for (int k = 0; k <= std::min(degree, widest); ++k)
                sum += *coefficient++ * down(powers[0][degree - k] * powers[1][k], kUnit);
        return down(sum, kUnit + kChartParts);
    }

private:
    int64_t unit(size_t input, const int64_t* numbers, size_t frames, size_t frame) const {
        const LosslessColumn& from = columns_[input];
        const int64_t most = int64_t{1} << from.extent;
        const int64_t off = std::clamp(minus(numbers[input * frames + frame], from.middle), -most, most);
        return from.extent <= kUnit ? off * (int64_t{1} << (kUnit - from.extent)) : down(off, from.extent - kUnit);
    }

    const LosslessColumn& column_;
    const std::vector<LosslessColumn>& columns_;
};

// Goes through all numbers in the order of the bytes. `code(at, foretold, model, low, before)` writes or reads by how
// many rungs the number at `at` is off the foretold one. `numbers` holds angles without jumps at full turns.
template <class Code>
void walk(const std::vector<LosslessColumn>& columns, size_t frames, int64_t* numbers, Code code) {
    std::vector<NumberModel> models(kContexts);
    std::vector<int64_t> misses(columns.size() * frames), rest(frames);
    for (size_t c = 0; c < columns.size(); ++c) {
        const LosslessColumn& column = columns[c];
        const Chart chart(column, columns);
        const Ladder ladder(column.digits);
        Expectation expected(column);
        const int64_t level = column.inputs.empty() ? column.middle : 0;
        const int64_t half = column.shift ? int64_t{1} << (column.shift - 1) : 0;
        int64_t before = 0;
        for (size_t t = 0; t < frames; ++t) {
            const int64_t charted = chart.at(numbers, frames, t);
            int64_t foretold = t && column.lags ? rest[t - 1] : level;
            int64_t sum = half;
            for (size_t k = 1; k <= column.weights.size() && k < t; ++k)
                sum = plus(sum, times(column.weights[k - 1], minus(rest[t - k], rest[t - k - 1])));
            for (const auto& helper : column.helpers)
                if (t) sum = plus(sum, times(helper.weight, misses[helper.column * frames + t]));
            foretold = plus(plus(foretold, down(sum, column.shift)), charted);
            const int size = expected.size(), low = std::max(0, size / 4 - 5);
            const int64_t rung = ladder.rung(foretold);
            const int64_t miss = code(c * frames + t, ladder, rung, models[static_cast<size_t>(size - 4 * low)], low, before);
            const int64_t number = ladder.number(plus(rung, miss));
            numbers[c * frames + t] = number;
            rest[t] = minus(number, charted);
            misses[c * frames + t] = minus(number, foretold);
            expected.learn(miss);
            before = miss;
        }
    }
}

// Numbers of a plan one by one, each within what it may be.
class PlanReader {
public:
    PlanReader(const int64_t* plan, size_t count) : at_(plan), end_(plan + count) {}

    bool done() const { return at_ == end_; }

    int64_t next(int64_t least, int64_t greatest) {
        if (at_ == end_) throw CodingFault("the plan of the columns ends too early");
        if (*at_ < least || *at_ > greatest) throw CodingFault("a number in the plan of the columns is impossible");
        return *at_++;
    }

    int small(int64_t greatest) { return static_cast<int>(next(0, greatest)); }

    size_t column(size_t here) { return here - static_cast<size_t>(next(1, static_cast<int64_t>(here))); }

private:
    const int64_t* at_;
    const int64_t* end_;
};

}  // namespace

std::vector<LosslessColumn> lossless_columns(const int64_t* plan, size_t count) {
    constexpr int64_t most_weight = int64_t{1} << 20, most_coefficient = int64_t{1} << 34;
    std::vector<LosslessColumn> columns;
    for (PlanReader reader(plan, count); !reader.done();) {
        const size_t here = columns.size();
        LosslessColumn column;
        column.first_size = reader.small(255), column.size = reader.small(239);
        column.middle = reader.next(INT64_MIN, INT64_MAX), column.extent = reader.small(62);
        column.wrap = reader.next(0, int64_t{1} << 52);
        column.digits = reader.small(column.wrap ? 0 : 15);
        if (column.wrap % 2) throw CodingFault("a number in the plan of the columns is impossible");
        const int inputs = reader.small(2);
        if (inputs) {
            column.degree = static_cast<int>(reader.next(1, 5));
            for (int i = 0; i < inputs; ++i) column.inputs.push_back(reader.column(here));
            const int terms = inputs == 1 ? column.degree + 1 : (column.degree + 1) * (column.degree + 2) / 2;
            for (int i = 0; i < terms; ++i) column.chart.push_back(reader.next(-most_coefficient, most_coefficient));
        }
        column.lags = reader.small(8), column.shift = reader.small(15);
        for (int i = 1; i < column.lags; ++i) column.weights.push_back(reader.next(-most_weight, most_weight));
        for (int helpers = reader.small(4); helpers; --helpers) {
            const size_t from = reader.column(here);
            column.helpers.push_back({from, reader.next(-most_weight, most_weight)});
        }
        columns.push_back(std::move(column));
    }
    return columns;
}

std::vector<std::uint8_t> lossless_encode(const std::vector<LosslessColumn>& columns, const int64_t* values,
                                          size_t frames) {
    if (columns.empty()) return {};
    std::vector<int64_t> wanted(values, values + columns.size() * frames), numbers(wanted.size());
    for (size_t c = 0; c < columns.size(); ++c) {
        if (!columns[c].wrap) continue;
        int64_t* column = wanted.data() + c * frames;
        for (size_t t = 1; t < frames; ++t)  // the turn nearest to the frame before
            column[t] = plus(column[t - 1], within(minus(column[t], column[t - 1]), columns[c].wrap));
    }
    NumberWriter writer;
    walk(columns, frames, numbers.data(),
         [&](size_t at, const Ladder& ladder, int64_t rung, NumberModel& model, int low, int64_t before) {
             const int64_t miss = minus(ladder.rung(wanted[at]), rung);
             writer.put(model, miss, low, before);
             return miss;
         });
    return writer.finish();
}

std::vector<int64_t> lossless_decode(const std::vector<LosslessColumn>& columns, const std::uint8_t* bytes, size_t count,
                                     size_t frames) {
    if (columns.empty() && count) throw CodingFault("bytes where nothing changes");
    if (columns.empty()) return {};
    if (frames > (count + 8) * kMostPerByte / columns.size()) throw CodingFault("too few bytes for so many numbers");
    std::vector<int64_t> numbers(columns.size() * frames);
    NumberReader reader(bytes, count);
    walk(columns, frames, numbers.data(),
         [&](size_t at, const Ladder&, int64_t, NumberModel& model, int low, int64_t before) {
             if (at % frames == 0) reader.check();
             return reader.take(model, low, before);
         });
    reader.finish();
    for (size_t c = 0; c < columns.size(); ++c)
        if (columns[c].wrap)
            for (size_t t = 0; t < frames; ++t)
                numbers[c * frames + t] = within(numbers[c * frames + t], columns[c].wrap);
    return numbers;
}

}  // namespace keypose
