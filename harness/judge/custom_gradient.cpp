// custom_gradient: compares the kernel's custom gradients (wp.func_grad) with the derivatives of the functions that
// they belong to. The oracle computes both, so that no device is needed.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/judge/context.hpp"
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

struct Difference {
  std::size_t set = 0;
  std::size_t parameter = 0;
  std::size_t component = 0;  ///< number in the parameter
  long double custom = 0, derivative = 0;
  double bound = 0;
};

/// The largest difference relative to its bound between the gradients of a set; empty if all agree. Elements without a
/// finite derivative are not compared: custom gradients are often written for such points.
std::optional<Difference> difference_of(const reference::ReferenceResult& custom,
                                        const reference::ReferenceResult& derivative) {
  std::optional<Difference> worst;
  double worst_ratio = 1;
  for (std::size_t p = 0; p < custom.gradients.size(); ++p) {
    if (!custom.gradients[p] || !derivative.gradients[p]) continue;
    const auto& ours = custom.gradients[p]->elements;
    const auto& theirs = derivative.gradients[p]->elements;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double bound = ours[i].bound[reference::kPromoted] + theirs[i].bound[reference::kPromoted];
      const auto error = static_cast<double>(std::abs(ours[i].value - theirs[i].value));
      if (!std::isfinite(error) || !std::isfinite(bound) || error <= bound) continue;
      const double ratio = bound > 0 ? error / bound : HUGE_VAL;
      if (worst && ratio <= worst_ratio) continue;
      worst_ratio = ratio;
      worst = {.parameter = p, .component = i, .custom = ours[i].value, .derivative = theirs[i].value, .bound = bound};
    }
  }
  return worst;
}

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
      const reference::ReferenceResult derivative =
          oracle->evaluate({.launch = set.launch_by_precision[Precision::kNative],
                            .profile = pass_context_.configuration.profile,
                            .computes_gradient = true,
                            .cotangents = set.cotangents,
                            .uninitialized = pass_context_.is_poisoned});
      const reference::DecisionSummary& decisions = derivative.decisions;
      if (!derivative.findings.empty() || decisions.uncertain_decision_counts[Precision::kPromoted] > 0 ||
          decisions.uncertain_kinks[Precision::kPromoted] > 0)
        continue;
      if (auto found = difference_of(set.reference, derivative)) {
        found->set = s;
        return found;
      }
    }
    return std::nullopt;
  }

  /// "x[3, 1]", with ".2" for a component of a vector, a matrix or a struct.
  std::string name_of(const Difference& found) const {
    const KernelUnderTest& subject = pass_context_.subject;
    const ir::Argument& argument =
        pass_context_.input_sets[found.set].launch_by_precision[Precision::kNative].arguments[found.parameter];
    const std::size_t components = ir::scalar_components(subject.module, argument.type.element()).size();
    std::string name = subject.kernel.variables[found.parameter].name;
    std::vector<std::size_t> index(argument.shape.size());
    std::size_t element = found.component / components;
    for (std::size_t d = index.size(); d-- > 0;) {
      const auto extent = static_cast<std::size_t>(argument.shape[d]);
      index[d] = element % extent;
      element /= extent;
    }
    if (argument.type.is_array()) name += fmt::format("[{}]", fmt::join(index, ", "));
    return components > 1 ? fmt::format("{}.{}", name, found.component % components) : name;
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
            name_of(found), static_cast<double>(found.custom), whose, static_cast<double>(found.derivative),
            found.bound, found.set, ir::kTrustCustomGradientsAnnotation));
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
