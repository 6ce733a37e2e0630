// One launch of generated code: its arguments in the session's memory, each array between guard bands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/device/backend.hpp"
#include "harness/judge/compare/comparator.hpp"
#include "ir/launch.hpp"

namespace assay::harness {

/// How the kernel uses a parameter's memory.
struct ArrayRole {
  std::string name;  ///< name as in the Python source; "grad_x" for a gradient
  /// Whether the kernel never reads an element before it writes the element, so that the array starts as poison.
  bool is_write_only = false;
  bool read_only = false;  ///< whether the kernel never writes the array, so that it must stay unmodified
};

/// Memory layout of the arrays of a launch.
enum class ArrayLayout : std::uint8_t {
  kDense,  ///< row by row, without gaps
  /// As a view of a larger array: the first dimension innermost, with gaps between all elements. Gradients have wider
  /// gaps, so that their strides differ.
  kView,
};

/// Content of the guard bands around an array and of the gaps in a view, chosen so that accesses are detected.
enum class PaddingContent : std::uint8_t {
  kPoison,           ///< floats: signaling NaN, which any addition changes, even of zero; integers: far from any index
  kPlausibleValues,  ///< values similar to the array's own, because comparisons may skip NaN
};

/// An array argument before the launch, and its location in memory.
struct PlacedArray {
  /// Content and layout at launch; shared with the launch's argument if that is placed unchanged.
  std::shared_ptr<const ir::Argument> initial_content;
  ArrayRole role;             ///< how the kernel uses the array
  backends::BufferId buffer;  ///< the session's memory for the array and its guard bands
  bool is_in_memory = false;  ///< whether the argument is in memory; false for an argument passed by value
  int gap_elements = 0;       ///< gap after each element of a view, in elements; 0: dense
  /// The guard bands before and after the array, of equal size.
  std::vector<std::byte> front_guard_band = {}, back_guard_band = {};
  /// Memory for the unrounded values of the array's floats; nullopt: not requested, or the array has other scalars.
  std::optional<backends::BufferId> unrounded_buffer = std::nullopt;
};

/// How one launch is run.
struct LaunchSettings {
  backends::ThreadOrder order = backends::ThreadOrder::kForward;  ///< order in which the device runs the threads
  std::int64_t threads_per_block = 0;                             ///< threads per block; 0: the device's default
  std::uint64_t shuffle_seed = 0;                                 ///< seed of a shuffled thread order
  ArrayLayout layout = ArrayLayout::kDense;                       ///< memory layout of the arrays
  PaddingContent padding = PaddingContent::kPoison;               ///< content of guard bands and gaps
  /// Whether the device writes unrounded values of the arrays that the kernel changes.
  bool requests_unrounded_values = false;
  std::uint32_t instructions_with_errors = 0;      ///< as in LaunchRequest
  std::vector<std::int64_t> checked_threads = {};  ///< threads whose results are needed, ascending; empty: all
};

/// Wraps a launch without copying it. The launch must outlive the launcher and not change.
inline std::shared_ptr<const ir::Launch> borrow_launch(const ir::Launch& launch) {
  return {std::shared_ptr<const void>(), &launch};
}

/// One launch, with its arguments in the session's memory.
class KernelLauncher {
 public:
  /// Places the launch's arguments, whose types are the module's, and then `gradients` (rank 1 or more) in the
  /// session's memory; `roles` has one entry for each. Uninitialized arrays are filled with the byte `poison` instead
  /// of their content. Fails if the memory is exhausted.
  static Result<KernelLauncher> place(backends::DeviceSession& session, const ir::Module& module,
                                      const backends::BuiltKernel& kernel, backends::Pass pass,
                                      backends::Precision precision, const std::shared_ptr<const ir::Launch>& launch,
                                      std::vector<ir::Argument> gradients, const std::vector<ArrayRole>& roles,
                                      std::byte poison, const LaunchSettings& settings = {});

  /// Makes this launch accumulate into the gradient buffers of an earlier one. `shared` selects the buffers to share;
  /// buffers that hold cotangents stay separate.
  void share_gradients(const KernelLauncher& first, const std::vector<bool>& shared);

  const backends::LaunchRequest& request() const { return request_; }
  std::size_t parameters() const { return parameter_count_; }
  /// By entry parameter: the kernel's, then the gradients.
  const std::vector<PlacedArray>& arrays() const { return arrays_; }
  std::span<const std::byte> bytes(backends::DeviceSession& session, std::size_t array) const;
  /// What the device wrote about the array without rounding; empty if that was not requested.
  std::span<const std::byte> unrounded_bytes(backends::DeviceSession& session, std::size_t array) const;
  /// Whether the guard bands and gaps of the array are unmodified.
  bool guards_intact(backends::DeviceSession& session, std::size_t array) const;
  bool is_unmodified(backends::DeviceSession& session, std::size_t array) const;

 private:
  /// Places one argument in the session's memory, between guard bands.
  Result<backends::KernelArgument> place_array(backends::DeviceSession& session, const ir::Module& module,
                                               std::shared_ptr<const ir::Argument> argument, const ArrayRole& role,
                                               int gap, PaddingContent padding);
  /// Reserves memory for the unrounded values of the array that was placed last, if all its scalars are floats of one
  /// type.
  Result<void> request_unrounded_values(backends::DeviceSession& session, const ir::Module& module,
                                        backends::KernelArgument& placed);

  backends::LaunchRequest request_;  ///< the launch for the session
  std::vector<PlacedArray> arrays_;  ///< one for each parameter of the kernel, then one for each gradient
  std::size_t parameter_count_ = 0;  ///< number of the kernel's parameters, without gradients
  /// Number of entry parameters before the kernel's: the launch extents.
  std::size_t launch_extent_parameter_count_ = 0;
};

/// One scalar of an array, by its position in read_scalars; `components` are the scalar components of one element.
ComputedScalar read_scalar(const std::vector<ir::ScalarComponent>& components, const ir::Argument& layout,
                           std::span<const std::byte> bytes, std::size_t number);
/// The scalars of an array, element by element in row-major order, component by component.
std::vector<ComputedScalar> read_scalars(const ir::Module& module, const ir::Argument& layout,
                                         std::span<const std::byte> bytes);

}  // namespace assay::harness
