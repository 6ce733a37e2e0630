#include "harness/warp_differences/forward.hpp"

#include <cmath>

#include <fmt/format.h>

#include "harness/judge/launch.hpp"

namespace assay::warp {
namespace {

constexpr std::size_t kMismatchesKept = 8;

bool is_same(const harness::ComputedScalar& a, const harness::ComputedScalar& b) {
  return a.integer == b.integer && (a.value == b.value || (std::isnan(a.value) && std::isnan(b.value)));
}

std::string text_of(const harness::ComputedScalar& scalar, bool is_integer) {
  return is_integer ? fmt::format("{}", scalar.integer) : fmt::format("{:.17g}", scalar.value);
}

}  // namespace

std::string describe(const harness::ExpectedScalar& expected, const harness::ComputedScalar& got) {
  if (expected.is_integer) return fmt::format("expected {}, got {}", expected.integer, got.integer);
  return fmt::format("expected {:.17g} within {:.3g}, got {:.17g}", expected.value, expected.bound, got.value);
}

std::string element_notation(const ComparedKernel& subject, std::size_t parameter, const ir::Argument& argument,
                             std::size_t scalar) {
  return harness::component_notation(subject.module(), subject.kernel(), parameter, argument, scalar);
}

ForwardComparison compare_forward(const ComparedKernel& subject, std::size_t launch, const WarpPassResult& answer,
                                  const VisitScalar& visit) {
  const harness::InputSet& set = subject.sets()[launch];
  const auto expected = harness::expected_outputs(set.reference, reference::kNative);
  ForwardComparison comparison;
  for (std::size_t p = 0; p < expected.size(); ++p) {
    if (!expected[p]) continue;
    const ir::Argument& layout = set.launch_by_precision[reference::kNative].arguments[p];
    const auto got = harness::read_scalars(subject.module(), layout, answer.array_contents[p]);
    const auto before = harness::read_scalars(subject.module(), layout, layout.bytes);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (!expected[p]->is_written[i]) {
        if (!is_same(got[i], before[i]) && comparison.mismatches.size() < kMismatchesKept) {
          const bool is_integer = got[i].integer != before[i].integer;
          comparison.mismatches.push_back(fmt::format("{}: expected no change of {}, got {}",
                                                      element_notation(subject, p, layout, i),
                                                      text_of(before[i], is_integer), text_of(got[i], is_integer)));
        }
        continue;
      }
      const harness::ExpectedScalar& wanted = expected[p]->scalars[i];
      const harness::ScalarComparison score = harness::score(got[i], wanted);
      if (visit) visit({p, i, wanted, got[i], score.agreement});
      ++(score.agreement == harness::Agreement::kUnknown ? comparison.unbounded_scalars : comparison.checked_scalars);
      if (score.agreement == harness::Agreement::kDiffers && comparison.mismatches.size() < kMismatchesKept) {
        comparison.mismatches.push_back(element_notation(subject, p, layout, i) + ": " + describe(wanted, got[i]));
      }
    }
  }
  return comparison;
}

}  // namespace assay::warp
