// Rules for tensor maps and copies of boxes of tensors, for clusters of blocks, and for brx.idx.
#include <algorithm>
#include <array>

#include "backends/ptx/instructions/lanes/lanes.hpp"
#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;
using enum Modifier;

constexpr unsigned kMaxBoxRank = 5;
constexpr std::uint64_t kCopiedMapBytes = 128;

/// The number of dimensions that an instruction states; 0: none.
std::uint8_t stated_rank(const Modifiers& modifiers) {
  constexpr std::array kRanks{kRank1, kRank2, kRank3, kRank4, kRank5};
  for (std::size_t i = 0; i < kRanks.size(); ++i)
    if (modifiers.has(kRanks[i])) return static_cast<std::uint8_t>(i + 1);
  return 0;
}

}  // namespace

/// cp.async.bulk.tensor [destination], [map, coordinates], [mbarrier] to shared memory, and [map, coordinates],
/// [source] to global memory, which cp.reduce.async.bulk.tensor combines with the source.
void Lowering::lower_tensor_copy() {
  const Instruction& instruction = *current_instruction_;
  const Modifiers& modifiers = instruction.modifiers;
  const auto& operands = instruction.operands;
  const auto reject = [&] { emit(DispatchKind::kUnsupported); };
  BulkCopyOp copy{.is_to_shared = modifiers.has(kCompletesTransaction)};
  TensorBoxOp box{.rank = stated_rank(modifiers), .coordinates = {}, .map_base = {}};
  const Operand& map = operands[copy.is_to_shared ? 1 : 0];
  const std::vector<Operand>& coordinates = map.elements[1].elements;
  const bool has_spaces = modifiers.has(kGlobal) && (modifiers.has(kSharedCta) || modifiers.has(kSharedCluster));
  if (box.rank == 0 || coordinates.size() != box.rank || !has_spaces) return reject();
  if (modifiers.has(kReduce)) {
    copy.reduction = modifiers.first_of(std::array{kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor});
    if (!copy.reduction) return reject();
  }
  if (modifiers.has(kMulticast) && operands.size() < 4) return reject();
  for (std::size_t i = 0; i < box.rank; ++i)
    box.coordinates[i] = source(coordinates[i], 4, Type::kS32);
  MemoryOp map_access{.access = Access::kLoad, .type = Type::kB64, .element_count = 2};
  Op map_address;
  set_address(map_access, map_address, map, Space::kGeneric);
  box.map_base = map_address.a;
  box.map_offset = map_address.immediate;
  box.map_index = add_memory_op(map_access);
  MemoryOp global_access{.access = copy.is_to_shared ? Access::kLoad
                                   : copy.reduction  ? Access::kAtomic
                                                     : Access::kStore,
                         .space = Space::kGlobal,
                         .type = Type::kB64,
                         .has_no_base = true,
                         .element_count = 2};
  global_access.is_strong = copy.reduction.has_value();
  MemoryOp shared_access{
      .access = copy.is_to_shared ? Access::kStore : Access::kLoad, .type = Type::kB64, .element_count = 2};
  Op shared_address;
  set_address(shared_access, shared_address, operands[copy.is_to_shared ? 0 : 1], Space::kShared);
  const std::uint32_t global_index = add_memory_op(global_access);
  const std::uint32_t shared_index = add_memory_op(shared_access);
  copy.source_index = copy.is_to_shared ? global_index : shared_index;
  copy.destination_index = copy.is_to_shared ? shared_index : global_index;
  if (copy.is_to_shared) {
    MemoryOp mbarrier{.access = Access::kAtomic, .type = Type::kB64};
    mbarrier.is_strong = true;
    Op mbarrier_address;
    set_address(mbarrier, mbarrier_address, operands[2], Space::kShared);
    copy.mbarrier_base = mbarrier_address.a;
    copy.mbarrier_offset = mbarrier_address.immediate;
    copy.mbarrier_index = add_memory_op(mbarrier);
    if (modifiers.has(kMulticast)) box.block_mask = source(operands[3], 2, Type::kU16);
  } else {
    copy.source_base = shared_address.a;
    copy.source_offset = shared_address.immediate;
  }
  copy.box = box;
  Op& op = emit(DispatchKind::kBulkCopy);
  op.a = copy.is_to_shared ? shared_address.a : map_address.a;
  op.immediate = copy.is_to_shared ? shared_address.immediate : map_address.immediate;
  if (copy.reduction == kAdd) op.exactness = Exactness::kOrderDependent;
  op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.bulk_copy_ops.size());
  kernel_.bulk_copy_ops.push_back(copy);
}

/// tensormap.replace.tile.field [map], (number,) value, and tensormap.cp_fenceproxy [destination], [source], 128.
void Lowering::lower_tensor_map() {
  const Instruction& instruction = *current_instruction_;
  const Modifiers& modifiers = instruction.modifiers;
  const auto& operands = instruction.operands;
  const auto reject = [&] { emit(DispatchKind::kUnsupported); };
  const bool copies = modifiers.has(kCopyAndFence);
  MemoryOp read{.access = Access::kLoad, .type = Type::kB64, .element_count = 2};
  MemoryOp write{.access = Access::kStore, .type = Type::kB64, .element_count = 2};
  TensorMapOp map;
  Op destination_address;
  if (copies) {
    if (operands[2].value != kCopiedMapBytes || !modifiers.has(kGlobal) || !modifiers.has(kSharedCta)) return reject();
    Op source_address;
    set_address(read, source_address, operands[1], Space::kShared);
    set_address(write, destination_address, operands[0], Space::kGlobal);
    map.source_base = source_address.a;
    map.source_offset = source_address.immediate;
  } else {
    constexpr std::array kListFields{kBoxDim, kGlobalDim, kGlobalStride, kElementStride};
    constexpr std::array kFields{kGlobalAddress, kRankField,        kElementType, kInterleaveLayout,
                                 kSwizzleMode,   kSwizzleAtomicity, kFillMode};
    const auto list_field = modifiers.first_of(kListFields);
    const auto field = list_field ? list_field : modifiers.first_of(kFields);
    if (!field || !modifiers.has(kMapObject) || operands.size() != (list_field ? 3 : 2)) return reject();
    const bool has_number =
        !list_field || (operands[1].kind == Kind::kInteger &&
                        operands[1].value < (*list_field == kGlobalStride ? kMaxBoxRank - 1 : kMaxBoxRank));
    if (!has_number) return reject();
    const Space space = modifiers.has(kSharedCta) ? Space::kShared
                        : modifiers.has(kGlobal)  ? Space::kGlobal
                                                  : Space::kGeneric;
    set_address(read, destination_address, operands[0], space);
    set_address(write, destination_address, operands[0], space);
    map.field = *field;
    map.dimension = list_field ? static_cast<std::uint32_t>(operands[1].value) : 0;
    map.has_64_bit_value = bytes_of(instruction.type) == 8;
    map.value = source(operands.back(), bytes_of(instruction.type), instruction.type);
  }
  map.source_index = add_memory_op(read);
  map.destination_index = add_memory_op(write);
  const FrameSlot all_lanes = constant(kAllLanes, 4);
  Op& op = emit(copies ? DispatchKind::kTensorMapCopy : DispatchKind::kTensorMapReplace);
  op.a = destination_address.a;
  op.immediate = destination_address.immediate;
  if (copies) op.e = all_lanes;
  op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.tensor_map_ops.size());
  kernel_.tensor_map_ops.push_back(map);
}

/// fence.proxy.tensormap::generic.acquire [map], 128, or .release without operands.
void Lowering::lower_tensor_map_fence() {
  const Instruction& instruction = *current_instruction_;
  const auto& operands = instruction.operands;
  if (instruction.modifiers.has(kRelease)) {
    emit(DispatchKind::kFence);
    return;
  }
  if (operands.size() != 2 || operands[1].value != kCopiedMapBytes || !instruction.modifiers.has(kAcquire))
    return static_cast<void>(emit(DispatchKind::kUnsupported));
  MemoryOp map{.access = Access::kLoad, .type = Type::kB64, .element_count = 2};
  Op address;
  set_address(map, address, operands[0], Space::kGeneric);
  const std::uint32_t index = add_memory_op(map);
  Op& op = emit(DispatchKind::kTensorMapFence);
  op.a = address.a;
  op.immediate = address.immediate;
  op.memory_or_call_index = index;
}

/// brx.idx index, targets.
void Lowering::lower_indexed_branch() {
  const auto& operands = current_instruction_->operands;
  std::vector<std::uint32_t> targets;
  for (const Operand& target : operands[1].elements)
    targets.push_back(target.index);
  const FrameSlot index = source(operands[0], 4, Type::kU32);
  Op& op = emit(DispatchKind::kIndexedBranch);
  op.a = index;
  op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.branch_targets.size());
  kernel_.branch_targets.push_back(std::move(targets));
}

/// barrier.cluster, mapa and getctarank, for clusters of one block, whose rank is 0.
void Lowering::lower_cluster_operation() {
  const Instruction& instruction = *current_instruction_;
  const auto& operands = instruction.operands;
  if (instruction.opcode == Opcode::kClusterBarrier) {
    emit(DispatchKind::kClusterBarrier);
    return;
  }
  if (instruction.opcode == Opcode::kGetctarank) {
    const FrameSlot rank = constant(0, 4);
    const FrameSlot d = destination(operands[0], 4);
    Instruction move;
    move.opcode = Opcode::kMov;
    move.type = move.source_type = Type::kU32;
    Op& op = emit(DispatchKind::kHandlerOnly, select_handlers(move));
    op.a = op.b = op.c = rank;
    op.d = d;
    return;
  }
  const unsigned bytes = bytes_of(instruction.type);
  const FrameSlot address = source(operands[1], bytes, instruction.type);
  const FrameSlot rank = source(operands[2], 4, Type::kU32);
  const FrameSlot d = destination(operands[0], bytes);
  Op& op = emit(DispatchKind::kClusterAddress);
  op.a = address;
  op.b = rank;
  op.d = d;
}

}  // namespace assay::ptx
