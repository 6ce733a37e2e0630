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
#include "backends/candidate/host/kernel_names.hpp"
#include "backends/candidate/host/simulated_gpu.hpp"
#include "backends/candidate/specification.hpp"
#include "backends/ptx/array_view.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::candidate {

using namespace backends;

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

/// The code that a launch runs.
struct LaunchedCode {
  const ptx::Function& function;
  std::string_view architecture;  ///< "compute_80"
  CompiledLaunch compiled;

  /// The dynamic shared memory of a block that the compiler states; nullopt: the contract states it.
  [[nodiscard]] std::optional<std::int64_t> shared_bytes() const {
    const auto found = compiled.shared_bytes.find(std::string(architecture));
    if (found == compiled.shared_bytes.end()) return std::nullopt;
    return found->second;
  }
  /// The limit of a block's shared memory. Triton sets the attribute that allows more than the default.
  [[nodiscard]] std::uint64_t shared_bytes_limit() const {
    constexpr std::string_view kPrefix = "compute_";
    if (!shared_bytes() || !architecture.starts_with(kPrefix)) return kDefaultMaxSharedBytes;
    return most_shared_bytes(fmt::format("sm_{}", architecture.substr(kPrefix.size())));
  }
};

/// One launch of the candidate.
class CandidateLaunch {
 public:
  CandidateLaunch(const Specification& specification, SpecificationArguments arguments, const LaunchContract& contract,
                  LaunchedCode code, const LaunchRequest& launch, PtxMemory memory)
      : specification_(specification),
        arguments_(std::move(arguments)),
        contract_(contract),
        code_(std::move(code)),
        name_(plain_name(code_.function.name)),
        launch_(launch),
        memory_(std::move(memory)) {}

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
  /// Writes the unrounded values of all arrays that need them, after a launch; `place_of` returns the memory at an
  /// address.
  template <class PlaceOf>
  void write_unrounded_values(const ptx::RunResult& result, PlaceOf place_of) const {
    for (std::size_t p = 0; p < placed_.size(); ++p) {
      const Placed& placed = placed_[p];
      if (!placed.view || !placed.view->region.unrounded_values || placed.is_copy) continue;
      const std::optional<ptx::Type> type = float_type(specification_.parameters[p].type);
      if (!type) continue;
      const std::size_t count = memory_.machine.bytes(placed.allocation).size() / ptx::bytes_of(*type);
      ptx::write_unrounded_array(
          result.unrounded_losses,
          memory_.machine.unrounded_values(memory_.machine.address(placed.allocation), *type, count),
          place_of(*placed.view->region.unrounded_values));
    }
  }

  /// Copies the elements of arrays with gaps back.
  void copy_back() const {
    for (const Placed& placed : placed_)
      if (placed.is_copy) copy(placed, false);
  }

  Result<ptx::LaunchGeometry> geometry() const {
    ptx::LaunchGeometry result;
    const std::int64_t default_block = code_.compiled.block_threads == 0 ? kDefaultBlock : code_.compiled.block_threads;
    const Result<std::array<std::int64_t, 3>> block = extents(contract_.block_formulas, {default_block, 1, 1},
                                                              {kMostThreadsOfBlock, kMostThreadsOfBlock, 64}, "block");
    if (!block.ok()) return block.error();
    const std::int64_t threads = (*block)[0] * (*block)[1] * (*block)[2];
    if (threads > kMostThreadsOfBlock)
      return Error{fmt::format("a block has {} threads, but at most {} are allowed", threads, kMostThreadsOfBlock)};
    const std::int64_t blocks = (launch_.threads + threads - 1) / threads;
    const Result<std::array<std::int64_t, 3>> grid =
        extents(contract_.grid_formulas, {blocks, 1, 1}, kMostBlocks, "grid");
    if (!grid.ok()) return grid.error();
    const std::optional<std::int64_t> compiled_shared = code_.shared_bytes();
    const Result<std::int64_t> shared =
        compiled_shared ? Result<std::int64_t>(*compiled_shared) : evaluate(contract_.shared_bytes_formula, names());
    if (!shared.ok()) return shared.error();
    const auto dimensions = [](const std::array<std::int64_t, 3>& e) {
      return ptx::Dim3{static_cast<std::uint32_t>(e[0]), static_cast<std::uint32_t>(e[1]),
                       static_cast<std::uint32_t>(e[2])};
    };
    if (*shared < 0 || static_cast<std::uint64_t>(*shared) > code_.shared_bytes_limit())
      return Error{fmt::format("a block requests {} bytes of dynamic shared memory, but at most {} are allowed",
                               *shared, code_.shared_bytes_limit())};
    return ptx::LaunchGeometry{.grid = dimensions(*grid),
                               .block = dimensions(*block),
                               .dynamic_shared_bytes = static_cast<std::uint32_t>(*shared)};
  }

  Result<ptx::KernelArguments> arguments() const {
    Result<std::vector<std::string>> stated = expressions();
    if (!stated.ok()) return stated.error();
    ptx::KernelArguments arguments;
    for (std::size_t k = 0; k < stated->size(); ++k) {
      Result<std::vector<std::byte>> bytes = bytes_of((*stated)[k], code_.function.parameters[k], k);
      if (!bytes.ok()) return bytes.error();
      arguments.add_bytes(bytes.take());
    }
    for (std::size_t k = stated->size(); k < code_.function.parameters.size(); ++k)
      arguments.add_bytes(std::vector<std::byte>(code_.function.parameters[k].bytes));
    return arguments;
  }

 private:
  struct Placed {
    std::optional<ptx::ArrayView> view;  ///< of an array
    ptx::AllocationId allocation;
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
    const std::span<std::byte> own = memory_.machine.bytes(placed.allocation);
    const std::span<std::byte> theirs = memory_.bytes(*placed.view);
    const auto element = static_cast<std::size_t>(placed.dense.back());
    ptx::for_each_offset_pair(placed.view->shape, placed.dense, placed.view->byte_strides,
                              [&](std::size_t at_own, std::size_t at_theirs) {
                                if (to_machine) std::memcpy(own.data() + at_own, theirs.data() + at_theirs, element);
                                else std::memcpy(theirs.data() + at_theirs, own.data() + at_own, element);
                              });
  }

  FormulaNameLookup names() const {
    FormulaNameLookup names = arguments_.names();
    names.value_of = [this, value_of = std::move(names.value_of)](std::string_view name) -> std::optional<double> {
      if (const std::optional<double> value = value_of(name)) return value;
      const std::optional<std::int64_t> value = contract_.constexpr_integer(name);
      return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    };
    return names;
  }

  std::optional<std::size_t> number_of(std::string_view name) const { return arguments_.find(name); }

  Result<std::array<std::int64_t, 3>> extents(const std::vector<std::string>& formulas,
                                              std::array<std::int64_t, 3> result,
                                              const std::array<std::int64_t, 3>& most, std::string_view what) const {
    for (std::size_t d = 0; d < formulas.size(); ++d) {
      const Result<std::int64_t> value = evaluate(formulas[d], names());
      if (!value.ok()) return value.error();
      result[d] = *value;
    }
    for (std::size_t d = 0; d < result.size(); ++d) {
      if (result[d] >= 0 && result[d] <= most[d]) continue;
      return Error{fmt::format("each extent of the {} must be from 0 to {}, got {}", what, most[d], result[d])};
    }
    return result;
  }

  /// The arguments that the contract states; otherwise arrays and values in the order of the specification.
  Result<std::vector<std::string>> expressions() const {
    const auto fail = [&](const std::string& reason) {
      return Error{
          fmt::format("{}; state the arguments in the contract, the .assay.json file next to the candidate", reason)};
    };
    const std::size_t count = code_.function.parameters.size() - code_.compiled.hidden_parameter_count;
    if (!contract_.argument_formulas.empty()) {
      if (contract_.argument_formulas.size() == count) return contract_.argument_formulas;
      return Error{fmt::format("the contract states {} arguments, but '{}' has {} parameters",
                               contract_.argument_formulas.size(), name_, count)};
    }
    std::vector<std::string> names;
    for (const SpecificationParameter& parameter : specification_.parameters)
      names.push_back(parameter.name);
    if (names.size() != count)
      return fail(fmt::format("'{}' has {} parameters, but the specification has {}", name_, count, names.size()));
    return names;
  }

  Result<std::vector<std::byte>> bytes_of(const std::string& expression, const ptx::Variable& target,
                                          std::size_t number) const {
    const auto mismatch = [&](const std::string& got) {
      return Error{fmt::format("parameter {} of '{}' has type .{} and {} bytes, got {}", number + 1, name_,
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
    const Result<std::int64_t> value = evaluate(expression, names());
    if (!value.ok()) return value.error();
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
  const LaunchContract& contract_;
  LaunchedCode code_;
  std::string name_;  ///< of the function, for messages
  const LaunchRequest& launch_;
  PtxMemory memory_;
  std::vector<Placed> placed_;
};

}  // namespace

RunOutcome CandidateSession::run_one(const LaunchRequest& launch) {
  if (launch.threads == 0) return Completed{};
  const Result<ptx::LaunchCode> code = code_of(launch);
  if (!code) return LaunchFailed{code.error().text()};
  const Artifact* const description = launch.kernel->artifact(Artifact::Kind::kPython, Precision::kNative);
  if (description == nullptr) return LaunchFailed{"the kernel was built for a different device"};
  const auto kernel = find_or_lower_kernel(code->artifact, code->entry_point->symbol);
  if (!kernel) return LaunchFailed{kernel.error().text()};
  machine().reset();
  const Specification specification = specification_of(*description);
  const auto memory_of = [this](const ptx::ArrayView& view) {
    const std::span<std::byte> rest = bytes(view.address.buffer).subspan(view.address.offset);
    return rest.first(std::min<std::uint64_t>(rest.size(), view.region.bytes));
  };
  Result<SpecificationArguments> values = SpecificationArguments::of(specification, launch);
  if (!values.ok()) return LaunchFailed{values.error().text()};
  const LaunchedCode launched{.function = *(*kernel)->entry_function,
                              .architecture = code->artifact->architecture,
                              .compiled = compiled_launch_of(*description)};
  CandidateLaunch placed(specification, values.take(), contract_, launched, launch,
                         {.machine = machine(), .bytes = memory_of});
  if (const Result<void> done = placed.place(); !done.ok()) return LaunchFailed{done.error().text()};
  const Result<ptx::LaunchGeometry> geometry = placed.geometry();
  if (!geometry) return LaunchFailed{geometry.error().text()};
  if (geometry->grid.x == 0 || geometry->grid.y == 0 || geometry->grid.z == 0) return Completed{};
  const std::uint64_t shared = declared_shared_bytes(**kernel) + geometry->dynamic_shared_bytes;
  if (shared > launched.shared_bytes_limit()) {
    return LaunchFailed{fmt::format("a block uses {} bytes of shared memory, but at most {} are allowed", shared,
                                    launched.shared_bytes_limit())};
  }
  const Result<ptx::KernelArguments> arguments = placed.arguments();
  if (!arguments) return LaunchFailed{arguments.error().text()};
  const auto start = std::chrono::steady_clock::now();
  ptx::LaunchOptions options = launch_options(launch);
  options.computes_unrounded_values |= placed.needs_unrounded_values();
  ptx::RunResult result = machine().launch(*kernel, *geometry, *arguments, options);
  placed.write_unrounded_values(
      result, [this](const BufferAddress& address) { return bytes(address.buffer).subspan(address.offset); });
  use_plain_names(result);
  placed.copy_back();
  return ptx::make_run_outcome(result, launch, code->artifact->architecture, std::chrono::steady_clock::now() - start);
}

}  // namespace assay::candidate
