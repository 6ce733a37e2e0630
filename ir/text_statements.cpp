#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/limits.hpp"
#include "ir/text_expressions.hpp"
#include "ir/text_names.hpp"
#include "ir/text_scope.hpp"

namespace assay::ir::text {
namespace {

class FunctionParser {
 public:
  FunctionParser(Cursor& cursor, const ParsedDeclarations& scope, Function& function)
      : cursor_(cursor), scope_(scope), function_(function), expressions_(cursor, scope, function, variables_) {}

  void parse_signature() {
    cursor_.expect("(");
    if (!cursor_.at(")") && !cursor_.at(";")) parse_parameters();
    if (cursor_.accept(";")) parse_thread_indices();
    cursor_.expect(")");
    if (!cursor_.accept("->")) return;
    do
      function_.results.push_back(parse_type(cursor_, scope_));
    while (cursor_.accept(","));
  }

  /// Parses a block from '{' to '}'.
  Block parse_block() {
    Block block;
    if (depth_ >= kMaxBlockDepth) {
      cursor_.fail(cursor_.token().loc, fmt::format("blocks must not be nested deeper than {}", kMaxBlockDepth));
      return block;
    }
    ++depth_;
    cursor_.expect("{");
    end_line();
    while (!cursor_.failed() && !cursor_.at("}")) {
      block.statements.push_back(parse_statement());
      end_line();
    }
    cursor_.expect("}");
    --depth_;
    return block;
  }

 private:
  struct Declaration {
    Token name;
    Type type;
  };

  void end_line() {
    cursor_.expect(TokenKind::kNewline, "the end of the line");
    cursor_.skip_newlines();
  }

  // ---- declarations

  void parse_parameters() {
    do {
      const bool nullable = cursor_.accept("nullable");
      const VarId id = declare(parse_declaration());
      if (cursor_.failed()) return;
      function_.variables[static_cast<std::size_t>(id)].is_nullable = nullable;
      ++function_.parameter_count;
    } while (cursor_.accept(","));
  }

  void parse_thread_indices() {
    do {
      declare({cursor_.expect(TokenKind::kWord, "the name of a thread index"), kI32});
      if (cursor_.failed()) return;
      ++function_.launch_rank;
    } while (cursor_.accept(","));
  }

  Declaration parse_declaration() {
    const Token name = cursor_.expect(TokenKind::kWord, "the name of a variable");
    cursor_.expect(":");
    return {name, parse_type(cursor_, scope_)};
  }

  VarId declare(const Declaration& declaration) {
    const Token& name = declaration.name;
    const auto id = static_cast<VarId>(function_.variables.size());
    if (cursor_.failed()) return kNone;
    if (is_keyword(name.text)) {
      cursor_.fail(name.loc, fmt::format("{} is a reserved word and cannot name a variable", name.text));
    } else if (!variables_.emplace(name.text, id).second) {
      cursor_.fail(name.loc, fmt::format("variable {} is already declared", name.text));
    } else {
      function_.variables.push_back({.name = std::string(name.text), .type = declaration.type, .loc = name.loc});
    }
    return cursor_.failed() ? kNone : id;
  }

  // ---- statements

  Stmt parse_statement() {
    const Token first = cursor_.token();
    Stmt statement{.node = Break{}, .loc = first.loc};
    if (cursor_.accept("let")) {
      statement.node = parse_let();
    } else if (cursor_.accept("call")) {
      statement.node = parse_call();
    } else if (cursor_.accept("if")) {
      statement.node = parse_if();
    } else if (cursor_.accept("for")) {
      statement.node = parse_for();
    } else if (cursor_.accept("while")) {
      const ExprId condition = expressions_.parse();
      statement.node = While{condition, parse_block()};
    } else if (cursor_.accept("break")) {
      statement.node = Break{};
    } else if (cursor_.accept("continue")) {
      statement.node = Continue{};
    } else if (cursor_.accept("return")) {
      statement.node = parse_return();
    } else if (cursor_.accept("augment")) {
      statement.node = parse_augmented();
    } else if (at_atomic()) {
      statement.node = parse_atomic();
    } else if (cursor_.at(TokenKind::kWord)) {
      statement.node = parse_change();
    } else {
      cursor_.fail_expecting("a statement");
    }
    return statement;
  }

  using Node = decltype(Stmt::node);

  Node parse_let() {
    std::vector<Declaration> declarations;
    do
      declarations.push_back(parse_declaration());
    while (cursor_.accept(","));
    Node node;
    if (!cursor_.accept("=")) {
      node = Let{};
    } else if (cursor_.accept("call")) {
      Call call = parse_call();
      for (const Declaration& declaration : declarations)
        call.results.push_back(declare(declaration));
      return call;
    } else if (at_atomic()) {
      node = parse_atomic();
    } else {
      node = Let{kNone, expressions_.parse()};
    }
    if (declarations.size() > 1) cursor_.fail(declarations[1].name.loc, "only a call can declare several variables");
    const VarId variable = declare(declarations[0]);
    if (auto* let = std::get_if<Let>(&node)) let->variable = variable;
    if (auto* atomic = std::get_if<Atomic>(&node)) atomic->result = variable;
    return node;
  }

  Call parse_call() {
    const Token name = cursor_.expect(TokenKind::kWord, "the name of a function");
    if (cursor_.failed()) return {};
    const auto found = scope_.functions.find(name.text);
    if (found == scope_.functions.end()) {
      cursor_.fail(name.loc, fmt::format("unknown function {}", name.text));
      return {};
    }
    cursor_.expect("(");
    return {.function = found->second, .args = expressions_.parse_list(")"), .results = {}};
  }

  bool at_atomic() const {
    return cursor_.at(TokenKind::kWord) && find_atomic(cursor_.token().text) != nullptr && cursor_.followed_by('(');
  }

  Atomic parse_atomic() {
    Atomic atomic{.op = find_atomic(cursor_.take().text)->op};
    cursor_.expect("(");
    std::tie(atomic.array, atomic.indices) = parse_element(&atomic.fields);
    cursor_.expect(",");
    if (atomic.op == AtomicOp::kCompareAndSwap) {
      atomic.compare_operand = expressions_.parse();
      cursor_.expect(",");
    }
    atomic.value = expressions_.parse();
    cursor_.expect(")");
    return atomic;
  }

  /// Parses array[indices] as a load and splits the load into array and indices. With `fields`, parses also
  /// array[indices].field and sets the fields.
  std::pair<ExprId, std::vector<ExprId>> parse_element(std::vector<std::int32_t>* fields = nullptr) {
    const Loc loc = cursor_.token().loc;
    ExprId id = expressions_.parse();
    if (id == kNone) return {kNone, {}};
    while (fields != nullptr && function_.expr(id).kind == ExprKind::kField) {
      fields->insert(fields->begin(), function_.expr(id).index);
      id = function_.expr(id).args[0];
      function_.expressions.pop_back();
    }
    if (function_.expr(id).kind != ExprKind::kLoad) {
      cursor_.fail(loc, "expected an array element such as x[i]");
      return {kNone, {}};
    }
    std::vector<ExprId> indices = std::move(function_.expressions.back().args);
    function_.expressions.pop_back();
    const ExprId array = indices[0];
    indices.erase(indices.begin());
    return {array, std::move(indices)};
  }

  /// Parses an assignment or a store after the keyword `augment`.
  Node parse_augmented() {
    Node change = parse_change();
    if (auto* assign = std::get_if<Assign>(&change)) assign->is_augmented = true;
    if (auto* store = std::get_if<Store>(&change)) store->is_augmented = true;
    return change;
  }

  /// Parses `variable = value` or `array[indices] = value`.
  Node parse_change() {
    const Token name = cursor_.token();
    if (!cursor_.followed_by('=')) {
      auto [array, indices] = parse_element();
      cursor_.expect("=");
      return Store{array, std::move(indices), expressions_.parse()};
    }
    const auto found = variables_.find(name.text);
    if (found == variables_.end()) {
      cursor_.fail(name.loc, fmt::format("unknown variable {}", name.text));
      return Assign{};
    }
    cursor_.take();
    cursor_.expect("=");
    return Assign{found->second, expressions_.parse()};
  }

  /// Parses an if after its keyword. The block of `else if` holds the inner if as its only statement.
  If parse_if() {
    If branch;
    branch.condition = expressions_.parse();
    branch.then_block = parse_block();
    if (!cursor_.accept("else")) return branch;
    const Loc loc = cursor_.token().loc;
    if (!cursor_.accept("if")) {
      branch.else_block = parse_block();
      return branch;
    }
    if (depth_ >= kMaxBlockDepth) {
      cursor_.fail(loc, fmt::format("blocks must not be nested deeper than {}", kMaxBlockDepth));
      return branch;
    }
    ++depth_;
    branch.else_block.statements.push_back({.node = parse_if(), .loc = loc});
    --depth_;
    return branch;
  }

  For parse_for() {
    const Declaration declaration = parse_declaration();
    cursor_.expect("in");
    cursor_.expect("range");
    cursor_.expect("(");
    For loop;
    loop.start = expressions_.parse();
    cursor_.expect(",");
    loop.stop = expressions_.parse();
    cursor_.expect(",");
    loop.step = expressions_.parse();
    cursor_.expect(")");
    loop.variable = declare(declaration);
    loop.body = parse_block();
    return loop;
  }

  Return parse_return() {
    Return leave;
    if (cursor_.at(TokenKind::kNewline)) return leave;
    do
      leave.values.push_back(expressions_.parse());
    while (cursor_.accept(","));
    return leave;
  }

  Cursor& cursor_;
  const ParsedDeclarations& scope_;
  Function& function_;
  IndexByName variables_;
  ExpressionParser expressions_;
  int depth_ = 0;
};

}  // namespace

void parse_function(Cursor& cursor, ParsedDeclarations& scope, bool is_kernel) {
  std::vector<Function>& functions = is_kernel ? scope.module.kernels : scope.module.functions;
  Function function{.is_kernel = is_kernel, .annotations = cursor.take_comments(), .loc = cursor.token().loc};
  IndexByName& names = is_kernel ? scope.kernels : scope.functions;
  const std::string_view name =
      parse_new_name(cursor, names, is_kernel ? "kernel" : "function", is_kernel ? is_keyword : is_function_word);
  function.name = name;
  FunctionParser parser(cursor, scope, function);
  parser.parse_signature();
  function.body = parser.parse_block();
  if (cursor.failed()) return;
  // Declared only after its body: a function cannot call itself.
  names.emplace(name, static_cast<std::int32_t>(functions.size()));
  functions.push_back(std::move(function));
}

}  // namespace assay::ir::text
