#include "harness/judge/input_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace assay::harness {
namespace {

using namespace ir;
using reference::LeafValues;
using reference::Reference;

constexpr std::uint64_t kSeedSalt = 0x5EED, kPrefillSalt = 0xF111;

/// Instructions of the oracle: for one set, and in all for drawing one again.
constexpr std::int64_t kSetBudget = 400'000, kRedrawBudget = 4 * kSetBudget;
/// Sizes that no block divides, and those around one; the first dimension's extent.
constexpr std::int32_t kSizes[] = {13, 31, 32, 33, 1, 47, 17, 23, 19, 29};

bool is_written(const Subject& subject, std::size_t parameter) {
  return subject.oracle.writes(static_cast<VarId>(parameter));
}

std::size_t leaf_count(const Subject& subject, const Argument& argument) {
  return static_cast<std::size_t>(element_count(argument)) * leaves_of(subject.module, argument.type.element()).size();
}

LeafValues dense(const Subject& subject, const Launch& launch, std::uint64_t salt, bool written) {
  LeafValues values(launch.arguments.size());
  for (std::size_t p = 0; p < values.size(); ++p) {
    if (is_written(subject, p) != written) continue;
    values[p].resize(leaf_count(subject, launch.arguments[p]));
    for (std::size_t i = 0; i < values[p].size(); ++i)
      values[p][i] = dense_value(i + 37 * p, salt);
  }
  return values;
}

/// Prefills stay well inside the range of their type: between 2^-limit and 2^limit.
int prefill_exponent(Scalar scalar) { return scalar == Scalar::kF16 ? 10 : 100; }

/// Dense values scaled to the gradient that will be added to them, so that neither hides the other.
LeafValues prefills_for(const Subject& subject, const InputSet& set) {
  LeafValues values = dense(subject, set.launch[Lane::kNative], kPrefillSalt, false);
  for (std::size_t p = 0; p < values.size(); ++p) {
    const auto& gradient = set.reference.gradients[p];
    if (!gradient) continue;
    const auto leaves = leaves_of(subject.module, set.launch[Lane::kNative].arguments[p].type.element());
    for (std::size_t i = 0; i < values[p].size(); ++i) {
      const auto size = static_cast<double>(std::abs(gradient->elements[i].value));
      if (size == 0 || !std::isfinite(size)) continue;
      const int limit = prefill_exponent(leaves[i % leaves.size()].scalar);
      values[p][i] = std::ldexp(values[p][i], std::clamp(std::ilogb(size), -limit, limit));
    }
  }
  return values;
}

double mean_of_inputs(const Subject& subject, const Launch& launch) {
  double sum = 0;
  double count = 0;
  for (const Argument& argument : launch.arguments) {
    const auto leaves = leaves_of(subject.module, argument.type.element());
    for (std::int64_t e = 0; e < element_count(argument); ++e) {
      for (const Leaf& leaf : leaves) {
        if (!is_float(leaf.scalar)) continue;
        sum += read_float(leaf.scalar, argument.bytes.data() + element_offset(argument, e) + leaf.offset);
        count += 1;
      }
    }
  }
  return count > 0 ? sum / count : 0;
}

double size_of(const reference::GradientElement& element) {
  return std::max(static_cast<double>(std::abs(element.value)), element.magnitude);
}

/// Share of the gradient's elements whose native bound is narrow enough.
double informative_share(const Reference& reference) {
  double informative = 0;
  double total = 0;
  for (const auto& gradient : reference.gradients) {
    if (!gradient) continue;
    for (const auto& element : gradient->elements) {
      total += 1;
      informative +=
          is_informative({.value = element.value, .bound = element.bound[Lane::kNative], .scale = element.magnitude});
    }
  }
  return total > 0 ? informative / total : 1;
}

/// Whether any thread stores anything: a set on which all return early shows nothing.
bool writes_anything(const Reference& reference) {
  return std::any_of(reference.outputs.begin(), reference.outputs.end(), [](const auto& output) {
    return output && std::any_of(output->elements.begin(), output->elements.end(),
                                 [](const reference::OutputElement& element) { return element.written; });
  });
}

/// Orders sets by how much can be concluded from them.
double worth(const InputSet& set) {
  double worth = informative_share(set.reference) + (writes_anything(set.reference) ? 0 : -4);
  for (const Lane lane : kBothLanes)
    worth += 2 * set.conclusive(lane) + set.conclusive_gradient(lane);
  return worth;
}
constexpr double kGoodWorth = 6 + 0.99;
/// Good enough once this many draws gave nothing better.
constexpr double kFairWorth = 6 + 0.9;
constexpr int kPatientDraws = 4;

/// Positions, among the leaves of a by-value struct, of the leaves of the field that a path names.
std::pair<std::size_t, std::size_t> field_leaves(const Module& module, Type type,
                                                 const std::vector<std::int32_t>& path) {
  std::size_t first = 0;
  for (const std::int32_t step : path) {
    const StructDef& definition = module.structs[type.struct_id];
    for (std::int32_t f = 0; f < step; ++f)
      first += leaves_of(module, definition.fields[static_cast<std::size_t>(f)].type).size();
    type = definition.fields[static_cast<std::size_t>(step)].type;
  }
  return {first, leaves_of(module, type).size()};
}

/// Calls visit(gradient number, scalar number in its buffer, parameter, leaf number in the parameter).
template <class Visit>
void for_each_gradient(const Subject& subject, const InputSet& set, Visit visit) {
  for (std::size_t g = 0; g < subject.adjoint->gradients.size(); ++g) {
    const passes::GradientParameter& gradient = subject.adjoint->gradients[g];
    const auto p = static_cast<std::size_t>(gradient.primal);
    const Argument& argument = set.launch[Lane::kNative].arguments[p];
    if (gradient.is_array) {
      const std::size_t count = leaf_count(subject, argument);
      for (std::size_t i = 0; i < count; ++i)
        visit(g, i, p, i);
      continue;
    }
    const auto [first, count] = field_leaves(subject.module, argument.type, gradient.fields);
    for (std::size_t i = 0; i < count; ++i)
      visit(g, i, p, first + i);
  }
}

double value_at(const LeafValues& values, std::size_t parameter, std::size_t leaf) {
  return values[parameter].empty() ? 0.0 : values[parameter][leaf];
}

/// The greatest extent at which the oracle runs no more than kSetBudget instructions, judged by a launch of one thread.
std::int32_t affordable_size(InputSpace& space, std::uint64_t seed) {
  const auto probe = space.draw({.seed = seed, .size = 1}, [](reference::Run&) {});
  const auto* drawn = std::get_if<Drawn>(&probe);
  if (drawn == nullptr) return kSizes[0];
  const std::int64_t per_thread =
      drawn->reference.instructions / std::max<std::int64_t>(drawn->launch.threads(), 1) + 1;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(kSetBudget / per_thread, 1, 1'000));
}

}  // namespace

double dense_value(std::size_t position, std::uint64_t salt) {
  const std::uint64_t mixed = (position + salt) * 0x9E3779B97F4A7C15U;
  const auto j = static_cast<double>((position * 197 + salt) % 512);
  const double magnitude = 0.5 + j / 1024;
  return (mixed >> 61U & 1U) != 0 ? -magnitude : magnitude;
}

std::variant<InputSet, NoInputs> draw_set(const Subject& subject, InputSpace& space, const DrawRequest& request,
                                          const reference::Profile& profile, bool gradient) {
  InputSet set;
  auto result = space.draw(request, [&](reference::Run& run) {
    set.seeds = dense(subject, run.launch, kSeedSalt, true);
    run.profile = profile;
    run.gradient = gradient;
    run.seeds = set.seeds;
  });
  if (auto* none = std::get_if<NoInputs>(&result)) return std::move(*none);
  Drawn& drawn = std::get<Drawn>(result);
  set.request = request;
  set.generic = request.distribution == Distribution::kUniform;
  set.launch[Lane::kNative] = std::move(drawn.launch);
  set.launch[Lane::kLift] = lifted(subject.module, set.launch[Lane::kNative]);
  set.reference = std::move(drawn.reference);
  if (gradient) set.prefills = prefills_for(subject, set);
  set.input_mean = mean_of_inputs(subject, set.launch[Lane::kNative]);
  return set;
}

std::variant<std::vector<InputSet>, NoInputs> draw_sets(const Subject& subject, InputSpace& space, const Policy& policy,
                                                        const reference::Profile& profile, std::uint64_t seed) {
  const std::int32_t largest = affordable_size(space, seed);
  std::vector<InputSet> sets;
  for (int s = 0; s < policy.sets(); ++s) {
    const Distribution distribution = s < policy.generic_sets                      ? Distribution::kUniform
                                      : s < policy.generic_sets + policy.edge_sets ? Distribution::kEdges
                                                                                   : Distribution::kScales;
    std::optional<InputSet> best;
    std::optional<NoInputs> none;
    std::int64_t spent = 0;
    for (int draw = 0; draw <= policy.redraws && !(none && !best); ++draw) {
      const DrawRequest request{
          .seed = (seed + static_cast<std::uint64_t>(draw) * 1000) * 64 + static_cast<std::uint64_t>(s),
          .distribution = distribution,
          .size = std::min(kSizes[static_cast<std::size_t>(s) % std::size(kSizes)], largest)};
      auto result = draw_set(subject, space, request, profile, subject.adjoint != nullptr);
      if (auto* nothing = std::get_if<NoInputs>(&result)) {
        none = std::move(*nothing);
        continue;
      }
      auto& set = std::get<InputSet>(result);
      spent += set.reference.instructions;
      if (!best || worth(set) > worth(*best)) best = std::move(set);
      if (spent > kRedrawBudget) break;
      if (worth(*best) >= (draw < kPatientDraws ? kGoodWorth : kFairWorth)) break;
    }
    if (!best) return std::move(*none);
    sets.push_back(std::move(*best));
  }
  return sets;
}

std::vector<std::optional<ExpectedArray>> expected_outputs(const Subject& subject, const InputSet& set, Lane lane) {
  (void)subject;
  std::vector<std::optional<ExpectedArray>> result;
  for (const auto& output : set.reference.outputs) {
    if (!output) {
      result.emplace_back();
      continue;
    }
    ExpectedArray array;
    for (std::size_t i = 0; i < output->elements.size(); ++i) {
      const reference::OutputElement& element = output->elements[i];
      const bool real = is_float(output->leaves[i % output->leaves.size()]);
      array.scalars.push_back(
          {.value = element.value, .bound = element.bound[lane], .integer = element.integer, .is_integer = !real});
      array.written.push_back(element.written);
    }
    result.emplace_back(std::move(array));
  }
  return result;
}

std::vector<bool> carries_seed(const Subject& subject) {
  std::vector<bool> result;
  for (const passes::GradientParameter& gradient : subject.adjoint->gradients) {
    result.push_back(is_written(subject, static_cast<std::size_t>(gradient.primal)));
  }
  return result;
}

std::vector<Argument> gradient_arguments(const Subject& subject, const InputSet& set, Lane lane, Start start,
                                         double seed_factor) {
  std::vector<Argument> arguments;
  const Function& backward = subject.adjoint->module.kernels[0];
  for (const passes::GradientParameter& gradient : subject.adjoint->gradients) {
    const Type type = backward.var(gradient.gradient).type;
    const auto& shape = set.launch[lane].arguments[static_cast<std::size_t>(gradient.primal)].shape;
    arguments.push_back(make_argument(subject.module_in(lane), lane == Lane::kLift ? lifted(type) : type,
                                      gradient.is_array ? shape : std::vector<std::int32_t>{1}));
  }
  for_each_gradient(subject, set, [&](std::size_t g, std::size_t i, std::size_t p, std::size_t leaf) {
    double value = 0;
    if (is_written(subject, p)) {
      value = seed_factor * value_at(set.seeds, p, leaf);
    } else if (start == Start::kPrefilled) {
      value = value_at(set.prefills, p, leaf);
    }
    Argument& argument = arguments[g];
    const auto leaves = leaves_of(subject.module_in(lane), argument.type.element());
    const Leaf at = leaves[i % leaves.size()];
    const auto element = static_cast<std::int64_t>(i / leaves.size());
    if (is_float(at.scalar))
      write_float(at.scalar, argument.bytes.data() + element_offset(argument, element) + at.offset, value);
  });
  return arguments;
}

std::vector<std::vector<Expected>> expected_gradients(const Subject& subject, const InputSet& set, Lane lane,
                                                      Start start) {
  std::vector<std::vector<Expected>> result(subject.adjoint->gradients.size());
  for_each_gradient(subject, set, [&](std::size_t g, std::size_t, std::size_t p, std::size_t leaf) {
    const reference::GradientElement& element = set.reference.gradients[p]->elements[leaf];
    const Type type = subject.kernel.var(static_cast<VarId>(p)).type;
    const auto leaves = leaves_of(subject.module, type.element());
    const Scalar scalar = lane == Lane::kLift ? Scalar::kF64 : leaves[leaf % leaves.size()].scalar;
    const double u = std::ldexp(1.0, -row(scalar).digits);
    Expected expected{.value = element.value, .bound = element.bound[lane], .scale = size_of(element)};
    if (!is_written(subject, p)) {
      const double prefill = start == Start::kPrefilled ? value_at(set.prefills, p, leaf) : 0.0;
      expected.value += prefill;
      if (element.contributions > 0) {
        // The prefill is one more term of a sum in unknown order: n u (S + |prefill|) instead of (n - 1) u S, and the
        // result is rounded once more (numerics.md section 2).
        const auto terms = static_cast<double>(element.contributions);
        expected.bound += u * (terms * std::abs(prefill) + element.magnitude);
        expected.bound += u * (std::abs(prefill) + static_cast<double>(std::abs(expected.value)) + expected.bound);
      }
    }
    result[g].push_back(expected);
  });
  return result;
}

}  // namespace assay::harness
