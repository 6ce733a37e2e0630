#include "backends/ptx/execute/machine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "backends/ptx/execute/execution.hpp"
#include "backends/ptx/execute/memory.hpp"
#include "backends/ptx/instructions/numbers.hpp"

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
  if (const std::uint64_t most = kernel.entry_function->max_threads_per_block; most != 0 && threads > most) {
    return fmt::format(
        "the kernel is compiled for blocks of at most {} threads (__launch_bounds__ or .maxntid), got {}", most,
        threads);
  }
  if (const std::uint64_t exact = kernel.entry_function->required_threads_per_block; exact != 0 && threads != exact) {
    return fmt::format("the kernel is compiled for blocks of exactly {} threads (.reqntid), got {}", exact, threads);
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

/// The offset of a device address in its allocation.
std::uint64_t offset_of(std::uint64_t address) {
  return (address & ((std::uint64_t{1} << kAddressWindowBits) - 1)) - kAddressWindowMiddleOffset;
}

}  // namespace

Machine::Machine(std::size_t max_bytes) : memory_(std::make_unique<Memory>(max_bytes)) {}
Machine::~Machine() = default;
Machine::Machine(Machine&&) noexcept = default;
Machine& Machine::operator=(Machine&&) noexcept = default;

Result<AllocationId> Machine::allocate(std::string name, std::size_t bytes, AllocationFlags flags) {
  return memory_->allocate(std::move(name), bytes, flags);
}
std::uint64_t Machine::next_address() const { return memory_->next_address(); }
AllocationId Machine::adopt(std::string name, std::span<std::byte> bytes, AllocationFlags flags) {
  return memory_->adopt(std::move(name), bytes, flags);
}
std::span<std::byte> Machine::bytes(AllocationId allocation) { return memory_->at(allocation).bytes; }
std::uint64_t Machine::address(AllocationId allocation) const { return Memory::address(allocation); }

Result<std::span<std::byte>> Machine::bytes_at(std::uint64_t address, std::size_t size, bool writes) {
  Allocation* const allocation = memory_->find_allocation(address);
  const std::uint64_t offset = offset_of(address);
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

std::vector<UnroundedNumber> Machine::unrounded_values(std::uint64_t address, Type type, std::size_t count) const {
  std::vector<UnroundedNumber> values(count);
  Allocation* const allocation = memory_->find_allocation(address);
  const std::uint64_t start = offset_of(address);
  const unsigned size = bytes_of(type);
  // The memory may have been released.
  if (allocation == nullptr || allocation->bytes.size() < start + count * size) return values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t offset = start + i * size;
    std::uint64_t bits = 0;
    std::memcpy(&bits, allocation->bytes.data() + offset, size);
    values[i] = {number_of(type, bits), 0};
    if (allocation->unrounded_words.empty()) continue;
    const UnroundedParts parts =
        UnroundedWord::read(&allocation->unrounded_words[offset / 4], 1, size, static_cast<unsigned>(offset % 4), bits);
    const Part part = size == 2 ? Part::kLower : Part::kWhole;
    if (parts.knows(part)) values[i] = parts.number(part);
  }
  return values;
}

void Machine::set_unrounded_value(std::uint64_t address, Type type, const UnroundedNumber& number) {
  std::uint64_t bits = 0;
  const unsigned size = bytes_of(type);
  Allocation* const allocation = memory_->find_allocation(address);
  if (allocation == nullptr) return;
  std::memcpy(&bits, allocation->bytes.data() + offset_of(address), size);
  UnroundedParts parts;
  parts.set(size == 2 ? Part::kLower : Part::kWhole, number);
  UnroundedWord::write(memory_->unrounded_word(*allocation, offset_of(address)), 1, size,
                       static_cast<unsigned>(address % 4), bits, parts);
}

std::uint64_t Machine::receive_floats(std::uint64_t address, std::uint64_t size, bool are_constants) {
  // As floats, most integers are less than this.
  constexpr double kLeastFloat = 1e-30;
  const Allocation* const allocation = memory_->find_allocation(address);
  const std::uint64_t start = offset_of(address);
  if (allocation == nullptr || start % sizeof(float) != 0) return 0;
  std::uint64_t count = 0;
  for (std::uint64_t at = 0; at + sizeof(float) <= size && start + at + sizeof(float) <= allocation->bytes.size();
       at += sizeof(float)) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, allocation->bytes.data() + start + at, sizeof(bits));
    const UnroundedNumber number = constant_number(Type::kF32, bits);
    if (number.error == 0 || !(std::abs(number.value) > kLeastFloat)) continue;
    ++count;
    if (are_constants && is_plausible_float(number.value)) set_unrounded_value(address + at, Type::kF32, number);
  }
  return count;
}

/// Only whole words keep their unrounded values. Those of other bytes are lost, which their content shows.
void Machine::copy_unrounded_values(std::uint64_t target, std::uint64_t source, std::uint64_t size) {
  Allocation* const to = memory_->find_allocation(target);
  Allocation* const from = memory_->find_allocation(source);
  if (to == nullptr || from == nullptr || from->unrounded_words.empty() || (target | source) % 4 != 0) return;
  for (std::uint64_t at = 0; at + 4 <= size; at += 4)
    *memory_->unrounded_word(*to, offset_of(target + at)) = from->unrounded_words[offset_of(source + at) / 4];
}

void Machine::release(std::uint64_t address) {
  Allocation* const allocation = memory_->find_allocation(address);
  if (allocation != nullptr && offset_of(address) == 0) memory_->release(*allocation);
}

void Machine::set_flags(AllocationId allocation, AllocationFlags flags) { memory_->at(allocation).flags = flags; }
void Machine::reset() { memory_->reset(); }

RunResult Machine::launch(const std::shared_ptr<const Kernel>& kernel, const LaunchGeometry& geometry,
                          const KernelArguments& arguments, const LaunchOptions& options) {
  if (const std::string reason = rejection(*kernel, geometry); !reason.empty()) return rejected(*kernel, reason);
  if (const std::uint64_t blocks = kernel->entry_function->blocks_per_cluster; blocks != 1) {
    return {.status = RunResult::Status::kUnsupported,
            .message = fmt::format("{}: clusters of {} blocks are not supported; at most 1 block is",
                                   kernel->entry_function->name, blocks)};
  }
  Result<std::vector<std::byte>> parameters = lay_out_arguments(*kernel, arguments);
  if (!parameters) return rejected(*kernel, parameters.error().text());
  const auto variables = memory_->variables_of(kernel->module);
  if (!variables) return rejected(*kernel, variables.error().text());
  return Execution(*memory_, *kernel, geometry, parameters.take(), options).run(*variables);
}

}  // namespace assay::ptx
