// Runs launches on one GPU, in the worker. Private to the worker.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/driver/handles.hpp"
#include "backends/device/geometry.hpp"
#include "backends/worker/placed_arguments.hpp"
#include "backends/worker/serve.hpp"

namespace assay::cuda {

/// Runs launches on a GPU. Owns the GPU's context and a copy of the session's buffers in GPU memory. Before a launch,
/// its buffers with their guard bands are copied to GPU memory, and afterwards back, so that the host sees every byte
/// that the kernel changed. A failed launch leaves the host's buffers unchanged. Launches use a few streams in turn.
class GpuExecutor final : public worker::LaunchExecutor {
 public:
  /// Throws CallError if no context can be created.
  GpuExecutor(const Driver& driver, const worker::WorkerLimits& worker_limits, std::span<std::byte> buffers);

  worker::LaunchResult run(const worker::LaunchRecordReader& launch) override;

 private:
  /// A range of bytes within the session's buffers.
  struct BufferByteRange {
    std::size_t offset = 0;  ///< position of the first byte
    std::size_t size = 0;    ///< number of bytes
    friend auto operator<=>(const BufferByteRange&, const BufferByteRange&) = default;
  };
  /// Returns the size of the buffers up to the end of the last range; at least 1.
  static std::size_t required_bytes(std::span<const BufferByteRange> ranges) {
    return ranges.empty() ? 1 : ranges.back().offset + ranges.back().size;
  }
  /// An entry point of a loaded module.
  struct LoadedEntryPoint {
    CUfunction function = nullptr;  ///< the driver's handle of the entry point
    std::optional<std::vector<std::size_t>>
        parameter_sizes;  ///< parameter sizes in bytes; nullopt if the driver gives none
  };

  worker::LaunchResult launch(const worker::LaunchRecordReader& launch);
  /// Runs the launch on the stream and measures it. `ranges` are its buffers.
  worker::LaunchResult run_measured(const worker::LaunchRecordReader& launch, const LoadedEntryPoint& entry,
                                    const backends::BlockGrid& grid, std::span<const BufferByteRange> ranges,
                                    const Stream& stream);
  const Module& module_of(const std::string& code);
  const LoadedEntryPoint& entry_point_of(const std::string& code, const std::string& symbol);
  [[nodiscard]] std::optional<std::vector<std::size_t>> parameter_sizes(CUfunction function) const;
  bool reserve_buffer_copy(std::size_t bytes);  ///< enlarges the copy; false: beyond max_buffer_copy_bytes_
  void copy_in(std::span<const BufferByteRange> ranges, CUdeviceptr image, const Stream& stream) const;
  void copy_out(std::span<const BufferByteRange> ranges, const Stream& stream) const;

  Driver driver_;                            ///< the loaded CUDA driver
  std::span<std::byte> host_buffers_;        ///< all buffers of the session, in host memory
  std::size_t max_buffer_copy_bytes_;        ///< maximum size of buffer_copy_
  int gpu_ordinal_;                          ///< number of the GPU in the driver's order
  Context context_;                          ///< keeps the GPU's primary context alive
  std::array<Stream, 4> streams_;            ///< streams that launches use in turn
  Event launch_start_event_;                 ///< recorded before each launch
  Event launch_end_event_;                   ///< recorded after each launch
  std::optional<DeviceMemory> buffer_copy_;  ///< copy of the buffers in GPU memory; nullopt before the first launch
  std::size_t buffer_copy_bytes_ = 0;        ///< size of buffer_copy_; 0: not allocated
  /// Loaded modules, by the list of files that each was loaded from.
  std::map<std::string, Module> modules_by_code_files_;
  /// Loaded entry points, by code files and symbol.
  std::map<std::pair<std::string, std::string>, LoadedEntryPoint> entry_points_by_code_and_symbol_;
  worker::RelocatedArguments arguments_;  ///< arguments of the current launch, with GPU addresses
  std::size_t launch_count_ = 0;          ///< number of launches so far, which selects the next stream
};

/// The end of a launch in which a call failed.
worker::LaunchResult end_of(const CallError& error);

}  // namespace assay::cuda
