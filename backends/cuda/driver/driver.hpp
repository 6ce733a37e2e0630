// The CUDA driver: whether there is one, and devices with it.
#pragma once

#include <string>

#include "backends/cuda/driver/symbols.hpp"
#include "ir/support/result.hpp"

namespace assay::cuda {

/// A driver that was loaded and initialised, with at least one device.
class Driver {
 public:
  /// The error's message is fit for a verdict, "no CUDA driver" or "no CUDA device"; its place is the library and what
  /// it said.
  static Result<Driver> load();

  [[nodiscard]] int device_count() const { return device_count_; }
  /// The newest CUDA that the driver supports: "13.0".
  [[nodiscard]] std::string version() const;

 private:
  Driver() = default;

#define ASSAY_DECLARE(name, parameters) CudaResult(*name##_) parameters = nullptr;
  ASSAY_CUDA_DRIVER_SYMBOLS(ASSAY_DECLARE)
#undef ASSAY_DECLARE
  int device_count_ = 0;
  int version_ = 0;
};

}  // namespace assay::cuda
