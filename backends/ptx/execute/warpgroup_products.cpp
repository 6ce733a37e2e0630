// Asynchronous products of matrices by a warpgroup: wgmma.
//
// Each of the four warps computes 16 rows of the product, independent of the others. The interpreter computes them when
// the warp starts the product. From then until the warp waits for the product, its registers are pending: reading or
// writing a register of d, and writing a register of a, is a finding. An exception are copies of registers of d, which
// compilers insert and ptxas removes; the copy is pending, too. The matrices in shared memory are checked as reads at
// the start, and the wait checks that nothing has written to them in between.
//
// The matrices are read through another path than the accesses of threads (the asynchronous proxy). A fence.proxy.async
// of any thread must therefore follow each write of a thread.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "backends/ptx/execute/execution.hpp"
#include "backends/ptx/instructions/lanes/matrices.hpp"
#include "backends/ptx/instructions/numbers.hpp"

namespace assay::ptx {

namespace {

constexpr unsigned kWarpgroupThreads = 128;  ///< number of threads of a warpgroup
constexpr unsigned kRowsOfWarp = 16;         ///< number of rows of the product that one warp computes
constexpr unsigned kCoreRows = 8;            ///< number of rows, or of columns, whose chunks have a fixed distance
constexpr std::uint32_t kLower18Bits = (1U << 18U) - 1;

MatrixDescriptor decode(std::uint64_t bits) {
  constexpr std::uint32_t kSizes[] = {kChunkBytes, 128, 64, 32};
  MatrixDescriptor matrix = MatrixDescriptor::decode_offsets(bits);
  matrix.swizzle_bytes = kSizes[bits >> 62U];
  return matrix;
}

}  // namespace

std::uint32_t chunk_address(const MatrixDescriptor& matrix, bool is_transposed, unsigned line, unsigned index,
                            unsigned element_bytes) {
  const unsigned elements = kChunkBytes / element_bytes;
  // The dimension that is contiguous in memory in chunks, and the other one.
  const unsigned chunk = (is_transposed ? line : index) / elements;
  const unsigned other = is_transposed ? index : line;
  const unsigned rows = matrix.permutes_pairs ? kCoreRows / 2 : kCoreRows;
  std::uint32_t address = matrix.start + other % rows * matrix.swizzle_bytes;
  const unsigned group = other / rows;
  if (matrix.swizzle_bytes == kChunkBytes) {
    address += is_transposed ? group * matrix.leading_offset + chunk * matrix.stride_offset
                             : group * matrix.stride_offset + chunk * matrix.leading_offset;
    return address;
  }
  const unsigned chunks = matrix.swizzle_bytes / kChunkBytes;
  address += group * matrix.stride_offset + chunk / chunks * matrix.leading_offset + chunk % chunks * kChunkBytes;
  if (matrix.permutes_pairs) return address ^ ((address >> 7U & 3U) << 5U);
  return address ^ ((address >> 7U & (chunks - 1)) << 4U);
}

const std::byte* Execution::read_shared_chunk(Warp& warp, const Op& op, const SharedMatrix& wanted,
                                              std::uint32_t address, std::vector<SharedChunk>& read_chunks) {
  // The descriptor has only the lower 18 bits of the address, which determine the variable.
  std::uint64_t variable = 0;
  for (std::size_t i = 0; i < kernel_.shared_variables.size(); ++i) {
    const std::uint32_t start = kernel_.shared_variables[i].shared_offset;
    const std::uint32_t matrix_start = wanted.descriptor.start;
    if (matrix_start >= start && matrix_start - start < shared_memory_by_variable_[i].size()) variable = i;
  }
  const std::uint64_t whole_address =
      ((variable + 1) << kSharedOffsetBits) + kSharedMiddleOffset + (address & kLower18Bits);
  const MemoryOp& memory = kernel_.memory_ops[wanted.memory_index];
  const LaneAccess reader = lane_access(warp, op, memory, wanted.lane, whole_address, Space::kShared);
  const std::byte* const chunk =
      check_shared_access(make_fast_race_check(warp, memory), reader, kChunkBytes, kChunkBytes);
  if (chunk == nullptr) return nullptr;
  const SharedOffset place = *find_shared(whole_address, kChunkBytes);
  read_chunks.push_back({static_cast<std::uint32_t>(place.variable), static_cast<std::uint32_t>(place.offset)});
  check_proxy_fence(reader, place, kChunkBytes);
  return chunk;
}

/// Reads one matrix from shared memory: `line_count` lines of `length` elements along k. Fills line by line.
void Execution::read_shared_matrix(Warp& warp, const Op& op, const SharedMatrix& wanted,
                                   std::vector<SharedChunk>& read_chunks, std::vector<double>& rounded,
                                   std::vector<UnroundedNumber>& unrounded) {
  const unsigned bytes = bytes_of(wanted.type);
  const unsigned elements = kChunkBytes / bytes;
  const unsigned length = wanted.length;
  if (wanted.descriptor.base_offset != 0)
    return stop(RunResult::Status::kUnsupported, "a matrix descriptor with a base offset is not supported", op);
  const auto read_chunk = [&](unsigned line, unsigned index) {
    const std::uint32_t address =
        chunk_address(wanted.descriptor, wanted.is_transposed, wanted.first_line + line, index, bytes);
    const std::byte* const chunk = read_shared_chunk(warp, op, wanted, address, read_chunks);
    if (chunk == nullptr) return;
    const SharedChunk place = read_chunks.back();
    for (unsigned i = 0; i < elements; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, chunk + std::size_t{i} * bytes, bytes);
      const std::size_t at =
          wanted.is_transposed ? std::size_t{line + i} * length + index : std::size_t{line} * length + index + i;
      rounded[at] = number_of_element(wanted.type, bits);
      if (unrounded.empty()) continue;
      unrounded[at] = {number_of_element(unrounded_type(wanted.type), bits), 0};
      if (bytes == 1) continue;
      const std::uint32_t offset = place.offset + i * bytes;
      const UnroundedWord* const word = &shared_unrounded_words_by_variable_[place.variable][offset / 4];
      const auto parts = UnroundedWord::read(word, 1, bytes, offset % 4, bits);
      const Part part = bytes == 2 ? Part::kLower : Part::kWhole;
      if (parts.knows(part)) unrounded[at] = parts.number(part);
    }
  };
  if (wanted.is_transposed) {
    for (unsigned index = 0; index < length && !is_stopped_; ++index) {
      for (unsigned line = 0; line < wanted.line_count; line += elements)
        read_chunk(line, index);
    }
    return;
  }
  for (unsigned line = 0; line < wanted.line_count && !is_stopped_; ++line) {
    for (unsigned index = 0; index < length; index += elements)
      read_chunk(line, index);
  }
}

/// Reports an asynchronous read of bytes whose last write was made by a thread after the last fence.proxy.async.
void Execution::check_proxy_fence(const LaneAccess& reader, const SharedOffset& place, unsigned bytes) {
  if (!options_.checks.reports_races) return;
  for (std::uint64_t word = place.offset / 4; word < (place.offset + bytes) / 4; ++word) {
    const ShadowCell& cell = shared_shadow_cells_by_variable_[place.variable][word];
    if (cell.packed_last_write >> 14U < std::max(block_start_epoch_, proxy_fence_epoch_)) continue;
    const Op* const writer = kernel_.op_of_access(cell.packed_flags >> kWriteInstructionShift & kMaxRaceCheckNumber);
    if (writer != nullptr && writer->dispatch_kind == DispatchKind::kBulkCopy) continue;  // asynchronous, too
    InstructionSite site =
        site_of(writer, cell.packed_last_write >> 4U & (kMaxThreadsPerBlock - 1), current_block_index_);
    site.lacks_proxy_fence = true;
    add_finding(CheckFinding::Kind::kReadWriteRace, reader.op, reader.thread, Space::kShared, reader.address, bytes,
                std::move(site));
    return;
  }
}

void Execution::start_product(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  const std::uint32_t first_thread = warp.index_in_block * kLanesPerWarp;
  const bool is_complete = (first_thread / kWarpgroupThreads + 1) * kWarpgroupThreads <= threads_in_block_;
  if ((lane_mask != kAllLanes || !is_complete) && options_.checks.reports_divergence)
    add_finding(CheckFinding::Kind::kInactiveLane, op,
                first_thread + static_cast<std::uint32_t>(std::countr_zero(lane_mask)));
  const WarpgroupProductOp& product = kernel_.warpgroup_product_ops[op.memory_or_call_index];
  const auto lane = static_cast<unsigned>(std::countr_zero(lane_mask));
  const auto has_equal_words = [&](FrameSlot slot) {
    const std::uint64_t* const words = slot_words64(warp, slot);
    bool is_uniform = true;
    each_lane(lane_mask, [&](unsigned each) { is_uniform = is_uniform && words[each] == words[lane]; });
    return is_uniform;
  };
  const bool is_a_in_shared = product.a.register_count == 0;
  if (!has_equal_words(product.b_descriptor) || (is_a_in_shared && !has_equal_words(product.a_descriptor)))
    return stop(RunResult::Status::kUnsupported, "lanes have different matrix descriptors", op);
  advance_epoch();  // later writes to shared memory conflict with this read
  warp.products.pending.push_back(
      {.op = &op, .group = warp.products.committed_group_count + 1, .start_epoch = current_epoch_});

  const auto& [m, n, k] = product.shape;
  const bool computes_unrounded = unrounded_plan_ && is_float(product.sum_type);
  std::vector<SharedChunk>& read_chunks = warp.products.pending.back().read_chunks;
  WarpgroupFactors factors;
  factors.a.resize(std::size_t{kRowsOfWarp} * k);
  factors.b.resize(std::size_t{n} * k);
  if (computes_unrounded) {
    factors.unrounded_a.resize(factors.a.size());
    factors.unrounded_b.resize(factors.b.size());
  }
  if (is_a_in_shared) {
    read_shared_matrix(warp, op,
                       {.descriptor = decode(slot_words64(warp, product.a_descriptor)[lane]),
                        .type = product.a_type,
                        .length = k,
                        .memory_index = product.memory_index,
                        .first_line = warp.index_in_block % 4 * kRowsOfWarp,
                        .line_count = kRowsOfWarp,
                        .is_transposed = product.is_a_transposed},
                       read_chunks, factors.a, factors.unrounded_a);
  } else {
    read_fragment(warp, product.a, lane_mask, factors.a, factors.unrounded_a);
  }
  read_shared_matrix(warp, op,
                     {.descriptor = decode(slot_words64(warp, product.b_descriptor)[lane]),
                      .type = product.b_type,
                      .length = k,
                      .memory_index = product.memory_index,
                      .line_count = n,
                      .is_transposed = product.is_b_transposed},
                     read_chunks, factors.b, factors.unrounded_b);
  if (is_stopped_) return;
  const std::uint32_t adds = *slot_words32(warp, product.adds_sums);
  each_lane(lane_mask, [&](unsigned each) { add_products(warp, product, factors, each, (adds >> each & 1U) != 0); });
  for (const FrameSlot slot : product.sums)
    warp.products.registers[slot.bits] = {&op, warp.products.committed_group_count + 1, false};
  for (unsigned i = 0; i < product.a.register_count; ++i) {
    const std::uint32_t place = product.a.registers[i].bits;
    if ((place & FrameSlot::kConstantFrameBit) == 0)
      warp.products.registers.try_emplace(place, PendingRegister{&op, warp.products.committed_group_count + 1, true});
  }
}

/// Computes the sums of one lane.
void Execution::add_products(Warp& warp, const WarpgroupProductOp& product, const WarpgroupFactors& factors,
                             unsigned lane, bool adds_old) {
  const unsigned k = product.shape.k;
  const double sign = product.negates_a != product.negates_b ? -1 : 1;
  const unsigned per_register = product.sum_type == Type::kF16 ? 2 : 1;
  for (std::size_t i = 0; i < product.sums.size(); ++i) {
    std::uint32_t& word = slot_words32(warp, product.sums[i])[lane];
    const std::uint32_t old_word = word;
    word = 0;
    for (unsigned part = 0; part < per_register; ++part) {
      const unsigned element = static_cast<unsigned>(i) * per_register + part;
      const std::size_t row = lane / 4 + kCoreRows * (element / 2 % 2);
      const std::size_t column = kCoreRows * (element / 4) + 2 * (lane % 4) + element % 2;
      const std::uint32_t old_bits = per_register == 1 ? old_word : old_word >> (16 * part) & 0xffffU;
      double sum = adds_old ? number_of_element(product.sum_type, old_bits) : 0;
      for (unsigned j = 0; j < k; ++j)
        sum += sign * (factors.a[row * k + j] * factors.b[column * k + j]);
      word |= static_cast<std::uint32_t>(bits_of_sum(product.sum_type, sum, product.saturates)) << (16 * part);
      const std::int32_t index = factors.unrounded_a.empty() ? -1 : unrounded_plan_->register_index(product.sums[i]);
      if (index < 0) continue;
      const Part place = per_register == 1 ? Part::kWhole : part == 0 ? Part::kLower : Part::kUpper;
      const UnroundedOperand old_sum{.register_index = index, .slot = product.sums[i]};
      UnroundedNumber total;
      if (adds_old) total = number_of(warp.unrounded_registers, old_sum, lane, place, product.sum_type, old_word);
      for (unsigned j = 0; j < k; ++j) {
        const UnroundedNumber& a = factors.unrounded_a[row * k + j];
        const UnroundedNumber& b = factors.unrounded_b[column * k + j];
        total.value += sign * (a.value * b.value);
        total.error += a.error * std::abs(b.value) + b.error * std::abs(a.value);
      }
      warp.unrounded_registers[static_cast<std::size_t>(index)].hold(place, 1U << lane).set(lane, total);
    }
  }
}

/// Reads the warp's rows of a from registers.
void Execution::read_fragment(Warp& warp, const Fragment& fragment, std::uint32_t lane_mask,
                              std::vector<double>& rounded, std::vector<UnroundedNumber>& unrounded) {
  const unsigned per_register = fragment.elements_per_register();
  const unsigned bits = 32 / per_register;
  for (unsigned element = 0; element < fragment.element_count(); ++element) {
    const FrameSlot slot = fragment.registers[element / per_register];
    const unsigned part = element % per_register;
    each_lane(lane_mask, [&](unsigned lane) {
      const ElementPosition at = position_of(fragment, lane, element);
      const std::size_t index = std::size_t{at.row} * fragment.shape.k + at.column;
      const std::uint32_t word = slot_words32(warp, slot)[lane];
      const std::uint64_t value = per_register == 1 ? word : word >> (part * bits) & ((1U << bits) - 1);
      rounded[index] = number_of_element(fragment.type, value);
      if (unrounded.empty()) return;
      unrounded[index] = {number_of_element(unrounded_type(fragment.type), value), 0};
      if (per_register > 2) return;
      const Part place = per_register == 1 ? Part::kWhole : part == 0 ? Part::kLower : Part::kUpper;
      const UnroundedOperand operand{.register_index = unrounded_plan_->register_index(slot), .slot = slot};
      unrounded[index] = number_of(warp.unrounded_registers, operand, lane, place, unrounded_type(fragment.type), word);
    });
  }
}

/// wgmma.fence, wgmma.commit_group, wgmma.wait_group.
void Execution::control_products(Warp& warp, const Op& op) {
  WarpgroupProducts& products = warp.products;
  if (op.instruction->modifiers.has(Modifier::kCommitGroup)) {
    ++products.committed_group_count;
    return;
  }
  advance_epoch();
  warp.last_synchronization_epoch = current_epoch_;
  if (op.instruction->modifiers.has(Modifier::kFence)) return;
  const auto is_finished = [&](std::uint64_t group) { return group + op.immediate <= products.committed_group_count; };
  for (const PendingProduct& pending : products.pending)
    if (is_finished(pending.group)) check_writes_since_start(warp, pending);
  std::erase_if(products.pending, [&](const PendingProduct& pending) { return is_finished(pending.group); });
  std::erase_if(products.registers, [&](const auto& each) { return is_finished(each.second.group); });
}

/// Reports a write to the matrices of a product between its start and the wait.
void Execution::check_writes_since_start(const Warp& warp, const PendingProduct& pending) {
  const WarpgroupProductOp& product = kernel_.warpgroup_product_ops[pending.op->memory_or_call_index];
  const MemoryOp& memory = kernel_.memory_ops[product.memory_index];
  for (const SharedChunk& chunk : pending.read_chunks) {
    const std::uint64_t address = ((std::uint64_t{chunk.variable} + 1) << kSharedOffsetBits) + kSharedMiddleOffset +
                                  kernel_.shared_variables[chunk.variable].shared_offset + chunk.offset;
    const LaneAccess reader = lane_access(warp, *pending.op, memory, 0, address, Space::kShared);
    if (check_writes_since(reader, {chunk.variable, chunk.offset}, kChunkBytes, pending.start_epoch)) return;
  }
}

/// Reports a write to shared memory since the start of an asynchronous read. Returns whether there is one.
bool Execution::check_writes_since(const LaneAccess& reader, const SharedOffset& place, unsigned bytes,
                                   std::uint32_t start_epoch) {
  if (!options_.checks.reports_races) return false;
  for (std::uint64_t word = place.offset / 4; word < (place.offset + bytes) / 4; ++word) {
    const ShadowCell& cell = shared_shadow_cells_by_variable_[place.variable][word];
    if (cell.packed_last_write >> 14U < start_epoch) continue;
    add_access_finding(CheckFinding::Kind::kReadWriteRace, reader, &cell.packed_last_write,
                       cell.packed_flags >> kWriteInstructionShift & kMaxRaceCheckNumber);
    return true;
  }
  return false;
}

/// Follows the pending registers of the warp through an instruction before it is executed, and reports uses of them.
void Execution::check_pending_registers(Warp& warp, const Op& op, std::uint32_t lane_mask) {
  auto& registers = warp.products.registers;
  const std::uint32_t thread = warp.index_in_block * kLanesPerWarp;
  const bool is_copy = op.dispatch_kind == DispatchKind::kHandlerOnly && op.instruction->opcode == Opcode::kMov;
  std::optional<PendingRegister> copied;
  const auto report = [&](CheckFinding::Kind kind, FrameSlot place) {
    const auto found = registers.find(place.bits);
    if (found->second.op->dispatch_kind == DispatchKind::kTensorMemory) {
      constexpr std::size_t kMaxEarlyUses = 16;
      if (warp.products.early_uses.size() < kMaxEarlyUses)
        warp.products.early_uses.push_back({kind, &op, found->second.op});
    } else if (options_.checks.reports_races) {
      InstructionSite site = site_of(found->second.op, thread, current_block_index_);
      site.is_pending_copy = true;
      add_finding(kind, op, thread, Space::kGeneric, 0, 0, std::move(site));
    }
    registers.erase(found);
  };
  const auto read = [&](FrameSlot place) {
    const auto found = registers.find(place.bits);
    if (found == registers.end() || found->second.is_source) return;
    const bool is_loaded = found->second.op->dispatch_kind == DispatchKind::kTensorMemory;
    if (is_copy || (is_loaded && op.dispatch_kind == DispatchKind::kHandlerOnly)) copied = found->second;
    else report(CheckFinding::Kind::kReadWriteRace, place);
  };
  const auto write = [&](FrameSlot place) {
    const auto found = registers.find(place.bits);
    if (place.bits == 0 || found == registers.end()) return;
    const bool is_loaded = found->second.op->dispatch_kind == DispatchKind::kTensorMemory;
    if (found->second.is_derived || (is_loaded && copied)) registers.erase(found);
    else report(CheckFinding::Kind::kWriteWriteRace, place);
  };
  if (op.is_guarded) read(op.guard);
  if (lane_mask == 0) return;
  for (const FrameSlot place : {op.a, op.b, op.c, op.e})
    read(place);
  switch (op.dispatch_kind) {
    case DispatchKind::kMemory: {
      const MemoryOp& memory = kernel_.memory_ops[op.memory_or_call_index];
      const bool is_load = memory.access == Access::kLoad;
      for (unsigned i = 0; i < std::size(memory.values); ++i) {
        if (memory.values[i].bits == 0) continue;
        if (is_load || (memory.access == Access::kAtomic && i == 0)) write(memory.values[i]);
        else read(memory.values[i]);
      }
      break;
    }
    case DispatchKind::kMatrixOperation: {
      const MatrixOp& matrix = kernel_.matrix_ops[op.memory_or_call_index];
      for (const Fragment& source : matrix.sources)
        std::ranges::for_each(source.registers, read);
      std::ranges::for_each(matrix.destination.registers, write);
      break;
    }
    case DispatchKind::kWarpgroupProduct:
      std::ranges::for_each(kernel_.warpgroup_product_ops[op.memory_or_call_index].a.registers, read);
      break;
    case DispatchKind::kTensorMemory:
    case DispatchKind::kTensorOperation: {
      const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[op.memory_or_call_index];
      std::ranges::for_each(tensor.sources(), read);
      std::ranges::for_each(tensor.destinations(), write);
      break;
    }
    default: break;
  }
  write(op.d);
  write(op.d2);
  if (!copied) return;
  copied->is_derived = true;
  for (const FrameSlot place : {op.d, op.d2})
    if (place.bits != 0) registers[place.bits] = *copied;
}

}  // namespace assay::ptx
