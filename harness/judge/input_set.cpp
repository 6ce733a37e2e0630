#include "harness/judge/input_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/cpu/bound.hpp"

namespace assay::harness {
namespace {

using namespace ir;
using reference::ComponentValues;
using reference::ReferenceResult;

/// Positions of the scalar components of a field, given by its path, among those of a by-value struct.
std::pair<std::size_t, std::size_t> field_components(const Module& module, Type type,
                                                     const std::vector<std::int32_t>& path) {
  std::size_t first = 0;
  for (const std::int32_t step : path) {
    const StructDef& definition = module.structs[type.struct_id];
    for (std::int32_t f = 0; f < step; ++f)
      first += scalar_components(module, definition.fields[static_cast<std::size_t>(f)].type).size();
    type = definition.fields[static_cast<std::size_t>(step)].type;
  }
  return {first, scalar_components(module, type).size()};
}

/// The scalar components of a parameter that a gradient buffer covers.
struct GradientPart {
  std::size_t parameter;
  std::vector<ScalarComponent> components;  ///< of one element of the parameter
  std::size_t first;                        ///< the first of them in the buffer
  std::size_t count;                        ///< how many of them are in the buffer
  std::size_t elements;

  /// The position in the buffer of a scalar component of the whole parameter; empty if it is not in this part.
  std::optional<std::size_t> number(std::size_t component) const {
    const std::size_t within = component % components.size();
    if (within < first || within >= first + count) return std::nullopt;
    return component / components.size() * count + within - first;
  }
};

GradientPart part_of(const KernelUnderTest& subject, const InputSet& set,
                     const transforms::GradientParameter& gradient) {
  const auto p = static_cast<std::size_t>(gradient.primal_parameter);
  const Argument& argument = set.launch_by_precision[Precision::kNative].arguments[p];
  const Type element = argument.type.element();
  const auto [first, count] = field_components(subject.module, element, gradient.field_path);
  return {.parameter = p,
          .components = scalar_components(subject.module, element),
          .first = first,
          .count = count,
          .elements = static_cast<std::size_t>(element_count(argument))};
}

/// Calls visit(gradient number, scalar number in its buffer, parameter, component number in the parameter, its type).
template <class Visit>
void for_each_gradient(const KernelUnderTest& subject, const InputSet& set, Visit visit) {
  for (std::size_t g = 0; g < subject.adjoint->gradient_parameters.size(); ++g) {
    const GradientPart part = part_of(subject, set, subject.adjoint->gradient_parameters[g]);
    const std::size_t stride = part.components.size();
    for (std::size_t e = 0; e < part.elements; ++e) {
      for (std::size_t i = 0; i < part.count; ++i) {
        const std::size_t component = part.first + i;
        visit(g, e * part.count + i, part.parameter, e * stride + component, part.components[component].scalar);
      }
    }
  }
}

/// A gradient that is this small relative to its path contributions, and whose f64 bound is this narrow, is considered
/// zero: total - total, for example. Its scale is then the sum of its path contributions.
constexpr double kVanishingBound = 0x1p-30;

/// Writes the values of a part, times `factor`, to its dense buffer.
void write_part(const Module& module, const GradientPart& part, const std::vector<double>& values, double factor,
                Argument& buffer) {
  const std::vector<ScalarComponent> components = scalar_components(module, buffer.type.element());
  const auto stride = static_cast<std::size_t>(buffer.strides.back());
  for (std::size_t e = 0; e < part.elements; ++e) {
    std::byte* const element = buffer.bytes.data() + e * stride;
    for (std::size_t i = 0; i < part.count; ++i) {
      const double value = factor * values[e * part.components.size() + part.first + i];
      if (value != 0 && is_float(components[i].scalar))
        write_float(components[i].scalar, element + components[i].offset, value);
    }
  }
}

double value_at(const ComponentValues& values, std::size_t parameter, std::size_t component) {
  return values[parameter].empty() ? 0.0 : values[parameter][component];
}

/// One scalar of a parameter.
struct ComponentOf {
  std::size_t parameter;
  std::size_t component;
  Scalar type;
};

ExpectedScalar expected_gradient(const KernelUnderTest& subject, const InputSet& set,
                                 const reference::GradientElement& element, ComponentOf which, Precision precision,
                                 InitialGradient start) {
  const Scalar scalar = precision == Precision::kPromoted ? Scalar::kF64 : which.type;
  ExpectedScalar expected{
      .value = element.value,
      .bound = element.bound[precision],
      .informative_bound_scale =
          scale_of(element, precision) * (precision == Precision::kNative ? set.informative_bound_factor : 1)};
  if (subject.writes(which.parameter)) return expected;
  const double initial_gradient =
      start == InitialGradient::kNonZero ? value_at(set.initial_gradients, which.parameter, which.component) : 0.0;
  expected.value += initial_gradient;
  if (element.contribution_count > 0) {
    // The initial gradient g is an additional term of a sum in unknown order: n u (S + |g|) instead of (n - 1) u S, and
    // the result is rounded once more (docs/design/numerics.md, section 2).
    const double u = std::ldexp(1.0, -row(scalar).significant_bits);
    const auto terms = static_cast<double>(element.contribution_count);
    expected.bound += u * (terms * std::abs(initial_gradient) + element.magnitude_sum);
    expected.bound += u * (std::abs(initial_gradient) + static_cast<double>(std::abs(expected.value)) + expected.bound);
    // A partial sum may overflow even if the whole sum does not.
    const double largest = reference::format_of(scalar).largest_finite;
    if (!(element.magnitude_sum + std::abs(initial_gradient) + expected.bound <= largest))
      expected.bound = reference::kUnbounded;
  }
  return expected;
}

}  // namespace

bool KernelUnderTest::writes(std::size_t parameter) const { return oracle.writes(static_cast<VarId>(parameter)); }

std::size_t component_count(const KernelUnderTest& subject, const Argument& argument) {
  return static_cast<std::size_t>(element_count(argument)) *
         scalar_components(subject.module, argument.type.element()).size();
}

std::string component_notation(const ir::Module& module, const ir::Function& kernel, std::size_t parameter,
                               const ir::Argument& argument, std::size_t component) {
  const std::size_t components = ir::scalar_components(module, argument.type.element()).size();
  std::vector<std::size_t> index(argument.shape.size());
  std::size_t element = component / components;
  for (std::size_t d = index.size(); d-- > 0;) {
    const auto extent = static_cast<std::size_t>(argument.shape[d]);
    index[d] = element % extent;
    element /= extent;
  }
  std::string text = kernel.variables[parameter].name;
  if (argument.type.is_array()) text += fmt::format("[{}]", fmt::join(index, ", "));
  return components > 1 ? fmt::format("{}.{}", text, component % components) : text;
}

std::vector<const ReferenceResult*> InputSet::references(Precision precision) const {
  std::vector<const ReferenceResult*> all{&reference};
  if (reference.decisions.uncertain_decision_counts[precision] == 0) return all;
  if (alternative_path_results[precision].empty()) return {};
  for (const ReferenceResult& other : alternative_path_results[precision])
    all.push_back(&other);
  return all;
}

bool InputSet::has_conclusive_gradient(Precision precision) const {
  if (request.is_for_forward_only) return false;
  const auto all = references(precision);
  return !all.empty() && std::all_of(all.begin(), all.end(), [&](const ReferenceResult* path) {
    return path->decisions.uncertain_kinks[precision] == 0;
  });
}

bool computes_in(const KernelUnderTest& subject, Scalar scalar) {
  const auto in = [&](const Function& function) {
    return std::any_of(function.expressions.begin(), function.expressions.end(), [&](const Expr& expr) {
      return expr.type.has_float_components() && expr.type.scalar == scalar;
    });
  };
  return in(subject.kernel) || std::any_of(subject.module.functions.begin(), subject.module.functions.end(), in);
}

bool computes_in_half_precision(const KernelUnderTest& subject) {
  const auto in = [&](const Function& function) {
    return std::ranges::any_of(function.expressions, [&](const Expr& expr) {
      if (expr.kind != ir::ExprKind::kOperation || expr.op == ir::Op::kCast) return false;
      return std::ranges::any_of(expr.args, [&](ir::ExprId operand) {
        const ir::Type& type = function.expr(operand).type;
        return type.has_float_components() && (type.scalar == Scalar::kF16 || type.scalar == Scalar::kBF16);
      });
    });
  };
  return in(subject.kernel) || std::ranges::any_of(subject.module.functions, in);
}

bool has_atomics(const ParameterUses& uses) {
  return std::any_of(uses.begin(), uses.end(), [](const ParameterUse& use) { return use.is_atomically_updated; });
}

double informative_bound_factor_of(const KernelUnderTest& subject) {
  return computes_in(subject, Scalar::kF16) || computes_in(subject, Scalar::kBF16) ? 0x1p8 : 1;
}

double scale_of(const reference::GradientElement& element, Precision precision) {
  const double own = std::max(static_cast<double>(std::abs(element.value)), element.magnitude_sum);
  const bool vanishes = std::isfinite(element.path_magnitude) &&
                        element.bound[Precision::kPromoted] <= kVanishingBound * element.path_magnitude;
  if (!vanishes) return own;
  return std::max(own, precision == Precision::kNative
                           ? element.path_magnitude
                           : kVanishingBound / kMaxInformativeRelativeBound * element.path_magnitude);
}

double dense_value(std::size_t position, std::uint64_t salt) {
  const std::uint64_t mixed = (position + salt) * 0x9E3779B97F4A7C15U;
  const auto j = static_cast<double>((position * 197 + salt) % 512);
  const double magnitude = 0.5 + j / 1024;
  return (mixed >> 61U & 1U) != 0 ? -magnitude : magnitude;
}

std::vector<std::optional<ExpectedArray>> expected_outputs(const ReferenceResult& reference, Precision precision) {
  std::vector<std::optional<ExpectedArray>> result;
  for (const auto& output : reference.outputs) {
    if (!output) {
      result.emplace_back();
      continue;
    }
    ExpectedArray array;
    array.scalars.reserve(output->elements.size());
    for (std::size_t i = 0; i < output->elements.size(); ++i) {
      const reference::OutputElement& element = output->elements[i];
      const std::size_t cell = output->element_indices.empty() ? i : output->element_indices[i];
      const bool real = is_float(output->components[cell % output->components.size()]);
      array.scalars.push_back(
          {.value = element.value, .bound = element.bound[precision], .integer = element.integer, .is_integer = !real});
      array.is_written.push_back(element.is_written);
    }
    result.emplace_back(std::move(array));
  }
  return result;
}

std::vector<bool> carries_cotangent(const KernelUnderTest& subject) {
  std::vector<bool> result;
  for (const transforms::GradientParameter& gradient : subject.adjoint->gradient_parameters) {
    result.push_back(subject.writes(static_cast<std::size_t>(gradient.primal_parameter)));
  }
  return result;
}

std::vector<Argument> make_gradient_arguments(const KernelUnderTest& subject, const InputSet& set, Precision precision,
                                              InitialGradient start, double cotangent_factor) {
  std::vector<Argument> arguments;
  const Function& backward = subject.adjoint->module.kernels[0];
  for (const transforms::GradientParameter& gradient : subject.adjoint->gradient_parameters) {
    const Type type = backward.var(gradient.gradient_parameter).type;
    const auto& shape =
        set.launch_by_precision[precision].arguments[static_cast<std::size_t>(gradient.primal_parameter)].shape;
    arguments.push_back(make_argument(subject.module_in(precision),
                                      precision == Precision::kPromoted ? promoted(type) : type,
                                      gradient.is_array ? shape : std::vector<std::int32_t>{1}));
  }
  for (std::size_t g = 0; g < arguments.size(); ++g) {
    const GradientPart part = part_of(subject, set, subject.adjoint->gradient_parameters[g]);
    const bool is_seed = subject.writes(part.parameter);
    const ComponentValues& source = is_seed ? set.cotangents : set.initial_gradients;
    const double factor = is_seed ? cotangent_factor : (start == InitialGradient::kNonZero ? 1 : 0);
    if (factor == 0 || source[part.parameter].empty()) continue;
    write_part(subject.module_in(precision), part, source[part.parameter], factor, arguments[g]);
  }
  return arguments;
}

std::vector<std::vector<ExpectedScalar>> expected_gradients(const KernelUnderTest& subject, const InputSet& set,
                                                            const ReferenceResult& reference, Precision precision,
                                                            InitialGradient start) {
  std::vector<std::vector<ExpectedScalar>> result(subject.adjoint->gradient_parameters.size());
  for (std::size_t g = 0; g < result.size(); ++g) {
    const GradientPart part = part_of(subject, set, subject.adjoint->gradient_parameters[g]);
    result[g].reserve(part.elements * part.count);
  }
  for_each_gradient(subject, set, [&](std::size_t g, std::size_t, std::size_t p, std::size_t component, Scalar type) {
    const auto known = reference.gradients[p]->position(component);
    const auto element = known ? reference.gradients[p]->elements[*known] : reference::GradientElement{};
    result[g].push_back(expected_gradient(subject, set, element, {p, component, type}, precision, start));
  });
  return result;
}

std::vector<std::map<std::size_t, ExpectedScalar>> expected_accessed_gradients(const KernelUnderTest& subject,
                                                                               const InputSet& set,
                                                                               const ReferenceResult& reference,
                                                                               Precision precision,
                                                                               InitialGradient start) {
  std::vector<std::map<std::size_t, ExpectedScalar>> result;
  for (const transforms::GradientParameter& gradient : subject.adjoint->gradient_parameters) {
    auto& accessed = result.emplace_back();
    const GradientPart part = part_of(subject, set, gradient);
    const reference::GradientArray& array = *reference.gradients[part.parameter];
    for (std::size_t k = 0; k < array.element_indices.size(); ++k) {
      const std::size_t component = array.element_indices[k];
      const auto number = part.number(component);
      if (!number) continue;
      const ComponentOf which{part.parameter, component, part.components[component % part.components.size()].scalar};
      accessed.emplace_hint(accessed.end(), *number,
                            expected_gradient(subject, set, array.elements[k], which, precision, start));
    }
  }
  return result;
}

std::vector<std::size_t> gradient_components(const KernelUnderTest& subject, const InputSet& set,
                                             std::size_t gradient) {
  std::vector<std::size_t> components;
  for_each_gradient(subject, set, [&](std::size_t g, std::size_t, std::size_t, std::size_t component, Scalar) {
    if (g == gradient) components.push_back(component);
  });
  return components;
}

long double derivative_of_weighted_outputs(const InputSet& set, const reference::Tangents& tangents) {
  long double sum = 0;
  for (std::size_t p = 0; p < tangents.outputs.size(); ++p) {
    for (std::size_t i = 0; i < tangents.outputs[p].size() && i < set.cotangents[p].size(); ++i)
      sum += static_cast<long double>(set.cotangents[p][i]) * tangents.outputs[p][i][0];
  }
  return sum;
}

double unbounded_share(const reference::ReferenceResult& reference) {
  double unbounded = 0;
  double total = 0;
  const auto count = [&](double bound) {
    total += 1;
    unbounded += std::isinf(bound) ? 1 : 0;
  };
  for (const auto& output : reference.outputs) {
    for (std::size_t i = 0; output && i < output->elements.size(); ++i)
      if (output->elements[i].is_written) count(output->elements[i].bound[Precision::kNative]);
  }
  for (const auto& gradient : reference.gradients) {
    for (std::size_t i = 0; gradient && i < gradient->elements.size(); ++i)
      count(gradient->elements[i].bound[Precision::kNative]);
  }
  return total > 0 ? unbounded / total : 0;
}

}  // namespace assay::harness
