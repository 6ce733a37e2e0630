#include "backends/ptx/execute/machine.hpp"

#include <utility>

#include <fmt/format.h>

#include "backends/ptx/execute/execution.hpp"
#include "backends/ptx/execute/memory.hpp"

namespace assay::ptx {

namespace {

constexpr std::uint64_t kMaxBlocks = std::uint64_t{1} << 26U;
constexpr std::uint64_t kMaxSharedBytes = 227 * 1024;

/// Why a launch with this geometry is rejected; empty if it is not.
std::string rejection(const Kernel& kernel, const LaunchGeometry& geometry) {
  const std::uint64_t threads = geometry.block.count();
  if (threads == 0 || threads > kMaxThreadsPerBlock) {
    return fmt::format("blocks must have 1 to {} threads, got {}", kMaxThreadsPerBlock, threads);
  }
  const Dim3& grid = geometry.grid;
  if (grid.count() == 0 || grid.y > 65535 || grid.z > 65535 || grid.count() > kMaxBlocks) {
    return fmt::format("a grid must have 1 to {} blocks and at most 65535 in y and z, got {} x {} x {}", kMaxBlocks,
                       grid.x, grid.y, grid.z);
  }
  std::uint64_t shared = 0;
  for (const Kernel::Variable& variable : kernel.shared_variables)
    shared += variable.is_dynamic ? geometry.dynamic_shared_bytes : variable.bytes;
  if (shared > kMaxSharedBytes) {
    return fmt::format("shared memory must have at most {} bytes, got {}", kMaxSharedBytes, shared);
  }
  return {};
}

Result<std::vector<std::byte>> lay_out_arguments(const Kernel& kernel, const KernelArguments& arguments) {
  const std::vector<Variable>& parameters = kernel.function->parameters;
  if (arguments.values().size() != parameters.size()) {
    return Error{fmt::format("the entry takes {} arguments, got {}", parameters.size(), arguments.values().size())};
  }
  std::vector<std::byte> bytes(kernel.function->parameter_bytes);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::vector<std::byte>& value = arguments.values()[i];
    if (value.size() != parameters[i].bytes) {
      return Error{fmt::format("argument {} must have {} bytes, got {}", i, parameters[i].bytes, value.size())};
    }
    std::ranges::copy(value, bytes.begin() + static_cast<std::ptrdiff_t>(parameters[i].offset));
  }
  return bytes;
}

RunResult rejected(const Kernel& kernel, const std::string& message) {
  return {.status = RunResult::Status::kRejected, .message = fmt::format("{}: {}", kernel.function->name, message)};
}

}  // namespace

Machine::Machine(std::size_t max_bytes) : memory_(std::make_unique<Memory>(max_bytes)) {}
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

RunResult Machine::launch(const std::shared_ptr<const Kernel>& kernel, const LaunchGeometry& geometry,
                          const KernelArguments& arguments, const LaunchOptions& options) {
  if (const std::string reason = rejection(*kernel, geometry); !reason.empty()) return rejected(*kernel, reason);
  Result<std::vector<std::byte>> parameters = lay_out_arguments(*kernel, arguments);
  if (!parameters) return rejected(*kernel, parameters.error().text());
  const auto variables = memory_->variables_of(kernel->module);
  if (!variables) return rejected(*kernel, variables.error().text());
  return Execution(*memory_, *kernel, geometry, parameters.take(), options).run(*variables);
}

}  // namespace assay::ptx
