#include "ir/document/operation_document.hpp"

#include <fmt/format.h>

#include "ir/library.hpp"
#include "ir/operations/operations.hpp"

namespace assay::ir {
namespace {

/// Escapes text for a table cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string code(std::string_view text) { return text.empty() ? "none" : fmt::format("`{}`", cell(text)); }

std::string interval(Interval interval) {
  return interval.low < interval.high ? fmt::format("[{}, {}]", interval.low, interval.high) : "any";
}

std::string domain(const OperationEntry& row) {
  std::string text;
  const auto count = row.arity < 0 ? std::size_t{1} : static_cast<std::size_t>(row.arity);
  for (std::size_t k = 0; k < count && k < row.domain.operand_intervals.size(); ++k)
    text += (k > 0 ? ", " : "") + interval(row.domain.operand_intervals[k]);
  switch (row.domain.relation) {
    case Relation::kNone: break;
    case Relation::kSecondNotZero: text += "; second operand not 0"; break;
    case Relation::kSecondBelowThird: text += "; low < high"; break;
    case Relation::kShiftBelowWidth: text += "; second operand less than the bit width"; break;
  }
  return text;
}

std::string_view kink(Kink kink) {
  switch (kink) {
    case Kink::kNone: return "";
    case Kink::kAtZero: return "0";
    case Kink::kAtIntegers: return "integers";
    case Kink::kAtHalfIntegers: return "half integers";
    case Kink::kAtIntegerQuotients: return "integer quotients";
    case Kink::kAtTie: return "ties";
    case Kink::kAtBounds: return "bounds";
  }
  return "";
}

std::string derivative(const OperationEntry& row) {
  if (row.adjoint_kind == AdjointKind::kHasRule) return "rule";
  return fmt::format("{}: {}", row.adjoint_kind == AdjointKind::kZeroByConvention ? "zero" : "none",
                     row.adjoint_reason);
}

std::string figure(const UlpBound& bound) {
  switch (bound.kind) {
    case UlpBound::Kind::kExact: return "exact";
    case UlpBound::Kind::kUlpsFromRoundedResult: return fmt::format("{}", bound.ulps);
    case UlpBound::Kind::kUlpsFromExactResult: return fmt::format("{} total", bound.ulps);
    case UlpBound::Kind::kDerived: return "steps";
  }
  return "";
}

std::string accuracy(const Accuracy& a) {
  const std::string figures[] = {figure(a.cuda_f32), figure(a.cuda_f64), figure(a.libm_f32), figure(a.libm_f64)};
  const bool alike = figures[0] == figures[1] && figures[0] == figures[2] && figures[0] == figures[3];
  if (alike) return figures[0];
  return fmt::format("{} / {} CUDA, {} / {} libm", figures[0], figures[1], figures[2], figures[3]);
}

std::string operands_of(const LibraryFunctionInfo& row) {
  std::string text;
  for (const char letter : row.operand_kind_letters) {
    for (const OperandKind& kind : kOperandKinds) {
      if (kind.letter == letter) text += (text.empty() ? "" : ", ") + std::string(kind.description);
    }
  }
  return text;
}

constexpr std::string_view kHead = R"(# Operations

<!-- Written by operations-doc from ir/operations/operation_table.inc and ir/library*.cpp; do not edit. -->

The operations of the kernel language. Regenerate this page with

    cmake --build build/release --target operations-doc
    build/release/bin/operations-doc > docs/generated/operations.md

## The operation table

Each row comes from `ir/operations/operation_table.inc`. *Warp* is the operation in Warp Python, with `$0`, `$1` for
its operands. *Domain* lists the intervals in which tests sample the operands. *Kinks* are points where the derivative
is discontinuous or defined by convention. *Derivative* shows whether the adjoint pass has a rule, or why it has none.
*Error* is the maximum error of an implementation in units in the last place of the correctly rounded result: 0 means
correct rounding, *exact* means no rounding error, *total* means the error against the exact result, and *steps* means
that the bounds of the steps are added. CUDA and libm are listed separately, as f32 / f64, if the errors differ.

| operation | Warp | domain | kinks | derivative | error | source |
|---|---|---|---|---|---|---|
)";

constexpr std::string_view kLibraryHead = R"(
## Warp's library

This table lists functions composed of operations (`ir/library*.cpp`). The expected value, the derivative and the error
bound of a function follow from its operations. x, y, z, u, v and w are the operands.

| function | operands | result |
|---|---|---|
)";

}  // namespace

std::string operation_document() {
  std::string text(kHead);
  for (const OperationEntry& row : kOperations) {
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row.mnemonic, code(row.warp_pattern), domain(row),
                        kink(row.kink), cell(derivative(row)), accuracy(row.accuracy), row.accuracy.citation);
  }
  text += kLibraryHead;
  for (const LibraryFunctionInfo& row : library())
    text += fmt::format("| `wp.{}` | {} | {} |\n", row.name, operands_of(row), cell(row.formula));
  return text;
}

}  // namespace assay::ir
