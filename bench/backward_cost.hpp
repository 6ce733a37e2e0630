// Measures the forward and backward pass of one kernel, built for a device (the CPU with -O2).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/device/backend.hpp"
#include "ir/module.hpp"
#include "support/result.hpp"

namespace assay::bench {

struct PassTime {
  double seconds = 0;       ///< duration of the launch, as the device reports it
  double instructions = 0;  ///< instructions executed by all threads; 0 if the device does not count them
};

/// The two passes of one launch.
struct PassTimes {
  PassTime forward;   ///< time of the kernel itself
  PassTime backward;  ///< time of its backward kernel
};

/// A built kernel with bound arguments, ready for repeated launches. Float inputs are near 1, so that long products
/// stay in range; each integer parameter is `trips`, each element of an integer array a random index.
class TimedKernel {
 public:
  /// Parses the Python source's first kernel, makes its backward kernel, prints and builds both, and binds arrays of
  /// `extent` in each dimension. Fails with the stage's error.
  static Result<TimedKernel> make(backends::Device& device, std::string_view python, std::int32_t trips,
                                  std::int32_t threads, std::int32_t extent);

  /// Launches the forward and then the backward pass.
  Result<PassTimes> run();

 private:
  Result<void> place(const ir::Module& module, const ir::Function& backward, std::int32_t trips, std::int32_t threads,
                     std::int32_t extent);
  /// Launches both passes once with a profile, to fill `instructions_`.
  Result<void> count_instructions();

  std::unique_ptr<backends::BuiltKernel> built_;      ///< both passes; `launches_` points to it
  std::unique_ptr<backends::DeviceSession> session_;  ///< owns the memory of the arguments
  std::vector<backends::LaunchRequest>
      launches_;                      ///< the forward launch, then the backward launch, both without a profile
  std::vector<double> instructions_;  ///< instructions of each launch, as PassTime::instructions
};

}  // namespace assay::bench
