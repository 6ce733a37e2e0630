#include "reference/cpu/findings.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/guard_array.hpp"
#include "ir/source_location.hpp"
#include "ir/visit.hpp"

namespace assay::reference {
namespace {

constexpr std::array<std::string_view, 9> kKinds = {
    "index out of bounds",
    "read of an uninitialized element",
    "race between two threads",
    "result depends on the order of threads",
    "integer division by zero or overflow",
    "signed integer overflow",
    "shift count is negative or not less than the bit width",
    "float is outside the range of the integer type it is converted to",
    "instruction limit exceeded: infinite loop or too many iterations",
};

bool same_place(const Finding& a, const Finding& b) {
  return a.kind == b.kind && a.parameter == b.parameter && a.loc.line == b.loc.line && a.loc.column == b.loc.column;
}

/// Whether the index of some dimension is greater than in the other finding.
bool is_farther(const Finding& finding, const Finding& other) {
  return !std::ranges::equal(finding.index, other.index, std::ranges::less_equal());
}

/// The variable that a load at the location found unassigned; empty if there is none.
std::string_view unassigned_variable(ir::Loc loc, const ir::Function& function) {
  for (const ir::Expr& expr : function.expressions) {
    if (expr.kind != ir::ExprKind::kLoad || expr.loc.line != loc.line || expr.loc.column != loc.column) continue;
    const ir::Variable& guard = function.var(function.expr(expr.args[0]).variable);
    if (guard.type == ir::kUnassignedGuardArrayType && guard.name.ends_with(ir::kUnassignedGuardArraySuffix))
      return std::string_view(guard.name).substr(0, guard.name.size() - ir::kUnassignedGuardArraySuffix.size());
  }
  return {};
}

std::string_view unassigned_variable(const Finding& finding, const ir::Module& module, const ir::Function& kernel) {
  if (finding.kind != Finding::Kind::kOutOfBounds || finding.parameter != ir::kNone) return {};
  std::string_view name = unassigned_variable(finding.loc, kernel);
  for (std::size_t f = 0; name.empty() && f < module.functions.size(); ++f)
    name = unassigned_variable(finding.loc, module.functions[f]);
  return name;
}

/// The local array, vector, matrix or quaternion of which an expression at the location reads or replaces an element.
/// Empty if there is none, if it has no name, or if there are several.
std::string_view indexed_variable(ir::Loc loc, const ir::Function& function) {
  std::string_view found;
  bool is_ambiguous = false;
  const auto is_here = [&](ir::Loc other) { return other.line == loc.line && other.column == loc.column; };
  const auto note = [&](ir::ExprId indexed) {
    const ir::Expr& expr = function.expr(indexed);
    const std::string_view name =
        expr.kind == ir::ExprKind::kVariable ? function.var(expr.variable).name : std::string_view();
    is_ambiguous = is_ambiguous || name.empty() || (!found.empty() && found != name);
    found = name;
  };
  for (const ir::Expr& expr : function.expressions) {
    const bool is_component =
        expr.kind == ir::ExprKind::kOperation && (expr.op == ir::Op::kExtract || expr.op == ir::Op::kInsert);
    const bool is_load = expr.kind == ir::ExprKind::kLoad && function.expr(expr.args[0]).type.is_local_array();
    if (is_here(expr.loc) && (is_component || is_load)) note(expr.args[0]);
  }
  ir::for_each_statement(function.body, [&](const ir::Stmt& statement) {
    const auto* store = std::get_if<ir::Store>(&statement.node);
    if (store != nullptr && is_here(statement.loc) && function.expr(store->array).type.is_local_array())
      note(store->array);
  });
  return is_ambiguous ? std::string_view() : found;
}

std::string_view indexed_variable(const Finding& finding, const ir::Module& module, const ir::Function& kernel) {
  if (finding.kind != Finding::Kind::kOutOfBounds || finding.parameter != ir::kNone) return {};
  std::string_view name = indexed_variable(finding.loc, kernel);
  for (std::size_t f = 0; name.empty() && f < module.functions.size(); ++f)
    name = indexed_variable(finding.loc, module.functions[f]);
  return name;
}

}  // namespace

void FindingLog::add(Finding finding) {
  std::size_t alike = 0;
  Finding* last = nullptr;
  bool is_farthest = true;
  for (Finding& known : findings_) {
    if (!same_place(known, finding)) continue;
    ++alike;
    last = &known;
    is_farthest = is_farthest && is_farther(finding, known);
  }
  if (alike < kMaxFindingsPerLocation) {
    if (findings_.size() < kMaxFindings) findings_.push_back(std::move(finding));
  } else if (is_farthest) {
    *last = std::move(finding);
  }
}

bool is_read_before_assignment(const Finding& finding, const ir::Module& module, const ir::Function& kernel) {
  return !unassigned_variable(finding, module, kernel).empty();
}

std::string describe(const Finding& finding, const ir::Module& module, const ir::Function& kernel) {
  if (const std::string_view name = unassigned_variable(finding, module, kernel); !name.empty()) {
    return fmt::format("{}: variable {} is used before it is assigned in thread {}", ir::line_text(module, finding.loc),
                       name, finding.thread);
  }
  std::string text =
      fmt::format("{}: {}", ir::line_text(module, finding.loc), kKinds[static_cast<std::size_t>(finding.kind)]);
  const std::string_view local = indexed_variable(finding, module, kernel);
  if (finding.parameter != ir::kNone) text += fmt::format(": {}", kernel.var(finding.parameter).name);
  else if (!local.empty()) text += fmt::format(": {}", local);
  else if (finding.kind == Finding::Kind::kOutOfBounds) text += ": ";
  if (!finding.index.empty()) text += fmt::format("[{}]", fmt::join(finding.index, ", "));
  if (!finding.shape.empty()) text += fmt::format(" of shape ({})", fmt::join(finding.shape, ", "));
  text += fmt::format(", thread {}", finding.thread);
  if (finding.earlier_thread >= 0)
    text += fmt::format(", and {} in thread {}", ir::line_text(module, finding.earlier_loc), finding.earlier_thread);
  return text;
}

}  // namespace assay::reference
