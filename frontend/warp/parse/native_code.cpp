#include "frontend/warp/parse/native_code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "support/trim.hpp"

namespace assay::frontend {
namespace {

using ir::ExprId;
using ir::kNone;
using ir::Op;
using ir::Scalar;
using ir::Type;
using ir::VarId;

constexpr Type kU32 = ir::scalar_type(Scalar::kU32);
constexpr Type kI64 = ir::scalar_type(Scalar::kI64);
constexpr Type kU64 = ir::scalar_type(Scalar::kU64);
constexpr Type kF64 = ir::scalar_type(Scalar::kF64);

/// Ends the parsing; caught by parse_native_code.
struct NativeError {
  std::string message;
};

// ---- preprocessor

/// What threads of a GPU do together. Code for the CPU that stands for such code says nothing about it.
constexpr auto kCooperation = std::to_array<std::string_view>(
    {"__shfl", "__sync", "__ballot", "__activemask", "__shared__", "__match", "threadIdx", "blockIdx", "atomic"});

/// The lines for the CPU; other lines become empty, so that line numbers stay the same.
std::string lines_for_cpu(std::string_view code) {
  std::string kept;
  std::vector<bool> taken;  // by nested condition: whether its current part is for the CPU
  for (std::size_t at = 0; at <= code.size();) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    const std::string_view line = code.substr(at, end - at);
    const std::string_view text = trimmed(line);
    at = end + 1;
    const bool is_directive = text.starts_with('#');
    if (text.starts_with("#if")) {
      if (text.find("__CUDA_ARCH__") == std::string_view::npos)
        throw NativeError{fmt::format("the condition '{}' is not supported; only __CUDA_ARCH__ is", text)};
      taken.push_back(text.starts_with("#ifndef") || text.find("!defined") != std::string_view::npos);
    } else if (text.starts_with("#else") || text.starts_with("#endif")) {
      if (taken.empty()) throw NativeError{fmt::format("'{}' without '#if'", text)};
      const bool was_taken = taken.back();
      taken.pop_back();
      if (text.starts_with("#else")) taken.push_back(!was_taken);
    } else if (is_directive && !text.starts_with("#pragma")) {
      throw NativeError{fmt::format("'{}' is not supported", text)};
    }
    const bool is_for_cpu = std::ranges::find(taken, false) == taken.end();
    if (!is_directive && is_for_cpu) kept += line;
    if (!is_directive && !is_for_cpu) {
      for (const std::string_view word : kCooperation) {
        if (line.find(word) != std::string_view::npos)
          throw NativeError{
              fmt::format("on a GPU it uses '{}', by which threads work together; the code for the CPU "
                          "does not show the result",
                          word)};
      }
    }
    kept += '\n';
  }
  if (!taken.empty()) throw NativeError{"'#if' without '#endif'"};
  return kept;
}

// ---- tokens

struct Token {
  enum class Kind : std::uint8_t { kEnd, kName, kNumber, kSymbol };
  Kind kind = Kind::kEnd;  ///< kind of the token
  std::string_view text;   ///< its text
  int line = 1;            ///< its line in the code
};

/// Symbols of several characters, longer ones first.
constexpr auto kSymbols =
    std::to_array<std::string_view>({"<<=", ">>=", "::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
                                     "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "++", "--"});

std::vector<Token> tokens_of(std::string_view code) {
  std::vector<Token> tokens;
  int line = 1;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = 0; at < code.size();) {
    const char c = code[at];
    if (c == '\n') ++line;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at;
      continue;
    }
    if (code.substr(at).starts_with("//")) {
      at = std::min(code.find('\n', at), code.size());
      continue;
    }
    if (code.substr(at).starts_with("/*")) {
      const std::size_t end = code.find("*/", at);
      if (end == std::string_view::npos) throw NativeError{"a comment does not end"};
      line += static_cast<int>(std::ranges::count(code.substr(at, end - at), '\n'));
      at = end + 2;
      continue;
    }
    std::size_t end = at + 1;
    Token::Kind kind = Token::Kind::kSymbol;
    const bool starts_number =
        std::isdigit(static_cast<unsigned char>(c)) != 0 ||
        (c == '.' && end < code.size() && std::isdigit(static_cast<unsigned char>(code[end])) != 0);
    if (starts_number) {
      kind = Token::Kind::kNumber;
      const bool is_hex = code.substr(at).starts_with("0x") || code.substr(at).starts_with("0X");
      const auto continues = [&](std::size_t k) {
        const bool is_sign =
            (code[k] == '+' || code[k] == '-') && !is_hex && (code[k - 1] == 'e' || code[k - 1] == 'E');
        return is_word(code[k]) || code[k] == '.' || is_sign;
      };
      while (end < code.size() && continues(end))
        ++end;
    } else if (is_word(c)) {
      kind = Token::Kind::kName;
      while (end < code.size() && is_word(code[end]))
        ++end;
    } else {
      for (const std::string_view symbol : kSymbols) {
        if (code.substr(at).starts_with(symbol)) {
          end = at + symbol.size();
          break;
        }
      }
    }
    tokens.push_back({kind, code.substr(at, end - at), line});
    at = end;
  }
  tokens.push_back({Token::Kind::kEnd, "", line});
  return tokens;
}

// ---- operators and functions

/// A binary operator: those with a greater strength bind their operands first.
struct BinaryOperator {
  std::string_view symbol;
  int strength;
  Op op;
};
constexpr auto kOperators = std::to_array<BinaryOperator>({
    {"||", 1, Op::kOr},
    {"&&", 2, Op::kAnd},
    {"|", 3, Op::kBitOr},
    {"^", 4, Op::kBitXor},
    {"&", 5, Op::kBitAnd},
    {"==", 6, Op::kEq},
    {"!=", 6, Op::kNe},
    {"<", 7, Op::kLt},
    {"<=", 7, Op::kLe},
    {">", 7, Op::kGt},
    {">=", 7, Op::kGe},
    {"<<", 8, Op::kShiftLeft},
    {">>", 8, Op::kShiftRight},
    {"+", 9, Op::kAdd},
    {"-", 9, Op::kSub},
    {"*", 10, Op::kMul},
    {"/", 10, Op::kDiv},
    {"%", 10, Op::kMod},
});

/// A function of the C++ library; with the suffix `f`, its operands are float.
struct NativeFunction {
  std::string_view name;
  std::size_t operands;
  Op op;
};
constexpr auto kFunctions = std::to_array<NativeFunction>({
    {"sqrt", 1, Op::kSqrt},         {"fabs", 1, Op::kAbs},    {"abs", 1, Op::kAbs},     {"floor", 1, Op::kFloor},
    {"ceil", 1, Op::kCeil},         {"round", 1, Op::kRound}, {"trunc", 1, Op::kTrunc}, {"rint", 1, Op::kRint},
    {"exp", 1, Op::kExp},           {"exp2", 1, Op::kExp2},   {"expm1", 1, Op::kExpm1}, {"log", 1, Op::kLog},
    {"log2", 1, Op::kLog2},         {"log10", 1, Op::kLog10}, {"log1p", 1, Op::kLog1p}, {"sin", 1, Op::kSin},
    {"cos", 1, Op::kCos},           {"tan", 1, Op::kTan},     {"asin", 1, Op::kAsin},   {"acos", 1, Op::kAcos},
    {"atan", 1, Op::kAtan},         {"sinh", 1, Op::kSinh},   {"cosh", 1, Op::kCosh},   {"tanh", 1, Op::kTanh},
    {"atan2", 2, Op::kAtan2},       {"pow", 2, Op::kPow},     {"fmin", 2, Op::kMin},    {"fmax", 2, Op::kMax},
    {"min", 2, Op::kMin},           {"max", 2, Op::kMax},     {"hypot", 2, Op::kHypot}, {"fma", 3, Op::kFma},
    {"copysign", 2, Op::kCopysign}, {"cbrt", 1, Op::kCbrt},
});

/// Names of types of one word.
constexpr auto kTypes = std::to_array<std::pair<std::string_view, Type>>({
    {"float", ir::kF32},
    {"double", kF64},
    {"int", ir::kI32},
    {"bool", ir::kBool},
    {"unsigned", kU32},
    {"int32_t", ir::kI32},
    {"uint32_t", kU32},
    {"int64_t", kI64},
    {"uint64_t", kU64},
    {"float32", ir::kF32},
    {"float64", kF64},
    {"int32", ir::kI32},
    {"uint32", kU32},
    {"int64", kI64},
    {"uint64", kU64},
});

/// Builds the function from the tokens.
class NativeParser {
 public:
  NativeParser(FunctionContext& context, std::vector<Token> tokens, Type result)
      : context_(context), b_(context.builder), tokens_(std::move(tokens)), result_(result) {}

  void run() {
    copy_assigned_parameters();
    bool always_returns = false;
    while (now().kind != Token::Kind::kEnd)
      always_returns |= statement();
    if (result_ != ir::kVoid && !always_returns) throw NativeError{"it does not return a value on every path"};
    if (result_ != ir::kVoid && context_.function.results.empty()) context_.function.results = {result_};
    context_.has_results = result_ != ir::kVoid;
  }
  int line() const { return now().line; }

 private:
  const Token& now() const { return tokens_[at_]; }
  bool is(std::string_view text) const { return now().kind != Token::Kind::kEnd && now().text == text; }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!take(text)) throw NativeError{fmt::format("expected '{}', got '{}'", text, now().text)};
  }
  std::string_view name() {
    if (now().kind != Token::Kind::kName) throw NativeError{fmt::format("expected a name, got '{}'", now().text)};
    return tokens_[at_++].text;
  }

  // ---- statements; each returns whether it always ends the function

  bool statement() {
    if (take(";")) return false;
    if (is("{")) return block();
    if (take("if")) return if_statement();
    if (take("while")) return while_statement();
    if (take("return")) return return_statement();
    for (const std::string_view word : {"for", "do", "switch", "break", "continue", "goto"})
      if (is(word)) throw NativeError{fmt::format("'{}' is not supported", word)};
    if (const auto type = declared_type()) {
      declaration(*type);
    } else {
      assignment();
    }
    expect(";");
    return false;
  }

  bool block() {
    expect("{");
    const auto outer = locals_;
    bool always_returns = false;
    while (!take("}"))
      always_returns |= statement();
    locals_ = outer;
    return always_returns;
  }

  bool if_statement() {
    expect("(");
    const ExprId test = truth(expression());
    expect(")");
    bool first = false;
    bool second = false;
    const auto outer = locals_;
    b_.if_(
        test, [&] { first = statement(); },
        [&] {
          locals_ = outer;
          if (take("else")) second = statement();
        });
    locals_ = outer;
    return first && second;
  }

  bool while_statement() {
    expect("(");
    const auto outer = locals_;
    // Some functions need variables, which each iteration must compute again.
    if (condition_needs_variables()) {
      b_.while_(b_.boolean(true), [&] {
        const ExprId test = truth(expression());
        expect(")");
        b_.if_(b_.op(Op::kNot, {test}), [&] { b_.break_(); });
        statement();
      });
    } else {
      const ExprId test = truth(expression());
      expect(")");
      b_.while_(test, [&] { statement(); });
    }
    locals_ = outer;
    return false;
  }

  /// Whether the condition that begins here calls a function that is computed in several statements.
  bool condition_needs_variables() const {
    int depth = 1;
    for (std::size_t at = at_; depth > 0 && tokens_[at].kind != Token::Kind::kEnd; ++at) {
      const std::string_view text = tokens_[at].text;
      depth += text == "(" ? 1 : text == ")" ? -1 : 0;
      for (const std::string_view part : {"popcount", "ffs", "nextafter"})
        if (text.find(part) != std::string_view::npos) return true;
    }
    return false;
  }

  bool return_statement() {
    if (result_ == ir::kVoid) {
      b_.return_();
    } else {
      b_.return_({converted(expression(), result_)});
    }
    expect(";");
    return true;
  }

  void declaration(Type type) {
    do {
      const std::string_view made = name();
      if (!take("=")) throw NativeError{fmt::format("the variable '{}' has no initial value", made)};
      const VarId variable = b_.let(std::string(made), converted(expression(), type));
      locals_.insert_or_assign(std::string(made), variable);
    } while (take(","));
  }

  void assignment() {
    const bool is_prefix = is("++") || is("--");
    const std::string_view symbol = is_prefix ? tokens_[at_++].text : std::string_view();
    const std::string_view target = name();
    const VarId variable = variable_of(target);
    const Type type = context_.function.var(variable).type;
    const auto add = [&](std::string_view step) {
      const ExprId one = b_.literal(type, std::int64_t{1});
      if (!type.is_integer_scalar()) throw NativeError{"++ and -- are supported for integers only"};
      b_.assign(variable, b_.op(step == "++" ? Op::kAdd : Op::kSub, {b_.var(variable), one}));
    };
    if (is_prefix) return add(symbol);
    const std::string_view sign = now().text;
    ++at_;
    if (sign == "++" || sign == "--") return add(sign);
    if (sign == "=") return b_.assign(variable, converted(expression(), type));
    const auto found = sign.ends_with('=')
                           ? std::ranges::find(kOperators, sign.substr(0, sign.size() - 1), &BinaryOperator::symbol)
                           : kOperators.end();
    if (found == kOperators.end() || found->strength < 3 || (found->strength > 5 && found->strength < 8))
      throw NativeError{fmt::format("expected an assignment to '{}', got '{}'", target, sign)};
    b_.assign(variable, converted(binary(*found, b_.var(variable), expression()), type));
  }

  /// Parameters do not change: those that the code assigns get a copy.
  void copy_assigned_parameters() {
    for (std::size_t k = 1; k + 1 < tokens_.size(); ++k) {
      if (tokens_[k - 1].kind == Token::Kind::kName && changes(tokens_[k])) copy_parameter(tokens_[k - 1].text);
      if (is_step(tokens_[k - 1]) && tokens_[k].kind == Token::Kind::kName) copy_parameter(tokens_[k].text);
    }
  }
  void copy_parameter(std::string_view target) {
    const VarId variable = context_.bindings.find(target);
    const bool is_number =
        variable >= 0 && context_.function.is_parameter(variable) && context_.function.var(variable).type.is_scalar();
    if (is_number && !locals_.contains(target)) locals_.emplace(target, b_.let(std::string(target), b_.var(variable)));
  }
  static bool is_step(const Token& token) { return token.text == "++" || token.text == "--"; }
  /// Whether the token, after a name, assigns to it.
  static bool changes(const Token& token) {
    constexpr auto kOthers = std::to_array<std::string_view>({"==", "<=", ">=", "!="});
    const bool is_assignment = token.kind == Token::Kind::kSymbol && token.text.ends_with('=') &&
                               std::ranges::find(kOthers, token.text) == kOthers.end();
    return is_assignment || is_step(token);
  }

  VarId variable_of(std::string_view wanted) {
    const auto local = locals_.find(wanted);
    const VarId variable = local != locals_.end() ? local->second : context_.bindings.find(wanted);
    if (variable == kNone) throw NativeError{fmt::format("'{}' is not supported", wanted)};
    if (FunctionContext::is_alias(variable) || !context_.function.var(variable).type.is_scalar())
      throw NativeError{fmt::format("the parameter '{}' is not a number", wanted)};
    return variable;
  }

  // ---- types

  /// The type at this place, if a name follows it: a declaration.
  std::optional<Type> declared_type() {
    const std::size_t start = at_;
    const bool is_constant = take("const");
    const auto type = type_name();
    if (type && (is_constant || now().kind == Token::Kind::kName)) return type;
    at_ = start;
    return std::nullopt;
  }

  /// A type, if there is one here.
  std::optional<Type> type_name() {
    const std::size_t start = at_;
    if (take("wp") && !take("::")) at_ = start;
    bool is_unsigned = false;
    bool is_signed = false;
    int longs = 0;
    bool has_int = false;
    for (;; ++at_) {
      if (is("unsigned")) is_unsigned = true;
      else if (is("signed")) is_signed = true;
      else if (is("long")) ++longs;
      else if (is("int")) has_int = true;
      else break;
    }
    if (is_unsigned || is_signed || longs > 0 || has_int)
      return longs > 0 ? (is_unsigned ? kU64 : kI64) : is_unsigned ? kU32 : ir::kI32;
    const auto found = std::ranges::find(kTypes, now().text, &std::pair<std::string_view, Type>::first);
    if (now().kind == Token::Kind::kName && found != kTypes.end()) {
      ++at_;
      return found->second;
    }
    at_ = start;
    return std::nullopt;
  }

  Type type_of(ExprId value) const { return context_.type_of(value); }
  static int rank(Type type) {
    constexpr std::array kRanks{Scalar::kI32, Scalar::kU32, Scalar::kI64, Scalar::kU64, Scalar::kF32, Scalar::kF64};
    return static_cast<int>(std::ranges::find(kRanks, type.scalar) - kRanks.begin());
  }
  ExprId converted(ExprId value, Type type) {
    if (type_of(value) == type) return value;
    if (type.is_bool()) return truth(value);
    return b_.cast(type, value);
  }
  /// Small integers become int.
  ExprId promoted(ExprId value) {
    const Type type = type_of(value);
    const bool is_small = type.is_bool() || (type.is_integer_scalar() && ir::row(type.scalar).bytes < 4);
    return is_small ? b_.cast(ir::kI32, value) : value;
  }
  ExprId truth(ExprId value) {
    const Type type = type_of(value);
    return type.is_bool() ? value : b_.op(Op::kNe, {value, b_.zero(type)});
  }

  // ---- expressions

  ExprId expression() {
    const ExprId test = operation(1);
    if (!take("?")) return test;
    ExprId first = promoted(expression());
    expect(":");
    ExprId second = promoted(expression());
    const Type type = rank(type_of(first)) < rank(type_of(second)) ? type_of(second) : type_of(first);
    first = converted(first, type);
    second = converted(second, type);
    return b_.op(Op::kConditional, {truth(test), first, second});
  }

  ExprId operation(int least) {
    ExprId left = unary();
    for (;;) {
      const auto found = std::ranges::find(kOperators, now().text, &BinaryOperator::symbol);
      if (now().kind != Token::Kind::kSymbol || found == kOperators.end() || found->strength < least) return left;
      ++at_;
      left = binary(*found, left, operation(found->strength + 1));
    }
  }

  ExprId binary(const BinaryOperator& with, ExprId left, ExprId right) {
    if (with.op == Op::kAnd || with.op == Op::kOr) return b_.op(with.op, {truth(left), truth(right)});
    left = promoted(left);
    right = promoted(right);
    const bool shifts = with.op == Op::kShiftLeft || with.op == Op::kShiftRight;
    const Type type = shifts || rank(type_of(left)) >= rank(type_of(right)) ? type_of(left) : type_of(right);
    const bool needs_integers = shifts || (with.strength >= 3 && with.strength <= 5) || with.op == Op::kMod;
    if (needs_integers && !(type.is_integer_scalar() && type_of(right).is_integer_scalar()))
      throw NativeError{fmt::format("the operands of '{}' must be integers", with.symbol)};
    left = converted(left, type);
    right = converted(right, type);
    return b_.op(with.op, {left, right});
  }

  ExprId unary() {
    if (take("+")) return promoted(unary());
    if (take("-")) return b_.op(Op::kNeg, {promoted(unary())});
    if (take("!")) return b_.op(Op::kNot, {truth(unary())});
    if (take("~")) return b_.op(Op::kBitNot, {promoted(unary())});
    if (is("*")) return dereferenced();
    if (is("(")) {
      const std::size_t start = at_++;
      const auto type = type_name();
      if (type && take(")")) return converted(unary(), *type);
      at_ = start;
    }
    return primary();
  }

  /// *reinterpret_cast<T*>(&x), which keeps the bits.
  ExprId dereferenced() {
    expect("*");
    expect("reinterpret_cast");
    return with_bits("*");
  }

  /// <T&>(x) or <T*>(&x) after reinterpret_cast.
  ExprId with_bits(std::string_view mark) {
    expect("<");
    take("const");
    const auto type = type_name();
    if (!type) throw NativeError{fmt::format("the type '{}' is not supported", now().text)};
    expect(mark);
    expect(">");
    expect("(");
    if (mark == "*") expect("&");
    const ExprId value = expression();
    expect(")");
    const Type from = type_of(value);
    if (ir::row(from.scalar).bytes != ir::row(type->scalar).bytes || from.is_bool() || type->is_bool())
      throw NativeError{"reinterpret_cast is supported between numbers of one size only"};
    const bool keeps_kind = from.is_float_scalar() == type->is_float_scalar();
    return b_.op(keeps_kind ? Op::kCast : Op::kReinterpret, {value}, *type);
  }

  ExprId primary() {
    if (take("(")) {
      const ExprId value = expression();
      expect(")");
      return value;
    }
    if (now().kind == Token::Kind::kNumber) return number(tokens_[at_++].text);
    if (take("reinterpret_cast")) return with_bits("&");
    if (take("static_cast")) {
      expect("<");
      const auto type = type_name();
      if (!type) throw NativeError{fmt::format("the type '{}' is not supported", now().text)};
      expect(">");
      expect("(");
      const ExprId value = converted(expression(), *type);
      expect(")");
      return value;
    }
    if (const auto type = type_name()) {
      expect("(");
      const ExprId value = converted(expression(), *type);
      expect(")");
      return value;
    }
    std::string_view called = name();
    while (take("::"))
      called = name();
    if (take("(")) return call(called);
    if (called == "true" || called == "false") return b_.boolean(called == "true");
    if (called == "INFINITY") return b_.f32(std::numeric_limits<double>::infinity());
    return b_.var(variable_of(called));
  }

  ExprId number(std::string_view text) {
    std::string_view digits = text;
    std::string suffix;
    const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    const std::string_view suffixes = is_hex ? "uUlL" : "uUlLfF";
    while (!digits.empty() && suffixes.find(digits.back()) != std::string_view::npos) {
      suffix += static_cast<char>(std::tolower(static_cast<unsigned char>(digits.back())));
      digits.remove_suffix(1);
    }
    const auto fail = [&] { throw NativeError{fmt::format("the number '{}' is not supported", text)}; };
    const bool is_real = !is_hex && digits.find_first_of(".eE") != std::string_view::npos;
    if (is_real || suffix == "f") {
      double value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error != std::errc() || end != digits.data() + digits.size()) fail();
      return b_.literal(suffix == "f" ? ir::kF32 : kF64, value);
    }
    const bool is_octal = !is_hex && digits.size() > 1 && digits.starts_with('0');
    if (is_hex) digits.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                              is_hex     ? 16
                                              : is_octal ? 8
                                                         : 10);
    if (error != std::errc() || end != digits.data() + digits.size()) fail();
    const bool is_unsigned = suffix.find('u') != std::string::npos;
    const bool is_long = suffix.find('l') != std::string::npos;
    const bool may_be_unsigned = is_unsigned || is_hex || is_octal;
    const Type type = !is_long && !is_unsigned && value <= 0x7FFFFFFFU      ? ir::kI32
                      : !is_long && may_be_unsigned && value <= 0xFFFFFFFFU ? kU32
                      : !is_unsigned && value <= 0x7FFFFFFFFFFFFFFFU        ? kI64
                                                                            : kU64;
    return b_.literal(type, static_cast<std::int64_t>(value));
  }

  // ---- functions

  ExprId call(std::string_view called) {
    std::vector<ExprId> given;
    if (!take(")")) {
      do {
        given.push_back(expression());
      } while (take(","));
      expect(")");
    }
    constexpr std::string_view kBuiltin = "__builtin_";
    std::string_view plain = called;
    if (plain.starts_with(kBuiltin)) plain.remove_prefix(kBuiltin.size());
    const auto one = [&](Type type) {
      if (given.size() != 1) throw NativeError{fmt::format("'{}' must have one argument", called)};
      return converted(given[0], type);
    };
    if (plain == "popcount") return set_bits(one(kU32));
    if (plain == "popcountl" || plain == "popcountll") return set_bits(one(kU64));
    if (plain == "ffs") return first_set_bit(one(kU32));
    if (plain == "ffsl" || plain == "ffsll") return first_set_bit(one(kU64));
    if (plain == "nextafter" || plain == "nextafterf") return next_float(called, given);
    const bool is_float = plain.size() > 1 && plain.ends_with('f') && find(plain) == nullptr;
    const NativeFunction* const found = find(is_float ? plain.substr(0, plain.size() - 1) : plain);
    if (found == nullptr || found->operands != given.size())
      throw NativeError{fmt::format("the function '{}' with {} arguments is not supported", called, given.size())};
    const bool keeps_integers = found->op == Op::kMin || found->op == Op::kMax || plain == "abs";
    Type type = is_float ? ir::kF32 : type_of(promoted(given[0]));
    for (const ExprId argument : given) {
      const Type each = type_of(promoted(argument));
      if (!is_float && rank(type) < rank(each)) type = each;
    }
    if (type.is_integer_scalar() && !keeps_integers) type = kF64;
    for (ExprId& argument : given)
      argument = converted(argument, type);
    return b_.op(found->op, given);
  }

  static const NativeFunction* find(std::string_view wanted) {
    const auto found = std::ranges::find(kFunctions, wanted, &NativeFunction::name);
    return found == kFunctions.end() ? nullptr : &*found;
  }

  /// The number of bits that are set, by sums over groups of 2, 4 and 8 bits.
  ExprId set_bits(ExprId value) {
    const Type type = type_of(value);
    const int width = type == kU32 ? 32 : 64;
    const auto mask = [&](std::uint64_t bits) { return b_.literal(type, static_cast<std::int64_t>(bits)); };
    const auto shifted = [&](VarId variable, int by) {
      return b_.op(Op::kShiftRight, {b_.var(variable), b_.literal(type, std::int64_t{by})});
    };
    const auto both = [&](ExprId left, std::uint64_t bits) { return b_.op(Op::kBitAnd, {left, mask(bits)}); };
    const VarId all = b_.let("bits", value);
    const ExprId odd = both(shifted(all, 1), 0x5555555555555555U);
    const VarId pairs = b_.let("pairs", b_.op(Op::kSub, {b_.var(all), odd}));
    const ExprId low = both(b_.var(pairs), 0x3333333333333333U);
    const VarId fours = b_.let("fours", b_.op(Op::kAdd, {low, both(shifted(pairs, 2), 0x3333333333333333U)}));
    const ExprId sums = b_.op(Op::kAdd, {b_.var(fours), shifted(fours, 4)});
    const ExprId bytes = both(sums, 0x0F0F0F0F0F0F0F0FU);
    const ExprId product = b_.op(Op::kMul, {bytes, mask(0x0101010101010101U)});
    return b_.cast(ir::kI32, b_.op(Op::kShiftRight, {product, b_.literal(type, std::int64_t{width - 8})}));
  }

  /// The number of the lowest bit that is set, counted from 1; 0 if none is.
  ExprId first_set_bit(ExprId value) {
    const Type type = type_of(value);
    const VarId all = b_.let("bits", value);
    const ExprId less = b_.op(Op::kSub, {b_.var(all), b_.literal(type, std::int64_t{1})});
    const ExprId below = b_.op(Op::kBitAnd, {b_.op(Op::kBitNot, {b_.var(all)}), less});
    const ExprId count = b_.op(Op::kAdd, {set_bits(below), b_.i32(1)});
    return b_.op(Op::kWhere, {b_.op(Op::kEq, {b_.var(all), b_.zero(type)}), b_.i32(0), count});
  }

  /// The float32 next to a value towards an infinity. The numbers of floats of one sign are in their order.
  ExprId next_float(std::string_view called, const std::vector<ExprId>& given) {
    const auto direction = given.size() == 2 ? infinity_of(given[1]) : 0;
    if (direction == 0 || type_of(given[0]) != ir::kF32)
      throw NativeError{fmt::format("'{}' is supported for float and INFINITY or -INFINITY only", called)};
    const VarId value = b_.let("value", given[0]);
    const VarId bits = b_.let("bits", b_.op(Op::kReinterpret, {b_.var(value)}, ir::kI32));
    const ExprId is_above = b_.op(Op::kGt, {b_.var(value), b_.f32(0)});
    const ExprId step = b_.op(Op::kWhere, {is_above, b_.i32(direction), b_.i32(-direction)});
    const ExprId moved = b_.op(Op::kReinterpret, {b_.op(Op::kAdd, {b_.var(bits), step})}, ir::kF32);
    const ExprId least = b_.f32(direction * double{std::numeric_limits<float>::denorm_min()});
    const ExprId is_zero = b_.op(Op::kEq, {b_.var(value), b_.f32(0)});
    const ExprId next = b_.op(Op::kWhere, {is_zero, least, moved});
    const ExprId limit = b_.f32(direction * std::numeric_limits<double>::infinity());
    const ExprId stays = b_.op(Op::kOr, {b_.op(Op::kIsNan, {b_.var(value)}), b_.op(Op::kEq, {b_.var(value), limit})});
    return b_.op(Op::kWhere, {stays, b_.var(value), next});
  }

  /// 1 and -1 for the literal infinities, otherwise 0.
  int infinity_of(ExprId value) const {
    const ir::Expr* expr = &context_.function.expr(value);
    const bool is_negative = expr->kind == ir::ExprKind::kOperation && expr->op == Op::kNeg;
    if (is_negative) expr = &context_.function.expr(expr->args[0]);
    const bool is_infinity = expr->kind == ir::ExprKind::kLiteral && expr->type == ir::kF32 &&
                             std::bit_cast<double>(expr->bits) == std::numeric_limits<double>::infinity();
    return is_infinity ? (is_negative ? -1 : 1) : 0;
  }

  FunctionContext& context_;
  ir::Builder& b_;
  std::vector<Token> tokens_;
  Type result_;
  std::size_t at_ = 0;
  std::map<std::string, VarId, std::less<>> locals_;  ///< variables of the enclosing blocks
};

}  // namespace

std::optional<std::string> string_value(SyntaxNode literal) {
  if (!literal.is(SyntaxKind::kString)) return std::nullopt;
  std::string_view text = literal.text();
  const std::size_t quote = text.find_first_of("'\"");
  if (quote == std::string_view::npos) return std::nullopt;
  const std::string_view prefix = text.substr(0, quote);
  if (prefix.find_first_of("fFbB") != std::string_view::npos) return std::nullopt;
  const bool is_raw = prefix.find_first_of("rR") != std::string_view::npos;
  text.remove_prefix(quote);
  const std::size_t width = text.starts_with("\"\"\"") || text.starts_with("'''") ? 3 : 1;
  if (text.size() < 2 * width) return std::nullopt;
  text = text.substr(width, text.size() - 2 * width);
  std::string value;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || is_raw || at + 1 == text.size()) {
      value += text[at];
      continue;
    }
    constexpr std::string_view kEscaped = "nt\\'\"\n";
    constexpr std::string_view kMeant = "\n\t\\'\"";
    const std::size_t which = kEscaped.find(text[++at]);
    if (which == std::string_view::npos) return std::nullopt;
    if (which < kMeant.size()) value += kMeant[which];
  }
  return value;
}

Result<void> parse_native_code(FunctionContext& context, std::string_view code, ir::Type result) {
  try {
    const std::string kept = lines_for_cpu(code);
    NativeParser parser(context, tokens_of(kept), result);
    try {
      parser.run();
    } catch (const NativeError& error) {
      return Error{fmt::format("line {} of the native code: {}", parser.line(), error.message)};
    }
  } catch (const NativeError& error) {
    return Error{fmt::format("native code: {}", error.message)};
  }
  return {};
}

}  // namespace assay::frontend
