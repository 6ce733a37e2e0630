#include "harness/warp_differences/forward.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

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
  const std::size_t components = ir::scalar_components(subject.module(), argument.type.element()).size();
  std::vector<std::size_t> index(argument.shape.size());
  std::size_t element = scalar / components;
  for (std::size_t d = index.size(); d-- > 0;) {
    const auto extent = static_cast<std::size_t>(argument.shape[d]);
    index[d] = element % extent;
    element /= extent;
  }
  const std::string part = components > 1 ? fmt::format(".{}", scalar % components) : "";
  const std::string& name = subject.kernel().var(static_cast<ir::VarId>(parameter)).name;
  return fmt::format("{}[{}]{}", name, fmt::join(index, ", "), part);
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
