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

/// Holds the GPU's context and an image of the session's buffers in its memory.
///
/// A launch's buffers go there before it and come back behind it, guard bands and all, so that the host sees what the
/// kernel did to each byte; a launch that fails leaves the host's as they were. Launches take turns on a few streams.
class GpuExecutor final : public worker::Executor {
 public:
  /// Throws CallError when there is no context to be had.
  GpuExecutor(const Driver& driver, const worker::Allowance& allowance, std::span<std::byte> buffers);

  worker::LaunchEnd run(const worker::RecordReader& launch) override;

 private:
  /// A part of the buffers.
  struct Range {
    std::size_t at = 0;
    std::size_t size = 0;
    friend auto operator<=>(const Range&, const Range&) = default;
  };
  /// The end of the last of them, at least 1.
  static std::size_t reach_of(std::span<const Range> ranges) {
    return ranges.empty() ? 1 : ranges.back().at + ranges.back().size;
  }
  struct Entry {
    CUfunction function = nullptr;
    std::optional<std::vector<std::size_t>> sizes;  ///< of the parameters; nothing where the driver does not tell
  };

  worker::LaunchEnd launch(const worker::RecordReader& launch);
  /// Of the launch, whose buffers reach so far, on the stream.
  worker::LaunchEnd measured(const worker::RecordReader& launch, const Entry& entry, const backends::BlockGrid& grid,
                             std::span<const Range> ranges, const Stream& stream);
  const Module& module_of(const std::string& code);
  const Entry& entry_of(const std::string& code, const std::string& symbol);
  [[nodiscard]] std::optional<std::vector<std::size_t>> parameter_sizes(CUfunction function) const;
  bool make_room(std::size_t bytes);
  void copy_in(std::span<const Range> ranges, CUdeviceptr image, const Stream& stream) const;
  void copy_out(std::span<const Range> ranges, const Stream& stream) const;

  Driver driver_;
  std::span<std::byte> buffers_;
  std::size_t most_bytes_;
  int ordinal_;
  Context context_;
  std::array<Stream, 4> streams_;
  Event start_;
  Event end_;
  std::optional<DeviceMemory> image_;
  std::size_t image_bytes_ = 0;
  std::map<std::string, Module> modules_;
  std::map<std::pair<std::string, std::string>, Entry> entries_;
  worker::PlacedArguments arguments_;
  std::size_t launches_ = 0;
};

/// How a launch ended in which a call failed.
worker::LaunchEnd end_of(const CallError& error);

}  // namespace assay::cuda
