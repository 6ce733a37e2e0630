// Operands of instructions and the resolution of their names.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "backends/ptx/parse/body_parser.hpp"

namespace assay::ptx {

namespace {

struct SpecialName {
  std::string_view name;
  SpecialRegister special;
};
namespace table {

using enum SpecialRegister;
constexpr std::array kSpecials = {
    SpecialName{"%tid.x", kTidX},
    SpecialName{"%tid.y", kTidY},
    SpecialName{"%tid.z", kTidZ},
    SpecialName{"%ntid.x", kNtidX},
    SpecialName{"%ntid.y", kNtidY},
    SpecialName{"%ntid.z", kNtidZ},
    SpecialName{"%ctaid.x", kCtaidX},
    SpecialName{"%ctaid.y", kCtaidY},
    SpecialName{"%ctaid.z", kCtaidZ},
    SpecialName{"%nctaid.x", kNctaidX},
    SpecialName{"%nctaid.y", kNctaidY},
    SpecialName{"%nctaid.z", kNctaidZ},
    SpecialName{"%laneid", kLaneid},
    SpecialName{"%warpid", kWarpid},
    SpecialName{"%nwarpid", kNwarpid},
    SpecialName{"%lanemask_eq", kLanemaskEq},
    SpecialName{"%lanemask_le", kLanemaskLe},
    SpecialName{"%lanemask_lt", kLanemaskLt},
    SpecialName{"%lanemask_ge", kLanemaskGe},
    SpecialName{"%lanemask_gt", kLanemaskGt},
    SpecialName{"WARP_SZ", kWarpSize},
    SpecialName{"%envreg1", kEnvreg1},
    SpecialName{"%envreg2", kEnvreg2},
    SpecialName{"%cluster_ctaid.x", kClusterCtaidX},
    SpecialName{"%cluster_ctaid.y", kClusterCtaidY},
    SpecialName{"%cluster_ctaid.z", kClusterCtaidZ},
    SpecialName{"%cluster_nctaid.x", kClusterNctaidX},
    SpecialName{"%cluster_nctaid.y", kClusterNctaidY},
    SpecialName{"%cluster_nctaid.z", kClusterNctaidZ},
    SpecialName{"%cluster_ctarank", kClusterCtarank},
    SpecialName{"%cluster_nctarank", kClusterNctarank},
    SpecialName{"%clusterid.x", kClusteridX},
    SpecialName{"%clusterid.y", kClusteridY},
    SpecialName{"%clusterid.z", kClusteridZ},
    SpecialName{"%nclusterid.x", kNclusteridX},
    SpecialName{"%nclusterid.y", kNclusteridY},
    SpecialName{"%nclusterid.z", kNclusteridZ},
    SpecialName{"%is_explicit_cluster", kIsExplicitCluster},
    SpecialName{"%clock", kTime},
    SpecialName{"%clock_hi", kTimeHigh},
    SpecialName{"%clock64", kTime},
    SpecialName{"%globaltimer", kTime},
    SpecialName{"%globaltimer_lo", kTime},
    SpecialName{"%globaltimer_hi", kTimeHigh},
};

}  // namespace table

/// Special registers whose values are machine dependent; reading them is not supported.
constexpr std::array<std::string_view, 4> kMachineDependent = {"%smid", "%nsmid", "%gridid", "%total_smem_size"};

/// Splits "%r12" into the prefix "%r" and 12; returns false if no number follows a prefix.
bool split_number(std::string_view name, std::string_view& prefix, std::uint32_t& number) {
  std::size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
    --end;
  if (end == name.size() || end == 0) return false;
  if (name[end] == '0' && end + 1 != name.size()) return false;
  prefix = name.substr(0, end);
  return std::from_chars(name.data() + end, name.data() + name.size(), number).ec == std::errc{};
}

}  // namespace

const SpecialRegister* find_special(std::string_view name) {
  for (const SpecialName& row : table::kSpecials) {
    if (row.name == name) return &row.special;
  }
  return nullptr;
}

Operand BodyParser::operand() {
  const Position position = cursor_.peek().position;
  Operand result;
  if (cursor_.accept("!")) {
    result = operand();
    result.is_negated = !result.is_negated;
  } else if (cursor_.at("{")) {
    result = vector("{", "}");
  } else if (cursor_.at("[")) {
    result = address();
  } else if (cursor_.at("-") || cursor_.peek().kind == Token::Kind::kInteger ||
             cursor_.peek().kind == Token::Kind::kFloat) {
    const bool negative = cursor_.accept("-");
    const Token& token = cursor_.peek();
    if (token.kind == Token::Kind::kFloat) {
      result = {.kind = Operand::Kind::kFloat, .is_double = token.is_double, .value = token.value};
      if (negative) result.value ^= std::uint64_t{1} << (token.is_double ? 63 : 31);
      cursor_.take();
    } else {
      const std::uint64_t value = cursor_.take_integer("a number");
      result = {.kind = Operand::Kind::kInteger, .value = negative ? 0 - value : value};
    }
  } else {
    result = named_operand();
  }
  if (cursor_.accept("|")) {
    Operand pair{.kind = Operand::Kind::kPair};
    pair.elements = {std::move(result), operand()};
    result = std::move(pair);
  }
  result.position = position;
  return result;
}

Operand BodyParser::named_operand() {
  if (cursor_.peek().kind != Token::Kind::kWord) cursor_.fail("an operand");
  const Token token = cursor_.take();
  Operand result{.position = token.position};
  if (token.text == "_") return result;
  if (find_register(token.text, result.index)) {
    result.kind = Operand::Kind::kRegister;
    return result;
  }
  if (find_symbol(token.text, result)) {
    if (cursor_.at("+") || cursor_.at("-")) {
      const bool negative = !cursor_.accept("+") && cursor_.accept("-");
      const std::uint64_t offset = cursor_.take_integer("an offset");
      result.value = negative ? 0 - offset : offset;
    }
    return result;
  }
  if (const SpecialRegister* special = find_special(token.text)) {
    result.kind = Operand::Kind::kSpecialRegister;
    result.index = static_cast<std::uint32_t>(*special);
    return result;
  }
  if (std::ranges::find(kMachineDependent, token.text) != kMachineDependent.end()) {
    unknown_special_register_ = token.text;
    return result;
  }
  if (token.text.starts_with('%')) {
    TokenCursor::fail_at(fmt::format("found '{}', expected a declared register", token.text), token.position);
  }
  result.kind = Operand::Kind::kLabel;
  pending_labels_.push_back(
      {function_.instructions.size(), std::string(token.text), token.position, innermost_scope()});
  return result;
}

Operand BodyParser::address() {
  cursor_.expect("[");
  Operand result{.kind = Operand::Kind::kAddress};
  Operand base = operand();
  if (base.kind == Operand::Kind::kLabel) {
    TokenCursor::fail_at(fmt::format("found '{}', expected a register or a variable", pending_labels_.back().name),
                         base.position);
  }
  result.value = base.kind == Operand::Kind::kSymbol ? std::exchange(base.value, 0) : 0;
  if (cursor_.at("+") || cursor_.at("-")) {
    const bool negative = !cursor_.accept("+") && cursor_.accept("-");
    const std::uint64_t offset = cursor_.take_integer("an offset");
    result.value += negative ? 0 - offset : offset;
  }
  result.elements.push_back(std::move(base));
  if (cursor_.accept(",")) result.elements.push_back(vector("{", "}"));
  cursor_.expect("]");
  return result;
}

Operand BodyParser::vector(std::string_view open, std::string_view close) {
  Operand result{.kind = Operand::Kind::kVector};
  cursor_.expect(open);
  if (!cursor_.at(close)) {
    do {
      result.elements.push_back(operand());
    } while (cursor_.accept(","));
  }
  cursor_.expect(close);
  return result;
}

bool BodyParser::find_register(std::string_view name, std::uint32_t& index) const {
  std::string_view prefix;
  std::uint32_t number = 0;
  const bool numbered = split_number(name, prefix, number);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->registers.find(name); found != scope->registers.end()) {
      index = found->second;
      return true;
    }
    if (!numbered) continue;
    if (const auto range = scope->register_ranges.find(prefix);
        range != scope->register_ranges.end() && number < range->second.count) {
      index = range->second.first + number;
      return true;
    }
  }
  return false;
}

bool BodyParser::find_symbol(std::string_view name, Operand& symbol) const {
  const auto found = [&](SymbolKind kind, std::size_t index) {
    symbol.kind = Operand::Kind::kSymbol;
    symbol.symbol_kind = kind;
    symbol.index = static_cast<std::uint32_t>(index);
    return true;
  };
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto variable = scope->variables.find(name); variable != scope->variables.end()) {
      return found(SymbolKind::kBodyVariable, variable->second);
    }
  }
  const auto search = [&](const auto& items, SymbolKind kind, std::size_t shift = 0) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].name == name) return found(kind, i + shift);
    }
    return false;
  };
  // Results are numbered after the parameters.
  return search(function_.parameters, SymbolKind::kParameter) ||
         search(function_.return_values, SymbolKind::kParameter, function_.parameters.size()) ||
         search(module_.variables, SymbolKind::kVariable) || search(module_.functions, SymbolKind::kFunction);
}

}  // namespace assay::ptx
