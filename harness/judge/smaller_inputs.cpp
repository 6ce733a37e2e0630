#include "harness/judge/smaller_inputs.hpp"

#include <array>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "harness/judge/draw_sets.hpp"

namespace assay::harness {
namespace {

/// Extents that are tried, ascending: code often fails from a power of two on, or from the next integer on.
constexpr std::array kTriedExtents{1,  2,  3,  4,   5,   7,   8,   9,   16,  17,   32,
                                   33, 64, 65, 128, 129, 256, 257, 512, 513, 1024, 1025};
constexpr int kMostTrials = 40;

/// Number of elements of all arrays among the first `count` arguments. Gradients, which follow, do not count.
std::int64_t elements_of(const Counterexample& counterexample, std::size_t count) {
  std::int64_t elements = 0;
  for (const Counterexample::NamedArgument& argument : std::span(counterexample.launch_arguments).first(count))
    if (argument.content.type.is_array()) elements += ir::element_count(argument.content);
  return elements;
}

class SmallerInputsSearch {
 public:
  SmallerInputsSearch(const KernelUnderTest& subject, const backends::BuiltKernel& kernel,
                      const JudgeConfiguration& configuration, backends::Pass pass, const PassVerdict& failed,
                      const DrawRequest& request, const InputSpace& space)
      : subject_(subject),
        kernel_(kernel),
        configuration_(configuration),
        pass_(pass),
        failure_(failed.decide()),
        request_(request),
        space_(space.trial()),
        input_set_index_(failed.counterexample->input_set_index),
        smallest_elements_(elements_of(*failed.counterexample, space_.parameter_uses().size())) {
    configuration_.forward = pass == backends::Pass::kForward;
    configuration_.backward = pass == backends::Pass::kBackward;
    configuration_.cross_check_device = nullptr;
    request_.has_independent_extents = false;
    request_.chosen_extents.clear();
  }

  std::optional<Counterexample> run() {
    // Most incorrect code fails for a single thread of the kernel, or for the smallest arrays.
    const DrawRequest first = request_;
    request_.size = 1;
    if (!minimize(&DrawRequest::array_extent)) {
      request_ = first;
      request_.array_extent = 1;
      if (!minimize(&DrawRequest::size)) request_ = first;
    }
    minimize(&DrawRequest::size);
    minimize(&DrawRequest::array_extent);
    return std::move(smallest_);
  }

 private:
  /// Searches for the least value of one member of the request for which the pass fails, and assigns it. The other
  /// members keep their values. Returns whether a value was found.
  bool minimize(std::int32_t DrawRequest::*extent) {
    const DrawRequest start = request_;
    const auto fails_with = [&](std::int32_t tried) {
      DrawRequest request = start;
      request.*extent = tried;
      return fails(request.size, request.array_extent);
    };
    std::int32_t passing = 0;
    bool is_found = false;
    for (const std::int32_t tried : kTriedExtents) {
      is_found = fails_with(tried);
      if (is_found || is_too_large_) break;
      passing = tried;
    }
    if (!is_found) return false;
    while (request_.*extent - passing > 1) {
      const std::int32_t middle = passing + (request_.*extent - passing) / 2;
      if (!fails_with(middle)) passing = middle;
    }
    return true;
  }

  /// Whether the pass fails in the same way for these extents, with fewer elements than before. If so, keeps the launch
  /// as the smallest.
  bool fails(std::int32_t size, std::int32_t array_extent) {
    is_too_large_ = false;
    if (trials_++ >= kMostTrials) return false;
    DrawRequest request = request_;
    request.size = size;
    request.array_extent = array_extent;
    auto drawn = draw_input_set(subject_, space_, request, configuration_.profile, subject_.adjoint != nullptr);
    auto* set = std::get_if<InputSet>(&drawn);
    if (set == nullptr) return false;
    std::int64_t elements = 0;
    for (const ir::Argument& argument : set->launch_by_precision[Precision::kNative].arguments)
      if (argument.type.is_array()) elements += ir::element_count(argument);
    is_too_large_ = elements >= smallest_elements_;
    if (is_too_large_) return false;
    TestPlan plan{.input_sets = {},
                  .extreme_size_launches = {},
                  .is_never_read = space_.uninitialized(),
                  .parameter_uses = space_.parameter_uses()};
    plan.input_sets.push_back(std::move(*set));
    Judgment judgment = judge(plan, subject_, kernel_, configuration_);
    PassVerdict& verdict = pass_ == backends::Pass::kForward ? judgment.forward : judgment.backward;
    if (!verdict.failed() || !verdict.counterexample) return false;
    const PassVerdict::Decision failure = verdict.decide();
    if (failure.outcome != failure_.outcome || failure.outcome_detail != failure_.outcome_detail) return false;
    smallest_ = std::move(verdict.counterexample);
    smallest_->input_set_index = input_set_index_;
    smallest_elements_ = elements;
    request_ = request;
    return true;
  }

  const KernelUnderTest& subject_;
  const backends::BuiltKernel& kernel_;
  JudgeConfiguration configuration_;
  backends::Pass pass_;
  PassVerdict::Decision failure_;  ///< outcome of the failure to preserve
  DrawRequest request_;            ///< request of the smallest launch so far
  InputSpace space_;
  std::size_t input_set_index_;             ///< number of the set that the search starts from
  std::optional<Counterexample> smallest_;  ///< smallest launch that fails; empty if none is smaller than the first
  std::int64_t smallest_elements_;          ///< number of elements of all its arrays
  int trials_ = 0;                          ///< number of input sets that were drawn or could not be drawn
  bool is_too_large_ = false;               ///< whether the last input set had no fewer elements than the smallest
};

}  // namespace

std::optional<Counterexample> find_smaller_counterexample(const KernelUnderTest& subject,
                                                          const backends::BuiltKernel& kernel,
                                                          const JudgeConfiguration& configuration, backends::Pass pass,
                                                          const PassVerdict& failed, const DrawRequest& request) {
  Result<InputSpace> space = InputSpace::make(subject.module, subject.kernel, subject.oracle, ArrayExtents::kExact);
  if (!space.ok()) return std::nullopt;
  return SmallerInputsSearch(subject, kernel, configuration, pass, failed, request, space.take()).run();
}

}  // namespace assay::harness
