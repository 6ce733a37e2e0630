#include "backends/cuda/executor.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "backends/cuda/measuring.hpp"

namespace assay::cuda {

using worker::LaunchProgress;
using worker::LaunchRecordReader;
using worker::LaunchResult;

namespace {

/// The content of new memory, which a kernel gets if it reads memory that was not initialized.
constexpr unsigned char kPoison = 0xCB;
constexpr std::size_t kSmallestImage = std::size_t{1} << 20;
/// A measurement leaves 1/kFreeParts of the free memory unused, for the driver and for other processes.
constexpr std::size_t kFreeParts = 16;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

LaunchProgress progress_of(ErrorCause cause) {
  switch (cause) {
    case ErrorCause::kInvalidRequest: return LaunchProgress::kRejected;
    case ErrorCause::kInvalidAccess: return LaunchProgress::kFaulted;
    case ErrorCause::kKernelFailure: return LaunchProgress::kCrashed;
    case ErrorCause::kTimeLimit: return LaunchProgress::kTimedOut;
    case ErrorCause::kMachineFailure: break;
  }
  return LaunchProgress::kResourceError;
}

LaunchResult rejected(std::string message) {
  return {.progress = LaunchProgress::kRejected, .message = std::move(message)};
}

/// Why the arguments do not match the parameters, of which the first is the number of threads; empty if they do.
std::string mismatch(const std::vector<std::size_t>& sizes, std::span<const worker::ArgumentLocation> arguments) {
  if (sizes.size() != arguments.size() + 1) {
    return fmt::format("the kernel takes {} arguments, got {}", sizes.size() - 1, arguments.size());
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (sizes[i + 1] != arguments[i].size) {
      return fmt::format("argument {} must have {} bytes, got {}", i, sizes[i + 1], arguments[i].size);
    }
  }
  return {};
}

}  // namespace

LaunchResult end_of(const CallError& error) {
  const ErrorClassification error_class = classify(error.code());
  return {
      .progress = progress_of(error_class.cause), .message = error.what(), .process_is_usable = !error_class.is_sticky};
}

GpuExecutor::GpuExecutor(const Driver& driver, const worker::WorkerLimits& worker_limits, std::span<std::byte> buffers)
    : driver_(driver),
      host_buffers_(buffers),
      max_buffer_copy_bytes_(worker_limits.device_memory_limit_bytes == 0 ? buffers.size()
                                                                          : worker_limits.device_memory_limit_bytes),
      gpu_ordinal_(worker_limits.device_ordinal),
      context_(enter_context(driver_, worker_limits.device_ordinal)),
      streams_{make_stream(driver_), make_stream(driver_), make_stream(driver_), make_stream(driver_)},
      launch_start_event_(make_event(driver_)),
      launch_end_event_(make_event(driver_)) {}

LaunchResult GpuExecutor::run(const LaunchRecordReader& reader) {
  try {
    if (reader.loads_only()) {
      module_of(reader.code());
      return {};
    }
    return launch(reader);
  } catch (const CallError& error) {
    return end_of(error);
  }
}

LaunchResult GpuExecutor::launch(const LaunchRecordReader& reader) {
  const LoadedEntryPoint& entry = entry_point_of(reader.code(), reader.symbol());
  if (entry.parameter_sizes) {
    if (std::string message = mismatch(*entry.parameter_sizes, reader.arguments()); !message.empty()) {
      return rejected(std::move(message));
    }
  }
  const worker::LaunchRecord& record = reader.record();
  const auto grid =
      backends::block_grid_for(record.threads, record.requested_block_threads, record.required_block_threads);
  if (!grid) {
    return rejected("the launch size or the block size is out of range");
  }
  std::vector<BufferByteRange> ranges;
  for (const worker::PointerRelocation& pointer : reader.pointers()) {
    ranges.push_back({pointer.buffer_offset, pointer.buffer_size});
  }
  std::ranges::sort(ranges);
  const auto repeated = std::ranges::unique(ranges);
  ranges.erase(repeated.begin(), repeated.end());
  const Stream& stream = streams_[launch_count_++ % streams_.size()];
  if (record.timed_run_count > 0) return run_measured(reader, entry, *grid, ranges, stream);
  const std::size_t reach = required_bytes(ranges);
  if (!reserve_buffer_copy(reach)) {
    return {.progress = LaunchProgress::kResourceError,
            .message = fmt::format("the launch needs {} bytes of device memory, but only {} are allowed", reach,
                                   max_buffer_copy_bytes_)};
  }

  const std::span<void*> arguments = arguments_.place(reader, buffer_copy_->get());
  long long threads = record.threads;
  arguments.front() = &threads;
  copy_in(ranges, buffer_copy_->get(), stream);
  driver_.call(driver_.cuEventRecord, "recording the start of a launch", launch_start_event_.get(), stream.get());
  driver_.call(driver_.cuLaunchKernel, reader.symbol(), entry.function, grid->block_count, 1U, 1U,
               grid->threads_per_block, 1U, 1U, 0U, stream.get(), arguments.data(), static_cast<void**>(nullptr));
  driver_.call(driver_.cuEventRecord, "recording the end of a launch", launch_end_event_.get(), stream.get());
  // Wait before copying back, so that the host's buffers stay unchanged if the kernel failed.
  driver_.call(driver_.cuStreamSynchronize, reader.symbol(), stream.get());
  copy_out(ranges, stream);
  driver_.call(driver_.cuStreamSynchronize, "copying the results", stream.get());
  return {.nanoseconds =
              static_cast<std::int64_t>(nanoseconds_between(driver_, launch_start_event_, launch_end_event_))};
}

LaunchResult GpuExecutor::run_measured(const LaunchRecordReader& reader, const LoadedEntryPoint& entry,
                                       const backends::BlockGrid& grid, std::span<const BufferByteRange> ranges,
                                       const Stream& stream) {
  // Release the image of other launches before determining the free memory.
  buffer_copy_.reset();
  buffer_copy_bytes_ = 0;
  long long threads = reader.record().threads;
  const LaunchToMeasure launch{.symbol = reader.symbol(),
                               .function = entry.function,
                               .grid = grid,
                               .buffer_copy_bytes = required_bytes(ranges),
                               .sample_count = static_cast<std::size_t>(reader.record().timed_run_count),
                               .gpu_ordinal = gpu_ordinal_,
                               .fill = [&](CUdeviceptr to) { copy_in(ranges, to, stream); },
                               .arguments =
                                   [&](CUdeviceptr base) {
                                     const std::span<void*> arguments = arguments_.place(reader, base);
                                     arguments.front() = &threads;
                                     return arguments;
                                   }};
  const std::size_t free = free_bytes(driver_) / kFreeParts * (kFreeParts - 1);
  std::optional<worker::LaunchMeasurements> measured =
      measure_launch(driver_, stream, launch, std::min(max_buffer_copy_bytes_, free));
  if (!measured) {
    return {.progress = LaunchProgress::kResourceError,
            .message = fmt::format("measuring needs memory for three copies of the launch's {} bytes plus twice the "
                                   "cache size, but the {} device memory has only {} bytes",
                                   launch.buffer_copy_bytes, free < max_buffer_copy_bytes_ ? "free" : "allowed",
                                   std::min(max_buffer_copy_bytes_, free))};
  }
  const auto nanoseconds = static_cast<std::int64_t>(measured->measures.at("time_ns"));
  return {.nanoseconds = nanoseconds, .measurements = std::move(measured)};
}

/// Loads the first of the files that the driver accepts.
const Module& GpuExecutor::module_of(const std::string& code) {
  if (const auto known = modules_by_code_files_.find(code); known != modules_by_code_files_.end()) {
    return known->second;
  }
  std::istringstream paths(code);
  std::string path;
  while (std::getline(paths, path)) {
    try {
      return modules_by_code_files_.emplace(code, load_module(driver_, content_of(path), path)).first->second;
    } catch (const CallError& error) {
      // A cubin for another architecture, or PTX newer than the driver; try the next file.
      if (classify(error.code()).cause != ErrorCause::kInvalidRequest ||
          paths.peek() == std::istringstream::traits_type::eof()) {
        throw;
      }
    }
  }
  throw CallError("cuModuleLoadDataEx", code, CUDA_ERROR_INVALID_IMAGE, "no file",
                  "the kernel has neither PTX nor a cubin");
}

const GpuExecutor::LoadedEntryPoint& GpuExecutor::entry_point_of(const std::string& code, const std::string& symbol) {
  const auto [entry, is_new] = entry_points_by_code_and_symbol_.try_emplace({code, symbol});
  if (is_new) {
    try {
      entry->second.function = find_function(driver_, module_of(code), symbol);
      entry->second.parameter_sizes = parameter_sizes(entry->second.function);
    } catch (const CallError&) {
      entry_points_by_code_and_symbol_.erase(entry);
      throw;
    }
  }
  return entry->second;
}

std::optional<std::vector<std::size_t>> GpuExecutor::parameter_sizes(CUfunction function) const {
  if (driver_.cuFuncGetParamInfo.address == nullptr) {
    return std::nullopt;
  }
  std::vector<std::size_t> sizes;
  std::size_t offset = 0;
  std::size_t size = 0;
  // The driver rejects the first index after the last parameter.
  while (driver_.cuFuncGetParamInfo.address(function, sizes.size(), &offset, &size) == CUDA_SUCCESS) {
    sizes.push_back(size);
  }
  // Every entry has at least the thread count, so an empty list means that the driver reported nothing.
  return sizes.empty() ? std::nullopt : std::optional(std::move(sizes));
}

/// Ensures that the image has `bytes` bytes; returns false if that is not allowed. Growing discards its content.
bool GpuExecutor::reserve_buffer_copy(std::size_t bytes) {
  if (bytes > max_buffer_copy_bytes_) {
    return false;
  }
  if (bytes <= buffer_copy_bytes_) {
    return true;
  }
  buffer_copy_.reset();
  buffer_copy_bytes_ = 0;
  const std::size_t size =
      std::min(std::max(std::bit_ceil(bytes), kSmallestImage), std::max(max_buffer_copy_bytes_, bytes));
  buffer_copy_.emplace(allocate(driver_, size));
  driver_.call(driver_.cuMemsetD8Async, "initializing new device memory", buffer_copy_->get(), kPoison, size,
               streams_[0].get());
  driver_.call(driver_.cuStreamSynchronize, "initializing new device memory", streams_[0].get());
  buffer_copy_bytes_ = size;
  return true;
}

void GpuExecutor::copy_in(std::span<const BufferByteRange> ranges, CUdeviceptr image, const Stream& stream) const {
  for (const BufferByteRange& range : ranges) {
    if (range.size == 0) continue;
    driver_.call(driver_.cuMemcpyHtoDAsync_v2, "a launch's buffer", image + range.offset,
                 static_cast<const void*>(host_buffers_.data() + range.offset), range.size, stream.get());
  }
}

void GpuExecutor::copy_out(std::span<const BufferByteRange> ranges, const Stream& stream) const {
  for (const BufferByteRange& range : ranges) {
    if (range.size == 0) continue;
    driver_.call(driver_.cuMemcpyDtoHAsync_v2, "a launch's buffer",
                 static_cast<void*>(host_buffers_.data() + range.offset), buffer_copy_->get() + range.offset,
                 range.size, stream.get());
  }
}

}  // namespace assay::cuda
