#include "backends/ptx/execute/machine.hpp"

#include <utility>

#include <fmt/format.h>

#include "backends/ptx/execute/execution.hpp"
#include "backends/ptx/execute/memory.hpp"

namespace assay::ptx {

namespace {

constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 26U;
constexpr std::uint64_t kMostShared = 227 * 1024;

/// Why a launch of this shape is refused; empty when it is not.
std::string rejection(const Kernel& kernel, const Geometry& geometry) {
  const std::uint64_t threads = geometry.block.count();
  if (threads == 0 || threads > kMostThreads) {
    return fmt::format("found blocks of {} threads, expected 1 to {}", threads, kMostThreads);
  }
  const Dim3& grid = geometry.grid;
  if (grid.count() == 0 || grid.y > 65535 || grid.z > 65535 || grid.count() > kMostBlocks) {
    return fmt::format("found a grid of {} x {} x {} blocks, expected 1 to {} and at most 65535 in y and z", grid.x,
                       grid.y, grid.z, kMostBlocks);
  }
  std::uint64_t shared = 0;
  for (const Kernel::Variable& variable : kernel.shared)
    shared += variable.dynamic ? geometry.dynamic_shared : variable.bytes;
  if (shared > kMostShared) {
    return fmt::format("found {} bytes of shared memory, expected at most {}", shared, kMostShared);
  }
  return {};
}

Result<std::vector<std::byte>> lay_out_arguments(const Kernel& kernel, const Arguments& arguments) {
  const std::vector<Variable>& parameters = kernel.function->parameters;
  if (arguments.values().size() != parameters.size()) {
    return Error{fmt::format("found {} arguments, expected {}", arguments.values().size(), parameters.size())};
  }
  std::vector<std::byte> bytes(kernel.function->parameter_bytes);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::vector<std::byte>& value = arguments.values()[i];
    if (value.size() != parameters[i].bytes) {
      return Error{fmt::format("found {} bytes for parameter {}, expected {}", value.size(), i, parameters[i].bytes)};
    }
    std::ranges::copy(value, bytes.begin() + static_cast<std::ptrdiff_t>(parameters[i].offset));
  }
  return bytes;
}

RunResult rejected(const Kernel& kernel, const std::string& message) {
  return {.status = RunResult::Status::kRejected, .message = fmt::format("{}: {}", kernel.function->name, message)};
}

}  // namespace

Machine::Machine(std::size_t most_bytes) : memory_(std::make_unique<Memory>(most_bytes)) {}
Machine::~Machine() = default;
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(Machine&&) noexcept = default;

Result<AllocationId> Machine::allocate(std::string name, std::size_t bytes, AllocationFlags flags) {
  return memory_->allocate(std::move(name), bytes, flags);
}
AllocationId Machine::adopt(std::string name, std::span<std::byte> bytes, AllocationFlags flags) {
  return memory_->adopt(std::move(name), bytes, flags);
}
std::span<std::byte> Machine::bytes(AllocationId allocation) { return memory_->at(allocation).bytes; }
std::uint64_t Machine::address(AllocationId allocation) const { return Memory::address(allocation); }
void Machine::set_flags(AllocationId allocation, AllocationFlags flags) { memory_->at(allocation).flags = flags; }
void Machine::reset() { memory_->reset(); }

RunResult Machine::launch(const std::shared_ptr<const Kernel>& kernel, const Geometry& geometry,
                          const Arguments& arguments, const LaunchOptions& options) {
  if (const std::string reason = rejection(*kernel, geometry); !reason.empty()) return rejected(*kernel, reason);
  Result<std::vector<std::byte>> parameters = lay_out_arguments(*kernel, arguments);
  if (!parameters) return rejected(*kernel, parameters.error().text());
  const auto variables = memory_->variables_of(kernel->module);
  if (!variables) return rejected(*kernel, variables.error().text());
  return Execution(*memory_, *kernel, geometry, parameters.take(), options).run(*variables);
}

}  // namespace assay::ptx
