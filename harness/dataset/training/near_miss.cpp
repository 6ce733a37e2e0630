#include "harness/dataset/training/near_miss.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "harness/dataset/render.hpp"
#include "harness/mutation/mutation_testing.hpp"
#include "ir/launch.hpp"
#include "support/hash.hpp"
#include "support/rng.hpp"

namespace assay::dataset {
namespace {

using Json = nlohmann::ordered_json;
using mutation::MutantRecord;
using mutation::MutatedKernelPart;
using mutation::MutationOperator;

/// Mutants judged for each near miss that is wanted: some are equivalent to the kernel.
constexpr std::size_t kMutantsPerNearMiss = 4;
/// Operators drawn for a row. Few, so that rows differ in their mistakes; more than mutants, because many operators
/// apply to no place in a kernel.
constexpr std::size_t kOperatorsPerRow = 16;
/// Arrays with more scalars are described by their shape alone.
constexpr std::int64_t kMaxInputValues = 512;

/// Operators on one pass whose mutants each device detects.
std::set<MutationOperator> draw_operators(Rng& rng, MutatedKernelPart part) {
  std::vector<MutationOperator> usable;
  for (const mutation::MutationOperatorEntry& entry : mutation::kOperators) {
    if (entry.changed_part == part && entry.detectable_by == mutation::DetectableBy::kAnyDevice)
      usable.push_back(entry.op);
  }
  rng.shuffle(usable);
  usable.resize(std::min(usable.size(), kOperatorsPerRow));
  return {usable.begin(), usable.end()};
}

double scalar_at(ir::Scalar scalar, const std::byte* at) {
  return ir::is_float(scalar) ? ir::read_float(scalar, at) : static_cast<double>(ir::read_integer(scalar, at));
}

/// The scalars of an argument, element by element; null if there are too many.
Json values_of(const ir::Module& module, const ir::Argument& argument) {
  const std::vector<ir::ScalarComponent> components = ir::scalar_components(module, argument.type.element());
  const std::int64_t elements = argument.type.is_array() ? ir::element_count(argument) : 1;
  if (elements * static_cast<std::int64_t>(components.size()) > kMaxInputValues) return nullptr;
  Json values = Json::array();
  for (std::int64_t i = 0; i < elements; ++i) {
    const std::size_t offset = argument.type.is_array() ? ir::element_offset(argument, i) : 0;
    for (const ir::ScalarComponent& component : components)
      values.push_back(scalar_at(component.scalar, argument.bytes.data() + offset + component.offset));
  }
  return values;
}

Json launch_of(const harness::Counterexample& counterexample, const ir::Module& module) {
  const bool is_promoted = counterexample.precision == backends::Precision::kPromoted;
  const ir::Module& types = is_promoted ? ir::promoted(module) : module;
  Json arguments = Json::array();
  for (const auto& [name, content] : counterexample.launch_arguments)
    arguments.push_back({{"name", name}, {"shape", content.shape}, {"values", values_of(types, content)}});
  return {{"threads", counterexample.threads},
          {"precision", is_promoted ? "f64_promotion" : "native"},
          {"arguments", std::move(arguments)}};
}

Json reason_of(const mutation::Rejection& rejection) {
  // Records call a failed comparison "t3 mismatch"; the message names the check.
  const std::string& check = rejection.rejecting_check;
  Json reason = {{"kind", check.substr(check.find(' ') + 1)}, {"message", rejection.message}};
  const auto& mismatch = rejection.mismatch;
  reason["array"] = mismatch ? Json(mismatch->array_name) : Json();
  reason["index"] = mismatch ? Json(mismatch->index) : Json();
  reason["expected"] = mismatch ? Json(mismatch->expected.text) : Json();
  reason["bound"] = mismatch ? Json(mismatch->bound.text) : Json();
  reason["got"] = mismatch ? Json(mismatch->got.text) : Json();
  return reason;
}

/// The tolerances within which all compared results are; null if none were compared.
Json accepting_tolerances(const mutation::Rejection& rejection) {
  if (rejection.tolerance_comparisons.empty()) return nullptr;
  Json tolerances = Json::array();
  for (const harness::ToleranceComparison& comparison : rejection.tolerance_comparisons) {
    if (comparison.accepts_all_results) tolerances.push_back(comparison.tolerance);
  }
  return tolerances;
}

/// The function of a pass in a kernel's text.
std::string text_of(const backends::EmittedKernel& kernel, bool forward) {
  const EntryTexts texts = entry_texts(kernel);
  return forward ? texts.forward : texts.backward;
}

}  // namespace

Result<std::vector<Json>> near_misses_of(const DatasetRow& row, std::size_t count, std::uint64_t seed,
                                         backends::Device& device, const harness::Printer& printer) {
  Result<harness::KernelSource> source =
      read_kernel(row.python_source, row.metadata.name, file_of(row.metadata.name, row.kernel_name));
  if (!source.ok()) return source.error();
  const std::shared_ptr<const ir::Module> module = source->module;
  Rng rng(fnv1a(row.id, kFnv1aBasis ^ seed));
  const bool mutates_forward = row.cpu_backward.empty() || rng.bernoulli(0.5);
  const MutatedKernelPart part = mutates_forward ? MutatedKernelPart::kForward : MutatedKernelPart::kBackward;
  mutation::MutationCampaign campaign{.kernels = {source.take()},
                                      .operators = draw_operators(rng, part),
                                      .max_mutants = count * kMutantsPerNearMiss,
                                      .seed = rng.next(),
                                      .policy = harness::JudgingPolicy::quick(),
                                      .jobs = 1,
                                      .keeps_rejections = true};
  std::vector<mutation::PlannedMutant> plan = mutation::plan_mutants(campaign, device, printer);
  rng.shuffle(plan);
  std::map<std::string, MutantRecord> killed;
  const mutation::EquivalenceChecks none{
      .compiles_to_same_code = [](const auto&, const auto&) -> Result<bool> { return false; },
      .is_barrier_redundant = [](const auto&, auto) -> Result<bool> { return false; }};
  const Result<void> judged =
      mutation::run_mutants(campaign, plan, device, printer, none, [&](const MutantRecord& record) -> Result<void> {
        if (record.status == mutation::MutantStatus::kKilled) killed.emplace(record.name, record);
        return {};
      });
  if (!judged.ok()) return judged.error();

  const bool is_cuda = device.target() == backends::SourceTarget::kCuda;
  std::vector<Json> found;
  for (const mutation::PlannedMutant& planned : plan) {
    const auto record = killed.find(name_of(campaign, planned));
    if (record == killed.end() || found.size() == count) continue;
    const mutation::Rejection& rejection = *record->second.rejection;
    const std::string& correct = mutates_forward ? (is_cuda ? row.cuda_forward : row.cpu_forward)
                                                 : (is_cuda ? row.cuda_backward : row.cpu_backward);
    const std::string mutant = text_of(rejection.kernel, mutates_forward);
    if (mutant == correct) continue;
    found.push_back({{"language", is_cuda ? "cuda" : "c++"},
                     {"pass", mutates_forward ? "forward" : "backward"},
                     {"chosen", correct},
                     {"rejected", mutant},
                     {"mutation", mutation::row(planned.op).name},
                     {"change", record->second.description},
                     {"line", record->second.line},
                     {"reason", reason_of(rejection)},
                     {"accepted_by_allclose", accepting_tolerances(rejection)},
                     {"launch", rejection.counterexample ? launch_of(*rejection.counterexample, *module) : Json()}});
  }
  return found;
}

}  // namespace assay::dataset
