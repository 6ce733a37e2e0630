// What the parent and a worker process say to each other.
//
// They share one block of memory, made by the parent, with three parts:
//
//     ControlBlock   both write: how far the worker is
//     commands       the worker may only read: a CommandHeader and then LaunchRecords
//     buffers        both write: what kernels work on; the only part in which results are looked for
//
// and a pair of sockets: the parent sends one byte, "run the commands", and the worker one byte, "done"; a worker also
// sends one when it is ready. The parent believes nothing else: whatever a kernel scribbles into the control block, the
// worst that it can do is to be blamed. Pointers are offsets into the buffers, for the two processes map them at
// different addresses.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace assay::cpu {

inline constexpr std::size_t kMaxLaunches = 4096;  ///< in one round of commands
inline constexpr std::size_t kCommandBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMessageBytes = 512;

/// How far one launch is. kRefused: not run, the reason is in ControlBlock::message, and the worker stopped there.
enum class Progress : std::uint32_t { kPending = 0, kStarted = 1, kCompleted = 2, kRefused = 3 };

struct ProgressRow {
  std::atomic<Progress> progress;
  std::int64_t nanoseconds;
};
static_assert(std::atomic<Progress>::is_always_lock_free);

struct ControlBlock {
  std::uint64_t buffer_bytes;   ///< set before the worker starts
  std::uint64_t process_bytes;  ///< address space that it may use beside the buffers; 0: no limit
  char message[kMessageBytes];
  ProgressRow rows[kMaxLaunches];
};

struct CommandHeader {
  std::uint32_t count;
  std::uint32_t processor_seconds;  ///< for all of them together; a second line of defence against a hang
};

/// One launch, or the mere loading of a library (symbol_at = 0). Positions (`_at`) count in bytes from the record's
/// start and are multiples of 16, as is its size.
struct LaunchRecord {
  std::uint32_t size;  ///< to the next record
  std::uint32_t library_at;
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
  std::uint64_t shuffle_seed;
};

struct ArgumentRow {
  std::uint32_t at;  ///< in the blob, a multiple of 16
  std::uint32_t size;
};

struct PointerRow {
  std::uint64_t at;  ///< in the blob
  std::uint64_t buffer_offset;
};

/// Each part of the shared memory begins on a page.
inline constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t round_up(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

inline constexpr std::size_t kCommandsAt = round_up(sizeof(ControlBlock), kPageBytes);
inline constexpr std::size_t kBuffersAt = kCommandsAt + kCommandBytes;

}  // namespace assay::cpu
