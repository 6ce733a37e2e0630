// What Assay and the library that it builds from a candidate with host code pass to each other. This file is compiled
// twice: with Assay, and as C++17 with the candidate. The library finds everything else at run time, in the table of
// functions that the worker passes to it.
#pragma once

#include <cstdint>

namespace assay::candidate {

inline constexpr int kMaxRank = 8;
/// Number of multiprocessors of the simulated GPU.
inline constexpr int kMultiprocessorCount = 108;
inline constexpr int kMaxNameBytes = 48;  ///< size of a name, including its final zero

/// The scalar type of an array's elements.
enum class Element : std::int32_t {
  kBool,
  kInt8,
  kUInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kUnknown,
};

enum class CallArgumentKind : std::int32_t {
  kArray,
  kInteger,
  kReal,
  kSaved,  ///< a tensor that the forward function returns for the backward function; `integer` is its number
};

/// An array or a number that a host function gets, or an array that receives its results.
struct CallArgument {
  CallArgumentKind kind = CallArgumentKind::kArray;
  Element element = Element::kUnknown;  ///< of an array
  std::int32_t is_output = 0;           ///< whether the specification writes the array
  std::int32_t is_uninitialized = 0;    ///< whether reading elements that no kernel has written is an error
  std::int32_t rank = 0;                ///< number of dimensions of an array
  std::int64_t shape[kMaxRank] = {};    ///< extents; the elements are dense, in row-major order
  /// Host address at which the worker writes the unrounded values of an array; 0: not needed.
  std::uint64_t unrounded_address = 0;
  std::uint64_t address = 0;      ///< device address of an array; on the way to the worker, its host address
  std::int64_t integer = 0;       ///< value of a kInteger, number of a kSaved
  double real = 0;                ///< value of a kReal
  char name[kMaxNameBytes] = {};  ///< name of the specification's parameter, or the contract's formula
};

/// The size of an element in bytes; 0 for kUnknown.
constexpr std::uint64_t element_bytes(Element element) {
  switch (element) {
    case Element::kBool:
    case Element::kInt8:
    case Element::kUInt8: return 1;
    case Element::kInt16:
    case Element::kFloat16:
    case Element::kBFloat16: return 2;
    case Element::kInt32:
    case Element::kFloat32: return 4;
    case Element::kInt64:
    case Element::kFloat64: return 8;
    default: return 0;
  }
}

/// The number of elements of an array.
constexpr std::int64_t element_count(const CallArgument& array) {
  std::int64_t count = 1;
  for (std::int32_t d = 0; d < array.rank; ++d)
    count *= array.shape[d];
  return count;
}

/// The arguments of one call of the candidate's function.
struct CallArguments {
  const CallArgument* given = nullptr;  ///< what the contract states; without a contract, all parameters
  std::int32_t given_count = 0;         ///< number of elements of `given`
  std::int32_t is_inferred = 0;         ///< whether `given` does not come from a contract
  /// What the function returns, in order: arrays that the specification writes, and kSaved.
  const CallArgument* outputs = nullptr;
  std::int32_t output_count = 0;    ///< number of elements of `outputs`
  std::int32_t has_results = 0;     ///< whether a contract states `outputs`
  std::int32_t is_forward = 0;      ///< whether the function is the forward function, whose tensors are saved
  char* message = nullptr;          ///< receives the reason if the call fails
  std::uint64_t message_bytes = 0;  ///< size of `message`, including its final zero
};

/// The arguments of cuTensorMapEncodeTiled, with the driver's numbers.
struct TensorMapRequest {
  std::uint64_t address = 0;      ///< device address of the tensor
  std::uint64_t extents[5] = {};  ///< extents, that of the contiguous dimension first
  std::uint64_t strides[4] = {};  ///< strides in bytes of the other dimensions
  std::uint32_t box[5] = {};      ///< extents of a box
  std::uint32_t element_strides[5] = {};
  std::uint32_t rank = 0;         ///< number of dimensions
  std::int32_t element_type = 0;  ///< CUtensorMapDataType
  std::int32_t interleave = 0;    ///< CUtensorMapInterleave
  std::int32_t swizzle = 0;       ///< CUtensorMapSwizzle
  std::int32_t fill = 0;          ///< CUtensorMapFloatOOBfill
};

/// The GPU as the worker simulates it. Device addresses are not host addresses.
struct DeviceFunctions {
  /// Memory that no kernel has written. Returns 0 if there is none left.
  std::uint64_t (*allocate)(std::uint64_t bytes);
  /// The host's view of device memory; null if not all of it lies in one allocation. `writes` is 1 if the host is going
  /// to write the bytes, which are then initialized.
  void* (*bytes)(std::uint64_t address, std::uint64_t size, std::int32_t writes);
  /// Adds the code of a fat binary and returns its number.
  std::int32_t (*add_module)(const void* fat_binary);
  /// The device address of a variable of a module; 0 if it has no such variable.
  std::uint64_t (*variable)(std::int32_t module, const char* name);
  /// Checks a launch and copies its arguments. `is_cooperative`: 1 if all blocks must be resident at the same time.
  /// `launch` receives its number. Returns a CUDA error number.
  std::int32_t (*prepare_launch)(std::int32_t module, const char* kernel, const std::uint32_t grid[3],
                                 const std::uint32_t block[3], std::uint64_t dynamic_shared_bytes,
                                 std::int32_t is_cooperative, void** arguments, std::int32_t* launch);
  /// The number of blocks that one multiprocessor can hold at the same time; 0 if the kernel is unknown.
  std::uint32_t (*resident_blocks)(std::int32_t module, const char* kernel, std::uint32_t block_threads,
                                   std::uint64_t dynamic_shared_bytes);
  /// Runs a prepared launch to its end, once. Returns a CUDA error number.
  std::int32_t (*run_launch)(std::int32_t launch);
  /// Chooses one of `count` streams to run next; `count` is at least 1. Repeated calls explore different orders.
  std::uint32_t (*choose_stream)(std::uint32_t count);
  /// Ends the judgment of the call: the host code does something that the simulated GPU does not support. Returns a
  /// CUDA error number.
  std::int32_t (*report_unsupported)(const char* what);
  /// The host has copied `size` bytes between device addresses, so that their unrounded values move, too.
  void (*copied)(std::uint64_t target, std::uint64_t source, std::uint64_t size);
  /// The host has stored a number at a device address that it loaded from another, perhaps as another type.
  void (*converted)(std::uint64_t target, Element target_type, std::uint64_t source, Element source_type);
  /// Allows a kernel more dynamic shared memory. Returns a CUDA error number.
  std::int32_t (*allow_shared_bytes)(std::int32_t module, const char* kernel, std::uint64_t bytes);
  /// Managed memory, which host and kernels access at the same address. Returns 0 if there is none left.
  std::uint64_t (*allocate_managed)(std::uint64_t bytes);
  /// Ends an allocation of the host code; ignores other addresses.
  void (*release)(std::uint64_t address);
  /// Whether an allocation lasts until the host code ends it (1), or ends with the call (0), as allocate() assumes.
  void (*set_lasting)(std::uint64_t address, std::int32_t is_lasting);
  /// The host has copied `size` bytes from device memory to its own.
  void (*copied_to_host)(std::uint64_t source, std::uint64_t size);
  /// The host has copied `size` bytes from its own memory to device memory.
  void (*copied_from_host)(std::uint64_t target, std::uint64_t size);
  /// Writes the 128 bytes of a tensor map. Returns a CUDA error number if no GPU accepts it.
  std::int32_t (*encode_tensor_map)(const TensorMapRequest* request, void* map);
};

inline constexpr const char* kAttachSymbol = "assay_attach";  ///< void(const DeviceFunctions*)
/// std::int32_t(const CallArguments*), which returns 0 if the function returned.
inline constexpr const char* kCallSymbol = "assay_call";
/// The same for the function of the backward pass, if there is one.
inline constexpr const char* kCallBackwardSymbol = "assay_call_backward";
/// std::int32_t(): waits for what a caller who uses the results in the default stream waits for, and forgets all other
/// work. Returns the number of kernels, copies and fills that it forgot.
inline constexpr const char* kEndCallSymbol = "assay_end_call";
/// std::int32_t(int argc, char** argv, char* message, std::uint64_t message_bytes): runs main() of a program and
/// returns its exit status. `message` receives the reason if main() throws an exception.
inline constexpr const char* kRunProgramSymbol = "assay_run_program";
/// std::int32_t(): ends the run of a program. Returns the number of kernels, copies and fills that have not run.
inline constexpr const char* kEndProgramSymbol = "assay_end_program";

}  // namespace assay::candidate
