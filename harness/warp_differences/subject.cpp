#include "harness/warp_differences/subject.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "conformance/cases.hpp"
#include "generators/generator.hpp"
#include "harness/judge/draw_sets.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "harness/suite/select/random_kernels.hpp"

namespace assay::warp {
namespace {

using harness::KernelSource;
using reference::kNative;

constexpr int kLaunches = 2;
constexpr int kRandomKernels = 500;
constexpr int kRandomGradients = 100;
constexpr int kRedraws = 20;
/// Sizes of the launches: not a multiple of a block, and larger than a warp.
constexpr std::int32_t kSizes[] = {13, 33};

bool writes_anything(const reference::ReferenceResult& reference) {
  return std::ranges::any_of(reference.outputs, [](const auto& output) {
    return output && std::ranges::any_of(output->elements, &reference::OutputElement::is_written);
  });
}

/// Draws an input set for which the oracle is certain of the path and, for gradients, of the side of every
/// non-differentiable point. Prefers a set for which the kernel writes something.
Result<harness::InputSet> draw_certain(const harness::KernelUnderTest& subject, harness::InputSpace& space, int launch,
                                       bool gradient) {
  std::optional<harness::InputSet> silent;
  for (int draw = 0; draw <= kRedraws; ++draw) {
    const harness::DrawRequest request{.seed = static_cast<std::uint64_t>(1 + launch + 64 * draw),
                                       .distribution = harness::Distribution::kUniform,
                                       .size = kSizes[static_cast<std::size_t>(launch) % std::size(kSizes)]};
    auto drawn = harness::draw_input_set(subject, space, request, {}, gradient);
    if (const auto* none = std::get_if<harness::InputDrawFailure>(&drawn)) return Error{none->message};
    auto& set = std::get<harness::InputSet>(drawn);
    if (!(gradient ? set.has_conclusive_gradient(kNative) : set.is_conclusive(kNative))) continue;
    if (writes_anything(set.reference)) return std::move(set);
    if (!silent) silent = std::move(set);
  }
  if (silent) return *std::move(silent);
  return Error{"found no inputs for which the oracle can decide every branch"};
}

/// Rounds the float scalars of an argument to multiples of 0.5 if that keeps them in the range that the kernel
/// requires.
void round_to_halves(const ir::Module& module, ir::Argument& argument, double low, double high) {
  const auto components = ir::scalar_components(module, argument.type.element());
  for (std::int64_t element = 0; element < ir::element_count(argument); ++element) {
    for (const ir::ScalarComponent& component : components) {
      if (!ir::is_float(component.scalar)) continue;
      std::byte* at = argument.bytes.data() + ir::element_offset(argument, element) + component.offset;
      const double rounded = std::round(2 * ir::read_float(component.scalar, at)) / 2;
      if (rounded >= low && rounded <= high) ir::write_float(component.scalar, at, rounded);
    }
  }
}

/// Whether ASSAY_WARP_CASES selects the kernel.
bool is_selected(const KernelSource& source) {
  const char* const words = std::getenv("ASSAY_WARP_CASES");
  if (words == nullptr || *words == '\0') return true;
  const std::string name = source.family + "/" + source.kernel;
  std::istringstream stream{words};
  for (std::string word; stream >> word;)
    if (name.starts_with(word)) return true;
  return false;
}

}  // namespace

Result<ComparedKernel> ComparedKernel::with_oracle(KernelSource source) {
  ComparedKernel made;
  made.source_ = std::move(source);
  if (made.source_.parse_error) return Error{made.source_.parse_error->text(), made.name()};
  Result<reference::Oracle> oracle = reference::Oracle::make(made.module(), made.kernel());
  if (!oracle.ok()) return Error{oracle.error().text(), made.name()};
  made.oracle_ = std::make_unique<const reference::Oracle>(oracle.take());
  return made;
}

Result<ComparedKernel> ComparedKernel::with_launch(KernelSource source, ir::Launch launch) {
  Result<ComparedKernel> made = with_oracle(std::move(source));
  if (!made.ok()) return made;
  made->parameter_is_never_read_.assign(launch.arguments.size(), false);
  harness::InputSet set;
  set.launch_by_precision[kNative] = std::move(launch);
  set.reference = made->oracle_->evaluate({.launch = set.launch_by_precision[kNative]});
  if (!set.reference.findings.empty()) {
    return Error{reference::describe(set.reference.findings.front(), made->module(), made->kernel()), made->name()};
  }
  made->input_sets_.push_back(std::move(set));
  return made;
}

Result<ComparedKernel> ComparedKernel::make(KernelSource source, GradientLaunches gradients, int launches) {
  Result<ComparedKernel> prepared = with_oracle(std::move(source));
  if (!prepared.ok()) return prepared;
  ComparedKernel made = prepared.take();
  made.gradient_launches_ = gradients;
  const auto reject = [&](const Error& why) { return Error{why.text(), made.name()}; };
  Result<harness::InputSpace> space = harness::InputSpace::make(made.module(), made.kernel(), *made.oracle_);
  if (!space.ok()) return reject(space.error());
  made.parameter_uses_ = space->parameter_uses();
  made.parameter_is_never_read_ = space->uninitialized();
  const harness::KernelUnderTest subject = made.kernel_under_test();
  for (int launch = 0; launch < launches; ++launch) {
    const bool gradient = made.has_gradient(static_cast<std::size_t>(launch));
    Result<harness::InputSet> set = draw_certain(subject, *space, launch, gradient);
    if (!set.ok()) return reject(set.error());
    made.input_sets_.push_back(set.take());
  }
  if (gradients == GradientLaunches::kFirstAndRoundedLaunch) {
    const Result<harness::Preconditions> preconditions = harness::parse_preconditions(made.module(), made.kernel());
    if (preconditions.ok()) made.add_grid_set(made.input_sets_.front(), *preconditions);
  }
  return made;
}

void ComparedKernel::add_grid_set(const harness::InputSet& drawn, const harness::Preconditions& preconditions) {
  harness::InputSet set = drawn;
  ir::Launch& launch = set.launch_by_precision[kNative];
  for (std::size_t p = 0; p < launch.arguments.size(); ++p) {
    double low = -HUGE_VAL, high = HUGE_VAL;
    if (preconditions.range_by_parameter[p] && preconditions.range_by_parameter[p]->low)
      low = preconditions.range_by_parameter[p]->low->evaluate(launch);
    if (preconditions.range_by_parameter[p] && preconditions.range_by_parameter[p]->high)
      high = preconditions.range_by_parameter[p]->high->evaluate(launch);
    round_to_halves(module(), launch.arguments[p], low, high);
  }
  set.launch_by_precision[reference::kPromoted] = ir::promoted(module(), launch);
  set.reference = oracle_->evaluate(run(set));
  if (!set.reference.findings.empty() || !set.has_conclusive_gradient(kNative)) return;
  input_sets_.push_back(std::move(set));
  has_rounded_input_set_ = true;
}

reference::OracleRun ComparedKernel::run(const harness::InputSet& set) const {
  return {.launch = set.launch_by_precision[kNative],
          .computes_gradient = true,
          .cotangents = set.cotangents,
          .initial_gradients = {},
          .uninitialized = parameter_is_never_read_};
}

harness::KernelUnderTest ComparedKernel::kernel_under_test() const {
  return {
      .module = module(), .kernel = kernel(), .promoted = module(), .oracle = *oracle_, .promoted_oracle = *oracle_};
}

Result<std::vector<KernelSource>> curated_sources() {
  std::vector<KernelSource> sources;
  for (const conformance::CaseFile& file : conformance::cases()) {
    Result<KernelSource> source = harness::curated_kernel(file);
    if (!source.ok()) return source.error();
    sources.push_back(source.take());
  }
  return sources;
}

Result<std::vector<KernelSource>> example_sources(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(root / "examples")) {
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<KernelSource> sources;
  for (const auto& file : files) {
    Result<harness::KernelSet> read = harness::read_file({file.string(), ""});
    if (!read.ok()) return read.error();
    for (KernelSource& kernel : read->kernels) {
      kernel.family = "examples";
      sources.push_back(std::move(kernel));
    }
  }
  return sources;
}

Result<std::vector<KernelSource>> random_sources(int count) {
  const auto families = generators::families();
  std::vector<KernelSource> sources;
  for (int i = 0; i < count; ++i) {
    const auto turn = static_cast<std::size_t>(i) % families.size();
    const auto seed = static_cast<std::uint64_t>(i) / families.size() + 1;
    Result<KernelSource> source =
        harness::random_kernel(fmt::format("{}/r{}_{}", families[turn].name, generators::kGeneratorVersion, seed));
    if (!source.ok()) return source.error();
    sources.push_back(source.take());
  }
  return sources;
}

Result<ComparedKernels> all_subjects(const std::filesystem::path& root) {
  ComparedKernels subjects;
  const auto add = [&](Result<std::vector<KernelSource>> sources, std::size_t with_gradient,
                       GradientLaunches wanted) -> Result<void> {
    if (!sources.ok()) return sources.error();
    for (std::size_t i = 0; i < sources->size(); ++i) {
      if (!is_selected((*sources)[i])) continue;
      const GradientLaunches gradients = i < with_gradient ? wanted : GradientLaunches::kNone;
      Result<ComparedKernel> subject = ComparedKernel::make(std::move((*sources)[i]), gradients, kLaunches);
      if (subject.ok()) {
        subjects.kernels.push_back(subject.take());
      } else {
        subjects.excluded_kernel_messages.push_back(subject.error().text());
      }
    }
    return {};
  };
  constexpr auto kAll = static_cast<std::size_t>(-1);
  if (auto added = add(curated_sources(), kAll, GradientLaunches::kFirstAndRoundedLaunch); !added.ok())
    return added.error();
  subjects.excluded_case_messages = subjects.excluded_kernel_messages;
  if (auto added = add(example_sources(root), kAll, GradientLaunches::kFirstAndRoundedLaunch); !added.ok())
    return added.error();
  if (auto added = add(random_sources(kRandomKernels), kRandomGradients, GradientLaunches::kFirstLaunch); !added.ok())
    return added.error();
  return subjects;
}

}  // namespace assay::warp
