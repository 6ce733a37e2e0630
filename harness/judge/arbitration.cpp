// Arbitration of a gradient that departs from the oracle, for devices whose code another generator wrote: finite
// differences of the device's own forward pass decide which of the two is correct.
//
// The launches of the backward pass are repeated with zero initial gradients. Each scalar that departs with f64
// promotion is compared with the derivative along that scalar, where the forward pass is promoted to f64 as well. A
// departure in the kernel's own types only is rounding. If the generator rejects the promoted kernel, scalars in the
// kernel's own types are compared with differences of the oracle's forward pass, with which the device's agrees.
//
// If the promoted kernel was generated from another text, its gradient says nothing about that of the user's own text.
// Scalars in the kernel's own types are then compared with differences of the promoted forward pass. A departure that
// rounding errors can explain is rounding.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "harness/judge/context.hpp"
#include "harness/judge/differences.hpp"
#include "ir/custom.hpp"

namespace assay::harness {
namespace {

/// At most this many scalars of a gradient array are compared with differences, the most different first.
constexpr std::size_t kTriedScalars = 3;
/// Relative tolerance between a gradient and the differences, in addition to the error of the extrapolation.
constexpr double kArbitrationTolerance = 1e-6;
/// In the kernel's own types, a departure of less than so many bounds, or of a smaller share of the gradient, may be an
/// effect of rounding that the bound does not cover, such as that of another order of operations.
constexpr double kRoundingBounds = 8, kRoundingShare = 1e-3;

/// What the differences say about one scalar, the most important first.
enum class Ruling : std::uint8_t { kOracleWrong, kWrongGradient, kUndecided, kRounding, kNone };

struct Arbitrated {
  Ruling finding = Ruling::kNone;
  std::string text = {};
};

class Arbiter {
 public:
  /// `precision` is that of the compared gradients; `is_promoted`: whether the differences are those of the promoted
  /// forward pass, not the oracle's.
  Arbiter(const PassContext& pass_context, Precision precision, bool is_promoted)
      : pass_context_(pass_context), precision_(precision), has_promoted_forward_(is_promoted) {}

  Arbitrated run() {
    for (std::size_t set = 0; set < pass_context_.input_sets.size(); ++set) {
      const InputSet& input = pass_context_.input_sets[set];
      if (!input.has_conclusive_gradient(precision_) || input.references(precision_).size() != 1) continue;
      judge_set(set);
      if (found_.finding <= Ruling::kWrongGradient) break;
    }
    return std::move(found_);
  }

  /// See is_difference_of_promotion_only.
  bool is_difference_of_promotion_only() {
    bool is_found = false;
    for (std::size_t set = 0; set < pass_context_.input_sets.size(); ++set) {
      const InputSet& input = pass_context_.input_sets[set];
      const auto is_comparable = [&](Precision precision) {
        return input.has_conclusive_gradient(precision) && input.references(precision).size() == 1;
      };
      if (!is_comparable(Precision::kNative) || !is_comparable(Precision::kPromoted)) continue;
      const auto promoted = gradients(set, Precision::kPromoted);
      const auto native = promoted ? gradients(set, Precision::kNative) : std::nullopt;
      if (!native) continue;
      const std::vector<bool> is_compared = compared_gradients(pass_context_);
      for (std::size_t g = 0; g < native->got.size(); ++g) {
        if (!is_compared[g]) continue;
        for (const std::size_t scalar : worst_of(promoted->got[g], promoted->expected[g])) {
          const double bound = native->expected[g][scalar].bound;
          if (distance(promoted->got[g][scalar], promoted->expected[g][scalar]) <= 2 * bound) return false;
          if (!(distance(native->got[g][scalar], native->expected[g][scalar]) <= bound)) return false;
          is_found = true;
        }
      }
    }
    return is_found;
  }

 private:
  struct Gradients {
    std::vector<std::vector<ComputedScalar>> got;
    std::vector<std::vector<ExpectedScalar>> expected;
  };

  void note(Ruling finding, std::string text) {
    if (finding < found_.finding) found_ = {finding, std::move(text)};
  }

  static double distance(const ComputedScalar& got, const ExpectedScalar& expected) {
    return std::abs(got.value - static_cast<double>(expected.value));
  }

  /// The device's and the oracle's gradients; empty if the launch does not complete.
  std::optional<Gradients> gradients(std::size_t set, Precision precision) {
    PassVerdict ignored;
    pass_context_.configuration.session.reset();
    const auto launch = make_backward_launch(pass_context_, set, precision, ignored);
    if (!launch) return std::nullopt;
    const KernelUnderTest& subject = pass_context_.subject;
    const InputSet& input = pass_context_.input_sets[set];
    Result<KernelLauncher> placed =
        KernelLauncher::place(pass_context_.configuration.session, subject.module_in(precision), pass_context_.kernel,
                              backends::Pass::kBackward, to_backend_precision(precision), borrow_launch(*launch),
                              make_gradient_arguments(subject, input, precision, InitialGradient::kZero, 1),
                              roles_of(pass_context_, backends::Pass::kBackward), std::byte{0xFF});
    if (!placed.ok()) return std::nullopt;
    TestLaunch test_launch{.input_set_index = set, .precision = precision, .launcher = placed.take()};
    if (!run_launches(pass_context_, {&test_launch, 1}, ignored)) return std::nullopt;
    Gradients result{
        .got = {}, .expected = expected_gradients(subject, input, input.reference, precision, InitialGradient::kZero)};
    for (std::size_t g = 0; g < result.expected.size(); ++g) {
      const std::size_t array = test_launch.launcher.parameters() + g;
      result.got.push_back(read_scalars(subject.module_in(precision),
                                        *test_launch.launcher.arrays()[array].initial_content,
                                        test_launch.launcher.bytes(pass_context_.configuration.session, array)));
    }
    return result;
  }

  void judge_set(std::size_t set) {
    const auto promoted = gradients(set, precision_);
    if (!promoted) return;
    bool departs = false;
    const std::vector<bool> is_compared = compared_gradients(pass_context_);
    for (std::size_t g = 0; g < promoted->got.size(); ++g) {
      if (!is_compared[g]) continue;
      const std::vector<std::size_t> scalars = worst_of(promoted->got[g], promoted->expected[g]);
      departs = departs || !scalars.empty();
      for (const std::size_t scalar : scalars)
        judge_scalar(set, g, scalar, promoted->got[g][scalar].value, promoted->expected[g][scalar]);
    }
    if (departs || found_.finding <= Ruling::kRounding || precision_ == Precision::kNative) return;
    const auto native = gradients(set, Precision::kNative);
    if (!native) return;
    for (std::size_t g = 0; g < native->got.size(); ++g) {
      if (!is_compared[g]) continue;
      const std::vector<std::size_t> scalars = worst_of(native->got[g], native->expected[g]);
      if (scalars.empty()) continue;
      const ExpectedScalar& expected = native->expected[g][scalars.front()];
      note(
          Ruling::kRounding,
          fmt::format("the gradient is correct with f64 promotion; in the kernel's own types {}[{}] is {}, expected {} "
                      "within {} (input set {})",
                      name(g), scalars.front(), native->got[g][scalars.front()].value,
                      static_cast<double>(expected.value), expected.bound, set));
    }
  }

  /// The scalars that differ, at most kTriedScalars, with the largest relative differences first.
  static std::vector<std::size_t> worst_of(const std::vector<ComputedScalar>& got,
                                           const std::vector<ExpectedScalar>& expected) {
    std::vector<std::size_t> failed = compare(got, expected).failed;
    const auto badness = [&](std::size_t i) {
      const double excess =
          std::abs(got[i].value - static_cast<double>(expected[i].value)) /
          (std::max(std::abs(static_cast<double>(expected[i].value)), expected[i].informative_bound_scale) + 1e-30);
      return std::isnan(excess) ? HUGE_VAL : excess;
    };
    std::ranges::stable_sort(failed, std::ranges::greater{}, badness);
    failed.resize(std::min(failed.size(), kTriedScalars));
    return failed;
  }

  std::string name(std::size_t g) const {
    const transforms::AdjointModule& adjoint = *pass_context_.subject.adjoint;
    return adjoint.module.kernels[0].var(adjoint.gradient_parameters[g].gradient_parameter).name;
  }

  void judge_scalar(std::size_t set, std::size_t g, std::size_t scalar, double got, const ExpectedScalar& expected) {
    const std::string place = fmt::format("{}[{}]", name(g), scalar);
    const bool promoted = precision_ == Precision::kPromoted;
    const bool is_of_other_text = has_promoted_forward_ && !promoted;
    const auto quotient =
        has_promoted_forward_ ? derivative(set, g, scalar, expected) : derivative_by_oracle(set, g, scalar, expected);
    const auto wanted = static_cast<double>(expected.value);
    const std::string values = fmt::format("{} is {}{}; the oracle gives {}", place, exact(got).text,
                                           promoted           ? " with f64 promotion"
                                           : is_of_other_text ? " in the kernel's own text"
                                                              : "",
                                           exact(wanted).text);
    const double scale = std::max({std::abs(wanted), expected.informative_bound_scale, 1e-6});
    if (!quotient && std::abs(got - wanted) <= kArbitrationTolerance * scale) {
      note(Ruling::kRounding,
           fmt::format("{}: they differ by less than finite differences resolve (input set {})", values, set));
      return;
    }
    if (!quotient) {
      note(Ruling::kUndecided, fmt::format("{}, and finite differences do not converge (input set {})", values, set));
      return;
    }
    const double allowed = kArbitrationTolerance * scale + 4 * quotient->error + (promoted ? 0 : expected.bound);
    const bool oracle_agrees = std::abs(wanted - quotient->value) <= allowed + expected.bound;
    const double rounding = is_of_other_text ? std::max(kRoundingBounds * expected.bound, kRoundingShare * scale) : 0;
    const bool device_agrees = std::abs(got - quotient->value) <= std::max(allowed, rounding + 4 * quotient->error);
    const std::string text = fmt::format("{}, and finite differences of the {} give {} (input set {})", values,
                                         is_of_other_text ? "forward pass with f64 promotion"
                                         : promoted       ? "forward pass"
                                                          : "oracle's forward pass",
                                         quotient->value, set);
    // If both agree with the differences, they differ by less than these resolve.
    if (!oracle_agrees) note(Ruling::kOracleWrong, text);
    else note(device_agrees ? Ruling::kRounding : Ruling::kWrongGradient, text);
  }

  /// d phi / d scalar of the primal; empty for a parameter that the kernel does not read, and if no step converges.
  std::optional<DerivativeEstimate> derivative(std::size_t set, std::size_t g, std::size_t scalar,
                                               const ExpectedScalar& expected) {
    const InputSet& input = pass_context_.input_sets[set];
    const auto parameter =
        static_cast<std::size_t>(pass_context_.subject.adjoint->gradient_parameters[g].primal_parameter);
    // The content of an array that the kernel only writes does not influence anything.
    if (pass_context_.is_poisoned[parameter]) return DerivativeEstimate{};
    const std::size_t component = gradient_components(pass_context_.subject, input, g)[scalar];
    std::vector<DirectionComponent> direction = list_perturbable_scalars(pass_context_, input, parameter);
    std::erase_if(direction, [&](const DirectionComponent& at) { return at.scalar_index != component; });
    if (direction.empty()) return std::nullopt;
    direction.front().direction_value = 1;
    PassVerdict ignored;
    ForwardDifferences differences(pass_context_, set, std::move(direction), ignored);
    double step = ForwardDifferences::kFirstStep;
    for (int shrink = 0; shrink <= ForwardDifferences::kMaxStepReductions; ++shrink, step /= 4) {
      pass_context_.configuration.session.reset();
      const auto found = differences.at(step);
      if (ignored.failed()) return std::nullopt;
      if (!found || !std::isfinite(found->value)) continue;
      const double scale = std::max({std::abs(static_cast<double>(expected.value)), std::abs(found->value),
                                     expected.informative_bound_scale, 1e-3});
      if (found->error <= kArbitrationTolerance * scale) return found;
    }
    return std::nullopt;
  }

  /// The same of the oracle's forward pass.
  std::optional<DerivativeEstimate> derivative_by_oracle(std::size_t set, std::size_t g, std::size_t scalar,
                                                         const ExpectedScalar& expected) const {
    const InputSet& input = pass_context_.input_sets[set];
    const auto parameter =
        static_cast<std::size_t>(pass_context_.subject.adjoint->gradient_parameters[g].primal_parameter);
    if (pass_context_.is_poisoned[parameter]) return DerivativeEstimate{};
    const ir::Launch& launch = input.launch_by_precision[Precision::kNative];
    reference::ComponentValues direction(launch.arguments.size());
    direction[parameter].resize(component_count(pass_context_.subject, launch.arguments[parameter]));
    direction[parameter][gradient_components(pass_context_.subject, input, g)[scalar]] = 1;
    const reference::OracleRun run{
        .launch = launch, .profile = pass_context_.configuration.profile, .uninitialized = pass_context_.is_poisoned};
    const reference::DirectionalDifferences found =
        pass_context_.subject.oracle.directional_differences(run, direction);
    if (!found.is_same_path) return std::nullopt;
    DerivativeEstimate sum;
    for (std::size_t p = 0; p < found.outputs.size(); ++p) {
      for (std::size_t i = 0; i < found.outputs[p].size() && i < input.cotangents[p].size(); ++i) {
        if (input.cotangents[p][i] == 0) continue;
        sum.value += input.cotangents[p][i] * static_cast<double>(found.outputs[p][i].value);
        sum.error += std::abs(input.cotangents[p][i]) * static_cast<double>(found.outputs[p][i].error);
      }
    }
    const double scale =
        std::max({std::abs(static_cast<double>(expected.value)), expected.informative_bound_scale, 1e-3});
    if (!std::isfinite(sum.value) || !(sum.error <= 1e-3 * scale)) return std::nullopt;
    return sum;
  }

  const PassContext& pass_context_;
  Precision precision_;
  bool has_promoted_forward_;
  Arbitrated found_;
};

std::string kind_of(Ruling finding) {
  switch (finding) {
    case Ruling::kOracleWrong: return "oracle_wrong";
    case Ruling::kWrongGradient: return "wrong_gradient";
    case Ruling::kRounding: return "rounding";
    case Ruling::kUndecided:
    case Ruling::kNone: break;
  }
  return "undecided";
}

}  // namespace

void decide_by_finite_differences(const PassContext& pass_context) {
  PassVerdict& verdict = pass_context.judgment.backward;
  const PassVerdict& forward = pass_context.judgment.forward;
  const bool promoted = pass_context.kernel.find(backends::Pass::kForward, backends::Precision::kPromoted) != nullptr &&
                        pass_context.kernel.is_built_for(pass_context.build_target, backends::Precision::kPromoted);
  const PassVerdict::Decision decision = verdict.decide();
  // The differences are those of a correct forward pass only. A gradient that would be correct without rounding, or
  // without the documented errors of approximate instructions, needs no decision.
  if (decision.outcome != Outcome::fail || decision.outcome_detail == "rounding" || forward.failed() ||
      ir::has_custom_gradient(pass_context.subject.module, pass_context.subject.kernel))
    return;
  const bool compares_own_text =
      pass_context.configuration.promotes_other_text && !pass_context.configuration.policy.judges_f64_promotion;
  const Precision precision = promoted && !compares_own_text ? Precision::kPromoted : Precision::kNative;
  Arbitrated arbitrated = Arbiter(pass_context, precision, promoted).run();
  if (arbitrated.finding != Ruling::kNone)
    verdict.reclassify_failure(kind_of(arbitrated.finding), std::move(arbitrated.text));
}

bool is_difference_of_promotion_only(const PassContext& pass_context) {
  return Arbiter(pass_context, Precision::kPromoted, true).is_difference_of_promotion_only();
}

}  // namespace assay::harness
