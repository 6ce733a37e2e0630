#include "harness/judge/inputs/preconditions.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "ir/analysis.hpp"
#include "ir/source_location.hpp"
#include "support/trim.hpp"

namespace assay::harness {
namespace {

using ir::VarId;

/// Brackets and minus signs in one annotation.
constexpr int kMostNested = 32;
/// Operators in one annotation. Bounds the depth of a term.
constexpr int kMostOperators = 200;

/// Parses one annotation from left to right. Keeps the first failure.
class PreconditionParser {
 public:
  PreconditionParser(const ir::Function& kernel, std::string_view text) : kernel_(&kernel), rest_(text) {}

  bool failed() const { return !failure_.empty(); }
  /// "expected X" or another reason.
  const std::string& failure() const { return failure_; }
  /// The name of a parameter.
  const std::string& name_of(VarId parameter) const { return kernel_->var(parameter).name; }
  bool done() {
    skip();
    return rest_.empty();
  }
  bool take(std::string_view token) {
    skip();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool take_word(std::string_view expected) {
    PreconditionParser ahead = *this;
    if (ahead.word() != expected) return false;
    *this = ahead;
    return true;
  }
  void want(std::string_view token) {
    if (!take(token)) fail(fmt::format("'{}'", token));
  }
  void fail(std::string_view expected) { reject(fmt::format("expected {}", expected)); }
  void reject(std::string reason) {
    if (failure_.empty()) failure_ = std::move(reason);
  }

  std::string_view word() {
    skip();
    std::size_t length = 0;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 || rest_[length] == '_')) {
      ++length;
    }
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word;
  }

  VarId parameter() {
    skip();
    const std::string_view rest = rest_;
    const std::string_view name = word();
    std::vector<std::string_view> known;
    for (VarId p = 0; p < kernel_->parameter_count; ++p) {
      if (name_of(p) == name) return p;
      known.push_back(name_of(p));
    }
    const std::string got = !name.empty()  ? fmt::format("'{}'", name)
                            : rest.empty() ? "the end of the comment"
                                           : fmt::format("'{}'", rest);
    fail(fmt::format("a parameter name, got {}; the parameters are {}", got, fmt::join(known, ", ")));
    return ir::kNone;
  }

  /// The parameter, or the array, whose values a domain restricts.
  VarId subject() {
    skip();
    if (starts_with_length()) {
      reject("lengths of arrays cannot be restricted, only values of parameters and of array elements");
      return ir::kNone;
    }
    return parameter();
  }

  /// Takes a comparison. `less` is set to whether it is < or <=, `open` to whether it excludes equal values.
  void order(bool& less, bool& open) {
    for (const std::string_view token : {"<=", ">=", "<", ">"}) {
      if (!take(token)) continue;
      less = token[0] == '<';
      open = token.size() == 1;
      return;
    }
    if (take(".")) {
      reject(take_word("shape")
                 ? "lengths of arrays cannot be restricted, only values of parameters and of array elements"
                 : std::string(kStructFields));
    }
    if (rest_.starts_with('['))
      reject("the range of an array holds for all its elements; write the name of the array without an index");
    fail("<, <=, >, >= or 'in', as in '-1 <= x < 1' or 'x in [-1, 1)'");
  }

  PreconditionTerm sum() {
    PreconditionTerm left = product();
    for (;;) {
      if (failed()) return left;
      if (take("+")) {
        left = pair(PreconditionTerm::Kind::kAdd, std::move(left), product());
      } else if (take("-")) {
        left = pair(PreconditionTerm::Kind::kSubtract, std::move(left), product());
      } else {
        return left;
      }
    }
  }

 private:
  static constexpr std::string_view kStructFields =
      "ranges of struct fields are not supported; a range of the parameter itself holds for all its fields";

  void skip() { rest_ = trimmed(rest_); }
  bool starts_with_length() const { return rest_.starts_with("len(") || rest_.starts_with("len ("); }

  PreconditionTerm pair(PreconditionTerm::Kind kind, PreconditionTerm left, PreconditionTerm right) {
    if (++operators_ > kMostOperators) reject(fmt::format("more than {} operators", kMostOperators));
    if (failed()) return {};
    PreconditionTerm term;
    term.kind = kind;
    term.left = std::make_shared<const PreconditionTerm>(std::move(left));
    term.right = std::make_shared<const PreconditionTerm>(std::move(right));
    return term;
  }

  PreconditionTerm product() {
    PreconditionTerm left = atom();
    while (!failed() && take("*"))
      left = pair(PreconditionTerm::Kind::kMultiply, std::move(left), atom());
    return left;
  }

  PreconditionTerm atom() {
    skip();
    if (take("(")) {
      PreconditionTerm inner = ++depth_ < kMostNested ? sum() : PreconditionTerm{};
      want(")");
      return inner;
    }
    if (take("-"))
      return pair(PreconditionTerm::Kind::kSubtract, PreconditionTerm{},
                  ++depth_ < kMostNested ? atom() : PreconditionTerm{});
    double number = 0;
    const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (code == std::errc{}) {
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      PreconditionTerm term;
      term.number = number;
      return term;
    }
    return named();
  }

  PreconditionTerm named() {
    PreconditionTerm term;
    if (starts_with_length()) {
      want("len");
      want("(");
      term.kind = PreconditionTerm::Kind::kExtent;
      term.parameter = parameter();
      want(")");
      check(term);
      return term;
    }
    term.parameter = parameter();
    term.kind = PreconditionTerm::Kind::kParameter;
    if (take(".")) {
      const bool is_shape = take_word("shape");
      const bool is_struct = term.parameter != ir::kNone && kernel_->var(term.parameter).type.element().is_struct();
      if (!is_shape && is_struct) reject(std::string(kStructFields));
      if (!is_shape) fail("'shape'");
      want("[");
      term.kind = PreconditionTerm::Kind::kExtent;
      const std::string_view digit = word();
      term.dimension = digit.size() == 1 ? digit[0] - '0' : -1;
      check(term);
      want("]");
      return term;
    }
    check(term);
    return term;
  }

  void check(const PreconditionTerm& term) {
    if (term.parameter == ir::kNone) return;
    const ir::Type type = kernel_->var(term.parameter).type;
    if (term.kind == PreconditionTerm::Kind::kParameter && !type.is_scalar())
      fail(fmt::format("a scalar parameter, got the {} '{}'", type.is_array() ? "array" : "parameter",
                       name_of(term.parameter)));
    if (term.kind == PreconditionTerm::Kind::kExtent && (term.dimension < 0 || term.dimension >= type.rank)) {
      fail("a valid array dimension");
    }
  }

  const ir::Function* kernel_;
  std::string_view rest_;
  std::string failure_;
  int depth_ = 0;
  int operators_ = 0;
};

/// The value of a term without parameters and lengths.
std::optional<double> constant_value(const PreconditionTerm& term) {
  using Kind = PreconditionTerm::Kind;
  if (term.left != nullptr) {
    const bool is_constant = constant_value(*term.left) && constant_value(*term.right);
    return is_constant ? std::optional(term.evaluate({})) : std::nullopt;
  }
  return term.kind == Kind::kNumber ? std::optional(term.number) : std::nullopt;
}

/// Whether a term uses the value of a parameter for which `is_meant` holds.
template <class Predicate>
bool uses_value(const PreconditionTerm& term, const Predicate& is_meant) {
  if (term.left != nullptr) return uses_value(*term.left, is_meant) || uses_value(*term.right, is_meant);
  return term.kind == PreconditionTerm::Kind::kParameter && is_meant(term.parameter);
}

/// Rejects extents that no launch can have.
void check_extent(PreconditionParser& reader, const ir::Function& kernel, const PreconditionTerm& extent) {
  if (reader.failed()) return;
  const std::optional<double> value = constant_value(extent);
  if (value && !(*value >= 1 && *value == std::floor(*value)))
    reader.reject(fmt::format("the extent of a launch must be a positive integer, got {}", *value));
  if (uses_value(extent, [&](VarId p) { return ir::is_float(kernel.var(p).type.scalar); }))
    reader.reject("the extent of a launch must not depend on a float parameter");
}

void read_launch(PreconditionParser& reader, const ir::Function& kernel, Preconditions& preconditions) {
  const bool bracket = reader.take("(");
  while (!reader.failed()) {
    PreconditionTerm open;
    open.kind = PreconditionTerm::Kind::kOpen;
    preconditions.launch_extents.push_back(reader.take_word("_") ? open : reader.sum());
    check_extent(reader, kernel, preconditions.launch_extents.back());
    if (!reader.take(",")) break;
    if (bracket && reader.take(")")) return;
  }
  if (bracket) reader.want(")");
}

/// Whether both parameters are arrays of floats of the same type.
bool are_comparable(const ir::Function& kernel, VarId first, VarId second) {
  if (first == ir::kNone || second == ir::kNone) return false;
  const ir::Type type = kernel.var(first).type;
  return type.is_array() && type == kernel.var(second).type && !type.element().is_struct() && ir::is_float(type.scalar);
}

/// Whether the range contains no number, or no integer if it restricts integers. False if that depends on the launch.
bool is_certainly_empty(const PreconditionRange& range, bool is_of_integers) {
  const std::optional<double> low = range.low ? constant_value(*range.low) : std::nullopt;
  const std::optional<double> high = range.high ? constant_value(*range.high) : std::nullopt;
  if (!low || !high) return (low && std::isnan(*low)) || (high && std::isnan(*high));
  if (!(*low <= *high) || (*low == *high && (range.is_low_open || range.is_high_open))) return true;
  if (!is_of_integers) return false;
  const double least = range.is_low_open ? std::floor(*low) + 1 : std::ceil(*low);
  const double greatest = range.is_high_open ? std::ceil(*high) - 1 : std::floor(*high);
  return least > greatest;
}

/// Whether the parameter is an array of integers or of vectors of integers.
bool is_integer_array(const ir::Function& kernel, VarId parameter) {
  const ir::Type type = kernel.var(parameter).type;
  return type.is_array() && !type.element().is_struct() && ir::is_integer(type.scalar);
}

/// Restricts the values of a parameter, after the comparison of a domain.
void restrict_values(PreconditionParser& reader, const ir::Function& kernel, Preconditions& preconditions,
                     VarId parameter, PreconditionTerm bound, bool is_low, bool is_open) {
  if (reader.failed()) return;
  if (uses_value(bound, [&](VarId used) { return used == parameter; })) {
    return reader.reject(fmt::format("the bound of '{0}' must not depend on '{0}' itself", reader.name_of(parameter)));
  }
  auto& range = preconditions.range_by_parameter[static_cast<std::size_t>(parameter)];
  if (!range) range.emplace();
  (is_low ? range->low : range->high) = std::move(bound);
  (is_low ? range->is_low_open : range->is_high_open) = is_open;
  const ir::Type type = kernel.var(parameter).type;
  const bool is_of_integers = !type.element().is_struct() && ir::is_integer(type.scalar);
  if (is_certainly_empty(*range, is_of_integers))
    reader.reject(
        fmt::format("no {} is in the range of '{}'", is_of_integers ? "integer" : "number", reader.name_of(parameter)));
}

/// `name is a permutation` or `name are [separate] triangles`, after the name. False for any other comment.
bool read_property(PreconditionParser& reader, const ir::Function& kernel, VarId subject,
                   Preconditions& preconditions) {
  const auto number = static_cast<std::size_t>(subject);
  const bool is_permutation = reader.take("is");
  if (!is_permutation && !reader.take_word("are")) return false;
  if (is_permutation) {
    reader.take("a");
    reader.want("permutation");
    preconditions.must_be_permutation[number] = true;
  } else {
    preconditions.must_be_separate_triangles[number] = reader.take_word("separate");
    reader.want("triangles");
    preconditions.must_be_triangles[number] = true;
  }
  if (!is_integer_array(kernel, subject))
    reader.reject(fmt::format("'{}' must be an array of integers", reader.name_of(subject)));
  return true;
}

/// `name in [term, term]`, after the name; a round bracket excludes its bound. False for any other comment.
bool read_interval(PreconditionParser& reader, const ir::Function& kernel, VarId subject,
                   Preconditions& preconditions) {
  if (!reader.take_word("in")) return false;
  const bool is_low_open = reader.take("(");
  if (!is_low_open && !reader.take("[")) reader.fail("'[' or '(', as in 'x in [0, 1)'");
  PreconditionTerm low = reader.sum();
  reader.want(",");
  PreconditionTerm high = reader.sum();
  const bool is_high_open = reader.take(")");
  if (!is_high_open) reader.want("]");
  restrict_values(reader, kernel, preconditions, subject, std::move(low), true, is_low_open);
  restrict_values(reader, kernel, preconditions, subject, std::move(high), false, is_high_open);
  return true;
}

/// name is a permutation | name are [separate] triangles | name in [term, term] | name <= name | name <= term |
/// term <= name [<= term], and the mirrored comparisons.
void read_domain(PreconditionParser& reader, const ir::Function& kernel, Preconditions& preconditions) {
  PreconditionParser look = reader;
  const VarId subject = look.parameter();
  const bool starts_with_name = !look.failed();
  if (starts_with_name) {
    PreconditionParser property = look;
    if (read_property(property, kernel, subject, preconditions) ||
        read_interval(property, kernel, subject, preconditions)) {
      reader = property;
      return;
    }
  }
  bool less = true;
  bool open = false;
  if (starts_with_name) {
    PreconditionParser first = look;
    first.order(less, open);
    PreconditionParser second = first;
    if (const VarId other = second.parameter(); !open && second.done() && are_comparable(kernel, subject, other)) {
      reader = second;
      if (subject == other) return reader.reject(fmt::format("'{}' is compared with itself", reader.name_of(subject)));
      preconditions.greatest_elements[static_cast<std::size_t>(less ? subject : other)] = less ? other : subject;
      return;
    }
    if (first.failed() && kernel.var(subject).type.is_array()) {
      reader = first;
      return;
    }
    if (!first.failed()) {
      // "name < term": the one form that begins with the parameter, unless a second comparison follows.
      PreconditionParser whole = first;
      PreconditionTerm term = whole.sum();
      if (whole.done() || kernel.var(subject).type.is_array()) {
        reader = whole;
        return restrict_values(reader, kernel, preconditions, subject, std::move(term), !less, open);
      }
    }
  }
  PreconditionTerm outer = reader.sum();
  reader.order(less, open);
  const VarId name = reader.subject();
  restrict_values(reader, kernel, preconditions, name, std::move(outer), less, open);
  if (reader.failed() || reader.done()) return;
  reader.order(less, open);
  PreconditionTerm inner = reader.sum();
  restrict_values(reader, kernel, preconditions, name, std::move(inner), !less, open);
}

/// The location of an annotation: of its comment above the kernel, or of the kernel if it has none there.
std::string location_of(const ir::Module& module, const ir::Function& kernel, std::string_view annotation) {
  ir::Loc loc = kernel.loc;
  // Comments of copied kernels are not among the copied lines.
  const std::int32_t last = module.copied_lines.empty() ? kernel.loc.line - 1 : 0;
  for (std::int32_t line = std::min(last, static_cast<std::int32_t>(module.source_lines.size())); line > 0; --line) {
    const std::string_view text = module.source_lines[static_cast<std::size_t>(line - 1)];
    const std::size_t hash = text.find_first_not_of(" \t");
    if (hash == std::string_view::npos || text[hash] != '#') continue;
    const std::size_t begin = std::min(text.find_first_not_of("# \t", hash), text.size());
    if (trimmed(text.substr(begin)) != trimmed(annotation)) continue;
    loc = {.line = line, .column = static_cast<std::int32_t>(hash) + 1};
    break;
  }
  return ir::location_text(module, loc);
}

}  // namespace

std::int64_t PreconditionRange::least_integer(const ir::Launch& launch) const {
  const double bound = low->evaluate(launch);
  return static_cast<std::int64_t>(std::ceil(bound)) + (is_low_open && bound == std::ceil(bound));
}

std::int64_t PreconditionRange::greatest_integer(const ir::Launch& launch) const {
  const double bound = high->evaluate(launch);
  return static_cast<std::int64_t>(std::floor(bound)) - (is_high_open && bound == std::floor(bound));
}

double PreconditionTerm::evaluate(const ir::Launch& launch) const {
  switch (kind) {
    case Kind::kNumber: return number;
    case Kind::kExtent: {
      const auto& shape = launch.arguments[static_cast<std::size_t>(parameter)].shape;
      return shape[static_cast<std::size_t>(dimension)];
    }
    case Kind::kParameter: {
      const ir::Argument& argument = launch.arguments[static_cast<std::size_t>(parameter)];
      const ir::Scalar scalar = argument.type.scalar;
      return ir::is_float(scalar) ? ir::read_float(scalar, argument.bytes.data())
                                  : static_cast<double>(ir::read_integer(scalar, argument.bytes.data()));
    }
    case Kind::kAdd: return left->evaluate(launch) + right->evaluate(launch);
    case Kind::kSubtract: return left->evaluate(launch) - right->evaluate(launch);
    case Kind::kMultiply: return left->evaluate(launch) * right->evaluate(launch);
    case Kind::kOpen: break;
  }
  return 0;
}

bool PreconditionTerm::mentions(VarId name) const {
  if (left != nullptr) return left->mentions(name) || right->mentions(name);
  return (kind == Kind::kParameter || kind == Kind::kExtent) && parameter == name;
}

bool requires_single_thread(const ir::Module& module, const ir::Function& kernel) {
  const auto says_how_many = [](const std::string& annotation) { return trimmed(annotation).starts_with("launch:"); };
  if (std::ranges::any_of(kernel.annotations, says_how_many)) return false;
  return std::ranges::any_of(ir::parameter_use(module, kernel), [](const ir::ParameterUse& use) {
    return use.written || (use.is_atomically_updated && use.read);
  });
}

Result<Preconditions> parse_preconditions(const ir::Module& module, const ir::Function& kernel) {
  Preconditions preconditions;
  preconditions.range_by_parameter.resize(static_cast<std::size_t>(kernel.parameter_count));
  preconditions.must_be_permutation.resize(static_cast<std::size_t>(kernel.parameter_count));
  preconditions.must_be_triangles.resize(static_cast<std::size_t>(kernel.parameter_count));
  preconditions.must_be_separate_triangles.resize(static_cast<std::size_t>(kernel.parameter_count));
  preconditions.greatest_elements.resize(static_cast<std::size_t>(kernel.parameter_count), ir::kNone);
  for (const std::string& annotation : kernel.annotations) {
    const std::string_view text = trimmed(annotation);
    const bool launch = text.starts_with("launch:");
    if (!launch && !text.starts_with("domain:")) continue;
    PreconditionParser reader(kernel, trimmed(text.substr(7)));
    if (launch) {
      read_launch(reader, kernel, preconditions);
    } else {
      read_domain(reader, kernel, preconditions);
    }
    if (!reader.failed() && !reader.done()) reader.fail("the end of the comment");
    if (reader.failed()) {
      return Error{.message = fmt::format("invalid comment '{}': {}", annotation, reader.failure()),
                   .where = location_of(module, kernel, annotation)};
    }
    const std::size_t extents = preconditions.launch_extents.size();
    if (launch && extents != static_cast<std::size_t>(kernel.launch_rank)) {
      return Error{.message = fmt::format("the launch comment has {} extents, but the kernel has {} thread indices",
                                          extents, kernel.launch_rank),
                   .where = location_of(module, kernel, annotation)};
    }
  }
  return preconditions;
}

}  // namespace assay::harness
