#include "harness/judge/inputs/preconditions.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "ir/analysis.hpp"
#include "support/trim.hpp"

namespace assay::harness {
namespace {

using ir::VarId;

/// Brackets and minus signs in one annotation.
constexpr int kMostNested = 32;

/// Parses one annotation from left to right. Keeps the first failure.
class PreconditionParser {
 public:
  PreconditionParser(const ir::Function& kernel, std::string_view text) : kernel_(&kernel), rest_(text) {}

  bool failed() const { return !expected_.empty(); }
  const std::string& expected() const { return expected_; }
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
  void fail(std::string expected) {
    if (expected_.empty()) expected_ = std::move(expected);
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
    const std::string_view name = word();
    for (VarId p = 0; p < kernel_->parameter_count; ++p) {
      if (kernel_->var(p).name == name) return p;
    }
    fail("a parameter name");
    return ir::kNone;
  }

  PreconditionTerm sum() {
    PreconditionTerm left = product();
    for (;;) {
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
  void skip() { rest_ = trimmed(rest_); }

  static PreconditionTerm pair(PreconditionTerm::Kind kind, PreconditionTerm left, PreconditionTerm right) {
    PreconditionTerm term;
    term.kind = kind;
    term.left = std::make_shared<const PreconditionTerm>(std::move(left));
    term.right = std::make_shared<const PreconditionTerm>(std::move(right));
    return term;
  }

  PreconditionTerm product() {
    PreconditionTerm left = atom();
    while (take("*"))
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
    if (rest_.starts_with("len(") || rest_.starts_with("len (")) {
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
      want("shape");
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
    if (term.kind == PreconditionTerm::Kind::kParameter && !type.is_scalar()) fail("a scalar parameter");
    if (term.kind == PreconditionTerm::Kind::kExtent && (term.dimension < 0 || term.dimension >= type.rank)) {
      fail("a valid array dimension");
    }
  }

  const ir::Function* kernel_;
  std::string_view rest_;
  std::string expected_;
  int depth_ = 0;
};

void read_launch(PreconditionParser& reader, Preconditions& preconditions) {
  const bool bracket = reader.take("(");
  while (!reader.failed()) {
    PreconditionTerm open;
    open.kind = PreconditionTerm::Kind::kOpen;
    preconditions.launch_extents.push_back(reader.take_word("_") ? open : reader.sum());
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

/// name is a permutation | name are [separate] triangles | name <= name | name <= term | term <= name [<= term], and
/// the mirrored comparisons.
void read_domain(PreconditionParser& reader, const ir::Function& kernel, Preconditions& preconditions) {
  PreconditionParser look = reader;
  const VarId subject = look.parameter();
  const bool starts_with_name = !look.failed();
  if (starts_with_name && look.take("is")) {
    look.take("a");
    look.want("permutation");
    preconditions.must_be_permutation[static_cast<std::size_t>(subject)] = true;
    reader = look;
    return;
  }
  if (starts_with_name && look.take_word("are")) {
    const bool are_separate = look.take_word("separate");
    look.want("triangles");
    preconditions.must_be_triangles[static_cast<std::size_t>(subject)] = true;
    preconditions.must_be_separate_triangles[static_cast<std::size_t>(subject)] = are_separate;
    reader = look;
    return;
  }
  const auto order = [](PreconditionParser& from, bool& less, bool& open) {
    for (const std::string_view token : {"<=", ">=", "<", ">"}) {
      if (!from.take(token)) continue;
      less = token[0] == '<';
      open = token.size() == 1;
      return;
    }
    from.fail("<, <=, > or >=");
  };
  bool less = true;
  bool open = false;
  const auto bound = [&](VarId name, PreconditionTerm term, bool is_low) {
    if (name == ir::kNone) return;
    auto& range = preconditions.range_by_parameter[static_cast<std::size_t>(name)];
    if (!range) range.emplace();
    (is_low ? range->low : range->high) = std::move(term);
    (is_low ? range->is_low_open : range->is_high_open) = open;
  };
  if (starts_with_name) {
    PreconditionParser first = look;
    order(first, less, open);
    PreconditionParser second = first;
    if (const VarId other = second.parameter(); !open && second.done() && are_comparable(kernel, subject, other)) {
      preconditions.greatest_elements[static_cast<std::size_t>(less ? subject : other)] = less ? other : subject;
      reader = second;
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
        bound(subject, std::move(term), !less);
        reader = whole;
        return;
      }
    }
  }
  PreconditionTerm outer = reader.sum();
  order(reader, less, open);
  const VarId name = reader.parameter();
  bound(name, std::move(outer), less);
  if (reader.failed() || reader.done()) return;
  order(reader, less, open);
  bound(name, reader.sum(), !less);
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
      read_launch(reader, preconditions);
    } else {
      read_domain(reader, kernel, preconditions);
    }
    if (!reader.failed() && !reader.done()) reader.fail("the end of the comment");
    if (reader.failed()) {
      return Error{.message = fmt::format("invalid comment '{}': expected {}", annotation, reader.expected()),
                   .where = fmt::format("{}:{}", module.source_name, kernel.loc.line)};
    }
  }
  if (!preconditions.launch_extents.empty() &&
      preconditions.launch_extents.size() != static_cast<std::size_t>(kernel.launch_rank)) {
    return Error{.message = fmt::format("the launch comment has {} extents, but the kernel has {} thread indices",
                                        preconditions.launch_extents.size(), kernel.launch_rank),
                 .where = fmt::format("{}:{}", module.source_name, kernel.loc.line)};
  }
  return preconditions;
}

}  // namespace assay::harness
