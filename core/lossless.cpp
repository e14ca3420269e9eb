#include "lossless.hpp"

#include <algorithm>

#include "decimal_ranks.hpp"
#include "integer_coder.hpp"
#include "wrapping_arithmetic.hpp"

namespace keypose {
namespace {

using std::int64_t;
using std::size_t;
using std::uint64_t;

constexpr int kInputBits = 24;    // inputs of polynomials are in units of 2^-24
constexpr int kFractionBits = 4;  // coefficients are in units of 2^-4
constexpr int kContexts = 24;     // number of models of errors, by the expected size
constexpr size_t kMaxPerByte = 12000;  // numbers per byte: the probability of a bit is at most 1 - 32 / 2^16

// Returns about 4 log2 of a number of at least 1, rounded down; it is linear between powers of two.
int quarter_log2(uint64_t number) {
    const int length = bit_length(number) - 1;
    return 4 * length + static_cast<int>((length >= 2 ? number >> (length - 2) : number << (2 - length)) & 3);
}

// Estimates the size of the next error of a column from the earlier ones, as 4 log2.
class ErrorEstimate {
public:
    explicit ErrorEstimate(const LosslessColumn& column)
        : mean_((bits(4 + column.size % 4) << (column.size / 4)) >> 2), first_(column.first_size), lags_(column.lags) {}

    int size() const {
        if (count_ == 0) return first_;
        return std::min(255, quarter_log2(mean_ + 1) + (count_ == 1 && lags_ > 1 ? 4 : 0));
    }

    void learn(int64_t error) {
        if (count_++) {
            const int64_t now = static_cast<int64_t>(std::min(magnitude(error), uint64_t{1} << 55)) * 16;
            const int64_t mean = static_cast<int64_t>(std::min(mean_, uint64_t{1} << 59));
            mean_ = bits(mean + shift_down((now - mean) * 5, 4));
        }
    }

private:
    uint64_t mean_;  // mean magnitude of the errors, times 16
    int first_, lags_;
    size_t count_ = 0;
};

// The polynomial of one or two earlier columns that predicts a column; 0 if it has no inputs.
class Polynomial {
public:
    Polynomial(const LosslessColumn& column, const std::vector<LosslessColumn>& columns)
        : column_(column), columns_(columns) {}

    int64_t at(const int64_t* numbers, size_t frames, size_t frame) const {
        if (column_.inputs.empty()) return 0;
        int64_t powers[2][6];
        for (size_t i = 0; i < 2; ++i) {
            powers[i][0] = int64_t{1} << kInputBits;
            const int64_t x = i < column_.inputs.size() ? scaled_input(column_.inputs[i], numbers, frames, frame) : 0;
            for (int k = 1; k <= column_.degree; ++k) powers[i][k] = shift_down(powers[i][k - 1] * x, kInputBits);
        }
        const int second_degree = column_.inputs.size() == 2 ? column_.degree : 0;
        int64_t sum = int64_t{1} << (kInputBits + kFractionBits - 1);
        auto coefficient = column_.coefficients.begin();
        for (int degree = 0; degree <= column_.degree; ++degree)
            for (int k = 0; k <= std::min(degree, second_degree); ++k)
                sum += *coefficient++ * shift_down(powers[0][degree - k] * powers[1][k], kInputBits);
        return shift_down(sum, kInputBits + kFractionBits);
    }

private:
    // The number of an input column, relative to its middle and divided by its extent, in units of 2^-kInputBits.
    int64_t scaled_input(size_t input, const int64_t* numbers, size_t frames, size_t frame) const {
        const LosslessColumn& from = columns_[input];
        const int64_t limit = int64_t{1} << from.extent;
        const int64_t difference = std::clamp(subtract(numbers[input * frames + frame], from.middle), -limit, limit);
        return from.extent <= kInputBits ? difference * (int64_t{1} << (kInputBits - from.extent)) : shift_down(difference, from.extent - kInputBits);
    }

    const LosslessColumn& column_;
    const std::vector<LosslessColumn>& columns_;
};

// Codes all numbers in the order of the bytes, column by column. `code(at, ranks, rank, model, low, previous)` writes
// or reads the difference between the ranks of the number at `at` and of its prediction. Angles in `numbers` are
// unwrapped: they have no jumps of full turns.
template <class Code>
void code_columns(const std::vector<LosslessColumn>& columns, size_t frames, int64_t* numbers, Code code) {
    std::vector<NumberModel> models(kContexts);
    std::vector<int64_t> errors(columns.size() * frames), remainders(frames);
    for (size_t c = 0; c < columns.size(); ++c) {
        const LosslessColumn& column = columns[c];
        const Polynomial polynomial(column, columns);
        const DecimalRanks ranks(column.digits);
        ErrorEstimate estimate(column);
        const int64_t level = column.inputs.empty() ? column.middle : 0;
        const int64_t half = column.shift ? int64_t{1} << (column.shift - 1) : 0;
        int64_t previous = 0;
        for (size_t t = 0; t < frames; ++t) {
            const int64_t polynomial_value = polynomial.at(numbers, frames, t);
            int64_t prediction = t && column.lags ? remainders[t - 1] : level;
            int64_t sum = half;
            for (size_t k = 1; k <= column.weights.size() && k < t; ++k)
                sum = add(sum, multiply(column.weights[k - 1], subtract(remainders[t - k], remainders[t - k - 1])));
            for (const auto& helper : column.helpers)
                if (t) sum = add(sum, multiply(helper.weight, errors[helper.column * frames + t]));
            prediction = add(add(prediction, shift_down(sum, column.shift)), polynomial_value);
            const int size = estimate.size(), low = std::max(0, size / 4 - 5);
            const int64_t rank = ranks.rank(prediction);
            const int64_t error = code(c * frames + t, ranks, rank, models[static_cast<size_t>(size - 4 * low)], low, previous);
            const int64_t number = ranks.number(add(rank, error));
            numbers[c * frames + t] = number;
            remainders[t] = subtract(number, polynomial_value);
            errors[c * frames + t] = subtract(number, prediction);
            estimate.learn(error);
            previous = error;
        }
    }
}

// Reads the numbers of a plan one after another and checks their ranges.
class PlanReader {
public:
    PlanReader(const int64_t* plan, size_t count) : at_(plan), end_(plan + count) {}

    bool done() const { return at_ == end_; }

    int64_t next(int64_t min_value, int64_t max_value) {
        if (at_ == end_) throw CodingError("the plan of the columns ends too early");
        if (*at_ < min_value || *at_ > max_value) throw CodingError("a number in the plan of the columns is out of range");
        return *at_++;
    }

    int next_small(int64_t max_value) { return static_cast<int>(next(0, max_value)); }

    size_t column(size_t column_index) { return column_index - static_cast<size_t>(next(1, static_cast<int64_t>(column_index))); }

private:
    const int64_t* at_;
    const int64_t* end_;
};

}  // namespace

std::vector<LosslessColumn> lossless_columns(const int64_t* plan, size_t count) {
    constexpr int64_t max_weight = int64_t{1} << 20, max_coefficient = int64_t{1} << 34;
    std::vector<LosslessColumn> columns;
    for (PlanReader reader(plan, count); !reader.done();) {
        const size_t column_index = columns.size();
        LosslessColumn column;
        column.first_size = reader.next_small(255), column.size = reader.next_small(239);
        column.middle = reader.next(INT64_MIN, INT64_MAX), column.extent = reader.next_small(62);
        column.wrap = reader.next(0, int64_t{1} << 52);
        column.digits = reader.next_small(column.wrap ? 0 : 15);
        if (column.wrap % 2) throw CodingError("a number in the plan of the columns is out of range");
        const int inputs = reader.next_small(2);
        if (inputs) {
            column.degree = static_cast<int>(reader.next(1, 5));
            for (int i = 0; i < inputs; ++i) column.inputs.push_back(reader.column(column_index));
            const int terms = inputs == 1 ? column.degree + 1 : (column.degree + 1) * (column.degree + 2) / 2;
            for (int i = 0; i < terms; ++i) column.coefficients.push_back(reader.next(-max_coefficient, max_coefficient));
        }
        column.lags = reader.next_small(8), column.shift = reader.next_small(15);
        for (int i = 1; i < column.lags; ++i) column.weights.push_back(reader.next(-max_weight, max_weight));
        for (int helpers = reader.next_small(4); helpers; --helpers) {
            const size_t from = reader.column(column_index);
            column.helpers.push_back({from, reader.next(-max_weight, max_weight)});
        }
        columns.push_back(std::move(column));
    }
    return columns;
}

std::vector<std::uint8_t> lossless_encode(const std::vector<LosslessColumn>& columns, const int64_t* values,
                                          size_t frames) {
    if (columns.empty()) return {};
    std::vector<int64_t> targets(values, values + columns.size() * frames), numbers(targets.size());
    for (size_t c = 0; c < columns.size(); ++c) {
        if (!columns[c].wrap) continue;
        int64_t* column = targets.data() + c * frames;
        for (size_t t = 1; t < frames; ++t)  // unwrap: the multiple of a turn nearest to the previous frame
            column[t] = add(column[t - 1], wrap_to_half_range(subtract(column[t], column[t - 1]), columns[c].wrap));
    }
    NumberWriter writer;
    code_columns(columns, frames, numbers.data(),
         [&](size_t at, const DecimalRanks& ranks, int64_t rank, NumberModel& model, int low, int64_t previous) {
             const int64_t error = subtract(ranks.rank(targets[at]), rank);
             writer.write(model, error, low, previous);
             return error;
         });
    return writer.finish();
}

std::vector<int64_t> lossless_decode(const std::vector<LosslessColumn>& columns, const std::uint8_t* bytes, size_t count,
                                     size_t frames) {
    if (columns.empty() && count) throw CodingError("there are bytes, but no columns that change");
    if (columns.empty()) return {};
    if (frames > (count + 8) * kMaxPerByte / columns.size()) throw CodingError("too few bytes for so many numbers");
    std::vector<int64_t> numbers(columns.size() * frames);
    NumberReader reader(bytes, count);
    code_columns(columns, frames, numbers.data(),
         [&](size_t at, const DecimalRanks&, int64_t, NumberModel& model, int low, int64_t previous) {
             if (at % frames == 0) reader.check();
             return reader.read(model, low, previous);
         });
    reader.finish();
    for (size_t c = 0; c < columns.size(); ++c)
        if (columns[c].wrap)
            for (size_t t = 0; t < frames; ++t)
                numbers[c * frames + t] = wrap_to_half_range(numbers[c * frames + t], columns[c].wrap);
    return numbers;
}

}  // namespace keypose
