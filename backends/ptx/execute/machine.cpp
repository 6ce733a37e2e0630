#include "backends/ptx/execute/machine.hpp"

#include <algorithm>
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
    shared += variable.is_dynamically_sized ? geometry.dynamic_shared_bytes : variable.bytes;
  if (shared > kMaxSharedBytes) {
    return fmt::format("shared memory must have at most {} bytes, got {}", kMaxSharedBytes, shared);
  }
  return {};
}

Result<std::vector<std::byte>> lay_out_arguments(const Kernel& kernel, const KernelArguments& arguments) {
  const std::vector<Variable>& parameters = kernel.entry_function->parameters;
  if (arguments.values().size() != parameters.size()) {
    return Error{fmt::format("the kernel takes {} arguments, got {}", parameters.size(), arguments.values().size())};
  }
  std::vector<std::byte> bytes(kernel.entry_function->parameter_bytes);
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
  return {.status = RunResult::Status::kRejected,
          .message = fmt::format("{}: {}", kernel.entry_function->name, message)};
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

Result<std::span<std::byte>> Machine::bytes_at(std::uint64_t address, std::size_t size, bool writes) {
  Allocation* const allocation = memory_->find_allocation(address);
  const std::uint64_t offset = (address & ((std::uint64_t{1} << kAddressWindowBits) - 1)) - kAddressWindowMiddleOffset;
  if (allocation == nullptr || offset > allocation->bytes.size() || size > allocation->bytes.size() - offset)
    return Error{fmt::format("no allocation contains the {} bytes at the device address {:#x}", size, address)};
  if (writes) memory_->set_initialized(*allocation, offset, size);
  return allocation->bytes.subspan(offset, size);
}

Result<std::uint64_t> Machine::variable(const std::shared_ptr<const Module>& module, std::string_view name) {
  const auto found = std::ranges::find(module->variables, name, &Variable::name);
  if (found == module->variables.end() || found->space == Space::kShared)
    return Error{fmt::format("the module has no variable '{}'", name)};
  const Result<std::vector<std::uint64_t>> addresses = memory_->variables_of(module);
  if (!addresses) return addresses.error();
  return (*addresses)[static_cast<std::size_t>(found - module->variables.begin())];
}

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
