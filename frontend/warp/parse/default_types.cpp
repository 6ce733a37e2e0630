// The part of FileReader that reads generic kernels of which nothing in the file says the types: Warp takes them from
// the launch, and its arguments only Python knows. Such a kernel is read for the first of the usual types that its body
// takes, as a call of wp.overload in the file would have it read, and the user is told which.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/warp/parse/file_parser.hpp"

namespace assay::frontend {
namespace {

/// Types as Python spells them; those of Warp without its module's name.
struct Guess {
  std::string_view element;  ///< Any, as what an array holds
  std::string_view value;    ///< Any, as a parameter by itself
};

/// The likely ones first: the first that can be read is taken.
constexpr auto kGuesses = std::to_array<Guess>({{"float", "float"},
                                                {"vec3", "float"},
                                                {"vec3", "vec3"},
                                                {"float", "int"},
                                                {"mat33", "float"},
                                                {"int", "int"},
                                                {"int", "float"},
                                                {"float", "vec3"}});

/// The most indices that stand behind each name: its dimensions, if it is an array.
std::map<std::string_view, std::size_t> most_indices_in(Node body) {
  std::map<std::string_view, std::size_t> most;
  const auto collect = [&](const auto& self, Node at) -> void {
    if (at.is(Syntax::kSubscript) && at.part(Part::kValue).is(Syntax::kIdentifier)) {
      const std::span<const Node> indices = at.children().subspan(1);
      const bool is_tuple = indices.size() == 1 && indices[0].is(Syntax::kTuple);
      std::size_t& count = most[at.part(Part::kValue).text()];
      count = std::max(count, is_tuple ? indices[0].children().size() : indices.size());
    }
    for (const Node child : at.children())
      self(self, child);
  };
  collect(collect, body);
  return most;
}

/// Spells annotations with types in the place of what is generic in them.
class Specialiser {
 public:
  Specialiser(const ModuleScope& scope, const Guess& guess)
      : scope_(scope), warp_(scope.name_of_warp()), guess_(guess) {}

  /// `rank`: the dimensions that the parameter has if it is an array.
  std::string spell(Node annotation, std::size_t rank) const {
    const bool is_array = rank > 0 && guess_.value != "vec3" && generic_name(annotation) == "Any" && !warp_.empty();
    if (is_array) return fmt::format("{}.array(dtype={}, ndim={})", warp_, of_warp(guess_.element), rank);
    return spell(annotation, Where::kParameter);
  }

 private:
  enum class Where : std::uint8_t { kParameter, kArray, kVector, kExtent };

  std::string spell(Node node, Where where) const {
    if (const std::string_view name = generic_name(node); !name.empty()) return type_for(name, where);
    std::string text(node.text());
    const std::span<const Node> children = node.children();
    for (std::size_t i = children.size(); i-- > 0;) {
      if (!is_generic(children[i])) continue;
      const std::string_view child = children[i].text();
      const auto offset = static_cast<std::size_t>(child.data() - node.text().data());
      text.replace(offset, child.size(), spell(children[i], where_in(node, i, where)));
    }
    return text;
  }

  /// What child number i of the node stands for, where the node stands for `outer`.
  Where where_in(Node node, std::size_t i, Where outer) const {
    if (node.is(Syntax::kCall) || node.is(Syntax::kSubscript)) {
      const std::string head = scope_.warp_name(node.part(node.is(Syntax::kCall) ? Part::kFunction : Part::kValue));
      if (array_rank(head) > 0) return Where::kArray;
      if (head == "types.vector" || head == "types.matrix") return Where::kVector;
    }
    if (outer != Where::kVector) return outer;
    // The length or shape comes first, then the dtype.
    const Node child = node.children()[i];
    if (node.is(Syntax::kKeywordArgument))
      return node.part(Part::kName).text() == "dtype" ? Where::kParameter : Where::kExtent;
    const bool is_position = node.is(Syntax::kArgumentList) && !child.is(Syntax::kKeywordArgument);
    if (is_position) return i == 0 ? Where::kExtent : Where::kParameter;
    return outer;
  }

  /// Names that stand for functions stay as they are: there is none to give.
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

std::vector<Given> FileReader::types_spelt(const std::vector<std::string>& annotations, const Environment& home) {
  const auto tree = SyntaxTree::parse(fmt::format("[{}]\n", fmt::join(annotations, ", ")));
  if (!tree.ok()) return {};
  std::vector<Given> types;
  for (const Node statement : tree->root().children()) {
    for (const Node list : statement.children()) {
      for (const Node annotation : list.children()) {
        const auto type = home.scope.type(annotation);
        if (!type.ok()) return {};
        types.push_back(given_whole(module(), *type));
      }
    }
  }
  return types.size() == annotations.size() ? types : std::vector<Given>();
}

void FileReader::assume_types(FunctionEntry& kernel) {
  const std::string unsaid =
      fmt::format("is generic, and no call of wp.overload({}, ...) here says its types", kernel.name);
  const std::vector<Node> annotations = annotations_of(kernel);
  const auto most_indices = most_indices_in(kernel.definition.part(Part::kBody));
  std::vector<std::size_t> ranks(annotations.size());
  for (std::size_t p = 0; p < std::min(ranks.size(), kernel.parameters.size()); ++p) {
    const auto found = most_indices.find(kernel.parameters[p]);
    if (found != most_indices.end()) ranks[p] = found->second;
  }
  const std::size_t told = result_.diagnostics.size();
  std::string first_failure;
  for (const Guess& guess : kGuesses) {
    const Specialiser specialiser(kernel.home->scope, guess);
    std::vector<std::string> spelt;
    for (std::size_t p = 0; p < annotations.size(); ++p)
      spelt.push_back(specialiser.spell(annotations[p], ranks[p]));
    std::vector<Given> types = types_spelt(spelt, *kernel.home);
    if (types.empty()) continue;
    FunctionEntry& made = *instance(kernel, std::move(types));
    if (made.state != FunctionEntry::State::kUnread) continue;  // another guess came to the same
    read_entry(made);
    const std::string list = fmt::format("[{}]", fmt::join(spelt, ", "));
    if (made.state == FunctionEntry::State::kRead) {
      kernel.instances = {&made};
      kernel.state = FunctionEntry::State::kRead;
      made.has_assumptions = true;
      const std::string warp = kernel.home->scope.name_of_warp();
      if (kernel.home->outer == nullptr && !warp.empty())
        made.overload = fmt::format("{} = {}.overload({}, {})", made.name, warp, kernel.name, list);
      report({.severity = Severity::kNote,
              .loc = kernel.definition.loc(),
              .function = kernel.name,
              .construct = "def " + kernel.name,
              .reason = fmt::format("{}: read for {}", unsaid, list)});
      return;
    }
    result_.diagnostics.resize(told);
    kernel_names_.erase(made.name);
    if (first_failure.empty()) first_failure = fmt::format("; for {}: {}", list, made.failure);
  }
  kernel.instances.clear();
  reject(kernel, unsaid + first_failure);
}

}  // namespace assay::frontend
