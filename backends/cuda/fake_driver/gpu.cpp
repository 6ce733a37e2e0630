#include "backends/cuda/fake_driver/gpu.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "backends/ptx/parse/module.hpp"

namespace assay::cuda::fake {

namespace {

/// A CUfunction is a kernel owned by its module.
const ptx::Kernel& kernel_of(CUfunction function) { return *reinterpret_cast<const ptx::Kernel*>(function); }

/// The result code of a launch. Codes from CUDA_ERROR_ILLEGAL_ADDRESS on are failures of a running kernel.
CUresult result_of(const ptx::RunResult& result) {
  if (!result.findings.empty()) {
    const bool misaligned = result.findings.front().kind == ptx::CheckFinding::Kind::kMisaligned;
    return misaligned ? CUDA_ERROR_MISALIGNED_ADDRESS : CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  switch (result.status) {
    case ptx::RunResult::Status::kCompleted: return CUDA_SUCCESS;
    case ptx::RunResult::Status::kRejected: return CUDA_ERROR_INVALID_VALUE;
    case ptx::RunResult::Status::kUnsupported: return CUDA_ERROR_INVALID_IMAGE;
    case ptx::RunResult::Status::kTrapped: return CUDA_ERROR_LAUNCH_FAILED;
    default: return CUDA_ERROR_UNKNOWN;
  }
}

}  // namespace

CUresult FakeGpu::load_module(const std::string& image, CUmodule* module) {
  // A cubin needs hardware.
  if (image.starts_with("\x7f"
                        "ELF"))
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  Result<ptx::Module> parsed = ptx::parse(image, "module.ptx");
  if (!parsed) return CUDA_ERROR_INVALID_PTX;
  auto owned = std::make_unique<Module>();
  owned->parsed_module = std::make_shared<const ptx::Module>(parsed.take());
  *module = reinterpret_cast<CUmodule>(owned.get());
  modules_.emplace(*module, std::move(owned));
  ++live_object_counts_.modules;
  return CUDA_SUCCESS;
}

CUresult FakeGpu::unload_module(CUmodule module) {
  if (modules_.erase(module) == 0) return CUDA_ERROR_INVALID_HANDLE;
  --live_object_counts_.modules;
  return CUDA_SUCCESS;
}

CUresult FakeGpu::get_function(CUmodule module, const char* name, CUfunction* function) {
  const auto found = modules_.find(module);
  if (found == modules_.end()) return CUDA_ERROR_INVALID_HANDLE;
  auto& kernel = found->second->kernels[name];
  if (kernel == nullptr) {
    auto lowered = ptx::lower(found->second->parsed_module, name);
    if (!lowered) return CUDA_ERROR_NOT_FOUND;
    kernel = lowered.take();
  }
  *function = reinterpret_cast<CUfunction>(const_cast<ptx::Kernel*>(kernel.get()));
  return CUDA_SUCCESS;
}

CUresult FakeGpu::parameter(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* bytes) const {
  const std::vector<ptx::Variable>& parameters = kernel_of(function).entry_function->parameters;
  if (index >= parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = parameters[index].offset;
  *bytes = parameters[index].bytes;
  return CUDA_SUCCESS;
}

CUresult FakeGpu::launch(CUfunction function, ptx::LaunchGeometry geometry, void** arguments) {
  const ptx::Kernel& kernel = kernel_of(function);
  // The machine numbers its allocations in order, so each slot keeps its address.
  machine_.reset();
  for (auto& slot : allocations_)
    machine_.adopt("device memory", slot ? std::span<std::byte>(*slot) : std::span<std::byte>());
  ptx::KernelArguments values;
  for (std::size_t i = 0; const ptx::Variable& parameter : kernel.entry_function->parameters) {
    const auto* const bytes = static_cast<const std::byte*>(arguments[i++]);
    values.add_bytes({bytes, bytes + parameter.bytes});
  }
  // Not owning: the module owns the kernel and outlives the launch.
  const std::shared_ptr<const ptx::Kernel> borrowed(&kernel, [](const ptx::Kernel*) {});
  ptx::LaunchOptions options{.checks = ptx::EnabledChecks::none(),
                             .instruction_limit = std::numeric_limits<std::uint64_t>::max()};
  options.checks.reports_misaligned = true;
  if (shuffles_threads_) options.execution_order = {.order = ptx::Order::kShuffled, .shuffle_seed = ++launch_count_};
  const CUresult result = result_of(machine_.launch(borrowed, geometry, values, options));
  // A rejected launch returns its error immediately.
  if (result < CUDA_ERROR_ILLEGAL_ADDRESS) return result;
  kernel_failure_ = result;
  return CUDA_SUCCESS;
}

CUdeviceptr FakeGpu::base_of(std::size_t slot) {
  return ((slot + ptx::kFirstAllocationWindowIndex) << ptx::kAddressWindowBits) + ptx::kAddressWindowMiddleOffset;
}

CUresult FakeGpu::allocate(std::size_t bytes, CUdeviceptr* address) {
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (bytes > memory_bytes_ - used_bytes_) return CUDA_ERROR_OUT_OF_MEMORY;
  auto slot = std::ranges::find_if(allocations_, [](const auto& candidate) { return !candidate; });
  if (slot == allocations_.end()) slot = allocations_.emplace(slot);
  slot->emplace(bytes);
  used_bytes_ += bytes;
  ++live_object_counts_.allocations;
  *address = base_of(static_cast<std::size_t>(slot - allocations_.begin()));
  return CUDA_SUCCESS;
}

CUresult FakeGpu::free(CUdeviceptr address) {
  for (std::size_t i = 0; i < allocations_.size(); ++i) {
    if (!allocations_[i] || base_of(i) != address) continue;
    used_bytes_ -= allocations_[i]->size();
    allocations_[i].reset();
    --live_object_counts_.allocations;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

std::byte* FakeGpu::host(CUdeviceptr address, std::size_t bytes) {
  for (std::size_t i = 0; i < allocations_.size(); ++i) {
    const CUdeviceptr base = base_of(i);
    if (!allocations_[i] || address < base || address - base > allocations_[i]->size()) continue;
    const std::size_t offset = address - base;
    return bytes <= allocations_[i]->size() - offset ? allocations_[i]->data() + offset : nullptr;
  }
  return nullptr;
}

CUevent FakeGpu::make_event() {
  const auto event = reinterpret_cast<CUevent>(++last_event_number_);
  event_times_[event];
  ++live_object_counts_.events;
  return event;
}

CUresult FakeGpu::end_event(CUevent event) {
  if (event_times_.erase(event) == 0) return CUDA_ERROR_INVALID_HANDLE;
  --live_object_counts_.events;
  return CUDA_SUCCESS;
}

CUresult FakeGpu::record(CUevent event) {
  const auto found = event_times_.find(event);
  if (found == event_times_.end()) return CUDA_ERROR_INVALID_HANDLE;
  found->second = Clock::now();
  return CUDA_SUCCESS;
}

CUresult FakeGpu::elapsed(CUevent start, CUevent end, float* milliseconds) const {
  const auto first = event_times_.find(start);
  const auto last = event_times_.find(end);
  if (first == event_times_.end() || last == event_times_.end() || !first->second || !last->second) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(*last->second - *first->second).count();
  return CUDA_SUCCESS;
}

}  // namespace assay::cuda::fake
