#include <algorithm>

#include <fmt/format.h>

#include "ir/builder.hpp"
#include "ir/element_part.hpp"
#include "ir/guard_array.hpp"
#include "reference/cpu/lowering.hpp"

namespace assay::reference {

using ir::ExprKind;
using ir::Op;
using ir::Scalar;

namespace {

/// Whether the condition is a frontend's check that a variable is assigned (guard_array.hpp), which the source does not
/// contain.
bool is_assignment_check(const ir::Function& function, const ir::Expr& condition) {
  return std::ranges::any_of(condition.args, [&](ir::ExprId id) {
    const ir::Expr& operand = function.expr(id);
    if (operand.kind != ExprKind::kLoad) return false;
    const ir::Variable& array = function.var(function.expr(operand.args[0]).variable);
    return array.type == ir::kUnassignedGuardArrayType && array.name.ends_with(ir::kUnassignedGuardArraySuffix);
  });
}

}  // namespace

Registers KernelLowering::expression(ir::ExprId id) {
  const ir::Expr& e = expr(id);
  if (error_) return temporaries(std::max<std::size_t>(1, component_count(e.type)));
  switch (e.kind) {
    case ExprKind::kLiteral: return literal(e);
    case ExprKind::kVariable: return variable_components(e.variable);
    case ExprKind::kOperation: return is_part_of_element(id) ? load_part(id) : operation(e);
    case ExprKind::kLoad: return load(e);
    case ExprKind::kShapeOf: {
      const RegisterId destination = temporary();
      const VariableStorage array = slot(expr(e.args[0]).variable);
      emit({.code = InstructionCode::kArrayExtent,
            .destination = destination,
            .target = array.parameter,
            .extent = e.index});
      return {destination};
    }
    case ExprKind::kField: return is_part_of_element(id) ? load_part(id) : field(e);
    case ExprKind::kCall: return e.type.is_tile() ? call_on_tiles(e) : call(e.index, e.args);
  }
  return {};
}

RegisterId KernelLowering::number(ir::Scalar type, std::uint64_t bits) {
  const auto [at, is_new] = constant_registers_.try_emplace({type, bits}, program_.register_count);
  if (is_new) program_.register_constants.push_back({.destination = temporary(), .scalar = type, .bits = bits});
  return at->second;
}

Registers KernelLowering::literal(const ir::Expr& e) { return {number(e.type.scalar, e.bits)}; }

Registers KernelLowering::operation(const ir::Expr& e) {
  switch (e.op) {
    case Op::kAnd:
    case Op::kOr: return logic(e);
    case Op::kConditional: return conditional(e);
    case Op::kWhere: return select(e);
    case Op::kCast: return cast(e);
    case Op::kReinterpret: return reinterpret(e);
    case Op::kExtract: return extract(e);
    case Op::kInsert: return insert(e);
    case Op::kWithField: return with_field(e);
    default: break;
  }
  std::vector<Registers> operands;
  for (const ir::ExprId arg : e.args)
    operands.push_back(expression(arg));
  return algebra(e, operands);
}

Registers KernelLowering::logic(const ir::Expr& e) {
  if (e.type.is_tile()) {
    const Registers first = expression(e.args[0]);
    const Registers second = expression(e.args[1]);
    return e.op == Op::kAnd ? tile_select(first, second, {integer(Scalar::kBool, 0)})
                            : tile_select(first, {integer(Scalar::kBool, 1)}, second);
  }
  const RegisterId destination = temporary();
  move({destination}, expression(e.args[0]));
  const std::size_t skip = emit({.code = InstructionCode::kJumpIfEqual,
                                 .extent = e.op == Op::kOr ? 1 : 0,
                                 .branch_point = branch_point_index(&e, BranchPoint::Kind::kBranch)},
                                {destination});
  move({destination}, expression(e.args[1]));
  set_jump_target(skip, here());
  return {destination};
}

Registers KernelLowering::conditional(const ir::Expr& e) {
  const Registers destination = temporaries(component_count(e.type));
  const std::size_t skip = jump_unless(&e, e.args[0]);
  move(destination, expression(e.args[1]));
  const std::size_t end = emit({.code = InstructionCode::kJump});
  set_jump_target(skip, here());
  move(destination, expression(e.args[2]));
  set_jump_target(end, here());
  return destination;
}

Registers KernelLowering::select(const ir::Expr& e) {
  if (e.type.is_tile()) {
    const Registers conditions = expression(e.args[0]);
    const Registers chosen = expression(e.args[1]);
    return tile_select(conditions, chosen, expression(e.args[2]));
  }
  const RegisterId condition = scalar(e.args[0]);
  const Registers yes = expression(e.args[1]);
  const Registers no = expression(e.args[2]);
  const Registers destination = temporaries(yes.size());
  const bool is_choice = !is_literal(e.args[0]) && !is_assignment_check(*frame_->function, expr(e.args[0]));
  const std::int32_t number = is_choice ? branch_point_index(&e, BranchPoint::Kind::kBranch) : ir::kNone;
  for (std::size_t i = 0; i < destination.size(); ++i)
    emit({.code = InstructionCode::kSelect, .destination = destination[i], .branch_point = number},
         {condition, yes[i], no[i]});
  return destination;
}

Registers KernelLowering::cast(const ir::Expr& e) {
  const Scalar from = type_of(e.args[0]).scalar;
  const Scalar to = e.type.scalar;
  const Registers source = expression(e.args[0]);
  if (from == to) return source;
  InstructionCode code = InstructionCode::kIntegerToInteger;
  if (ir::is_float(from))
    code = ir::is_float(to) ? InstructionCode::kFloatToFloat
                            : (to == Scalar::kBool ? InstructionCode::kFloatToBool : InstructionCode::kFloatToInteger);
  else if (ir::is_float(to)) code = InstructionCode::kIntegerToFloat;
  const Registers destination = temporaries(source.size());
  for (std::size_t i = 0; i < source.size(); ++i)
    emit({.code = code, .op = Op::kCast, .scalar = to, .source_scalar = from, .destination = destination[i]},
         {source[i]});
  return destination;
}

Registers KernelLowering::reinterpret(const ir::Expr& e) {
  const Scalar from = type_of(e.args[0]).scalar;
  const Registers source = expression(e.args[0]);
  const RegisterId destination = temporary();
  emit({.code = ir::is_float(from) ? InstructionCode::kFloatToBits : InstructionCode::kBitsToFloat,
        .op = Op::kReinterpret,
        .scalar = e.type.scalar,
        .source_scalar = from,
        .destination = destination},
       {source[0]});
  return {destination};
}

std::optional<std::size_t> KernelLowering::constant_index(ir::ExprId id, ir::Type aggregate) const {
  const ir::Expr& e = expr(id);
  if (e.kind != ExprKind::kLiteral) return std::nullopt;
  const auto index = static_cast<std::int64_t>(e.bits);
  if (index < 0 || index >= aggregate.parts()) return std::nullopt;
  return static_cast<std::size_t>(index);
}

namespace {

/// Component k of each part of the value.
Registers leaf_of_parts(const Registers& components, std::size_t part, std::size_t k) {
  Registers column;
  for (std::size_t at = k; at < components.size(); at += part)
    column.push_back(components[at]);
  return column;
}

}  // namespace

Registers KernelLowering::extract(const ir::Expr& e) {
  const Registers whole = expression(e.args[0]);
  const std::size_t part = component_count(e.type);
  if (const auto constant = constant_index(e.args[1], type_of(e.args[0]))) {
    const auto first = whole.begin() + static_cast<std::ptrdiff_t>(*constant * part);
    return {first, first + static_cast<std::ptrdiff_t>(part)};
  }
  const RegisterId index = scalar(e.args[1]);
  const Registers destination = temporaries(part);
  for (std::size_t k = 0; k < part; ++k) {
    Registers operands = leaf_of_parts(whole, part, k);
    operands.insert(operands.begin(), index);
    emit({.code = InstructionCode::kExtract, .destination = destination[k]}, operands);
  }
  return destination;
}

Registers KernelLowering::insert(const ir::Expr& e) {
  Registers whole = expression(e.args[0]);
  const RegisterId index = scalar(e.args[1]);
  const Registers value = expression(e.args[2]);
  const std::size_t part = value.size();
  if (const auto constant = constant_index(e.args[1], e.type)) {
    std::copy(value.begin(), value.end(), whole.begin() + static_cast<std::ptrdiff_t>(*constant * part));
    return whole;
  }
  for (std::size_t k = 0; k < part; ++k) {
    Registers operands = leaf_of_parts(whole, part, k);
    const Registers destination = temporaries(operands.size());
    operands.insert(operands.begin(), {index, value[k]});
    emit({.code = InstructionCode::kInsert,
          .component_count = static_cast<std::uint16_t>(destination.size()),
          .destination = destination[0]},
         operands);
    for (std::size_t p = 0; p < destination.size(); ++p)
      whole[p * part + k] = destination[p];
  }
  return whole;
}

std::pair<std::size_t, std::size_t> KernelLowering::field_range(ir::Type type, std::int32_t index) const {
  const auto& fields = module_.structs[type.struct_id].fields;
  std::size_t first = 0;
  for (std::int32_t i = 0; i < index; ++i) {
    const ir::Type field = fields[static_cast<std::size_t>(i)].type;
    if (field.is_value()) first += component_count(field);
  }
  return {first, component_count(fields[static_cast<std::size_t>(index)].type)};
}

Registers KernelLowering::field(const ir::Expr& e) {
  if (!e.type.is_value()) {
    reject("arrays inside structs are not supported by the oracle");
    return temporaries(1);
  }
  const Registers object = expression(e.args[0]);
  const auto [first, count] = field_range(type_of(e.args[0]), e.index);
  return {object.begin() + static_cast<std::ptrdiff_t>(first),
          object.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

Registers KernelLowering::with_field(const ir::Expr& e) {
  Registers object = expression(e.args[0]);
  const Registers value = expression(e.args[1]);
  const auto [first, count] = field_range(e.type, e.index);
  std::copy_n(value.begin(), count, object.begin() + static_cast<std::ptrdiff_t>(first));
  return object;
}

bool KernelLowering::is_part_of_element(ir::ExprId id) const {
  const ir::ExprId load = ir::loaded_part(*frame_->function, id).load;
  if (load == ir::kNone || !type_of(id).is_value()) return false;
  const ir::Expr& array = expr(expr(load).args[0]);
  return array.kind == ExprKind::kVariable && array.type.is_array();
}

Registers KernelLowering::load_part(ir::ExprId id) {
  const ir::LoadedElementPart part = ir::loaded_part(*frame_->function, id);
  const ir::Expr& e = expr(part.load);
  Registers operands;
  for (std::size_t i = 1; i < e.args.size(); ++i)
    operands.push_back(scalar(e.args[i]));
  const auto rank = static_cast<std::uint8_t>(operands.size());
  const ComponentOffset offset = component_offset(part.path);
  if (offset.variable_offset_register != ir::kNone) operands.push_back(offset.variable_offset_register);
  const Registers destination = temporaries(component_count(type_of(id)));
  const ir::Loc statement = std::exchange(loc_, e.loc.line > 0 ? e.loc : loc_);
  emit({.code = InstructionCode::kLoad,
        .index_count = rank,
        .component_count = static_cast<std::uint16_t>(destination.size()),
        .destination = destination.at(0),
        .target = slot(expr(e.args[0]).variable).parameter,
        .extent = offset.constant_offset},
       operands);
  loc_ = statement;
  return destination;
}

KernelLowering::ComponentOffset KernelLowering::component_offset(const std::vector<ir::ElementPartStep>& path) {
  ComponentOffset offset;
  for (const ir::ElementPartStep& step : path) {
    if (step.field_index != ir::kNone) {
      offset.constant_offset += static_cast<std::int32_t>(field_range(step.whole_type, step.field_index).first);
      continue;
    }
    const auto part = static_cast<std::int32_t>(component_count(step.whole_type.indexed_part_type()));
    if (const auto constant = constant_index(step.index, step.whole_type)) {
      offset.constant_offset += static_cast<std::int32_t>(*constant) * part;
      continue;
    }
    // Chooses among the offsets of all parts, so that an index outside the range is reported.
    Registers operands{scalar(step.index)};
    for (std::int32_t k = 0; k < step.whole_type.parts(); ++k)
      operands.push_back(integer(Scalar::kI32, std::int64_t{k} * part));
    const RegisterId chosen = temporary();
    emit({.code = InstructionCode::kExtract, .destination = chosen}, operands);
    offset.variable_offset_register =
        offset.variable_offset_register == ir::kNone
            ? chosen
            : lower_elementwise(Op::kAdd, Scalar::kI32, {{offset.variable_offset_register}, {chosen}})[0];
  }
  return offset;
}

Registers KernelLowering::load(const ir::Expr& e) {
  if (expr(e.args[0]).kind != ExprKind::kVariable) {
    reject("arrays inside structs are not supported by the oracle");
    return temporaries(1);
  }
  if (e.type.is_tile() && type_of(e.args[0]).is_array()) return load_tile(e);
  const VariableStorage array = slot(expr(e.args[0]).variable);
  Registers indices;
  for (std::size_t i = 1; i < e.args.size(); ++i)
    indices.push_back(scalar(e.args[i]));
  const Registers destination = temporaries(component_count(e.type));
  Instruction instruction{.index_count = static_cast<std::uint8_t>(indices.size()),
                          .component_count = static_cast<std::uint16_t>(destination.size()),
                          .destination = destination.at(0)};
  const ir::Loc statement = std::exchange(loc_, e.loc.line > 0 ? e.loc : loc_);
  if (array.parameter == ir::kNone) {
    instruction.code = InstructionCode::kLocalLoad;
    instruction.target = array.first_register;
    instruction.extent = static_cast<std::int32_t>(type_of(e.args[0]).extent);
  } else {
    instruction.code = InstructionCode::kLoad;
    instruction.target = array.parameter;
  }
  emit(instruction, indices);
  loc_ = statement;
  return destination;
}

}  // namespace assay::reference
