// The part of WarpFileParser that instantiates generic kernels without an overload. Warp infers their types from the
// launch, whose arguments are known only to Python. Such a kernel is instantiated with the first of the common types
// that its body supports, as if the file called wp.overload, and a note reports the types.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/warp/parse/file_parser.hpp"

namespace assay::frontend {
namespace {

/// Types in Python syntax; Warp's types without the module name.
struct Guess {
  std::string_view element;  ///< for Any as an array element
  std::string_view value;    ///< for Any as a parameter type
};

/// In order of preference: the first supported one is used.
constexpr auto kGuesses = std::to_array<Guess>({{"float", "float"},
                                                {"vec3", "float"},
                                                {"vec3", "vec3"},
                                                {"float", "int"},
                                                {"mat33", "float"},
                                                {"int", "int"},
                                                {"int", "float"},
                                                {"float", "vec3"}});

/// The largest number of indices of each name: its dimensions, if it is an array.
std::map<std::string_view, std::size_t> most_indices_in(SyntaxNode body) {
  std::map<std::string_view, std::size_t> most;
  const auto collect = [&](const auto& self, SyntaxNode at) -> void {
    if (at.is(SyntaxKind::kSubscript) && at.part(SyntaxField::kValue).is(SyntaxKind::kIdentifier)) {
      const std::span<const SyntaxNode> indices = at.children().subspan(1);
      const bool is_tuple = indices.size() == 1 && indices[0].is(SyntaxKind::kTuple);
      std::size_t& count = most[at.part(SyntaxField::kValue).text()];
      count = std::max(count, is_tuple ? indices[0].children().size() : indices.size());
    }
    for (const SyntaxNode child : at.children())
      self(self, child);
  };
  collect(collect, body);
  return most;
}

/// Replaces the generic parts of annotations by types.
class Specializer {
 public:
  Specializer(const ModuleScope& scope, const Guess& guess)
      : scope_(scope), warp_(scope.name_of_warp()), guess_(guess) {}

  /// `rank`: the dimensions that the parameter has if it is an array.
  std::string spell(SyntaxNode annotation, std::size_t rank) const {
    const bool is_array = rank > 0 && guess_.value != "vec3" && generic_name(annotation) == "Any" && !warp_.empty();
    if (is_array) return fmt::format("{}.array(dtype={}, ndim={})", warp_, of_warp(guess_.element), rank);
    return spell(annotation, Where::kParameter);
  }

 private:
  enum class Where : std::uint8_t { kParameter, kArray, kVector, kExtent };

  std::string spell(SyntaxNode node, Where where) const {
    if (const std::string_view name = generic_name(node); !name.empty()) return type_for(name, where);
    std::string text(node.text());
    const std::span<const SyntaxNode> children = node.children();
    for (std::size_t i = children.size(); i-- > 0;) {
      if (!is_generic(children[i])) continue;
      const std::string_view child = children[i].text();
      const auto offset = static_cast<std::size_t>(child.data() - node.text().data());
      text.replace(offset, child.size(), spell(children[i], where_in(node, i, where)));
    }
    return text;
  }

  /// The role of child i of a node whose role is `outer`.
  Where where_in(SyntaxNode node, std::size_t i, Where outer) const {
    if (node.is(SyntaxKind::kCall) || node.is(SyntaxKind::kSubscript)) {
      const std::string head =
          scope_.warp_name(node.part(node.is(SyntaxKind::kCall) ? SyntaxField::kFunction : SyntaxField::kValue));
      if (array_rank(head) > 0) return Where::kArray;
      if (head == "types.vector" || head == "types.matrix") return Where::kVector;
    }
    if (outer != Where::kVector) return outer;
    // The length or shape comes first, then the dtype.
    const SyntaxNode child = node.children()[i];
    if (node.is(SyntaxKind::kKeywordArgument))
      return node.part(SyntaxField::kName).text() == "dtype" ? Where::kParameter : Where::kExtent;
    const bool is_position = node.is(SyntaxKind::kArgumentList) && !child.is(SyntaxKind::kKeywordArgument);
    if (is_position) return i == 0 ? Where::kExtent : Where::kParameter;
    return outer;
  }

  /// Names of functions stay unchanged, because no function can be assumed.
  std::string type_for(std::string_view generic, Where where) const {
    if (where == Where::kExtent) return "3";
    if (generic == "Int") return "int";
    if (generic == "Float" || generic == "Scalar") return "float";
    if (generic != "Any") return std::string(generic);
    return of_warp(where == Where::kArray ? guess_.element : guess_.value);
  }

  std::string of_warp(std::string_view type) const {
    const bool is_builtin = type == "float" || type == "int";
    return is_builtin || warp_.empty() ? std::string(type) : fmt::format("{}.{}", warp_, type);
  }

  const ModuleScope& scope_;
  std::string warp_;
  const Guess& guess_;
};

}  // namespace

std::vector<ArgumentSpec> WarpFileParser::parse_types(const std::vector<std::string>& annotations,
                                                      const Environment& home) {
  const auto tree = SyntaxTree::parse(fmt::format("[{}]\n", fmt::join(annotations, ", ")));
  if (!tree.ok()) return {};
  std::vector<ArgumentSpec> types;
  for (const SyntaxNode statement : tree->root().children()) {
    for (const SyntaxNode list : statement.children()) {
      for (const SyntaxNode annotation : list.children()) {
        const auto type = home.scope.type(annotation);
        if (!type.ok()) return {};
        types.push_back(whole_argument(module(), *type));
      }
    }
  }
  return types.size() == annotations.size() ? types : std::vector<ArgumentSpec>();
}

void WarpFileParser::assume_types(SourceFunction& kernel) {
  const std::string unsaid = fmt::format("generic kernel has no wp.overload({}, ...) call", kernel.name);
  const std::vector<SyntaxNode> annotations = annotations_of(kernel);
  const auto most_indices = most_indices_in(kernel.definition.part(SyntaxField::kBody));
  std::vector<std::size_t> ranks(annotations.size());
  for (std::size_t p = 0; p < std::min(ranks.size(), kernel.parameter_names.size()); ++p) {
    const auto found = most_indices.find(kernel.parameter_names[p]);
    if (found != most_indices.end()) ranks[p] = found->second;
  }
  const std::size_t reported = result_.diagnostics.size();
  std::string first_failure;
  for (const Guess& guess : kGuesses) {
    const Specializer specializer(kernel.environment->scope, guess);
    std::vector<std::string> spelled;
    for (std::size_t p = 0; p < annotations.size(); ++p)
      spelled.push_back(specializer.spell(annotations[p], ranks[p]));
    std::vector<ArgumentSpec> types = parse_types(spelled, *kernel.environment);
    if (types.empty()) continue;
    SourceFunction& made = *instance(kernel, std::move(types));
    if (made.parse_state != SourceFunction::State::kUnparsed) continue;  // another guess gave the same types
    parse_entry(made);
    const std::string list = fmt::format("[{}]", fmt::join(spelled, ", "));
    if (made.parse_state == SourceFunction::State::kParsed) {
      kernel.generic_instances = {&made};
      kernel.parse_state = SourceFunction::State::kParsed;
      made.has_assumptions = true;
      const std::string warp = kernel.environment->scope.name_of_warp();
      if (kernel.environment->enclosing_environment == nullptr && !warp.empty())
        made.suggested_overload = fmt::format("{} = {}.overload({}, {})", made.name, warp, kernel.name, list);
      report({.severity = Severity::kNote,
              .loc = kernel.definition.loc(),
              .function = kernel.name,
              .construct_excerpt = "def " + kernel.name,
              .reason = fmt::format("{}; assuming types {}", unsaid, list)});
      return;
    }
    result_.diagnostics.resize(reported);
    next_suffix_by_kernel_name_.erase(made.name);
    if (first_failure.empty()) first_failure = fmt::format("; assuming types {}: {}", list, made.rejection_reason);
  }
  kernel.generic_instances.clear();
  reject(kernel, unsaid + first_failure);
}

}  // namespace assay::frontend
