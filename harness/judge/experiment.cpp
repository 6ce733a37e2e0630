#include "harness/judge/experiment.hpp"

#include <algorithm>
#include <cstring>

namespace assay::harness {
namespace {

constexpr std::size_t kGuard = 64;
constexpr std::byte kGuardByte{0xA5};
/// Of views, in elements.
constexpr int kPrimalGap = 1, kGradientGap = 2;

backends::Argument by_value(const ir::Argument& argument) {
  backends::Argument result;
  result.bytes = argument.bytes;
  return result;
}

/// A dense array as a view of a larger one: its first dimension is innermost, each element has a gap of so many
/// elements behind it, and each line one more. Gaps hold guard bytes.
ir::Argument as_view(const ir::Argument& dense, int gap) {
  const std::int64_t count = ir::element_count(dense);
  if (count == 0) return dense;
  const std::int64_t element = dense.strides.back();
  ir::Argument view{.type = dense.type, .shape = dense.shape, .strides = dense.strides, .bytes = {}};
  std::int64_t stride = (1 + gap) * element;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    view.strides[d] = stride;
    stride = stride * view.shape[d] + element;
  }
  view.bytes.assign(ir::element_offset(view, count - 1) + static_cast<std::size_t>(element), kGuardByte);
  for (std::int64_t e = 0; e < count; ++e) {
    std::memcpy(view.bytes.data() + ir::element_offset(view, e), dense.bytes.data() + ir::element_offset(dense, e),
                static_cast<std::size_t>(element));
  }
  return view;
}

/// Which bytes of a view made by as_view belong to its elements.
std::vector<bool> bytes_of_elements(const ir::Argument& view, int gap) {
  std::vector<bool> own(view.bytes.size());
  const auto element = static_cast<std::size_t>(view.strides.front() / (1 + gap));
  for (std::int64_t e = 0; e < ir::element_count(view); ++e) {
    const auto at = own.begin() + static_cast<std::ptrdiff_t>(ir::element_offset(view, e));
    std::fill_n(at, element, true);
  }
  return own;
}

Computed read_leaf(const ir::Leaf& leaf, const std::byte* element) {
  if (ir::is_float(leaf.scalar)) return {.value = ir::read_float(leaf.scalar, element + leaf.offset)};
  return {.integer = ir::read_integer(leaf.scalar, element + leaf.offset)};
}

}  // namespace

Result<backends::Argument> Experiment::place_array(backends::Session& session, ir::Argument argument, const Role& role,
                                                   int gap) {
  if (gap > 0) argument = as_view(argument, gap);
  const std::size_t size = argument.bytes.size();
  Result<backends::BufferId> buffer = session.allocate(size + 2 * kGuard);
  if (!buffer.ok()) return buffer.error();
  const std::span<std::byte> memory = session.bytes(buffer.value());
  std::fill(memory.begin(), memory.end(), kGuardByte);
  std::copy(argument.bytes.begin(), argument.bytes.end(), memory.begin() + kGuard);
  backends::Argument placed = backends::Argument::array(
      backends::BufferAddress{buffer.value(), kGuard}, argument.shape, argument.strides,
      {.name = role.name, .bytes = size, .read_only = role.read_only, .uninitialised = role.uninitialised});
  arrays_.push_back(
      {.before = std::move(argument), .role = role, .buffer = buffer.value(), .placed = true, .gap = gap});
  return placed;
}

Result<Experiment> Experiment::place(backends::Session& session, const backends::BuiltKernel& kernel,
                                     backends::Pass pass, backends::Lane lane, const ir::Launch& launch,
                                     const std::vector<ir::Argument>& gradients, const std::vector<Role>& roles,
                                     std::byte poison, Geometry geometry) {
  Experiment experiment;
  backends::LaunchRequest& request = experiment.request_;
  request.kernel = &kernel;
  request.pass = pass;
  request.lane = lane;
  request.threads = launch.threads();
  request.block = geometry.block;
  request.order = geometry.order;
  request.shuffle_seed = geometry.shuffle_seed;
  for (std::size_t d = 1; d < launch.extents.size(); ++d) {
    request.arguments.push_back(backends::Argument::value(launch.extents[d]));
  }
  const bool is_view = geometry.layout == Layout::kView;
  experiment.leading_ = request.arguments.size();
  experiment.parameters_ = launch.arguments.size();
  for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
    ir::Argument argument = launch.arguments[p];
    if (!argument.type.is_array()) {
      request.arguments.push_back(by_value(argument));
      experiment.arrays_.push_back({.before = std::move(argument), .role = roles[p], .buffer = {}, .placed = false});
      continue;
    }
    if (roles[p].uninitialised) std::fill(argument.bytes.begin(), argument.bytes.end(), poison);
    Result<backends::Argument> placed =
        experiment.place_array(session, std::move(argument), roles[p], is_view ? kPrimalGap : 0);
    if (!placed.ok()) return placed.error();
    request.arguments.push_back(placed.take());
  }
  for (std::size_t g = 0; g < gradients.size(); ++g) {
    Result<backends::Argument> placed =
        experiment.place_array(session, gradients[g], roles[launch.arguments.size() + g], is_view ? kGradientGap : 0);
    if (!placed.ok()) return placed.error();
    request.arguments.push_back(placed.take());
  }
  return experiment;
}

void Experiment::share_gradients(const Experiment& first, const std::vector<bool>& shared) {
  for (std::size_t g = 0; g < shared.size(); ++g) {
    if (!shared[g]) continue;
    const std::size_t array = parameters_ + g;
    request_.arguments[leading_ + array] = first.request_.arguments[leading_ + array];
    arrays_[array].buffer = first.arrays_[array].buffer;
  }
}

std::span<const std::byte> Experiment::bytes(backends::Session& session, std::size_t array) const {
  return session.bytes(arrays_[array].buffer).subspan(kGuard, arrays_[array].before.bytes.size());
}

bool Experiment::guards_intact(backends::Session& session, std::size_t array) const {
  const std::span<const std::byte> memory = session.bytes(arrays_[array].buffer);
  const std::size_t end = kGuard + arrays_[array].before.bytes.size();
  const auto is_guard = [](std::byte byte) { return byte == kGuardByte; };
  if (arrays_[array].gap > 0) {
    const std::vector<bool> own = bytes_of_elements(arrays_[array].before, arrays_[array].gap);
    for (std::size_t k = 0; k < own.size(); ++k)
      if (!own[k] && !is_guard(memory[kGuard + k])) return false;
  }
  return std::all_of(memory.begin(), memory.begin() + kGuard, is_guard) &&
         std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(end),
                     memory.begin() + static_cast<std::ptrdiff_t>(end + kGuard), is_guard);
}

bool Experiment::unmodified(backends::Session& session, std::size_t array) const {
  const std::span<const std::byte> now = bytes(session, array);
  const std::vector<std::byte>& before = arrays_[array].before.bytes;
  return before.empty() || std::memcmp(now.data(), before.data(), before.size()) == 0;
}

Computed read_scalar(const std::vector<ir::Leaf>& leaves, const ir::Argument& layout, std::span<const std::byte> bytes,
                     std::size_t number) {
  const auto element = static_cast<std::int64_t>(number / leaves.size());
  return read_leaf(leaves[number % leaves.size()], bytes.data() + ir::element_offset(layout, element));
}

std::vector<Computed> read_scalars(const ir::Module& module, const ir::Argument& layout,
                                   std::span<const std::byte> bytes) {
  const std::vector<ir::Leaf> leaves = ir::leaves_of(module, layout.type.element());
  const std::int64_t count = ir::element_count(layout);
  std::vector<Computed> scalars;
  scalars.reserve(static_cast<std::size_t>(count) * leaves.size());
  for (std::int64_t element = 0; element < count; ++element) {
    const std::byte* at = bytes.data() + ir::element_offset(layout, element);
    for (const ir::Leaf& leaf : leaves)
      scalars.push_back(read_leaf(leaf, at));
  }
  return scalars;
}

}  // namespace assay::harness
