// Owners of driver objects. Each is created by a function that throws CallError, releases its object when destroyed,
// and lends it with get(). A context must be created first, on the thread that uses the other objects, and destroyed
// last.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "backends/cuda/driver/driver.hpp"

namespace assay::cuda {

/// Owns a value that the driver function `End` releases. The result of `End` is ignored, because a destroyed context
/// has already released its objects.
template <typename Value, auto End>
class OwnedHandle {
 public:
  OwnedHandle(const Driver& driver, Value value) : driver_(&driver), handle_(value) {}
  OwnedHandle(OwnedHandle&& other) noexcept
      : driver_(other.driver_), handle_(std::exchange(other.handle_, std::nullopt)) {}
  OwnedHandle& operator=(OwnedHandle&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  OwnedHandle(const OwnedHandle&) = delete;
  OwnedHandle& operator=(const OwnedHandle&) = delete;
  ~OwnedHandle() {
    if (handle_) (driver_->*End).address(*handle_);
  }

  [[nodiscard]] Value get() const { return *handle_; }

 private:
  const Driver* driver_;         ///< must outlive this object
  std::optional<Value> handle_;  ///< the owned driver object; nullopt: none, because it was moved away
};

/// A reference to a device's primary context.
using Context = OwnedHandle<CUdevice, &DriverSymbols::cuDevicePrimaryCtxRelease_v2>;
using Module = OwnedHandle<CUmodule, &DriverSymbols::cuModuleUnload>;
using Stream = OwnedHandle<CUstream, &DriverSymbols::cuStreamDestroy_v2>;
using Event = OwnedHandle<CUevent, &DriverSymbols::cuEventDestroy_v2>;
using DeviceMemory = OwnedHandle<CUdeviceptr, &DriverSymbols::cuMemFree_v2>;

/// Makes the primary context of the GPU current on this thread.
[[nodiscard]] Context enter_context(const Driver& driver, int ordinal);
/// `image` is a cubin, or zero-terminated PTX, which the driver compiles; `name` appears in errors.
[[nodiscard]] Module load_module(const Driver& driver, const std::string& image, const std::string& name);
/// A function of the module, valid as long as the module.
[[nodiscard]] CUfunction find_function(const Driver& driver, const Module& module, const std::string& name);
/// Creates a non-blocking stream.
[[nodiscard]] Stream make_stream(const Driver& driver);
/// Creates an event with timing.
[[nodiscard]] Event make_event(const Driver& driver);
/// The free memory of the current context's GPU.
[[nodiscard]] std::size_t free_bytes(const Driver& driver);
/// Allocates device memory with unspecified content.
[[nodiscard]] DeviceMemory allocate(const Driver& driver, std::size_t bytes);
/// The time between two completed events in nanoseconds; the resolution is about 500 ns.
[[nodiscard]] double nanoseconds_between(const Driver& driver, const Event& start, const Event& end);

}  // namespace assay::cuda
