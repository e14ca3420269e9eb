#include "kps_residuals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "range_coder.hpp"

namespace keypose::kps {
namespace {

constexpr int kClasses = 132;  // classes of expected sizes, four per doubling, from 4/256
constexpr int kBins = 60;      // bins of sizes: 0, 1, 2, 3, then two per doubling
constexpr int kLimit = 32, kInitialCount = 20;  // maximum and initial n_seen of the bit models
// The expected size of a residual is a weighted mean; these are the weights of the average of its track, of this
// average scaled by the ratio of actual to expected sizes of its neighbours, and of the last two residuals of its
// track.
constexpr int kAverage = 2, kNeighbours = 6, kPrevious = 2, kSecondPrevious = 1;
constexpr std::int64_t kMaxSize = 1 << 20;  // upper limit of a size, so that products of sizes stay below 2^63
constexpr int kMaxPrior = 40;               // in half doublings; this is kMaxSize
constexpr int kMaxCount = 16, kPriorCount = 6;  // of averages: maximum number of residuals, weight of the prior

std::int64_t bin_start(int bin) { return bin < 4 ? bin : static_cast<std::int64_t>(bin % 2 == 0 ? 2 : 3) << (bin / 2 - 1); }

// Models of the bit "the size is in a later bin" for each class and bin, and of the sign by that of the previous
// residual. The initial probabilities are those of a geometric distribution.
struct Models {
    std::array<std::array<BitModel, kBins>, kClasses> size;
    std::array<BitModel, 3> sign;
};

std::uint16_t to_probability(double p) {
    return static_cast<std::uint16_t>(std::min(65536.0 - 96, std::max(96.0, std::floor(p * 65536 + 0.5))));
}

Models initial_models() {
    Models models;
    for (int c = 0; c < kClasses; ++c) {
        double expected = (4 + c % 4 + 0.5) / 256;
        for (int k = 0; k < c / 4; ++k) expected *= 2;
        const double factor = (std::sqrt(1 + expected * expected) - 1) / expected;  // P(size n+1) / P(size n)
        for (int bin = 0; bin < kBins; ++bin) {
            double p = bin == 0 ? 2 * factor / (1 + factor) : 1;
            if (bin > 0) {
                double power = factor;
                for (std::int64_t width = bin_start(bin + 1) - bin_start(bin); width > 0; width /= 2, power *= power) {
                    if (width % 2 == 1) p *= power;
                }
            }
            models.size[c][bin] = {to_probability(p), kInitialCount};
        }
    }
    models.sign.fill({1 << 15, kInitialCount});
    return models;
}

// Returns the class of an expected size in 1/256.
int class_of(std::int64_t expected) {
    expected = std::min<std::int64_t>(std::max<std::int64_t>(expected, 4), (1ll << 34) - 1);
    int doublings = 0;
    while (expected >> (doublings + 1)) ++doublings;
    return 4 * (doublings - 2) + static_cast<int>((expected >> (doublings - 2)) & 3);
}

struct Writer {
    RangeEncoder coder;
    bool bit(bool value, BitModel& model) { return coder.encode(value, model, kLimit), value; }
    bool even_bit(bool value) { return coder.encode(value, 1u << 15), value; }
};

struct Reader {
    RangeDecoder coder;
    bool bit(bool, BitModel& model) { return coder.decode(model, kLimit); }
    bool even_bit(bool) { return coder.decode(1u << 15); }
};

// Adaptive averages of the sizes of residuals of each track and level, in 1/256; their initial values are the priors.
class Averages {
public:
    explicit Averages(const Layout& layout) : sizes_(static_cast<std::size_t>(layout.tracks()) * kLevels), counts_(sizes_.size(), 0) {
        for (int track = 0; track < layout.tracks(); ++track) {
            for (int level = 0; level < kLevels; ++level) {
                sizes_[static_cast<std::size_t>(track) * kLevels + level] =
                    prior(layout.track_prior[track] + layout.level_prior[level]);
            }
        }
    }

    std::int64_t at(int track, int level) const { return sizes_[static_cast<std::size_t>(track) * kLevels + level]; }

    void learn(int track, int level, std::int64_t size) {
        const std::size_t i = static_cast<std::size_t>(track) * kLevels + level;
        sizes_[i] += (size - sizes_[i]) / (counts_[i] + kPriorCount);
        if (counts_[i] < kMaxCount) ++counts_[i];
    }

private:
    static std::int64_t prior(int halves) {
        halves = std::min(std::max(halves, -16), kMaxPrior) + 16;
        const std::int64_t size = halves % 2 == 0 ? 256 : 362;
        return std::max<std::int64_t>(size << (halves / 2) >> 8, 1);
    }

    std::vector<std::int64_t> sizes_;
    std::vector<std::uint8_t> counts_;
};

template <class Coder>
class Residuals {
public:
    Residuals(const Layout& layout, Coder coder) : layout_(layout), averages_(layout), coder_(std::move(coder)) {
        static const Models initial = initial_models();
        models_ = std::make_unique<Models>(initial);
    }

    // Codes one frame: `row` are its residuals, `previous` and `second_previous` those of the last two frames coded
    // before it on its level, or null.
    void frame(int level, std::int32_t* row, const std::int32_t* previous, const std::int32_t* second_previous) {
        for (int joint = 0; joint < layout_.joints(); ++joint) {
            // Over the tracks of the ancestor joint and the earlier tracks of this one.
            std::int64_t size_sum = 128, expected_sum = 128;
            if (layout_.ancestor[joint] >= 0) add_sizes(layout_.ancestor[joint], level, row, size_sum, expected_sum);
            for (int track = layout_.first_track[joint]; track < layout_.first_track[joint + 1]; ++track) {
                const std::int64_t average = averages_.at(track, level);
                const std::int64_t neighbour_estimate = average * std::min<std::int64_t>(size_sum, 8 * expected_sum) / expected_sum;
                std::int64_t sum = kAverage * average + kNeighbours * neighbour_estimate, weight = kAverage + kNeighbours;
                if (previous) sum += kPrevious * size(previous[track]), weight += kPrevious;
                if (second_previous) sum += kSecondPrevious * size(second_previous[track]), weight += kSecondPrevious;
                const int sign = previous ? (previous[track] > 0) + 2 * (previous[track] < 0) : 0;
                row[track] = code_residual(row[track], class_of(sum / weight), models_->sign[sign]);
                averages_.learn(track, level, size(row[track]));
                size_sum += size(row[track]), expected_sum += average;
            }
        }
    }

    Coder& coder() { return coder_; }

private:
    static std::int64_t size(std::int32_t residual) { return std::min(std::abs(static_cast<std::int64_t>(residual)), kMaxSize) << 8; }

    void add_sizes(int joint, int level, const std::int32_t* row, std::int64_t& size_sum, std::int64_t& expected_sum) const {
        for (int track = layout_.first_track[joint]; track < layout_.first_track[joint + 1]; ++track) {
            size_sum += size(row[track]), expected_sum += averages_.at(track, level);
        }
    }

    std::int32_t code_residual(std::int32_t value, int size_class, BitModel& sign) {
        std::int64_t absolute = std::abs(static_cast<std::int64_t>(value));
        auto& models = models_->size[size_class];
        int bin = 0;
        while (bin < kBins - 1 && coder_.bit(absolute >= bin_start(bin + 1), models[bin])) ++bin;
        std::int64_t decoded = bin_start(bin);
        const std::int64_t width = bin_start(bin + 1) - decoded;
        for (std::int64_t half = width / 2; half >= 1; half /= 2) {
            if (coder_.even_bit(absolute - decoded >= half)) decoded += half;
        }
        if (decoded == 0) return 0;
        return static_cast<std::int32_t>(coder_.bit(value < 0, sign) ? -decoded : decoded);
    }

    const Layout& layout_;
    Averages averages_;
    Coder coder_;
    std::unique_ptr<Models> models_;
};

// Limits that are checked before allocation. No probability falls below 63 / 65536 (BitModel::learn stops there), so
// each number needs more than 1 / kMaxPerByte of a byte.
constexpr std::uint64_t kMaxPerByte = 6000, kEndBytes = 20;

// Rejects streams that read far beyond the end of their bytes.
void check_end(const RangeDecoder& coder) {
    if (coder.n_beyond() > 16) throw std::runtime_error("the coded numbers continue after the end of their bytes");
}

}  // namespace

void check_count(std::size_t tracks, std::size_t frames, std::size_t bytes) {
    if (frames > 0 && tracks > kMaxPerByte * (bytes + kEndBytes) / frames) {
        throw std::runtime_error("too few bytes for so many numbers");
    }
}

std::vector<std::uint8_t> write_pose(const Layout& layout, const std::int32_t* residuals) {
    Residuals<Writer> residual_coder(layout, Writer{});
    std::vector<std::int32_t> row(residuals, residuals + layout.tracks());
    residual_coder.frame(kPose, row.data(), nullptr, nullptr);
    return residual_coder.coder().coder.finish();
}

void read_pose(const Layout& layout, const std::uint8_t* bytes, std::size_t count, std::int32_t* residuals) {
    Residuals<Reader> residual_coder(layout, Reader{RangeDecoder(bytes, count)});
    residual_coder.frame(kPose, residuals, nullptr, nullptr);
    check_end(residual_coder.coder().coder);
}

std::vector<std::uint8_t> write_body(const Layout& layout, const std::vector<Frame>& order, const std::int32_t* residuals) {
    Residuals<Writer> residual_coder(layout, Writer{});
    const std::size_t tracks = static_cast<std::size_t>(layout.tracks());
    std::vector<std::int32_t> row(tracks);
    for (const Frame& frame : order) {
        const auto row_at = [&](int at) { return at < 0 ? nullptr : residuals + tracks * at; };
        std::copy_n(row_at(frame.at), tracks, row.data());
        residual_coder.frame(frame.level, row.data(), row_at(frame.previous), row_at(frame.second_previous));
    }
    return residual_coder.coder().coder.finish();
}

void read_body(const Layout& layout, const std::vector<Frame>& order, const std::uint8_t* bytes, std::size_t count,
               std::int32_t* residuals) {
    Residuals<Reader> residual_coder(layout, Reader{RangeDecoder(bytes, count)});
    const std::size_t tracks = static_cast<std::size_t>(layout.tracks());
    for (const Frame& frame : order) {
        const auto row_at = [&](int at) { return at < 0 ? nullptr : residuals + tracks * at; };
        residual_coder.frame(frame.level, row_at(frame.at), row_at(frame.previous), row_at(frame.second_previous));
        check_end(residual_coder.coder().coder);
    }
}

}  // namespace keypose::kps
