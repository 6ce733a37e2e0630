// The interpreter's accesses to memory: bounds of arrays, initialization, conflicts between threads, atomics.
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/cpu/integers.hpp"
#include "reference/cpu/machine.hpp"

namespace assay::reference {

template <class Tracer>
void Interpreter<Tracer>::access(const Instruction& instruction) {
  switch (instruction.code) {
    case InstructionCode::kLoad: return load(instruction);
    case InstructionCode::kStore: return store(instruction);
    case InstructionCode::kAtomic: return atomic(instruction);
    case InstructionCode::kElementDerivative: return element_derivative(instruction);
    case InstructionCode::kLocalLoad: return local_load(instruction);
    default: return local_store(instruction);
  }
}

/// Records the extent that a tile needs. True if the element is outside the array, where tiles are padded.
template <class Tracer>
bool Interpreter<Tracer>::note_tile(const Instruction& instruction, std::span<const std::int64_t> index) {
  constexpr std::int64_t kFurthest = std::numeric_limits<std::int32_t>::max();
  ArrayMemory<Handle>& memory = accessed_array(instruction);
  memory.extents_required_by_tiles.resize(index.size());
  bool behind = false;
  bool before = false;
  for (std::size_t d = instruction.leading_index_count; d < index.size(); ++d) {
    memory.extents_required_by_tiles[d] =
        std::max(memory.extents_required_by_tiles[d],
                 static_cast<std::int32_t>(std::clamp(index[d] + 1, std::int64_t{0}, kFurthest)));
    behind |= index[d] >= memory.shape()[d];
    before |= index[d] < 0;
  }
  for (std::size_t d = 0; d < instruction.leading_index_count; ++d)
    if (index[d] < 0 || index[d] >= memory.shape()[d]) return false;
  return before ? instruction.ignores_negative_indices : behind;
}

/// The element at the indices of the instruction; reports an index out of bounds.
template <class Tracer>
std::optional<std::size_t> Interpreter<Tracer>::locate(const Instruction& instruction) {
  std::array<std::int64_t, 4> index = {};
  for (std::size_t d = 0; d < instruction.index_count; ++d)
    index[d] = at(operand_register(instruction, d)).i;
  const auto used = std::span(index).first(instruction.index_count);
  ArrayMemory<Handle>& memory = accessed_array(instruction);
  if (instruction.ignores_out_of_bounds && note_tile(instruction, used)) return std::nullopt;
  if (const auto number = memory.element_number(used)) {
    if (run_.records_extents) memory.note_index(used);
    return static_cast<std::size_t>(*number);
  }
  report_index(instruction, {used.begin(), used.end()}, memory.shape());
  return std::nullopt;
}

template <class Tracer>
void Interpreter<Tracer>::report_conflict(const Instruction& instruction, std::size_t element,
                                          const AccessConflict& conflict) {
  const ArrayMemory<Handle>& memory = accessed_array(instruction);
  std::vector<std::int64_t> index(memory.shape().size());
  for (std::size_t d = index.size(); d-- > 0;) {
    index[d] = static_cast<std::int64_t>(element) % memory.shape()[d];
    element /= static_cast<std::size_t>(memory.shape()[d]);
  }
  findings_.add({.kind = conflict.kind,
                 .parameter = instruction.target,
                 .index = std::move(index),
                 .shape = memory.shape(),
                 .loc = instruction.loc,
                 .thread = current_thread_index_,
                 .earlier_loc = conflict.loc,
                 .earlier_thread = conflict.thread});
}

/// Notes an access in the logs of the components; reports the first conflict.
template <class Tracer>
template <class Note>
void Interpreter<Tracer>::note_access(const Instruction& instruction, std::size_t element, std::span<AccessLog> logs,
                                      Note note) {
  std::optional<AccessConflict> first;
  for (AccessLog& log : logs) {
    const std::optional<AccessConflict> conflict = note(log);
    const bool is_accepted =
        run_.fixes_thread_order && conflict && conflict->kind == Finding::Kind::kOrderDependentAtomic;
    if (!first && !is_accepted) first = conflict;
  }
  if (first) report_conflict(instruction, element, *first);
}

/// The first component that the instruction accesses; `fixed` is the number of operands before the additional one.
template <class Tracer>
std::size_t Interpreter<Tracer>::first_component(const Instruction& instruction, std::size_t fixed) {
  const auto first = static_cast<std::size_t>(instruction.extent);
  return instruction.operand_count > fixed
             ? first + static_cast<std::size_t>(at(operand_register(instruction, fixed)).i)
             : first;
}

/// Checks for every read of memory that the cells are initialized.
template <class Tracer>
void Interpreter<Tracer>::note_read(const Instruction& instruction, std::size_t element,
                                    std::span<MemoryCell<Handle>> cells) {
  bool poisoned = false;
  for (MemoryCell<Handle>& cell : cells) {
    if (cell.is_initialized) continue;
    poisoned = true;
    cell.content.f.e = {kUnbounded, kUnbounded};
  }
  if (poisoned) report_conflict(instruction, element, {.kind = Finding::Kind::kUninitializedRead, .thread = -1});
}

template <class Tracer>
void Interpreter<Tracer>::ensure_input([[maybe_unused]] MemoryCell<Handle>& source,
                                       [[maybe_unused]] std::size_t parameter, [[maybe_unused]] std::size_t element,
                                       [[maybe_unused]] std::size_t component) {
  if constexpr (Tracer::kHasDerivatives || Tracer::kEvaluatesShiftedPoints) {
    if (source.is_written || source.is_registered) return;
    const ArrayMemory<Handle>& memory = arrays_[parameter];
    if (!ir::is_float(memory.type(component))) return;
    source.is_registered = true;
    source.content.h = tracer_.input_handle(parameter, element * memory.components() + component,
                                            memory.type(component), source.content.f.v);
  }
}

template <class Tracer>
void Interpreter<Tracer>::load(const Instruction& instruction) {
  const auto element = locate(instruction);
  const std::size_t components = instruction.component_count;
  if (!element) {
    for (std::size_t k = 0; k < components; ++k)
      at(instruction.destination + static_cast<RegisterId>(k)) = Value{};
    return;
  }
  const std::size_t first = first_component(instruction, instruction.index_count);
  const auto [cells, logs] = accessed_array(instruction).at(*element, first, components);
  note_access(instruction, *element, logs,
              [&](AccessLog& log) { return log.record_read(current_thread_index_, instruction.loc); });
  note_read(instruction, *element, cells);
  for (std::size_t k = 0; k < components; ++k) {
    ensure_input(cells[k], static_cast<std::size_t>(instruction.target), *element, first + k);
    at(instruction.destination + static_cast<RegisterId>(k)) = cells[k].content;
  }
}

template <class Tracer>
void Interpreter<Tracer>::store(const Instruction& instruction) {
  if (instruction.starts_tile) elements_of_tile_.clear();
  const auto element = locate(instruction);
  if (!element) return;
  // Different threads of a block store the elements of a tile.
  const bool is_repeated = instruction.ignores_negative_indices && !elements_of_tile_.insert(*element).second;
  if (is_repeated) report_conflict(instruction, *element, {.thread = current_thread_index_, .loc = instruction.loc});
  ArrayMemory<Handle>& memory = accessed_array(instruction);
  const std::size_t components = instruction.component_count;
  const std::size_t first = first_component(instruction, instruction.index_count + components);
  const auto [cells, logs] = memory.at(*element, first, components);
  const auto value_of = [&](std::size_t k) { return at(operand_register(instruction, instruction.index_count + k)); };
  StoredValue stored = StoredValue::kVaries;
  if (instruction.stores_constant) {
    const auto is_same = [](const Value& a, const Value& b) {
      return a.i == b.i && a.f.v == b.f.v && std::signbit(a.f.v) == std::signbit(b.f.v);
    };
    bool repeats = true;
    for (std::size_t k = 0; k < components; ++k)
      repeats = repeats && is_same(cells[k].content, value_of(k));
    stored = repeats ? StoredValue::kRepeatedConstant : StoredValue::kConstant;
  }
  note_access(instruction, *element, logs,
              [&](AccessLog& log) { return log.record_write(current_thread_index_, instruction.loc, stored); });
  for (std::size_t k = 0; k < components; ++k) {
    cells[k].content = value_of(k);
    cells[k].is_initialized = cells[k].is_written = true;
    memory.reset_sum(*element, first + k);
  }
}

template <class Tracer>
void Interpreter<Tracer>::atomic(const Instruction& instruction) {
  const auto element = locate(instruction);
  const std::size_t components = instruction.component_count;
  const bool uses_result = instruction.destination != ir::kNone;
  if (!element) {
    for (std::size_t k = 0; uses_result && k < components; ++k)
      at(instruction.destination + static_cast<RegisterId>(k)) = Value{};
    return;
  }
  ArrayMemory<Handle>& memory = accessed_array(instruction);
  const bool compares = instruction.atomic_op == ir::AtomicOp::kCompareAndSwap;
  const std::size_t first = compares ? 0 : first_component(instruction, instruction.index_count + components);
  const auto [cells, logs] = memory.at(*element, first, components);
  note_access(instruction, *element, logs, [&](AccessLog& log) {
    return log.record_atomic(current_thread_index_, instruction.loc, instruction.atomic_op, uses_result);
  });
  if (instruction.atomic_op != ir::AtomicOp::kExchange || uses_result) note_read(instruction, *element, cells);
  decisions_.at(instruction.loc);
  for (std::size_t k = 0; k < components; ++k) {
    handle_of(static_cast<std::size_t>(instruction.target), *element, first + k);
    MemoryCell<Handle>& cell = cells[k];
    // Result and value may share a register: copy the value first.
    const RegisterId value = operand_register(instruction, instruction.index_count + k);
    const RegisterId expected =
        compares ? operand_register(instruction, instruction.index_count + components + k) : ir::kNone;
    const Value previous = cell.content;
    update(instruction, {*element, first + k}, value, expected);
    cell.is_initialized = cell.is_written = true;
    if (uses_result) at(instruction.destination + static_cast<RegisterId>(k)) = previous;
  }
}

/// Does not read the value of the element, but the derivative by it depends on the last store to it, as for a load.
template <class Tracer>
void Interpreter<Tracer>::element_derivative(const Instruction& instruction) {
  const auto element = locate(instruction);
  if (!element) return;
  const std::size_t components = instruction.component_count;
  const std::size_t first = first_component(instruction, instruction.index_count + components);
  const auto [cells, logs] = accessed_array(instruction).at(*element, first, components);
  note_access(instruction, *element, logs,
              [&](AccessLog& log) { return log.record_read(current_thread_index_, instruction.loc); });
  if constexpr (Tracer::kHasDerivatives) {
    const int sign = instruction.atomic_op == ir::AtomicOp::kSub ? -1 : 1;
    Handle& derived = at(instruction.destination).h;
    for (std::size_t k = 0; k < components; ++k) {
      ensure_input(cells[k], static_cast<std::size_t>(instruction.target), *element, first + k);
      const Handle& source = cells[k].content.h;
      if (!Tracer::carries(source)) continue;
      const std::array<const Handle*, 1> sources{&source};
      const BoundedValue& partial = at(operand_register(instruction, instruction.index_count + k)).f;
      derived = tracer_.accumulate(instruction.scalar, derived,
                                   tracer_.apply_chain_rule(instruction.scalar, sources, &partial, 1), sign);
    }
  }
}

template <class Tracer>
void Interpreter<Tracer>::update(const Instruction& instruction, CellPosition place, RegisterId source,
                                 RegisterId expected) {
  ArrayMemory<Handle>& memory = accessed_array(instruction);
  Value& content = memory.cell(place.element_index, place.component_index).content;
  const Value& value = at(source);
  const ir::Scalar scalar = memory.type(place.component_index);
  const bool is_float = ir::is_float(scalar);
  const bool adds = instruction.atomic_op == ir::AtomicOp::kAdd || instruction.atomic_op == ir::AtomicOp::kSub;
  if (!adds) memory.reset_sum(place.element_index, place.component_index);
  if (instruction.atomic_op == ir::AtomicOp::kCompareAndSwap) {
    const Value& wanted = at(expected);
    const std::array<const BoundedValue*, 2> both{&content.f, &wanted.f};
    const std::uint64_t path = decisions_.summary().path_hash;
    const bool equal =
        is_float ? original_evaluator(ir::Op::kEq).predicate(arithmetic(scalar), both) : content.i == wanted.i;
    if constexpr (Tracer::kEvaluatesShiftedPoints) {
      const std::array<const Value*, 2> sources{&content, &wanted};
      if (is_float)
        tracer_.evaluate_at_points(scalar, sources, path_change_since(path), original_evaluator(ir::Op::kEq).predicate);
    }
    if (equal) content = value;
  } else if (instruction.atomic_op == ir::AtomicOp::kExchange) {
    content = value;
  } else if (is_float) {
    return update_float(instruction, place, value);
  } else {
    content.i = update_integer(instruction.atomic_op, scalar, content.i, value.i);
  }
}

template <class Tracer>
void Interpreter<Tracer>::update_float(const Instruction& instruction, CellPosition place, const Value& value) {
  if (instruction.atomic_op == ir::AtomicOp::kAdd || instruction.atomic_op == ir::AtomicOp::kSub)
    return add_float(instruction, place, value);
  ArrayMemory<Handle>& memory = accessed_array(instruction);
  Value& content = memory.cell(place.element_index, place.component_index).content;
  const BoundedArithmetic& a = arithmetic(memory.type(place.component_index));
  const std::array<const BoundedValue*, 2> both{&content.f, &value.f};
  const bool least = instruction.atomic_op == ir::AtomicOp::kMin;
  // The thread that gets the gradient in a tie is unspecified (docs/design/numerics.md, section 4), so an exact tie is
  // uncertain too. A value may be exact in the f64 promotion and rounded in the type of the kernel.
  PrecisionBounds tie{};
  for (std::size_t precision = 0; precision < kPrecisionCount; ++precision) {
    if (content.f.v == value.f.v && content.f.e[precision] == 0 && value.f.e[precision] == 0)
      tie[precision] = kUnbounded;
  }
  // Unless both are the same input, which then gets the whole gradient. In a tie with a constant, the constant may get
  // the gradient, which is then lost.
  const bool matters = (Tracer::active(content.h) || Tracer::active(value.h)) && !Tracer::same(content.h, value.h);
  if (matters) decisions_.record_kink(0, tie);
  const std::uint64_t path = decisions_.summary().path_hash;
  Handle points = {};
  const BoundedValue result = original_evaluator(least ? ir::Op::kMin : ir::Op::kMax).evaluate(a, both);
  if constexpr (Tracer::kEvaluatesShiftedPoints) {
    const std::array<const Value*, 2> sources{&content, &value};
    points = tracer_.evaluate_at_points(evaluator(least ? ir::Op::kMin : ir::Op::kMax),
                                        memory.type(place.component_index), sources, path_change_since(path));
  }
  const bool replaced = std::isnan(content.f.v) || (least ? value.f.v < content.f.v : value.f.v > content.f.v);
  if (replaced) content = value;
  content.f = result;
  if constexpr (Tracer::kEvaluatesShiftedPoints) content.h = points;
}

template <class Tracer>
void Interpreter<Tracer>::add_float(const Instruction& instruction, CellPosition place, const Value& value) {
  ArrayMemory<Handle>& memory = accessed_array(instruction);
  Value& content = memory.cell(place.element_index, place.component_index).content;
  const ir::Scalar scalar = memory.type(place.component_index);
  const int sign = instruction.atomic_op == ir::AtomicOp::kSub ? -1 : 1;
  const BoundedValue term{sign * value.f.v, value.f.e};
  const BoundedArithmetic& a = arithmetic(scalar);
  const bool flushes = scalar == ir::Scalar::kF32 && run_.profile.native_library == MathLibrary::kCuda;
  const PrecisionBounds flush{flushes ? 0x1p-126 : 0, 0};
  if constexpr (Tracer::kEvaluatesShiftedPoints) content.h = tracer_.sum(content, value, sign);
  if (run_.profile.has_unordered_atomics) {
    AtomicSumBound& sum = memory.atomic_sum(place.element_index, place.component_index);
    if (!sum.is_started()) sum.set_initial_content(content.f);
    sum.add(term);
    content.f.v += term.v;
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
      content.f.e[precision] =
          sum.bound(a.format(static_cast<int>(precision)), precision, content.f.v, flush[precision]);
  } else {
    content.f = a.add(content.f, term);
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
      content.f.e[precision] += flush[precision];
  }
  if constexpr (Tracer::kHasDerivatives) content.h = tracer_.accumulate(scalar, content.h, value.h, sign);
}

template <class Tracer>
std::optional<std::int64_t> Interpreter<Tracer>::local_element(const Instruction& instruction) {
  const std::int64_t index = at(operand_register(instruction, 0)).i;
  if (index >= 0 && index < instruction.extent) return index;
  report_index(instruction, {index}, {instruction.extent});
  return std::nullopt;
}

template <class Tracer>
void Interpreter<Tracer>::local_load(const Instruction& instruction) {
  const auto element = local_element(instruction);
  for (RegisterId k = 0; k < instruction.component_count; ++k) {
    const auto source =
        static_cast<RegisterId>(instruction.target + element.value_or(0) * instruction.component_count + k);
    at(instruction.destination + k) = element ? at(source) : Value{};
  }
}

template <class Tracer>
void Interpreter<Tracer>::local_store(const Instruction& instruction) {
  const auto element = local_element(instruction);
  if (!element) return;
  for (RegisterId k = 0; k < instruction.component_count; ++k) {
    const auto target = static_cast<RegisterId>(instruction.target + *element * instruction.component_count + k);
    at(target) = at(operand_register(instruction, static_cast<std::size_t>(k) + 1));
  }
}

template class Interpreter<NoDerivatives>;
template class Interpreter<DualNumbers>;
template class Interpreter<Tape>;
template class Interpreter<PointTracer>;

}  // namespace assay::reference
