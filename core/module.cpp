// The Python module: checks shapes, releases the GIL, calls the kernels. The *_module.cpp files bind the other kernels.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "arguments.hpp"
#include "kps_module.hpp"
#include "lossless_module.hpp"
#include "plain_curves.hpp"
#include "polish.hpp"
#include "salient.hpp"
#include "skeleton.hpp"
#include "swing_keys.hpp"
#include "swings.hpp"
#include "text.hpp"
#include "swing_overlap_module.hpp"
#include "windows_module.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using keypose::checked, keypose::require;

namespace {

using In1i = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using In2i = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using In1 = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using In2 = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using In3 = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<nb::numpy, double>;

Out adopt(double* data, std::initializer_list<std::size_t> shape) {
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<double*>(p); });
    return Out(data, shape, owner);
}

nb::tuple parse_rows(nb::bytes text, std::size_t start, std::size_t columns, std::size_t expected_rows,
                     std::size_t max_rows) {
    require(columns > 0 && columns <= keypose::kMaxLength, "columns must be positive and not too many");
    require(start <= text.size(), "start must not be after the end of the text");
    auto rows = new keypose::Rows();
    nb::capsule owner(rows, [](void* p) noexcept { delete static_cast<keypose::Rows*>(p); });
    {
        nb::gil_scoped_release unlocked;
        const char* begin = text.c_str();
        *rows = keypose::parse_rows(begin + start, begin + text.size(), columns, expected_rows, max_rows);
    }
    static const char* faults[] = {"", "not a number", "not finite", "wrong count"};
    Out values(rows->values.data(), {rows->rows, columns}, owner);
    return nb::make_tuple(values, rows->glued, rows->truncated, faults[static_cast<int>(rows->fault)],
                          rows->line, rows->column, rows->byte + start);
}

nb::bytes format_rows(In2 values, int decimals) {
    require(decimals >= 0 && decimals <= 17, "decimals must be 0 to 17");
    std::string text;
    {
        nb::gil_scoped_release unlocked;
        text = keypose::format_rows(values.data(), values.shape(0), values.shape(1), decimals);
    }
    return nb::bytes(text.data(), text.size());
}

nb::tuple poses_from_channels(In2 channels, In2i position_columns, In2i rotation_columns, In2i rotation_axes,
                              In2 offsets) {
    const std::size_t frames = channels.shape(0), columns = channels.shape(1), joints = offsets.shape(0);
    for (const In2i* table : {&position_columns, &rotation_columns, &rotation_axes}) {
        require(table->shape(0) == joints && table->shape(1) == 3, "column tables must be (joints, 3)");
        for (std::size_t i = 0; i < joints * 3; ++i)
            require(table->data()[i] < static_cast<std::int32_t>(table == &rotation_axes ? 3 : columns),
                    "a column or axis lies outside the table");
    }
    require(offsets.shape(1) == 3, "offsets must be (joints, 3)");
    auto* translations = new double[frames * joints * 3];
    Out translations_out = adopt(translations, {frames, joints, 3});
    auto* rotations = new double[frames * joints * 4];
    Out rotations_out = adopt(rotations, {frames, joints, 4});
    {
        nb::gil_scoped_release unlocked;
        keypose::poses_from_channels(channels.data(), frames, columns, joints, position_columns.data(),
                                     rotation_columns.data(), rotation_axes.data(), offsets.data(),
                                     translations, rotations);
    }
    return nb::make_tuple(translations_out, rotations_out);
}

nb::tuple forward_kinematics(In1i parents, In3 translations, In3 rotations) {
    const std::size_t frames = translations.shape(0), joints = parents.shape(0);
    require(translations.shape(1) == joints && translations.shape(2) == 3, "translations must be (T, J, 3)");
    require(rotations.shape(0) == frames && rotations.shape(1) == joints && rotations.shape(2) == 4,
            "rotations must be (T, J, 4)");
    for (std::size_t j = 0; j < joints; ++j)
        require(parents.data()[j] < static_cast<std::int32_t>(j), "parents must come before their children");
    auto* positions = new double[frames * joints * 3];
    Out positions_out = adopt(positions, {frames, joints, 3});
    auto* world = new double[frames * joints * 4];
    Out world_out = adopt(world, {frames, joints, 4});
    {
        nb::gil_scoped_release unlocked;
        keypose::forward_kinematics(parents.data(), translations.data(), rotations.data(), frames, joints,
                                    positions, world);
    }
    return nb::make_tuple(positions_out, world_out);
}

Out unwrap_euler(In3 angles) {
    require(angles.shape(2) == 3, "angles must be (T, J, 3)");
    auto* curves = new double[angles.size()];
    Out out = adopt(curves, {angles.shape(0), angles.shape(1), 3});
    std::copy(angles.data(), angles.data() + angles.size(), curves);
    nb::gil_scoped_release unlocked;
    keypose::unwrap_euler(curves, angles.shape(0), angles.shape(1));
    return out;
}

using Flags = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Returns false if Ctrl-C was pressed, so that it interrupts long computations.
bool keep_going() {
    nb::gil_scoped_acquire locked;
    return PyErr_CheckSignals() == 0;
}

// The common part of salient_paths, table_paths and inbetween_paths.
nb::tuple solve(keypose::SalientProblem problem, std::size_t max_keys, bool sum, std::size_t min_gap,
                 std::size_t max_gap, const Flags& allowed, const Flags& pinned, unsigned threads,
                 std::size_t max_parents) {
    keypose::require_threads(threads);
    require(problem.frames >= 2 && problem.frames < (std::size_t{1} << 31), "there must be at least two frames");
    require(max_keys >= 2 && max_keys <= problem.frames, "max_keys must be 2 to the number of frames");
    require(allowed.shape(0) == problem.frames && pinned.shape(0) == problem.frames, "allowed and pinned must have one flag per frame");
    require(min_gap < problem.frames, "min_gap must be below the number of frames");
    require(min_gap >= 1 && max_gap >= min_gap, "min_gap must be at least 1 frame, max_gap at least min_gap");
    problem.max_keys = max_keys;
    problem.sum = sum;
    problem.min_gap = min_gap;
    problem.max_gap = max_gap;
    problem.allowed = allowed.data();
    problem.pinned = pinned.data();
    problem.threads = threads;
    if (max_parents) problem.max_parents = max_parents;
    problem.keep_going = keep_going;
    auto paths = std::make_unique<keypose::SalientPaths>();
    {
        nb::gil_scoped_release unlocked;
        *paths = keypose::salient_paths(problem);
    }
    if (!paths->finished) throw nb::python_error();
    keypose::SalientPaths* owned = paths.release();
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<keypose::SalientPaths*>(p); });
    nb::ndarray<nb::numpy, double> costs(owned->costs.data(), {owned->costs.size()}, owner);
    nb::ndarray<nb::numpy, std::int32_t> keys(owned->keys.data(), {owned->keys.size()}, owner);
    return nb::make_tuple(costs, keys);
}

nb::tuple salient_paths(In2 points, std::size_t max_keys, bool sum, bool integrated, std::size_t min_gap,
                        std::size_t max_gap, Flags allowed, Flags pinned, unsigned threads,
                        std::size_t max_distances, std::size_t max_parents) {
    keypose::SalientProblem problem;
    problem.points = points.data();
    problem.frames = points.shape(0);
    problem.dims = points.shape(1);
    problem.integrated = integrated;
    if (max_distances) problem.max_distances = max_distances;
    return solve(problem, max_keys, sum, min_gap, max_gap, allowed, pinned, threads, max_parents);
}

nb::tuple table_paths(In2 costs, std::size_t max_keys, bool sum, std::size_t min_gap, Flags allowed, Flags pinned,
                      unsigned threads, std::size_t max_parents) {
    keypose::SalientProblem problem;
    problem.costs = costs.data();
    problem.frames = costs.shape(0);
    require(costs.shape(1) >= 1 && costs.shape(1) < costs.shape(0), "costs must be (T, max_gap) with max_gap from 1 to T - 1");
    return solve(problem, max_keys, sum, min_gap, costs.shape(1), allowed, pinned, threads, max_parents);
}

keypose::Clip make_clip(const In1i& parents, const In3& translations, const In3& rotations, const In3& positions,
                      const In1& weights) {
    const std::size_t frames = translations.shape(0), joints = parents.shape(0);
    const auto fits = [&](const In3& array, std::size_t width) {
        return array.shape(0) == frames && array.shape(1) == joints && array.shape(2) == width;
    };
    require(frames >= 2, "there must be at least two frames");
    require(fits(translations, 3) && fits(positions, 3), "translations and positions must be (T, J, 3)");
    require(fits(rotations, 4), "rotations must be (T, J, 4)");
    require(weights.shape(0) == joints, "one weight a joint");
    bool counts = false;
    for (std::size_t j = 0; j < joints; ++j) {
        require(parents.data()[j] < static_cast<std::int32_t>(j), "parents must come before their children");
        counts = counts || weights.data()[j] > 0;
    }
    require(counts, "some joint must count");
    return {parents.data(), translations.data(), rotations.data(), positions.data(), weights.data(), frames, joints};
}

nb::tuple inbetween_paths(In1i parents, In3 translations, In3 rotations, In3 positions, In1 weights, bool straight,
                          bool mean, std::size_t max_keys, bool sum, std::size_t min_gap, std::size_t max_gap,
                          Flags allowed, Flags pinned, unsigned threads, double limit, bool top_only,
                          std::size_t max_parents) {
    const keypose::Clip clip = make_clip(parents, translations, rotations, positions, weights);
    keypose::SalientProblem problem;
    problem.clip = &clip;
    problem.kind = {straight, mean};
    problem.limit = limit;
    problem.top_only = top_only;
    problem.frames = clip.frames;
    return solve(problem, max_keys, sum, min_gap, max_gap, allowed, pinned, threads, max_parents);
}

// The common part of chord_costs_within and inbetween_costs_within.
Out solve_costs(keypose::SalientProblem problem, std::size_t max_gap, const Flags& pinned, double limit, unsigned threads) {
    require(problem.frames >= 2 && problem.frames < (std::size_t{1} << 31), "there must be at least two frames");
    require(max_gap >= 1 && max_gap < problem.frames, "max_gap must be from 1 to T - 1");
    require(pinned.shape(0) == problem.frames, "pinned must have one flag per frame");
    keypose::require_threads(threads);
    problem.max_gap = max_gap;
    problem.pinned = pinned.data();
    problem.limit = limit;
    problem.threads = threads;
    problem.keep_going = keep_going;
    auto* costs = new double[problem.frames * max_gap];
    Out out = adopt(costs, {problem.frames, max_gap});
    bool finished;
    {
        nb::gil_scoped_release unlocked;
        finished = keypose::salient_costs(problem, costs);
    }
    if (!finished) throw nb::python_error();
    return out;
}

Out chord_costs_within(In2 points, bool integrated, std::size_t max_gap, Flags pinned, double limit, unsigned threads) {
    keypose::SalientProblem problem;
    problem.points = points.data();
    problem.frames = points.shape(0);
    problem.dims = points.shape(1);
    problem.integrated = integrated;
    return solve_costs(problem, max_gap, pinned, limit, threads);
}

Out inbetween_costs_within(In1i parents, In3 translations, In3 rotations, In3 positions, In1 weights, bool straight,
                           bool mean, std::size_t max_gap, Flags pinned, double limit, unsigned threads) {
    const keypose::Clip clip = make_clip(parents, translations, rotations, positions, weights);
    keypose::SalientProblem problem;
    problem.clip = &clip;
    problem.kind = {straight, mean};
    problem.frames = clip.frames;
    return solve_costs(problem, max_gap, pinned, limit, threads);
}

Out inbetween_costs(In1i parents, In3 translations, In3 rotations, In3 positions, In1 weights, bool straight, bool mean,
                    std::size_t max_gap, unsigned threads) {
    const keypose::Clip clip = make_clip(parents, translations, rotations, positions, weights);
    require(max_gap >= 1 && max_gap < clip.frames, "max_gap must be at least 1 and below the number of frames");
    keypose::require_threads(threads);
    auto* costs = new double[clip.frames * max_gap];
    Out out = adopt(costs, {clip.frames, max_gap});
    bool finished;
    {
        nb::gil_scoped_release unlocked;
        finished = keypose::inbetween_table(clip, max_gap, {straight, mean}, threads, keep_going, costs);
    }
    if (!finished) throw nb::python_error();
    return out;
}

void check_keys(const In1i& keys, std::size_t frames) {
    for (std::size_t k = 0; k < keys.shape(0); ++k) {
        require(keys.data()[k] >= 0 && static_cast<std::size_t>(keys.data()[k]) < frames, "no such frame");
        require(k == 0 || keys.data()[k] > keys.data()[k - 1], "keys must increase");
    }
}

Out inbetween_spans(In1i parents, In3 translations, In3 rotations, In3 positions, In1 weights, bool straight, bool mean,
                    In1i keys) {
    const keypose::Clip clip = make_clip(parents, translations, rotations, positions, weights);
    require(keys.shape(0) >= 2, "there must be two keys");
    check_keys(keys, clip.frames);
    auto* costs = new double[keys.shape(0) - 1];
    Out out = adopt(costs, {keys.shape(0) - 1});
    nb::gil_scoped_release unlocked;
    keypose::inbetween_spans(clip, {straight, mean}, keys.data(), keys.shape(0), costs);
    return out;
}

keypose::PlainCurves make_plain_curves(const In1& times, const In2& values, bool straight) {
    const std::size_t samples = times.shape(0), curves = values.shape(0);
    require(samples >= 2 && samples < (std::size_t{1} << 31), "there must be at least two samples");
    require(curves >= 1 && values.shape(1) == samples, "values must be (C, N)");
    require(std::isfinite(times.data()[0]) && std::isfinite(times.data()[samples - 1]), "times must be finite");
    for (std::size_t i = 1; i < samples; ++i)
        require(times.data()[i] > times.data()[i - 1], "times must increase");
    return {times.data(), values.data(), nullptr, nullptr, samples, curves, straight};
}

keypose::PlainCurves make_plain_curves(const In1& times, const In2& values, const In1& scales, const In1& limits,
                                       bool straight) {
    keypose::PlainCurves curves = make_plain_curves(times, values, straight);
    require(scales.shape(0) == curves.curves && limits.shape(0) == curves.curves, "one scale and one limit per curve");
    curves.scales = scales.data();
    curves.limits = limits.data();
    return curves;
}

Out plain_costs(In1 times, In2 values, In1 scales, In1 limits, bool straight, std::size_t max_gap, double limit,
                unsigned threads) {
    const keypose::PlainCurves curves = make_plain_curves(times, values, scales, limits, straight);
    require(max_gap >= 1 && max_gap < curves.samples, "max_gap must be from 1 to N - 1");
    keypose::require_threads(threads);
    auto* costs = new double[curves.samples * max_gap];
    Out out = adopt(costs, {curves.samples, max_gap});
    bool finished;
    {
        nb::gil_scoped_release unlocked;
        finished = keypose::plain_costs(curves, max_gap, limit, threads, keep_going, costs);
    }
    if (!finished) throw nb::python_error();
    return out;
}

nb::ndarray<nb::numpy, std::int32_t> plain_fewest_keys(In1 times, In2 values, In1 scales, In1 limits, bool straight) {
    const keypose::PlainCurves curves = make_plain_curves(times, values, scales, limits, straight);
    auto keys = std::make_unique<std::vector<std::int32_t>>();
    {
        nb::gil_scoped_release unlocked;
        *keys = keypose::plain_fewest_keys(curves, keep_going);
    }
    if (keys->empty()) throw nb::python_error();
    auto* owned = keys.release();
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
    return nb::ndarray<nb::numpy, std::int32_t>(owned->data(), {owned->size()}, owner);
}

Out plain_tangents(In1 times, In2 values, bool straight, In1i keys) {
    const keypose::PlainCurves curves = make_plain_curves(times, values, straight);
    require(keys.shape(0) >= 2, "there must be two keys");
    check_keys(keys, curves.samples);
    auto* tangents = new double[(keys.shape(0) - 1) * 2 * curves.curves];
    Out out = adopt(tangents, {keys.shape(0) - 1, 2, curves.curves});
    nb::gil_scoped_release unlocked;
    keypose::plain_tangents(curves, keys.data(), keys.shape(0), tangents);
    return out;
}

using Tangents = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Keyed4 = nb::ndarray<double, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Out polish(In1i parents, In3 translations, In3 rotations, In3 positions, In1 weights, Table moves, In1i keys,
            Tangents out_rotation_tangents, Tangents in_rotation_tangents, Tangents out_translation_tangents, Tangents in_translation_tangents, double lever_mm, double length_mm,
            double power, double limit_mm, std::size_t rounds, unsigned threads, std::optional<Keyed4> key_positions, std::optional<In1> key_weights) {
    keypose::PolishProblem problem;
    problem.clip = make_clip(parents, translations, rotations, positions, weights);
    const std::size_t n = keys.shape(0), joints = parents.shape(0);
    require(n >= 1, "there must be a key");
    require(moves.shape(0) == joints && moves.shape(1) == 2, "moves must be (J, 2)");
    keypose::require_threads(threads);
    check_keys(keys, problem.clip.frames);
    const auto fits = [&](const Tangents& tangents, std::size_t width) {
        return tangents.shape(0) == n && tangents.shape(1) == joints && tangents.shape(2) == width;
    };
    require(fits(out_rotation_tangents, 4) && fits(in_rotation_tangents, 4), "rotation tangents must be (K, J, 4)");
    require(fits(out_translation_tangents, 3) && fits(in_translation_tangents, 3), "translation tangents must be (K, J, 3)");
    problem.moves = moves.data();
    problem.keys = keys.data();
    problem.n_keys = n;
    problem.out_rotation_tangents = out_rotation_tangents.data();
    problem.in_rotation_tangents = in_rotation_tangents.data();
    problem.out_translation_tangents = out_translation_tangents.data();
    problem.in_translation_tangents = in_translation_tangents.data();
    problem.lever_mm = lever_mm;
    problem.length_mm = length_mm;
    problem.power = power;
    problem.limit_mm = limit_mm;
    problem.rounds = rounds;
    problem.threads = threads;
    problem.keep_going = keep_going;
    require(key_positions.has_value() == key_weights.has_value(), "key_positions and key_weights belong together");
    std::vector<double> key_targets;
    if (key_positions) {
        const Keyed4& positions = *key_positions;
        require(positions.shape(0) == n && positions.shape(1) == 2 && positions.shape(2) == joints && positions.shape(3) == 3,
                "key_positions must be (K, 2, J, 3)");
        require(key_weights->shape(0) == n, "key_weights must be (K)");
        key_targets.assign(positions.data(), positions.data() + positions.size());
        problem.key_targets = key_targets.data();
        problem.key_positions = positions.data();
        problem.key_weights = key_weights->data();
    }
    problem.worst_mm = new double[n - 1];
    Out worst = adopt(problem.worst_mm, {n - 1});
    bool finished;
    {
        nb::gil_scoped_release unlocked;
        finished = keypose::polish(problem);
    }
    if (!finished) throw nb::python_error();
    return worst;
}

nb::tuple spans_out(std::unique_ptr<keypose::JointSpans> spans) {
    keypose::JointSpans* owned = spans.release();
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<keypose::JointSpans*>(p); });
    const auto array = [&](std::vector<std::int32_t>& values) {
        return nb::ndarray<nb::numpy, std::int32_t>(values.data(), {values.size()}, owner);
    };
    return nb::make_tuple(array(owned->joints), array(owned->starts), array(owned->ends));
}

nb::tuple swing_spans(In3 rotations, std::size_t smoothing, std::size_t half_window, std::size_t min_frames,
                      double rest_speed, double threshold, bool cosine) {
    require(rotations.shape(0) >= 1 && rotations.shape(0) < (std::size_t{1} << 31), "there must be a frame");
    require(rotations.shape(2) == 4, "rotations must be (T, J, 4)");
    require(smoothing >= 1 && half_window >= 1 && min_frames >= 2, "smoothing and half_window must be at least 1 frame, min_frames at least 2");
    require(half_window <= keypose::kMaxLength, "half_window is too long");
    keypose::SwingSpans result;
    {
        nb::gil_scoped_release unlocked;
        result = keypose::swing_spans(rotations.data(), rotations.shape(0), rotations.shape(1),
                                     {smoothing, half_window, min_frames, rest_speed, threshold, cosine}, keep_going);
    }
    if (!result.finished) throw nb::python_error();
    auto* rotation_vectors = new double[result.rotation_vectors.size()];
    Out rotation_vectors_out = adopt(rotation_vectors, {result.rotation_vectors.size() / 3, 3});
    std::copy(result.rotation_vectors.begin(), result.rotation_vectors.end(), rotation_vectors);
    return nb::make_tuple(spans_out(std::make_unique<keypose::JointSpans>(std::move(result.swings))), rotation_vectors_out,
                          spans_out(std::make_unique<keypose::JointSpans>(std::move(result.rests))));
}

nb::tuple swing_keys(In3 rotations, In1 tolerances, In1i joints, In1i starts, In1i ends, In2 first_rotations,
                     In2 rotation_vectors, double swing_cost, std::size_t max_span) {
    const std::size_t frames = rotations.shape(0), n = joints.shape(0);
    require(frames >= 1 && frames < (std::size_t{1} << 31), "there must be a frame");
    require(rotations.shape(2) == 4, "rotations must be (T, J, 4)");
    require(tolerances.shape(0) == rotations.shape(1), "tolerances must have one entry per joint");
    require(starts.shape(0) == n && ends.shape(0) == n, "joints, starts and ends must have one entry per swing");
    require(first_rotations.shape(0) == n && first_rotations.shape(1) == 4, "first_rotations must be (N, 4)");
    require(rotation_vectors.shape(0) == n && rotation_vectors.shape(1) == 3, "rotation_vectors must be (N, 3)");
    for (std::size_t i = 0; i < n; ++i) {
        const std::int32_t joint = joints.data()[i], start = starts.data()[i], end = ends.data()[i];
        require(joint >= 0 && static_cast<std::size_t>(joint) < rotations.shape(1), "there is no such joint");
        require(start >= 0 && start < end && static_cast<std::size_t>(end) < frames, "each swing must start before it ends, within the frames");
        require(!i || joint > joints.data()[i - 1] || (joint == joints.data()[i - 1] && start > ends.data()[i - 1]),
                "swings must be sorted and must not overlap");
    }
    require(max_span >= 1, "max_span must be at least 1 frame");
    require(std::abs(swing_cost) <= 1e6, "swing_cost must be a number of keys");
    auto result = std::make_unique<keypose::JointKeys>();
    {
        nb::gil_scoped_release unlocked;
        *result = keypose::fit_joint_keys(
            rotations.data(), frames, rotations.shape(1),
            {n, joints.data(), starts.data(), ends.data(), first_rotations.data(), rotation_vectors.data()},
            {tolerances.data(), swing_cost, std::min(max_span, frames)}, keep_going);
    }
    if (!result->finished) throw nb::python_error();
    keypose::JointKeys* owned = result.release();
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<keypose::JointKeys*>(p); });
    const std::size_t keys = owned->frames.size();
    return nb::make_tuple(nb::ndarray<nb::numpy, std::int32_t>(owned->joints.data(), {keys}, owner),
                          nb::ndarray<nb::numpy, std::int32_t>(owned->frames.data(), {keys}, owner),
                          Out(owned->rotations.data(), {keys, 4}, owner),
                          nb::ndarray<nb::numpy, std::uint8_t>(owned->is_swing_used.data(), {n}, owner),
                          Out(owned->playback.data(), {frames, rotations.shape(1), 4}, owner));
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Kernels on plain arrays; tests/reference/ has a slow implementation of each.";
    m.def("parse_rows", checked(&parse_rows), "text"_a, "start"_a, "columns"_a, "expected_rows"_a, "max_rows"_a,
          "Parse rows of numbers; return (values, glued, truncated, fault, line, column, byte).");
    m.def("format_rows", checked(&format_rows), "values"_a, "decimals"_a, "Format rows of numbers as text.");
    m.def("poses_from_channels", checked(&poses_from_channels), "channels"_a, "position_columns"_a,
          "rotation_columns"_a, "rotation_axes"_a, "offsets"_a,
          "Convert channel rows to local translations (T, J, 3) and rotations (T, J, 4), wxyz.");
    m.def("forward_kinematics", checked(&forward_kinematics), "parents"_a, "translations"_a, "rotations"_a,
          "Convert local poses to world positions (T, J, 3) and rotations (T, J, 4).");
    m.def("salient_paths", checked(&salient_paths), "points"_a, "max_keys"_a, "sum"_a, "integrated"_a, "min_gap"_a,
          "max_gap"_a, "allowed"_a, "pinned"_a, "threads"_a,
          "max_distances"_a = 0, "max_parents"_a = 0,
          "Find the best paths with 2, 3, ... keys; return (costs by number of keys, keys of all paths, concatenated).");
    m.def("table_paths", checked(&table_paths), "costs"_a, "max_keys"_a, "sum"_a, "min_gap"_a, "allowed"_a, "pinned"_a,
          "threads"_a, "max_parents"_a = 0,
          "Find the best paths as salient_paths does, for given costs (T, max_gap) of the edges from frame i to i + 1, i + 2, ...");
    m.def("inbetween_paths", checked(&inbetween_paths), "parents"_a, "translations"_a, "rotations"_a, "positions"_a, "weights"_a,
          "straight"_a, "mean"_a, "max_keys"_a, "sum"_a, "min_gap"_a, "max_gap"_a, "allowed"_a, "pinned"_a,
          "threads"_a, "limit"_a = std::numeric_limits<double>::infinity(), "top_only"_a = false, "max_parents"_a = 0,
          "Find the best paths as salient_paths does; the cost of an edge is the error of the curves between the two keys.");
    m.def("inbetween_costs", checked(&inbetween_costs), "parents"_a, "translations"_a, "rotations"_a, "positions"_a, "weights"_a,
          "straight"_a, "mean"_a, "max_gap"_a, "threads"_a,
          "Return the errors (T, max_gap) of the curves from frame i to i + 1, i + 2, ...");
    m.def("chord_costs_within", checked(&chord_costs_within), "points"_a, "integrated"_a, "max_gap"_a, "pinned"_a, "limit"_a,
          "threads"_a,
          "Return the costs (T, max_gap) of the edges from frame i to i + 1, i + 2, ... as salient_paths has them (squared "
          "distances or their sum); infinite above the limit and across pinned frames.");
    m.def("inbetween_costs_within", checked(&inbetween_costs_within), "parents"_a, "translations"_a, "rotations"_a, "positions"_a,
          "weights"_a, "straight"_a, "mean"_a, "max_gap"_a, "pinned"_a, "limit"_a, "threads"_a,
          "Return the costs of inbetween_costs; infinite above the limit and across pinned frames.");
    m.def("inbetween_spans", checked(&inbetween_spans), "parents"_a, "translations"_a, "rotations"_a, "positions"_a, "weights"_a,
          "straight"_a, "mean"_a, "keys"_a, "Return the errors (K - 1,) of the curves between given keys.");
    m.def("plain_costs", checked(&plain_costs), "times"_a, "values"_a, "scales"_a, "limits"_a, "straight"_a, "max_gap"_a, "limit"_a,
          "threads"_a,
          "Return the errors (N, max_gap) of the cubics of plain curves (C, N) from sample i to i + 1, i + 2, ...; infinite above the "
          "limit of all or of a curve.");
    m.def("plain_fewest_keys", checked(&plain_fewest_keys), "times"_a, "values"_a, "scales"_a, "limits"_a, "straight"_a,
          "Return the fewest keys (K,) with which every curve is within its limit, of these the ones with the lowest cost.");
    m.def("plain_tangents", checked(&plain_tangents), "times"_a, "values"_a, "straight"_a, "keys"_a,
          "Return the tangents (K - 1, 2, C) at the start and the end of the spans between keys.");
    m.def("polish", checked(&polish), "parents"_a, "translations"_a, "rotations"_a, "positions"_a, "weights"_a, "moves"_a, "keys"_a,
          "out_rotation_tangents"_a, "in_rotation_tangents"_a, "out_translation_tangents"_a, "in_translation_tangents"_a, "lever_mm"_a, "length_mm"_a,
          "power"_a, "limit_mm"_a, "rounds"_a, "threads"_a, "key_positions"_a = nb::none(), "key_weights"_a = nb::none(),
          "Improve the tangents of curves through keys in place, those of the translations and rotations that move (J, 2); return "
          "the largest error of each span (K - 1,) in mm. key_positions (K, 2, J, 3), second targets of the frames before and after "
          "each key with key_weights (K,), become the positions of the curves there.");
    m.def("swing_spans", checked(&swing_spans), "rotations"_a, "smoothing"_a, "half_window"_a, "min_frames"_a, "rest_speed"_a,
          "threshold"_a, "cosine"_a,
          "Find the swings and rests of all joints; return (spans of swings, rotation vectors (N, 3), spans of rests), with spans "
          "as (joints, first frames, last frames).");
    m.def("swing_keys", checked(&swing_keys), "rotations"_a, "tolerances"_a, "joints"_a, "starts"_a, "ends"_a,
          "first_rotations"_a, "rotation_vectors"_a, "swing_cost"_a, "max_span"_a,
          "Fit as few keys as possible around swings, within a tolerance; return (joints, frames, rotations, is_swing_used, playback).");
    m.def("unwrap_euler", checked(&unwrap_euler), "angles"_a, "Return Euler angles in radians as curves without jumps.");
    bind_lossless(m);
    bind_kps(m);
    bind_windows(m);
    bind_swing_overlap(m);
}
