#include "backends/candidate/host/load_inline.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/syntax/syntax.hpp"

namespace assay::candidate {

using frontend::SyntaxField;
using frontend::SyntaxKind;
using frontend::SyntaxNode;

namespace {

/// Texts in the Python file.
using Text = SourceFragment;
using Texts = std::vector<Text>;

/// The parameters of load_inline, in order.
constexpr std::array<std::string_view, 6> kParameters{"name",      "cpp_sources",  "cuda_sources",
                                                      "functions", "extra_cflags", "extra_cuda_cflags"};

/// Replaces the escape sequences of a Python string that C++ sources contain; others stay as they are, as in Python.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
      continue;
    }
    switch (const char next = text[++i]) {
      case '\n': break;
      case 'n': result += '\n'; break;
      case 't': result += '\t'; break;
      case 'r': result += '\r'; break;
      case '0': result += '\0'; break;
      case '\\':
      case '\'':
      case '"': result += next; break;
      default: (result += '\\') += next;
    }
  }
  return result;
}

/// The value of a string literal; nullopt for bytes and formatted strings.
std::optional<std::string> literal_value(std::string_view literal) {
  bool is_raw = false;
  while (!literal.empty() && literal.front() != '"' && literal.front() != '\'') {
    const char prefix = literal.front();
    if (prefix == 'r' || prefix == 'R') is_raw = true;
    else if (prefix != 'u' && prefix != 'U') return std::nullopt;
    literal.remove_prefix(1);
  }
  if (literal.size() < 2) return std::nullopt;
  const bool is_triple = literal.size() >= 6 && literal.substr(0, 3) == std::string(3, literal.front());
  const std::size_t quotes = is_triple ? 3 : 1;
  literal = literal.substr(quotes, literal.size() - 2 * quotes);
  return is_raw ? std::string(literal) : unescaped(literal);
}

class LoadInlineReader {
 public:
  explicit LoadInlineReader(std::string name) : name_(std::move(name)) {}

  Result<HostSource> read(SyntaxNode root) {
    if (const auto done = visit(root); !done.ok()) return done.error();
    if (!found_) {
      return Error{fmt::format("{}, so it contains no CUDA source to judge", kCallsNoLoadInline), name_};
    }
    source_.text = joined_source(cpp_, cuda_);
    source_.flags = relevant_flags(source_.flags);
    if (source_.functions.empty()) source_.functions = pybind_functions(source_.text);
    return std::move(source_);
  }

 private:
  Error error(SyntaxNode node, const std::string& message) const {
    return Error{message, fmt::format("{}:{}:{}", name_, node.loc().line, node.loc().column)};
  }

  Result<void> visit(SyntaxNode node) {
    if (node.is(SyntaxKind::kAssignment)) {
      const SyntaxNode left = node.part(SyntaxField::kLeft);
      if (left.is(SyntaxKind::kIdentifier)) values_[std::string(left.text())] = node.part(SyntaxField::kRight);
    }
    if (node.is(SyntaxKind::kCall)) {
      const SyntaxNode function = node.part(SyntaxField::kFunction);
      const SyntaxNode called = function.is(SyntaxKind::kAttribute) ? function.part(SyntaxField::kAttribute) : function;
      if (called.text() == "load_inline") return read_call(node);
    }
    for (const SyntaxNode child : node.children())
      if (auto done = visit(child); !done.ok()) return done;
    return {};
  }

  Result<void> read_call(SyntaxNode call) {
    found_ = true;
    std::size_t position = 0;
    for (const SyntaxNode argument : call.part(SyntaxField::kArguments).children()) {
      if (argument.grammar_name() == "dictionary_splat") {
        if (auto done = read_dictionary(argument.children().front()); !done.ok()) return done;
        continue;
      }
      const bool is_keyword = argument.is(SyntaxKind::kKeywordArgument);
      const std::string_view name = is_keyword                      ? argument.part(SyntaxField::kName).text()
                                    : position < kParameters.size() ? kParameters[position]
                                                                    : std::string_view();
      if (!is_keyword) ++position;
      const SyntaxNode value = is_keyword ? argument.part(SyntaxField::kValue) : argument;
      if (auto done = read_argument(name, value); !done.ok()) return done;
    }
    return {};
  }

  /// The keyword arguments in a dictionary, or in a name that a dictionary was assigned to.
  Result<void> read_dictionary(SyntaxNode node) {
    if (node.is(SyntaxKind::kIdentifier)) {
      const auto known = values_.find(std::string(node.text()));
      if (known != values_.end()) node = known->second;
    }
    if (node.grammar_name() != "dictionary")
      return error(node, fmt::format("the arguments of load_inline {}", kNeedsExecution));
    for (const SyntaxNode pair : node.children()) {
      if (pair.children().size() != 2) continue;
      const Result<Texts> key = texts_of(pair.children().front(), 0);
      if (!key.ok()) return key.error();
      if (key->size() != 1) continue;
      if (auto done = read_argument(key->front().text, pair.children().back()); !done.ok()) return done;
    }
    return {};
  }

  Result<void> read_argument(std::string_view name, SyntaxNode value) {
    if (std::ranges::find(kParameters, name) == kParameters.end() || name == "name" || name == "extra_cflags" ||
        value.is(SyntaxKind::kNone)) {
      return {};
    }
    const Result<Texts> texts = texts_of(value, 0);
    if (!texts.ok()) return texts.error();
    if (name == "cpp_sources") cpp_.insert(cpp_.end(), texts->begin(), texts->end());
    if (name == "cuda_sources") cuda_.insert(cuda_.end(), texts->begin(), texts->end());
    for (const Text& text : *texts) {
      if (name == "functions") source_.functions.push_back({.python_name = text.text, .cpp_name = text.text});
      if (name == "extra_cuda_cflags") source_.flags.push_back(text.text);
    }
    return {};
  }

  /// The texts that an expression amounts to. `depth` limits chains of names.
  Result<Texts> texts_of(SyntaxNode node, int depth) const {
    constexpr int kMostDepth = 50;
    const std::string_view grammar = node.grammar_name();
    if (depth > kMostDepth)
      return error(node, "the argument of load_inline is too complex: it refers to too many names");
    if (node.is(SyntaxKind::kString)) {
      const std::optional<std::string> value = literal_value(node.text());
      if (value) return Texts{{.text = *value, .file_name = name_, .line = node.loc().line}};
      return error(node, fmt::format("a formatted string or bytes {}; use a plain string", kNeedsExecution));
    }
    if (grammar == "concatenated_string" || node.is(SyntaxKind::kBinary)) {
      if (node.is(SyntaxKind::kBinary) && node.part(SyntaxField::kOperator).text() != "+")
        return error(node, fmt::format("the argument of load_inline {}", kNeedsExecution));
      Texts joined;
      for (const SyntaxNode part : node.children()) {
        Result<Texts> texts = texts_of(part, depth + 1);
        if (!texts.ok()) return texts;
        for (Text& text : *texts)
          joined.push_back(std::move(text));
      }
      // Adjacent literals are one text; #line directives between them would split a line.
      if (grammar == "concatenated_string") {
        Text all{.text = {}, .file_name = name_, .line = node.loc().line};
        for (const Text& text : joined)
          all.text += text.text;
        joined = {std::move(all)};
      }
      return joined;
    }
    if (grammar == "list" || node.is(SyntaxKind::kTuple) || node.is(SyntaxKind::kParenthesized)) {
      Texts all;
      for (const SyntaxNode part : node.children()) {
        Result<Texts> texts = texts_of(part, depth + 1);
        if (!texts.ok()) return texts;
        for (Text& text : *texts)
          all.push_back(std::move(text));
      }
      return all;
    }
    if (grammar == "dictionary") return keys_of(node, depth);
    if (const SyntaxNode text = text_with_white_space(node)) return texts_of(text, depth + 1);
    if (node.is(SyntaxKind::kIdentifier)) {
      const auto known = values_.find(std::string(node.text()));
      if (known != values_.end()) return texts_of(known->second, depth + 1);
      return error(node, fmt::format("'{}', to which the file assigns no string before load_inline is called, {}",
                                     node.text(), kNeedsExecution));
    }
    return error(node,
                 fmt::format("'{}' {}; use a string or a list of strings", frontend::describe(node), kNeedsExecution));
  }

  /// The text whose white space a call removes, such as `text.strip()`; empty for other expressions. White space at the
  /// ends and the indentation have no meaning in C++.
  static SyntaxNode text_with_white_space(SyntaxNode node) {
    if (!node.is(SyntaxKind::kCall)) return {};
    const SyntaxNode function = node.part(SyntaxField::kFunction);
    const std::span<const SyntaxNode> arguments = node.part(SyntaxField::kArguments).children();
    const bool is_attribute = function.is(SyntaxKind::kAttribute);
    const std::string_view name = is_attribute ? function.part(SyntaxField::kAttribute).text() : function.text();
    if (arguments.empty() && is_attribute && (name == "strip" || name == "lstrip" || name == "rstrip"))
      return function.part(SyntaxField::kObject);
    if (arguments.size() == 1 && (name == "dedent" || name == "cleandoc")) return arguments.front();
    return {};
  }

  /// The keys of a dictionary: `functions` may map names to docstrings.
  Result<Texts> keys_of(SyntaxNode dictionary, int depth) const {
    Texts keys;
    for (const SyntaxNode pair : dictionary.children()) {
      if (pair.children().empty()) continue;
      Result<Texts> key = texts_of(pair.children().front(), depth + 1);
      if (!key.ok()) return key;
      for (Text& text : *key)
        keys.push_back(std::move(text));
    }
    return keys;
  }

  std::string name_;
  std::map<std::string, SyntaxNode> values_;  ///< what each name was last assigned from
  Texts cpp_, cuda_;
  HostSource source_;
  bool found_ = false;
};

}  // namespace

std::string joined_source(const std::vector<SourceFragment>& cpp, const std::vector<SourceFragment>& cuda) {
  std::string joined = "#include <torch/extension.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n";
  // Definitions in C++ may call functions of the CUDA source, which C++ declares, and not the other way round.
  for (const auto* sources : {&cpp, &cuda})
    for (const SourceFragment& source : *sources)
      joined += fmt::format("#line {} \"{}\"\n{}\n", source.line, source.file_name, source.text);
  return joined;
}

std::vector<HostFunction> pybind_functions(std::string_view cpp) {
  std::vector<HostFunction> functions;
  const auto skip_space = [&](std::size_t at) { return std::min(cpp.find_first_not_of(" \t\r\n", at), cpp.size()); };
  const auto skip = [&](std::size_t at, char expected) {
    at = skip_space(at);
    return at < cpp.size() && cpp[at] == expected ? skip_space(at + 1) : cpp.size();
  };
  for (std::size_t at = 0; at < cpp.size(); ++at) {
    const std::string_view rest = cpp.substr(at);
    if (rest.starts_with("//")) at = std::min(cpp.find('\n', at), cpp.size());
    if (rest.starts_with("/*")) at = std::min(cpp.find("*/", at + 2), cpp.size());
    if (!rest.starts_with(".def")) continue;
    const std::size_t name = skip(skip(at + 4, '('), '"');
    const std::size_t name_end = std::min(cpp.find('"', name), cpp.size());
    std::size_t function = skip(name_end + 1, ',');
    if (function < cpp.size() && cpp[function] == '&') function = skip_space(function + 1);
    const auto is_in_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
    };
    std::size_t end = function;
    while (end < cpp.size() && is_in_name(cpp[end]))
      ++end;
    if (end > function)
      functions.push_back({.python_name = std::string(cpp.substr(name, name_end - name)),
                           .cpp_name = std::string(cpp.substr(function, end - function))});
  }
  return functions;
}

std::vector<std::string> relevant_flags(const std::vector<std::string>& flags) {
  constexpr std::array<std::string_view, 9> kRelevant{
      "use_fast_math",          "ftz=true",        "prec-div=false",      "prec-sqrt=false", "fmad=false", "fmad=true",
      "expt-relaxed-constexpr", "extended-lambda", "expt-extended-lambda"};
  std::vector<std::string> kept;
  for (const std::string& flag : flags) {
    const std::string_view name = std::string_view(flag).substr(std::min(flag.find_first_not_of('-'), flag.size()));
    const bool is_standard = name == "std=c++17" || name == "std=c++20";
    if (is_standard || flag.starts_with("-D") || std::ranges::find(kRelevant, name) != kRelevant.end())
      kept.push_back(flag.starts_with("-D") ? flag : fmt::format("--{}", name));
  }
  return kept;
}

Result<HostSource> read_load_inline(std::string_view python, const std::string& name) {
  const Result<std::string_view> text = frontend::check_source(python);
  if (!text.ok()) return frontend::in_file(text.error(), name);
  const Result<frontend::SyntaxTree> tree = frontend::SyntaxTree::parse(std::string(*text));
  if (!tree.ok()) return frontend::in_file(tree.error(), name);
  if (const SyntaxNode wrong = frontend::first_error(tree->root()))
    return Error{"syntax error", fmt::format("{}:{}:{}", name, wrong.loc().line, wrong.loc().column)};
  return LoadInlineReader(name).read(tree->root());
}

}  // namespace assay::candidate
