#include "ir/transforms/testing/against_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/warp/parse/reader.hpp"
#include "ir/verifier.hpp"
#include "support/rng.hpp"

namespace assay::transforms::testing {
namespace {

using reference::ComponentValues;
using reference::ReferenceResult;

/// Relative tolerance. The oracle computes both sides in long double, so they differ by far less than this fraction of
/// the terms of a gradient or, under cancellation, than this fraction of the error bound for double precision.
constexpr long double kTolerance = 1e-12L;
constexpr long double kShareOfBound = 0x1p-8L;

struct Bounds {
  double low = -2;
  double high = 2;
};

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

/// Calls set(leaf, bytes, number) for every scalar of the argument.
template <class Set>
void for_each_component(const ir::Module& module, const ir::Argument& argument, Set set) {
  const auto components = ir::scalar_components(module, argument.type.element());
  std::size_t number = 0;
  for (std::int64_t k = 0; k < ir::element_count(argument); ++k) {
    for (const ir::ScalarComponent& component : components)
      set(component, ir::element_offset(argument, k) + component.offset, number++);
  }
}

bool is_permutation(const ir::Function& kernel, const ir::Variable& parameter) {
  return std::ranges::find(kernel.annotations, fmt::format("domain: {} is a permutation", parameter.name)) !=
         kernel.annotations.end();
}

void fill_reversed(ir::Argument& argument) {
  const std::int64_t count = ir::element_count(argument);
  for (std::int64_t k = 0; k < count; ++k) {
    ir::write_integer(argument.type.scalar, argument.bytes.data() + ir::element_offset(argument, k), count - 1 - k);
  }
}

void fill(const ir::Module& module, ir::Argument& argument, Bounds bounds, Rng& rng) {
  for_each_component(module, argument, [&](const ir::ScalarComponent& component, std::size_t offset, std::size_t) {
    std::byte* const at = argument.bytes.data() + offset;
    if (ir::is_float(component.scalar)) {
      ir::write_float(component.scalar, at, rng.uniform_real(bounds.low, bounds.high));
    } else {
      const bool is_bool = component.scalar == ir::Scalar::kBool;
      const auto low = static_cast<std::int64_t>(is_bool ? 0 : bounds.low);
      const auto high = static_cast<std::int64_t>(is_bool ? 1 : bounds.high);
      ir::write_integer(component.scalar, at, rng.uniform_int(low, high));
    }
  });
}

/// Multiples of 1/1024, which every float type except bf16 represents exactly; multiples of 1/64 for bf16.
double draw_seed(ir::Scalar scalar, Rng& rng) {
  const double unit = scalar == ir::Scalar::kBF16 ? 64 : 1024;
  const double size = (unit / 2 + static_cast<double>(rng.uniform_int(0, static_cast<int>(unit)))) / unit;
  return rng.bernoulli(0.5) ? size : -size;
}

/// The scalar components of a parameter that belong to one gradient parameter: all, or those of one field of a struct.
struct ComponentRange {
  std::size_t first = 0;
  std::size_t count = 0;
};
ComponentRange leaves_for(const ir::Module& module, ir::Type type, const std::vector<std::int32_t>& fields) {
  std::size_t begin = 0;
  ir::Type inner = type;
  for (const std::int32_t field : fields) {
    const ir::StructDef& definition = module.structs[inner.struct_id];
    begin += ir::field_offset(module, definition, static_cast<std::size_t>(field));
    inner = definition.fields[static_cast<std::size_t>(field)].type;
  }
  const auto all = ir::scalar_components(module, type);
  const auto at =
      std::ranges::find_if(all, [&](const ir::ScalarComponent& component) { return component.offset == begin; });
  return {static_cast<std::size_t>(at - all.begin()), ir::scalar_components(module, inner).size()};
}

class Judge {
 public:
  Judge(const ir::Module& module, const ir::Function& kernel, const OracleInput& input)
      : module_(module), kernel_(kernel), input_(input) {}

  OracleComparison run() {
    if (!evaluate_primal()) return result_;
    Result<AdjointModule> made = make_adjoint(module_, kernel_);
    if (!made.ok()) return end(OracleComparison::Kind::kRejected, made.error().text());
    adjoint_ = made.take();
    const ir::Function& backward = adjoint_.module.kernels[0];
    for (const ir::VerifierError& diagnostic : ir::verify(adjoint_.module)) {
      return end(OracleComparison::Kind::kDisagrees, to_text(adjoint_.module, diagnostic));
    }
    result_.local_elements = local_elements(backward);
    const auto oracle = reference::Oracle::make(adjoint_.module, backward);
    if (!oracle.ok()) return end(OracleComparison::Kind::kDisagrees, oracle.error().text());
    const ir::Launch launch = backward_launch(backward);
    const ReferenceResult found = oracle->evaluate({.launch = launch});
    result_.backward_steps = found.instructions;
    if (!found.is_complete) return end(OracleComparison::Kind::kDisagrees, "the backward kernel does not terminate");
    for (const reference::Finding& finding : found.findings) {
      // The trip counts of the adjoint may overflow: emitted code wraps, as the oracle does.
      if (finding.kind == reference::Finding::Kind::kIntegerOverflow) continue;
      return end(OracleComparison::Kind::kDisagrees, "backward: " + describe(finding, adjoint_.module, backward));
    }
    for (const GradientParameter& gradient : adjoint_.gradient_parameters)
      check(gradient, found);
    return result_;
  }

 private:
  OracleComparison end(OracleComparison::Kind kind, std::string message) {
    result_.kind = kind;
    result_.message = std::move(message);
    return result_;
  }

  bool evaluate_primal() {
    const auto oracle = reference::Oracle::make(module_, kernel_);
    if (!oracle.ok()) return end(OracleComparison::Kind::kUndefined, oracle.error().text()), false;
    // Only arrays that the kernel writes are outputs and have cotangents.
    cotangents_ = input_.cotangents;
    for (ir::VarId p = 0; p < kernel_.parameter_count; ++p) {
      writes_.push_back(oracle->writes(p));
      if (!writes_.back()) cotangents_[static_cast<std::size_t>(p)].clear();
    }
    primal_ = oracle->evaluate({.launch = input_.launch, .computes_gradient = true, .cotangents = cotangents_});
    result_.forward_steps = primal_.instructions;
    if (!primal_.is_complete) return end(OracleComparison::Kind::kUndefined, "the kernel does not terminate"), false;
    for (const reference::Finding& finding : primal_.findings)
      return end(OracleComparison::Kind::kUndefined, describe(finding, module_, kernel_)), false;
    return true;
  }

  /// The arguments of the primal, then the gradients: cotangents for written arrays, zero for others.
  ir::Launch backward_launch(const ir::Function& backward) const {
    ir::Launch launch = input_.launch;
    for (const GradientParameter& gradient : adjoint_.gradient_parameters) {
      const auto p = static_cast<std::size_t>(gradient.primal_parameter);
      const std::vector<std::int32_t> one = {1};
      ir::Argument argument = ir::make_argument(adjoint_.module, backward.var(gradient.gradient_parameter).type,
                                                gradient.is_array ? input_.launch.arguments[p].shape : one);
      if (writes_[p]) {
        const std::vector<std::size_t> components = leaf_numbers(gradient);
        for_each_component(
            module_, argument, [&](const ir::ScalarComponent& component, std::size_t offset, std::size_t number) {
              ir::write_float(component.scalar, argument.bytes.data() + offset, cotangents_[p][components[number]]);
            });
      }
      launch.arguments.push_back(std::move(argument));
    }
    for (const ir::VarId array : adjoint_.parameters_bound_to_final_content)
      reference::write_final_content(module_, *primal_.outputs[static_cast<std::size_t>(array)],
                                     launch.arguments[static_cast<std::size_t>(array)]);
    return launch;
  }

  /// For each scalar of the gradient, the index of its scalar component in the parameter.
  std::vector<std::size_t> leaf_numbers(const GradientParameter& gradient) const {
    const ir::Argument& argument = input_.launch.arguments[static_cast<std::size_t>(gradient.primal_parameter)];
    const ir::Type element = argument.type.element();
    const ComponentRange range = leaves_for(module_, element, gradient.field_path);
    const std::size_t stride = ir::scalar_components(module_, element).size();
    std::vector<std::size_t> numbers;
    for (std::int64_t e = 0; e < ir::element_count(argument); ++e) {
      for (std::size_t k = 0; k < range.count; ++k)
        numbers.push_back(static_cast<std::size_t>(e) * stride + range.first + k);
    }
    return numbers;
  }

  void check(const GradientParameter& gradient, const ReferenceResult& found) {
    const auto& swept = primal_.gradients[static_cast<std::size_t>(gradient.primal_parameter)];
    if (!swept) return;
    const auto& output = found.outputs[static_cast<std::size_t>(gradient.gradient_parameter)];
    const std::vector<std::size_t> components = leaf_numbers(gradient);
    for (std::size_t k = 0; k < components.size(); ++k) {
      const reference::GradientElement& want = swept->elements[components[k]];
      const std::vector<double>& seeds = cotangents_[static_cast<std::size_t>(gradient.primal_parameter)];
      const long double before = seeds.empty() ? 0 : seeds[components[k]];
      if (want.value != before) ++result_.changed;
      check(gradient, k, want, output ? output->elements[k].value : before);
    }
  }

  void check(const GradientParameter& gradient, std::size_t k, const reference::GradientElement& want,
             long double got) {
    const auto bound = static_cast<long double>(want.bound[reference::kPromoted]);
    if (!std::isfinite(want.value)) return;
    ++result_.compared;
    const long double terms = std::abs(want.value) + static_cast<long double>(want.magnitude_sum);
    const long double allowed = std::max(kTolerance * terms, std::isfinite(bound) ? kShareOfBound * bound : 0);
    if (std::abs(got - want.value) <= allowed || result_.kind == OracleComparison::Kind::kDisagrees) return;
    end(OracleComparison::Kind::kDisagrees,
        fmt::format("{}[{}] is {}, expected {} (terms {})",
                    adjoint_.module.kernels[0].var(gradient.gradient_parameter).name, k, static_cast<double>(got),
                    static_cast<double>(want.value), want.magnitude_sum));
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  const OracleInput& input_;
  AdjointModule adjoint_;
  ReferenceResult primal_;
  std::vector<bool> writes_;
  ComponentValues cotangents_;
  OracleComparison result_;
};

}  // namespace

OracleInput draw(const ir::Module& module, const ir::Function& kernel, std::uint64_t seed, Sizes sizes) {
  Rng rng(seed);
  OracleInput input;
  input.launch.extents.assign(static_cast<std::size_t>(kernel.launch_rank), sizes.threads);
  for (ir::VarId p = 0; p < kernel.parameter_count; ++p) {
    const ir::Variable& parameter = kernel.var(p);
    ir::Argument argument =
        ir::make_argument(module, parameter.type, std::vector<std::int32_t>(parameter.type.rank, sizes.extent));
    fill(module, argument, domain_of(kernel, parameter), rng);
    if (is_permutation(kernel, parameter)) fill_reversed(argument);
    std::vector<double> seeds;
    if (parameter.type.is_array()) {
      for_each_component(module, argument, [&](const ir::ScalarComponent& component, std::size_t, std::size_t) {
        seeds.push_back(ir::is_float(component.scalar) ? draw_seed(component.scalar, rng) : 0);
      });
    }
    input.cotangents.push_back(std::move(seeds));
    input.launch.arguments.push_back(std::move(argument));
  }
  return input;
}

std::string Example::source() const {
  std::string text = "import warp as wp\n\n" + std::string(before);
  for (const std::string_view part :
       {std::string_view("@wp.kernel\ndef kernel("), parameters, std::string_view("):\n")})
    text += part;
  return text + std::string(body);
}

void PrintTo(OracleComparison::Kind kind, std::ostream* out) {
  static constexpr const char* kNames[] = {"agrees", "disagrees", "rejected", "undefined"};
  *out << kNames[static_cast<int>(kind)];
}

void PrintTo(const Example& example, std::ostream* out) { *out << example.name; }

OracleComparison compare(const Example& example, std::uint64_t seed) {
  const ir::Module module = read(example.source());
  if (module.kernels.empty()) return {.kind = OracleComparison::Kind::kUndefined, .message = "unreadable"};
  return compare(module, module.kernels[0], draw(module, module.kernels[0], seed, example.sizes));
}

OracleComparison compare(const ir::Module& module, const ir::Function& kernel, const OracleInput& input) {
  return Judge(module, kernel, input).run();
}

ir::Module read(std::string_view python) {
  auto file = frontend::parse_python(python, "kernel.py");
  if (!file.ok()) {
    ADD_FAILURE() << file.error().text();
    return {};
  }
  for (const frontend::Diagnostic& diagnostic : file->diagnostics)
    EXPECT_NE(diagnostic.severity, frontend::Severity::kError) << diagnostic.text();
  EXPECT_FALSE(file->module.kernels.empty()) << python;
  return std::move(file->module);
}

std::int64_t local_elements(const ir::Function& kernel) {
  std::int64_t sum = 0;
  for (const ir::Variable& variable : kernel.variables)
    sum += variable.type.is_local_array() ? variable.type.extent : 0;
  return sum;
}

}  // namespace assay::transforms::testing
