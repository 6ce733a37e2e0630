// What the parent and a worker process say to each other.
//
// They share one block of memory, made by the parent, with three parts:
//
//     ControlBlock   both write: how far the worker is
//     commands       the worker may only read: a CommandHeader and then LaunchRecords
//     buffers        both write: what kernels work on; the only part in which results are looked for
//
// and a pair of sockets: the parent sends one byte, "run the commands", and the worker one byte, "done"; a worker also
// sends one when it is ready. A worker that cannot go on ends instead. The parent believes nothing else: whatever a
// kernel scribbles into the control block, the worst that it can do is to be blamed. Pointers are offsets into the
// buffers, for the two processes map them at different addresses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace assay::worker {

inline constexpr std::size_t kMaxLaunches = 4096;  ///< in one round of commands
inline constexpr std::size_t kCommandBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMessageBytes = 512;
inline constexpr std::size_t kPathBytes = 4096;

/// How far one launch is. From kRejected on: it did not complete, the reason is in ControlBlock::message, and the
/// worker stopped there.
enum class Progress : std::uint32_t {
  kPending,
  kStarted,
  kCompleted,
  kRejected,  ///< not run: the code or the arguments do not fit
  kFaulted,   ///< the device reported an access that must not be
  kCrashed,   ///< the device reported that the code failed in another way
  kExpired,   ///< the device ended it for its time
  kLacking,   ///< the machine lacks something, and the code is not to blame
};

struct ProgressRow {
  std::atomic<Progress> progress;
  std::int64_t nanoseconds;
};
static_assert(std::atomic<Progress>::is_always_lock_free);

/// Descriptors that a worker is started with, beside the standard streams.
inline constexpr int kControlFd = 3;  ///< its end of the pair of sockets
inline constexpr int kMemoryFd = 4;   ///< the shared memory; closed once it is mapped

/// What a worker may use; set before it starts.
struct Allowance {
  std::uint64_t buffer_bytes = 0;    ///< the size of the buffers
  std::uint64_t process_bytes = 0;   ///< address space that it may use beside the buffers; 0: no limit
  std::uint64_t device_bytes = 0;    ///< memory of a device that has its own
  std::int32_t device = 0;           ///< of several
  bool filter_system_calls = false;  ///< what is asked of confinement.hpp
  bool limit_files = false;
};

/// What holds a worker beside its limits. An error is the number that the system gave, or 0 where the part is in place.
struct Confinement {
  static constexpr std::int32_t kNotAsked = -1;
  std::int32_t system_calls_error = kNotAsked;
  std::int32_t files_error = kNotAsked;
  std::int32_t landlock_version = 0;  ///< 0 where files_error is none
  [[nodiscard]] bool whole() const { return system_calls_error == 0 && files_error == 0; }
};

/// What a launch that was measured showed. Names and remark end with a zero.
struct MeasureRow {
  char name[48];
  double value;
};
inline constexpr std::size_t kMaxMeasures = 64;
struct MeasuredBlock {
  std::uint32_t count;
  MeasureRow rows[kMaxMeasures];
  char remark[kMessageBytes];
};

struct ControlBlock {
  Allowance allowance;
  char code_folder[kPathBytes];  ///< the folder of all code that the worker is to load; set before it starts
  Confinement confinement;       ///< the worker's answer, given before any code is loaded
  char message[kMessageBytes];
  MeasuredBlock measured;  ///< of a launch with samples, which is alone in its round
  ProgressRow rows[kMaxLaunches];
};

struct CommandHeader {
  std::uint32_t count;
  std::uint32_t processor_seconds;  ///< for all of them together; a second line of defence against a hang
};

/// One launch, or the mere loading of code (symbol_at = 0). Positions (`_at`) count in bytes from the record's
/// start and are multiples of 16, as is its size.
struct LaunchRecord {
  std::uint32_t size;     ///< to the next record
  std::uint32_t code_at;  ///< paths of files, one a line: the first that the device takes is the code
  std::uint32_t symbol_at;
  std::uint32_t arguments_at;
  std::uint32_t argument_count;
  std::uint32_t pointers_at;
  std::uint32_t pointer_count;
  std::uint32_t blob_at;  ///< the arguments' bytes
  std::uint32_t blob_bytes;
  std::uint32_t order;  ///< backends::ThreadOrder
  std::int64_t threads;
  std::int64_t block;
  std::int64_t block_threads;  ///< that a block must have, and then `threads` counts blocks; 0: any number
  std::uint64_t shuffle_seed;
  std::int64_t samples;        ///< to be timed; 0: the launch is not measured
  std::uint32_t sample_at;     ///< threads that are asked about, numbers of 8 bytes
  std::uint32_t sample_count;  ///< 0: all are
};

struct ArgumentRow {
  std::uint32_t at;  ///< in the blob, a multiple of 16
  std::uint32_t size;
};

struct PointerRow {
  std::uint64_t at;           ///< in the blob
  std::uint64_t target;       ///< what it points to, an offset into the buffers
  std::uint64_t buffer_at;    ///< the buffer that this lies in, an offset too
  std::uint64_t buffer_size;  ///< in bytes
};

/// Each part of the shared memory begins on a page.
inline constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t round_up(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

inline constexpr std::size_t kCommandsAt = round_up(sizeof(ControlBlock), kPageBytes);
inline constexpr std::size_t kBuffersAt = kCommandsAt + kCommandBytes;

}  // namespace assay::worker
