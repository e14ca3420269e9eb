#include "swing_overlap.hpp"

#include <algorithm>
#include <cmath>

namespace keypose {

namespace {

// A swing clipped to the time range of its table: seconds from the start of the range, and the samples [first, stop)
// with their centres in the swing.
struct ClippedSwing {
    std::int32_t index, body_part;
    double start, end;
    std::int64_t first, stop;
};

struct SampledSwings {
    std::int64_t n;                                       // number of samples
    std::vector<std::vector<ClippedSwing>> by_body_part;  // (n_body_parts,)

    SampledSwings(const SwingTable& table, std::size_t n_body_parts, double rate)
        : n(std::max<std::int64_t>(1, std::llrint((table.end_s - table.start_s) * rate))), by_body_part(n_body_parts) {
        for (std::size_t k = 0; k < table.n; ++k) {
            const double start = std::clamp(table.starts[k], table.start_s, table.end_s) - table.start_s;
            const double end = std::clamp(table.ends[k], table.start_s, table.end_s) - table.start_s;
            if (!(end > start)) continue;
            const auto sample = [&](double time) {
                return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(rate * time - 0.5)), 0, n);
            };
            by_body_part[table.body_parts[k]].push_back(
                {static_cast<std::int32_t>(k), table.body_parts[k], start, end, sample(start), sample(end)});
        }
    }
};

double cosine(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

}  // namespace

SwingOverlap overlap_swings(const SwingTable& query, const SwingTable& other, std::size_t n_body_parts, double rate,
                            double min_cosine, bool by_axes) {
    const SampledSwings sampled_query(query, n_body_parts, rate), sampled_other(other, n_body_parts, rate);
    const std::int64_t min_shift = std::min<std::int64_t>(0, sampled_other.n - sampled_query.n);
    const std::int64_t max_shift = min_shift + std::abs(sampled_other.n - sampled_query.n);
    const std::size_t shifts = max_shift - min_shift + 1;
    std::vector<double> overlaps(shifts, 0.0), agreement(shifts, 0.0), cumulative(sampled_other.n + 1, 0.0);
    double query_samples = 0.0;
    for (std::size_t body_part = 0; body_part < n_body_parts; ++body_part) {
        if (!query.present[body_part] || !other.present[body_part]) continue;
        for (const ClippedSwing& o : sampled_other.by_body_part[body_part])
            for (std::int64_t t = o.first; t < o.stop; ++t) cumulative[t + 1] += 1.0;
        for (const ClippedSwing& q : sampled_query.by_body_part[body_part]) {
            query_samples += static_cast<double>(q.stop - q.first);
            for (const ClippedSwing& o : sampled_other.by_body_part[body_part]) {
                const double axis_cosine = by_axes ? cosine(query.axes + 3 * q.index, other.axes + 3 * o.index) : 1.0;
                const std::int64_t last = std::min(max_shift, o.stop - q.first - 1);
                for (std::int64_t s = std::max(min_shift, o.first - q.stop + 1); s <= last; ++s) {
                    const auto overlap = static_cast<double>(std::min(q.stop + s, o.stop) - std::max(q.first + s, o.first));
                    overlaps[s - min_shift] += overlap;
                    agreement[s - min_shift] += axis_cosine * overlap;
                }
            }
        }
    }
    for (std::int64_t t = 0; t < sampled_other.n; ++t) cumulative[t + 1] += cumulative[t];

    SwingOverlap result{0.0, min_shift, {}};
    for (std::size_t k = 0; k < shifts; ++k) {
        const double in_window = sampled_query.n <= sampled_other.n ? cumulative[k + sampled_query.n] - cumulative[k] : cumulative[sampled_other.n];
        const double union_samples = query_samples + in_window - overlaps[k];
        const double score = union_samples > 0.0 ? agreement[k] / union_samples : 0.0;
        if (k == 0 || score > result.score) result = {score, min_shift + static_cast<std::int64_t>(k), {}};
    }
    const double shift_s = static_cast<double>(result.shift) / rate;
    for (std::size_t body_part = 0; body_part < n_body_parts; ++body_part)
        for (const ClippedSwing& q : sampled_query.by_body_part[body_part])
            for (const ClippedSwing& o : sampled_other.by_body_part[body_part]) {
                const double overlap_s = std::min(q.end + shift_s, o.end) - std::max(q.start + shift_s, o.start);
                const double axis_cosine = cosine(query.axes + 3 * q.index, other.axes + 3 * o.index);
                if (overlap_s > 0.0 && axis_cosine >= min_cosine) result.matches.push_back({q.index, o.index, axis_cosine, overlap_s});
            }
    std::stable_sort(result.matches.begin(), result.matches.end(),
                     [](const SwingPair& a, const SwingPair& b) { return a.overlap_s > b.overlap_s; });
    return result;
}

}  // namespace keypose
