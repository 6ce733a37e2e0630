// Rules for tensor memory and the products of matrices in it: tcgen05.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "backends/ptx/lower/lowering.hpp"

namespace assay::ptx {

namespace {

using Kind = Operand::Kind;
using enum Modifier;
using Operation = TensorMemoryOp::Operation;

constexpr std::array kShapes{k32x32b, k16x64b, k16x128b, k16x256b, k16x32bx2};
constexpr std::array kCopyShapes{k128x256b, k128x128b, k64x128b, k32x128b};
constexpr std::array kReplications{kWarps02And13, kWarps01And23, kWarpx4};
constexpr std::array kKinds{kKindF16, kKindTf32, kKindF8f6f4, kKindI8};

/// The number of registers in each lane for a load or store; 0 if PTX does not allow this number of repetitions.
unsigned register_count(const Modifiers& modifiers, Modifier shape) {
  constexpr std::array kRepetitions{kX1, kX2, kX4, kX8, kX16, kX32, kX64, kX128};
  constexpr unsigned kMaxRegisters = 128;
  const auto repetition = modifiers.first_of(kRepetitions);
  if (!repetition) return 0;
  const auto place = std::ranges::find(kRepetitions, *repetition);
  const unsigned per_repetition = shape == k16x128b ? 2 : shape == k16x256b ? 4 : 1;
  const unsigned count = per_repetition << static_cast<unsigned>(place - kRepetitions.begin());
  return count <= kMaxRegisters ? count : 0;
}

/// Whether the modifiers of a copy belong together.
bool is_copy_form(Modifier shape, std::optional<Modifier> replication) {
  if (shape == k32x128b) return replication == kWarpx4;
  if (shape == k64x128b) return replication == kWarps02And13 || replication == kWarps01And23;
  return !replication;
}

/// The MemoryOp for a word of tensor memory.
MemoryOp tensor_word(Access access) { return {.access = access, .space = Space::kTensor, .type = Type::kB32}; }

}  // namespace

/// Operations of all lanes of a warp: alloc, dealloc, relinquish_alloc_permit, ld, st, wait; and the fences.
void Lowering::lower_tensor_memory() {
  const Instruction& instruction = *current_instruction_;
  const Modifiers& modifiers = instruction.modifiers;
  const auto& operands = instruction.operands;
  if (modifiers.has(kFenceBefore) || modifiers.has(kFenceAfter)) {
    emit(DispatchKind::kNoEffect);
    return;
  }
  const auto reject = [&] { emit(DispatchKind::kUnsupported); };
  TensorMemoryOp tensor;
  Op place;
  const bool allocates = modifiers.has(kAlloc);
  const bool frees = modifiers.has(kDealloc);
  const bool loads = modifiers.has(kLd);
  const bool stores = modifiers.has(kSt);
  const bool needs_group = allocates || frees || modifiers.has(kRelinquishAllocPermit);
  if (!modifiers.has(kAligned) || needs_group != modifiers.has(kOneBlockGroup)) return reject();
  if (allocates) {
    tensor.column_count = source(operands[1], 4, Type::kU32);
    MemoryOp memory{.access = Access::kStore, .type = Type::kB32};
    set_address(memory, place, operands[0], modifiers.has(kSharedCta) ? Space::kShared : Space::kGeneric);
    tensor.memory_index = add_memory_op(memory);
  } else if (frees) {
    tensor.operation = Operation::kFree;
    place.a = source(operands[0], 4, Type::kU32);
    tensor.column_count = source(operands[1], 4, Type::kU32);
  } else if (loads || stores) {
    tensor.operation = loads ? Operation::kLoad : Operation::kStore;
    const auto shape = modifiers.first_of(kShapes);
    if (!shape) return reject();
    tensor.shape = *shape;
    tensor.packs_halves = modifiers.has(kPack16) || modifiers.has(kUnpack16);
    const Operand& values = operands[loads ? 0 : operands.size() - 1];
    const std::span<const Operand> elements =
        values.kind == Kind::kVector ? std::span(values.elements) : std::span(&values, 1);
    const unsigned count = register_count(modifiers, *shape);
    if (count == 0 || elements.size() != count) return reject();
    for (const Operand& element : elements) {
      const bool is_register = element.kind == Kind::kRegister;
      if (is_register && bytes_of(function_->registers[element.index].type) != 4) return reject();
      tensor.registers.push_back(loads ? destination(element, 4) : source(element, 4, Type::kB32));
    }
    if (*shape == k16x32bx2) tensor.half_offset = static_cast<std::uint32_t>(operands[loads ? 2 : 1].value);
    MemoryOp memory = tensor_word(loads ? Access::kLoad : Access::kStore);
    set_address(memory, place, operands[loads ? 1 : 0], Space::kTensor);
    const std::uint32_t index = add_memory_op(memory);
    tensor.memory_index = tensor.tensor_load_index = tensor.tensor_store_index = index;
  } else if (modifiers.has(kRelinquishAllocPermit)) {
    tensor.operation = Operation::kRelinquish;
  } else {
    tensor.operation = modifiers.has(kWaitLd) ? Operation::kWaitForLoads : Operation::kWaitForStores;
  }
  if (!loads && !stores) {
    if (!allocates) tensor.memory_index = add_memory_op(tensor_word(Access::kLoad));
    tensor.tensor_load_index = tensor.tensor_store_index = tensor.memory_index;
  }
  const FrameSlot all_lanes = constant(kAllLanes, 4);
  Op& op = emit(DispatchKind::kTensorMemory);
  op.a = place.a;
  op.immediate = place.immediate;
  op.e = all_lanes;
  op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.tensor_memory_ops.size());
  kernel_.tensor_memory_ops.push_back(std::move(tensor));
}

/// Operations of one thread: mma, cp, commit.
void Lowering::lower_tensor_operation() {
  const Instruction& instruction = *current_instruction_;
  const Modifiers& modifiers = instruction.modifiers;
  const auto& operands = instruction.operands;
  const auto reject = [&] { emit(DispatchKind::kUnsupported); };
  if (!modifiers.has(kOneBlockGroup)) return reject();
  TensorMemoryOp tensor;
  Op place;
  const auto is_register = [&](const Operand& operand, unsigned bytes) {
    if (operand.kind != Kind::kRegister) return false;
    const Type type = function_->registers[operand.index].type;
    return type != Type::kPred && bytes_of(type) == bytes;
  };
  const auto emit_operation = [&] {
    Op& op = emit(DispatchKind::kTensorOperation);
    op.a = place.a;
    op.immediate = place.immediate;
    op.memory_or_call_index = static_cast<std::uint32_t>(kernel_.tensor_memory_ops.size());
    const bool is_float_product = tensor.operation == Operation::kMultiply && tensor.kind != kKindI8;
    op.exactness = is_float_product ? Exactness::kApproximate : Exactness::kExact;
    kernel_.tensor_memory_ops.push_back(std::move(tensor));
  };
  if (modifiers.has(kCommit)) {
    tensor.operation = Operation::kCommit;
    const bool has_mask = modifiers.has(kMulticast);
    if (!modifiers.has(kArriveOne) || operands.size() != (has_mask ? 2U : 1U)) return reject();
    if (has_mask) tensor.block_mask = source(operands[1], 4, Type::kU32);
    const bool is_shared = modifiers.has(kSharedCta) || modifiers.has(kSharedCluster);
    MemoryOp mbarrier{.access = Access::kAtomic, .type = Type::kB64};
    mbarrier.is_strong = true;
    set_address(mbarrier, place, operands[0], is_shared ? Space::kShared : Space::kGeneric);
    tensor.memory_index = tensor.tensor_load_index = tensor.tensor_store_index = add_memory_op(mbarrier);
    return emit_operation();
  }
  MemoryOp destination_word = tensor_word(Access::kStore);
  constexpr MemoryOp kChunk{
      .access = Access::kLoad, .space = Space::kShared, .type = Type::kB64, .has_no_base = true, .element_count = 2};
  if (modifiers.has(kCp)) {
    tensor.operation = Operation::kCopy;
    const auto shape = modifiers.first_of(kCopyShapes);
    const auto replication = modifiers.first_of(kReplications);
    if (!shape || !is_copy_form(*shape, replication) || !is_register(operands[1], 8)) return reject();
    tensor.shape = *shape;
    if (replication) tensor.replication = *replication;
    tensor.a_descriptor = source(operands[1], 8, Type::kB64);
    set_address(destination_word, place, operands[0], Space::kTensor);
    tensor.memory_index = add_memory_op(kChunk);
    tensor.tensor_load_index = tensor.tensor_store_index = add_memory_op(destination_word);
    return emit_operation();
  }
  tensor.operation = Operation::kMultiply;
  tensor.is_weight_stationary = modifiers.has(kWs);
  const auto kind = modifiers.first_of(kKinds);
  constexpr std::size_t kRequired = 5;
  if (!kind || operands.size() < kRequired || operands[0].kind != Kind::kAddress) return reject();
  tensor.kind = *kind;
  MemoryOp load_word = tensor_word(Access::kLoad);
  if (operands[1].kind == Kind::kAddress) {
    Op a;
    set_address(load_word, a, operands[1], Space::kTensor);
    if (!load_word.has_no_base && load_word.has_64_bit_base) return reject();
    tensor.is_a_in_tensor_memory = true;
    if (load_word.has_no_base) tensor.a_base = constant(0, 4);
    else tensor.a_base = a.a;
    tensor.a_offset = a.immediate;
  } else if (is_register(operands[1], 8)) {
    tensor.a_descriptor = source(operands[1], 8, Type::kB64);
  } else {
    return reject();
  }
  if (!is_register(operands[2], 8) || (!is_register(operands[3], 4) && operands[3].kind != Kind::kInteger))
    return reject();
  tensor.b_descriptor = source(operands[2], 8, Type::kB64);
  tensor.instruction_descriptor = source(operands[3], 4, Type::kU32);
  std::size_t next = 4;
  if (operands[next].kind == Kind::kVector) {
    constexpr std::size_t kMasks = 4;
    const auto& masks = operands[next].elements;
    if (masks.size() != kMasks || tensor.is_weight_stationary ||
        !std::ranges::all_of(masks, [&](const Operand& mask) { return is_register(mask, 4); }))
      return reject();
    for (const Operand& mask : masks)
      tensor.disabled_lanes.push_back(source(mask, 4, Type::kB32));
    ++next;
  }
  if (next >= operands.size()) return reject();
  const Operand& adds = operands[next++];
  const bool is_predicate = adds.kind == Kind::kRegister && function_->registers[adds.index].type == Type::kPred;
  if (!is_predicate && adds.kind != Kind::kInteger) return reject();
  tensor.adds_sums = source_predicate(adds);
  if (next < operands.size()) {
    constexpr std::uint64_t kMaxScale = 15;
    const bool can_scale = (tensor.kind == kKindF16 || tensor.kind == kKindTf32) && !tensor.is_weight_stationary;
    const Operand& scale = operands[next++];
    if (!can_scale || scale.kind != Kind::kInteger || scale.value > kMaxScale) return reject();
    tensor.scale_shift = static_cast<std::uint32_t>(scale.value);
  }
  if (next != operands.size()) return reject();
  set_address(destination_word, place, operands[0], Space::kTensor);
  tensor.memory_index = add_memory_op(kChunk);
  tensor.tensor_load_index = add_memory_op(load_word);
  tensor.tensor_store_index = add_memory_op(destination_word);
  emit_operation();
}

}  // namespace assay::ptx
