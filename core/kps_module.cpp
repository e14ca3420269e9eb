// Python bindings of the lossy codec: check shapes, release the GIL, call the kernels.
#include "kps_module.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "arguments.hpp"
#include "kps_encode.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace keypose;

namespace {

template <class T, std::size_t N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T>;
using Numbers = Out<std::int64_t>;

constexpr int kMaxFrames = 1 << 20;     // of a group
constexpr std::size_t kMaxJoints = 1 << 24;
constexpr int kMaxPrior = 1 << 20;
constexpr double kMaxComponent = 1.01;  // of the unit vectors and quaternions of a chart

template <class T>
Out<T> adopt(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Out<T>(owned->data(), shape, owner);
}

nb::bytes as_bytes(const std::vector<std::uint8_t>& bytes) { return nb::bytes(bytes.data(), bytes.size()); }
const std::uint8_t* byte_data(const nb::bytes& bytes) { return reinterpret_cast<const std::uint8_t*>(bytes.c_str()); }

// Whether -limit <= number <= limit; std::abs of the smallest number is not positive.
bool is_within(std::int64_t number, std::int64_t limit) { return number >= -limit && number <= limit; }

template <class Array>
bool are_within(const Array& numbers, std::int64_t limit) {
    return std::all_of(numbers.data(), numbers.data() + numbers.size(), [limit](std::int64_t n) { return is_within(n, limit); });
}

template <class Array>
bool all_finite(const Array& values) {
    return std::all_of(values.data(), values.data() + values.size(), [](double x) { return std::isfinite(x); });
}

void check_parents(const In<std::int32_t, 1>& parents) {
    for (std::size_t j = 0; j < parents.shape(0); ++j)
        require(parents.data()[j] < static_cast<std::int32_t>(j), "parents must come before their children");
}

// Checks the numbers of the first frame of a group, and of the next group if there is one.
void check_ends(std::size_t tracks, const In<std::int64_t, 1>& pose, const std::optional<In<std::int64_t, 1>>& next) {
    require(pose.shape(0) == tracks && (!next || next->shape(0) == tracks), "pose and next must have one number per track");
    require(are_within(pose, kps::kMaxUnits) && (!next || are_within(*next, kps::kMaxUnits)), "a number of pose or next is out of range");
}

// charts (joints, 14): kind, base (4), three axes (9).
kps::Clip make_clip(In<std::int32_t, 1> parents, In<double, 2> charts, In<std::uint8_t, 1> moves, In<double, 2> joint_positions,
                    In<std::int32_t, 1> steps, In<std::int64_t, 1> centres, In<std::int32_t, 1> track_priors,
                    In<std::int32_t, 1> level_priors) {
    const std::size_t joints = parents.shape(0);
    require(joints <= kMaxJoints, "there are too many joints");
    require(charts.shape(0) == joints && charts.shape(1) == 14, "charts must be (joints, 14)");
    require(moves.shape(0) == joints && joint_positions.shape(0) == joints && joint_positions.shape(1) == 3, "moves and joint_positions must have one row per joint");
    require(level_priors.shape(0) == kps::kLevels, "level_priors must have one entry per level");
    kps::Clip clip;
    check_parents(parents);
    require(all_finite(joint_positions), "joint_positions must be finite");
    clip.moves.assign(moves.data(), moves.data() + joints);
    clip.layout.first_track.push_back(0);
    for (std::size_t j = 0; j < joints; ++j) {
        const double* c = charts.data() + 14 * j;
        require(c[0] >= 0 && c[0] <= 4, "the kind of a chart is unknown");
        require(std::all_of(c + 1, c + 14, [](double x) { return std::abs(x) <= kMaxComponent; }), "the rotations and axes of a chart must be of unit length");
        kps::Chart chart{static_cast<kps::Kind>(static_cast<int>(c[0])), Q{c[1], c[2], c[3], c[4]}, vector_at(c + 5), vector_at(c + 8), vector_at(c + 11)};
        clip.charts.push_back(chart);
        clip.joint_positions.push_back(vector_at(joint_positions.data() + 3 * j));
        clip.layout.first_track.push_back(clip.layout.first_track.back() + (moves.data()[j] ? 3 : 0) + chart.numbers());
        const int parent = parents.data()[j];
        clip.layout.ancestor.push_back(parent < 0 ? -1 : clip.layout.has_tracks(parent) ? parent : clip.layout.ancestor[parent]);
    }
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    require(steps.shape(0) == tracks && centres.shape(0) == tracks && track_priors.shape(0) == tracks, "steps, centres and track_priors must have one entry per track");
    for (std::size_t k = 0; k < tracks; ++k) {
        require(is_within(steps.data()[k], 4096), "a step is out of range");
        require(is_within(centres.data()[k], kps::kMaxUnits), "a centre is out of range");
        require(is_within(track_priors.data()[k], kMaxPrior), "a prior is out of range");
        clip.units.push_back(kps::power_of_eighths(steps.data()[k]) / kps::kUnitsPerStep);
    }
    require(are_within(level_priors, kMaxPrior), "a prior is out of range");
    clip.centres.assign(centres.data(), centres.data() + tracks);
    clip.layout.track_prior.assign(track_priors.data(), track_priors.data() + tracks);
    std::copy_n(level_priors.data(), kps::kLevels, clip.layout.level_prior);
    return clip;
}

Numbers decode_pose(const kps::Clip& clip, nb::bytes bytes) {
    std::vector<std::int64_t> numbers(clip.tracks());
    {
        nb::gil_scoped_release unlocked;
        kps::decode_pose(clip, byte_data(bytes), bytes.size(), numbers.data());
    }
    return adopt(std::move(numbers), {static_cast<std::size_t>(clip.tracks())});
}

Numbers decode_body(const kps::Clip& clip, int frames, nb::bytes bytes, In<std::int64_t, 1> pose, std::optional<In<std::int64_t, 1>> next) {
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    require(frames >= 1 && frames <= kMaxFrames, "frames must be positive and not too many");
    check_ends(tracks, pose, next);
    kps::check_count(tracks, static_cast<std::size_t>(frames) - 1, bytes.size());  // before allocation
    std::vector<std::int64_t> numbers(tracks * frames);
    {
        nb::gil_scoped_release unlocked;
        std::copy_n(pose.data(), tracks, numbers.data());
        kps::decode_body(clip, frames, byte_data(bytes), bytes.size(), next ? next->data() : nullptr, numbers.data());
    }
    return adopt(std::move(numbers), {static_cast<std::size_t>(frames), tracks});
}

nb::tuple poses(const kps::Clip& clip, In<std::int64_t, 2> numbers) {
    const std::size_t frames = numbers.shape(0), tracks = static_cast<std::size_t>(clip.tracks()), joints = static_cast<std::size_t>(clip.joints());
    require(numbers.shape(1) == tracks && frames <= kMaxFrames, "numbers must be (frames, tracks)");
    std::vector<double> translations(frames * joints * 3), rotations(frames * joints * 4);
    {
        nb::gil_scoped_release unlocked;
        for (std::size_t t = 0; t < frames; ++t) {
            clip.pose(numbers.data() + tracks * t, translations.data() + 3 * joints * t, rotations.data() + 4 * joints * t);
        }
    }
    return nb::make_tuple(adopt(std::move(translations), {frames, joints, 3}), adopt(std::move(rotations), {frames, joints, 4}));
}

// Original frames of a group: in mm, and as numbers of the tracks.
struct Frames {
    In<double, 3> positions, world_rotations, translations;
    In<double, 2> numbers;

    kps::Originals originals(const kps::Clip& clip) const {
        const std::size_t frames = positions.shape(0), joints = static_cast<std::size_t>(clip.joints());
        require(frames >= 1 && frames <= kMaxFrames && positions.shape(1) == joints && positions.shape(2) == 3, "positions must be (frames, joints, 3)");
        require(world_rotations.shape(0) == frames && world_rotations.shape(1) == joints && world_rotations.shape(2) == 4, "world_rotations must be (frames, joints, 4)");
        require(translations.shape(0) == frames && translations.shape(1) == joints && translations.shape(2) == 3,
                "translations must be (frames, joints, 3)");
        require(numbers.shape(0) == frames && numbers.shape(1) == static_cast<std::size_t>(clip.tracks()), "numbers must be (frames, tracks)");
        return {positions.data(), world_rotations.data(), translations.data(), numbers.data(), static_cast<int>(frames)};
    }
};

kps::Figure make_figure(const kps::Clip& clip, In<std::int32_t, 1> parents, In<std::int32_t, 1> end_joints, In<double, 2> end_offsets, double mm_per_unit) {
    require(parents.shape(0) == static_cast<std::size_t>(clip.joints()), "parents must have one entry per joint");
    check_parents(parents);
    require(end_offsets.shape(0) == end_joints.shape(0) && end_offsets.shape(1) == 3, "end_offsets must be (E, 3)");
    require(end_joints.shape(0) <= kMaxJoints, "there are too many end sites");
    const auto* ends = end_joints.data();
    require(std::all_of(ends, ends + end_joints.shape(0), [&](int j) { return j >= 0 && j < clip.joints(); }), "an end site has no joint");
    return kps::Figure(parents.data(), clip.joints(), ends, end_offsets.data(), static_cast<int>(end_joints.shape(0)), mm_per_unit, clip);
}

nb::tuple choice_tuple(const kps::Clip& clip, kps::Choice&& choice, std::size_t frames) {
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    if (!choice.is_within) choice.residuals.assign(frames * tracks, 0), choice.numbers.assign(frames * tracks, 0);
    return nb::make_tuple(choice.is_within, choice.order, choice.grain, adopt(std::move(choice.residuals), {frames, tracks}),
                          adopt(std::move(choice.numbers), {frames, tracks}));
}

// Returns the frames; the clip and the figure must be those of their skeleton.
kps::Originals check_figure(const kps::Clip& clip, const kps::Figure& figure, const Frames& frames) {
    require(figure.joints() == clip.joints(), "the figure must have the joints of the clip");
    return frames.originals(clip);
}

Out<double> curvatures(const kps::Clip& clip, const kps::Figure& figure, const Frames& frames) {
    const kps::Originals originals = check_figure(clip, figure, frames);
    std::vector<double> sums;
    {
        nb::gil_scoped_release unlocked;
        sums = kps::curvatures(clip, figure, originals);
    }
    return adopt(std::move(sums), {static_cast<std::size_t>(clip.tracks())});
}

nb::tuple choose_pose(const kps::Clip& clip, const kps::Figure& figure, const Frames& frames, double tolerance_mm) {
    const kps::Originals originals = check_figure(clip, figure, frames);
    kps::Choice choice;
    {
        nb::gil_scoped_release unlocked;
        choice = kps::choose_pose(clip, figure, originals, tolerance_mm);
    }
    return choice_tuple(clip, std::move(choice), 1);
}

nb::tuple choose_body(const kps::Clip& clip, const kps::Figure& figure, const Frames& frames, In<std::int64_t, 1> pose,
                      std::optional<In<std::int64_t, 1>> next, double tolerance_mm, int order, double tolerance_share, int grain) {
    const kps::Originals originals = check_figure(clip, figure, frames);
    const std::size_t tracks = static_cast<std::size_t>(clip.tracks());
    check_ends(tracks, pose, next);
    require(order >= 0 && order < kps::kOrders, "the order of frames is unknown");
    kps::Choice choice;
    {
        nb::gil_scoped_release unlocked;
        choice = kps::choose_body(clip, figure, originals, pose.data(), next ? next->data() : nullptr, tolerance_mm, kps::CodingMode{order, tolerance_share}, grain);
    }
    return choice_tuple(clip, std::move(choice), static_cast<std::size_t>(originals.frames));
}

void check_residuals(const std::int32_t* residuals, std::size_t count) {
    require(std::all_of(residuals, residuals + count, [](std::int64_t r) { return is_within(r, kps::kMaxResidual - 1); }), "a residual is out of range");
}

void check_grain(int grain) { require(grain >= kps::kMinGrain && grain <= kps::kMaxGrain, "the grain is out of range"); }

nb::bytes write_pose(const kps::Clip& clip, int grain, In<std::int32_t, 1> residuals) {
    require(residuals.shape(0) == static_cast<std::size_t>(clip.tracks()), "residuals must have one entry per track");
    check_grain(grain);
    check_residuals(residuals.data(), residuals.shape(0));
    std::vector<std::uint8_t> bytes = kps::write_pose(clip.layout, residuals.data());
    bytes.insert(bytes.begin(), static_cast<std::uint8_t>(grain - kps::kMinGrain));
    return as_bytes(bytes);
}

nb::bytes write_body(const kps::Clip& clip, int order, int grain, In<std::int32_t, 2> residuals, bool next) {
    require(residuals.shape(1) == static_cast<std::size_t>(clip.tracks()), "residuals must be (frames, tracks)");
    require(order >= 0 && order < kps::kOrders && residuals.shape(0) <= kMaxFrames, "the order of frames is unknown");
    check_grain(grain);
    check_residuals(residuals.data(), residuals.shape(0) * residuals.shape(1));
    if (residuals.shape(0) <= 1) return nb::bytes("", 0);
    std::vector<std::uint8_t> bytes;
    {
        nb::gil_scoped_release unlocked;
        bytes = kps::write_body(clip.layout, kps::schedule(static_cast<int>(residuals.shape(0)), next, order), residuals.data());
    }
    const auto head = static_cast<std::uint8_t>(grain - kps::kMinGrain);
    if (order == 0) bytes.insert(bytes.begin(), head);
    else bytes.insert(bytes.begin(), {static_cast<std::uint8_t>(head | 0x80), static_cast<std::uint8_t>(order)});
    return as_bytes(bytes);
}

Out<std::int32_t> frame_levels(int frames, bool next, int order) {
    require(frames >= 1 && frames <= kMaxFrames && order >= 0 && order < kps::kOrders, "the order of frames is unknown");
    std::vector<std::int32_t> levels(frames, kps::kPose);
    for (const kps::Frame& frame : kps::schedule(frames, next, order)) levels[frame.at] = frame.level;
    return adopt(std::move(levels), {static_cast<std::size_t>(frames)});
}

}  // namespace

void bind_kps(nb::module_& m) {
    nb::class_<kps::Clip>(m, "KpsClip", "Everything that decoding a clip needs besides the coded bytes.")
        .def_prop_ro("tracks", &kps::Clip::tracks)
        .def("decode_pose", checked(&decode_pose), "bytes"_a, "Return the numbers (tracks,) of a group's first frame.")
        .def("decode_body", checked(&decode_body), "frames"_a, "bytes"_a, "pose"_a, "next"_a.none(), "Return the numbers (frames, tracks) of a group.")
        .def("poses", checked(&poses), "numbers"_a, "Convert numbers (frames, tracks) to translations (frames, joints, 3) and rotations (frames, joints, 4).")
        .def("write_pose", checked(&write_pose), "grain"_a, "residuals"_a)
        .def("write_body", checked(&write_body), "order"_a, "grain"_a, "residuals"_a, "next"_a);
    m.def("kps_clip", checked(&make_clip), "parents"_a, "charts"_a, "moves"_a, "joint_positions"_a, "steps"_a, "centres"_a, "track_priors"_a, "level_priors"_a);
    nb::class_<kps::Figure>(m, "KpsFigure", "The points that must stay within the tolerance.");
    m.def("kps_figure", checked(&make_figure), "clip"_a, "parents"_a, "end_joints"_a, "end_offsets"_a, "mm_per_unit"_a);
    nb::class_<Frames>(m, "KpsFrames", "Original frames of a group.")
        .def("__init__", [](Frames* self, In<double, 3> positions, In<double, 3> world_rotations, In<double, 3> translations, In<double, 2> numbers) {
                new (self) Frames{positions, world_rotations, translations, numbers};
            }, "positions"_a, "world_rotations"_a, "translations"_a, "numbers"_a);
    m.def("kps_curvatures", checked(&curvatures), "clip"_a, "figure"_a, "frames"_a, "Return the squared effect of each track on the points (tracks,): mm^2, summed over points and frames.");
    m.def("kps_choose_pose", checked(&choose_pose), "clip"_a, "figure"_a, "frames"_a, "tolerance_mm"_a, "Return (is_within, order, grain, residuals (1, tracks), numbers (1, tracks)).");
    m.def("kps_choose_body", checked(&choose_body), "clip"_a, "figure"_a, "frames"_a, "pose"_a, "next"_a.none(), "tolerance_mm"_a, "order"_a, "tolerance_share"_a, "grain"_a,
          "Return (is_within, order, grain, residuals (frames, tracks), numbers (frames, tracks)).");
    m.def("kps_frame_levels", checked(&frame_levels), "frames"_a, "next"_a, "order"_a, "Return the level of each frame of a group (frames,).");
}
