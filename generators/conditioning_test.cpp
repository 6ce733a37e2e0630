// Tests with the oracle that random kernels are well defined on their domains, and have small values and derivatives
// that f32 can resolve. Other kernels would cause many inconclusive verdicts.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "generators/generator.hpp"
#include "ir/launch.hpp"
#include "ir/verifier.hpp"
#include "reference/cpu/reference.hpp"
#include "support/rng.hpp"

namespace assay::generators {
namespace {

using reference::kNative;

constexpr std::uint64_t kSeeds = 300;
constexpr std::int32_t kThreads = 5;
constexpr std::int32_t kExtent = 30;  ///< of every dimension: beyond any index that a loop reaches

struct Bounds {
  double low = -2;
  double high = 2;
};

/// The interval in the line "domain: low <= name <= high", or the default if there is none.
Bounds domain_of(const ir::Function& kernel, const ir::Variable& parameter) {
  const std::string head = "domain: ";
  const std::string middle = fmt::format(" <= {} <= ", parameter.name);
  for (const std::string& line : kernel.annotations) {
    const std::size_t found = line.find(middle);
    if (!line.starts_with(head) || found == std::string::npos) continue;
    return {.low = std::stod(line.substr(head.size())), .high = std::stod(line.substr(found + middle.size()))};
  }
  return {};
}

bool is_permutation(const ir::Function& kernel, const ir::Variable& parameter) {
  const std::string line = fmt::format("domain: {} is a permutation", parameter.name);
  return std::ranges::find(kernel.annotations, line) != kernel.annotations.end();
}

/// n - 1, n - 2, ...
void fill_reversed(ir::Argument& argument) {
  const std::int64_t count = ir::element_count(argument);
  for (std::int64_t k = 0; k < count; ++k)
    ir::write_integer(argument.type.scalar, argument.bytes.data() + ir::element_offset(argument, k), count - 1 - k);
}

/// Extent of every dimension of every array, smaller for more dimensions.
std::int32_t extent_for(const ir::Function& kernel) {
  const bool is_deep = std::ranges::any_of(kernel.variables, [](const ir::Variable& v) { return v.type.rank > 2; });
  return is_deep ? 13 : kExtent;
}

void fill(const ir::Module& module, ir::Argument& argument, Bounds bounds, Rng& rng) {
  const ir::Type element = argument.type.element();
  const auto components = ir::scalar_components(module, element);
  for (std::int64_t k = 0; k < ir::element_count(argument); ++k) {
    std::byte* const at = argument.bytes.data() + ir::element_offset(argument, k);
    for (const ir::ScalarComponent& leaf : components) {
      if (ir::is_float(leaf.scalar)) {
        ir::write_float(leaf.scalar, at + leaf.offset, rng.uniform_real(bounds.low, bounds.high));
      } else {
        const bool is_bool = leaf.scalar == ir::Scalar::kBool;
        const auto low = static_cast<std::int64_t>(is_bool ? 0 : bounds.low);
        const auto high = static_cast<std::int64_t>(is_bool ? 1 : bounds.high);
        ir::write_integer(leaf.scalar, at + leaf.offset, rng.uniform_int(low, high));
      }
    }
  }
}

/// Inputs drawn from the domains, and cotangents of magnitude about 1 for all floats.
struct Sample {
  ir::Launch launch;
  reference::ComponentValues cotangents;
};

Sample sample(const GeneratedKernel& made) {
  const ir::Function& kernel = made.module.kernels[0];
  Rng rng(fnv1a(made.name));
  Sample result;
  result.launch.extents.assign(static_cast<std::size_t>(kernel.launch_rank), kThreads);
  for (ir::VarId p = 0; p < kernel.parameter_count; ++p) {
    const ir::Variable& parameter = kernel.var(p);
    ir::Argument argument = ir::make_argument(made.module, parameter.type,
                                              std::vector<std::int32_t>(parameter.type.rank, extent_for(kernel)));
    fill(made.module, argument, domain_of(kernel, parameter), rng);
    if (is_permutation(kernel, parameter)) fill_reversed(argument);
    const std::size_t components = ir::scalar_components(made.module, parameter.type.element()).size();
    const std::size_t count = static_cast<std::size_t>(ir::element_count(argument)) * components;
    std::vector<double> cotangents(parameter.type.is_array() ? count : 0);
    for (double& seed : cotangents)
      seed = rng.bernoulli(0.5) ? rng.uniform_real(0.5, 1.5) : rng.uniform_real(-1.5, -0.5);
    result.cotangents.push_back(std::move(cotangents));
    result.launch.arguments.push_back(std::move(argument));
  }
  return result;
}

/// The precision of f16 and bf16 is too low for the usual share.
bool computes_in_16_bits(const ir::Function& kernel) {
  return std::ranges::any_of(kernel.expressions, [](const ir::Expr& expr) {
    return expr.type.has_float_components() && ir::row(expr.type.scalar).bytes == 2;
  });
}

/// The oracle's results for the gradients and decisions of many kernels.
struct Tally {
  int gradients = 0;
  int uninformative = 0;
  int zero = 0;
  std::vector<std::string> uncertain;        ///< names of kernels with an uncertain decision
  std::vector<std::string> uncertain_kinks;  ///< or kink
};

void judge(const GeneratedKernel& made, Tally& tally) {
  const ir::Function& kernel = made.module.kernels[0];
  for (const ir::VerifierError& diagnostic : ir::verify(made.module))
    ADD_FAILURE() << made.name << " " << to_text(made.module, diagnostic);
  const Sample inputs = sample(made);
  const auto oracle = reference::Oracle::make(made.module, kernel);
  ASSERT_TRUE(oracle.ok()) << made.name << " " << oracle.error().text();
  const reference::ReferenceResult found =
      oracle.value().evaluate({.launch = inputs.launch, .computes_gradient = true, .cotangents = inputs.cotangents});
  const auto overflows = [](const reference::Finding& finding) {
    return finding.kind == reference::Finding::Kind::kIntegerOverflow;
  };
  // Integers near the ends of their type: the input space draws smaller ones instead.
  if (!found.findings.empty() && std::ranges::all_of(found.findings, overflows)) return;
  for (const reference::Finding& finding : found.findings)
    ADD_FAILURE() << made.name << " " << describe(finding, made.module, kernel);
  EXPECT_TRUE(found.is_complete) << made.name;
  if (found.decisions.uncertain_kinks[kNative] > 0) tally.uncertain_kinks.push_back(made.name);
  if (found.decisions.uncertain_decision_counts[kNative] > 0) {
    tally.uncertain.push_back(made.name);
    return;
  }
  for (const auto& output : found.outputs) {
    for (std::size_t k = 0; output && k < output->elements.size(); ++k) {
      const reference::OutputElement& element = output->elements[k];
      if (!ir::is_float(output->components[k % output->components.size()])) continue;
      EXPECT_LE(std::abs(static_cast<double>(element.value)), 500) << made.name;
      EXPECT_TRUE(std::isfinite(element.bound[kNative])) << made.name;
    }
  }
  const double informative = computes_in_16_bits(kernel) ? 0x1p-2 : 0x1p-10;
  for (const auto& gradient : found.gradients) {
    for (std::size_t k = 0; gradient && k < gradient->elements.size(); ++k) {
      const reference::GradientElement& element = gradient->elements[k];
      if (element.contribution_count == 0) continue;
      const double size = std::max(std::abs(static_cast<double>(element.value)), element.magnitude_sum);
      ++tally.gradients;
      if (size == 0) ++tally.zero;
      if (size > 0 && !(element.bound[kNative] <= informative * size)) ++tally.uninformative;
    }
  }
}

class Conditioning : public ::testing::TestWithParam<Family> {};

TEST_P(Conditioning, ResultsOfRandomKernelsAreDefinedAndWellConditioned) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed)
    judge(generate(GetParam(), seed), tally);
  EXPECT_GT(tally.gradients, 1000);
  EXPECT_LE(tally.uninformative, tally.gradients / 50);
  EXPECT_LE(tally.uncertain.size(), 1U) << fmt::format("{}", fmt::join(tally.uncertain, " "));
  EXPECT_LE(tally.uncertain_kinks.size(), 1U) << fmt::format("{}", fmt::join(tally.uncertain_kinks, " "));
  RecordProperty("gradients", tally.gradients);
  RecordProperty("uninformative", tally.uninformative);
}

std::vector<Family> all_families() {
  std::vector<Family> all;
  for (const KernelFamilyDefinition& family : families())
    // The inputs that this test draws are no meshes and the like.
    if (family.family != Family::kSpatial) all.push_back(family.family);
  return all;
}

std::string family_name(const ::testing::TestParamInfo<Family>& info) { return std::string(row(info.param).name); }

INSTANTIATE_TEST_SUITE_P(Families, Conditioning, ::testing::ValuesIn(all_families()), family_name);

}  // namespace
}  // namespace assay::generators
