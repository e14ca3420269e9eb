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

constexpr int kClasses = 132;  // of expected sizes, four to each doubling, from 4/256
constexpr int kBins = 60;      // 0, 1, 2, 3, then two to each doubling
constexpr int kLimit = 32, kTrust = 20;  // how slow models get, how sure they are at first
// What the expected size is a weighted mean of: the track's average, that times what is found beside it, the last two.
constexpr int kAverage = 2, kBeside = 6, kBefore = 2, kBeforeThat = 1;
constexpr std::int64_t kMostSize = 1 << 20;  // that a residual counts for: products of sizes stay below 2^63
constexpr int kMostPrior = 40;               // half doublings: that size
constexpr int kSlowest = 16, kCaution = 6;  // of averages: how many residuals they remember, how many a prior counts for

std::int64_t edge(int bin) { return bin < 4 ? bin : static_cast<std::int64_t>(bin % 2 == 0 ? 2 : 3) << (bin / 2 - 1); }

// Models of "at least the next bin", one for each class and bin: at first as if sizes fell off evenly by a constant factor.
struct Models {
    std::array<std::array<Bit, kBins>, kClasses> size;
    std::array<Bit, 3> sign;
};

std::uint16_t parts(double p) {
    return static_cast<std::uint16_t>(std::min(65536.0 - 96, std::max(96.0, std::floor(p * 65536 + 0.5))));
}

Models fresh_models() {
    Models models;
    for (int c = 0; c < kClasses; ++c) {
        double expected = (4 + c % 4 + 0.5) / 256;
        for (int k = 0; k < c / 4; ++k) expected *= 2;
        const double factor = (std::sqrt(1 + expected * expected) - 1) / expected;  // P(size n+1) / P(size n)
        for (int bin = 0; bin < kBins; ++bin) {
            double p = bin == 0 ? 2 * factor / (1 + factor) : 1;
            if (bin > 0) {
                double power = factor;
                for (std::int64_t width = edge(bin + 1) - edge(bin); width > 0; width /= 2, power *= power) {
                    if (width % 2 == 1) p *= power;
                }
            }
            models.size[c][bin] = {parts(p), kTrust};
        }
    }
    models.sign.fill({1 << 15, kTrust});
    return models;
}

int class_of(std::int64_t expected) {
    expected = std::min<std::int64_t>(std::max<std::int64_t>(expected, 4), (1ll << 34) - 1);
    int doublings = 0;
    while (expected >> (doublings + 1)) ++doublings;
    return 4 * (doublings - 2) + static_cast<int>((expected >> (doublings - 2)) & 3);
}

struct Writer {
    RangeEncoder coder;
    bool bit(bool value, Bit& model) { return coder.encode(value, model, kLimit), value; }
    bool even(bool value) { return coder.encode(value, 1u << 15), value; }
};

struct Reader {
    RangeDecoder coder;
    bool bit(bool, Bit& model) { return coder.decode(model, kLimit); }
    bool even(bool) { return coder.decode(1u << 15); }
};

// How large the residuals of each track and level are on average, in 1/256: a guess at first, then what was seen.
class Averages {
public:
    explicit Averages(const Layout& layout) : sizes_(static_cast<std::size_t>(layout.tracks()) * kLevels), seen_(sizes_.size(), 0) {
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
        sizes_[i] += (size - sizes_[i]) / (seen_[i] + kCaution);
        if (seen_[i] < kSlowest) ++seen_[i];
    }

private:
    static std::int64_t prior(int halves) {
        halves = std::min(std::max(halves, -16), kMostPrior) + 16;
        const std::int64_t size = halves % 2 == 0 ? 256 : 362;
        return std::max<std::int64_t>(size << (halves / 2) >> 8, 1);
    }

    std::vector<std::int64_t> sizes_;
    std::vector<std::uint8_t> seen_;
};

template <class Coder>
class Residuals {
public:
    Residuals(const Layout& layout, Coder coder) : layout_(layout), averages_(layout), coder_(std::move(coder)) {
        static const Models fresh = fresh_models();
        models_ = std::make_unique<Models>(fresh);
    }

    // One frame: `row` its residuals, `before` and `before_that` those of the frames before it, if any.
    void frame(int level, std::int32_t* row, const std::int32_t* before, const std::int32_t* before_that) {
        for (int joint = 0; joint < layout_.joints(); ++joint) {
            std::int64_t found = 128, expected = 128;  // in the joints that this one hangs on, and in itself
            if (layout_.elder[joint] >= 0) tally(layout_.elder[joint], level, row, found, expected);
            for (int track = layout_.first_track[joint]; track < layout_.first_track[joint + 1]; ++track) {
                const std::int64_t average = averages_.at(track, level);
                const std::int64_t beside = average * std::min<std::int64_t>(found, 8 * expected) / expected;
                std::int64_t sum = kAverage * average + kBeside * beside, weight = kAverage + kBeside;
                if (before) sum += kBefore * size(before[track]), weight += kBefore;
                if (before_that) sum += kBeforeThat * size(before_that[track]), weight += kBeforeThat;
                const int sign = before ? (before[track] > 0) + 2 * (before[track] < 0) : 0;
                row[track] = one(row[track], class_of(sum / weight), models_->sign[sign]);
                averages_.learn(track, level, size(row[track]));
                found += size(row[track]), expected += average;
            }
        }
    }

    Coder& coder() { return coder_; }

private:
    static std::int64_t size(std::int32_t residual) { return std::min(std::abs(static_cast<std::int64_t>(residual)), kMostSize) << 8; }

    void tally(int joint, int level, const std::int32_t* row, std::int64_t& found, std::int64_t& expected) const {
        for (int track = layout_.first_track[joint]; track < layout_.first_track[joint + 1]; ++track) {
            found += size(row[track]), expected += averages_.at(track, level);
        }
    }

    std::int32_t one(std::int32_t value, int of_class, Bit& sign) {
        std::int64_t wanted = std::abs(static_cast<std::int64_t>(value));
        auto& models = models_->size[of_class];
        int bin = 0;
        while (bin < kBins - 1 && coder_.bit(wanted >= edge(bin + 1), models[bin])) ++bin;
        std::int64_t found = edge(bin);
        const std::int64_t width = edge(bin + 1) - found;
        for (std::int64_t half = width / 2; half >= 1; half /= 2) {
            if (coder_.even(wanted - found >= half)) found += half;
        }
        if (found == 0) return 0;
        return static_cast<std::int32_t>(coder_.bit(value < 0, sign) ? -found : found);
    }

    const Layout& layout_;
    Averages averages_;
    Coder coder_;
    std::unique_ptr<Models> models_;
};

// Before memory is taken for numbers: even a zero that is sure to come costs a part of 1 / kMostPerByte of a byte, as no
// probability falls below 63 / 65536 (Bit::learn stops there), so this many bytes cannot hold more.
constexpr std::uint64_t kMostPerByte = 6000, kEndBytes = 20;

// A stream that goes on long after its bytes have ended is not one of ours.
void check_end(const RangeDecoder& coder) {
    if (coder.beyond() > 16) throw std::runtime_error("the coded numbers go on after the end of their bytes");
}

}  // namespace

void check_count(std::size_t tracks, std::size_t frames, std::size_t bytes) {
    if (frames > 0 && tracks > kMostPerByte * (bytes + kEndBytes) / frames) {
        throw std::runtime_error("too few bytes for so many numbers");
    }
}

std::vector<std::uint8_t> write_pose(const Layout& layout, const std::int32_t* residuals) {
    Residuals<Writer> coded(layout, Writer{});
    std::vector<std::int32_t> row(residuals, residuals + layout.tracks());
    coded.frame(kPose, row.data(), nullptr, nullptr);
    return coded.coder().coder.finish();
}

void read_pose(const Layout& layout, const std::uint8_t* bytes, std::size_t count, std::int32_t* residuals) {
    Residuals<Reader> coded(layout, Reader{RangeDecoder(bytes, count)});
    coded.frame(kPose, residuals, nullptr, nullptr);
    check_end(coded.coder().coder);
}

std::vector<std::uint8_t> write_body(const Layout& layout, const std::vector<Frame>& order, const std::int32_t* residuals) {
    Residuals<Writer> coded(layout, Writer{});
    const std::size_t tracks = static_cast<std::size_t>(layout.tracks());
    std::vector<std::int32_t> row(tracks);
    for (const Frame& frame : order) {
        const auto of = [&](int at) { return at < 0 ? nullptr : residuals + tracks * at; };
        std::copy_n(of(frame.at), tracks, row.data());
        coded.frame(frame.level, row.data(), of(frame.before), of(frame.before_that));
    }
    return coded.coder().coder.finish();
}

void read_body(const Layout& layout, const std::vector<Frame>& order, const std::uint8_t* bytes, std::size_t count,
               std::int32_t* residuals) {
    Residuals<Reader> coded(layout, Reader{RangeDecoder(bytes, count)});
    const std::size_t tracks = static_cast<std::size_t>(layout.tracks());
    for (const Frame& frame : order) {
        const auto of = [&](int at) { return at < 0 ? nullptr : residuals + tracks * at; };
        coded.frame(frame.level, of(frame.at), of(frame.before), of(frame.before_that));
        check_end(coded.coder().coder);
    }
}

}  // namespace keypose::kps
