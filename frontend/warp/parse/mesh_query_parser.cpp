// The part of WarpExpressionParser that parses queries of meshes.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/warp/parse/expression_parser.hpp"
#include "frontend/warp/parse/hidden_parameters.hpp"
#include "frontend/warp/parse/mesh_queries.hpp"
#include "frontend/warp/parse/spatial_queries.hpp"

namespace assay::frontend {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::VarId;

namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// A list of parameters of a query in Warp, and what the parameters are.
struct QueryForm {
  std::vector<std::string_view> words;  ///< names of the parameters
  std::size_t main_count = 0;           ///< number of the parameters up to the first one that may be omitted
  std::size_t output_count = 0;         ///< number of the parameters that receive results, which follow these
  bool has_root = false;                ///< whether the last one is `root`

  std::string names() const { return fmt::format("{}", fmt::join(words, " ")); }
  std::size_t default_count() const { return words.size() - main_count - output_count - (has_root ? 1 : 0); }
};

/// All lists, those with fewer parameters first.
std::vector<QueryForm> forms_of(const MeshQuery& query) {
  const std::vector<std::string_view> all = words_of(query.parameters);
  const std::vector<std::string_view> outputs = words_of(query.outputs);
  const auto main_end = all.end() - static_cast<std::ptrdiff_t>(query.defaults.size());
  std::vector<QueryForm> forms;
  for (const bool has_outputs : {false, true}) {
    if (has_outputs && outputs.empty()) break;
    QueryForm form{.words = {all.begin(), main_end}, .main_count = all.size() - query.defaults.size()};
    if (has_outputs) {
      form.words.insert(form.words.end(), outputs.begin(), outputs.end());
      form.output_count = outputs.size();
    }
    forms.push_back(form);
    for (auto given = main_end; given != all.end(); ++given) {
      form.words.push_back(*given);
      forms.push_back(form);
    }
    if (!query.has_root) continue;
    form.words.emplace_back("root");
    form.has_root = true;
    forms.push_back(form);
  }
  return forms;
}

/// The field of the result that a parameter receives.
std::string_view field_of_output(std::string_view parameter) {
  return parameter == "inside" ? "sign" : parameter == "bary_u" ? "u" : parameter == "bary_v" ? "v" : parameter;
}

/// The expression without parentheses and `not` around it.
SyntaxNode without_not(SyntaxNode node) {
  while ((node.is(SyntaxKind::kParenthesized) && node.children().size() == 1) || node.is(SyntaxKind::kNot))
    node = node.is(SyntaxKind::kNot) ? node.part(SyntaxField::kArgument) : node.children()[0];
  return node;
}

}  // namespace

bool changes_query_arguments(SyntaxNode call, std::string_view name) {
  if (continued_kind(name)) return true;
  const MeshQuery* const query = find_mesh_query(name);
  if (query == nullptr || query->outputs.empty()) return false;
  const CallArguments arguments = arguments_of(call);
  const std::size_t without_outputs = query->operands.size() + 1 + (query->has_root ? 1 : 0);
  return arguments.positional_arguments.size() + arguments.keyword_arguments.size() > without_outputs;
}

void WarpExpressionParser::note_whole_condition(SyntaxNode node) { context_.whole_condition = without_not(node).id(); }

ExprId WarpExpressionParser::mesh_query(SyntaxNode node, const MeshQuery& query) {
  const std::vector<QueryForm> forms = forms_of(query);
  std::vector<SyntaxNode> given;
  const auto form = std::ranges::find_if(forms, [&](const QueryForm& each) {
    const std::string names = each.names();
    return match_named_arguments(node, {names}, given) && given.size() == each.words.size();
  });
  if (form == forms.end()) {
    return context_.error(node, query.outputs.empty() ? fmt::format("expected the arguments {}", query.parameters)
                                                      : fmt::format("expected the arguments {} or {}", query.parameters,
                                                                    forms.back().names()));
  }
  const bool of_group = selects_group(node, query);
  const SyntaxNode root = form->has_root ? given.back() : SyntaxNode();
  if (form->has_root) given.pop_back();
  const auto outputs_begin = given.begin() + static_cast<std::ptrdiff_t>(form->main_count);
  const auto outputs_end = outputs_begin + static_cast<std::ptrdiff_t>(form->output_count);
  const std::vector<SyntaxNode> outputs(outputs_begin, outputs_end);
  given.erase(outputs_begin, outputs_end);
  std::vector<HiddenParameter> arrays;
  if (!query.visits_faces) arrays = {HiddenParameter::kMeshPoints, HiddenParameter::kMeshIndices};
  if (of_group) arrays.push_back(HiddenParameter::kMeshGroups);
  const std::size_t loads_before = context_.loaded_arrays.size();
  std::vector<ExprId> arguments = spatial_arguments(node, SpatialKind::kMesh, arrays, given);
  if (arguments.empty() || !have_types(given, arguments, query.operands)) return kNone;
  for (std::size_t k = given.size() - 1; k < query.operands.size(); ++k) {
    const double number = query.defaults[k + query.defaults.size() - query.operands.size()];
    arguments.push_back(query.operands[k] == ir::kI32 ? context_.builder.i32(static_cast<std::int64_t>(number))
                                                      : context_.builder.f32(number));
  }
  if (of_group) {
    const ExprId selected = value(root);
    if (selected == kNone) return kNone;
    if (context_.type_of(selected) != ir::kI32) {
      return context_.error(root,
                            fmt::format("expected int32, got {}", context_.type_name(context_.type_of(selected))));
    }
    arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(arrays.size()) + 1, selected);
  }
  context_.builder.at(node.loc());
  const ExprId result = context_.builder.call(function_of_query(context_.file, query, of_group), arguments);
  return outputs.empty() ? result : assign_outputs(node, query, result, outputs, loads_before);
}

/// Assigns the fields of the result to the variables that the call passes, if something was found. Returns whether
/// something was found.
ExprId WarpExpressionParser::assign_outputs(SyntaxNode call, const MeshQuery& query, ExprId result,
                                            std::span<const SyntaxNode> outputs, std::size_t loads_before) {
  ir::Builder& b = context_.builder;
  const VarId found = b.let("found", result);
  if (!can_change_variables(call, loads_before, found)) return kNone;
  const auto fields = context_.file.module().structs[context_.type_of(result).struct_id].fields;
  const auto field = [&](std::string_view name) {
    const auto at = std::ranges::find(fields, name, &ir::Field::name);
    return b.field(b.var(found), static_cast<int>(at - fields.begin()));
  };
  const std::vector<std::string_view> names = words_of(query.outputs);
  std::vector<VarId> variables;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    variables.push_back(changed_variable(outputs[k], context_.type_of(field(field_of_output(names[k])))));
    if (variables.back() == kNone) return kNone;
  }
  b.at(call.loc());
  b.if_(field("result"), [&] {
    for (std::size_t k = 0; k < outputs.size(); ++k)
      b.assign(variables[k], field(field_of_output(names[k])));
  });
  return field("result");
}

/// Whether a call that changes `variable`, among others, may stand at this place. Reports an error if not.
bool WarpExpressionParser::can_change_variables(SyntaxNode call, std::size_t loads_before, VarId variable) {
  const bool is_whole = context_.whole_value == call.id() || context_.whole_condition == call.id();
  if (!is_whole) {
    context_.error(call,
                   "a call that changes variables must be a statement of its own, the whole value that a statement "
                   "assigns, or a condition or operand of `and`, `or` or `not` in a condition");
    return false;
  }
  return can_evaluate_effect(call, loads_before, variable);
}

/// The variable that a call changes; kNone after a reported error.
VarId WarpExpressionParser::changed_variable(SyntaxNode node, ir::Type type) {
  const VarId variable = node.is(SyntaxKind::kIdentifier) ? context_.bindings.find(node.text()) : kNone;
  const ir::Function& function = context_.function;
  const bool is_variable = variable != kNone && !FunctionContext::is_alias(variable) &&
                           !function.is_parameter(variable) && !function.is_thread_index(variable);
  if (!is_variable || function.var(variable).type != type) {
    return context_.error(
        node, fmt::format("argument must be a variable of type {} that the call changes", context_.type_name(type)));
  }
  if (context_.literals_by_variable.contains(variable)) {
    return context_.error(
        node, "Warp treats a variable that is initialized with a bare literal as a constant; write x = int(0)");
  }
  return variable;
}

}  // namespace assay::frontend
