// The plan that determines when and how the fake driver fails.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/cuda/driver/symbols.hpp"
#include "support/result.hpp"

namespace assay::cuda::fake {

/// What a call of the fake driver does.
enum class FakeCallAction : std::uint8_t {
  kSucceed,      ///< does its work
  kFail,         ///< returns an error, this time only
  kLoseDevice,   ///< loses the device: this call and all later calls fail
  kHang,         ///< never returns
  kKillProcess,  ///< ends the process by a signal
};

/// What a call does, and the error that it returns.
struct ScriptedAction {
  FakeCallAction action = FakeCallAction::kSucceed;  ///< what the call does
  CUresult result = CUDA_SUCCESS;                    ///< error code that a call with kFail returns
};

/// The machine's properties and its injected failures, as specified by $ASSAY_FAKE_GPU:
///
///     memory=64M; gpus=2; lost=1; compute=90; records=3; order=shuffled; wrong=mul.rn.f32>mul.rz.f32;
///     cuMemAlloc_v2@2=2
///
/// `memory`, `gpus` and `compute` set the memory size, number and compute capability of the GPUs. `lost` is
/// the number of the GPU on which no context can be created. `records` is the number of CUPTI records before the others
/// are dropped. With `order=shuffled`, each launch runs its threads in another order, as on a GPU; otherwise all
/// launches use the same order. `wrong` replaces one PTX instruction by another. CALL@N=ACTION determines what the N-th
/// call of a function does, counted from 1 in each process: fail with the number of a CUresult or CUptiResult, `lose`,
/// `hang` or `die`.
class DriverScript {
 public:
  static Result<DriverScript> parse(std::string_view text);

  [[nodiscard]] std::size_t memory_bytes() const { return memory_bytes_; }
  [[nodiscard]] int gpus() const { return gpu_count_; }
  [[nodiscard]] bool has_lost_gpu(int gpu) const { return gpu == lost_gpu_ordinal_; }
  [[nodiscard]] bool shuffles_threads() const { return shuffles_threads_; }
  [[nodiscard]] int compute_capability() const { return compute_capability_; }  ///< 75 means 7.5
  /// Returns the PTX with the instruction replacements of `wrong` applied.
  [[nodiscard]] std::string with_replaced_instructions(std::string ptx) const;
  [[nodiscard]] std::size_t max_records() const { return max_activity_records_; }

  /// Counts a call and returns what it must do.
  ScriptedAction next(const char* call);

 private:
  Result<void> parse_rule(std::string_view key, std::string_view value);

  std::size_t memory_bytes_ = std::size_t{1} << 30U;  ///< size of the GPU memory
  int gpu_count_ = 1;                                 ///< number of GPUs
  bool shuffles_threads_ = false;                     ///< whether each launch runs its threads in another order
  int lost_gpu_ordinal_ = -1;    ///< number of the GPU on which no context can be created; -1: no such GPU
  int compute_capability_ = 75;  ///< compute capability times ten: 75 means 7.5
  /// PTX instructions and the instructions that replace them.
  std::vector<std::pair<std::string, std::string>> instruction_replacements_;
  std::size_t max_activity_records_ =
      std::numeric_limits<std::size_t>::max();  ///< CUPTI records before others are dropped
  /// Actions by name of the called function and by number of the call, counted from 1.
  std::map<std::string, std::map<std::uint64_t, ScriptedAction>, std::less<>> actions_by_function_and_call_number_;
  std::map<std::string, std::uint64_t, std::less<>> call_counts_by_function_;  ///< number of calls so far, by function
};

}  // namespace assay::cuda::fake
