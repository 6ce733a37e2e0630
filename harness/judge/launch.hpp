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

/// What a parameter's memory is to the kernel.
struct Role {
  std::string name;            ///< as in the Python source; "grad_x" for a gradient
  bool uninitialised = false;  ///< the kernel writes each cell before it reads it, if it does
  bool read_only = false;
};

/// How the arrays of a launch lie in memory.
enum class Layout : std::uint8_t {
  kDense,  ///< row by row, without gaps
  kView,   ///< as a view of a larger array: the first dimension innermost, with gaps between all elements; gradients
           ///< with wider gaps, so that their strides are their own
};

/// What an array lies between, and what the gaps of a view hold, so that reading or changing it shows.
enum class Beside : std::uint8_t {
  kPoison,  ///< floats that no sum keeps as they are, not even one with zero: signalling NaN; integers far from any
            ///< index
  kLikely,  ///< values such as the array's own: what no comparison leaves out, as it does NaN
};

/// An array argument as the launch found it and where it lies.
struct PlacedArray {
  /// Content and layout at launch; the launch's own argument where it lies as it is.
  std::shared_ptr<const ir::Argument> before;
  Role role;
  backends::BufferId buffer;
  bool placed = false;  ///< false: a by-value argument, which has no memory
  int gap = 0;          ///< in a view: behind each element, in elements; 0: dense
  /// The bytes in front of the array and, as many, behind it.
  std::vector<std::byte> front = {}, back = {};
};

/// How one launch is run.
struct Geometry {
  backends::ThreadOrder order = backends::ThreadOrder::kForward;
  std::int64_t block = 0;
  std::uint64_t shuffle_seed = 0;
  Layout layout = Layout::kDense;
  Beside beside = Beside::kPoison;
  std::vector<std::int64_t> sample = {};  ///< threads that are asked about, ascending; empty: all
};

/// A launch that its owner keeps for as long as the experiment, and does not change.
inline std::shared_ptr<const ir::Launch> lent(const ir::Launch& launch) {
  return {std::shared_ptr<const void>(), &launch};
}

class KernelLauncher {
 public:
  /// Lays the launch's arguments, whose types are the module's, and then `gradients` (rank 1 or more) out in the
  /// session's memory; `roles` has one entry for each. Uninitialised arrays are filled with the byte `poison` instead
  /// of their content. Fails when the memory is used up.
  static Result<KernelLauncher> place(backends::Session& session, const ir::Module& module,
                                      const backends::BuiltKernel& kernel, backends::Pass pass,
                                      backends::Precision precision, const std::shared_ptr<const ir::Launch>& launch,
                                      std::vector<ir::Argument> gradients, const std::vector<Role>& roles,
                                      std::byte poison, const Geometry& geometry = {});

  /// Runs this experiment's gradients in the memory of another's: the second of two launches that accumulate. Seeds are
  /// this one's own. `shared` flags the gradients to share.
  void share_gradients(const KernelLauncher& first, const std::vector<bool>& shared);

  const backends::LaunchRequest& request() const { return request_; }
  std::size_t parameters() const { return parameters_; }
  /// By entry parameter: the kernel's, then the gradients.
  const std::vector<PlacedArray>& arrays() const { return arrays_; }
  std::span<const std::byte> bytes(backends::Session& session, std::size_t array) const;
  /// Whether nothing beside the array, and nothing in its gaps, was written.
  bool guards_intact(backends::Session& session, std::size_t array) const;
  bool unmodified(backends::Session& session, std::size_t array) const;

 private:
  Result<backends::Argument> place_array(backends::Session& session, const ir::Module& module,
                                         std::shared_ptr<const ir::Argument> argument, const Role& role, int gap,
                                         Beside beside);

  backends::LaunchRequest request_;
  std::vector<PlacedArray> arrays_;
  std::size_t parameters_ = 0;
  std::size_t leading_ = 0;  ///< entry parameters in front of the kernel's: extents
};

/// One scalar of an array, by its number as read_scalars has them; `leaves` are those of the layout's element.
Computed read_scalar(const std::vector<ir::ScalarComponent>& leaves, const ir::Argument& layout,
                     std::span<const std::byte> bytes, std::size_t number);
/// The scalars of an array, element by element in row-major order, leaf by leaf.
std::vector<Computed> read_scalars(const ir::Module& module, const ir::Argument& layout,
                                   std::span<const std::byte> bytes);

}  // namespace assay::harness
