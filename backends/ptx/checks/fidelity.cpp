#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "backends/ptx/checks/data_flow.hpp"

namespace assay::ptx {

namespace {

/// The registers and memories that hold values derived from approximations.
class Taint {
 public:
  explicit Taint(const Kernel& kernel) : kernel_(kernel) {}

  /// Propagates through one instruction, which approximated or did not; returns whether anything changed.
  bool follow(const Op& op, bool approximated) {
    changed_ = false;
    const bool guarded = op.is_guarded && has(op.guard);
    switch (op.dispatch_kind) {
      case DispatchKind::kMemory: access(op, kernel_.memory_ops[op.memory_or_call_index], guarded); break;
      case DispatchKind::kAsyncCopy: copy(op, kernel_.async_copy_ops[op.memory_or_call_index], guarded); break;
      case DispatchKind::kMatrixOperation:
        follow_matrices(op, kernel_.matrix_ops[op.memory_or_call_index], guarded || approximated);
        break;
      case DispatchKind::kBulkCopy: {
        const BulkCopyOp& copy = kernel_.bulk_copy_ops[op.memory_or_call_index];
        bool& destination_tainted = memory(copy.is_to_shared ? Space::kShared : Space::kGlobal);
        const bool has_box =
            copy.box && (has(copy.box->map_base) ||
                         std::ranges::any_of(copy.box->coordinates, [&](FrameSlot slot) { return has(slot); }));
        const bool stored = guarded || has_box || has(op.a) || has(copy.source_base) || has(copy.bytes) ||
                            (!copy.is_to_shared && memory(Space::kShared));
        changed_ = changed_ || (stored && !destination_tainted);
        destination_tainted = destination_tainted || stored;
        break;
      }
      case DispatchKind::kWarpgroupProduct:
        follow_product(kernel_.warpgroup_product_ops[op.memory_or_call_index], guarded || approximated);
        break;
      case DispatchKind::kTensorMemory:
      case DispatchKind::kTensorOperation:
        follow_tensor_memory(op, kernel_.tensor_memory_ops[op.memory_or_call_index], guarded || approximated);
        break;
      case DispatchKind::kClusterAddress:
      case DispatchKind::kHandlerOnly:
      case DispatchKind::kWarpOperation:
      case DispatchKind::kBarrier:
        if (guarded || approximated || has(op.a) || has(op.b) || has(op.c) || has(op.e)) {
          add(op.d);
          add(op.d2);
        }
        break;
      default: break;  // calls go through local memory
    }
    return changed_;
  }

  [[nodiscard]] bool reached_result() const { return memories_[static_cast<std::size_t>(Space::kGlobal)]; }

 private:
  [[nodiscard]] bool has(FrameSlot slot) const { return registers_.contains(slot.bits); }
  void add(FrameSlot slot) {
    if (slot.bits != 0) changed_ = registers_.insert(slot.bits).second || changed_;  // 0: no destination
  }
  /// Generic accesses count as global accesses.
  bool& memory(Space space) {
    const bool own = space == Space::kShared || space == Space::kLocal;
    return memories_[static_cast<std::size_t>(own ? space : Space::kGlobal)];
  }

  void access(const Op& op, const MemoryOp& memory_op, bool guarded) {
    bool& memory_tainted = memory(memory_op.space);
    const bool decided = guarded || (!memory_op.has_no_base && has(op.a));
    if (memory_op.access == Access::kLoad) {
      for (unsigned i = 0; i < memory_op.element_count; ++i) {
        if (decided || memory_tainted) add(memory_op.values[i]);
      }
      return;
    }
    bool stored = decided;
    const bool is_atomic = memory_op.access == Access::kAtomic;
    for (unsigned i = is_atomic ? 1 : 0; i < (is_atomic ? 3U : memory_op.element_count); ++i)
      stored = stored || has(memory_op.values[i]);
    changed_ = changed_ || (stored && !memory_tainted);
    memory_tainted = memory_tainted || stored;
    if (is_atomic && memory_op.returns_old_value && memory_tainted) add(memory_op.values[0]);
  }

  /// Global memory with such values is already a result, so only the addresses and the number of bytes matter.
  void copy(const Op& op, const AsyncCopyOp& copy, bool guarded) {
    bool& memory_tainted = memory(Space::kShared);
    const bool stored =
        guarded || has(op.a) || has(copy.source_base) || has(copy.read_bytes) || has(copy.ignores_source);
    changed_ = changed_ || (stored && !memory_tainted);
    memory_tainted = memory_tainted || stored;
  }

  [[nodiscard]] bool has(const Fragment& fragment) const {
    return std::ranges::any_of(std::span(fragment.registers).first(fragment.register_count),
                               [&](FrameSlot slot) { return has(slot); });
  }

  void follow_matrices(const Op& op, const MatrixOp& matrix, bool decided) {
    bool is_tainted = decided || has(op.a) ||
                      std::ranges::any_of(matrix.sources, [&](const Fragment& source) { return has(source); });
    if (matrix.memory_index) {
      const MemoryOp& access = kernel_.memory_ops[*matrix.memory_index];
      bool& memory_tainted = memory(access.space);
      if (access.access == Access::kLoad) {
        is_tainted = is_tainted || memory_tainted;
      } else {
        changed_ = changed_ || (is_tainted && !memory_tainted);
        memory_tainted = memory_tainted || is_tainted;
      }
    }
    if (!is_tainted) return;
    for (unsigned i = 0; i < matrix.destination.register_count; ++i)
      add(matrix.destination.registers[i]);
  }

  void follow_product(const WarpgroupProductOp& product, bool decided) {
    const bool is_tainted = decided || memory(Space::kShared) || has(product.a) || has(product.adds_sums) ||
                            std::ranges::any_of(product.sums, [&](FrameSlot slot) { return has(slot); });
    if (!is_tainted) return;
    for (const FrameSlot slot : product.sums)
      add(slot);
  }

  /// Allocations and waits have no effect on values.
  void follow_tensor_memory(const Op& op, const TensorMemoryOp& tensor, bool decided) {
    using Operation = TensorMemoryOp::Operation;
    bool& memory_tainted = memories_[static_cast<std::size_t>(Space::kTensor)];
    const bool reads_shared = tensor.operation == Operation::kMultiply || tensor.operation == Operation::kCopy;
    const bool writes = reads_shared || tensor.operation == Operation::kStore;
    const std::vector<FrameSlot> sources = tensor.sources();
    const bool is_tainted = decided || has(op.a) || (reads_shared && memory(Space::kShared)) ||
                            std::ranges::any_of(sources, [&](FrameSlot slot) { return has(slot); });
    if (writes) {
      changed_ = changed_ || (is_tainted && !memory_tainted);
      memory_tainted = memory_tainted || is_tainted;
    }
    if (!is_tainted && !memory_tainted) return;
    for (const FrameSlot slot : tensor.destinations())
      add(slot);
  }

  const Kernel& kernel_;
  std::set<std::uint32_t> registers_;
  std::array<bool, 8> memories_{};
  bool changed_ = false;
};

}  // namespace

bool approximation_reaches_result(const Kernel& kernel, std::span<const std::uint64_t> executed,
                                  std::span<const std::uint64_t> approximated) {
  Taint taint(kernel);
  for (bool changed = true; changed && !taint.reached_result();) {
    changed = false;
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
      if (executed[i] != 0) changed = taint.follow(kernel.ops[i], approximated[i] != 0) || changed;
    }
  }
  return taint.reached_result();
}

}  // namespace assay::ptx
