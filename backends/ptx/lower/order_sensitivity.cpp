#include <iterator>
#include <set>

#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

/// Float additions, exchanges and compare-and-swaps leave order-dependent bits in memory. Returned values always depend
/// on the order.
std::vector<bool> find_order_sensitive_ops(const Kernel& kernel) {
  std::set<std::uint32_t> returned;
  for (const MemoryOp& memory : kernel.memory_ops) {
    if (memory.access == Access::kAtomic && memory.returns_old_value && memory.values[0].bits != 0)
      returned.insert(memory.values[0].bits);
  }
  std::set<std::uint32_t> read;  // of the returned values
  const auto note = [&](FrameSlot slot) {
    if (returned.contains(slot.bits)) read.insert(slot.bits);
  };
  for (const Op& op : kernel.ops) {
    for (const FrameSlot slot : {op.a, op.b, op.c, op.e, op.guard})
      note(slot);
    if (op.dispatch_kind == DispatchKind::kAsyncCopy) {
      const AsyncCopyOp& copy = kernel.async_copy_ops[op.memory_or_call_index];
      for (const FrameSlot slot : {copy.source_base, copy.read_bytes, copy.ignores_source})
        note(slot);
    }
    if (op.dispatch_kind == DispatchKind::kMatrixOperation) {
      for (const Fragment& source : kernel.matrix_ops[op.memory_or_call_index].sources) {
        for (const FrameSlot slot : source.registers)
          note(slot);
      }
    }
    if (op.dispatch_kind == DispatchKind::kMbarrier) {
      const MbarrierOp& mbarrier = kernel.mbarrier_ops[op.memory_or_call_index];
      for (const FrameSlot slot : {mbarrier.count, mbarrier.state})
        note(slot);
    }
    if (op.dispatch_kind == DispatchKind::kBulkCopy) {
      const BulkCopyOp& copy = kernel.bulk_copy_ops[op.memory_or_call_index];
      for (const FrameSlot slot : {copy.source_base, copy.bytes, copy.mbarrier_base})
        note(slot);
      if (copy.box) {
        note(copy.box->map_base);
        for (const FrameSlot slot : copy.box->coordinates)
          note(slot);
      }
    }
    if (op.dispatch_kind == DispatchKind::kTensorMapReplace || op.dispatch_kind == DispatchKind::kTensorMapCopy) {
      const TensorMapOp& map = kernel.tensor_map_ops[op.memory_or_call_index];
      for (const FrameSlot slot : {map.value, map.source_base})
        note(slot);
    }
    if (const TensorMemoryOp* const tensor = kernel.tensor_memory_op(op)) {
      for (const FrameSlot slot : tensor->sources())
        note(slot);
    }
    if (op.dispatch_kind == DispatchKind::kWarpgroupProduct) {
      const WarpgroupProductOp& product = kernel.warpgroup_product_ops[op.memory_or_call_index];
      for (const FrameSlot slot : product.sums)
        note(slot);
      for (const FrameSlot slot : product.a.registers)
        note(slot);
      for (const FrameSlot slot : {product.a_descriptor, product.b_descriptor, product.adds_sums})
        note(slot);
    }
    if (op.dispatch_kind != DispatchKind::kMemory) continue;
    const MemoryOp& memory = kernel.memory_ops[op.memory_or_call_index];
    if (memory.access == Access::kLoad) continue;
    for (std::size_t i = memory.access == Access::kAtomic ? 1 : 0; i < std::size(memory.values); ++i)
      note(memory.values[i]);
  }
  std::vector<bool> shows(kernel.ops.size());
  for (std::size_t i = 0; i < shows.size(); ++i) {
    const Op& op = kernel.ops[i];
    if (op.dispatch_kind != DispatchKind::kMemory) continue;
    const MemoryOp& memory = kernel.memory_ops[op.memory_or_call_index];
    if (memory.access != Access::kAtomic) continue;
    const bool swaps = memory.atomic_operation == Modifier::kCas || memory.atomic_operation == Modifier::kExch;
    const bool used = memory.returns_old_value && read.contains(memory.values[0].bits);
    shows[i] = op.exactness == Exactness::kOrderDependent || swaps || used;
  }
  return shows;
}

}  // namespace assay::ptx
