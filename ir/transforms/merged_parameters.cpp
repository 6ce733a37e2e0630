#include "ir/transforms/merged_parameters.hpp"

#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/visit.hpp"

namespace assay::transforms {

using namespace ir;

namespace {

bool is_part_of_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// Replaces the word wherever no other letters are next to it.
std::string with_word(std::string text, std::string_view word, std::string_view other) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    const std::size_t end = at + word.size();
    const bool is_word =
        (at == 0 || !is_part_of_word(text[at - 1])) && (end == text.size() || !is_part_of_word(text[end]));
    if (is_word) text.replace(at, word.size(), other);
    at += is_word ? other.size() : word.size();
  }
  return text;
}

}  // namespace

Function merge_parameters(Function kernel, std::span<const VarId> same_as) {
  const auto is_merged = [&](VarId v) { return kernel.is_parameter(v) && same_as[static_cast<std::size_t>(v)] != v; };
  // The new number of each variable.
  std::vector<VarId> number(kernel.variables.size());
  std::vector<Variable> kept;
  for (VarId v = 0; v < std::ssize(kernel.variables); ++v) {
    if (is_merged(v)) continue;
    number[static_cast<std::size_t>(v)] = static_cast<VarId>(kept.size());
    kept.push_back(kernel.var(v));
  }
  for (VarId p = 0; p < kernel.parameter_count; ++p) {
    if (!is_merged(p)) continue;
    const VarId other = same_as[static_cast<std::size_t>(p)];
    number[static_cast<std::size_t>(p)] = number[static_cast<std::size_t>(other)];
    for (std::string& annotation : kernel.annotations)
      annotation = with_word(std::move(annotation), kernel.var(p).name, kernel.var(other).name);
  }
  const auto renumber = [&](VarId& variable) {
    if (variable != kNone) variable = number[static_cast<std::size_t>(variable)];
  };
  for (Expr& expr : kernel.expressions)
    renumber(expr.variable);
  for_each_statement(kernel.body, [&](Stmt& statement) {
    for_each_declared_variable(statement, renumber);
    if (auto* assign = std::get_if<Assign>(&statement.node)) renumber(assign->variable);
  });
  kernel.parameter_count -= static_cast<int>(kernel.variables.size() - kept.size());
  kernel.variables = std::move(kept);
  return kernel;
}

}  // namespace assay::transforms
