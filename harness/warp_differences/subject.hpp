// The kernels that Warp runs too, each with its inputs and what the oracle says of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/judge/input_set.hpp"
#include "harness/judge/inputs/input_space.hpp"
#include "harness/suite/run/run.hpp"
#include "ir/module.hpp"
#include "reference/cpu/reference.hpp"
#include "support/result.hpp"

namespace assay::warp {

/// Which launches of a subject Warp also differentiates.
enum class Gradients : std::uint8_t {
  kNone,
  kFirstLaunch,
  kFirstAndGrid,  ///< a further launch has its float inputs rounded to halves, so that ties and kinks are hit exactly
};

class Subject {
 public:
  /// Draws `launches` input sets, each again while the oracle finds a decision uncertain in the kernel's own types.
  /// Fails when the kernel could not be read, and when no such inputs were found.
  static Result<Subject> make(harness::KernelSource source, Gradients gradients, int launches);

  /// "loop/dynamic_product"; of an example "examples/nbody.accelerate".
  std::string name() const { return source_.family + "/" + source_.kernel; }
  const std::string& python() const { return source_.python; }
  const ir::Module& module() const { return *source_.module; }
  const ir::Function& kernel() const { return module().kernels[source_.kernel_index]; }
  const reference::Oracle& oracle() const { return *oracle_; }
  const ir::ParameterUses& uses() const { return uses_; }
  const std::vector<bool>& uninitialised() const { return uninitialised_; }
  const std::vector<harness::InputSet>& sets() const { return sets_; }
  bool has_gradient(std::size_t launch) const {
    return (gradients_ != Gradients::kNone && launch == 0) || is_on_grid(launch);
  }
  bool is_on_grid(std::size_t launch) const { return has_grid_ && launch + 1 == sets_.size(); }

  /// One evaluation of the oracle over a set, with its seeds.
  reference::Run run(const harness::InputSet& set) const;
  /// For the harness. Warp runs the kernel's own types only: the double lift is the module itself.
  harness::Subject in_harness() const;

 private:
  Subject() = default;
  void add_grid_set(const harness::InputSet& drawn, const harness::Preconditions& preconditions);

  harness::KernelSource source_;
  Gradients gradients_ = Gradients::kNone;
  std::unique_ptr<const reference::Oracle> oracle_;
  ir::ParameterUses uses_;
  std::vector<bool> uninitialised_;
  std::vector<harness::InputSet> sets_;
  bool has_grid_ = false;  ///< the last set is the one on the grid
};

/// The kernels of all curated cases, of the files in examples/ below `root`, and `count` random ones, the families
/// taking turns. An unreadable kernel is among them and says why.
Result<std::vector<harness::KernelSource>> curated_sources();
Result<std::vector<harness::KernelSource>> example_sources(const std::filesystem::path& root);
Result<std::vector<harness::KernelSource>> random_sources(int count);

/// Subjects of all of these, and one line for each kernel that none could be made of.
struct Subjects {
  std::vector<Subject> all;
  std::vector<std::string> left_out;
};
/// Curated cases, examples and 200 random kernels; gradients of the first two and of 100 random ones.
Result<Subjects> all_subjects(const std::filesystem::path& root);

}  // namespace assay::warp
