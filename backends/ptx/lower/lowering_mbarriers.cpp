// Rules for mbarrier objects and bulk copies.
#include "backends/ptx/instructions/lanes/atomics.hpp"
#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

namespace {

using enum Modifier;

bool is_in_shared_memory(const Modifiers& modifiers) {
  return modifiers.first_of(std::array{kShared, kSharedCta, kSharedCluster}).has_value();
}

}  // namespace

/// mbarrier.init, inval, arrive, expect_tx, complete_tx, test_wait, try_wait, and cp.async.mbarrier.arrive.
void Lowering::lower_mbarrier() {
  const Instruction& instruction = *current_instruction_;
  const Modifiers& modifiers = instruction.modifiers;
  const auto& operands = instruction.operands;
  using Operation = MbarrierOp::Operation;
  MbarrierOp mbarrier;
  const bool waits = modifiers.has(kTestWait) || modifiers.has(kTryWait);
  const bool arrives_for_copies = modifiers.has(kMbarrier);
  const bool arrives = !arrives_for_copies && (modifiers.has(kArrive) || modifiers.has(kArriveDrop));
  if (modifiers.has(kInit)) mbarrier.operation = Operation::kInit;
  else if (modifiers.has(kInval)) mbarrier.operation = Operation::kInvalidate;
  else if (waits) mbarrier.operation = Operation::kWait;
  else if (arrives_for_copies) mbarrier.operation = Operation::kArriveOfCopies;
  else if (modifiers.has(kCompleteTx)) mbarrier.operation = Operation::kComplete;
  else if (!arrives) mbarrier.operation = Operation::kExpect;
  mbarrier.drops = modifiers.has(kArriveDrop);
  mbarrier.expects_bytes = arrives && modifiers.has(kExpectTx);
  mbarrier.increments = arrives_for_copies && !modifiers.has(kNoinc);
  mbarrier.has_parity = modifiers.has(kParity);
  // The number of arrivals or bytes of an arrival is optional only without .expect_tx.
  const std::size_t address = waits || arrives ? 1 : 0;
  if (mbarrier.expects_bytes && operands.size() != 3) return static_cast<void>(emit(DispatchKind::kUnsupported));
  const bool is_written = mbarrier.operation == Operation::kInit || mbarrier.operation == Operation::kInvalidate;
  MemoryOp memory{.access = is_written ? Access::kStore : Access::kAtomic, .type = Type::kB64};
  memory.is_strong = !is_written;
  Op place;
  set_address(memory, place, operands[address], is_in_shared_memory(modifiers) ? Space::kShared : Space::kGeneric);
  if (waits) {
    mbarrier.state = source(operands[2], mbarrier.has_parity ? 4 : 8, Type::kB64);
    mbarrier.result = destination(operands[0], 4);
  } else {
    mbarrier.count = operands.size() > address + 1 ? source(operands[address + 1], 4, Type::kU32) : constant(1, 4);
    if (arrives) mbarrier.result = destination(operands[0], 8);
  }
  mbarrier.memory_index = add_memory_op(memory);
  Op& op = emit(DispatchKind::kMbarrier);
  op.a = place.a;
  op.immediate = place.immediate;
  if (!waits) op.d = mbarrier.result;
  op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.mbarrier_ops.size());
  kernel_.mbarrier_ops.push_back(mbarrier);
}

/// cp.async.bulk [destination], [source], size, [mbarrier], or without the mbarrier if it copies to global memory.
void Lowering::lower_bulk_copy() {
  const Instruction& instruction = *current_instruction_;
  const Modifiers& modifiers = instruction.modifiers;
  const auto& operands = instruction.operands;
  BulkCopyOp copy{.is_to_shared = modifiers.has(kCompletesTransaction)};
  if (modifiers.has(kReduce)) {
    copy.reduction = modifiers.first_of(std::array{kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor});
    if (!copy.reduction || find_atomic(*copy.reduction, instruction.type, true) == nullptr)
      return static_cast<void>(emit(DispatchKind::kUnsupported));
  }
  const bool has_spaces = modifiers.has(kGlobal) && is_in_shared_memory(modifiers);
  if (!has_spaces || (!copy.is_to_shared && modifiers.has(kSharedCluster)))
    return static_cast<void>(emit(DispatchKind::kUnsupported));
  MemoryOp source_access{.access = Access::kLoad, .type = Type::kB64, .element_count = 2};
  MemoryOp destination_access{.access = copy.reduction ? Access::kAtomic : Access::kStore,
                              .type = copy.reduction ? instruction.type : Type::kB64,
                              .element_count = static_cast<std::uint8_t>(copy.reduction ? 1 : 2)};
  destination_access.is_strong = copy.reduction.has_value();
  Op source_address;
  Op destination_address;
  set_address(source_access, source_address, operands[1], copy.is_to_shared ? Space::kGlobal : Space::kShared);
  set_address(destination_access, destination_address, operands[0],
              copy.is_to_shared ? Space::kShared : Space::kGlobal);
  copy.source_base = source_address.a;
  copy.source_offset = source_address.immediate;
  copy.bytes = source(operands[2], 4, Type::kU32);
  copy.source_index = add_memory_op(source_access);
  copy.destination_index = add_memory_op(destination_access);
  if (copy.is_to_shared) {
    MemoryOp mbarrier{.access = Access::kAtomic, .type = Type::kB64};
    mbarrier.is_strong = true;
    Op mbarrier_address;
    set_address(mbarrier, mbarrier_address, operands[3], Space::kShared);
    copy.mbarrier_base = mbarrier_address.a;
    copy.mbarrier_offset = mbarrier_address.immediate;
    copy.mbarrier_index = add_memory_op(mbarrier);
  }
  Op& op = emit(DispatchKind::kBulkCopy);
  if (copy.reduction && is_float(instruction.type)) op.exactness = Exactness::kOrderDependent;
  op.a = destination_address.a;
  op.immediate = destination_address.immediate;
  op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.bulk_copy_ops.size());
  kernel_.bulk_copy_ops.push_back(copy);
}

}  // namespace assay::ptx
