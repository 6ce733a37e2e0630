// Products of matrices in tensor memory, and copies to it: tcgen05.mma and tcgen05.cp.
//
// The interpreter computes a product when a thread starts it; tensor_memory.cpp checks that nothing accesses its sums,
// and that nothing overwrites its operands, before it is complete. The matrices in shared memory are read through the
// asynchronous proxy, as for wgmma.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "backends/ptx/execute/execution.hpp"
#include "backends/ptx/instructions/lanes/matrices.hpp"

namespace assay::ptx {

namespace {

using Operation = TensorMemoryOp::Operation;

constexpr unsigned kBytesAlongK = 32;  ///< size of a row of a, or of a column of b, in one product

/// The types that a field of the instruction descriptor selects; kNone: invalid or not supported.
Type factor_type(Modifier kind, std::uint32_t field) {
  switch (kind) {
    case Modifier::kKindF16: return field == 0 ? Type::kF16 : field == 1 ? Type::kBf16 : Type::kNone;
    case Modifier::kKindTf32: return field == 2 ? Type::kTf32 : Type::kNone;
    case Modifier::kKindI8: return field == 0 ? Type::kU8 : field == 1 ? Type::kS8 : Type::kNone;
    default: return field == 0 ? Type::kE4m3 : field == 1 ? Type::kE5m2 : Type::kNone;
  }
}
Type sum_type(Modifier kind, std::uint32_t field) {
  if (kind == Modifier::kKindI8) return field == 2 ? Type::kS32 : Type::kNone;
  if (field == 1) return Type::kF32;
  return field == 0 && kind != Modifier::kKindTf32 ? Type::kF16 : Type::kNone;
}

bool is_product_shape(const MatrixShape& shape, bool is_weight_stationary, bool is_integer) {
  constexpr unsigned kMaxColumns = 256;
  if (is_weight_stationary) {
    const bool has_rows = shape.m == 32 || shape.m == 64 || shape.m == kTensorLanes;
    return has_rows && (shape.n == 64 || shape.n == 128 || shape.n == kMaxColumns);
  }
  if (shape.n == 0 || shape.n > kMaxColumns) return false;
  if (shape.m == kTensorLanes) return shape.n % 16 == 0;
  if (shape.m != 64) return false;
  return is_integer ? shape.n % 16 == 0 || shape.n == 8 || shape.n == 24 : shape.n % 8 == 0;
}

}  // namespace

/// Decodes the instruction descriptor. Returns false, and stops the launch, if it is invalid.
bool Execution::decode_product(const Op& op, std::uint32_t descriptor, TensorProduct& product) {
  const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[op.memory_or_call_index];
  const auto field = [&](unsigned first, unsigned bits) { return descriptor >> first & ((1U << bits) - 1); };
  const auto reject = [&](RunResult::Status status, const std::string& reason) {
    stop(status, fmt::format("the instruction descriptor 0x{:08x} {}", descriptor, reason), op);
    return false;
  };
  if (field(2, 1) != 0) return reject(RunResult::Status::kUnsupported, "of a sparse matrix is not supported");
  if (tensor.is_weight_stationary && field(30, 2) != 0)
    return reject(RunResult::Status::kUnsupported, "with a shift of b is not supported");
  product.sum_type = sum_type(tensor.kind, field(4, 2));
  product.a_type = factor_type(tensor.kind, field(7, 3));
  product.b_type = factor_type(tensor.kind, field(10, 3));
  const bool is_narrow = tensor.kind == Modifier::kKindF8f6f4 && (field(7, 3) > 2 || field(10, 3) > 2);
  if (is_narrow) return reject(RunResult::Status::kUnsupported, "of floats with 6 or 4 bits is not supported");
  if (product.a_type == Type::kNone || product.b_type == Type::kNone || product.sum_type == Type::kNone)
    return reject(RunResult::Status::kTrapped, "has types that the kind of the instruction does not allow");
  product.saturates = field(3, 1) != 0;
  product.negates = field(13, 1) != field(14, 1);
  product.is_a_transposed = field(15, 1) != 0;
  product.is_b_transposed = field(16, 1) != 0;
  product.is_weight_stationary = tensor.is_weight_stationary;
  product.shape = {.m = field(24, 5) * 16, .n = field(17, 6) * 8, .k = kBytesAlongK / bytes_of(product.a_type)};
  if (!is_product_shape(product.shape, tensor.is_weight_stationary, tensor.kind == Modifier::kKindI8)) {
    return reject(RunResult::Status::kTrapped,
                  fmt::format("has the invalid extents m = {} and n = {}", product.shape.m, product.shape.n));
  }
  return true;
}

/// Decodes the descriptor of a matrix in shared memory; nullopt, and the launch stops, if it is not supported.
std::optional<MatrixDescriptor> Execution::decode_tensor_descriptor(const Op& op, std::uint64_t bits,
                                                                    bool is_transposed) {
  const auto reject = [&](const char* reason) {
    stop(RunResult::Status::kUnsupported, reason, op);
    return std::nullopt;
  };
  if ((bits >> 46U & 7U) != 1) return reject("a matrix descriptor without the constant 1 in bits 46 to 48");
  if ((bits >> 52U & 1U) != 0) return reject("a matrix descriptor with an absolute leading dimension is not supported");
  MatrixDescriptor matrix = MatrixDescriptor::decode_offsets(bits);
  switch (bits >> 61U) {
    case 0: break;
    case 1:
      if (!is_transposed) return reject("a swizzle of 32-byte units needs a transposed matrix");
      matrix.permutes_pairs = true;
      [[fallthrough]];
    case 2: matrix.swizzle_bytes = 128; break;
    case 4: matrix.swizzle_bytes = 64; break;
    case 6: matrix.swizzle_bytes = 32; break;
    default: return reject("a matrix descriptor with an invalid swizzle");
  }
  return matrix;
}

void Execution::multiply_in_tensor_memory(Warp& warp, const Op& op, unsigned lane, std::uint32_t address) {
  TensorMemory& memory = tensor_memory_;
  const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[op.memory_or_call_index];
  TensorProduct product{.adds = (*slot_words32(warp, tensor.adds_sums) >> lane & 1U) != 0,
                        .old_factor = std::ldexp(1.0, -static_cast<int>(tensor.scale_shift)),
                        .first_cell = {address >> 16U, address & 0xffffU}};
  if (!decode_product(op, slot_words32(warp, tensor.instruction_descriptor)[lane], product)) return;
  const auto& [m, n, k] = product.shape;
  const std::uint32_t thread = warp.index_in_block * kLanesPerWarp + lane;
  const bool may_start_in_middle = m == 64 && !product.is_weight_stationary;
  if (product.first_cell.lane != 0 && !(may_start_in_middle && product.first_cell.lane == 16))
    return add_finding(CheckFinding::Kind::kMisaligned, op, thread, Space::kTensor, address, 4);
  advance_epoch();  // later writes to the operands conflict with this read
  const bool computes_unrounded = unrounded_plan_ && is_float(product.sum_type);
  PendingTensorOperation pending{
      .op = &op, .number = memory.operation_count + 1, .thread = thread, .start_epoch = current_epoch_};

  TensorFactors factors;
  const auto shared_matrix = [&](FrameSlot slot, Type type, unsigned lines, bool is_transposed,
                                 std::vector<double>& rounded, std::vector<UnroundedNumber>& unrounded) {
    const auto descriptor = decode_tensor_descriptor(op, slot_words64(warp, slot)[lane], is_transposed);
    if (!descriptor) return;
    rounded.resize(std::size_t{lines} * k);
    if (computes_unrounded) unrounded.resize(rounded.size());
    read_shared_matrix(warp, op,
                       {.descriptor = *descriptor,
                        .type = type,
                        .length = k,
                        .memory_index = tensor.memory_index,
                        .lane = lane,
                        .line_count = lines,
                        .is_transposed = is_transposed},
                       pending.read_chunks, rounded, unrounded);
  };
  std::vector<double> b;
  std::vector<UnroundedNumber> unrounded_b;
  shared_matrix(tensor.b_descriptor, product.b_type, n, product.is_b_transposed, b, unrounded_b);
  if (!is_stopped_ && !tensor.is_a_in_tensor_memory)
    shared_matrix(tensor.a_descriptor, product.a_type, m, product.is_a_transposed, factors.a, factors.unrounded_a);
  if (is_stopped_) return;
  // The inner loop of the product runs over columns.
  factors.b.resize(b.size());
  factors.unrounded_b.resize(unrounded_b.size());
  factors.error_b.resize(unrounded_b.size());
  for (unsigned column = 0; column < n; ++column) {
    for (unsigned j = 0; j < k; ++j) {
      const std::size_t to = std::size_t{j} * n + column;
      const std::size_t from = std::size_t{column} * k + j;
      factors.b[to] = b[from];
      if (unrounded_b.empty()) continue;
      factors.unrounded_b[to] = unrounded_b[from].value;
      factors.error_b[to] = unrounded_b[from].error;
    }
  }
  for (unsigned part = 0; part < product.part_count() && !is_stopped_; ++part) {
    if (tensor.is_a_in_tensor_memory) {
      factors.a.assign(std::size_t{m} * k, 0);
      factors.unrounded_a.assign(computes_unrounded ? factors.a.size() : 0, {});
      read_tensor_matrix(warp, op, lane, product, part, factors, pending.read_cells);
    }
    add_tensor_products(warp, op, lane, product, part, factors, pending.written_cells);
  }
  if (product.a_type != Type::kU8 && product.a_type != Type::kS8)
    result_.profile.flop_count += std::uint64_t{2} * m * n * k;
  ++memory.operation_count;
  for (const std::uint32_t cell : pending.written_cells)
    memory.pending_numbers[cell] = pending.number;
  memory.pending.push_back(std::move(pending));
}

/// Reads the rows of a for a part of d from tensor memory, whose words contain adjacent elements along k.
void Execution::read_tensor_matrix(Warp& warp, const Op& op, unsigned lane, const TensorProduct& product, unsigned part,
                                   TensorFactors& factors, std::vector<std::uint32_t>& read_cells) {
  TensorMemory& memory = tensor_memory_;
  const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[op.memory_or_call_index];
  const MemoryOp& access = kernel_.memory_ops[tensor.tensor_load_index];
  const auto address = static_cast<std::uint32_t>(slot_words32(warp, tensor.a_base)[lane] + tensor.a_offset);
  const FastRaceCheck watch = make_fast_race_check(warp, access);
  const unsigned bytes = bytes_of(product.a_type);
  const unsigned per_word = 4 / bytes;
  for (unsigned row = 0; row < product.shape.m && !is_stopped_; ++row) {
    for (unsigned word = 0; word < kBytesAlongK / 4; ++word) {
      const TensorCell cell{product.lane_of(address >> 16U, part, row), (address & 0xffffU) + word};
      const LaneAccess reader = lane_access(warp, op, access, lane, cell.address(), Space::kTensor);
      if (!check_tensor_access(watch, reader, cell)) continue;
      const std::size_t index = cell.index();
      read_cells.push_back(static_cast<std::uint32_t>(index));
      const std::uint32_t bits = memory.words[index];
      const UnroundedParts parts = factors.unrounded_a.empty() || bytes == 1
                                       ? UnroundedParts{}
                                       : UnroundedWord::read(&memory.unrounded_words[index], 1, 4, 0, bits);
      for (unsigned i = 0; i < per_word; ++i) {
        const std::size_t at = std::size_t{row} * product.shape.k + word * per_word + i;
        const std::uint64_t element = per_word == 1 ? bits : bits >> (8 * bytes * i) & ((1U << (8 * bytes)) - 1);
        factors.a[at] = number_of_element(product.a_type, element);
        if (factors.unrounded_a.empty()) continue;
        const Part place = per_word == 1 ? Part::kWhole : i == 0 ? Part::kLower : Part::kUpper;
        factors.unrounded_a[at] = bytes != 1 && parts.knows(place)
                                      ? parts.number(place)
                                      : UnroundedNumber{number_of_element(unrounded_type(product.a_type), element), 0};
      }
    }
  }
}

/// Computes a part of d.
void Execution::add_tensor_products(Warp& warp, const Op& op, unsigned lane, const TensorProduct& product,
                                    unsigned part, const TensorFactors& factors,
                                    std::vector<std::uint32_t>& written_cells) {
  TensorMemory& memory = tensor_memory_;
  const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[op.memory_or_call_index];
  const MemoryOp& load = kernel_.memory_ops[tensor.tensor_load_index];
  const MemoryOp& store = kernel_.memory_ops[tensor.tensor_store_index];
  const FastRaceCheck load_watch = make_fast_race_check(warp, load);
  const FastRaceCheck store_watch = make_fast_race_check(warp, store);
  const auto& [m, n, k] = product.shape;
  const unsigned columns = n / product.part_count();
  const unsigned first_column = part * columns;
  const double sign = product.negates ? -1 : 1;
  const unsigned sum_bytes = bytes_of(product.sum_type);
  const Part sum_part = sum_bytes == 2 ? Part::kLower : Part::kWhole;
  const bool computes_unrounded = !factors.unrounded_a.empty();
  std::vector<double> sums(columns), totals(columns), errors(columns);
  for (unsigned row = 0; row < m && !is_stopped_; ++row) {
    const unsigned tensor_lane = product.lane_of(product.first_cell.lane, part, row);
    const bool is_disabled =
        !tensor.disabled_lanes.empty() &&
        (slot_words32(warp, tensor.disabled_lanes[tensor_lane / 32])[lane] >> (tensor_lane % 32) & 1U) != 0;
    if (is_disabled) continue;
    std::ranges::fill(sums, 0.0);
    std::ranges::fill(totals, 0.0);
    std::ranges::fill(errors, 0.0);
    for (unsigned column = 0; column < columns; ++column) {
      const TensorCell cell{tensor_lane, product.first_cell.column + column};
      LaneAccess actor = lane_access(warp, op, load, lane, cell.address(), Space::kTensor);
      if (product.adds && !check_tensor_access(load_watch, actor, cell)) return;
      const LaneAccess writer = lane_access(warp, op, store, lane, cell.address(), Space::kTensor);
      if (!check_tensor_access(store_watch, writer, cell)) return;
      if (!product.adds) continue;
      const std::size_t index = cell.index();
      const std::uint32_t bits = sum_bytes == 2 ? memory.words[index] & 0xffffU : memory.words[index];
      sums[column] = product.old_factor * number_of_element(product.sum_type, bits);
      if (!computes_unrounded) continue;
      const UnroundedParts parts = UnroundedWord::read(&memory.unrounded_words[index], 1, sum_bytes, 0, bits);
      const UnroundedNumber old = parts.knows(sum_part) ? parts.number(sum_part)
                                                        : UnroundedNumber{number_of_element(product.sum_type, bits), 0};
      totals[column] = product.old_factor * old.value;
      errors[column] = product.old_factor * old.error;
    }
    for (unsigned j = 0; j < k; ++j) {
      const double a = sign * factors.a[std::size_t{row} * k + j];
      const double* const b = &factors.b[std::size_t{j} * n + first_column];
      for (unsigned column = 0; column < columns; ++column)
        sums[column] += a * b[column];
      if (!computes_unrounded) continue;
      const UnroundedNumber& exact = factors.unrounded_a[std::size_t{row} * k + j];
      const double value = sign * exact.value;
      const double magnitude = std::abs(exact.value);
      const double* const unrounded_b = &factors.unrounded_b[std::size_t{j} * n + first_column];
      const double* const error_b = &factors.error_b[std::size_t{j} * n + first_column];
      for (unsigned column = 0; column < columns; ++column) {
        totals[column] += value * unrounded_b[column];
        errors[column] += exact.error * std::abs(unrounded_b[column]) + error_b[column] * magnitude;
      }
    }
    for (unsigned column = 0; column < columns; ++column) {
      const std::size_t index = TensorCell{tensor_lane, product.first_cell.column + column}.index();
      const auto bits = static_cast<std::uint32_t>(bits_of_sum(product.sum_type, sums[column], product.saturates));
      memory.words[index] = bits;
      written_cells.push_back(static_cast<std::uint32_t>(index));
      if (!unrounded_plan_) continue;
      UnroundedParts parts;
      if (computes_unrounded) parts.set(sum_part, {totals[column], errors[column]});
      memory.unrounded_words[index] = {};
      UnroundedWord::write(&memory.unrounded_words[index], 1, sum_bytes, 0, bits, parts);
    }
  }
}

/// Each row of 16 or 32 bytes in shared memory goes to a lane, or to lanes of several quarters.
void Execution::copy_to_tensor_memory(Warp& warp, const Op& op, unsigned lane, std::uint32_t address) {
  TensorMemory& memory = tensor_memory_;
  const TensorMemoryOp& tensor = kernel_.tensor_memory_ops[op.memory_or_call_index];
  const auto descriptor = decode_tensor_descriptor(op, slot_words64(warp, tensor.a_descriptor)[lane], false);
  if (!descriptor) return;
  const std::uint32_t thread = warp.index_in_block * kLanesPerWarp + lane;
  if (address >> 16U != 0) return add_finding(CheckFinding::Kind::kMisaligned, op, thread, Space::kTensor, address, 4);
  if (descriptor->base_offset != 0)
    return stop(RunResult::Status::kUnsupported, "a matrix descriptor with a base offset is not supported", op);
  advance_epoch();
  PendingTensorOperation pending{
      .op = &op, .number = memory.operation_count + 1, .thread = thread, .start_epoch = current_epoch_};
  constexpr unsigned kRowsOfQuarter = 32;
  const unsigned rows = tensor.shape == Modifier::k64x128b   ? 64
                        : tensor.shape == Modifier::k32x128b ? 32
                                                             : kTensorLanes;
  const unsigned chunks = tensor.shape == Modifier::k128x256b ? 2 : 1;
  const auto is_copied_to = [&](unsigned row, unsigned quarter) {
    if (rows == kTensorLanes) return row / kRowsOfQuarter == quarter;
    if (rows == kRowsOfQuarter) return true;
    return row / kRowsOfQuarter == (tensor.replication == Modifier::kWarps02And13 ? quarter % 2 : quarter / 2);
  };
  const MemoryOp& store = kernel_.memory_ops[tensor.tensor_store_index];
  const FastRaceCheck watch = make_fast_race_check(warp, store);
  const SharedMatrix source{.descriptor = *descriptor, .memory_index = tensor.memory_index, .lane = lane};
  for (unsigned row = 0; row < rows && !is_stopped_; ++row) {
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      const std::byte* const bytes = read_shared_chunk(
          warp, op, source, chunk_address(*descriptor, false, row, chunk, kChunkBytes), pending.read_chunks);
      if (bytes == nullptr) continue;
      const SharedChunk place = pending.read_chunks.back();
      for (unsigned word = 0; word < kChunkBytes / 4; ++word) {
        for (unsigned quarter = 0; quarter < 4; ++quarter) {
          if (!is_copied_to(row, quarter)) continue;
          const TensorCell cell{quarter * kRowsOfQuarter + row % kRowsOfQuarter,
                                (address & 0xffffU) + chunk * (kChunkBytes / 4) + word};
          const LaneAccess writer = lane_access(warp, op, store, lane, cell.address(), Space::kTensor);
          if (!check_tensor_access(watch, writer, cell)) continue;
          const std::size_t index = cell.index();
          std::memcpy(&memory.words[index], bytes + std::size_t{word} * 4, 4);
          pending.written_cells.push_back(static_cast<std::uint32_t>(index));
          if (unrounded_plan_)
            memory.unrounded_words[index] =
                shared_unrounded_words_by_variable_[place.variable][place.offset / 4 + word];
        }
      }
    }
  }
  ++memory.operation_count;
  for (const std::uint32_t cell : pending.written_cells)
    memory.pending_numbers[cell] = pending.number;
  memory.pending.push_back(std::move(pending));
}

}  // namespace assay::ptx
