// custom_gradient: compares the kernel's custom gradients (wp.func_grad) with the derivatives of the functions that
// they belong to. The oracle computes both, so that no device is needed.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "harness/judge/context.hpp"
#include "harness/judge/gradient_difference.hpp"
#include "ir/custom.hpp"
#include "ir/source_location.hpp"

namespace assay::harness {
namespace {

/// The module in which the derivative of one function, or of all, is that of its code.
ir::Module without_custom_gradient(ir::Module module, std::int32_t function) {
  for (std::size_t f = 0; f < module.functions.size(); ++f) {
    if (function == ir::kNone || static_cast<std::size_t>(function) == f)
      module.functions[f].gradient_function_index = ir::kNone;
  }
  return module;
}

/// A difference, and the input set on which it occurs. The first gradient is that of the custom gradients.
struct Difference {
  std::size_t set = 0;
  GradientDifference gradients;
};

class CustomGradientCheck {
 public:
  explicit CustomGradientCheck(const PassContext& pass_context) : pass_context_(pass_context) {}

  void run() {
    const auto any = find(ir::kNone);
    if (!any) return;
    // Name the function, if one alone differs.
    const ir::Module& module = pass_context_.subject.module;
    for (std::size_t f = 0; f < module.functions.size(); ++f) {
      if (module.functions[f].gradient_function_index == ir::kNone) continue;
      if (const auto one = find(static_cast<std::int32_t>(f))) return report(*one, &module.functions[f]);
    }
    report(*any, nullptr);
  }

 private:
  std::optional<Difference> find(std::int32_t function) const {
    const KernelUnderTest& subject = pass_context_.subject;
    const ir::Module plain = without_custom_gradient(subject.module, function);
    const auto kernel = static_cast<std::size_t>(&subject.kernel - subject.module.kernels.data());
    const Result<reference::Oracle> oracle = reference::Oracle::make(plain, plain.kernels[kernel]);
    if (!oracle.ok()) return std::nullopt;
    for (std::size_t s = 0; s < pass_context_.input_sets.size(); ++s) {
      const InputSet& set = pass_context_.input_sets[s];
      if (set.request.is_for_forward_only) continue;
      reference::OracleRun run{.launch = set.launch_by_precision[Precision::kNative],
                               .profile = pass_context_.configuration.profile,
                               .computes_gradient = true,
                               .cotangents = set.cotangents,
                               .uninitialized = pass_context_.is_poisoned};
      const reference::ReferenceResult derivative = oracle->evaluate(run);
      const reference::DecisionSummary& decisions = derivative.decisions;
      if (!derivative.findings.empty() || decisions.uncertain_decision_counts[Precision::kPromoted] > 0 ||
          decisions.uncertain_kinks[Precision::kPromoted] > 0)
        continue;
      // Custom gradients are often written for points without a finite derivative, which are not compared.
      if (!find_gradient_difference(set.reference, derivative)) continue;
      // The gradient may have constants that the code does not have, such as 180 / pi, rounded to float32.
      run.profile.promotion_has_constant_errors = true;
      if (const auto found = find_gradient_difference(subject.oracle.evaluate(run), oracle->evaluate(run)))
        return Difference{.set = s, .gradients = *found};
    }
    return std::nullopt;
  }

  /// "the custom gradient of 'f' (line 3)".
  std::string text_of(const ir::Function& function) const {
    const ir::Module& module = pass_context_.subject.module;
    const ir::Function& gradient = module.functions[static_cast<std::size_t>(function.gradient_function_index)];
    const bool is_zero = std::ranges::all_of(gradient.body.statements, [](const ir::Stmt& statement) {
      const auto* const let = std::get_if<ir::Let>(&statement.node);
      return std::holds_alternative<ir::Return>(statement.node) || (let != nullptr && let->value == ir::kNone);
    });
    return fmt::format("the custom gradient of '{}' ({}{})", function.name, ir::line_text(module, gradient.loc),
                       is_zero ? "; it is zero, as that of a native function without adj_snippet" : "");
  }

  void report(const Difference& found, const ir::Function* function) const {
    PassVerdict& verdict = pass_context_.judgment.backward;
    const std::string whose =
        function == nullptr ? "the custom gradients of the kernel's functions" : text_of(*function);
    verdict.fail(
        Outcome::defect, "custom_gradient",
        fmt::format(
            "the gradient of {} is {} according to {}, but the derivative of the code is {} (allowed difference "
            "{}, input set {}); if this is intended, write '# {}' above the kernel",
            found.gradients.name(pass_context_.subject, pass_context_.input_sets[found.set]),
            static_cast<double>(found.gradients.first), whose, static_cast<double>(found.gradients.second),
            found.gradients.bound, found.set, ir::kTrustCustomGradientsAnnotation));
  }

  const PassContext& pass_context_;
};

}  // namespace

void check_custom_gradients(const PassContext& pass_context) {
  const KernelUnderTest& subject = pass_context.subject;
  if (pass_context.configuration.trusts_custom_gradients || ir::trusts_custom_gradients(subject.kernel)) return;
  if (ir::has_custom_gradient(subject.module, subject.kernel)) CustomGradientCheck(pass_context).run();
}

}  // namespace assay::harness
