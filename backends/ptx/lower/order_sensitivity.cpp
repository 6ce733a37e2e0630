#include <iterator>
#include <set>

#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

/// Float additions, exchanges and compare-and-swaps leave order-dependent bits in memory. Returned values always depend
/// on the order.
std::vector<bool> find_order_sensitive_ops(const Kernel& kernel) {
  std::set<std::uint32_t> read;
  for (const Op& op : kernel.ops) {
    for (const FrameSlot slot : {op.a, op.b, op.c, op.e, op.guard})
      read.insert(slot.bits);
    if (op.dispatch_kind == DispatchKind::kAsyncCopy) {
      const AsyncCopyOp& copy = kernel.async_copy_ops[op.memory_or_call_index];
      for (const FrameSlot slot : {copy.source_base, copy.read_bytes, copy.ignores_source})
        read.insert(slot.bits);
    }
    if (op.dispatch_kind == DispatchKind::kMatrixOperation) {
      for (const Fragment& source : kernel.matrix_ops[op.memory_or_call_index].sources) {
        for (const FrameSlot slot : source.registers)
          read.insert(slot.bits);
      }
    }
    if (op.dispatch_kind == DispatchKind::kMbarrier) {
      const MbarrierOp& mbarrier = kernel.mbarrier_ops[op.memory_or_call_index];
      for (const FrameSlot slot : {mbarrier.count, mbarrier.state})
        read.insert(slot.bits);
    }
    if (op.dispatch_kind == DispatchKind::kBulkCopy) {
      const BulkCopyOp& copy = kernel.bulk_copy_ops[op.memory_or_call_index];
      for (const FrameSlot slot : {copy.source_base, copy.bytes, copy.mbarrier_base})
        read.insert(slot.bits);
      if (copy.box) {
        read.insert(copy.box->map_base.bits);
        for (const FrameSlot slot : copy.box->coordinates)
          read.insert(slot.bits);
      }
    }
    if (op.dispatch_kind == DispatchKind::kTensorMapReplace || op.dispatch_kind == DispatchKind::kTensorMapCopy) {
      const TensorMapOp& map = kernel.tensor_map_ops[op.memory_or_call_index];
      for (const FrameSlot slot : {map.value, map.source_base})
        read.insert(slot.bits);
    }
    if (const TensorMemoryOp* const tensor = kernel.tensor_memory_op(op)) {
      for (const FrameSlot slot : tensor->sources())
        read.insert(slot.bits);
    }
    if (op.dispatch_kind == DispatchKind::kWarpgroupProduct) {
      const WarpgroupProductOp& product = kernel.warpgroup_product_ops[op.memory_or_call_index];
      for (const FrameSlot slot : product.sums)
        read.insert(slot.bits);
      for (const FrameSlot slot : product.a.registers)
        read.insert(slot.bits);
      for (const FrameSlot slot : {product.a_descriptor, product.b_descriptor, product.adds_sums})
        read.insert(slot.bits);
    }
    if (op.dispatch_kind != DispatchKind::kMemory) continue;
    const MemoryOp& memory = kernel.memory_ops[op.memory_or_call_index];
    if (memory.access == Access::kLoad) continue;
    for (std::size_t i = memory.access == Access::kAtomic ? 1 : 0; i < std::size(memory.values); ++i)
      read.insert(memory.values[i].bits);
  }
  std::vector<bool> shows(kernel.ops.size());
  for (std::size_t i = 0; i < shows.size(); ++i) {
    const Op& op = kernel.ops[i];
    if (op.dispatch_kind != DispatchKind::kMemory) continue;
    const MemoryOp& memory = kernel.memory_ops[op.memory_or_call_index];
    if (memory.access != Access::kAtomic) continue;
    const bool swaps = memory.atomic_operation == Modifier::kCas || memory.atomic_operation == Modifier::kExch;
    const bool used = memory.returns_old_value && memory.values[0].bits != 0 && read.contains(memory.values[0].bits);
    shows[i] = op.exactness == Exactness::kOrderDependent || swaps || used;
  }
  return shows;
}

}  // namespace assay::ptx
