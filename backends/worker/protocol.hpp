// The protocol between the parent and a worker process.
//
// They share one block of memory, created by the parent, with three parts:
//
//     ControlBlock   both write: the worker's progress
//     commands       read-only for the worker: a CommandHeader and then LaunchRecords
//     buffers        both write: the kernels' data; the parent reads results only from this part
//
// and a socket pair. The parent sends one byte for "run the commands", and the worker one byte for "done"; a worker
// also sends a byte when it is ready. A worker that cannot continue exits instead. The parent trusts nothing else: a
// kernel that overwrites the control block can only cause its own launch to be reported as failed. Pointers are offsets
// into the buffers, because the two processes map them at different addresses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace assay::worker {

inline constexpr std::size_t kMaxLaunchesPerRound = 4096;  ///< maximum number of launches in one round of commands
/// Size in bytes of the part of the shared memory for commands.
inline constexpr std::size_t kCommandAreaBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMessageBufferBytes = 512;  ///< size of a message, including its final zero
inline constexpr std::size_t kPathBufferBytes = 4096;    ///< size of a path, including its final zero

/// The progress of one launch. With kRejected and all later values, the launch did not complete, ControlBlock::message
/// contains the reason, and the worker runs no further launch of the round.
enum class LaunchProgress : std::uint32_t {
  kPending,        ///< the worker has not started the launch
  kStarted,        ///< the launch is running
  kCompleted,      ///< the launch ended without failure
  kRejected,       ///< the code or the arguments are invalid; nothing ran
  kFaulted,        ///< the device reported an invalid memory access
  kCrashed,        ///< the device reported another failure of the code
  kTimedOut,       ///< the device stopped the launch at its time limit
  kResourceError,  ///< the machine lacks a resource, which is not the code's fault
};

/// The progress of one launch of a round.
struct LaunchProgressEntry {
  std::atomic<LaunchProgress> progress;  ///< progress of the launch
  std::int64_t nanoseconds;              ///< duration of the launch, if it completed
};
static_assert(std::atomic<LaunchProgress>::is_always_lock_free);

inline constexpr int kControlSocketFd = 3;  ///< file descriptor of the worker's end of the socket pair
inline constexpr int kSharedMemoryFd = 4;   ///< file descriptor of the shared memory, which is closed after mapping

/// The limits of a worker; set before it starts.
struct WorkerLimits {
  std::uint64_t buffer_bytes = 0;  ///< total size of the buffers in bytes
  /// Limit of the process's address space in bytes, in addition to the buffers; 0: no limit.
  std::uint64_t process_memory_limit_bytes = 0;
  std::uint64_t device_memory_limit_bytes =
      0;                              ///< limit of the memory of a device that has its own; 0: as much as the buffers
  std::int32_t device_ordinal = 0;    ///< number of the GPU; 0 for other devices
  bool filter_system_calls = false;   ///< whether to filter system calls (confinement.hpp)
  bool restrict_file_access = false;  ///< whether to restrict file access (confinement.hpp)
};

/// How a worker is confined in addition to its limits. Each error is a system error number, or 0 if the restriction is
/// active.
struct Confinement {
  static constexpr std::int32_t kNotRequested = -1;  ///< value of an error for a restriction that was not requested
  std::int32_t system_call_filter_error = kNotRequested;  ///< error of installing the system call filter
  std::int32_t file_restriction_error = kNotRequested;    ///< error of restricting access to files
  std::int32_t landlock_version = 0;  ///< version of Landlock; 0 if it does not restrict file access
  [[nodiscard]] bool complete() const { return system_call_filter_error == 0 && file_restriction_error == 0; }
};

/// A measured value of a launch. The name ends with a zero byte.
struct MeasuredValue {
  char name[48];
  double value;  ///< measured value
};
inline constexpr std::size_t kMaxMeasuredValues = 64;  ///< maximum number of measured values of a launch
/// All measured values of a launch. The remark ends with a zero byte.
struct MeasurementBlock {
  std::uint32_t count;  ///< number of valid values
  MeasuredValue rows[kMaxMeasuredValues];
  char remark[kMessageBufferBytes];
};

/// The first part of the shared memory, which contains the state of the worker.
struct ControlBlock {
  WorkerLimits worker_limits;          ///< limits of the worker; set by the parent
  char code_folder[kPathBufferBytes];  ///< the folder that contains all code to load; set before the worker starts
  Confinement confinement;             ///< how the worker is confined; set by the worker before it loads any code
  char message[kMessageBufferBytes];   ///< why a launch did not complete
  /// Measurements of a launch with timed runs; such a launch is the only one of its round.
  MeasurementBlock measurements;
  LaunchProgressEntry rows[kMaxLaunchesPerRound];  ///< progress of each launch of the round
};

/// The header of the commands of one round.
struct CommandHeader {
  std::uint32_t count;  ///< number of records
  std::uint32_t
      cpu_time_limit_seconds;  ///< CPU time limit of all launches together, a second safeguard against infinite loops
};

/// One launch or, with symbol_offset = 0, only the loading of code. Members that end in `_offset` are byte offsets from
/// the record's start. They and the record's size are multiples of 16.
struct LaunchRecord {
  std::uint32_t size;                 ///< size of the record in bytes, up to the next record
  std::uint32_t code_offset;          ///< offset of file paths, one per line; the device uses the first that it accepts
  std::uint32_t symbol_offset;        ///< offset of the entry point's name; 0: only load the code
  std::uint32_t arguments_offset;     ///< offset of the array of ArgumentLocation
  std::uint32_t argument_count;       ///< number of elements of that array
  std::uint32_t pointers_offset;      ///< offset of the array of PointerRelocation
  std::uint32_t pointer_count;        ///< number of elements of that array
  std::uint32_t blob_offset;          ///< offset of the blob, which contains the bytes of all arguments
  std::uint32_t argument_blob_bytes;  ///< size of the blob in bytes
  std::uint32_t thread_order;         ///< order in which blocks run, as a backends::ThreadOrder
  std::int64_t threads;               ///< number of threads of the launch
  std::int64_t requested_block_threads;  ///< requested threads per block; 0: the default
  /// Threads that a block must have, and then `threads` counts blocks; 0: any number.
  std::int64_t required_block_threads;
  std::uint64_t shuffle_seed;    ///< seed of the random order, for kShuffled
  std::int64_t timed_run_count;  ///< number of timed runs; 0: the launch is not measured
  /// Offset of the array of the threads whose results are checked, as 8-byte numbers.
  std::uint32_t checked_threads_offset;
  std::uint32_t checked_thread_count;  ///< number of elements of that array; 0: the results of all threads are checked
};

/// The position and size of one argument in the blob.
struct ArgumentLocation {
  std::uint32_t blob_offset;  ///< position of the argument in the blob, a multiple of 16
  std::uint32_t size;         ///< size of the argument
};

/// The position of one pointer in the blob, and its target in the buffers.
struct PointerRelocation {
  std::uint64_t blob_offset;    ///< position of the pointer in the blob
  std::uint64_t target_offset;  ///< offset of the target from the start of the buffers
  std::uint64_t buffer_offset;  ///< offset of the buffer that contains the target, from the start of the buffers
  std::uint64_t buffer_size;    ///< size of this buffer in bytes
};

inline constexpr std::size_t kPageBytes = 4096;  ///< size of a page; each part of the shared memory begins on a page
constexpr std::size_t round_up(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

/// Offset of the commands in the shared memory.
inline constexpr std::size_t kCommandsOffset = round_up(sizeof(ControlBlock), kPageBytes);
/// Offset of the buffers in the shared memory.
inline constexpr std::size_t kBuffersOffset = kCommandsOffset + kCommandAreaBytes;

}  // namespace assay::worker
