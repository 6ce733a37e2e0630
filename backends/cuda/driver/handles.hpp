// Owners of what the driver makes. Each is made by a function that throws CallError, ends what it owns when it goes,
// and is asked with get() by those who borrow. A context is made first, on the thread that uses the rest, and goes
// last.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "backends/cuda/driver/driver.hpp"

namespace assay::cuda {

/// Owns a value that the function `End` of the driver ends. How that ends does not matter: in a dead context all is
/// gone already.
template <typename Value, auto End>
class Owned {
 public:
  Owned(const Driver& driver, Value value) : driver_(&driver), value_(value) {}
  Owned(Owned&& other) noexcept : driver_(other.driver_), value_(std::exchange(other.value_, std::nullopt)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(value_, other.value_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (value_) (driver_->*End).address(*value_);
  }

  [[nodiscard]] Value get() const { return *value_; }

 private:
  const Driver* driver_;  ///< outlives this
  std::optional<Value> value_;
};

/// A share in a device's primary context.
using Context = Owned<CUdevice, &DriverSymbols::cuDevicePrimaryCtxRelease_v2>;
using Module = Owned<CUmodule, &DriverSymbols::cuModuleUnload>;
using Stream = Owned<CUstream, &DriverSymbols::cuStreamDestroy_v2>;
using Event = Owned<CUevent, &DriverSymbols::cuEventDestroy_v2>;
using DeviceMemory = Owned<CUdeviceptr, &DriverSymbols::cuMemFree_v2>;

/// The primary context of the GPU, current on this thread.
[[nodiscard]] Context enter_context(const Driver& driver, int ordinal);
/// `image` is a cubin, or PTX with its final zero, which the driver then compiles; `name` is for errors.
[[nodiscard]] Module load_module(const Driver& driver, const std::string& image, const std::string& name);
/// A function of the module, valid as long as it.
[[nodiscard]] CUfunction find_function(const Driver& driver, const Module& module, const std::string& name);
/// A stream that does not wait for others.
[[nodiscard]] Stream make_stream(const Driver& driver);
/// An event that takes times.
[[nodiscard]] Event make_event(const Driver& driver);
/// What nobody has taken yet of the memory of the current context's GPU.
[[nodiscard]] std::size_t free_bytes(const Driver& driver);
/// Content unspecified.
[[nodiscard]] DeviceMemory allocate(const Driver& driver, std::size_t bytes);
/// From one event to a later one, both passed; in nanoseconds, of which the clock tells 500 apart.
[[nodiscard]] double nanoseconds_between(const Driver& driver, const Event& start, const Event& end);

}  // namespace assay::cuda
