#include <algorithm>
#include <cstdint>
#include <utility>

#include "backends/ptx/parse/body_parser.hpp"
#include "backends/ptx/parse/cursor.hpp"
#include "backends/ptx/parse/declarations.hpp"
#include "backends/ptx/parse/module.hpp"

namespace assay::ptx {

namespace {

class Parser {
 public:
  Parser(TokenCursor& cursor, Module& module) : cursor_(cursor), module_(module) {}

  void parse() {
    cursor_.expect(".version");
    const Token& version = cursor_.take();
    module_.ptx_version = std::string(version.text);
    if (version.text != "9.0" && !version.text.starts_with("8.") && !version.text.starts_with("9.") &&
        !version.text.starts_with("7.") && !version.text.starts_with("6.")) {
      TokenCursor::fail_at(fmt::format("PTX version must be from 6.0 to 9, got '{}'", version.text), version.position);
    }
    while (!cursor_.at_end())
      parse_directive();
  }

 private:
  void parse_directive() {
    const Token token = cursor_.peek();
    if (token.is(".target")) return parse_target();
    if (token.is(".address_size")) {
      cursor_.take();
      const Position position = cursor_.peek().position;
      if (cursor_.take_integer("64") != 64) TokenCursor::fail_at("address size must be 64", position);
      return;
    }
    if (token.is(".file")) return parse_file();
    if (token.is(".section")) return skip_section();
    if (token.is(".pragma")) {
      while (!cursor_.at(";") && !cursor_.at_end())
        cursor_.take();
      return cursor_.expect(";");
    }
    parse_linked();
  }

  void parse_target() {
    cursor_.take();
    module_.target_architecture = cursor_.take_word("a target such as sm_75");
    while (cursor_.accept(","))
      cursor_.take_word("a target option");
  }

  void parse_file() {
    cursor_.take();
    const auto number = static_cast<std::uint32_t>(cursor_.take_integer("a file number"));
    if (cursor_.peek().kind != Token::Kind::kString) cursor_.fail("a file name");
    module_.file_names_by_number[number] = std::string(cursor_.take().text);
    while (cursor_.accept(","))
      cursor_.take_integer("a number");
  }

  void skip_section() {
    cursor_.take();
    cursor_.take_word("a section name");
    cursor_.expect("{");
    while (!cursor_.at("}") && !cursor_.at_end())
      cursor_.take();
    cursor_.expect("}");
  }

  /// Parses a variable or a function after its linkage.
  void parse_linked() {
    bool external = false;
    while (cursor_.at(".visible") || cursor_.at(".extern") || cursor_.at(".weak") || cursor_.at(".common")) {
      external = external || cursor_.at(".extern");
      cursor_.take();
    }
    if (cursor_.at(".entry") || cursor_.at(".func")) return parse_function();
    const Space space = space_of(cursor_.peek().text);
    if (space == Space::kGeneric || space == Space::kParam || space == Space::kLocal) {
      cursor_.fail(".entry, .func, .global, .const, .shared or another directive");
    }
    cursor_.take();
    do {
      Variable variable = parse_variable(cursor_, space);
      variable.is_external = external;
      module_.variables.push_back(std::move(variable));
    } while (cursor_.accept(","));
    cursor_.expect(";");
  }

  std::vector<Variable> parameters() {
    std::vector<Variable> list;
    if (!cursor_.accept("(")) return list;
    if (!cursor_.at(")")) {
      do {
        cursor_.expect(".param");
        list.push_back(parse_variable(cursor_, Space::kParam));
      } while (cursor_.accept(","));
    }
    cursor_.expect(")");
    return list;
  }

  void parse_function() {
    Function function{.is_entry = cursor_.take().text == ".entry", .position = cursor_.peek().position};
    if (!function.is_entry) function.return_values = parameters();
    const Position position = cursor_.peek().position;
    function.name = cursor_.take_word("a function name");
    function.parameters = parameters();
    function.parameter_bytes = lay_out(function.parameters);
    parse_attributes(function);
    const bool declared_only = cursor_.accept(";");
    Function& place = find_or_add(function.name, position);
    if (declared_only && place.is_defined) return;
    place = std::move(function);
    if (declared_only) return;
    place.is_defined = true;
    cursor_.expect("{");
    BodyParser(cursor_, module_, spelled_, place).parse();
  }

  /// A declaration is replaced by its definition.
  Function& find_or_add(const std::string& name, Position position) {
    for (Function& function : module_.functions) {
      if (function.name != name) continue;
      if (function.is_defined) TokenCursor::fail_at(fmt::format("duplicate function '{}'", name), position);
      return function;
    }
    return module_.functions.emplace_back();
  }

  /// ".reqnctapercluster 2", ".maxntid 256, 1, 1", ".reqntid 128", and hints for the generation of code: ".noreturn",
  /// ".minnctapersm 2".
  void parse_attributes(Function& function) {
    while (cursor_.peek().kind == Token::Kind::kWord) {
      const std::string_view attribute = cursor_.take().text;
      function.is_in_explicit_cluster |= attribute == ".explicitcluster" || attribute == ".reqnctapercluster";
      std::uint64_t product = 1;
      while (cursor_.peek().kind == Token::Kind::kInteger || cursor_.at(",")) {
        const Token& number = cursor_.take();
        if (number.kind == Token::Kind::kInteger) product *= std::min<std::uint64_t>(number.value, UINT16_MAX);
      }
      if (attribute == ".reqnctapercluster") function.blocks_per_cluster = product;
      if (attribute == ".maxntid") function.max_threads_per_block = product;
      if (attribute == ".reqntid") function.required_threads_per_block = product;
    }
  }

  TokenCursor& cursor_;
  Module& module_;
  SpelledInstructions spelled_;
};

}  // namespace

const Function* Module::find_entry(std::string_view entry_name) const {
  for (const Function& function : functions) {
    if (function.is_entry && function.is_defined && function.name == entry_name) return &function;
  }
  return nullptr;
}

std::string_view to_text(Space space) {
  switch (space) {
    case Space::kGlobal: return "global";
    case Space::kShared: return "shared";
    case Space::kLocal: return "local";
    case Space::kConst: return "const";
    case Space::kParam: return "param";
    case Space::kTensor: return "tensor";
    default: return "generic";
  }
}

Space space_of(const Modifiers& modifiers) {
  using enum Modifier;
  if (modifiers.has(kGlobal)) return Space::kGlobal;
  if (modifiers.has(kShared) || modifiers.has(kSharedCta) || modifiers.has(kSharedCluster)) return Space::kShared;
  if (modifiers.has(kLocal)) return Space::kLocal;
  if (modifiers.has(kConst)) return Space::kConst;
  if (modifiers.has(kParam)) return Space::kParam;
  return Space::kGeneric;
}

Result<Module> parse(std::string text, std::string_view name) {
  Module module{.name = std::string(name), .text = std::make_shared<const std::string>(std::move(text))};
  Result<std::vector<Token>> tokens = tokenize(*module.text, name);
  if (!tokens) return tokens.error();
  try {
    TokenCursor cursor(tokens.take());
    Parser(cursor, module).parse();
  } catch (const SyntaxError& error) {
    return Error{error.message, location_text(name, error.position)};
  }
  return module;
}

}  // namespace assay::ptx
