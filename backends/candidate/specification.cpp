#include "backends/candidate/specification.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <limits>
#include <ranges>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::candidate {

using namespace backends;
using nlohmann::json;

namespace {

std::int64_t integer_from(std::span<const std::byte> bytes, bool is_signed) {
  const auto read = [&](auto zero) {
    std::memcpy(&zero, bytes.data(), sizeof(zero));
    return static_cast<std::int64_t>(zero);
  };
  switch (bytes.size()) {
    case 1: return is_signed ? read(std::int8_t{}) : read(std::uint8_t{});
    case 2: return is_signed ? read(std::int16_t{}) : read(std::uint16_t{});
    case 4: return is_signed ? read(std::int32_t{}) : read(std::uint32_t{});
    default: return read(std::int64_t{});
  }
}

json document_of(const CompiledLaunch& launch) {
  return {{"block_threads", launch.block_threads},
          {"shared_bytes", launch.shared_bytes},
          {"scratch_bytes", launch.scratch_bytes},
          {"hidden_parameters", launch.hidden_parameter_count}};
}

/// The size of a scalar type that the schema of contracts allows for saved arrays.
std::size_t bytes_of_scalar(std::string_view type) {
  if (type == "bool" || type.ends_with("int8")) return 1;
  if (type.ends_with("16")) return 2;
  return type.ends_with("64") ? 8 : 4;
}

}  // namespace

std::shared_ptr<const Artifact> describe(const PythonBinding& binding, const CompiledLaunch& forward,
                                         const CompiledLaunch& backward) {
  json parameters = json::array();
  for (const PythonBinding::Parameter& parameter : binding.parameters)
    parameters.push_back({{"name", parameter.name},
                          {"type", parameter.type},
                          {"rank", parameter.rank},
                          {"bytes", parameter.bytes},
                          {"is_read", parameter.is_read},
                          {"is_written", parameter.is_written}});
  json gradients = json::array();
  for (const PythonGradient& gradient : binding.native.gradients)
    gradients.push_back(gradient.parameter_index);
  return std::make_shared<const Artifact>(Artifact{.kind = Artifact::Kind::kPython,
                                                   .architecture = {},
                                                   .path = {},
                                                   .content = json{{"dimensions", binding.launch_dimension_count},
                                                                   {"parameters", parameters},
                                                                   {"gradients", gradients},
                                                                   {"forward", document_of(forward)},
                                                                   {"backward", document_of(backward)}}
                                                                  .dump()});
}

CompiledLaunch compiled_launch_of(const Artifact& description, Pass pass) {
  const json document = json::parse(description.content).at(pass == Pass::kBackward ? "backward" : "forward");
  return {.block_threads = document.at("block_threads"),
          .shared_bytes = document.at("shared_bytes"),
          .scratch_bytes = document.at("scratch_bytes"),
          .hidden_parameter_count = document.at("hidden_parameters")};
}

std::optional<ptx::Type> float_type(std::string_view name) {
  constexpr std::array kTypes{std::pair{std::string_view{"float16"}, ptx::Type::kF16},
                              std::pair{std::string_view{"bfloat16"}, ptx::Type::kBf16},
                              std::pair{std::string_view{"float32"}, ptx::Type::kF32},
                              std::pair{std::string_view{"float64"}, ptx::Type::kF64}};
  for (const auto& [known, type] : kTypes)
    if (known == name) return type;
  return std::nullopt;
}

Specification specification_of(const Artifact& description, Pass pass) {
  const json document = json::parse(description.content);
  Specification result{.launch_dimension_count = document.at("dimensions"), .parameters = {}};
  for (const json& parameter : document.at("parameters"))
    result.parameters.push_back({.name = parameter.at("name"),
                                 .type = parameter.at("type"),
                                 .rank = parameter.at("rank"),
                                 .bytes = parameter.at("bytes"),
                                 .is_read = parameter.at("is_read"),
                                 .is_written = parameter.at("is_written")});
  if (pass != Pass::kBackward) return result;
  for (const json& index : document.at("gradients")) {
    SpecificationParameter gradient = result.parameters[index.get<std::size_t>()];
    gradient.name += ".grad";
    gradient.primal_index = index.get<std::size_t>();
    result.parameters.push_back(std::move(gradient));
  }
  return result;
}

Result<void> Specification::add_saved_arrays(const std::vector<SavedArray>& arrays) {
  for (const SavedArray& array : arrays) {
    if (std::ranges::find(parameters, array.name, &SpecificationParameter::name) != parameters.end()) {
      return Error{saved_name_in_use_text(array.name)};
    }
    parameters.push_back({.name = array.name,
                          .type = array.type,
                          .rank = array.shape_formulas.size(),
                          .bytes = bytes_of_scalar(array.type),
                          .is_read = true,
                          .is_written = true,
                          .primal_index = {},
                          .saved_array = &array});
  }
  return {};
}

Result<void> Specification::check_backward() const {
  for (const SpecificationParameter& parameter : parameters) {
    if (parameter.saved_array != nullptr || !parameter.is_read || !parameter.is_written) continue;
    return Error{fmt::format(
        "the specification changes '{}' in place; the backward pass of a candidate is judged only if inputs "
        "and outputs are different arrays",
        parameter.name)};
  }
  return {};
}

bool Specification::names_forward_results(const std::vector<std::string>& formulas) const {
  return std::ranges::any_of(parameters, [&](const SpecificationParameter& parameter) {
    return parameter.is_written && !parameter.primal_index &&
           std::ranges::find(formulas, parameter.name) != formulas.end();
  });
}

std::vector<std::string> Specification::usual_arguments(Pass pass, const std::vector<std::string>& results) const {
  std::vector<std::string> names;
  const auto add_if = [&](auto condition) {
    for (const SpecificationParameter& parameter : parameters)
      if (parameter.saved_array == nullptr && condition(parameter)) names.push_back(parameter.name);
  };
  if (pass == Pass::kForward) {
    add_if([](const SpecificationParameter&) { return true; });
    return names;
  }
  add_if([](const SpecificationParameter& one) { return one.primal_index && one.is_written; });
  add_if([](const SpecificationParameter& one) { return !one.primal_index && !one.is_written; });
  if (results.empty()) add_if([](const SpecificationParameter& one) { return one.primal_index && !one.is_written; });
  names.insert(names.end(), results.begin(), results.end());
  return names;
}

bool is_name(std::string_view formula) {
  return !formula.empty() && std::isdigit(static_cast<unsigned char>(formula.front())) == 0 &&
         std::ranges::all_of(formula, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::string unknown_argument_text(std::string_view name) {
  return fmt::format(
      "'{}' in 'arguments' of the contract's backward pass is unknown; expected a parameter of the specification, its "
      "gradient such as 'x.grad', a formula, or a name from 'results' of the forward function or from 'saved'",
      name);
}

std::string saved_name_in_use_text(std::string_view name) {
  return fmt::format(
      "'saved' in the contract defines '{}', which is a parameter of the specification; choose another name", name);
}

Result<std::vector<std::size_t>> Specification::gradients(const std::vector<std::string>& names) const {
  std::vector<std::size_t> results;
  for (std::size_t p = 0; names.empty() && p < parameters.size(); ++p)
    if (parameters[p].primal_index && !parameters[p].is_written) results.push_back(p);
  for (const std::string& name : names) {
    const auto found = std::ranges::find(parameters, name, &SpecificationParameter::name);
    if (found == parameters.end() || !found->primal_index) {
      return Error{fmt::format(
          "'results' of the contract's backward pass must be gradients of arrays with floats, got '{}'", name)};
    }
    results.push_back(static_cast<std::size_t>(found - parameters.begin()));
  }
  if (results.empty()) return Error{"the specification has no input array with floats, so no gradient can be judged"};
  return results;
}

Result<ptx::ArrayView> SpecificationArguments::saved_view(const SpecificationParameter& parameter) const {
  ptx::ArrayView view;
  view.region.name = parameter.name;
  view.region.uninitialized = !parameter.saved_array->is_zeroed;
  for (const std::string& formula : parameter.saved_array->shape_formulas) {
    const Result<std::int64_t> extent = evaluate(formula, names());
    if (!extent.ok()) return extent.error();
    if (*extent < 0 || *extent > std::numeric_limits<std::int32_t>::max()) {
      return Error{fmt::format("an extent of '{}' in 'saved' of the contract must be from 0 to {}, got {}",
                               parameter.name, std::numeric_limits<std::int32_t>::max(), *extent)};
    }
    view.shape.push_back(static_cast<std::int32_t>(*extent));
  }
  view.byte_strides = ptx::dense_byte_strides(view.shape, parameter.bytes);
  view.region.bytes = view.byte_extent(parameter.bytes);
  return view;
}

Result<SpecificationArguments> SpecificationArguments::of(
    const Specification& specification, const LaunchRequest& launch,
    const std::function<Result<std::pair<BufferId, std::span<std::byte>>>(std::size_t number, std::size_t bytes)>&
        allocate_saved) {
  const std::size_t first = specification.launch_dimension_count - 1;
  const auto saved_count = static_cast<std::size_t>(
      std::ranges::count_if(specification.parameters, [](const auto& one) { return one.saved_array != nullptr; }));
  if (launch.arguments.size() + saved_count < first + specification.parameters.size())
    return Error{"the launch has fewer arguments than the specification has parameters"};
  SpecificationArguments result(specification, launch.threads);
  // The launch passes the extents from the second on.
  std::int64_t further = 1;
  result.launch_extents_.push_back(0);
  for (const KernelArgument& extent : launch.arguments | std::views::take(first))
    further *= result.launch_extents_.emplace_back(integer_from(extent.bytes, true));
  if (further > 0) result.launch_extents_.front() = launch.threads / further;
  std::size_t saved_number = 0;
  for (std::size_t p = 0; p < specification.parameters.size(); ++p) {
    if (specification.parameters[p].saved_array != nullptr) {
      Result<ptx::ArrayView> view = result.saved_view(specification.parameters[p]);
      if (!view.ok()) return view.error();
      const std::size_t size = std::max<std::size_t>(view->region.bytes, 1);
      const auto memory = allocate_saved(saved_number++, size);
      if (!memory.ok()) return memory.error();
      view->address = {.buffer = memory->first};
      constexpr std::byte kNaN{0xff};
      std::ranges::fill(memory->second.first(size),
                        specification.parameters[p].saved_array->is_zeroed ? std::byte{0} : kNaN);
      result.arguments_.emplace_back().view = view.take();
      continue;
    }
    const KernelArgument& argument = launch.arguments[first + p];
    Argument& value = result.arguments_.emplace_back();
    if (specification.parameters[p].rank == 0) value.value = argument.bytes;
    else value.view = ptx::array_view_of(argument, specification.parameters[p].rank);
  }
  return result;
}

std::optional<std::size_t> SpecificationArguments::find(std::string_view name) const {
  const auto found = std::ranges::find(specification_->parameters, name, &SpecificationParameter::name);
  if (found == specification_->parameters.end()) return std::nullopt;
  return static_cast<std::size_t>(found - specification_->parameters.begin());
}

std::int64_t SpecificationArguments::integer(std::size_t parameter) const {
  return integer_from(arguments_[parameter].value, specification_->parameters[parameter].type.starts_with("int"));
}

FormulaNameLookup SpecificationArguments::names() const {
  return {.value_of = [this](std::string_view name) -> std::optional<double> {
            if (name == "threads") return static_cast<double>(thread_count_);
            const std::optional<std::size_t> p = find(name);
            if (!p || *p >= arguments_.size() || !specification_->parameters[*p].is_integer()) return std::nullopt;
            return static_cast<double>(integer(*p));
          },
          .extent_of = [this](std::string_view name, std::size_t dimension) -> std::optional<double> {
            if (name == "threads" && dimension < launch_extents_.size())
              return static_cast<double>(launch_extents_[dimension]);
            const std::optional<std::size_t> p = find(name);
            if (!p || *p >= arguments_.size() || !arguments_[*p].view || dimension >= arguments_[*p].view->shape.size())
              return std::nullopt;
            return arguments_[*p].view->shape[dimension];
          }};
}

}  // namespace assay::candidate
