#include "backends/ptx/parse/body_parser.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "backends/ptx/parse/declarations.hpp"

namespace assay::ptx {

namespace {

constexpr std::size_t kMaxRegisters = 1 << 20;

/// The shape "m64n128k16" of a product by a warpgroup, whose n is a multiple of 8 up to 256.
std::optional<MatrixShape> warpgroup_shape_of(std::string_view name) {
  constexpr std::string_view kStart = "m64n";
  if (!name.starts_with(kStart)) return std::nullopt;
  MatrixShape shape{.m = 64};
  const char* const end = name.data() + name.size();
  const auto columns = std::from_chars(name.data() + kStart.size(), end, shape.n);
  if (columns.ec != std::errc{} || columns.ptr == end || *columns.ptr != 'k') return std::nullopt;
  const auto inner = std::from_chars(columns.ptr + 1, end, shape.k);
  constexpr unsigned kMaxColumns = 256;
  const bool is_valid =
      inner.ec == std::errc{} && inner.ptr == end && shape.n % 8 == 0 && shape.n >= 8 && shape.n <= kMaxColumns;
  return is_valid ? std::optional(shape) : std::nullopt;
}

/// Parses a spelling such as "add.rn.f32" into opcode, modifiers and types, by the opcode table.
void read_spelling(Instruction& instruction, std::string_view spelling) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= spelling.size();) {
    const std::size_t end = std::min(spelling.find('.', begin), spelling.size());
    parts.push_back(spelling.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string_view name = parts.front();
  parts.erase(parts.begin());
  const OpcodeRow* row = nullptr;
  bool known = false;
  for (const OpcodeRow& candidate : opcode_rows()) {
    if (candidate.name != name) continue;
    known = true;
    const auto present = [&](std::string_view wanted) { return std::ranges::find(parts, wanted) != parts.end(); };
    std::string_view rest = candidate.required_modifiers;
    bool fits = true;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      fits = fits && present(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    if (fits) {
      row = &candidate;
      break;
    }
  }
  if (row == nullptr) {
    instruction.unsupported_reason = known ? fmt::format("this form of the instruction {} is not supported", name)
                                           : fmt::format("opcode {} is not supported", name);
    return;
  }
  std::string_view types = row->allowed_types;
  std::size_t type_count = 0;
  bool are_optional = row->opcode == Opcode::kVote;
  for (const std::string_view part : parts) {
    const std::string_view admitted = types.substr(0, std::min(types.find_first_of("/?"), types.size()));
    if (const auto type = find_type(part); type && contains_word(admitted, part)) {
      (instruction.type == Type::kNone ? instruction.type : instruction.source_type) = *type;
      instruction.types[type_count++] = *type;
      const std::size_t next = types.find_first_of("/?");
      are_optional = next != std::string_view::npos && types[next] == '?';
      types = next == std::string_view::npos ? std::string_view{} : types.substr(next + 1);
      continue;
    }
    if (const auto shape = warpgroup_shape_of(part);
        shape && contains_word(row->modifiers, fmt::format("m64nNk{}", shape->k))) {
      instruction.warpgroup_shape = *shape;
      continue;
    }
    const auto modifier = find_modifier(part);
    if (!modifier || !(contains_word(row->modifiers, part) || contains_word(row->required_modifiers, part))) {
      instruction.unsupported_reason = fmt::format("modifier .{} of {} is not supported", part, name);
      instruction.type = Type::kNone;
      return;
    }
    instruction.modifiers.add(*modifier);
  }
  if (!types.empty() && !are_optional) {
    instruction.unsupported_reason = fmt::format("instruction {} has no type suffix that is supported", name);
    return;
  }
  if (instruction.source_type == Type::kNone) instruction.source_type = instruction.type;
  instruction.opcode = row->opcode;
  instruction.category = row->category;
  if (row->category == InstructionCategory::kFloat && !is_float(instruction.type))
    instruction.category = InstructionCategory::kInteger;
}

}  // namespace

BodyParser::BodyParser(TokenCursor& cursor, const Module& module, SpelledInstructions& spelled, Function& function)
    : cursor_(cursor), module_(module), spelled_(spelled), function_(function) {}

void BodyParser::parse() {
  open_scope();
  while (!scopes_.empty()) {
    if (cursor_.accept("{")) {
      open_scope();
    } else if (cursor_.accept("}")) {
      scopes_.pop_back();
    } else {
      parse_statement();
    }
  }
  resolve_labels();
}

void BodyParser::open_scope() {
  outer_scopes_.push_back(scopes_.empty() ? 0 : innermost_scope());
  scopes_.emplace_back().number = static_cast<std::uint32_t>(outer_scopes_.size() - 1);
}

void BodyParser::parse_statement() {
  const Token& token = cursor_.peek();
  if (token.is("@")) return parse_instruction();
  if (token.is(";")) return static_cast<void>(cursor_.take());
  if (token.kind != Token::Kind::kWord) cursor_.fail("an instruction, a directive, a label or '}'");
  if (token.text.starts_with('.')) return parse_directive();
  if (cursor_.peek(1).is(":")) {
    return parse_label();
  }
  parse_instruction();
}

/// Parses the label of an instruction, or of the targets of brx.idx: "targets: .branchtargets L1, L2;".
void BodyParser::parse_label() {
  const Token token = cursor_.take();
  cursor_.take();
  Label label{.instruction_index = static_cast<std::uint32_t>(function_.instructions.size()), .targets = {}};
  if (cursor_.accept(".branchtargets")) {
    do {
      const Position position = cursor_.peek().position;
      label.targets.push_back({label.instruction_index, cursor_.take_word("a label"), position, innermost_scope()});
    } while (cursor_.accept(","));
    cursor_.expect(";");
  }
  if (!labels_.emplace(std::pair(innermost_scope(), std::string(token.text)), std::move(label)).second) {
    TokenCursor::fail_at(fmt::format("duplicate label '{}'", token.text), token.position);
  }
}

void BodyParser::parse_directive() {
  const std::string_view directive = cursor_.peek().text;
  if (directive == ".reg") return parse_registers();
  if (directive == ".loc") return parse_location();
  if (directive == ".pragma") {
    cursor_.take();
    return skip_to_semicolon();
  }
  const Space space = space_of(directive);
  if (space != Space::kShared && space != Space::kLocal && space != Space::kParam) {
    cursor_.fail(".reg, .shared, .local, .param, .loc or .pragma");
  }
  cursor_.take();
  do {
    Variable variable = parse_variable(cursor_, space);
    scopes_.back().variables[variable.name] = static_cast<std::uint32_t>(function_.variables.size());
    function_.variables.push_back(std::move(variable));
  } while (cursor_.accept(","));
  cursor_.expect(";");
}

void BodyParser::parse_registers() {
  cursor_.take();
  const std::string_view name = cursor_.peek().text;
  const auto type = find_type(name.starts_with('.') ? name.substr(1) : name);
  if (!type) cursor_.fail("a register type");
  cursor_.take();
  Scope& scope = scopes_.back();
  do {
    const Position position = cursor_.peek().position;
    const std::string text = cursor_.take_word("a register name");
    std::uint64_t count = 1;
    const auto first = static_cast<std::uint32_t>(function_.registers.size());
    if (cursor_.accept("<")) {
      count = cursor_.take_integer("the number of registers");
      cursor_.expect(">");
      if (count > kMaxRegisters) TokenCursor::fail_at("function has more than a million registers", position);
      scope.register_ranges[text] = {first, static_cast<std::uint32_t>(count)};
      for (std::uint64_t i = 0; i < count; ++i)
        function_.registers.push_back({text + std::to_string(i), *type});
    } else {
      scope.registers[text] = first;
      function_.registers.push_back({text, *type});
    }
    if (function_.registers.size() > kMaxRegisters)
      TokenCursor::fail_at("function has more than a million registers", position);
  } while (cursor_.accept(","));
  cursor_.expect(";");
}

void BodyParser::parse_location() {
  cursor_.take();
  debug_location_ = {};
  debug_location_.file_number = static_cast<std::uint32_t>(cursor_.take_integer("a file number"));
  debug_location_.line = static_cast<std::uint32_t>(cursor_.take_integer("a line"));
  cursor_.take_integer("a column");
  while (cursor_.accept(",")) {
    if (cursor_.accept("function_name")) {
      cursor_.take_word("the label of the function name");
      if (cursor_.accept("+")) cursor_.take_integer("an offset");
    } else if (cursor_.accept("inlined_at")) {
      cursor_.take_integer("a file number");
      debug_location_.inlined_call_line = static_cast<std::uint32_t>(cursor_.take_integer("a line"));
      cursor_.take_integer("a column");
    } else {
      cursor_.fail("function_name or inlined_at");
    }
  }
}

void BodyParser::parse_instruction() {
  std::optional<Operand> guard;
  if (cursor_.accept("@")) {
    const bool negated = cursor_.accept("!");
    guard = operand();
    guard->is_negated = negated;
  }
  const Token& opcode = cursor_.peek();
  if (opcode.kind != Token::Kind::kWord || opcode.text.starts_with('.') || opcode.text.starts_with('%')) {
    cursor_.fail("an opcode");
  }
  Instruction instruction = spelled_instruction(opcode.text);
  instruction.debug_location = debug_location_;
  instruction.position = opcode.position;
  instruction.is_guarded = guard.has_value();
  if (guard) instruction.guard = *std::move(guard);
  const char* const start = opcode.text.data();
  cursor_.take();
  if (instruction.opcode == Opcode::kUnsupported) {
    while (!cursor_.at(";") && !cursor_.at_end() && !cursor_.at("}"))
      cursor_.take();
    if (cursor_.at("}")) skip_to_semicolon();
  } else if (instruction.opcode == Opcode::kCall) {
    parse_call(instruction);
  } else if (!cursor_.at(";")) {
    constexpr std::size_t kUsualOperands = 4;
    instruction.operands.reserve(kUsualOperands);
    do {
      instruction.operands.push_back(operand());
    } while (cursor_.accept(","));
  }
  const char* const end = cursor_.peek().text.data();
  cursor_.expect(";");
  instruction.text = std::string_view(start, static_cast<std::size_t>(end - start));
  if (!unknown_special_register_.empty()) {
    instruction.opcode = Opcode::kUnsupported;
    instruction.unsupported_reason =
        fmt::format("special register {} is not supported", std::exchange(unknown_special_register_, {}));
  }
  validate(instruction, function_);
  function_.instructions.push_back(std::move(instruction));
}

void BodyParser::skip_to_semicolon() {
  while (!cursor_.at(";") && !cursor_.at_end())
    cursor_.take();
}

/// The instruction with this spelling, without operands.
const Instruction& BodyParser::spelled_instruction(std::string_view spelling) {
  const auto [known, is_new] = spelled_.try_emplace(spelling);
  if (is_new) read_spelling(known->second, spelling);
  return known->second;
}

void BodyParser::parse_call(Instruction& instruction) {
  Operand results{.kind = Operand::Kind::kVector};
  if (cursor_.at("(")) {
    results = vector("(", ")");
    cursor_.expect(",");
  }
  const Position position = cursor_.peek().position;
  Operand callee;
  const std::string name = cursor_.take_word("a function name");
  if (!find_symbol(name, callee) || callee.symbol_kind != SymbolKind::kFunction) {
    instruction.opcode = Opcode::kUnsupported;
    instruction.unsupported_reason = fmt::format("call of undefined function '{}'", name);
    return skip_to_semicolon();
  }
  callee.position = position;
  Operand arguments{.kind = Operand::Kind::kVector};
  if (cursor_.accept(",")) arguments = vector("(", ")");
  instruction.operands.reserve(3);
  for (Operand* const part : {&callee, &results, &arguments})
    instruction.operands.push_back(std::move(*part));
  if (!cursor_.at(";")) cursor_.fail("';'");
}

/// The label that a name denotes in its scope or in the scopes around it.
const BodyParser::Label& BodyParser::find_label(const PendingLabel& pending) const {
  for (std::uint32_t scope = pending.scope;; scope = outer_scopes_[scope]) {
    if (const auto found = labels_.find(std::pair(scope, pending.name)); found != labels_.end()) return found->second;
    if (scope == outer_scopes_[scope]) break;
  }
  TokenCursor::fail_at(fmt::format("found '{}', expected a register, a variable or a label", pending.name),
                       pending.position);
}

void BodyParser::resolve_labels() {
  for (const PendingLabel& pending : pending_labels_) {
    const Label& label = find_label(pending);
    Instruction& instruction = function_.instructions[pending.instruction_index];
    if (instruction.opcode == Opcode::kUnsupported) continue;
    const bool has_targets = instruction.opcode == Opcode::kBrx;
    if (has_targets == label.targets.empty()) {
      TokenCursor::fail_at(
          has_targets ? "expected a label of .branchtargets here" : "expected a label of an instruction here",
          pending.position);
    }
    for (Operand& operand : instruction.operands) {
      if (operand.kind != Operand::Kind::kLabel) continue;
      operand.index = label.instruction_index;
      for (const PendingLabel& target : label.targets)
        operand.elements.push_back({.kind = Operand::Kind::kLabel, .index = find_label(target).instruction_index});
    }
  }
}

}  // namespace assay::ptx
