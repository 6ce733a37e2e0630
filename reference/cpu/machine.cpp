#include "reference/cpu/machine.hpp"

#include <bit>
#include <cmath>

#include "ir/builder.hpp"
#include "reference/cpu/choices.hpp"
#include "reference/cpu/integers.hpp"

namespace assay::reference {
namespace {

/// Half an ulp of a float32 constant; 0 for other types, and if the constant is probably exact: if it is an integer, or
/// if its last 12 bits are zero. Large integers such as -1e30 often stand for minus infinity. Code subtracts them from
/// themselves, and an error of this difference would hide all others.
double rounding_of_constant(const RegisterConstant& constant) {
  if (constant.scalar != ir::Scalar::kF32) return 0;
  const auto value = std::bit_cast<double>(constant.bits);
  constexpr std::uint32_t kLastDigits = (1U << 12) - 1;
  const bool is_integer = std::nearbyint(value) == value;
  const bool has_few_digits = (std::bit_cast<std::uint32_t>(static_cast<float>(value)) & kLastDigits) == 0;
  if (is_integer || has_few_digits || !std::isfinite(value)) return 0;
  return 0.5 * ulp(format_of(ir::Scalar::kF32), std::abs(value));
}

}  // namespace

template <class Tracer>
Interpreter<Tracer>::Interpreter(const Program& program, const OracleRun& run, Tracer& tracer,
                                 const Perturbation* perturbation, bool bounds)
    : program_(program),
      run_(run),
      tracer_(tracer),
      decisions_(run.forced_path),
      branch_points_(program.branch_points),
      arithmetic_by_type_{BoundedArithmetic(ir::Scalar::kF16, run.profile, decisions_, bounds),
                          BoundedArithmetic(ir::Scalar::kBF16, run.profile, decisions_, bounds),
                          BoundedArithmetic(ir::Scalar::kF32, run.profile, decisions_, bounds),
                          BoundedArithmetic(ir::Scalar::kF64, run.profile, decisions_, bounds)},
      registers_(static_cast<std::size_t>(program.register_count)),
      arrays_(program.parameters.size()) {
  for (const RegisterConstant& constant : program.register_constants) {
    Value& value = at(constant.destination);
    if (ir::is_float(constant.scalar)) value.f.v = static_cast<long double>(std::bit_cast<double>(constant.bits));
    else value.i = static_cast<std::int64_t>(constant.bits);
    if (run.profile.input_error.unit_roundoffs > 0) value.f.e[kNative] = rounding_of_constant(constant);
    if (run.profile.promotion_has_constant_errors) value.f.e[kPromoted] = rounding_of_constant(constant);
    if (!constant.is_inexact) continue;
    value.f.e[kNative] = format_of(constant.scalar, run.profile.flushes_subnormals).unit_roundoff;
    value.f.e[kPromoted] = format_of(ir::Scalar::kF64, run.profile.flushes_subnormals).unit_roundoff;
  }
  bind_arguments(perturbation);
}

template <class Tracer>
void Interpreter<Tracer>::bind_arguments(const Perturbation* perturbation) {
  for (std::size_t p = 0; p < program_.parameters.size(); ++p) {
    const ParameterProperties& info = program_.parameters[p];
    if (info.is_array) {
      bind_array(p, perturbation);
      continue;
    }
    const ir::Argument& argument = run_.launch.arguments[p];
    const auto components = ir::scalar_components(*program_.module, argument.type);
    for (std::size_t k = 0; k < components.size(); ++k) {
      Value& value = at(info.first_register + static_cast<RegisterId>(k));
      value = initial_content<Handle>(argument, components[k].offset, info.components[k], run_.profile.input_error);
      if (!ir::is_float(info.components[k])) continue;
      if (perturbation)
        value.f.v += perturbation->step * static_cast<long double>(component_value(perturbation->direction, p, k));
      value.h = tracer_.input_handle(p, k, info.components[k], value.f.v);
    }
  }
}

template <class Tracer>
void Interpreter<Tracer>::bind_array(std::size_t p, const Perturbation* perturbation) {
  const ir::Argument& argument = run_.launch.arguments[p];
  const bool initialized = !(p < run_.uninitialized.size() && run_.uninitialized[p]);
  arrays_[p].bind(p, argument, ir::scalar_components(*program_.module, argument.type.element()), initialized,
                  program_.parameters[p].has_partial_element_writes, run_.profile.input_error, perturbation);
}

template <class Tracer>
typename Interpreter<Tracer>::Handle Interpreter<Tracer>::handle_of(std::size_t parameter, std::size_t element,
                                                                    std::size_t component) {
  MemoryCell<Handle>& source = arrays_[parameter].cell(element, component);
  ensure_input(source, parameter, element, component);
  return source.content.h;
}

template <class Tracer>
void Interpreter<Tracer>::run() {
  if (run_.thread_order.empty()) {
    for (std::int64_t thread = 0; thread < run_.launch.threads() && is_complete_; ++thread)
      run_thread(thread);
  }
  for (const std::int64_t thread : run_.thread_order) {
    if (is_complete_) run_thread(thread);
  }
}

template <class Tracer>
void Interpreter<Tracer>::set_thread_indices(std::int64_t thread) {
  for (std::size_t d = program_.thread_index_registers.size(); d-- > 0;) {
    const std::int64_t extent = run_.launch.extents[d];
    at(program_.thread_index_registers[d]).i = thread % extent;
    thread /= extent;
  }
}

template <class Tracer>
void Interpreter<Tracer>::run_thread(std::int64_t thread) {
  current_thread_index_ = static_cast<std::int32_t>(thread);
  set_thread_indices(thread);
  for (std::size_t pc = 0;;) {
    const Instruction& instruction = program_.code[pc];
    if (instruction.code == InstructionCode::kEnd) return;
    if (++executed_instruction_count_ > run_.instruction_budget || tracer_.full()) {
      is_complete_ = false;
      return report(Finding::Kind::kInstructionLimit, instruction);
    }
    pc = step(instruction, pc);
  }
}

/// Runs one instruction and returns the index of the next.
template <class Tracer>
std::size_t Interpreter<Tracer>::step(const Instruction& instruction, std::size_t pc) {
  const auto target = static_cast<std::size_t>(instruction.target);
  switch (instruction.code) {
    case InstructionCode::kJump: return target;
    case InstructionCode::kJumpIfEqual: {
      const std::int64_t condition = at(operand_register(instruction, 0)).i;
      count_taken_branch(instruction, condition != 0 ? 0 : 1);
      return condition == instruction.extent ? target : pc + 1;
    }
    case InstructionCode::kRangeLoopTest: {
      const std::int64_t counter = at(operand_register(instruction, 0)).i;
      const std::int64_t stop = at(operand_register(instruction, 1)).i;
      const std::int64_t by = at(operand_register(instruction, 2)).i;
      const bool runs = by > 0 ? counter < stop : counter > stop;
      count_taken_branch(instruction, runs ? 0 : 1);
      return runs ? pc + 1 : target;
    }
    case InstructionCode::kRangeLoopNext:
      at(instruction.destination).i += at(operand_register(instruction, 0)).i;
      return target;
    case InstructionCode::kLoad:
    case InstructionCode::kStore:
    case InstructionCode::kAtomic:
    case InstructionCode::kElementDerivative:
    case InstructionCode::kLocalLoad:
    case InstructionCode::kLocalStore: access(instruction); return pc + 1;
    case InstructionCode::kAdd:
    case InstructionCode::kSub:
    case InstructionCode::kMul: add_or_multiply(instruction); return pc + 1;
    default: compute(instruction); return pc + 1;
  }
}

template <class Tracer>
void Interpreter<Tracer>::compute(const Instruction& instruction) {
  switch (instruction.code) {
    case InstructionCode::kFloatOperation:
    case InstructionCode::kUnitComponent: return compute_float(instruction);
    case InstructionCode::kSum:
    case InstructionCode::kSumOfProducts: return compute_sum(instruction);
    case InstructionCode::kFloatPredicate: return compute_test(instruction);
    case InstructionCode::kIntegerOperation: return compute_integer(instruction);
    case InstructionCode::kSelect: {
      const std::size_t branch = at(operand_register(instruction, 0)).i != 0 ? 0 : 1;
      count_taken_branch(instruction, branch);
      at(instruction.destination) = at(operand_register(instruction, 1 + branch));
      return;
    }
    case InstructionCode::kCustomDerivative: return custom(instruction);
    case InstructionCode::kMove: at(instruction.destination) = at(operand_register(instruction, 0)); return;
    case InstructionCode::kClear:
      for (RegisterId k = 0; k < instruction.extent; ++k)
        at(instruction.destination + k) = Value{};
      return;
    case InstructionCode::kArrayExtent:
      at(instruction.destination).i = accessed_array(instruction).shape()[static_cast<std::size_t>(instruction.extent)];
      return;
    case InstructionCode::kExtract: return extract(instruction);
    case InstructionCode::kInsert: return insert(instruction);
    default: return compute_conversion(instruction);
  }
}

template <class Tracer>
Operands Interpreter<Tracer>::gather(const Instruction& instruction) {
  for (std::size_t i = 0; i < instruction.operand_count; ++i)
    operand_values_[i] = &at(operand_register(instruction, i)).f;
  decisions_.at(instruction.loc);
  return Operands(operand_values_).first(instruction.operand_count);
}

template <class Tracer>
void Interpreter<Tracer>::derive(const Instruction& instruction, Operands operands, Differentiate differentiate,
                                 Value& destination) {
  std::array<const Handle*, kMaxOperands> sources;
  std::uint32_t wanted = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    sources[i] = &at(operand_register(instruction, i)).h;
    if (Tracer::carries(*sources[i])) wanted |= std::uint32_t{1} << i;
  }
  destination.h = Handle{};
  if (wanted == 0 || differentiate == nullptr) return;
  differentiate(arithmetic(instruction.scalar), operands, destination.f, wanted, operand_partials_.data());
  if constexpr (Tracer::kHasDerivatives)
    destination.h = tracer_.apply_chain_rule(instruction.scalar, std::span(sources).first(operands.size()),
                                             operand_partials_.data(), wanted);
}

template <class Tracer>
std::span<const TracedValue<typename Tracer::Handle>* const> Interpreter<Tracer>::sources_of(
    const Instruction& instruction) {
  point_operands_.clear();
  for (std::size_t i = 0; i < instruction.operand_count; ++i)
    point_operands_.push_back(&at(operand_register(instruction, i)));
  return point_operands_;
}

template <class Tracer>
void Interpreter<Tracer>::compute_float(const Instruction& instruction) {
  const Operands operands = gather(instruction);
  const bool unit = instruction.code == InstructionCode::kUnitComponent;
  const Evaluate evaluate = unit ? unit_component : instruction.evaluator->evaluate;
  if (instruction.branch_point != ir::kNone) {
    BranchPoint& choice = branch_points_[static_cast<std::size_t>(instruction.branch_point)];
    ++choice.branch_counts[branch_of(choice.kind, operands)];
  }
  if constexpr (Tracer::kHasDerivatives) {
    bool active = false;
    for (std::size_t i = 0; i < instruction.operand_count && !active; ++i)
      active = Tracer::active(at(operand_register(instruction, i)).h);
    decisions_.ignore_kinks(!active);
  }
  Value& destination = at(instruction.destination);
  const std::uint64_t path = decisions_.summary().path_hash;
  const auto earlier_kinks = decisions_.summary().uncertain_kinks;
  const BoundedValue result = evaluate(arithmetic(instruction.scalar), operands);
  if constexpr (Tracer::kEvaluatesShiftedPoints) {
    const auto sources = sources_of(instruction);
    const auto component = [](const BoundedArithmetic& a, Operands x) { return unit_component(a, x).v; };
    destination.h =
        unit ? tracer_.evaluate_at_points(instruction.scalar, sources, path_change_since(path), component)
             : tracer_.evaluate_at_points(*instruction.evaluator, instruction.scalar, sources, path_change_since(path));
  }
  destination.f = result;
  decisions_.ignore_kinks(false);
  if constexpr (Tracer::kHasDerivatives) {
    derive(instruction, operands, unit ? unit_component_partials : instruction.evaluator->differentiate, destination);
    auto kinks = decisions_.summary().uncertain_kinks;
    if (kinks == earlier_kinks) return;
    for (std::size_t precision = 0; precision < kPrecisionCount; ++precision)
      kinks[precision] -= earlier_kinks[precision];
    uncertain_kinks_.push_back({destination.h, kinks});
  }
}

/// Fast path of compute_float for the most common operations, which have two operands and no decisions.
template <class Tracer>
void Interpreter<Tracer>::add_or_multiply(const Instruction& instruction) {
  const RegisterId* const operands = &program_.operands[instruction.first_operand];
  const Value& x = at(operands[0]);
  const Value& y = at(operands[1]);
  const BoundedArithmetic& a = arithmetic(instruction.scalar);
  const bool multiplies = instruction.code == InstructionCode::kMul;
  const bool subtracts = instruction.code == InstructionCode::kSub;
  // Assigns value and bound separately: copying a BoundedValue would stall until its value has been stored.
  const long double v = multiplies ? x.f.v * y.f.v : (subtracts ? x.f.v - y.f.v : x.f.v + y.f.v);
  const PrecisionBounds e = multiplies ? a.product_bound(v, x.f, y.f) : a.sum_bound(v, x.f.e, y.f.e);
  Value& destination = at(instruction.destination);
  if constexpr (Tracer::kEvaluatesShiftedPoints) {
    const std::array<const Value*, 2> sources{&x, &y};
    const std::uint64_t path = decisions_.summary().path_hash;
    destination.h = tracer_.evaluate_at_points(*instruction.evaluator, instruction.scalar, sources, {path, path});
  }
  if constexpr (Tracer::kHasDerivatives) {
    const std::array<const Handle*, 2> sources{&x.h, &y.h};
    const std::uint32_t wanted = (Tracer::carries(x.h) ? 1U : 0U) | (Tracer::carries(y.h) ? 2U : 0U);
    const std::array<BoundedValue, 2> partials{multiplies ? y.f : kBoundedOne,
                                               multiplies ? x.f : number(subtracts ? -1 : 1)};
    destination.h =
        wanted == 0 ? Handle{} : tracer_.apply_chain_rule(instruction.scalar, sources, partials.data(), wanted);
  }
  destination.f.v = v;
  destination.f.e = e;
}

/// Adds the derivatives of any number of operands one after another; the partial derivatives are exact.
template <class Tracer>
void Interpreter<Tracer>::compute_sum(const Instruction& instruction) {
  const BoundedArithmetic& a = arithmetic(instruction.scalar);
  const bool products = instruction.code == InstructionCode::kSumOfProducts;
  sum_terms_.clear();
  for (std::size_t i = 0; i < instruction.operand_count; ++i)
    sum_terms_.push_back(&at(operand_register(instruction, i)).f);
  Value sum;
  sum.f = products ? a.dot(sum_terms_) : a.sum(sum_terms_);
  if constexpr (Tracer::kEvaluatesShiftedPoints) {
    const auto add = [&](const BoundedArithmetic& values, Operands x) {
      return (products ? values.dot(x) : values.sum(x)).v;
    };
    sum.h = tracer_.evaluate_at_points(instruction.scalar, sources_of(instruction),
                                       path_change_since(decisions_.summary().path_hash), add);
  }
  if constexpr (Tracer::kHasDerivatives) {
    const std::size_t count = products ? sum_terms_.size() / 2 : sum_terms_.size();
    for (std::size_t i = 0; i < count; ++i) {
      const Handle& first = at(operand_register(instruction, i)).h;
      Handle term = first;
      if (products) {
        const Handle& second = at(operand_register(instruction, count + i)).h;
        const std::uint32_t wanted = (Tracer::carries(first) ? 1U : 0U) | (Tracer::carries(second) ? 2U : 0U);
        if (wanted == 0) continue;
        const std::array<const Handle*, 2> sources{&first, &second};
        const std::array<BoundedValue, 2> partials{*sum_terms_[count + i], *sum_terms_[i]};
        term = tracer_.apply_chain_rule(instruction.scalar, sources, partials.data(), wanted);
      }
      if (Tracer::carries(term)) sum.h = tracer_.accumulate(instruction.scalar, sum.h, term, 1);
    }
  }
  at(instruction.destination) = sum;
}

template <class Tracer>
void Interpreter<Tracer>::custom(const Instruction& instruction) {
  Value& destination = at(instruction.destination);
  destination = at(operand_register(instruction, 0));
  if constexpr (Tracer::kHasDerivatives) {
    const std::size_t count = (instruction.operand_count - 1) / 2;
    std::array<const Handle*, kMaxOperands> sources;
    std::uint32_t wanted = 0;
    for (std::size_t i = 0; i <= count; ++i) {
      sources[i] = &at(operand_register(instruction, i)).h;
      operand_partials_[i] = i == 0 ? kBoundedOne : at(operand_register(instruction, count + i)).f;
      if (Tracer::carries(*sources[i]) && (i > 0 || instruction.extent == 1)) wanted |= std::uint32_t{1} << i;
    }
    destination.h = Handle{};
    if (wanted == 0) return;
    destination.h = tracer_.apply_chain_rule(instruction.scalar, std::span(sources).first(count + 1),
                                             operand_partials_.data(), wanted);
  }
}

template <class Tracer>
void Interpreter<Tracer>::compute_test(const Instruction& instruction) {
  const std::uint64_t path = decisions_.summary().path_hash;
  const bool answer = instruction.evaluator->predicate(arithmetic(instruction.scalar), gather(instruction));
  if constexpr (Tracer::kEvaluatesShiftedPoints)
    tracer_.evaluate_at_points(instruction.scalar, sources_of(instruction), path_change_since(path),
                               instruction.evaluator->predicate);
  at(instruction.destination).i = answer;
}

template <class Tracer>
void Interpreter<Tracer>::compute_integer(const Instruction& instruction) {
  std::array<std::int64_t, 3> x = {};
  for (std::size_t i = 0; i < instruction.operand_count; ++i)
    x[i] = at(operand_register(instruction, i)).i;
  const IntegerResult result = evaluate_integer(instruction.op, instruction.scalar, x);
  if (result.defect) report(*result.defect, instruction);
  at(instruction.destination).i = result.value;
}

template <class Tracer>
void Interpreter<Tracer>::compute_conversion(const Instruction& instruction) {
  const Value& source = at(operand_register(instruction, 0));
  Value& destination = at(instruction.destination);
  decisions_.at(instruction.loc);
  const std::uint64_t path = decisions_.summary().path_hash;
  switch (instruction.code) {
    case InstructionCode::kFloatToFloat: {
      const Operands operands = gather(instruction);
      if constexpr (Tracer::kEvaluatesShiftedPoints)
        destination.h = source.h;  // rounding by the conversion affects only bounds
      destination.f = convert(arithmetic(instruction.scalar), instruction.source_scalar, instruction.scalar, source.f);
      const auto identity = [](const BoundedArithmetic&, Operands, const BoundedValue&, std::uint32_t,
                               BoundedValue* p) { p[0] = kBoundedOne; };
      if constexpr (Tracer::kHasDerivatives) derive(instruction, operands, identity, destination);
      return;
    }
    case InstructionCode::kIntegerToFloat:
      destination = Value{};
      destination.f = arithmetic(instruction.scalar).constant(to_real(instruction.source_scalar, source.i));
      return;
    case InstructionCode::kFloatToBool:
      destination.i =
          original_evaluator(ir::Op::kNonzero).evaluate(arithmetic(instruction.source_scalar), gather(instruction)).v !=
          0;
      if constexpr (Tracer::kEvaluatesShiftedPoints)
        tracer_.evaluate_at_points(evaluator(ir::Op::kNonzero), instruction.source_scalar, sources_of(instruction),
                                   path_change_since(path));
      return;
    case InstructionCode::kFloatToInteger: return float_to_integer(instruction);
    case InstructionCode::kFloatToBits: return float_to_bits(instruction);
    case InstructionCode::kBitsToFloat:
      destination = Value{};
      destination.f =
          arithmetic(instruction.scalar)
              .constant(ir::row(instruction.source_scalar).bytes == 4
                            ? static_cast<long double>(std::bit_cast<float>(static_cast<std::int32_t>(source.i)))
                            : static_cast<long double>(std::bit_cast<double>(source.i)));
      return;
    default: destination.i = ir::wrap_to(instruction.scalar, source.i); return;
  }
}

template <class Tracer>
void Interpreter<Tracer>::float_to_integer(const Instruction& instruction) {
  const std::uint64_t path = decisions_.summary().path_hash;
  const long double whole = truncated(arithmetic(instruction.source_scalar), at(operand_register(instruction, 0)).f);
  if constexpr (Tracer::kEvaluatesShiftedPoints) {
    tracer_.evaluate_at_points(instruction.source_scalar, sources_of(instruction), path_change_since(path),
                               [](const BoundedArithmetic& a, Operands x) { return truncated(a, *x[0]); });
  }
  const bool in_range = fits(instruction.scalar, whole);
  if (!in_range) report(Finding::Kind::kConversionOutOfRange, instruction);
  at(instruction.destination).i = in_range ? to_integer(instruction.scalar, whole) : 0;
}

template <class Tracer>
void Interpreter<Tracer>::float_to_bits(const Instruction& instruction) {
  const std::uint64_t path = decisions_.summary().path_hash;
  const int bytes = ir::row(instruction.scalar).bytes;
  const BoundedValue& value = at(operand_register(instruction, 0)).f;
  const std::int64_t bits = bits_of(arithmetic(instruction.source_scalar), value, bytes);
  if constexpr (Tracer::kEvaluatesShiftedPoints) {
    tracer_.evaluate_at_points(instruction.source_scalar, sources_of(instruction), path_change_since(path),
                               [bytes](const BoundedArithmetic& a, Operands x) { return bits_of(a, *x[0], bytes); });
  }
  if (std::isnan(value.v)) report(Finding::Kind::kConversionOutOfRange, instruction);
  at(instruction.destination).i = ir::wrap_to(instruction.scalar, bits);
}

template <class Tracer>
void Interpreter<Tracer>::extract(const Instruction& instruction) {
  const std::int64_t index = at(operand_register(instruction, 0)).i;
  const auto length = static_cast<std::int64_t>(instruction.operand_count) - 1;
  if (index >= 0 && index < length) {
    at(instruction.destination) = at(operand_register(instruction, static_cast<std::size_t>(index) + 1));
    return;
  }
  at(instruction.destination) = Value{};
  report_index(instruction, {index}, {static_cast<std::int32_t>(length)});
}

template <class Tracer>
void Interpreter<Tracer>::insert(const Instruction& instruction) {
  const std::int64_t index = at(operand_register(instruction, 0)).i;
  const std::size_t length = instruction.component_count;
  for (std::size_t k = 0; k < length; ++k)
    at(instruction.destination + static_cast<RegisterId>(k)) = at(operand_register(instruction, k + 2));
  if (index >= 0 && index < static_cast<std::int64_t>(length))
    at(instruction.destination + static_cast<RegisterId>(index)) = at(operand_register(instruction, 1));
  else report_index(instruction, {index}, {static_cast<std::int32_t>(length)});
}

template <class Tracer>
void Interpreter<Tracer>::report(Finding::Kind kind, const Instruction& instruction) {
  findings_.add({.kind = kind, .loc = instruction.loc, .thread = current_thread_index_});
}

template <class Tracer>
void Interpreter<Tracer>::report_index(const Instruction& instruction, std::vector<std::int64_t> index,
                                       std::vector<std::int32_t> shape) {
  const bool global = instruction.code == InstructionCode::kLoad || instruction.code == InstructionCode::kStore ||
                      instruction.code == InstructionCode::kAtomic ||
                      instruction.code == InstructionCode::kElementDerivative;
  findings_.add({.kind = Finding::Kind::kOutOfBounds,
                 .parameter = global ? instruction.target : ir::kNone,
                 .index = std::move(index),
                 .shape = std::move(shape),
                 .loc = instruction.loc,
                 .thread = current_thread_index_});
}

template class Interpreter<NoDerivatives>;
template class Interpreter<DualNumbers>;
template class Interpreter<Tape>;
template class Interpreter<PointTracer>;

}  // namespace assay::reference
