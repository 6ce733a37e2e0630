#include "reference/cpu/lowering.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "ir/custom.hpp"
#include "ir/library.hpp"
#include "ir/source_location.hpp"

namespace assay::reference {
namespace {

/// Limit of inlining: functions that each call the previous one twice double the code with each level.
constexpr std::size_t kMaxInstructions = std::size_t{1} << 20;

}  // namespace

Result<Program> lower(const ir::Module& module, const ir::Function& kernel, CustomReplays custom_replays) {
  Program program;
  KernelLowering lowering(module, program, custom_replays);
  lowering.lower_kernel(kernel);
  if (lowering.error()) return *lowering.error();
  return program;
}

// ---- helpers

std::vector<ir::Scalar> KernelLowering::component_types(ir::Type type) const {
  std::vector<ir::Scalar> scalars;
  for (const ir::ScalarComponent& component : ir::scalar_components(module_, type.element().tile_element_type()))
    scalars.push_back(component.scalar);
  if (type.tile_rank() > 0) scalars.assign(static_cast<std::size_t>(type.tile_size()), scalars[0]);
  return scalars;
}

std::size_t KernelLowering::component_count(ir::Type type) const {
  return component_types(type).size() * (type.is_local_array() ? type.extent : 1);
}

Registers KernelLowering::temporaries(std::size_t count) {
  Registers components(count);
  for (RegisterId& component : components)
    component = temporary();
  return components;
}

std::size_t KernelLowering::emit(Instruction instruction, const Registers& operands) {
  instruction.first_operand = static_cast<std::uint32_t>(program_.operands.size());
  instruction.operand_count = static_cast<std::uint32_t>(operands.size());
  instruction.loc = loc_;
  program_.operands.insert(program_.operands.end(), operands.begin(), operands.end());
  program_.code.push_back(instruction);
  return program_.code.size() - 1;
}

void KernelLowering::move(const Registers& to, const Registers& from) {
  // If a source is overwritten before it is read, as in v = vec2(v.y, v.x), all moves go through temporaries.
  bool clash = false;
  for (std::size_t i = 0; i < from.size(); ++i)
    clash = clash || std::find(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(i), from[i]) !=
                         to.begin() + static_cast<std::ptrdiff_t>(i);
  Registers sources = from;
  if (clash) {
    sources = temporaries(from.size());
    for (std::size_t i = 0; i < from.size(); ++i)
      emit({.code = InstructionCode::kMove, .destination = sources[i]}, {from[i]});
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] != sources[i]) emit({.code = InstructionCode::kMove, .destination = to[i]}, {sources[i]});
  }
}

std::int32_t KernelLowering::branch_point_index(const void* origin, BranchPoint::Kind kind) {
  if (ir::is_warp_code(*frame_->function)) return ir::kNone;
  const auto [at, is_new] =
      branch_point_indices_.try_emplace(origin, static_cast<std::int32_t>(program_.branch_points.size()));
  if (is_new) program_.branch_points.push_back({.kind = kind, .loc = loc_});
  return at->second;
}

std::size_t KernelLowering::jump_unless(const void* origin, ir::ExprId condition) {
  const RegisterId value = scalar(condition);
  const std::int32_t number =
      is_literal(condition) ? ir::kNone : branch_point_index(origin, BranchPoint::Kind::kBranch);
  return emit({.code = InstructionCode::kJumpIfEqual, .extent = 0, .branch_point = number}, {value});
}

void KernelLowering::reject(std::string reason) {
  if (error_) return;
  error_ = Error{std::move(reason), ir::location_text(module_, loc_)};
}

void KernelLowering::allocate(ir::VarId variable) {
  VariableStorage& place = slot(variable);
  if (place.first_register != ir::kNone) return;
  place.first_register = program_.register_count;
  program_.register_count += static_cast<RegisterId>(component_count(frame_->function->var(variable).type));
}

Registers KernelLowering::variable_components(ir::VarId variable) {
  allocate(variable);
  Registers components(component_count(frame_->function->var(variable).type));
  for (std::size_t i = 0; i < components.size(); ++i)
    components[i] = slot(variable).first_register + static_cast<RegisterId>(i);
  return components;
}

KernelLowering::FunctionFrame KernelLowering::frame_of(const ir::Function& function) {
  FunctionFrame frame;
  frame.function = &function;
  frame.storage_by_variable.resize(function.variables.size());
  frame.is_variable_read.resize(function.variables.size());
  for (const ir::Expr& expr : function.expressions) {
    if (expr.kind == ir::ExprKind::kVariable) frame.is_variable_read[static_cast<std::size_t>(expr.variable)] = true;
  }
  return frame;
}

// ---- the kernel

void KernelLowering::bind_parameters(const ir::Function& kernel) {
  for (ir::VarId v = 0; v < kernel.parameter_count; ++v) {
    const ir::Type type = kernel.var(v).type;
    ParameterProperties info{.is_array = type.is_array(), .components = component_types(type)};
    if (info.is_array) {
      slot(v).parameter = v;
    } else {
      allocate(v);
      info.first_register = slot(v).first_register;
    }
    program_.parameters.push_back(std::move(info));
  }
  for (ir::VarId v = kernel.parameter_count; v < kernel.parameter_count + kernel.launch_rank; ++v) {
    allocate(v);
    program_.thread_index_registers.push_back(slot(v).first_register);
  }
}

void KernelLowering::lower_kernel(const ir::Function& kernel) {
  program_.module = &module_;
  program_.kernel = &kernel;
  FunctionFrame frame = frame_of(kernel);
  frame_ = &frame;
  loc_ = kernel.loc;
  bind_parameters(kernel);
  block(kernel.body);
  set_jump_target(frame.return_jump_positions, here());
  emit({.code = InstructionCode::kEnd});
  frame_ = nullptr;
}

Registers KernelLowering::call(std::int32_t index, const std::vector<ir::ExprId>& args) {
  std::vector<Registers> values(args.size());
  for (std::size_t i = 0; i < args.size(); ++i) {
    const ir::Type type = type_of(args[i]);
    if (!type.is_array() && !type.is_local_array()) values[i] = expression(args[i]);
  }
  return call_with(index, args, values);
}

Registers KernelLowering::call_with(std::int32_t index, const std::vector<ir::ExprId>& args,
                                    const std::vector<Registers>& values) {
  const ir::Function& callee = module_.functions[static_cast<std::size_t>(index)];
  if (here() > kMaxInstructions) reject("kernel is too large after function inlining");
  std::vector<VariableStorage> arrays(args.size());
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (values[i].empty()) arrays[i] = slot(expr(args[i]).variable);
  }
  Registers results;
  if (custom_replays_ == CustomReplays::kExecuted && callee.replay_function_index != ir::kNone) {
    // The replay itself may call the function.
    custom_replays_ = CustomReplays::kIgnored;
    results = inline_call(module_.functions[static_cast<std::size_t>(callee.replay_function_index)], arrays, values);
    custom_replays_ = CustomReplays::kExecuted;
  } else {
    results = inline_call(callee, arrays, values);
  }
  if (callee.gradient_function_index == ir::kNone || is_lowering_custom_gradient_) return results;
  return call_with_custom_gradient(callee, arrays, values, results);
}

Registers KernelLowering::inline_call(const ir::Function& callee, const std::vector<VariableStorage>& arrays,
                                      const std::vector<Registers>& values) {
  FunctionFrame inner = frame_of(callee);
  for (const ir::Type type : callee.results) {
    const Registers components = temporaries(component_count(type));
    inner.results.insert(inner.results.end(), components.begin(), components.end());
  }
  std::copy(arrays.begin(), arrays.end(), inner.storage_by_variable.begin());
  FunctionFrame* const outer = std::exchange(frame_, &inner);
  std::vector<LoopJumps> outer_loops = std::exchange(enclosing_loops_, {});
  const ir::Loc outer_loc = loc_;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].empty()) move(variable_components(static_cast<ir::VarId>(i)), values[i]);
  }
  block(callee.body);
  set_jump_target(inner.return_jump_positions, here());
  loc_ = outer_loc;
  enclosing_loops_ = std::move(outer_loops);
  frame_ = outer;
  return inner.results;
}

// ---- custom gradients

/// A register with the unit adjoint of a result. Actual adjoints are arbitrary numbers, so products with them round:
/// `rounded` makes products with this constant inexact.
RegisterId KernelLowering::seed(ir::Scalar type) {
  const auto [at, is_new] = unit_cotangent_registers_.try_emplace(type, program_.register_count);
  if (is_new) {
    program_.register_constants.push_back(
        {.destination = temporary(), .scalar = type, .bits = std::bit_cast<std::uint64_t>(1.0), .is_inexact = true});
  }
  return at->second;
}

std::vector<Registers> KernelLowering::with_unit_adjoint(const ir::Function& callee, std::vector<Registers> values,
                                                         std::size_t differentiated) {
  std::size_t component = 0;
  for (const ir::Type type : callee.results) {
    Registers& adjoint = values.emplace_back();
    for (const ir::Scalar scalar : component_types(type))
      adjoint.push_back(component++ == differentiated ? seed(scalar) : number(scalar, 0));
  }
  return values;
}

/// The gradient is linear in the adjoints (the adjoint pass rejects others), so each partial derivative is the result
/// of the gradient for a unit adjoint.
Registers KernelLowering::call_with_custom_gradient(const ir::Function& callee,
                                                    const std::vector<VariableStorage>& arrays,
                                                    const std::vector<Registers>& values, const Registers& primal) {
  const ir::Function& gradient = module_.functions[static_cast<std::size_t>(callee.gradient_function_index)];
  const std::vector<ir::VarId> adjoint_arrays = ir::taken_adjoint_arrays(module_, callee);
  std::vector<VariableStorage> all_arrays = arrays;
  all_arrays.resize(arrays.size() + callee.results.size());
  for (const ir::VarId array : adjoint_arrays)
    all_arrays.push_back({.parameter = arrays[static_cast<std::size_t>(array)].parameter});
  std::vector<ir::Scalar> scalars;
  for (const ir::Type type : callee.results) {
    const auto components = component_types(type);
    scalars.insert(scalars.end(), components.begin(), components.end());
  }
  // The float components of the parameters, and the positions of their derivatives in the results of the gradient.
  Registers sources;
  std::vector<std::size_t> places;
  std::size_t place = 0;
  for (const ir::VarId target : ir::gradient_targets(module_, callee)) {
    const auto types = component_types(callee.var(target).type);
    for (std::size_t k = 0; k < types.size(); ++k, ++place) {
      if (!ir::is_float(types[k])) continue;
      sources.push_back(values[static_cast<std::size_t>(target)][k]);
      places.push_back(place);
    }
  }
  Registers results = primal;
  is_lowering_custom_gradient_ = true;
  for (std::size_t j = 0; j < primal.size(); ++j) {
    if (!ir::is_float(scalars[j])) continue;
    std::vector<Registers> given = with_unit_adjoint(callee, values, j);
    given.resize(all_arrays.size());
    Registers all_sources = sources;
    Registers partials;
    if (!adjoint_arrays.empty()) {
      // A register that is zero and has the derivatives by elements of arrays is a source with the partial
      // derivative 1.
      all_sources.push_back(temporary());
      emit({.code = InstructionCode::kClear, .destination = all_sources.back(), .extent = 1});
      for (std::size_t k = all_arrays.size() - adjoint_arrays.size(); k < all_arrays.size(); ++k)
        all_arrays[k].derived_register = all_sources.back();
      derived_type_ = scalars[j];
    }
    const Registers adjoints = inline_call(gradient, all_arrays, given);
    for (const std::size_t at : places)
      partials.push_back(adjoints[at]);
    if (!adjoint_arrays.empty()) partials.push_back(number(scalars[j], std::bit_cast<std::uint64_t>(1.0)));
    results[j] = custom(scalars[j], primal[j], all_sources, partials);
  }
  is_lowering_custom_gradient_ = false;
  return results;
}

RegisterId KernelLowering::custom(ir::Scalar type, RegisterId primal, const Registers& sources,
                                  const Registers& partials) {
  // Each instruction takes a limited number of operands; the next one keeps the derivatives of the previous ones.
  constexpr std::size_t kMost = 15;
  RegisterId result = primal;
  for (std::size_t first = 0; first == 0 || first < sources.size(); first += kMost) {
    const std::size_t end = std::min(first + kMost, sources.size());
    Registers operands{result};
    operands.insert(operands.end(), sources.begin() + static_cast<std::ptrdiff_t>(first),
                    sources.begin() + static_cast<std::ptrdiff_t>(end));
    operands.insert(operands.end(), partials.begin() + static_cast<std::ptrdiff_t>(first),
                    partials.begin() + static_cast<std::ptrdiff_t>(end));
    result = temporary();
    emit({.code = InstructionCode::kCustomDerivative,
          .scalar = type,
          .destination = result,
          .extent = first == 0 ? 0 : 1},
         operands);
  }
  return result;
}

// ---- statements

void KernelLowering::block(const ir::Block& block) {
  for (const ir::Stmt& each : block.statements)
    statement(each);
}

void KernelLowering::statement(const ir::Stmt& statement) {
  if (error_) return;
  // Library functions have no source location: their statements get the location of the call.
  if (statement.loc.line > 0) loc_ = statement.loc;
  std::visit([this](const auto& node) { lower(node); }, statement.node);
}

void KernelLowering::lower(const ir::Let& let) {
  if (let.value != ir::kNone) {
    move(variable_components(let.variable), expression(let.value));
    return;
  }
  allocate(let.variable);
  const auto count = static_cast<std::int32_t>(component_count(frame_->function->var(let.variable).type));
  emit({.code = InstructionCode::kClear, .destination = slot(let.variable).first_register, .extent = count});
}

void KernelLowering::lower(const ir::Assign& assign) {
  move(variable_components(assign.variable), expression(assign.value));
}

void KernelLowering::lower(const ir::Store& store) {
  const ir::Type type = type_of(store.array);
  if (type_of(store.value).is_tile() && type.is_array()) {
    const std::int32_t parameter = slot(expr(store.array).variable).parameter;
    program_.parameters[static_cast<std::size_t>(parameter)].is_written = true;
    return store_or_add_tile({.code = InstructionCode::kStore, .target = parameter}, type_of(store.value),
                             store.indices, expression(store.value));
  }
  const VariableStorage target = slot(expr(store.array).variable);
  if (target.parameter != ir::kNone) {
    const ir::ChangedElementPart part = ir::stored_part(*frame_->function, store);
    const bool is_constant = ir::is_constant(*frame_->function, part.value);
    return emit_element_change(
        {.code = InstructionCode::kStore, .stores_constant = is_constant, .target = target.parameter}, store.indices,
        part);
  }
  Registers operands;
  for (const ir::ExprId index : store.indices)
    operands.push_back(scalar(index));
  const Registers value = expression(store.value);
  operands.insert(operands.end(), value.begin(), value.end());
  emit({.code = InstructionCode::kLocalStore,
        .index_count = static_cast<std::uint8_t>(store.indices.size()),
        .component_count = static_cast<std::uint16_t>(value.size()),
        .target = target.first_register,
        .extent = static_cast<std::int32_t>(type.extent)},
       operands);
}

void KernelLowering::emit_element_change(Instruction instruction, const std::vector<ir::ExprId>& indices,
                                         const ir::ChangedElementPart& part, ir::ExprId compare) {
  Registers operands;
  for (const ir::ExprId index : indices)
    operands.push_back(scalar(index));
  const Registers value = expression(part.value);
  operands.insert(operands.end(), value.begin(), value.end());
  if (compare != ir::kNone) {
    const Registers expected = expression(compare);
    operands.insert(operands.end(), expected.begin(), expected.end());
  }
  const ComponentOffset offset = component_offset(part.path);
  if (offset.variable_offset_register != ir::kNone) operands.push_back(offset.variable_offset_register);
  if (instruction.code != InstructionCode::kElementDerivative) {
    ParameterProperties& parameter = program_.parameters[static_cast<std::size_t>(instruction.target)];
    parameter.is_written = true;
    parameter.has_partial_element_writes |= !part.path.empty();
  }
  instruction.index_count = static_cast<std::uint8_t>(indices.size());
  instruction.component_count = static_cast<std::uint16_t>(value.size());
  instruction.extent = offset.constant_offset;
  emit(instruction, operands);
}

void KernelLowering::lower(const ir::Atomic& atomic) {
  const VariableStorage target = slot(expr(atomic.array).variable);
  if (target.parameter == ir::kNone) return reject("atomics on local arrays are not supported");
  if (type_of(atomic.value).is_tile()) {
    program_.parameters[static_cast<std::size_t>(target.parameter)].is_written = true;
    return store_or_add_tile({.code = InstructionCode::kAtomic, .atomic_op = atomic.op, .target = target.parameter},
                             type_of(atomic.value), atomic.indices, expression(atomic.value));
  }
  if (target.derived_register != ir::kNone) {
    return emit_element_change({.code = InstructionCode::kElementDerivative,
                                .atomic_op = atomic.op,
                                .scalar = derived_type_,
                                .destination = target.derived_register,
                                .target = target.parameter},
                               atomic.indices, ir::updated_part(module_, *frame_->function, atomic));
  }
  Instruction instruction{.code = InstructionCode::kAtomic, .atomic_op = atomic.op, .target = target.parameter};
  if (atomic.result != ir::kNone && frame_->is_variable_read[static_cast<std::size_t>(atomic.result)])
    instruction.destination = variable_components(atomic.result).at(0);
  emit_element_change(instruction, atomic.indices, ir::updated_part(module_, *frame_->function, atomic),
                      atomic.compare_operand);
}

void KernelLowering::lower(const ir::Call& statement) {
  const Registers values = call(statement.function, statement.args);
  Registers results;
  for (const ir::VarId result : statement.results) {
    const Registers components = variable_components(result);
    results.insert(results.end(), components.begin(), components.end());
  }
  move(results, values);
}

void KernelLowering::lower(const ir::If& branch) {
  const std::size_t skip = jump_unless(&branch, branch.condition);
  block(branch.then_block);
  if (branch.else_block.statements.empty()) return set_jump_target(skip, here());
  const std::size_t end = emit({.code = InstructionCode::kJump});
  set_jump_target(skip, here());
  block(branch.else_block);
  set_jump_target(end, here());
}

void KernelLowering::lower(const ir::For& loop) {
  const ir::Loc loc = loc_;
  const ir::Scalar type = type_of(loop.start).scalar;
  const Registers counter = temporaries(3);  // counter, stop, step: evaluated once
  const RegisterId start = scalar(loop.start);
  const RegisterId stop = scalar(loop.stop);
  const RegisterId step = scalar(loop.step);
  move(counter, {start, stop, step});
  const std::size_t top = emit({.code = InstructionCode::kRangeLoopTest,
                                .scalar = type,
                                .branch_point = branch_point_index(&loop, BranchPoint::Kind::kRangeLoop)},
                               counter);
  move(variable_components(loop.variable), {counter[0]});
  enclosing_loops_.emplace_back();
  block(loop.body);
  loc_ = loc;
  const LoopJumps ended = std::move(enclosing_loops_.back());
  enclosing_loops_.pop_back();
  set_jump_target(ended.continue_jump_positions, here());
  emit({.code = InstructionCode::kRangeLoopNext, .destination = counter[0], .target = static_cast<std::int32_t>(top)},
       {counter[2]});
  set_jump_target(top, here());
  set_jump_target(ended.break_jump_positions, here());
}

void KernelLowering::lower(const ir::While& loop) {
  const ir::Loc loc = loc_;
  const std::size_t top = here();
  const std::size_t exit = jump_unless(&loop, loop.condition);
  enclosing_loops_.emplace_back();
  block(loop.body);
  loc_ = loc;
  const LoopJumps ended = std::move(enclosing_loops_.back());
  enclosing_loops_.pop_back();
  set_jump_target(ended.continue_jump_positions, top);
  emit({.code = InstructionCode::kJump, .target = static_cast<std::int32_t>(top)});
  set_jump_target(exit, here());
  set_jump_target(ended.break_jump_positions, here());
}

void KernelLowering::lower(const ir::Break&) {
  if (enclosing_loops_.empty()) return reject("break outside a loop");
  enclosing_loops_.back().break_jump_positions.push_back(emit({.code = InstructionCode::kJump}));
}

void KernelLowering::lower(const ir::Continue&) {
  if (enclosing_loops_.empty()) return reject("continue outside a loop");
  enclosing_loops_.back().continue_jump_positions.push_back(emit({.code = InstructionCode::kJump}));
}

void KernelLowering::lower(const ir::Return& statement) {
  Registers values;
  for (const ir::ExprId value : statement.values) {
    const Registers components = expression(value);
    values.insert(values.end(), components.begin(), components.end());
  }
  if (!values.empty()) move(frame_->results, values);
  frame_->return_jump_positions.push_back(emit({.code = InstructionCode::kJump}));
}

}  // namespace assay::reference
