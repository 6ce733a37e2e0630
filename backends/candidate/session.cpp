#include "backends/candidate/session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "backends/candidate/formula.hpp"
#include "backends/candidate/gradients.hpp"
#include "backends/candidate/host/kernel_names.hpp"
#include "backends/candidate/host/simulated_gpu.hpp"
#include "backends/candidate/specification.hpp"
#include "backends/ptx/array_view.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::candidate {

using namespace backends;

/// A kernel of the candidate, and how it is launched.
struct CandidateKernel {
  const LaunchContract& contract;
  Pass pass;
  std::shared_ptr<const ptx::Kernel> kernel;
  std::string architecture;  ///< "compute_80"
  CompiledLaunch compiled;

  [[nodiscard]] const ptx::Function& function() const { return *kernel->entry_function; }
  /// The name in the source, for messages.
  [[nodiscard]] std::string name() const { return plain_name(function().name); }
  /// The dynamic shared memory of a block that the compiler states; nullopt: the contract states it.
  [[nodiscard]] std::optional<std::int64_t> shared_bytes() const {
    const auto found = compiled.shared_bytes.find(architecture);
    if (found == compiled.shared_bytes.end()) return std::nullopt;
    return found->second;
  }
  /// The scratch memory of a block in global memory.
  [[nodiscard]] std::uint64_t scratch_bytes() const {
    const auto found = compiled.scratch_bytes.find(architecture);
    return found == compiled.scratch_bytes.end() ? 0 : found->second;
  }
  /// The limit of a block's shared memory. Triton sets the attribute that allows more than the default.
  [[nodiscard]] std::uint64_t shared_bytes_limit() const {
    constexpr std::string_view kPrefix = "compute_";
    if (!shared_bytes() || !architecture.starts_with(kPrefix)) return kDefaultMaxSharedBytes;
    return most_shared_bytes(fmt::format("sm_{}", architecture.substr(kPrefix.size())));
  }
};

namespace {

constexpr std::int64_t kMostThreadsOfBlock = 1024;
/// Limits of the grid along x, y and z.
constexpr std::array<std::int64_t, 3> kMostBlocks{std::numeric_limits<std::int32_t>::max(), 65535, 65535};
constexpr std::int64_t kDefaultBlock = 256;

/// The machine, and the session's memory of an array.
struct PtxMemory {
  ptx::Machine& machine;
  std::function<std::span<std::byte>(const ptx::ArrayView&)> bytes;
};

}  // namespace

/// One launch of the specification: its arrays in the machine, and how the candidate's kernels get them.
class CandidateLaunch {
 public:
  CandidateLaunch(const Specification& specification, SpecificationArguments arguments, const LaunchRequest& launch,
                  PtxMemory memory)
      : specification_(specification), arguments_(std::move(arguments)), launch_(launch), memory_(std::move(memory)) {}

  /// Makes the arrays known to the machine.
  Result<void> place() {
    for (std::size_t p = 0; p < specification_.parameters.size(); ++p) {
      const SpecificationArguments::Argument& argument = arguments_.at(p);
      Placed& placed = placed_.emplace_back();
      placed.value = argument.value;
      placed.view = argument.view;
      if (!placed.view) continue;
      if (auto done = place_array(placed, specification_.parameters[p].bytes); !done.ok()) return done;
    }
    return {};
  }

  /// Whether unrounded values of an array are needed.
  bool needs_unrounded_values() const {
    return std::ranges::any_of(placed_, [](const Placed& placed) {
      return placed.view && placed.view->region.unrounded_values && !placed.is_copy;
    });
  }
  /// Gives an array new memory that nothing has written. It is added to the array by add_new_gradients() if it is a
  /// gradient, and otherwise lost.
  Result<void> renew(std::size_t p) {
    Placed& placed = placed_[p];
    const std::size_t size = std::max<std::size_t>(memory_.machine.bytes(placed.allocation).size(), 1);
    const Result<ptx::AllocationId> made =
        memory_.machine.allocate(specification_.parameters[p].name, size, {.uninitialized = true});
    if (!made.ok()) return made.error();
    constexpr std::byte kNaN{0xff};
    std::ranges::fill(memory_.machine.bytes(*made), kNaN);
    placed.original_allocation = std::exchange(placed.allocation, *made);
    return {};
  }
  /// Whether kernels may write an array from now on.
  void set_writable(std::size_t p, bool is_writable) {
    Placed& placed = placed_[p];
    if (!placed.view) return;
    const bool is_uninitialized = placed.original_allocation || placed.view->region.uninitialized;
    memory_.machine.set_flags(placed.allocation, {.read_only = !is_writable, .uninitialized = is_uninitialized});
  }
  /// Adds gradients with new memory to the initial gradients. `place_of` returns the memory at an address.
  template <class PlaceOf>
  Result<void> add_new_gradients(PlaceOf place_of) const {
    for (std::size_t p = 0; p < placed_.size(); ++p) {
      const Placed& placed = placed_[p];
      const SpecificationParameter& parameter = specification_.parameters[p];
      if (!placed.original_allocation || !parameter.primal_index) continue;
      const std::span<std::byte> sum = memory_.machine.bytes(*placed.original_allocation);
      const std::size_t count = sum.size() / parameter.bytes;
      if (placed.view->region.unrounded_values && !placed.is_copy)
        add_to_unrounded(place_of(*placed.view->region.unrounded_values), parameter.type, sum, count);
      if (auto added = add_gradient(parameter.type, sum, memory_.machine.bytes(placed.allocation), count); !added.ok())
        return added;
    }
    return {};
  }

  /// Writes the unrounded values of all arrays that need them, after a launch; `place_of` returns the memory at an
  /// address.
  template <class PlaceOf>
  void write_unrounded_values(const ptx::UnroundedLosses& losses, PlaceOf place_of) const {
    for (std::size_t p = 0; p < placed_.size(); ++p) {
      const Placed& placed = placed_[p];
      if (!placed.view || !placed.view->region.unrounded_values || placed.is_copy) continue;
      const std::optional<ptx::Type> type = float_type(specification_.parameters[p].type);
      if (!type) continue;
      const std::size_t count = memory_.machine.bytes(placed.allocation).size() / ptx::bytes_of(*type);
      ptx::write_unrounded_array(
          losses, memory_.machine.unrounded_values(memory_.machine.address(placed.allocation), *type, count),
          place_of(*placed.view->region.unrounded_values));
    }
  }

  /// Copies the elements of arrays with gaps back.
  void copy_back() const {
    for (const Placed& placed : placed_)
      if (placed.is_copy) copy(placed, false);
  }

  Result<ptx::LaunchGeometry> geometry(const CandidateKernel& kernel) const {
    const LaunchContract& contract = kernel.contract;
    ptx::LaunchGeometry result;
    const std::int64_t default_block =
        kernel.compiled.block_threads == 0 ? kDefaultBlock : kernel.compiled.block_threads;
    const Result<std::array<std::int64_t, 3>> block =
        extents(contract, contract.block_formulas, {default_block, 1, 1}, 1,
                {kMostThreadsOfBlock, kMostThreadsOfBlock, 64}, "block");
    if (!block.ok()) return block.error();
    const std::int64_t threads = (*block)[0] * (*block)[1] * (*block)[2];
    if (threads > kMostThreadsOfBlock)
      return Error{fmt::format("a block has {} threads, but at most {} are allowed", threads, kMostThreadsOfBlock)};
    const std::int64_t blocks = (launch_.threads + threads - 1) / threads;
    // If nothing is to be computed, formulas such as ceil(n / 256) are 0, and host code would usually start no kernel.
    const Result<std::array<std::int64_t, 3>> grid =
        extents(contract, contract.grid_formulas, {blocks, 1, 1}, 0, kMostBlocks, "grid");
    if (!grid.ok()) return grid.error();
    const std::optional<std::int64_t> compiled_shared = kernel.shared_bytes();
    const Result<std::int64_t> shared = compiled_shared ? Result<std::int64_t>(*compiled_shared)
                                                        : evaluate(contract.shared_bytes_formula, names(contract));
    if (!shared.ok()) return shared.error();
    const auto dimensions = [](const std::array<std::int64_t, 3>& e) {
      return ptx::Dim3{static_cast<std::uint32_t>(e[0]), static_cast<std::uint32_t>(e[1]),
                       static_cast<std::uint32_t>(e[2])};
    };
    if (*shared < 0 || static_cast<std::uint64_t>(*shared) > kernel.shared_bytes_limit())
      return Error{fmt::format("a block requests {} bytes of dynamic shared memory, but at most {} are allowed",
                               *shared, kernel.shared_bytes_limit())};
    return ptx::LaunchGeometry{.grid = dimensions(*grid),
                               .block = dimensions(*block),
                               .dynamic_shared_bytes = static_cast<std::uint32_t>(*shared)};
  }

  /// Whether the value of a formula such as "1e-5" is rounded to the type of a parameter.
  bool may_round_arguments(const CandidateKernel& kernel) const {
    const std::vector<std::string>& stated = kernel.contract.argument_formulas;
    const std::vector<ptx::Variable>& parameters = kernel.function().parameters;
    for (std::size_t k = 0; k < std::min(stated.size(), parameters.size()); ++k)
      if (is_real(parameters[k]) && !number_of(stated[k])) return true;
    return false;
  }

  /// `scratch_address`: address of the scratch memory of all blocks; 0: none.
  Result<ptx::KernelArguments> arguments(const CandidateKernel& kernel, std::uint64_t scratch_address) const {
    Result<std::vector<std::string>> stated = expressions(kernel);
    if (!stated.ok()) return stated.error();
    const std::vector<ptx::Variable>& parameters = kernel.function().parameters;
    ptx::KernelArguments arguments;
    for (std::size_t k = 0; k < stated->size(); ++k) {
      Result<std::vector<std::byte>> bytes = bytes_of((*stated)[k], parameters[k], k, kernel);
      if (!bytes.ok()) return bytes.error();
      arguments.add_bytes(bytes.take());
    }
    for (std::size_t k = stated->size(); k < parameters.size(); ++k) {
      std::vector<std::byte> bytes(parameters[k].bytes);
      if (k == stated->size() && scratch_address != 0 && bytes.size() == sizeof(scratch_address))
        std::memcpy(bytes.data(), &scratch_address, sizeof(scratch_address));
      arguments.add_bytes(std::move(bytes));
    }
    return arguments;
  }

 private:
  struct Placed {
    std::optional<ptx::ArrayView> view;  ///< of an array
    ptx::AllocationId allocation;        ///< memory that kernels get
    /// Memory of the array, if kernels get other memory.
    std::optional<ptx::AllocationId> original_allocation;
    std::vector<std::int64_t> dense;  ///< strides of the dense elements
    bool is_copy = false;             ///< whether the elements were copied
    std::vector<std::byte> value;     ///< of a value
  };

  Result<void> place_array(Placed& placed, std::size_t element) {
    const ptx::ArrayView& view = *placed.view;
    placed.dense = ptx::dense_byte_strides(view.shape, element);
    const std::size_t size =
        ptx::ArrayView{.address = {}, .region = {}, .shape = view.shape, .byte_strides = placed.dense}.byte_extent(
            element);
    const ptx::AllocationFlags flags{.read_only = view.region.read_only, .uninitialized = view.region.uninitialized};
    if (placed.dense == view.byte_strides) {
      placed.allocation = memory_.machine.adopt(view.region.name, memory_.bytes(view).first(size), flags);
      return {};
    }
    Result<ptx::AllocationId> made = memory_.machine.allocate(view.region.name, std::max<std::size_t>(size, 1), flags);
    if (!made.ok()) return made.error();
    placed.allocation = *made;
    placed.is_copy = true;
    copy(placed, true);
    return {};
  }

  void copy(const Placed& placed, bool to_machine) const {
    const std::span<std::byte> own = memory_.machine.bytes(placed.original_allocation.value_or(placed.allocation));
    const std::span<std::byte> theirs = memory_.bytes(*placed.view);
    const auto element = static_cast<std::size_t>(placed.dense.back());
    ptx::for_each_offset_pair(placed.view->shape, placed.dense, placed.view->byte_strides,
                              [&](std::size_t at_own, std::size_t at_theirs) {
                                if (to_machine) std::memcpy(own.data() + at_own, theirs.data() + at_theirs, element);
                                else std::memcpy(theirs.data() + at_theirs, own.data() + at_own, element);
                              });
  }

  FormulaNameLookup names(const LaunchContract& contract) const {
    FormulaNameLookup names = arguments_.names();
    names.value_of = [&contract, value_of = std::move(names.value_of)](std::string_view name) -> std::optional<double> {
      if (const std::optional<double> value = value_of(name)) return value;
      const std::optional<std::int64_t> value = contract.constexpr_integer(name);
      return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    };
    return names;
  }

  std::optional<std::size_t> number_of(std::string_view name) const { return arguments_.find(name); }

  /// The extents of the grid or of a block, named by `what`. Each must be from `least` to `most`; an extent that is a
  /// constant must be at least 1.
  Result<std::array<std::int64_t, 3>> extents(const LaunchContract& contract, const std::vector<std::string>& formulas,
                                              std::array<std::int64_t, 3> result, std::int64_t least,
                                              const std::array<std::int64_t, 3>& most, std::string_view what) const {
    for (std::size_t d = 0; d < formulas.size(); ++d) {
      const Result<std::int64_t> value = evaluate(formulas[d], names(contract));
      if (!value.ok()) return value.error();
      result[d] = *value;
    }
    const FormulaNameLookup no_names{.value_of = [](std::string_view) { return std::nullopt; },
                                     .extent_of = [](std::string_view, std::size_t) { return std::nullopt; }};
    for (std::size_t d = 0; d < result.size(); ++d) {
      const bool is_constant = d < formulas.size() && evaluate(formulas[d], no_names).ok();
      const std::int64_t smallest = is_constant ? std::max<std::int64_t>(least, 1) : least;
      if (result[d] >= smallest && result[d] <= most[d]) continue;
      return Error{fmt::format("extent {} of the {} must be from {} to {}, got {}", "xyz"[d], what, smallest, most[d],
                               result[d])};
    }
    return result;
  }

  /// The arguments that the contract states; otherwise those that the pass usually has.
  Result<std::vector<std::string>> expressions(const CandidateKernel& kernel) const {
    const std::size_t count = kernel.function().parameters.size() - kernel.compiled.hidden_parameter_count;
    const std::vector<std::string>& stated = kernel.contract.argument_formulas;
    if (!stated.empty()) {
      if (stated.size() == count) return stated;
      return Error{fmt::format("the contract states {} arguments{}, but '{}' has {} parameters", stated.size(),
                               kernel.pass == Pass::kBackward ? " for the backward pass" : "", kernel.name(), count)};
    }
    std::vector<std::string> names = specification_.usual_arguments(kernel.pass, kernel.contract.result_names);
    if (names.size() == count) return names;
    return Error{fmt::format(
        "'{}' has {} parameters, but the {} {}; state the arguments in the contract, the .assay.json file next to the "
        "candidate",
        kernel.name(), count, kernel.pass == Pass::kBackward ? "backward pass usually has" : "specification has",
        names.size())};
  }

  /// Whether a parameter gets the value of a formula as a floating-point number.
  static bool is_real(const ptx::Variable& parameter) {
    return parameter.type == ptx::Type::kF32 || parameter.type == ptx::Type::kF64;
  }
  static std::vector<std::byte> real_bytes(double value, const ptx::Variable& parameter) {
    std::vector<std::byte> bytes(parameter.bytes);
    const auto narrow = static_cast<float>(value);
    if (parameter.type == ptx::Type::kF32) std::memcpy(bytes.data(), &narrow, std::min(bytes.size(), sizeof(narrow)));
    else std::memcpy(bytes.data(), &value, std::min(bytes.size(), sizeof(value)));
    return bytes;
  }

  Result<std::vector<std::byte>> bytes_of(const std::string& expression, const ptx::Variable& target,
                                          std::size_t number, const CandidateKernel& kernel) const {
    const auto mismatch = [&](const std::string& got) {
      return Error{fmt::format("parameter {} of '{}' has type .{} and {} bytes, got {}", number + 1, kernel.name(),
                               ptx::row(target.type).name, target.bytes, got)};
    };
    if (const std::optional<std::size_t> p = number_of(expression)) {
      const Placed& placed = placed_[*p];
      if (!placed.view) {
        if (placed.value.size() == target.bytes) return placed.value;
        return mismatch(fmt::format("argument '{}' with {} bytes", expression, placed.value.size()));
      }
      const std::uint64_t address = memory_.machine.address(placed.allocation);
      if (target.bytes != sizeof(address) || ptx::is_float(target.type))
        return mismatch(fmt::format("the array '{}'", expression));
      std::vector<std::byte> bytes(sizeof(address));
      std::memcpy(bytes.data(), &address, sizeof(address));
      return bytes;
    }
    const auto failure = [&](const Error& error) {
      return kernel.pass == Pass::kBackward && is_name(expression) ? Error{unknown_argument_text(expression)} : error;
    };
    if (is_real(target)) {
      const Result<double> value = evaluate_real(expression, names(kernel.contract));
      return value.ok() ? Result(real_bytes(*value, target)) : failure(value.error());
    }
    const Result<std::int64_t> value = evaluate(expression, names(kernel.contract));
    if (!value.ok()) return failure(value.error());
    if (ptx::is_float(target.type) || (target.bytes != 4 && target.bytes != 8))
      return mismatch(fmt::format("the formula '{}'", expression));
    if (target.bytes == 4 && *value > std::numeric_limits<std::uint32_t>::max())
      return mismatch(fmt::format("{}", *value));
    std::vector<std::byte> bytes(target.bytes);
    std::memcpy(bytes.data(), &*value, bytes.size());
    return bytes;
  }

  const Specification& specification_;
  SpecificationArguments arguments_;
  const LaunchRequest& launch_;
  PtxMemory memory_;
  std::vector<Placed> placed_;
};

namespace {

void add(ptx::UnroundedLosses& sum, const ptx::UnroundedLosses& losses) {
  sum.ambiguous_decision_count += losses.ambiguous_decision_count;
  sum.lost_value_count += losses.lost_value_count;
  sum.evaluates_polynomials |= losses.evaluates_polynomials;
  sum.overflows |= losses.overflows;
  sum.approximate_functions |= losses.approximate_functions;
}

}  // namespace

void CandidateSession::reset() {
  PtxSession::reset();
  saved_buffers_.clear();
  machine().reset();
  modules_.clear();
}

void CandidateSession::reset_machine() {
  struct Content {
    std::shared_ptr<const ptx::Module> module;
    std::string variable;
    std::vector<std::byte> bytes;
  };
  const auto bytes_of = [this](const std::shared_ptr<const ptx::Module>& module, const std::string& variable,
                               std::size_t size, bool writes) -> Result<std::span<std::byte>> {
    const Result<std::uint64_t> address = machine().variable(module, variable);
    if (!address.ok()) return address.error();  // shared memory
    return machine().bytes_at(*address, size, writes);
  };
  // The variables come before all arrays, always in this order, so that their addresses, which other variables may
  // contain, stay the same.
  std::vector<Content> contents;
  for (const std::shared_ptr<const ptx::Module>& module : modules_) {
    for (const ptx::Variable& variable : module->variables) {
      const Result<std::span<std::byte>> bytes = bytes_of(module, variable.name, variable.bytes, false);
      if (bytes.ok()) contents.push_back({module, variable.name, {bytes->begin(), bytes->end()}});
    }
  }
  machine().reset();
  for (const Content& content : contents) {
    const Result<std::span<std::byte>> bytes = bytes_of(content.module, content.variable, content.bytes.size(), true);
    if (bytes.ok()) std::ranges::copy(content.bytes, bytes->begin());
  }
}

Result<CandidateKernel> CandidateSession::kernel_for(const LaunchRequest& launch, Pass pass,
                                                     const Artifact& description) {
  const BuiltEntryPoint* const entry = launch.kernel->find(pass, Precision::kNative);
  if (entry == nullptr) return Error{"the candidate was built without this pass"};
  const auto find_code = [&](const std::string& architecture) {
    return std::ranges::find_if(launch.kernel->artifacts, [&](const auto& artifact) {
      return artifact->kind == Artifact::Kind::kPtx && artifact->architecture == architecture;
    });
  };
  const std::string target = launch.target.empty() ? launch.kernel->target_architectures.front() : launch.target;
  const auto end = launch.kernel->artifacts.end();
  auto code = pass == Pass::kBackward ? find_code(backward_code_name(target)) : end;
  if (code == end) code = find_code(target);
  if (code == end) return Error{"the candidate was not built for this GPU architecture"};
  const auto lowered = find_or_lower_kernel(*code, entry->symbol);
  if (!lowered.ok()) return lowered.error();
  return CandidateKernel{.contract = pass == Pass::kBackward ? contract_.backward->launch : contract_.forward,
                         .pass = pass,
                         .kernel = *lowered,
                         .architecture = target,
                         .compiled = compiled_launch_of(description, pass)};
}

RunOutcome CandidateSession::run_kernel(const LaunchRequest& launch, const CandidateKernel& kernel,
                                        const CandidateLaunch& placed, ptx::UnroundedLosses& losses) {
  const Result<ptx::LaunchGeometry> geometry = placed.geometry(kernel);
  if (!geometry) return LaunchFailed{geometry.error().text()};
  if (geometry->grid.x == 0 || geometry->grid.y == 0 || geometry->grid.z == 0) return Completed{};
  const std::uint64_t shared = declared_shared_bytes(*kernel.kernel) + geometry->dynamic_shared_bytes;
  if (shared > kernel.shared_bytes_limit()) {
    return LaunchFailed{fmt::format("a block uses {} bytes of shared memory, but at most {} are allowed", shared,
                                    kernel.shared_bytes_limit())};
  }
  std::uint64_t scratch_address = 0;
  if (const std::uint64_t bytes = kernel.scratch_bytes() * geometry->grid.count(); bytes != 0) {
    const Result<ptx::AllocationId> scratch = machine().allocate("scratch memory", bytes, {.uninitialized = true});
    if (!scratch.ok()) return ResourceError{scratch.error().text()};
    scratch_address = machine().address(*scratch);
  }
  const Result<ptx::KernelArguments> arguments = placed.arguments(kernel, scratch_address);
  if (!arguments) return LaunchFailed{arguments.error().text()};
  const auto start = std::chrono::steady_clock::now();
  ptx::LaunchOptions options = launch_options(launch);
  // The code of a candidate may depend on the order of warps, and of the lanes of an atomic, which a GPU does not fix.
  options.execution_order.reorders_within_blocks = true;
  options.computes_unrounded_values |= placed.needs_unrounded_values();
  options.may_have_rounded_parameters = placed.may_round_arguments(kernel);
  ptx::RunResult result = machine().launch(kernel.kernel, *geometry, *arguments, options);
  add(losses, result.unrounded_losses);
  use_plain_names(result);
  return ptx::make_run_outcome(result, launch, kernel.architecture, std::chrono::steady_clock::now() - start);
}

RunOutcome CandidateSession::run_backward(const LaunchRequest& launch, const Artifact& description,
                                          const Specification& specification, CandidateLaunch& placed,
                                          ptx::UnroundedLosses& losses) {
  if (const Result<void> judged = specification.check_backward(); !judged.ok())
    return Unsupported{judged.error().text()};
  const BackwardContract& contract = *contract_.backward;
  const auto& all = specification.parameters;
  const Result<std::vector<std::size_t>> results = specification.gradients(contract.launch.result_names);
  if (!results.ok()) return LaunchFailed{results.error().text()};
  const bool needs_forward = specification.names_forward_results(contract.launch.argument_formulas);
  for (std::size_t p = 0; p < all.size(); ++p) {
    const bool is_output = all[p].is_written && !all[p].primal_index && all[p].saved_array == nullptr;
    if (is_output && needs_forward)
      if (const Result<void> renewed = placed.renew(p); !renewed.ok()) return ResourceError{renewed.error().text()};
    placed.set_writable(p, (is_output && needs_forward) || all[p].saved_array != nullptr);
  }
  if (needs_forward) {
    const Result<CandidateKernel> forward = kernel_for(launch, Pass::kForward, description);
    if (!forward.ok()) return Unsupported{forward.error().text()};
    RunOutcome outcome = run_kernel(launch, *forward, placed, losses);
    if (!std::holds_alternative<Completed>(outcome)) return outcome;
  }
  for (std::size_t p = 0; p < all.size(); ++p)
    placed.set_writable(p, all[p].saved_array != nullptr);
  for (const std::size_t p : *results) {
    if (!contract.accumulates(all[p].name))
      if (const Result<void> renewed = placed.renew(p); !renewed.ok()) return ResourceError{renewed.error().text()};
    placed.set_writable(p, true);
  }
  const Result<CandidateKernel> backward = kernel_for(launch, Pass::kBackward, description);
  if (!backward.ok()) return Unsupported{backward.error().text()};
  return run_kernel(launch, *backward, placed, losses);
}

RunOutcome CandidateSession::run_one(const LaunchRequest& launch) {
  if (launch.threads == 0) return Completed{};
  const Artifact* const description = launch.kernel->artifact(Artifact::Kind::kPython, Precision::kNative);
  if (description == nullptr) return LaunchFailed{"the kernel was built for a different device"};
  for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
    if (pass == Pass::kBackward && launch.pass != pass) continue;
    const Result<CandidateKernel> kernel = kernel_for(launch, pass, *description);
    if (!kernel.ok()) continue;  // reported below, if the launch needs it
    const std::shared_ptr<const ptx::Module>& module = kernel->kernel->module;
    if (std::ranges::find(modules_, module) == modules_.end()) modules_.push_back(module);
  }
  reset_machine();
  Specification specification = specification_of(*description, launch.pass);
  if (const Result<void> added = specification.add_saved_arrays(contract_.saved_arrays); !added.ok())
    return LaunchFailed{added.error().text()};
  const auto memory_of = [this](const ptx::ArrayView& view) {
    const std::span<std::byte> rest = bytes(view.address.buffer).subspan(view.address.offset);
    return rest.first(std::min<std::uint64_t>(rest.size(), view.region.bytes));
  };
  const auto allocate_saved = [this](std::size_t number,
                                     std::size_t size) -> Result<std::pair<BufferId, std::span<std::byte>>> {
    if (number >= saved_buffers_.size()) saved_buffers_.resize(number + 1);
    std::optional<BufferId>& buffer = saved_buffers_[number];
    if (!buffer || bytes(*buffer).size() < size) {
      const Result<BufferId> made = allocate(size);
      if (!made.ok()) return made.error();
      buffer = *made;
    }
    return std::pair{*buffer, bytes(*buffer)};
  };
  Result<SpecificationArguments> values = SpecificationArguments::of(specification, launch, allocate_saved);
  if (!values.ok()) return LaunchFailed{values.error().text()};
  CandidateLaunch placed(specification, values.take(), launch, {.machine = machine(), .bytes = memory_of});
  if (const Result<void> done = placed.place(); !done.ok()) return LaunchFailed{done.error().text()};
  ptx::UnroundedLosses losses;
  RunOutcome outcome = Completed{};
  if (launch.pass == Pass::kBackward) {
    outcome = run_backward(launch, *description, specification, placed, losses);
  } else {
    const Result<CandidateKernel> kernel = kernel_for(launch, Pass::kForward, *description);
    if (!kernel.ok()) return Unsupported{kernel.error().text()};
    outcome = run_kernel(launch, *kernel, placed, losses);
  }
  const auto place_of = [this](const BufferAddress& address) { return bytes(address.buffer).subspan(address.offset); };
  placed.write_unrounded_values(losses, place_of);
  if (std::holds_alternative<Completed>(outcome))
    if (const Result<void> added = placed.add_new_gradients(place_of); !added.ok())
      return Unsupported{added.error().text()};
  placed.copy_back();
  // After a fault, a GPU executes no further kernel of the process.
  if (!std::holds_alternative<Completed>(outcome)) modules_.clear();
  return outcome;
}

}  // namespace assay::candidate
