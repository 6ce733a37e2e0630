#include "backends/source/function_printer.hpp"

#include <algorithm>
#include <utility>

#include "ir/analysis.hpp"
#include "ir/visit.hpp"
#include "support/concat.hpp"

namespace assay::source {
namespace {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Op;

/// Names that the text of any body may use.
const NameTable& helper_names() {
  static const NameTable kNames = [] {
    NameTable names{"real",
                    "half",
                    "bfloat",
                    "Float16",
                    "Lifted",
                    "Array",
                    "Vec",
                    "Mat",
                    "Quat",
                    "Transform",
                    "infinity",
                    "not_a_number",
                    "wrap_add",
                    "wrap_sub",
                    "wrap_mul",
                    "wrap_neg",
                    "Tile",
                    "tile_leader",
                    "tile_barrier",
                    "tile_load",
                    "tile_store",
                    "tile_atomic_add",
                    "tile_map",
                    "tile_fill",
                    "tile_block",
                    "tile_load_indexed",
                    "tile_store_indexed",
                    "tile_atomic_add_indexed",
                    "subarray"};
    static std::vector<std::string> components;
    for (const ir::AtomicOperationEntry& row : ir::kAtomics)
      components.push_back(concat(row.mnemonic, "_components"));
    for (const ir::AtomicOperationEntry& row : ir::kAtomics)
      names.insert(row.mnemonic);
    for (const std::string& name : components)
      names.insert(name);
    return names;
  }();
  return kNames;
}

bool is_constant(const Expr& expr) { return expr.kind == ExprKind::kLiteral; }

/// The comparison of a range with a negative constant step.
bool descends(const Expr& step) { return is_constant(step) && static_cast<std::int64_t>(step.bits) < 0; }

/// Whether a row of a matrix is printed as a value, i.e. not only indexed further.
bool uses_matrix_rows(const ir::Function& function) {
  const auto is_row = [&](const Expr& expr) {
    return expr.kind == ExprKind::kOperation && expr.op == Op::kExtract && function.expr(expr.args[0]).type.is_matrix();
  };
  std::vector<bool> indexed(function.expressions.size());
  for (const Expr& expr : function.expressions) {
    const bool indexes = expr.kind == ExprKind::kOperation && expr.op == Op::kExtract;
    for (const ExprId arg : expr.args) {
      if (!is_row(function.expr(arg))) continue;
      if (!indexes) return true;
      indexed[static_cast<std::size_t>(arg)] = true;
    }
  }
  for (std::size_t id = 0; id < indexed.size(); ++id)
    if (!indexed[id] && is_row(function.expressions[id])) return true;
  return false;
}

}  // namespace

FunctionPrinter::FunctionPrinter(SourceUnit& unit, const ir::Function& function,
                                 const ir::ExtremumOperands& extremum_operands, bool prints_source_comments)
    : unit_(unit),
      function_(function),
      prints_source_comments_(prints_source_comments),
      declared_names_(function.variables.size()),
      name_scopes_(helper_names()),
      is_assigned_(function.variables.size()),
      is_tiled_(ir::uses_tiles(function)),
      is_loaded_from_(function.variables.size()),
      is_stored_to_(function.variables.size()),
      expression_printer_(unit, function, declared_names_, extremum_operands) {
  legal_names_.reserve(function.variables.size());
  for (const ir::Variable& variable : function.variables)
    legal_names_.push_back(legal_identifier(variable.name));
  if (is_tiled_) find_accesses();
  for (const ir::VarId variable : ir::assigned_variables(function.body)) {
    is_assigned_[static_cast<std::size_t>(variable)] = true;
  }
  reserve_functions(!extremum_operands.empty());
}

void FunctionPrinter::reserve_functions(bool has_extremum_operands) {
  for (const std::string& symbol : unit_.symbols())
    name_scopes_.reserve(symbol);
  for (std::size_t i = 0; i < unit_.module().structs.size(); ++i)
    name_scopes_.reserve(unit_.struct_name(static_cast<int>(i)));
  for (std::size_t i = 0; i < unit_.module().functions.size(); ++i) {
    name_scopes_.reserve(unit_.function_name(static_cast<int>(i)));
  }
  std::vector<bool> seen(ir::kOperations.size());
  for (const Expr& expr : function_.expressions) {
    if (expr.kind != ExprKind::kOperation) continue;
    if (const auto op = static_cast<std::size_t>(expr.op); !seen[op]) {
      seen[op] = true;
      for (const std::string_view name : functions_of(expr.op))
        name_scopes_.reserve(name);
      if (has_extremum_operands)
        for (const std::string_view name : functions_of(expr.op))
          name_scopes_.reserve(concat(kRoundedPrefix, name));
    }
    if (expr.op == Op::kWithField) name_scopes_.reserve(unit_.setter_name(expr.type.struct_id, expr.index));
  }
  if (has_extremum_operands)
    for (const char* name : {"rounded_sum", "rounded_difference", "rounded_product"})
      name_scopes_.reserve(name);
  if (uses_matrix_rows(function_)) name_scopes_.reserve("row");
  if (seen[static_cast<std::size_t>(Op::kInsert)]) name_scopes_.reserve("set_row");
}

std::string FunctionPrinter::internal_name(std::string_view name) {
  const bool in_source = std::ranges::find(legal_names_, name) != legal_names_.end();
  return name_scopes_.declare(in_source ? concat("thread_", name) : std::string(name));
}

const std::string& FunctionPrinter::declare(ir::VarId variable) {
  return declared_names_[static_cast<std::size_t>(variable)] =
             name_scopes_.declare_legal(legal_names_[static_cast<std::size_t>(variable)]);
}

std::vector<std::string> FunctionPrinter::parameters() {
  std::vector<std::string> list;
  for (ir::VarId variable = 0; variable < function_.parameter_count; ++variable) {
    list.push_back(concat(unit_.type(function_.var(variable).type), " ", declare(variable)));
  }
  return list;
}

bool returns_from_loop(const ir::Function& function) {
  bool returns = false;
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    const bool loop =
        std::holds_alternative<ir::For>(statement.node) || std::holds_alternative<ir::While>(statement.node);
    if (!loop) return;
    ir::for_each_child_block(statement, [&](const ir::Block& body) {
      ir::for_each_statement(body,
                             [&](const ir::Stmt& inner) { returns |= std::holds_alternative<ir::Return>(inner.node); });
    });
  });
  return returns;
}

std::string FunctionPrinter::body(EarlyReturnForm early_return, int depth) {
  early_return_form_ = early_return;
  constexpr std::size_t kBytesPerExpression = 16;  // bytes of text, in most bodies
  printed_lines_ = IndentedLines(depth, kBytesPerExpression * function_.expressions.size());
  block(function_.body);
  return printed_lines_.take();
}

std::string_view FunctionPrinter::comment(ir::Loc loc) {
  const bool known = loc.line > 0 && static_cast<std::size_t>(loc.line) <= unit_.module().source_lines.size();
  if (!prints_source_comments_ || !known || loc.line == last_commented_line_) return "";
  last_commented_line_ = loc.line;
  return unit_.comment(loc.line);
}

void FunctionPrinter::block(const ir::Block& block) {
  name_scopes_.open();
  for (const ir::Stmt& inner : block.statements)
    statement(inner);
  name_scopes_.close();
}

void FunctionPrinter::statement(const ir::Stmt& statement) {
  if (const std::string_view shown = comment(statement.loc); !shown.empty()) printed_lines_.add(shown);
  std::visit([&](const auto& node) { print(node); }, statement.node);
}

void FunctionPrinter::print(const ir::Let& node) {
  const ir::Type type = function_.var(node.variable).type;
  if (type.is_local_array()) {
    const std::string element = unit_.type(type.element());
    unit_.note_local_array(type.element());
    const char* const start = function_.var(node.variable).is_stored_before_read ? "" : " = {}";
    printed_lines_.add(element, " ", declare(node.variable), "[", std::to_string(type.extent), "]", start, ";");
    return;
  }
  // The value is printed first, because it may use an outer variable with the same name.
  const Expr* const call = node.value != ir::kNone ? &function_.expr(node.value) : nullptr;
  const bool is_by_leader = call != nullptr && call->kind == ExprKind::kCall && is_call_by_leader(call->index);
  const std::string value = is_by_leader              ? from_leader(call_for_leader(call->index, call->args))
                            : node.value != ir::kNone ? expression_printer_.initializer(node.value)
                            : type.is_scalar()        ? expression_printer_.zero(type)
                                                      : "{}";
  printed_lines_.add(unit_.type(type), " ", declare(node.variable), " = ", value, ";");
}

void FunctionPrinter::print(const ir::Assign& node) {
  const Expr& call = function_.expr(node.value);
  if (call.kind == ExprKind::kCall && is_call_by_leader(call.index))
    return printed_lines_.add(name(node.variable), " = ", from_leader(call_for_leader(call.index, call.args)), ";");
  printed_lines_.add(assignment(name(node.variable), ir::assigned_part(function_, node)));
}

void FunctionPrinter::print(const ir::Store& node) {
  const std::string test = expression_printer_.null_test(node.array);
  const std::string guard = test.empty() ? "" : concat("if (", test, ") ");
  if (function_.expr(node.value).type.is_tile() && !function_.expr(node.array).type.is_local_array()) {
    const std::string_view function = ir::has_tile(function_, node.indices) ? "tile_store_indexed" : "tile_store";
    unit_.helpers().use(function);
    const std::string value = hoisted_tile(node.array, node.value);
    const ExpressionPrinter::TilePlace place =
        expression_printer_.tile_place(node.array, node.indices, function_.expr(node.value).type);
    return change(node.array, true, concat(guard, function, "(", place.array, ", ", value, ", ", place.offsets, ");"));
  }
  const std::string place = element_for_leader(node.array, node.indices);
  if (is_tiled_ && ir::works_with_tiles(function_, node.value)) {
    const std::string value = hoist(node.value);
    return change(node.array, false, concat(guard, place, " = ", value, ";"));
  }
  change(node.array, false, guard + assignment(place, ir::stored_part(function_, node)));
}

void FunctionPrinter::find_accesses() {
  const auto mark = [&](std::vector<bool>& set, ExprId array) {
    set[static_cast<std::size_t>(function_.expr(array).variable)] = true;
  };
  for (const ir::Function& function : unit_.module().functions)
    uses_by_function_.push_back(ir::parameter_use(function, uses_by_function_));
  const auto mark_arguments = [&](int function, const std::vector<ExprId>& args) {
    const ir::ParameterUses& uses = uses_by_function_[static_cast<std::size_t>(function)];
    for (std::size_t k = 0; k < args.size(); ++k) {
      if (!function_.expr(args[k]).type.is_array()) continue;
      if (uses[k].read) mark(is_loaded_from_, args[k]);
      if (uses[k].changed()) mark(is_stored_to_, args[k]);
    }
  };
  for (const Expr& e : function_.expressions) {
    if (e.kind == ExprKind::kLoad) mark(is_loaded_from_, e.args[0]);
    if (e.kind == ExprKind::kCall) mark_arguments(e.index, e.args);
  }
  ir::for_each_statement(function_.body, [&](const ir::Stmt& statement) {
    if (const auto* call = std::get_if<ir::Call>(&statement.node)) mark_arguments(call->function, call->args);
    if (const auto* store = std::get_if<ir::Store>(&statement.node)) mark(is_stored_to_, store->array);
    if (const auto* atomic = std::get_if<ir::Atomic>(&statement.node)) mark(is_stored_to_, atomic->array);
  });
}

bool FunctionPrinter::needs_barriers(ExprId array) const {
  const auto variable = static_cast<std::size_t>(function_.expr(array).variable);
  return is_loaded_from_[variable] && is_stored_to_[variable] &&
         !function_.var(function_.expr(array).variable).type.is_local_array();
}

std::string FunctionPrinter::hoisted_tile(ExprId array, ExprId value) {
  const bool is_variable = function_.expr(value).kind == ExprKind::kVariable;
  return !needs_barriers(array) || is_variable ? expression_printer_.print(value) : hoist(value);
}

std::string FunctionPrinter::hoist(ExprId value) {
  const std::string text = expression_printer_.initializer(value);
  const std::string name = name_scopes_.declare("kept");
  printed_lines_.add("const ", unit_.type(function_.expr(value).type), " ", name, " = ", text, ";");
  return name;
}

std::string FunctionPrinter::for_leader(ExprId value) {
  return is_tiled_ && ir::works_with_tiles(function_, value) ? hoist(value) : expression_printer_.print(value);
}

bool FunctionPrinter::is_call_by_leader(int function) const {
  return is_tiled_ && ir::has_effects(uses_by_function_[static_cast<std::size_t>(function)]);
}

std::string FunctionPrinter::call_for_leader(int function, const std::vector<ExprId>& args) {
  std::string list;
  for (const ExprId arg : args)
    list += (list.empty() ? "" : ", ") + for_leader(arg);
  return concat(unit_.function_name(function), "(", list, ")");
}

std::string FunctionPrinter::from_leader(const std::string& value) {
  unit_.helpers().use("tile_from_leader");
  return concat("tile_from_leader([&] { return ", value, "; })");
}

std::string FunctionPrinter::element_for_leader(ExprId array, const std::vector<ExprId>& indices) {
  const auto works = [&](ExprId index) { return ir::works_with_tiles(function_, index); };
  if (!is_tiled_ || std::ranges::none_of(indices, works)) return expression_printer_.element(array, indices);
  std::string list;
  for (const ExprId index : indices)
    list += (list.empty() ? "" : ", ") + for_leader(index);
  return concat(expression_printer_.print(array), ".at(", list, ")");
}

void FunctionPrinter::change(ExprId array, bool by_all, const std::string& statement) {
  const bool local = function_.expr(array).type.is_local_array();
  if (!is_tiled_ || local) return printed_lines_.add(statement);
  unit_.helpers().use("tile_block");
  const bool waits = needs_barriers(array);
  if (waits) printed_lines_.add("tile_barrier();");
  printed_lines_.add(by_all ? statement : "if (tile_leader()) " + statement);
  if (waits) printed_lines_.add("tile_barrier();");
}

std::string FunctionPrinter::part_of(std::string place, const std::vector<ir::ElementPartStep>& path) {
  for (const ir::ElementPartStep& step : path)
    place += step.field_index == ir::kNone ? expression_printer_.subscript(step.index)
                                           : concat(".", unit_.field_name(step.whole_type.struct_id, step.field_index));
  return place;
}

std::string FunctionPrinter::assignment(std::string place, ir::ChangedElementPart part) {
  const std::string value = expression_printer_.initializer(part.value);
  if (part.path.empty() || !part.path.back().whole_type.is_matrix())
    return concat(part_of(std::move(place), part.path), " = ", value, ";");
  // A row of a matrix is not an object of C++.
  const std::string row = expression_printer_.print(part.path.back().index);
  part.path.pop_back();
  unit_.helpers().use("set_row");
  return concat("set_row(", part_of(std::move(place), part.path), ", ", row, ", ", value, ");");
}

void FunctionPrinter::print(const ir::Atomic& node) {
  const ir::Type type = function_.expr(node.value).type;
  if (is_half(type.scalar)) unit_.helpers().use(backends::SourceTarget::kCuda, "atomic_add_half");
  if (type.is_tile()) {
    const bool indexed = ir::has_tile(function_, node.indices);
    const std::string_view function = indexed ? "tile_atomic_add_indexed" : "tile_atomic_add";
    unit_.helpers().use(function);
    const std::string test = expression_printer_.null_test(node.array);
    const std::string value = hoisted_tile(node.array, node.value);
    const ExpressionPrinter::TilePlace place = expression_printer_.tile_place(node.array, node.indices, type);
    return change(node.array, true,
                  concat(test.empty() ? "" : concat("if (", test, ") "), function, "(", place.array, ", ", value, ", ",
                         place.offsets, ");"));
  }
  ir::ChangedElementPart part = ir::updated_part(unit_.module(), function_, node);
  // A row of a matrix is not an object of C++.
  const bool is_row = !part.path.empty() && part.path.back().whole_type.is_matrix();
  if (is_row || is_tiled_) {
    part.path.resize(node.fields.size());
    part.value = node.value;
  }
  const bool by_components = function_.expr(part.value).type.is_aggregate();
  const std::string function = concat(ir::row(node.op).mnemonic, by_components ? "_components" : "");
  unit_.helpers().use(function);
  std::string call = concat(function, "(", part_of(element_for_leader(node.array, node.indices), part.path), ", ");
  if (node.compare_operand != ir::kNone) call += for_leader(node.compare_operand) + ", ";
  call += for_leader(part.value) + ")";
  const std::string test = expression_printer_.null_test(node.array);
  if (node.result == ir::kNone) {
    change(node.array, false, test.empty() ? call + ";" : concat("if (", test, ") ", call, ";"));
    return;
  }
  if (!test.empty()) call = concat(test, " ? ", call, " : ", expression_printer_.zero(type));
  if (is_tiled_) call = from_leader(call);
  printed_lines_.add(unit_.type(type), " ", declare(node.result), " = ", call, ";");
}

void FunctionPrinter::print(const ir::Call& node) {
  const bool is_by_leader = is_call_by_leader(node.function);
  if (is_by_leader && node.results.empty()) {
    const std::string call = call_for_leader(node.function, node.args);
    unit_.helpers().use("tile_block");
    printed_lines_.add("tile_barrier();");
    printed_lines_.add("if (tile_leader()) ", call, ";");
    printed_lines_.add("tile_barrier();");
    return;
  }
  const std::string call = is_by_leader ? from_leader(call_for_leader(node.function, node.args))
                                        : concat(unit_.function_name(node.function), "(",
                                                 expression_printer_.arguments(node.args, LiteralForm::kUntyped), ")");
  if (node.results.empty()) {
    printed_lines_.add(call, ";");
  } else if (node.results.size() == 1) {
    printed_lines_.add(unit_.type(function_.var(node.results[0]).type), " ", declare(node.results[0]), " = ", call,
                       ";");
  } else {
    std::string names;
    for (const ir::VarId result : node.results)
      names += (names.empty() ? "" : ", ") + declare(result);
    printed_lines_.add("auto [", names, "] = ", call, ";");
  }
}

void FunctionPrinter::print(const ir::If& node) {
  const bool chain =
      node.else_block.statements.size() == 1 && std::holds_alternative<ir::If>(node.else_block.statements[0].node);
  if (node.then_block.statements.empty() && !node.else_block.statements.empty() && !chain) {
    printed_lines_.open("if ", expression_printer_.negated_condition(node.condition), " {");
    block(node.else_block);
    printed_lines_.close();
    return;
  }
  printed_lines_.open("if ", expression_printer_.condition(node.condition), " {");
  block(node.then_block);
  const ir::Block* rest = &node.else_block;
  while (rest->statements.size() == 1 && std::holds_alternative<ir::If>(rest->statements[0].node)) {
    const auto& nested = std::get<ir::If>(rest->statements[0].node);
    const std::string_view shown = comment(rest->statements[0].loc);
    const std::string condition = expression_printer_.condition(nested.condition);
    printed_lines_.reopen(concat("} else if ", condition, " {", shown.empty() ? "" : "  ", shown));
    block(nested.then_block);
    rest = &nested.else_block;
  }
  if (!rest->statements.empty()) {
    printed_lines_.reopen("} else {");
    block(*rest);
  }
  printed_lines_.close();
}

/// Whether the expression has the same value before each iteration as before the first.
bool FunctionPrinter::is_constant_in_loop(ExprId id) const {
  bool constant = true;
  ir::for_each_expression(function_, id, [&](ExprId, const Expr& expr) {
    const bool varies = expr.kind == ExprKind::kLoad || expr.kind == ExprKind::kCall ||
                        (expr.kind == ExprKind::kVariable && is_assigned_[static_cast<std::size_t>(expr.variable)]);
    if (varies) constant = false;
  });
  return constant;
}

std::string FunctionPrinter::step_text(const std::string& variable, const Expr& step) {
  const auto by = static_cast<std::int64_t>(step.bits);
  if (by == 1) return "++" + variable;
  if (by == -1) return "--" + variable;
  const std::uint64_t magnitude = by < 0 ? 0 - static_cast<std::uint64_t>(by) : static_cast<std::uint64_t>(by);
  return concat(variable, by < 0 ? " -= " : " += ", std::to_string(magnitude));
}

/// Bounds are evaluated once, so bounds that the body might change are stored in variables.
void FunctionPrinter::print(const ir::For& node) {
  const Expr& step = function_.expr(node.step);
  const std::string start = expression_printer_.print(node.start);
  const bool has_fixed_stop = is_constant_in_loop(node.stop);
  std::string stop = has_fixed_stop ? expression_printer_.compared(node.stop) : expression_printer_.print(node.stop);
  std::string by = expression_printer_.print(node.step);
  name_scopes_.open();
  const std::string variable = declare(node.variable);
  std::string head = concat("for (", unit_.type(function_.var(node.variable).type), " ", variable, " = ", start);
  const auto store_bound = [&](std::string& text, std::string_view what) {
    const std::string bound = name_scopes_.declare(concat(variable, "_", what));
    append(head, ", ", bound, " = ", std::exchange(text, bound));
  };
  if (!has_fixed_stop) store_bound(stop, "stop");
  if (is_constant(step)) {
    append(head, "; ", variable, descends(step) ? " > " : " < ", stop, "; ", step_text(variable, step), ") {");
  } else {
    store_bound(by, "step");
    append(head, "; ", by, " > 0 ? ", variable, " < ", stop, " : ", variable, " > ", stop);
    append(head, "; ", variable, " += ", by, ") {");
  }
  printed_lines_.open(head);
  ++loop_depth_;
  block(node.body);
  --loop_depth_;
  printed_lines_.close();
  name_scopes_.close();
}

void FunctionPrinter::print(const ir::While& node) {
  printed_lines_.open("while ", expression_printer_.condition(node.condition), " {");
  ++loop_depth_;
  block(node.body);
  --loop_depth_;
  printed_lines_.close();
}

void FunctionPrinter::print(const ir::Return& node) {
  if (early_return_form_ == EarlyReturnForm::kJumpToNextThread) {
    printed_lines_.add(loop_depth_ > 0 ? concat("goto ", kNextThreadLabel, ";") : "continue;");
  } else if (node.values.empty()) {
    printed_lines_.add("return;");
  } else if (node.values.size() == 1) {
    printed_lines_.add("return ", expression_printer_.initializer(node.values[0]), ";");
  } else {
    printed_lines_.add("return {", expression_printer_.arguments(node.values, LiteralForm::kUntyped), "};");
  }
}

}  // namespace assay::source
