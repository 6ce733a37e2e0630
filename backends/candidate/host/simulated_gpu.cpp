#include "backends/candidate/host/simulated_gpu.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>

#include "backends/candidate/host/fat_binary.hpp"
#include "backends/candidate/host/kernel_names.hpp"
#include "backends/candidate/host/outcome_text.hpp"
#include "backends/ptx/execute/tensor_map.hpp"
#include "backends/ptx/session.hpp"

namespace assay::candidate {

using namespace backends;

namespace {

/// By how many allocations the addresses in some calls differ from those in others.
constexpr int kUnusedAddressCount = 64;
/// Memory of the simulated GPU for allocations of the host code.
constexpr std::uint64_t kSimulatedMemoryBytes = std::uint64_t{4} << 30U;
/// Host code that frees nothing must not fill the memory of the worker in hundreds of calls.
constexpr std::uint64_t kMostLastingBytes = std::uint64_t{512} << 20U;

struct SharedLimit {
  std::string_view architecture;
  std::uint64_t bytes;
};
/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::array kSharedLimits{
    SharedLimit{"sm_75", 64 * 1024},   SharedLimit{"sm_80", 163 * 1024},  SharedLimit{"sm_86", 99 * 1024},
    SharedLimit{"sm_87", 163 * 1024},  SharedLimit{"sm_89", 99 * 1024},   SharedLimit{"sm_90", 227 * 1024},
    SharedLimit{"sm_100", 227 * 1024}, SharedLimit{"sm_103", 227 * 1024}, SharedLimit{"sm_120", 99 * 1024},
};

std::optional<ptx::Type> ptx_type(Element type) {
  switch (type) {
    case Element::kFloat16: return ptx::Type::kF16;
    case Element::kBFloat16: return ptx::Type::kBf16;
    case Element::kFloat32: return ptx::Type::kF32;
    case Element::kFloat64: return ptx::Type::kF64;
    default: return std::nullopt;
  }
}

}  // namespace

std::uint64_t declared_shared_bytes(const ptx::Kernel& kernel) {
  std::uint64_t bytes = 0;
  for (const ptx::Kernel::Variable& variable : kernel.shared_variables)
    bytes += variable.bytes;
  return bytes;
}

std::uint64_t most_shared_bytes(std::string_view architecture) {
  // "sm_90a" has the limits of sm_90.
  while (!architecture.empty() && architecture.back() >= 'a' && architecture.back() <= 'z')
    architecture.remove_suffix(1);
  const auto* const found = std::ranges::find(kSharedLimits, architecture, &SharedLimit::architecture);
  return found == kSharedLimits.end() ? kDefaultMaxSharedBytes : found->bytes;
}

std::uint32_t resident_blocks(std::string_view architecture, std::uint64_t block_threads, std::uint64_t shared_bytes) {
  constexpr std::uint64_t kMostThreads = 2048, kMostBlocks = 32;
  constexpr std::uint64_t kReservedBytes = 1024;  // of the shared memory of each block
  if (block_threads == 0) return 0;
  const std::uint64_t by_shared_memory =
      (most_shared_bytes(architecture) + kReservedBytes) / (shared_bytes + kReservedBytes);
  return static_cast<std::uint32_t>(std::min({kMostThreads / block_threads, kMostBlocks, by_shared_memory}));
}

std::vector<SimulatedGpu::VariableContent> SimulatedGpu::contents_of_variables() {
  std::vector<VariableContent> contents;
  for (const Module& module : modules_) {
    if (module.parsed_module == nullptr) continue;
    for (const ptx::Variable& variable : module.parsed_module->variables) {
      const Result<std::uint64_t> address = machine_.variable(module.parsed_module, variable.name);
      if (!address.ok()) continue;  // shared memory
      const Result<std::span<std::byte>> bytes = machine_.bytes_at(*address, variable.bytes, false);
      if (bytes.ok())
        contents.push_back({module.parsed_module, variable.name, *address, {bytes->begin(), bytes->end()}});
    }
  }
  return contents;
}

void SimulatedGpu::restore_memory(const std::vector<VariableContent>& contents) {
  // Everything gets its earlier address again, because variables and host code may contain these addresses. Each
  // allocation of the machine has the next address, so this goes in the order of the addresses.
  const auto skip_to = [this](std::uint64_t address) {
    while (machine_.next_address() < address)
      machine_.adopt("memory of an earlier call", {}, {});
  };
  std::map<std::uint64_t, const VariableContent*> variables;
  for (const VariableContent& content : contents)
    variables.emplace(content.address, &content);
  auto next = variables.begin();
  const auto restore_variables_before = [&](std::uint64_t end) {
    for (; next != variables.end() && next->first < end; ++next) {
      const VariableContent& content = *next->second;
      skip_to(content.address);  // does nothing after the first variable of a module, which creates the others
      const Result<std::uint64_t> address = machine_.variable(content.parsed_module, content.name);
      if (!address.ok()) continue;
      const Result<std::span<std::byte>> bytes = machine_.bytes_at(*address, content.bytes.size(), true);
      if (bytes.ok()) std::ranges::copy(content.bytes, bytes->begin());
    }
  };
  for (const auto& [address, allocation] : allocations_by_address_) {
    restore_variables_before(address);
    skip_to(address);
    machine_.adopt(fmt::format("allocation {} of the host code, from an earlier call", allocation.number),
                   allocation.memory, {});
  }
  restore_variables_before(UINT64_MAX);
}

void SimulatedGpu::begin_call(const ptx::LaunchOptions& options) {
  const std::vector<VariableContent> contents = contents_of_variables();
  machine_.reset();
  unprotect_managed_memory();
  free_allocations_of_call();
  restore_memory(contents);
  // In some calls, the arrays are at other addresses, where pointers of earlier calls do not find them.
  if (options.execution_order.order == ptx::Order::kShuffled) {
    for (int i = 0; i < kUnusedAddressCount; ++i)
      machine_.adopt("memory of an earlier call", {}, {});
  }
  options_ = options;
  failure_.reset();
  unrounded_losses_ = {};
  host_knows_values_ = false;
  allocation_count_ = 0;
  adopted_arrays_.clear();
  prepared_launches_.clear();
  stream_choices_.seed(static_cast<std::mt19937::result_type>(options.execution_order.shuffle_seed));
}

void SimulatedGpu::end_process() {
  modules_.clear();
  kernels_by_module_and_name_.clear();
  allowed_shared_bytes_by_kernel_.clear();
  prepared_launches_.clear();
  machine_.reset();
  unprotect_managed_memory();
  free_allocations();
}

void SimulatedGpu::HostAllocation::free() {
  if (is_managed()) ::munmap(memory.data(), memory.size());
  owned.reset();
}

void SimulatedGpu::free_allocations() {
  for (auto& [address, allocation] : allocations_by_address_)
    allocation.free();
  allocations_by_address_.clear();
  allocated_bytes_ = 0;
  total_allocation_count_ = 0;
}

void SimulatedGpu::free_allocations_of_call() {
  std::map<std::uint64_t, std::uint64_t> lasting_addresses;  // by number, so that the oldest allocations stay
  for (const auto& [address, allocation] : allocations_by_address_)
    if (allocation.is_lasting) lasting_addresses[allocation.number] = address;
  std::uint64_t lasting_bytes = 0;
  for (const auto& [number, address] : lasting_addresses) {
    HostAllocation& allocation = allocations_by_address_.at(address);
    lasting_bytes += allocation.memory.size();
    allocation.is_lasting = lasting_bytes <= kMostLastingBytes;
  }
  for (auto at = allocations_by_address_.begin(); at != allocations_by_address_.end();) {
    HostAllocation& allocation = at->second;
    if (!allocation.is_lasting) {
      allocated_bytes_ -= allocation.memory.size();
      allocation.free();
    }
    at = allocation.is_lasting ? std::next(at) : allocations_by_address_.erase(at);
  }
}

std::uint32_t SimulatedGpu::choose_stream(std::uint32_t count) {
  switch (options_.execution_order.order) {
    case ptx::Order::kForward: return 0;
    case ptx::Order::kReverse: return count - 1;
    default: return static_cast<std::uint32_t>(stream_choices_() % count);
  }
}

void SimulatedGpu::report_unfinished(std::int32_t count) {
  fail(LaunchFailed{fmt::format(
           "the host code returns before {} in a stream that it created, and nothing makes the "
           "default stream wait for this work; on a GPU, the caller may use the results before "
           "they are complete; synchronize the stream, or make the default stream wait for an event",
           count == 1 ? std::string("1 kernel, copy or fill has run")
                      : fmt::format("{} kernels, copies or fills have run", count))},
       kCudaErrorLaunchFailure);
}

std::uint64_t SimulatedGpu::adopt(const std::string& name, std::span<std::byte> bytes, ptx::AllocationFlags flags) {
  const ptx::AllocationId allocation = machine_.adopt(name, bytes, flags);
  adopted_arrays_[machine_.address(allocation)] = {allocation, flags};
  return machine_.address(allocation);
}

void SimulatedGpu::protect(std::uint64_t address) {
  const auto found = adopted_arrays_.find(address);
  if (found == adopted_arrays_.end()) return;
  found->second.second.read_only = true;
  machine_.set_flags(found->second.first, found->second.second);
}

std::uint64_t SimulatedGpu::add_allocation(std::span<std::byte> memory, std::unique_ptr<std::byte[]> owned,
                                           ptx::AllocationFlags flags) {
  // The candidate must not depend on the content of new memory.
  std::memset(memory.data(), 0xff, memory.size());
  const std::string name = fmt::format("allocation {} of the host code", ++allocation_count_);
  const std::uint64_t address = machine_.address(machine_.adopt(name, memory, flags));
  allocated_bytes_ += memory.size();
  allocations_by_address_[address] = {
      .bytes = memory.size(), .memory = memory, .owned = std::move(owned), .number = ++total_allocation_count_};
  return address;
}

std::uint64_t SimulatedGpu::allocate(std::uint64_t bytes) {
  const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
  if (size > kSimulatedMemoryBytes - std::min(allocated_bytes_, kSimulatedMemoryBytes)) return 0;
  auto owned = std::make_unique_for_overwrite<std::byte[]>(size);
  const std::span<std::byte> memory(owned.get(), size);
  const std::uint64_t address = add_allocation(memory, std::move(owned), {.read_only = false, .uninitialized = true});
  allocations_by_address_.at(address).bytes = bytes;
  return address;
}

std::uint64_t SimulatedGpu::allocate_managed(std::uint64_t bytes) {
  // Some addresses are in use in the host's address space, for instance by its program and libraries.
  constexpr int kAttempts = 32;
  const std::size_t size = std::max<std::uint64_t>(bytes, 1);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::uint64_t address = machine_.next_address();
    void* const wanted = reinterpret_cast<void*>(address);
    void* const mapped = ::mmap(wanted, size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped == wanted) return add_allocation({static_cast<std::byte*>(mapped), size}, nullptr, {});
    if (mapped != MAP_FAILED) ::munmap(mapped, size);
    machine_.adopt("unused", {}, {});
  }
  return 0;
}

void SimulatedGpu::release(std::uint64_t address) {
  const auto found = allocations_by_address_.find(address);
  if (found == allocations_by_address_.end()) return;
  // The host could read a result in managed memory without a copy.
  if (found->second.is_managed()) copied_to_host(address, found->second.bytes);
  machine_.release(address);
  allocated_bytes_ -= found->second.memory.size();
  found->second.free();
  allocations_by_address_.erase(found);
}

void SimulatedGpu::set_lasting(std::uint64_t address, bool is_lasting) {
  if (const auto found = allocations_by_address_.find(address); found != allocations_by_address_.end())
    found->second.is_lasting = is_lasting;
}

void SimulatedGpu::unprotect_managed_memory() {
  for (auto& [address, allocation] : allocations_by_address_)
    if (std::exchange(allocation.is_protected, false))
      ::mprotect(reinterpret_cast<void*>(address), allocation.bytes, PROT_READ | PROT_WRITE);
  if (!crash_report_.empty()) crash_report_.front() = '\0';
}

void SimulatedGpu::protect_memory_of_pending_launches() {
  for (const std::optional<PreparedLaunch>& launch : prepared_launches_) {
    if (!launch) continue;
    for (const std::vector<std::byte>& value : launch->arguments.values()) {
      std::uint64_t address = 0;
      if (value.size() != sizeof(address)) continue;
      std::memcpy(&address, value.data(), sizeof(address));
      if (!is_managed(address)) continue;
      auto& [start, allocation] = *std::prev(allocations_by_address_.upper_bound(address));
      if (std::exchange(allocation.is_protected, true)) continue;
      ::mprotect(reinterpret_cast<void*>(start), allocation.bytes, PROT_NONE);
      const std::string text =
          outcome_text(LaunchFailed{"the host accesses managed memory while a kernel that gets it may be running; call "
                                    "cudaDeviceSynchronize() before"},
                       crash_report_.size());
      if (text.size() < crash_report_.size()) std::ranges::copy(text + '\0', crash_report_.begin());
    }
  }
}

void SimulatedGpu::copied_to_host(std::uint64_t source, std::uint64_t size) {
  host_knows_values_ = true;
  if (observer_ != nullptr) observer_->copied_to_host(source, size);
}

/// The host may have computed a float from results of kernels, with an unknown rounding error. If it has read no device
/// memory, a float is a constant, such as a weight in a table. A program also copies the inputs of the specification,
/// which are exact.
void SimulatedGpu::copied_from_host(std::uint64_t target, std::uint64_t size) {
  if (!options_.computes_unrounded_values || observer_ != nullptr) return;
  const std::uint64_t floats = machine_.receive_floats(target, size, !host_knows_values_);
  if (host_knows_values_) unrounded_losses_.host_value_count += floats;
}

std::uint64_t SimulatedGpu::bytes_from(std::uint64_t address) const {
  const auto after = allocations_by_address_.upper_bound(address);
  if (after == allocations_by_address_.begin()) return 0;
  const auto& [start, allocation] = *std::prev(after);
  return address - start < allocation.bytes ? start + allocation.bytes - address : 0;
}

bool SimulatedGpu::is_managed(std::uint64_t address) const {
  const auto after = allocations_by_address_.upper_bound(address);
  return after != allocations_by_address_.begin() && bytes_from(address) > 0 && std::prev(after)->second.is_managed();
}

void* SimulatedGpu::bytes(std::uint64_t address, std::uint64_t size, bool writes) {
  if (is_managed(address)) unprotect_managed_memory();
  const Result<std::span<std::byte>> found = machine_.bytes_at(address, size, writes);
  return found.ok() ? found->data() : nullptr;
}

void SimulatedGpu::copied(std::uint64_t target, std::uint64_t source, std::uint64_t size) {
  if (options_.computes_unrounded_values) machine_.copy_unrounded_values(target, source, size);
}

void SimulatedGpu::converted(std::uint64_t target, Element target_type, std::uint64_t source, Element source_type) {
  const std::optional<ptx::Type> from = ptx_type(source_type);
  const std::optional<ptx::Type> to = ptx_type(target_type);
  if (!options_.computes_unrounded_values || !from || !to) return;
  machine_.set_unrounded_value(target, *to, machine_.unrounded_values(source, *from, 1).front());
}

void SimulatedGpu::write_unrounded_values(std::uint64_t address, Element type, std::size_t count,
                                          std::span<std::byte> place) const {
  const std::optional<ptx::Type> known = ptx_type(type);
  if (known) ptx::write_unrounded_array(unrounded_losses_, machine_.unrounded_values(address, *known, count), place);
}

std::int32_t SimulatedGpu::add_module(const void* fat_binary) {
  const auto number = static_cast<std::int32_t>(modules_.size());
  Module& module = modules_.emplace_back();
  const Result<std::vector<std::string>> texts =
      ptx_of({static_cast<const std::byte*>(fat_binary), fat_binary_bytes(fat_binary)});
  if (!texts.ok()) {
    module.error = texts.error().text();
    return number;
  }
  Result<ptx::Module> parsed = ptx::parse(texts->front(), "candidate.ptx");
  if (parsed.ok()) module.parsed_module = std::make_shared<const ptx::Module>(parsed.take());
  else module.error = parsed.error().text();
  return number;
}

std::uint64_t SimulatedGpu::variable(std::int32_t module, const std::string& name) {
  const auto index = static_cast<std::size_t>(module);
  if (index >= modules_.size() || modules_[index].parsed_module == nullptr) return 0;
  const Result<std::uint64_t> address = machine_.variable(modules_[index].parsed_module, name);
  return address.ok() ? *address : 0;
}

std::int32_t SimulatedGpu::allow_shared_bytes(std::int32_t module, const std::string& kernel, std::uint64_t bytes) {
  const Result<std::shared_ptr<const ptx::Kernel>> found = find_kernel(module, kernel);
  if (!found.ok()) return kCudaErrorInvalidDeviceFunction;
  if (declared_shared_bytes(**found) + bytes > most_shared_bytes((*found)->module->target_architecture))
    return kCudaErrorInvalidValue;
  allowed_shared_bytes_by_kernel_[{module, kernel}] = bytes;
  return kCudaSuccess;
}

Result<std::shared_ptr<const ptx::Kernel>> SimulatedGpu::find_kernel(std::int32_t module, const std::string& kernel) {
  const auto index = static_cast<std::size_t>(module);
  if (index >= modules_.size())
    return Error{fmt::format("the kernel '{}' is in no module that the host code has loaded", kernel)};
  if (modules_[index].parsed_module == nullptr) return Error{modules_[index].error};
  std::shared_ptr<const ptx::Kernel>& found = kernels_by_module_and_name_[{module, kernel}];
  if (found == nullptr) {
    auto lowered = ptx::lower(modules_[index].parsed_module, kernel);
    if (!lowered.ok()) return lowered.error();
    found = lowered.take();
  }
  return found;
}

std::int32_t SimulatedGpu::fail(RunOutcome outcome, std::int32_t error) {
  if (!failure_) failure_ = std::move(outcome);
  return error;
}

std::int32_t SimulatedGpu::report_unsupported(const std::string& what) {
  return fail(Unsupported{fmt::format("the host code uses {}, which Assay does not support", what)},
              kCudaErrorNotSupported);
}

std::int32_t SimulatedGpu::encode_tensor_map(const TensorMapRequest& request, void* map) {
  // The codes of tensormap.replace by CUtensorMapDataType.
  constexpr std::array<std::uint8_t, 16> kElementCodes{0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12, 13, 14, 15};
  constexpr std::int32_t kWidestSwizzle = 3;  // greater numbers permute chunks of other sizes
  if (request.rank == 0 || request.rank > ptx::kMaxTensorRank || request.element_type < 0 ||
      static_cast<std::size_t>(request.element_type) >= kElementCodes.size())
    return kCudaErrorInvalidValue;
  ptx::TensorMap tensor{.address = request.address};
  std::ranges::copy(std::span(request.strides), tensor.strides.begin());
  std::ranges::copy(std::span(request.extents), tensor.extents.begin());
  std::ranges::copy(std::span(request.box), tensor.box.begin());
  for (std::size_t d = 0; d < request.rank; ++d)
    tensor.element_strides[d] =
        static_cast<std::uint8_t>(std::min<std::uint32_t>(request.element_strides[d], UINT8_MAX));
  tensor.rank_code = static_cast<std::uint8_t>(request.rank - 1);
  tensor.element_code = kElementCodes[static_cast<std::size_t>(request.element_type)];
  tensor.interleave_code = static_cast<std::uint8_t>(request.interleave);
  tensor.swizzle_code = static_cast<std::uint8_t>(std::min(request.swizzle, kWidestSwizzle));
  tensor.atomicity_code = request.swizzle > kWidestSwizzle ? 1 : 0;
  tensor.fill_code = static_cast<std::uint8_t>(request.fill);
  if (!tensor.defect().empty()) return kCudaErrorInvalidValue;
  const ptx::TensorMapBytes bytes = ptx::encode(tensor);
  std::memcpy(map, bytes.data(), bytes.size());
  return kCudaSuccess;
}

std::uint32_t SimulatedGpu::resident_blocks(std::int32_t module, const std::string& kernel, std::uint32_t block_threads,
                                            std::uint64_t dynamic_shared_bytes) {
  const Result<std::shared_ptr<const ptx::Kernel>> found = find_kernel(module, kernel);
  if (!found.ok()) return 0;
  return candidate::resident_blocks((*found)->module->target_architecture, block_threads,
                                    declared_shared_bytes(**found) + dynamic_shared_bytes);
}

std::int32_t SimulatedGpu::prepare_launch(std::int32_t module, const std::string& kernel,
                                          const ptx::LaunchGeometry& geometry, void* const* arguments,
                                          std::int32_t& number) {
  if (failure_) return kCudaErrorLaunchFailure;
  const Result<std::shared_ptr<const ptx::Kernel>> found = find_kernel(module, kernel);
  if (!found.ok()) return fail(Unsupported{found.error().text()}, kCudaErrorInvalidDeviceFunction);
  const auto allowed = allowed_shared_bytes_by_kernel_.find({module, kernel});
  const std::uint64_t declared = declared_shared_bytes(**found);
  const std::uint64_t most = allowed == allowed_shared_bytes_by_kernel_.end()
                                 ? kDefaultMaxSharedBytes
                                 : std::max(kDefaultMaxSharedBytes, declared + allowed->second);
  if (const std::uint64_t shared = declared + geometry.dynamic_shared_bytes; shared > most) {
    return fail(
        LaunchFailed{fmt::format("the host code starts a kernel whose blocks use {} bytes of shared memory, but "
                                 "at most {} are possible; on a GPU, this kernel never runs",
                                 shared, most)},
        kCudaErrorInvalidValue);
  }
  const std::uint64_t most_blocks =
      std::uint64_t{kMultiprocessorCount} * candidate::resident_blocks((*found)->module->target_architecture,
                                                                       geometry.block.count(),
                                                                       declared + geometry.dynamic_shared_bytes);
  if (geometry.is_cooperative && geometry.grid.count() > most_blocks) {
    return fail(LaunchFailed{fmt::format("the host code starts {} blocks cooperatively, but a GPU with {} "
                                         "multiprocessors can hold at most {} of them at the same time; on such a GPU, "
                                         "this kernel never runs",
                                         geometry.grid.count(), kMultiprocessorCount, most_blocks)},
                kCudaErrorCooperativeLaunchTooLarge);
  }
  ptx::KernelArguments values;
  const std::vector<ptx::Variable>& parameters = (*found)->entry_function->parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto* const bytes = static_cast<const std::byte*>(arguments[i]);
    values.add_bytes({bytes, bytes + parameters[i].bytes});
  }
  number = static_cast<std::int32_t>(prepared_launches_.size());
  prepared_launches_.push_back(PreparedLaunch{.kernel = *found, .geometry = geometry, .arguments = std::move(values)});
  protect_memory_of_pending_launches();
  return kCudaSuccess;
}

std::int32_t SimulatedGpu::run_launch(std::int32_t number) {
  if (failure_) return kCudaErrorLaunchFailure;
  const std::optional<PreparedLaunch> prepared =
      std::exchange(prepared_launches_.at(static_cast<std::size_t>(number)), std::nullopt);
  if (!prepared) return kCudaErrorInvalidValue;
  unprotect_managed_memory();
  ptx::KernelArguments arguments = prepared->arguments;
  if (observer_ != nullptr) {
    std::vector<std::vector<std::byte>> values = arguments.values();
    if (auto failure = observer_->before_launch(plain_name(prepared->kernel->entry_function->name), values))
      return fail(*std::move(failure), kCudaErrorLaunchFailure);
    arguments = {};
    for (std::vector<std::byte>& value : values)
      arguments.add_bytes(std::move(value));
  }
  const auto start = std::chrono::steady_clock::now();
  ptx::RunResult result = machine_.launch(prepared->kernel, prepared->geometry, arguments, options_);
  protect_memory_of_pending_launches();
  unrounded_losses_.ambiguous_decision_count += result.unrounded_losses.ambiguous_decision_count;
  unrounded_losses_.evaluates_polynomials |= result.unrounded_losses.evaluates_polynomials;
  unrounded_losses_.overflows |= result.unrounded_losses.overflows;
  unrounded_losses_.approximate_functions |= result.unrounded_losses.approximate_functions;
  unrounded_losses_.lost_value_count += result.unrounded_losses.lost_value_count;
  if (result.ok()) return kCudaSuccess;
  use_plain_names(result);
  RunOutcome outcome = ptx::make_run_outcome(result, LaunchRequest{}, prepared->kernel->module->target_architecture,
                                             std::chrono::steady_clock::now() - start);
  if (result.status == ptx::RunResult::Status::kRejected) {
    outcome = LaunchFailed{fmt::format("the host code starts a kernel that no GPU would run: {}",
                                       std::get<LaunchFailed>(outcome).message)};
    return fail(std::move(outcome), kCudaErrorInvalidConfiguration);
  }
  return fail(std::move(outcome), kCudaErrorLaunchFailure);
}

}  // namespace assay::candidate
