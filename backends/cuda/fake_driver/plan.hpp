// When the fake driver fails, and how.
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

/// What a call does instead of its work.
enum class Action : std::uint8_t {
  kWork,
  kFail,  ///< gives a result, and once
  kLose,  ///< the device is gone: this call fails, and every later one
  kHang,  ///< never returns
  kDie,   ///< ends the process by a signal
};

struct Step {
  Action action = Action::kWork;
  CUresult result = CUDA_SUCCESS;  ///< of kFail
};

/// What the machine has and what fails in it, as $ASSAY_FAKE_GPU says:
///
///     memory=64M; gpus=2; lost=1; compute=90; records=3; wrong=mul.rn.f32>mul.rz.f32; cuMemAlloc_v2@2=2
///
/// memory, gpus and compute say how large, how many and of which compute capability the GPUs are, and lost which of
/// them gives nobody a context; records says how many of CUPTI's records are not lost, and wrong takes one instruction
/// of PTX for another. CALL@N=ACTION says what the N-th call of a function does, counted from 1 in each process: fail
/// with a CUresult, or CUptiResult, by its number, `lose`, `hang` or `die`.
class Plan {
 public:
  static Result<Plan> parse(std::string_view text);

  [[nodiscard]] std::size_t memory_bytes() const { return memory_bytes_; }
  [[nodiscard]] int gpus() const { return gpus_; }
  [[nodiscard]] bool has_lost(int gpu) const { return gpu == lost_; }
  [[nodiscard]] int compute() const { return compute_; }  ///< 75 stands for 7.5
  /// The PTX as the GPU takes it: with every instruction that it takes for another in the other's place.
  [[nodiscard]] std::string mistaken(std::string ptx) const;
  [[nodiscard]] std::size_t most_records() const { return most_records_; }

  /// Counts a call and says what it is to do.
  Step next(const char* call);

 private:
  Result<void> parse_rule(std::string_view key, std::string_view value);

  std::size_t memory_bytes_ = std::size_t{1} << 30U;
  int gpus_ = 1;
  int lost_ = -1;  ///< its number; -1 none
  int compute_ = 75;
  std::vector<std::pair<std::string, std::string>> mistakes_;
  std::size_t most_records_ = std::numeric_limits<std::size_t>::max();
  std::map<std::string, std::map<std::uint64_t, Step>, std::less<>> steps_;
  std::map<std::string, std::uint64_t, std::less<>> counts_;
};

}  // namespace assay::cuda::fake
