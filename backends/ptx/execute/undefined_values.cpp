// Values that a shuffle read from a lane that did not participate. PTX leaves them undefined, and correct code does not
// use them: a reduction over part of a warp selects the values of the participating lanes. Therefore undefined values
// are followed through registers and reported only if an address, a stored value or a branch depends on them. A store
// to local memory counts as a use.
#include <algorithm>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

namespace {

std::uint32_t undefined_lanes(const Warp& warp, FrameSlot place) {
  const UndefinedValue* const value = find_undefined(warp, place);
  return value == nullptr ? 0 : value->lane_mask;
}

/// The lanes in which a register with 32 bits or less, or a predicate, has one value in all bits.
std::uint32_t lanes_with(Warp& warp, const Op& op, FrameSlot place, bool bit) {
  if (op.instruction->type == Type::kPred) return bit ? *slot_words32(warp, place) : ~*slot_words32(warp, place);
  std::uint32_t lanes = 0;
  for (unsigned lane = 0; lane < kLanesPerWarp; ++lane)
    if (slot_words32(warp, place)[lane] == (bit ? ~std::uint32_t{0} : 0)) lanes |= 1U << lane;
  return lanes;
}

/// The lanes in which the result of a pure lane computation depends on an undefined operand.
std::uint32_t undefined_result(Warp& warp, const Op& op) {
  const std::uint32_t a = undefined_lanes(warp, op.a), b = undefined_lanes(warp, op.b);
  const std::uint32_t c = undefined_lanes(warp, op.c), e = undefined_lanes(warp, op.e);
  const Opcode opcode = op.instruction->opcode;
  if (opcode == Opcode::kSelp) {
    const std::uint32_t selected = *slot_words32(warp, op.c);
    return (a & selected) | (b & ~selected) | c;
  }
  const bool is_narrow = op.instruction->type == Type::kPred || bytes_of(op.instruction->type) <= 4;
  if ((opcode == Opcode::kAnd || opcode == Opcode::kOr) && is_narrow) {
    const bool deciding = opcode == Opcode::kOr;
    const std::uint32_t decided_by_a = lanes_with(warp, op, op.a, deciding) & ~a;
    const std::uint32_t decided_by_b = lanes_with(warp, op, op.b, deciding) & ~b;
    return (a | b) & ~decided_by_a & ~decided_by_b;
  }
  return a | b | c | e;
}

/// The shuffle that an undefined operand of the instruction comes from.
const Op* origin(const Warp& warp, const Op& op) {
  for (const FrameSlot place : {op.a, op.b, op.c, op.e, op.guard})
    if (const UndefinedValue* const value = find_undefined(warp, place)) return value->shuffle;
  return nullptr;
}

}  // namespace

void set_undefined(Warp& warp, std::uint32_t lane_mask, const UndefinedValue& value) {
  if (value.place.bits == 0) return;  // 0: no destination
  const auto known = std::ranges::find(warp.undefined_values, value.place.bits,
                                       [](const UndefinedValue& each) { return each.place.bits; });
  if (known == warp.undefined_values.end()) {
    if (value.lane_mask != 0) warp.undefined_values.push_back(value);
    return;
  }
  known->lane_mask = (known->lane_mask & ~lane_mask) | value.lane_mask;
  if (value.lane_mask != 0) known->shuffle = value.shuffle;
  if (known->lane_mask == 0) warp.undefined_values.erase(known);
}

void Execution::report_undefined(Warp& warp, FrameSlot place, const Op& user, std::uint32_t lane_mask) {
  const UndefinedValue* const value = find_undefined(warp, place);
  if (value == nullptr || (value->lane_mask & lane_mask) == 0) return;
  const Op& shuffle = *value->shuffle;
  each_lane(value->lane_mask & lane_mask, [&](unsigned lane) {
    const std::uint32_t thread = warp.index_in_block * kLanesPerWarp + lane;
    if (!is_stopped_)
      add_finding(CheckFinding::Kind::kInactiveLane, shuffle, thread, Space::kGeneric, 0, 0,
                  site_of(&user, thread, current_block_index_));
  });
  set_undefined(warp, lane_mask, {.place = place});
}

void Execution::follow_undefined_values(Warp& warp, const Op& op, std::uint32_t active_lane_mask,
                                        std::uint32_t lane_mask) {
  const auto report = [&](FrameSlot place) { report_undefined(warp, place, op, lane_mask); };
  const auto write = [&](FrameSlot place) { set_undefined(warp, lane_mask, {.place = place}); };
  if (op.dispatch_kind == DispatchKind::kHandlerOnly) {
    // With an undefined guard, the destination has its old or its new value.
    const std::uint32_t undecided = op.is_guarded ? undefined_lanes(warp, op.guard) & active_lane_mask : 0;
    UndefinedValue result{
        .place = op.d, .lane_mask = (undefined_result(warp, op) & lane_mask) | undecided, .shuffle = origin(warp, op)};
    set_undefined(warp, lane_mask | undecided, result);
    result.place = op.d2;
    set_undefined(warp, lane_mask | undecided, result);
    return;
  }
  if (op.is_guarded) report_undefined(warp, op.guard, op, active_lane_mask);
  if (op.dispatch_kind == DispatchKind::kMemory) {
    const MemoryOp& memory = kernel_.memory_ops[op.memory_or_call_index];
    if (!memory.has_no_base) report(op.a);
    if (memory.access == Access::kAtomic) {
      // The destination may be one of the operands.
      report(memory.values[1]);
      report(memory.values[2]);
      write(memory.values[0]);
      return;
    }
    for (unsigned i = 0; i < memory.element_count; ++i) {
      if (memory.access == Access::kLoad) write(memory.values[i]);
      else report(memory.values[i]);
    }
    return;
  }
  const bool is_shuffle = op.dispatch_kind == DispatchKind::kWarpOperation && op.instruction->opcode == Opcode::kShfl;
  for (const FrameSlot place : {op.a, op.b, op.c, op.e})
    if (!is_shuffle || place.bits != op.a.bits) report(place);
  if (op.dispatch_kind == DispatchKind::kAsyncCopy) {
    const AsyncCopyOp& copy = kernel_.async_copy_ops[op.memory_or_call_index];
    for (const FrameSlot place : {copy.source_base, copy.read_bytes, copy.ignores_source})
      report(place);
  }
  if (op.dispatch_kind == DispatchKind::kMatrixOperation) {
    const MatrixOp& matrices = kernel_.matrix_ops[op.memory_or_call_index];
    report(matrices.stride);
    for (const Fragment& source : matrices.sources)
      std::ranges::for_each(source.registers, report);
    std::ranges::for_each(matrices.destination.registers, write);
  }
  if (op.dispatch_kind == DispatchKind::kMbarrier) {
    const MbarrierOp& mbarrier = kernel_.mbarrier_ops[op.memory_or_call_index];
    report(mbarrier.count);
    report(mbarrier.state);
    write(mbarrier.result);
  }
  if (op.dispatch_kind == DispatchKind::kBulkCopy) {
    const BulkCopyOp& copy = kernel_.bulk_copy_ops[op.memory_or_call_index];
    for (const FrameSlot place : {copy.source_base, copy.bytes, copy.mbarrier_base})
      report(place);
    if (copy.box) {
      report(copy.box->map_base);
      std::ranges::for_each(copy.box->coordinates, report);
    }
  }
  if (op.dispatch_kind == DispatchKind::kTensorMapReplace || op.dispatch_kind == DispatchKind::kTensorMapCopy) {
    const TensorMapOp& map = kernel_.tensor_map_ops[op.memory_or_call_index];
    report(map.value);
    report(map.source_base);
  }
  if (op.dispatch_kind == DispatchKind::kWarpgroupProduct) {
    const WarpgroupProductOp& product = kernel_.warpgroup_product_ops[op.memory_or_call_index];
    for (const FrameSlot place : {product.a_descriptor, product.b_descriptor, product.adds_sums})
      report(place);
    std::ranges::for_each(product.a.registers, report);
    std::ranges::for_each(product.sums, report);
  }
  if (const TensorMemoryOp* const tensor = kernel_.tensor_memory_op(op)) {
    std::ranges::for_each(tensor->sources(), report);
    std::ranges::for_each(tensor->destinations(), write);
  }
  if (!is_shuffle) {
    write(op.d);
    write(op.d2);
  }
}

}  // namespace assay::ptx
