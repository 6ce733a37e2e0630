// Tensor memory: tcgen05.alloc, dealloc, ld, st, wait and commit.
//
// Loads, stores, products and copies are asynchronous. A use of a register that a load writes needs a wait of the warp
// for its loads. Until the warp has waited for a store, or a phase of an mbarrier object to which the thread has
// committed a product or copy is complete, the words that it writes are pending: every access to them is a finding. An
// exception are the products and copies that follow on another, because hardware executes them in order. When an
// operation is complete, it counts as an access by its thread, so that other warps need a barrier or the phase.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "backends/ptx/execute/execution.hpp"

namespace assay::ptx {

namespace {

using Operation = TensorMemoryOp::Operation;

constexpr unsigned kLanesOfQuarter = 32;            ///< number of lanes of tensor memory that one warp can access
constexpr unsigned kMinColumns = 32;                ///< smallest number of columns of an allocation
constexpr std::uint64_t kGroupOfLoads = 1U << 31U;  ///< group of pending registers that wgmma.wait_group ignores

/// The word that a register of a lane holds, relative to the address. With packing, the lower half of the register
/// comes from this word and the upper half from the next one in the row.
TensorCell place_of(const TensorMemoryOp& tensor, unsigned lane, unsigned index) {
  const unsigned width = tensor.packs_halves ? 2 : 1;
  switch (tensor.shape) {
    case Modifier::k16x64b: return {lane % 2 * 8 + lane / 4, (2 * index + lane / 2 % 2) * width};
    case Modifier::k16x128b: return {lane / 4 + 8 * (index % 2), (index / 2 * 4 + lane % 4) * width};
    case Modifier::k16x256b:
      return {lane / 4 + 8 * (index / 2 % 2), (index / 4 * 8 + lane % 4 * 2 + index % 2) * width};
    case Modifier::k16x32bx2: return {lane % 16, index * width + lane / 16 * tensor.half_offset};
    default: return {lane, index * width};
  }
}

std::uint32_t packed_access(std::uint32_t epoch, std::uint32_t thread) { return epoch << 14U | thread << 4U | 15U; }

TensorCell cell_of(std::uint32_t index) { return {index % kTensorLanes, index / kTensorLanes}; }

}  // namespace

// ------------------------------------------------------------------------------------------------------- allocations

/// Called at the start of a block. The words keep their content, because an allocation makes them uninitialized.
void Execution::start_tensor_memory() {
  TensorMemory& memory = tensor_memory_;
  if (memory.words.empty()) return;
  memory.allocations.clear();
  memory.is_allocated_column.fill(false);
  memory.may_not_allocate = false;
  memory.pending.clear();
  memory.pending_loads.clear();
  memory.operation_count = 0;
}

/// Called when epochs restart.
void Execution::forget_tensor_accesses() {
  const auto forget = [&](TensorMemory& memory) {
    for (ShadowCell& cell : memory.shadow_cells)
      cell.packed_last_write = cell.packed_last_read = 0;
    for (PendingTensorOperation& operation : memory.pending)
      operation.start_epoch = current_epoch_;
    for (PendingTensorLoad& load : memory.pending_loads)
      load.start_epoch = current_epoch_;
  };
  forget(tensor_memory_);
  for (SuspendedBlock& block : suspended_blocks_)
    forget(block.tensor_memory);
}

/// Returns false if the group must wait until another warp frees tensor memory.
bool Execution::allocate_tensor_memory(Warp& warp, LaneGroup& group, const Op& op, std::uint32_t lane_mask) {
  TensorMemory& memory = tensor_memory_;
  const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[op.memory_or_call_index];
  const auto lane = static_cast<unsigned>(std::countr_zero(lane_mask));
  const std::uint32_t count = slot_words32(warp, tensor.column_count)[lane];
  if (!std::has_single_bit(count) || count < kMinColumns || count > kTensorColumns) {
    stop(RunResult::Status::kTrapped,
         fmt::format("the number of columns must be a power of two from {} to {}, got {}", kMinColumns, kTensorColumns,
                     count),
         op);
    return true;
  }
  if (memory.may_not_allocate) {
    stop(RunResult::Status::kTrapped, "allocates tensor memory after tcgen05.relinquish_alloc_permit", op);
    return true;
  }
  if (memory.words.empty()) {
    constexpr std::size_t kWords = std::size_t{kTensorLanes} * kTensorColumns;
    memory.words.resize(kWords);
    memory.shadow_cells.resize(kWords);
    memory.pending_numbers.resize(kWords);
    if (unrounded_plan_) memory.unrounded_words.resize(kWords);
  }
  std::uint32_t first = 0;
  const auto is_used = [&](std::uint32_t column) { return memory.is_allocated_column[column]; };
  for (std::uint32_t column = 0; column < first + count && first + count <= kTensorColumns; ++column)
    if (is_used(column)) first = column / kMinColumns * kMinColumns + kMinColumns;
  if (first + count > kTensorColumns) {
    group.waits_for = LaneGroup::Wait::kMbarrier;  // other warps run, and then it tries again
    return false;
  }
  const std::uint32_t thread = warp.index_in_block * kLanesPerWarp + lane;
  memory.allocations.push_back({first, count, &op, thread});
  std::fill_n(memory.is_allocated_column.begin() + first, count, true);
  const std::size_t begin = TensorCell{0, first}.index();
  const std::size_t end = TensorCell{0, first + count}.index();
  for (std::size_t i = begin; i < end; ++i) {
    memory.shadow_cells[i] = {};
    memory.pending_numbers[i] = 0;
    if (unrounded_plan_) memory.unrounded_words[i] = {};
  }
  const MemoryOp& store = kernel_.memory_ops[tensor.memory_index];
  Addresses addresses;
  find_addresses(warp, store, op.a, op.immediate, addresses);
  std::uint64_t address = addresses[lane];
  if (store.space == Space::kGeneric && address >> kAddressWindowBits == kSharedWindowIndex) address &= kWindowMask;
  const LaneAccess writer = lane_access(warp, op, store, lane, address, Space::kShared);
  std::byte* const target = check_shared_access(make_fast_race_check(warp, store), writer, 4, 4);
  if (target != nullptr) std::memcpy(target, &first, sizeof first);
  return true;
}

void Execution::free_tensor_memory(const Warp& warp, const Op& op, std::uint32_t address, std::uint32_t column_count) {
  TensorMemory& memory = tensor_memory_;
  const auto found = std::ranges::find_if(memory.allocations, [&](const TensorMemory::Allocation& each) {
    return each.first_column == address && each.column_count == column_count;
  });
  if (found == memory.allocations.end()) {
    return stop(RunResult::Status::kTrapped,
                fmt::format("tensor memory at address 0x{:x} with {} columns is not allocated", address, column_count),
                op);
  }
  const auto frees = [&](const PendingTensorOperation& pending) {
    return std::ranges::any_of(pending.written_cells, [&](std::uint32_t cell) {
      return cell / kTensorLanes - found->first_column < found->column_count &&
             memory.pending_numbers[cell] == pending.number;
    });
  };
  const auto pending = std::ranges::find_if(memory.pending, frees);
  if (pending != memory.pending.end() && options_.checks.reports_races) {
    InstructionSite site = site_of(pending->op, pending->thread, current_block_index_);
    site.is_pending_copy = true;
    add_finding(CheckFinding::Kind::kWriteWriteRace, op, warp.index_in_block * kLanesPerWarp, Space::kTensor, address,
                4, std::move(site));
  }
  std::fill_n(memory.is_allocated_column.begin() + found->first_column, found->column_count, false);
  memory.allocations.erase(found);
  has_new_phase_ = true;  // warps that wait for tensor memory try again
}

/// Called when a block has ended.
void Execution::report_lost_tensor_memory() {
  for (const TensorMemory::Allocation& allocation : tensor_memory_.allocations)
    add_finding(CheckFinding::Kind::kNotFreed, *allocation.op, allocation.thread, Space::kTensor,
                allocation.first_column, 4);
}

// -------------------------------------------------------------------------------------------------- loads and stores

bool Execution::operate_on_tensor_memory(Warp& warp, LaneGroup& group, const Op& op, std::uint32_t lane_mask) {
  const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[op.memory_or_call_index];
  const auto lane = static_cast<unsigned>(std::countr_zero(lane_mask));
  const std::uint32_t thread = warp.index_in_block * kLanesPerWarp + lane;
  if (lane_mask != kAllLanes && options_.checks.reports_divergence)
    add_finding(CheckFinding::Kind::kInactiveLane, op, thread);
  const auto differs = [&](FrameSlot slot) {
    const std::uint32_t* const words = slot_words32(warp, slot);
    bool result = false;
    each_lane(lane_mask, [&](unsigned each) { result = result || words[each] != words[lane]; });
    return result;
  };
  const bool is_access = tensor.operation == Operation::kLoad || tensor.operation == Operation::kStore;
  const bool has_base = is_access && !kernel_.memory_ops[tensor.memory_index].has_no_base;
  if ((has_base && differs(op.a)) || (tensor.column_count.bits != 0 && differs(tensor.column_count))) {
    stop(RunResult::Status::kUnsupported, "lanes have different operands", op);
    return true;
  }
  switch (tensor.operation) {
    case Operation::kAllocate: return allocate_tensor_memory(warp, group, op, lane_mask);
    case Operation::kFree:
      free_tensor_memory(warp, op, slot_words32(warp, op.a)[lane], slot_words32(warp, tensor.column_count)[lane]);
      break;
    case Operation::kRelinquish: tensor_memory_.may_not_allocate = true; break;
    case Operation::kWaitForLoads: wait_for_tensor_loads(warp); break;
    case Operation::kWaitForStores: wait_for_tensor_stores(warp); break;
    default: {
      const std::uint32_t base = has_base ? slot_words32(warp, op.a)[lane] : 0;
      move_tensor_words(warp, op, base + static_cast<std::uint32_t>(op.immediate), lane_mask);
      break;
    }
  }
  return true;
}

void Execution::move_tensor_words(Warp& warp, const Op& op, std::uint32_t address, std::uint32_t lane_mask) {
  TensorMemory& memory = tensor_memory_;
  const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[op.memory_or_call_index];
  const MemoryOp& access = kernel_.memory_ops[tensor.memory_index];
  const bool is_load = tensor.operation == Operation::kLoad;
  const std::uint32_t first_thread = warp.index_in_block * kLanesPerWarp;
  const unsigned first_lane = address >> 16U;
  const unsigned first_column = address & 0xffffU;
  if (first_lane / kLanesOfQuarter != warp.index_in_block % 4)
    return add_finding(CheckFinding::Kind::kOutOfBounds, op, first_thread, Space::kTensor, address, 4);
  if (first_lane % (tensor.shape == Modifier::k32x32b ? kLanesOfQuarter : kLanesOfQuarter / 2) != 0)
    return add_finding(CheckFinding::Kind::kMisaligned, op, first_thread, Space::kTensor, address, 4);
  const FastRaceCheck watch = make_fast_race_check(warp, access);
  std::vector<std::uint32_t> cells;
  for (unsigned i = 0; i < tensor.registers.size(); ++i) {
    std::uint32_t* const words = slot_words32(warp, tensor.registers[i]);
    const std::int32_t index = unrounded_plan_ ? unrounded_plan_->register_index(tensor.registers[i]) : -1;
    UnroundedRegister* const numbers = index < 0 ? nullptr : &warp.unrounded_registers[static_cast<std::size_t>(index)];
    each_lane(lane_mask, [&](unsigned lane) {
      const TensorCell place = place_of(tensor, lane, i);
      const UnroundedParts stored = is_load || numbers == nullptr ? UnroundedParts{} : numbers->parts(lane);
      std::uint32_t loaded = 0;
      UnroundedParts loaded_parts;
      for (unsigned half = 0; half < (tensor.packs_halves ? 2U : 1U); ++half) {
        const TensorCell cell{first_lane + place.lane, first_column + place.column + half};
        LaneAccess actor = lane_access(warp, op, access, lane, cell.address(), Space::kTensor);
        if (!check_tensor_access(watch, actor, cell)) continue;
        const std::size_t at = cell.index();
        cells.push_back(static_cast<std::uint32_t>(at));
        const Part part = half == 0 ? Part::kLower : Part::kUpper;
        if (is_load) {
          loaded |= tensor.packs_halves ? (memory.words[at] & 0xffffU) << (16 * half) : memory.words[at];
          if (numbers == nullptr) continue;
          if (!tensor.packs_halves) {
            loaded_parts = UnroundedWord::read(&memory.unrounded_words[at], 1, 4, 0, memory.words[at]);
            continue;
          }
          const auto parts = UnroundedWord::read(&memory.unrounded_words[at], 1, 2, 0, memory.words[at] & 0xffffU);
          if (parts.knows(Part::kLower)) loaded_parts.set(part, parts.number(Part::kLower));
          continue;
        }
        memory.words[at] = tensor.packs_halves ? words[lane] >> (16 * half) & 0xffffU : words[lane];
        if (!unrounded_plan_) continue;
        UnroundedParts parts = stored;
        if (tensor.packs_halves) {
          parts = {};
          if (stored.knows(part)) parts.set(Part::kLower, stored.number(part));
        }
        memory.unrounded_words[at] = {};
        UnroundedWord::write(&memory.unrounded_words[at], 1, tensor.packs_halves ? 2 : 4, 0, memory.words[at], parts);
      }
      if (!is_load) return;
      words[lane] = loaded;
      if (numbers != nullptr) numbers->set_parts(lane, loaded_parts);
    });
  }
  if (is_load) {
    memory.pending_loads.push_back({&op, warp.index_in_block, current_epoch_, std::move(cells)});
    for (const FrameSlot slot : tensor.registers)
      if (slot.bits != 0) warp.products.registers[slot.bits] = {&op, kGroupOfLoads, false};
    return;
  }
  const std::uint32_t number = ++memory.operation_count;
  for (const std::uint32_t cell : cells)
    memory.pending_numbers[cell] = number;
  memory.pending.push_back({.op = &op,
                            .number = number,
                            .thread = first_thread,
                            .is_store = true,
                            .start_epoch = current_epoch_,
                            .written_cells = std::move(cells)});
}

bool Execution::check_tensor_access(const FastRaceCheck& watch, const LaneAccess& actor, TensorCell cell) {
  TensorMemory& memory = tensor_memory_;
  if (cell.lane >= kTensorLanes || cell.column >= kTensorColumns || !memory.is_allocated_column[cell.column]) {
    add_finding(CheckFinding::Kind::kOutOfBounds, actor.op, actor.thread, Space::kTensor, actor.address, 4);
    return false;
  }
  const std::size_t at = cell.index();
  if (const std::uint32_t number = memory.pending_numbers[at]; number != 0) {
    const auto pending = std::ranges::lower_bound(memory.pending, number, {}, &PendingTensorOperation::number);
    const bool is_in_order = pending->is_store ? actor.op.dispatch_kind == DispatchKind::kTensorMemory &&
                                                     actor.memory_op.access == Access::kStore &&
                                                     pending->thread / kLanesPerWarp == actor.thread / kLanesPerWarp
                                               : actor.op.dispatch_kind == DispatchKind::kTensorOperation;
    if (!is_in_order) {
      if (!options_.checks.reports_races) return true;
      InstructionSite site = site_of(pending->op, pending->thread, current_block_index_);
      site.is_pending_copy = true;
      add_finding(actor.memory_op.access == Access::kLoad ? CheckFinding::Kind::kReadWriteRace
                                                          : CheckFinding::Kind::kWriteWriteRace,
                  actor.op, actor.thread, Space::kTensor, actor.address, 4, std::move(site));
      return true;
    }
  }
  if (options_.checks.reports_races || options_.checks.reports_uninitialized)
    check_access(watch, memory.shadow_cells.data(), std::uint64_t{at} * 4, 4, actor);
  return true;
}

/// Reports uses of loaded registers that no wait of the warp follows. An earlier use is not reported, because Triton
/// and optimizing compilers use the registers before the wait, and ptxas lets the use wait for them.
void Execution::report_early_uses(const Warp& warp) {
  if (!options_.checks.reports_races) return;
  const std::uint32_t thread = warp.index_in_block * kLanesPerWarp;
  for (const EarlyUse& use : warp.products.early_uses) {
    InstructionSite site = site_of(use.load, thread, current_block_index_);
    site.is_pending_copy = true;
    add_finding(use.kind, *use.op, thread, Space::kGeneric, 0, 0, std::move(site));
  }
}

/// A load reads its words at any time until the wait.
void Execution::wait_for_tensor_loads(Warp& warp) {
  TensorMemory& memory = tensor_memory_;
  std::erase_if(memory.pending_loads, [&](const PendingTensorLoad& load) {
    if (load.warp != warp.index_in_block) return false;
    const MemoryOp& access = kernel_.memory_ops[kernel_.tensor_memory_ops[load.op->memory_or_call_index].memory_index];
    for (const std::uint32_t index : load.cells) {
      ShadowCell& cell = memory.shadow_cells[index];
      const bool is_written_since = epoch_of(cell.packed_last_write) > load.start_epoch &&
                                    thread_of(cell.packed_last_write) / kLanesPerWarp != load.warp;
      if (is_written_since && options_.checks.reports_races) {
        const LaneAccess reader = lane_access(warp, *load.op, access, 0, cell_of(index).address(), Space::kTensor);
        add_access_finding(CheckFinding::Kind::kReadWriteRace, reader, &cell.packed_last_write,
                           cell.packed_flags >> kWriteInstructionShift & kMaxRaceCheckNumber);
        break;
      }
      cell.packed_last_read = packed_access(current_epoch_, thread_of(cell.packed_last_read));
    }
    return true;
  });
  warp.products.early_uses.clear();
  std::erase_if(warp.products.registers,
                [](const auto& each) { return each.second.op->dispatch_kind == DispatchKind::kTensorMemory; });
  advance_epoch();
  warp.last_synchronization_epoch = current_epoch_;
}

void Execution::wait_for_tensor_stores(const Warp& warp) {
  std::erase_if(tensor_memory_.pending, [&](const PendingTensorOperation& operation) {
    if (!operation.is_store || operation.thread / kLanesPerWarp != warp.index_in_block) return false;
    complete_tensor_operation(operation);
    return true;
  });
  advance_epoch();
  warps_[warp.index_in_block].last_synchronization_epoch = current_epoch_;
}

// ----------------------------------------------------------------------------------------------- products and copies

void Execution::start_tensor_operation(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[op.memory_or_call_index];
  const MemoryOp& access =
      kernel_.memory_ops[tensor.operation == Operation::kCommit ? tensor.memory_index : tensor.tensor_store_index];
  Addresses addresses;
  find_addresses(warp, access, op.a, op.immediate, addresses);
  each_lane(lane_mask, [&](unsigned lane) {
    if (is_stopped_) return;
    const auto address = static_cast<std::uint32_t>(addresses[lane]);
    if (tensor.operation == Operation::kCommit) return commit_tensor_operations(warp, op, lane, addresses[lane]);
    if (tensor.operation == Operation::kCopy) return copy_to_tensor_memory(warp, op, lane, address);
    multiply_in_tensor_memory(warp, op, lane, address);
  });
}

void Execution::commit_tensor_operations(Warp& warp, const Op& op, unsigned lane, std::uint64_t address) {
  const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[op.memory_or_call_index];
  if (tensor.block_mask.bits != 0 && (slot_words32(warp, tensor.block_mask)[lane] & 0xffffU) != 1)
    return stop(RunResult::Status::kUnsupported, "a commit for other blocks of the cluster is not supported", op);
  const auto object_address = check_mbarrier_access(warp, op, tensor.memory_index, lane, address);
  if (!object_address) return;
  const auto found = mbarriers_.find(*object_address);
  if (found == mbarriers_.end())
    return stop(RunResult::Status::kUnsupported, "the mbarrier object is not initialized", op);
  found->second.arrivals_of_tensor_operations.push_back(
      {warp.index_in_block * kLanesPerWarp + lane, tensor_memory_.operation_count});
}

/// Lets the arrivals happen that wait for products and copies, until the current phase is complete.
void Execution::complete_tensor_operations(Mbarrier& object) {
  auto& arrivals = object.arrivals_of_tensor_operations;
  const std::uint64_t phase = object.phase;
  while (!arrivals.empty() && object.phase == phase) {
    const Mbarrier::ArrivalOfTensorOperations arrival = arrivals.front();
    arrivals.erase(arrivals.begin());
    std::erase_if(tensor_memory_.pending, [&](const PendingTensorOperation& operation) {
      if (operation.is_store || operation.thread != arrival.thread || operation.number > arrival.last_number)
        return false;
      complete_tensor_operation(operation);
      return true;
    });
    record_arrival(warps_[arrival.thread / kLanesPerWarp], object);
    advance_epoch();
    if (object.pending_count != 0) --object.pending_count;
    finish_phase(object);
  }
}

/// Reports writes to the operands since the start, and records the writes of the operation as accesses now.
void Execution::complete_tensor_operation(const PendingTensorOperation& operation) {
  TensorMemory& memory = tensor_memory_;
  const Warp& warp = warps_[operation.thread / kLanesPerWarp];
  const unsigned lane = operation.thread % kLanesPerWarp;
  const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[operation.op->memory_or_call_index];
  const MemoryOp& shared_read = kernel_.memory_ops[tensor.memory_index];
  // The operands may have been read as late as now.
  const FastRaceCheck shared_watch = make_fast_race_check(warp, shared_read);
  for (const SharedChunk& chunk : operation.read_chunks) {
    const std::uint64_t address = ((std::uint64_t{chunk.variable} + 1) << kSharedOffsetBits) + kSharedMiddleOffset +
                                  kernel_.shared_variables[chunk.variable].shared_offset + chunk.offset;
    LaneAccess reader = lane_access(warp, *operation.op, shared_read, lane, address, Space::kShared);
    reader.was_initialized = true;  // checked at the start
    if (check_writes_since(reader, {chunk.variable, chunk.offset}, kChunkBytes, operation.start_epoch)) break;
    if (options_.checks.reports_races)
      check_access(shared_watch, shared_shadow_cells_by_variable_[chunk.variable].data(), chunk.offset, kChunkBytes,
                   reader);
  }
  const MemoryOp& tensor_read = kernel_.memory_ops[tensor.tensor_load_index];
  const FastRaceCheck tensor_watch = make_fast_race_check(warp, tensor_read);
  for (const std::uint32_t index : operation.read_cells) {
    if (!options_.checks.reports_races) break;
    LaneAccess reader = lane_access(warp, *operation.op, tensor_read, lane, cell_of(index).address(), Space::kTensor);
    reader.was_initialized = true;
    const ShadowCell& cell = memory.shadow_cells[index];
    if (epoch_of(cell.packed_last_write) < operation.start_epoch) {
      check_access(tensor_watch, memory.shadow_cells.data(), std::uint64_t{index} * 4, 4, reader);
      continue;
    }
    const Op* const writer = kernel_.op_of_access(cell.packed_flags >> kWriteInstructionShift & kMaxRaceCheckNumber);
    if (writer != nullptr && writer->dispatch_kind == DispatchKind::kTensorOperation) continue;  // in order
    add_access_finding(CheckFinding::Kind::kReadWriteRace, reader, &cell.packed_last_write,
                       cell.packed_flags >> kWriteInstructionShift & kMaxRaceCheckNumber);
    break;
  }
  const std::uint32_t number = kernel_.memory_ops[tensor.tensor_store_index].race_check_number;
  for (const std::uint32_t index : operation.written_cells) {
    if (memory.pending_numbers[index] != operation.number) continue;
    memory.pending_numbers[index] = 0;
    ShadowCell& cell = memory.shadow_cells[index];
    const std::uint32_t thread = operation.is_store ? thread_of(cell.packed_last_write) : operation.thread;
    cell.packed_last_write = packed_access(current_epoch_, thread);
    cell.packed_flags = (cell.packed_flags & kKeptByWriteMask) | number << kWriteInstructionShift | 15U;
  }
}

}  // namespace assay::ptx
