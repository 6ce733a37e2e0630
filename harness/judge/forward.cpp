// The forward pass against the oracle: T1, T3 and T5, poison, guard bands, controls.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "harness/judge/context.hpp"

namespace assay::harness {
namespace {

constexpr std::byte kPoison{0xFF};       // NaN in every float type, -1 in integers
constexpr std::byte kOtherPoison{0x3C};  // small finite numbers
/// Threads in a block; of tiles, how many one block works on, one after another.
constexpr std::int64_t kFewBlocks = 32;

class ForwardJudge {
 public:
  explicit ForwardJudge(const PassContext& pass_context)
      : stage_(pass_context),
        verdict_(pass_context.judgement.forward),
        roles_(roles_of(pass_context, backends::Pass::kForward)) {}

  void run() {
    plan();
    if (verdict_.failed() || !run_trials(stage_, trials_, verdict_)) return;
    for (const JudgeContext& context : trials_)
      check_memory(stage_, context, verdict_);
    for (const JudgeContext& context : trials_)
      check(context);
    count_sets();
    if (!verdict_.failed()) check_addresses_again();
  }

 private:
  void add(Purpose purpose, std::size_t set, Precision precision, std::byte poison, Geometry geometry = {}) {
    if (!stage_.takes(precision)) return;
    Result<KernelLauncher> placed = KernelLauncher::place(
        stage_.bench.session, stage_.subject.module_in(precision), stage_.kernel, backends::Pass::kForward,
        device_precision(precision), lent(stage_.sets[set].launch[precision]), {}, roles_, poison, geometry);
    if (!placed.ok()) return verdict_.fail(Outcome::resource_error, "memory", placed.error().message);
    trials_.push_back({.purpose = purpose, .set = set, .precision = precision, .launcher = placed.take()});
  }

  void plan() {
    for (std::size_t s = 0; s < stage_.sets.size(); ++s) {
      add(Purpose::kCheck, s, Precision::kNative, kPoison);
      add(Purpose::kCheck, s, Precision::kPromoted, kPoison);
      add(Purpose::kOtherPoison, s, Precision::kNative, kOtherPoison, {.beside = Beside::kLikely});
      if (!stage_.is_deep(s)) continue;
      add(Purpose::kOtherPoison, s, Precision::kPromoted, kOtherPoison,
          {.block = kFewBlocks, .beside = Beside::kLikely});
      add(Purpose::kOrder, s, Precision::kNative, kPoison, {backends::ThreadOrder::kReverse, kFewBlocks});
      add(Purpose::kOrder, s, Precision::kNative, kPoison, {backends::ThreadOrder::kShuffled, 1, stage_.bench.seed});
      add(Purpose::kOrder, s, Precision::kNative, kPoison, {backends::ThreadOrder::kShuffled, 7, stage_.bench.seed});
      add(Purpose::kOrder, s, Precision::kNative, kPoison, {.layout = Layout::kView, .beside = Beside::kLikely});
    }
  }

  /// The last set where the first one lay: what a kernel keeps by its arrays' addresses is of other values.
  void check_addresses_again() {
    stage_.bench.session.reset();
    trials_.clear();
    add(Purpose::kCheck, stage_.sets.size() - 1,
        stage_.takes(Precision::kNative) ? Precision::kNative : Precision::kPromoted, kPoison);
    if (verdict_.failed() || !run_trials(stage_, trials_, verdict_)) return;
    check_memory(stage_, trials_.front(), verdict_);
    check(trials_.front());
  }

  static Tier tier_of(const JudgeContext& context) {
    if (context.purpose != Purpose::kCheck) return Tier::kT5;
    return context.precision == Precision::kPromoted ? Tier::kT1 : Tier::kT3;
  }

  void check(const JudgeContext& context) {
    const InputSet& set = stage_.sets[context.set];
    const bool conclusive = set.conclusive(context.precision);
    const auto expected = expected_outputs(taken_path(context), context.precision);
    for (std::size_t p = 0; p < expected.size(); ++p) {
      if (!expected[p]) continue;
      check_unwritten(context, p, *expected[p]);
      if (conclusive) {
        check_array(context, p, *expected[p]);
      } else if (context.purpose == Purpose::kCheck) {
        verdict_.inconclusive.path += static_cast<std::int64_t>(expected[p]->scalars.size());
      }
      if (is_repetition(context)) check_repetition(context, p, *expected[p]);
    }
  }

  /// Of the paths that the bounds allow, the one with which the trial agrees; the oracle's own if none.
  const reference::Reference& taken_path(const JudgeContext& context) const {
    const InputSet& set = stage_.sets[context.set];
    const auto paths = set.references(context.precision);
    const auto agrees = [&](const reference::Reference* path) {
      const auto expected = expected_outputs(*path, context.precision);
      for (std::size_t p = 0; p < expected.size(); ++p) {
        if (expected[p] && !compare_written(context, p, *expected[p]).agrees()) return false;
      }
      return true;
    };
    if (paths.size() < 2) return set.reference;
    const auto taken = std::find_if(paths.begin(), paths.end(), agrees);
    return taken == paths.end() ? set.reference : **taken;
  }

  Comparison compare_written(const JudgeContext& context, std::size_t p, const ExpectedArray& expected) const {
    const auto all = read_scalars(stage_.subject.module_in(context.precision), *context.launcher.arrays()[p].before,
                                  context.launcher.bytes(stage_.bench.session, p));
    Comparison comparison;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (expected.written[i]) comparison.add(i, all[i], expected.scalars[i]);
    }
    return comparison;
  }

  /// Whether the trial must give what kCheck gave, bit for bit: nothing differs that the source lets matter. Atomics
  /// may come in another order.
  bool is_repetition(const JudgeContext& context) const {
    return context.purpose != Purpose::kCheck && !has_atomics(stage_.uses);
  }

  void check_repetition(const JudgeContext& context, std::size_t p, const ExpectedArray& expected) {
    const auto first = std::find_if(trials_.begin(), trials_.end(), [&](const JudgeContext& other) {
      return other.purpose == Purpose::kCheck && other.set == context.set && other.precision == context.precision;
    });
    const auto scalars = [&](const JudgeContext& of) {
      return read_scalars(stage_.subject.module_in(of.precision), *of.launcher.arrays()[p].before,
                          of.launcher.bytes(stage_.bench.session, p));
    };
    const auto a = scalars(*first);
    const auto b = scalars(context);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool equal = a[i].integer == b[i].integer &&
                         (a[i].value == b[i].value || (std::isnan(a[i].value) && std::isnan(b[i].value)));
      if (equal || !expected.written[i]) continue;
      verdict_.count_one(Tier::kT5, 0, true);
      return verdict_.fail(
          Outcome::fail, "nondeterministic",
          fmt::format("scalar {} of '{}' is {} with {} (input set {})", i, stage_.subject.kernel.variables[p].name,
                      a[i].value != b[i].value ? fmt::format("{} and then {}", a[i].value, b[i].value)
                                               : fmt::format("{} and then {}", a[i].integer, b[i].integer),
                      context.launcher.arrays()[p].gap > 0 ? "another layout of the arrays"
                      : context.purpose == Purpose::kOrder ? "another order of threads"
                      : context.precision == Precision::kPromoted
                          ? "other contents of the output before the launch, and fewer blocks"
                          : "other contents of the output before the launch",
                      context.set));
    }
    verdict_.count_one(Tier::kT5, 0, false);
  }

  /// Cells that no thread writes must keep what they held.
  void check_unwritten(const JudgeContext& context, std::size_t p, const ExpectedArray& expected) {
    const PlacedArray& array = context.launcher.arrays()[p];
    const auto now = context.launcher.bytes(stage_.bench.session, p);
    const auto leaves = ir::leaves_of(stage_.subject.module_in(context.precision), array.before->type.element());
    for (std::size_t i = 0; i < expected.written.size(); ++i) {
      if (expected.written[i]) continue;
      const ir::ScalarComponent& component = leaves[i % leaves.size()];
      const std::size_t at =
          ir::element_offset(*array.before, static_cast<std::int64_t>(i / leaves.size())) + component.offset;
      const auto size = static_cast<std::size_t>(ir::row(component.scalar).bytes);
      if (std::memcmp(now.data() + at, array.before->bytes.data() + at, size) == 0) continue;
      if (!stage_.sets[context.set].conclusive(context.precision)) continue;
      verdict_.fail(Outcome::fail, "extra_write",
                    fmt::format("'{}' was written at element {}, which the source leaves alone (input set {})",
                                stage_.subject.kernel.variables[p].name, i / leaves.size(), context.set));
      return;
    }
  }

  void check_array(const JudgeContext& context, std::size_t p, const ExpectedArray& expected) {
    const PlacedArray& array = context.launcher.arrays()[p];
    const std::string& name = stage_.subject.kernel.variables[p].name;
    const auto all = read_scalars(stage_.subject.module_in(context.precision), *array.before,
                                  context.launcher.bytes(stage_.bench.session, p));
    const Comparison comparison = compare_written(context, p, expected);
    std::vector<Computed> written;
    std::vector<Expected> wanted;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!expected.written[i]) continue;
      written.push_back(all[i]);
      wanted.push_back(expected.scalars[i]);
    }
    verdict_.count(tier_of(context), comparison);
    report_mismatches(stage_, tier_of(context), context, name, *array.before, all, expected.scalars, comparison,
                      verdict_);
    if (context.precision == Precision::kPromoted && comparison.agrees()) {
      const std::size_t row = array.before->shape.size() > 1 ? static_cast<std::size_t>(array.before->shape.back()) : 1;
      verdict_.controls[name].add(
          present_controls(written, wanted, stage_.sets[context.set].input_mean, row, stage_.bench.seed + context.set));
    }
  }

  void count_sets() {
    verdict_.input_sets = verdict_.generic_sets = verdict_.conclusive_generic_sets = 0;
    for (const InputSet& set : stage_.sets) {
      const bool conclusive = set.conclusive(Precision::kNative) && set.conclusive(Precision::kPromoted);
      ++verdict_.input_sets;
      verdict_.generic_sets += set.generic;
      verdict_.conclusive_generic_sets += set.generic && conclusive;
      if (conclusive) verdict_.coverage.add(set.reference.choices);
    }
  }

  const PassContext& stage_;
  PassVerdict& verdict_;
  std::vector<Role> roles_;
  std::vector<JudgeContext> trials_;
};

}  // namespace

void judge_forward(const PassContext& pass_context) { ForwardJudge(pass_context).run(); }

}  // namespace assay::harness
