#include "swing_overlap.hpp"

#include <algorithm>
#include <cmath>

namespace keypose {

namespace {

// A swing that was cut: seconds from the start of the part that counts, and the samples whose middles lie within.
struct Cut {
    std::int32_t at, part;
    double start, end;
    std::int64_t first, stop;
};

struct Sampled {
    std::int64_t n;                          // samples
    std::vector<std::vector<Cut>> by_part;   // (n_parts,)

    Sampled(const SwingSheet& sheet, std::size_t n_parts, double rate)
        : n(std::max<std::int64_t>(1, std::llrint((sheet.to - sheet.from) * rate))), by_part(n_parts) {
        for (std::size_t k = 0; k < sheet.n; ++k) {
            const double start = std::clamp(sheet.starts[k], sheet.from, sheet.to) - sheet.from;
            const double end = std::clamp(sheet.ends[k], sheet.from, sheet.to) - sheet.from;
            if (!(end > start)) continue;
            const auto sample = [&](double time) {
                return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(rate * time - 0.5)), 0, n);
            };
            by_part[sheet.parts[k]].push_back(
                {static_cast<std::int32_t>(k), sheet.parts[k], start, end, sample(start), sample(end)});
        }
    }
};

double cosine(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

}  // namespace

SwingOverlap overlap_swings(const SwingSheet& query, const SwingSheet& other, std::size_t n_parts, double rate,
                            double least_cosine, bool by_axes) {
    const Sampled ours(query, n_parts, rate), theirs(other, n_parts, rate);
    const std::int64_t lowest = std::min<std::int64_t>(0, theirs.n - ours.n);
    const std::int64_t highest = lowest + std::abs(theirs.n - ours.n);
    const std::size_t shifts = highest - lowest + 1;
    std::vector<double> together(shifts, 0.0), agreed(shifts, 0.0), until(theirs.n + 1, 0.0);
    double all_ours = 0.0;
    for (std::size_t part = 0; part < n_parts; ++part) {
        if (!query.present[part] || !other.present[part]) continue;
        for (const Cut& o : theirs.by_part[part])
            for (std::int64_t t = o.first; t < o.stop; ++t) until[t + 1] += 1.0;
        for (const Cut& q : ours.by_part[part]) {
            all_ours += static_cast<double>(q.stop - q.first);
            for (const Cut& o : theirs.by_part[part]) {
                const double alike = by_axes ? cosine(query.axes + 3 * q.at, other.axes + 3 * o.at) : 1.0;
                const std::int64_t last = std::min(highest, o.stop - q.first - 1);
                for (std::int64_t s = std::max(lowest, o.first - q.stop + 1); s <= last; ++s) {
                    const auto both = static_cast<double>(std::min(q.stop + s, o.stop) - std::max(q.first + s, o.first));
                    together[s - lowest] += both;
                    agreed[s - lowest] += alike * both;
                }
            }
        }
    }
    for (std::int64_t t = 0; t < theirs.n; ++t) until[t + 1] += until[t];

    SwingOverlap found{0.0, lowest, {}};
    for (std::size_t k = 0; k < shifts; ++k) {
        const double in_window = ours.n <= theirs.n ? until[k + ours.n] - until[k] : until[theirs.n];
        const double either = all_ours + in_window - together[k];
        const double score = either > 0.0 ? agreed[k] / either : 0.0;
        if (k == 0 || score > found.score) found = {score, lowest + static_cast<std::int64_t>(k), {}};
    }
    const double shift_s = static_cast<double>(found.shift) / rate;
    for (std::size_t part = 0; part < n_parts; ++part)
        for (const Cut& q : ours.by_part[part])
            for (const Cut& o : theirs.by_part[part]) {
                const double both_s = std::min(q.end + shift_s, o.end) - std::max(q.start + shift_s, o.start);
                const double alike = cosine(query.axes + 3 * q.at, other.axes + 3 * o.at);
                if (both_s > 0.0 && alike >= least_cosine) found.agreeing.push_back({q.at, o.at, alike, both_s});
            }
    std::stable_sort(found.agreeing.begin(), found.agreeing.end(),
                     [](const SwingPair& a, const SwingPair& b) { return a.together_s > b.together_s; });
    return found;
}

}  // namespace keypose
