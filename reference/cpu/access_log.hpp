// The accesses to one array element during a launch, and conflicts between threads.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/module.hpp"
#include "reference/cpu/reference.hpp"

namespace assay::reference {

/// An earlier access that conflicts with a new one.
struct AccessConflict {
  Finding::Kind kind = Finding::Kind::kRace;  ///< kind of the defect
  std::int64_t thread = 0;                    ///< number of the thread of the earlier access
  ir::Loc loc = {};                           ///< source location of the earlier access
};

/// What a store writes.
enum class StoredValue : std::uint8_t {
  kVaries,            ///< a value that may differ between threads or inputs
  kConstant,          ///< a constant of the source
  kRepeatedConstant,  ///< a constant of the source, which the element already has
};

/// The threads that accessed an element; only the first two are stored, which suffices to find an access by a thread
/// other than a given one.
class AccessingThreads {
 public:
  /// Records an access by the thread.
  void add(std::int32_t thread, ir::Loc loc) {
    if (first_thread_ < 0) {
      first_thread_ = thread;
      first_loc_ = loc;
    } else if (first_thread_ != thread && second_thread_ < 0) {
      second_thread_ = thread;
      second_loc_ = loc;
    }
  }
  bool empty() const { return first_thread_ < 0; }
  /// Returns an access by a thread other than `thread`; nullopt if there is none.
  std::optional<AccessConflict> find_access_by_other_thread(std::int32_t thread) const {
    if (first_thread_ >= 0 && first_thread_ != thread)
      return AccessConflict{.thread = first_thread_, .loc = first_loc_};
    if (second_thread_ >= 0 && second_thread_ != thread)
      return AccessConflict{.thread = second_thread_, .loc = second_loc_};
    return std::nullopt;
  }

 private:
  std::int32_t first_thread_ = -1;   ///< the first thread that accessed the element; -1: none
  std::int32_t second_thread_ = -1;  ///< the second thread that accessed the element; -1: none
  ir::Loc first_loc_ = {};           ///< source location of the first thread's access
  ir::Loc second_loc_ = {};          ///< source location of the second thread's access
};

/// The accesses to one element by all threads of a launch. Each record function records an access and returns an
/// earlier access that conflicts with it.
class AccessLog {
 public:
  /// Records a read.
  std::optional<AccessConflict> record_read(std::int32_t thread, ir::Loc loc) {
    readers_.add(thread, loc);
    if (writers_.empty() && atomics_.empty()) return std::nullopt;
    return first_conflict(writers_.find_access_by_other_thread(thread), atomics_.find_access_by_other_thread(thread));
  }
  /// Records a write. Threads that all store the same constant do not conflict: whichever is last, the element has this
  /// value after the launch.
  std::optional<AccessConflict> record_write(std::int32_t thread, ir::Loc loc, StoredValue value) {
    writers_.add(thread, loc);
    has_varying_writes_ = has_varying_writes_ || value == StoredValue::kVaries;
    const bool is_same_for_all = value == StoredValue::kRepeatedConstant && !has_varying_writes_;
    return first_conflict(is_same_for_all ? std::nullopt : writers_.find_access_by_other_thread(thread),
                          readers_.find_access_by_other_thread(thread), atomics_.find_access_by_other_thread(thread));
  }
  /// Records an atomic. `uses_result`: whether the kernel uses the previous value that the atomic returns.
  std::optional<AccessConflict> record_atomic(std::int32_t thread, ir::Loc loc, ir::AtomicOp op, bool uses_result) {
    atomics_.add(thread, loc);
    auto conflict =
        first_conflict(writers_.find_access_by_other_thread(thread), readers_.find_access_by_other_thread(thread));
    const auto earlier_atomic = atomics_.find_access_by_other_thread(thread);
    if (!conflict && earlier_atomic && (uses_result || is_atomic_result_used_ || !commutes(op))) {
      conflict = *earlier_atomic;
      conflict->kind = Finding::Kind::kOrderDependentAtomic;
    }
    is_atomic_result_used_ = is_atomic_result_used_ || uses_result;
    commutation_classes_ |= commutation_class(op);
    return conflict;
  }

 private:
  /// Returns the first of the conflicts that exists.
  static std::optional<AccessConflict> first_conflict(const std::optional<AccessConflict>& a,
                                                      const std::optional<AccessConflict>& b,
                                                      const std::optional<AccessConflict>& c = std::nullopt) {
    return a ? a : (b ? b : c);
  }
  /// Returns a bit that is the same for operations that commute. Additions and subtractions commute with each other;
  /// any other operation commutes only with itself.
  static std::uint16_t commutation_class(ir::AtomicOp op) {
    return static_cast<std::uint16_t>(1U << (op == ir::AtomicOp::kSub ? 0U : static_cast<unsigned>(op)));
  }
  /// Returns whether the operation commutes with all atomics so far.
  bool commutes(ir::AtomicOp op) const {
    if (op == ir::AtomicOp::kExchange || op == ir::AtomicOp::kCompareAndSwap) return false;
    return (commutation_classes_ & ~commutation_class(op)) == 0;
  }

  AccessingThreads readers_, writers_, atomics_;  ///< threads that read, wrote and atomically updated the element
  std::uint16_t commutation_classes_ = 0;         ///< bits of commutation_class() for all atomics so far
  bool has_varying_writes_ = false;               ///< whether a store wrote something else than a constant
  bool is_atomic_result_used_ = false;  ///< whether the kernel uses a previous value that one of these atomics returned
};

}  // namespace assay::reference
