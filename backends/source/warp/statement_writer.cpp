#include "backends/source/warp/statement_writer.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backends/device/emitted_kernel.hpp"
#include "backends/source/warp/writer.hpp"
#include "ir/custom.hpp"
#include "ir/visit.hpp"
#include "support/concat.hpp"

namespace assay::source::warp {
namespace {

constexpr std::size_t kLineLength = 100;

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

void collect_changed_in_loops(const ir::Block& block, bool in_loop, std::set<ir::VarId>& changed) {
  for (const ir::Stmt& statement : block.statements) {
    if (const auto* assign = std::get_if<ir::Assign>(&statement.node)) {
      if (in_loop) changed.insert(assign->variable);
    } else if (const auto* branch = std::get_if<ir::If>(&statement.node)) {
      collect_changed_in_loops(branch->then_block, in_loop, changed);
      collect_changed_in_loops(branch->else_block, in_loop, changed);
    } else if (const auto* for_loop = std::get_if<ir::For>(&statement.node)) {
      collect_changed_in_loops(for_loop->body, true, changed);
    } else if (const auto* while_loop = std::get_if<ir::While>(&statement.node)) {
      collect_changed_in_loops(while_loop->body, true, changed);
    }
  }
}

std::vector<std::string> name_variables(const ir::Function& function, NamePool& names) {
  std::vector<std::string> variables;
  variables.reserve(function.variables.size());
  for (const ir::Variable& variable : function.variables)
    variables.push_back(names.take(variable.name));
  return variables;
}

/// "+" for operations with an augmented assignment; empty for others.
std::string_view augmented(ir::Op op) {
  switch (op) {
    case ir::Op::kAdd: return "+";
    case ir::Op::kSub: return "-";
    case ir::Op::kMul: return "*";
    case ir::Op::kDiv: return "/";
    default: return "";
  }
}

/// " += " for operations with which Warp updates a component in place; empty for others.
std::string_view in_place_operator(ir::Op op) {
  switch (op) {
    case ir::Op::kAdd: return " += ";
    case ir::Op::kSub: return " -= ";
    case ir::Op::kBitAnd: return " &= ";
    case ir::Op::kBitOr: return " |= ";
    case ir::Op::kBitXor: return " ^= ";
    default: return "";
  }
}

}  // namespace

namespace {

/// The assignments that change an element of a tile after a read of an element that may be the same. Warp's threads
/// would read it before or after other threads have changed it, unless the changes are those of scattered values.
class ScatteredChanges {
 public:
  explicit ScatteredChanges(const ir::Function& function) : function_(function) { visit(function.body, true); }
  std::set<const ir::Assign*> take() { return std::move(found_); }

 private:
  struct Element {
    ir::VarId tile = ir::kNone;
    std::vector<ir::ExprId> indices;
  };

  void visit(const ir::Block& block, bool is_body) {
    for (const ir::Stmt& statement : block.statements) {
      ir::for_each_root_expression(statement, [&](ir::ExprId root) {
        ir::for_each_expression(function_, root, [&](ir::ExprId, const ir::Expr& expr) {
          if (const Element read = element(expr, ir::Op::kTileExtract); read.tile != ir::kNone) reads_.push_back(read);
        });
      });
      if (const auto* assign = std::get_if<ir::Assign>(&statement.node)) note(*assign, is_body);
      ir::for_each_child_block(statement, [&](const ir::Block& inner) { visit(inner, false); });
    }
  }

  Element element(const ir::Expr& expr, ir::Op op) const {
    if (expr.kind != ir::ExprKind::kOperation || expr.op != op) return {};
    const ir::Expr& tile = function_.expr(expr.args[0]);
    if (tile.kind != ir::ExprKind::kVariable) return {};
    return {tile.variable, {expr.args.begin() + 1, expr.args.end() - (op == ir::Op::kTileInsert ? 1 : 0)}};
  }

  void note(const ir::Assign& assign, bool is_body) {
    const Element changed = element(function_.expr(assign.value), ir::Op::kTileInsert);
    if (changed.tile != assign.variable) {
      // The variable gets another tile. In a nested block, it may keep the tile.
      if (is_body) std::erase_if(reads_, [&](const Element& read) { return read.tile == assign.variable; });
      return;
    }
    if (std::ranges::any_of(reads_, [&](const Element& read) { return may_be_same(read, changed); }))
      found_.insert(&assign);
  }

  bool may_be_same(const Element& read, const Element& changed) const {
    if (read.tile != changed.tile) return false;
    for (std::size_t d = 0; d < changed.indices.size(); ++d) {
      const ir::Expr& first = function_.expr(read.indices[d]);
      const ir::Expr& second = function_.expr(changed.indices[d]);
      const bool are_known = first.kind == ir::ExprKind::kLiteral && second.kind == ir::ExprKind::kLiteral;
      if (are_known && first.bits != second.bits) return false;
    }
    return true;
  }

  const ir::Function& function_;
  std::vector<Element> reads_;
  std::set<const ir::Assign*> found_;
};

std::set<const ir::Assign*> find_scattered_changes(const ir::Function& function) {
  return ir::uses_tiles(function) ? ScatteredChanges(function).take() : std::set<const ir::Assign*>();
}

}  // namespace

int threads_per_tile_block(const ir::Function& kernel) {
  if (!ir::uses_tiles(kernel)) return 0;
  bool is_of_threads = has_tiles_of_threads(kernel) || !find_scattered_changes(kernel).empty();
  for (const ir::Variable& variable : kernel.variables)
    is_of_threads = is_of_threads || variable.type.is_local_array();
  ir::for_each_statement(kernel.body, [&](const ir::Stmt& statement) {
    const auto* atomic = std::get_if<ir::Atomic>(&statement.node);
    is_of_threads = is_of_threads || (atomic != nullptr && !kernel.expr(atomic->value).type.is_tile());
  });
  return is_of_threads ? 1 : backends::kThreadsPerTileBlock;
}

StatementWriter::StatementWriter(const ir::Module& module, const ir::Function& function, ModuleLevelNames& file,
                                 NamePool names)
    : function_(function),
      variable_names_(name_variables(function, names)),
      expression_writer_(module, function, file, variable_names_),
      decorator_(function.is_kernel ? "kernel" : "func"),
      is_tiled_(ir::uses_tiles(function)),
      scattered_changes_(find_scattered_changes(function)),
      guards_(find_unassigned_guards(function)),
      written_parameter_count_(function.parameter_count) {
  collect_changed_in_loops(function.body, false, non_constant_variables_);
  std::set<ir::VarId> zeros;
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    const auto* let = std::get_if<ir::Let>(&statement.node);
    if (let == nullptr || let->value == ir::kNone) return;
    const ir::Expr& value = function.expr(let->value);
    if (value.kind == ir::ExprKind::kLiteral && value.bits == 0) zeros.insert(let->variable);
  });
  for (const ir::Expr& expr : function.expressions) {
    if (expr.kind != ir::ExprKind::kOperation || (expr.op != ir::Op::kCast && expr.op != ir::Op::kNeg)) continue;
    const ir::Expr& operand = function.expr(expr.args[0]);
    if (operand.kind != ir::ExprKind::kVariable) continue;
    if (expr.op == ir::Op::kCast || zeros.contains(operand.variable)) non_constant_variables_.insert(operand.variable);
  }
}

void StatementWriter::customize(const ir::Function& of, std::string_view of_name, bool is_gradient) {
  decorator_ = fmt::format("{}({})", is_gradient ? "func_grad" : "func_replay", of_name);
  is_replay_ = !is_gradient;
  if (!is_gradient) return;
  written_parameter_count_ = of.parameter_count + static_cast<int>(of.results.size());
  if (function_.parameter_count > written_parameter_count_) {
    auto adjoint = static_cast<std::size_t>(written_parameter_count_);
    for (const ir::VarId array : ir::adjoint_array_targets(of))
      variable_names_[adjoint++] = fmt::format("wp.adjoint[{}]", name(array));
  }
  const auto& statements = function_.body.statements;
  const auto* leave = statements.empty() ? nullptr : std::get_if<ir::Return>(&statements.back().node);
  if (leave == nullptr) return;
  last_statement_ = &statements.back();
  // A gradient returns sums that are named for the parameters, in order.
  std::size_t p = 0;
  for (const ir::ExprId id : leave->values) {
    const ir::Expr& value = function_.expr(id);
    if (value.kind != ir::ExprKind::kVariable || function_.is_parameter(value.variable)) {
      return expression_writer_.fail(
          last_statement_->loc, "a gradient function must return the local variables in which it accumulates adjoints");
    }
    const std::string adjoint = "adj_";
    while (p < static_cast<std::size_t>(of.parameter_count) &&
           adjoint + of.variables[p].name != function_.var(value.variable).name)
      ++p;
    if (p == static_cast<std::size_t>(of.parameter_count)) {
      return expression_writer_.fail(
          last_statement_->loc,
          "a gradient function must name its adjoint variables after the parameters, in their order: adj_x for x");
    }
    adjoint_variables_.push_back(value.variable);
    variable_names_[static_cast<std::size_t>(value.variable)] = fmt::format("wp.adjoint[{}]", variable_names_[p++]);
  }
}

void StatementWriter::return_(const ir::Return& leave, ir::Loc loc) {
  if (adjoint_variables_.empty()) {
    return line(leave.values.empty() ? "return" : concat("return ", expression_writer_.list(leave.values)));
  }
  for (std::size_t i = 0; i < adjoint_variables_.size(); ++i) {
    const ir::Expr& value = function_.expr(leave.values[i]);
    if (value.kind != ir::ExprKind::kVariable || value.variable != adjoint_variables_[i])
      expression_writer_.fail(loc, "a gradient function must return the same variables at every return");
  }
  line("return");
}

std::string StatementWriter::definition(std::string_view name) {
  body_text_.clear();
  for (const std::string& annotation : function_.annotations)
    append(body_text_, "# ", annotation, "\n");
  append(body_text_, "@wp.", decorator_, "\n");
  lines_before_def_ = static_cast<int>(function_.annotations.size()) + 1;
  const std::string head = signature(name);
  body_text_ += head;
  line_count_ = lines_before_def_ + static_cast<int>(std::ranges::count(head, '\n'));
  statement_locations_.clear();
  if (function_.is_kernel) {
    const auto first = variable_names_.begin() + function_.parameter_count;
    line(fmt::format("{} = wp.tid()", fmt::join(first, first + function_.launch_rank, ", ")));
  }
  if (!function_.is_kernel || !function_.body.statements.empty()) block(function_.body);
  return body_text_;
}

std::string StatementWriter::signature(std::string_view name) {
  std::vector<std::string> parameters;
  for (ir::VarId i = 0; i < written_parameter_count_; ++i)
    parameters.push_back(concat(this->name(i), ": ", expression_writer_.annotation(function_.var(i).type)));
  // Warp counts the annotation of a replay's result as one of its arguments, and rejects the replay.
  const bool has_result = function_.results.size() == 1 && adjoint_variables_.empty() && !is_replay_;
  const std::string result =
      has_result ? concat(" -> ", expression_writer_.annotation(function_.results[0])) : std::string();
  std::string text = fmt::format("def {}({}){}:\n", name, fmt::join(parameters, ", "), result);
  if (text.size() <= kLineLength + 1) return text;
  return fmt::format("def {}(\n    {},\n){}:\n", name, fmt::join(parameters, ",\n    "), result);
}

void StatementWriter::place(ir::Function& function, std::string name, int first) const {
  function.name = std::move(name);
  function.loc = {.line = first + lines_before_def_, .column = 1};
  for (std::size_t i = 0; i < variable_names_.size(); ++i)
    function.variables[i].name = variable_names_[i];
  auto next = statement_locations_.begin();
  ir::for_each_statement(function.body, [&](ir::Stmt& statement) {
    statement.loc = {.line = first + next->line, .column = next->column};
    ++next;
  });
}

void StatementWriter::block(const ir::Block& block) {
  const std::size_t before = body_text_.size();
  for (const ir::Stmt& inner : block.statements)
    statement(inner);
  // Adjoint variables are not declared, so that even a block with statements may have no text.
  if (body_text_.size() == before) line("pass");
}

bool StatementWriter::belongs_to_guard(const ir::Stmt& statement) const {
  if (const auto* let = std::get_if<ir::Let>(&statement.node))
    return guards_.variables.contains(let->variable) || guards_.declarations.contains(let);
  const auto* assign = std::get_if<ir::Assign>(&statement.node);
  return assign != nullptr && guards_.variables.contains(assign->variable);
}

void StatementWriter::statement(const ir::Stmt& statement) {
  statement_locations_.push_back(here());
  if (changed_operand_) return change_operand(statement);
  if (belongs_to_guard(statement)) return;
  std::visit(Overloaded{
                 [&](const ir::Let& node) { let(node, statement.loc); },
                 [&](const ir::Assign& node) { assign(node); },
                 [&](const ir::Store& node) {
                   if (function_.expr(node.value).type.is_tile()) return write_tile_change("tile_store", node);
                   write_assignment(fmt::format("{}[{}]", expression_writer_.operand(node.array, Precedence::kPostfix),
                                                expression_writer_.indices(node.indices)),
                                    ir::stored_part(function_, node), node.is_augmented);
                 },
                 [&](const ir::Atomic& node) { atomic(node); },
                 [&](const ir::Call& node) { call(node); },
                 [&](const ir::If& node) { if_(node, "if"); },
                 [&](const ir::For& node) { for_(node); },
                 [&](const ir::While& node) {
                   line("while ", expression_writer_.write(node.condition), ":");
                   ++indent_level_;
                   block(node.body);
                   --indent_level_;
                 },
                 [&](const ir::Break&) { line("break"); },
                 [&](const ir::Continue&) { line("continue"); },
                 [&](const ir::Return& node) {
                   if (&statement != last_statement_) return_(node, statement.loc);
                 },
             },
             statement.node);
}

std::string StatementWriter::value_of(ir::VarId variable, ir::ExprId value) {
  return non_constant_variables_.contains(variable) ? expression_writer_.write_variable_start(value)
                                                    : expression_writer_.write(value);
}

void StatementWriter::let(const ir::Let& let, ir::Loc loc) {
  const ir::Type type = function_.var(let.variable).type;
  if (is_adjoint(let.variable)) {
    if (let.value != ir::kNone)
      expression_writer_.fail(loc, "an adjoint variable of a gradient function must be initialized with zero");
    return;
  }
  if (type.is_local_array()) {
    line(fmt::format("{} = wp.zeros(shape={}, dtype={})", name(let.variable), type.extent,
                     expression_writer_.constructor(type.element())));
    return;
  }
  if (let.value != ir::kNone) {
    line(name(let.variable), " = ", value_of(let.variable, let.value));
  } else if (type.is_tile()) {
    line(name(let.variable), " = ", expression_writer_.tile_zeros(type));
  } else if (type.is_scalar()) {
    line(name(let.variable), " = ", spell_scalar(type.scalar), "(", spell_number(type.scalar, 0), ")");
  } else {
    line(name(let.variable), " = ", expression_writer_.constructor(type), "()");
  }
}

void StatementWriter::write_scattered(const ir::Assign& assign) {
  const ir::Expr& inserted = function_.expr(assign.value);
  const std::vector<ir::ExprId> indices(inserted.args.begin() + 1, inserted.args.end() - 1);
  const ir::ExprId value = inserted.args.back();
  const std::string place = concat(name(assign.variable), ", ", expression_writer_.indices(indices));
  const ir::Expr& sum = function_.expr(value);
  const bool is_sum = sum.kind == ir::ExprKind::kOperation && sum.op == ir::Op::kAdd;
  const ir::Expr* const read = is_sum ? &function_.expr(sum.args[0]) : nullptr;
  const auto is_place = [&](const ir::Expr& expr) {
    if (expr.kind != ir::ExprKind::kOperation || expr.op != ir::Op::kTileExtract) return false;
    for (std::size_t k = 0; k < expr.args.size(); ++k)
      if (!ir::same_expression(function_, expr.args[k], expression_writer_.unwrapped_index(inserted.args[k])))
        return false;
    return true;
  };
  if (read != nullptr && is_place(*read))
    return line("wp.tile_scatter_add(", place, ", ", expression_writer_.write(sum.args[1]), ", True)");
  line("wp.tile_scatter_masked(", place, ", ", expression_writer_.write(value), ", True)");
}

void StatementWriter::assign(const ir::Assign& assign) {
  if (scattered_changes_.contains(&assign)) return write_scattered(assign);
  const auto reads_variable = [&](ir::ExprId id) {
    const ir::Expr& expr = function_.expr(id);
    return expr.kind == ir::ExprKind::kVariable && expr.variable == assign.variable;
  };
  const ir::Expr& value = function_.expr(assign.value);
  if (value.kind != ir::ExprKind::kOperation) {
    line(name(assign.variable), " = ", value_of(assign.variable, assign.value));
  } else if (const std::string_view sign = augmented(value.op); !sign.empty() && reads_variable(value.args[0])) {
    line(name(assign.variable), " ", sign, "= ", expression_writer_.write(value.args[1]));
  } else {
    write_assignment(name(assign.variable), ir::assigned_part(function_, assign), assign.is_augmented);
  }
}

std::string StatementWriter::part_of(std::string place, const std::vector<ir::ElementPartStep>& path) {
  for (std::size_t k = 0; k < path.size(); ++k) {
    const ir::ElementPartStep& step = path[k];
    if (step.field_index != ir::kNone) {
      place += "." + expression_writer_.field_name(step.whole_type, step.field_index);
    } else if (step.whole_type.is_matrix() && k + 1 < path.size()) {
      place += fmt::format("[{}, {}]", expression_writer_.index(step.index), expression_writer_.index(path[++k].index));
    } else {
      place += fmt::format("[{}]", expression_writer_.index(step.index));
    }
  }
  return place;
}

void StatementWriter::write_assignment(std::string place, const ir::ChangedElementPart& part, bool is_augmented) {
  place = part_of(std::move(place), part.path);
  const ir::Expr& value = function_.expr(part.value);
  if (part.combines_with_old_value && value.op == ir::Op::kTileInsert) {
    const std::vector<ir::ExprId> indices(value.args.begin() + 1, value.args.end() - 1);
    line(fmt::format("{}[{}] = {}", place, expression_writer_.indices(indices),
                     expression_writer_.write(value.args.back())));
  } else if (part.combines_with_old_value && value.op == ir::Op::kTileAssign) {
    const std::vector<ir::ExprId> offsets(value.args.begin() + 1, value.args.end() - 1);
    line(fmt::format("wp.tile_assign({}, {}, offset=({}{}))", place, expression_writer_.write(value.args.back()),
                     expression_writer_.indices(offsets), offsets.size() == 1 ? "," : ""));
  } else if (const std::string_view sign = in_place_operator(value.op);
             part.combines_with_old_value && !sign.empty() && (is_augmented || place.starts_with("wp.adjoint["))) {
    line(place, sign, expression_writer_.write(value.args[1]));
  } else {
    line(place, " = ", expression_writer_.write(part.value));
  }
}

namespace {

/// The operator of Python that stands for an atomic.
std::string_view augmented_operator(ir::AtomicOp op) {
  switch (op) {
    case ir::AtomicOp::kSub: return " -= ";
    case ir::AtomicOp::kAnd: return " &= ";
    case ir::AtomicOp::kOr: return " |= ";
    case ir::AtomicOp::kXor: return " ^= ";
    default: return " += ";
  }
}

}  // namespace

void StatementWriter::atomic(const ir::Atomic& atomic) {
  if (function_.expr(atomic.value).type.is_tile()) return write_tile_change("tile_atomic_add", atomic);
  if (const ir::ChangedElementPart part = ir::updated_part(expression_writer_.module(), function_, atomic);
      !part.path.empty()) {
    const std::string element =
        fmt::format("{}[{}]", expression_writer_.write(atomic.array), expression_writer_.indices(atomic.indices));
    return line(part_of(element, part.path), augmented_operator(atomic.op), expression_writer_.write(part.value));
  }
  if (is_tiled_ && atomic.op == ir::AtomicOp::kAdd && atomic.result == ir::kNone) return add_value_of_thread(atomic);
  if (is_tiled_ && !has_tiles_of_threads(function_))
    return expression_writer_.fail(statement_locations_.back(), "Warp has no such atomic in a kernel with tiles");
  std::string arguments = expression_writer_.write(atomic.array) + ", " + expression_writer_.indices(atomic.indices);
  if (atomic.compare_operand != ir::kNone) arguments += ", " + expression_writer_.write(atomic.compare_operand);
  arguments += ", " + expression_writer_.write(atomic.value);
  const std::string target = atomic.result == ir::kNone ? "" : name(atomic.result) + " = ";
  statement_locations_.back().column += static_cast<int>(target.size());  // the reader uses the location of the call
  line(target, "wp.", row(atomic.op).warp_name, "(", arguments, ")");
}

void StatementWriter::add_value_of_thread(const ir::Atomic& atomic) {
  // The tile has one dimension; the other indices select a row of the array.
  const std::vector<ir::ExprId> rows(atomic.indices.begin(), atomic.indices.end() - 1);
  std::string array = expression_writer_.operand(atomic.array, Precedence::kPostfix);
  if (!rows.empty()) array += fmt::format("[{}]", expression_writer_.indices(rows));
  // wp.tile accepts the value of an element, but not the element itself.
  const ir::Expr& value = function_.expr(atomic.value);
  const bool is_element = value.kind == ir::ExprKind::kLoad;
  const std::string text = is_element ? concat("+", expression_writer_.operand(atomic.value, Precedence::kUnary))
                                      : expression_writer_.write(atomic.value);
  line(fmt::format("wp.tile_atomic_add({}, wp.tile({}{}), offset={}, bounds_check=False)", array, text,
                   value.type.is_scalar() ? "" : ", preserve_type=True",
                   expression_writer_.index(atomic.indices.back())));
}

void StatementWriter::change_operand(const ir::Stmt& statement) {
  const ChangedOperand changed = *changed_operand_;
  changed_operand_.reset();
  statement_locations_.back() = changed.loc;
  const auto* const assign = std::get_if<ir::Assign>(&statement.node);
  const ir::Expr* const value = assign != nullptr ? &function_.expr(assign->value) : nullptr;
  const bool is_change = assign != nullptr && assign->variable == changed.variable &&
                         value->kind == ir::ExprKind::kVariable && value->variable == changed.new_value;
  if (!is_change)
    expression_writer_.fail(statement.loc, "a call that changes a variable must be followed by its assignment");
}

void StatementWriter::call(const ir::Call& call) {
  std::vector<std::string> targets;
  for (const ir::VarId result : call.results)
    targets.push_back(name(result));
  const bool changes = expression_writer_.changes_first_operand(call.function);
  if (changes) {
    targets.pop_back();
    variable_names_[static_cast<std::size_t>(call.results.back())] = "next_state";  // not written; the reader's name
  }
  const std::string results = fmt::format("{}{}", fmt::join(targets, ", "), targets.empty() ? "" : " = ");
  statement_locations_.back().column += static_cast<int>(results.size());  // the reader uses the location of the call
  if (changes)
    changed_operand_ = ChangedOperand{.variable = function_.expr(call.args[0]).variable,
                                      .new_value = call.results.back(),
                                      .loc = statement_locations_.back()};
  line(results, expression_writer_.function_name(call.function), "(", expression_writer_.list(call.args), ")");
}

void StatementWriter::if_(const ir::If& branch, std::string_view keyword) {
  line(keyword, " ", expression_writer_.write(branch.condition), ":");
  ++indent_level_;
  block(branch.then_block);
  --indent_level_;
  const auto& others = branch.else_block.statements;
  if (others.empty()) return;
  if (const auto* next = std::get_if<ir::If>(&others[0].node); next != nullptr && others.size() == 1) {
    statement_locations_.push_back(here());
    if_(*next, "elif");
    return;
  }
  line("else:");
  ++indent_level_;
  block(branch.else_block);
  --indent_level_;
}

bool StatementWriter::is_literal_i32(ir::ExprId id, std::int64_t value) const {
  const ir::Expr& expr = function_.expr(id);
  return expr.kind == ir::ExprKind::kLiteral && expr.type == ir::kI32 && expr.bits == static_cast<std::uint64_t>(value);
}

void StatementWriter::for_(const ir::For& loop) {
  std::string range = expression_writer_.write(loop.stop);
  const bool counts_up = is_literal_i32(loop.step, 1);
  if (!counts_up || !is_literal_i32(loop.start, 0)) range = expression_writer_.write(loop.start) + ", " + range;
  if (!counts_up) range += ", " + expression_writer_.write(loop.step);
  line("for ", name(loop.variable), " in range(", range, "):");
  ++indent_level_;
  block(loop.body);
  --indent_level_;
}

}  // namespace assay::source::warp
