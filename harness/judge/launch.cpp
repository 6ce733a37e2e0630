#include "harness/judge/launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace assay::harness {
namespace {

/// Bytes on either side of an array, at least; room for two elements, in multiples of this.
constexpr std::size_t kGuard = 64;
/// Fills the space between elements.
constexpr std::byte kGuardByte{0xA5};
/// Gaps of views, in elements.
constexpr int kPrimalGap = 1, kGradientGap = 2;

backends::KernelArgument by_value(const ir::Argument& argument) {
  backends::KernelArgument result;
  result.bytes = argument.bytes;
  return result;
}

/// An array of the same layout, filled with this byte.
std::shared_ptr<const ir::Argument> filled(const ir::Argument& layout, std::byte byte) {
  return std::make_shared<const ir::Argument>(ir::Argument{.type = layout.type,
                                                           .shape = layout.shape,
                                                           .strides = layout.strides,
                                                           .bytes = std::vector(layout.bytes.size(), byte)});
}

template <class Bits>
void write_bits(std::byte* at, Bits bits) {
  std::memcpy(at, &bits, sizeof bits);
}

/// A value that any computation changes.
void write_poison(ir::Scalar scalar, std::byte* at) {
  switch (scalar) {
    case ir::Scalar::kF16: return write_bits(at, std::uint16_t{0x7D01});
    case ir::Scalar::kBF16: return write_bits(at, std::uint16_t{0x7FA1});
    case ir::Scalar::kF32: return write_bits(at, std::uint32_t{0x7FA5'A5A5});
    case ir::Scalar::kF64: return write_bits(at, std::uint64_t{0x7FF4'A5A5'A5A5'A5A5});
    case ir::Scalar::kBool: return write_bits(at, std::uint8_t{1});
    default: std::fill_n(at, ir::row(scalar).bytes, kGuardByte);
  }
}

/// Makes elements for the padding of a dense array.
class Neighbors {
 public:
  Neighbors(const ir::Module& module, const ir::Argument& dense, PaddingContent padding)
      : dense_(dense),
        padding_(padding),
        count_(ir::element_count(dense)),
        size_(static_cast<std::size_t>(dense.strides.back())),
        components_(ir::scalar_components(module, dense.type.element())),
        poison_(size_, kGuardByte) {
    for (const ir::ScalarComponent& component : components_)
      write_poison(component.scalar, poison_.data() + component.offset);
  }

  std::size_t size() const { return size_; }

  /// Writes the element with this number; for kPlausibleValues, the mean of two of the array's own.
  void write(std::size_t number, std::byte* at) const {
    std::memcpy(at, poison_.data(), size_);
    if (padding_ == PaddingContent::kPoison || count_ == 0) return;
    for (const ir::ScalarComponent& component : components_) {
      const std::byte *one = own(number) + component.offset, *other = own(number + 1) + component.offset;
      std::copy_n(one, ir::row(component.scalar).bytes, at + component.offset);
      if (!ir::is_float(component.scalar)) continue;
      const double mean = 0.5 * ir::read_float(component.scalar, one) + 0.5 * ir::read_float(component.scalar, other);
      if (std::isfinite(mean)) ir::write_float(component.scalar, at + component.offset, mean);
    }
  }

 private:
  const std::byte* own(std::size_t number) const {
    const auto element = static_cast<std::int64_t>(number) % count_;
    return dense_.bytes.data() + ir::element_offset(dense_, element);
  }

  const ir::Argument& dense_;
  PaddingContent padding_;
  std::int64_t count_;
  std::size_t size_;
  std::vector<ir::ScalarComponent> components_;
  std::vector<std::byte> poison_;  ///< one poisoned element
};

/// A dense array as a view of a larger one: its first dimension is innermost, each element is followed by a gap of
/// `gap_elements` elements, and each line by one more.
ir::Argument as_view(const ir::Argument& dense, int gap, const Neighbors& neighbors) {
  const std::int64_t count = ir::element_count(dense);
  if (count == 0) return dense;
  const std::int64_t element = dense.strides.back();
  ir::Argument view{.type = dense.type, .shape = dense.shape, .strides = dense.strides, .bytes = {}};
  std::int64_t stride = (1 + gap) * element;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    view.strides[d] = stride;
    stride = stride * view.shape[d] + element;
  }
  view.bytes.resize(ir::element_offset(view, count - 1) + static_cast<std::size_t>(element));
  for (std::size_t n = 0; n * neighbors.size() < view.bytes.size(); ++n)
    neighbors.write(n, view.bytes.data() + n * neighbors.size());
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

ComputedScalar read_component(const ir::ScalarComponent& component, const std::byte* element) {
  if (ir::is_float(component.scalar)) return {.value = ir::read_float(component.scalar, element + component.offset)};
  return {.integer = ir::read_integer(component.scalar, element + component.offset)};
}

}  // namespace

Result<backends::KernelArgument> KernelLauncher::place_array(backends::DeviceSession& session, const ir::Module& module,
                                                             std::shared_ptr<const ir::Argument> argument,
                                                             const ArrayRole& role, int gap, PaddingContent padding) {
  const Neighbors neighbors(module, *argument, padding);
  const std::size_t element = neighbors.size();
  const std::size_t guard = (2 * element + kGuard - 1) / kGuard * kGuard;
  PlacedArray array{.initial_content = {}, .role = role, .buffer = {}, .is_in_memory = true, .gap_elements = gap};
  array.front_guard_band.assign(guard, kGuardByte);
  array.back_guard_band.assign(guard, kGuardByte);
  for (std::size_t n = 0; (n + 1) * element <= guard; ++n) {
    neighbors.write(n, array.back_guard_band.data() + n * element);
    neighbors.write(n + 1, array.front_guard_band.data() + guard - (n + 1) * element);
  }
  if (gap > 0) argument = std::make_shared<const ir::Argument>(as_view(*argument, gap, neighbors));
  array.initial_content = argument;
  const std::vector<std::byte>& content = argument->bytes;
  Result<backends::BufferId> buffer = session.allocate(content.size() + 2 * guard);
  if (!buffer.ok()) return buffer.error();
  array.buffer = buffer.value();
  std::byte* memory = session.bytes(buffer.value()).data();
  const auto put = [&memory](const std::vector<std::byte>& piece) {
    if (!piece.empty()) std::memcpy(memory, piece.data(), piece.size());
    memory += piece.size();
  };
  put(array.front_guard_band);
  put(content);
  put(array.back_guard_band);
  backends::KernelArgument placed = backends::KernelArgument::array(
      backends::BufferAddress{buffer.value(), guard}, argument->shape, argument->strides,
      {.name = role.name, .bytes = content.size(), .read_only = role.read_only, .uninitialized = role.is_write_only});
  arrays_.push_back(std::move(array));
  return placed;
}

Result<void> KernelLauncher::request_unrounded_values(backends::DeviceSession& session, const ir::Module& module,
                                                      backends::KernelArgument& placed) {
  PlacedArray& array = arrays_.back();
  if (array.role.read_only || array.gap_elements > 0) return {};
  const auto components = ir::scalar_components(module, array.initial_content->type.element());
  const ir::Scalar scalar = components.front().scalar;
  const bool is_uniform =
      std::ranges::all_of(components, [&](const ir::ScalarComponent& each) { return each.scalar == scalar; });
  if (!is_uniform || !ir::is_float(scalar)) return {};
  const std::size_t count = array.initial_content->bytes.size() / static_cast<std::size_t>(ir::row(scalar).bytes);
  const Result<backends::BufferId> buffer = session.allocate(backends::unrounded_array_bytes(count));
  if (!buffer.ok()) return buffer.error();
  std::ranges::fill(session.bytes(*buffer), std::byte{0xff});  // NaN: not computed
  array.unrounded_buffer = *buffer;
  placed.pointers.front().region.unrounded_values = backends::BufferAddress{.buffer = *buffer};
  return {};
}

std::span<const std::byte> KernelLauncher::unrounded_bytes(backends::DeviceSession& session, std::size_t array) const {
  const std::optional<backends::BufferId>& buffer = arrays_[array].unrounded_buffer;
  return buffer ? std::span<const std::byte>(session.bytes(*buffer)) : std::span<const std::byte>();
}

Result<KernelLauncher> KernelLauncher::place(backends::DeviceSession& session, const ir::Module& module,
                                             const backends::BuiltKernel& kernel, backends::Pass pass,
                                             backends::Precision precision,
                                             const std::shared_ptr<const ir::Launch>& launch,
                                             std::vector<ir::Argument> gradients, const std::vector<ArrayRole>& roles,
                                             std::byte poison, const LaunchSettings& settings) {
  KernelLauncher launcher;
  backends::LaunchRequest& request = launcher.request_;
  request.kernel = &kernel;
  request.pass = pass;
  request.precision = precision;
  request.threads = launch->threads();
  request.threads_per_block = settings.threads_per_block;
  request.order = settings.order;
  request.shuffle_seed = settings.shuffle_seed;
  request.instructions_with_errors = settings.instructions_with_errors;
  request.checked_threads = settings.checked_threads;
  for (std::size_t d = 1; d < launch->extents.size(); ++d) {
    request.arguments.push_back(backends::KernelArgument::value(launch->extents[d]));
  }
  const bool is_view = settings.layout == ArrayLayout::kView;
  launcher.launch_extent_parameter_count_ = request.arguments.size();
  launcher.parameter_count_ = launch->arguments.size();
  for (std::size_t p = 0; p < launch->arguments.size(); ++p) {
    const std::shared_ptr<const ir::Argument> argument(launch, &launch->arguments[p]);
    if (!argument->type.is_array()) {
      request.arguments.push_back(by_value(*argument));
      launcher.arrays_.push_back({.initial_content = argument, .role = roles[p], .buffer = {}, .is_in_memory = false});
      continue;
    }
    Result<backends::KernelArgument> placed =
        launcher.place_array(session, module, roles[p].is_write_only ? filled(*argument, poison) : argument, roles[p],
                             is_view ? kPrimalGap : 0, settings.padding);
    if (!placed.ok()) return placed.error();
    if (settings.requests_unrounded_values) {
      if (const auto done = launcher.request_unrounded_values(session, module, *placed); !done.ok())
        return done.error();
    }
    request.arguments.push_back(placed.take());
  }
  for (std::size_t g = 0; g < gradients.size(); ++g) {
    Result<backends::KernelArgument> placed =
        launcher.place_array(session, module, std::make_shared<const ir::Argument>(std::move(gradients[g])),
                             roles[launch->arguments.size() + g], is_view ? kGradientGap : 0, settings.padding);
    if (!placed.ok()) return placed.error();
    if (settings.requests_unrounded_values) {
      if (const auto done = launcher.request_unrounded_values(session, module, *placed); !done.ok())
        return done.error();
    }
    request.arguments.push_back(placed.take());
  }
  return launcher;
}

void KernelLauncher::share_gradients(const KernelLauncher& first, const std::vector<bool>& shared) {
  for (std::size_t g = 0; g < shared.size(); ++g) {
    if (!shared[g]) continue;
    const std::size_t array = parameter_count_ + g;
    request_.arguments[launch_extent_parameter_count_ + array] =
        first.request_.arguments[launch_extent_parameter_count_ + array];
    arrays_[array].buffer = first.arrays_[array].buffer;
    arrays_[array].front_guard_band = first.arrays_[array].front_guard_band;
    arrays_[array].back_guard_band = first.arrays_[array].back_guard_band;
  }
}

std::span<const std::byte> KernelLauncher::bytes(backends::DeviceSession& session, std::size_t array) const {
  const PlacedArray& placed = arrays_[array];
  return session.bytes(placed.buffer).subspan(placed.front_guard_band.size(), placed.initial_content->bytes.size());
}

bool KernelLauncher::guards_intact(backends::DeviceSession& session, std::size_t array) const {
  const PlacedArray& placed = arrays_[array];
  const std::span<const std::byte> memory = session.bytes(placed.buffer);
  if (placed.gap_elements > 0) {
    const std::vector<bool> own = bytes_of_elements(*placed.initial_content, placed.gap_elements);
    const std::span<const std::byte> now = bytes(session, array);
    for (std::size_t k = 0; k < own.size(); ++k)
      if (!own[k] && now[k] != placed.initial_content->bytes[k]) return false;
  }
  return std::memcmp(memory.data(), placed.front_guard_band.data(), placed.front_guard_band.size()) == 0 &&
         std::memcmp(memory.last(placed.back_guard_band.size()).data(), placed.back_guard_band.data(),
                     placed.back_guard_band.size()) == 0;
}

bool KernelLauncher::is_unmodified(backends::DeviceSession& session, std::size_t array) const {
  const std::span<const std::byte> now = bytes(session, array);
  const std::vector<std::byte>& before = arrays_[array].initial_content->bytes;
  return before.empty() || std::memcmp(now.data(), before.data(), before.size()) == 0;
}

ComputedScalar read_scalar(const std::vector<ir::ScalarComponent>& components, const ir::Argument& layout,
                           std::span<const std::byte> bytes, std::size_t number) {
  const auto element = static_cast<std::int64_t>(number / components.size());
  return read_component(components[number % components.size()], bytes.data() + ir::element_offset(layout, element));
}

std::vector<ComputedScalar> read_scalars(const ir::Module& module, const ir::Argument& layout,
                                         std::span<const std::byte> bytes) {
  const std::vector<ir::ScalarComponent> components = ir::scalar_components(module, layout.type.element());
  const std::int64_t count = ir::element_count(layout);
  std::vector<ComputedScalar> scalars;
  scalars.reserve(static_cast<std::size_t>(count) * components.size());
  for (std::int64_t element = 0; element < count; ++element) {
    const std::byte* at = bytes.data() + ir::element_offset(layout, element);
    for (const ir::ScalarComponent& component : components)
      scalars.push_back(read_component(component, at));
  }
  return scalars;
}

}  // namespace assay::harness
