#include "backends/candidate/specification.hpp"

#include <algorithm>
#include <cstring>
#include <ranges>
#include <span>

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

}  // namespace

std::shared_ptr<const Artifact> describe(const PythonBinding& binding, const CompiledLaunch& launch) {
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
                                                                   {"block_threads", launch.block_threads},
                                                                   {"shared_bytes", launch.shared_bytes},
                                                                   {"hidden_parameters", launch.hidden_parameter_count}}
                                                                  .dump()});
}

CompiledLaunch compiled_launch_of(const Artifact& description) {
  const json document = json::parse(description.content);
  return {.block_threads = document.at("block_threads"),
          .shared_bytes = document.at("shared_bytes"),
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

Result<SpecificationArguments> SpecificationArguments::of(const Specification& specification,
                                                          const LaunchRequest& launch) {
  const std::size_t first = specification.launch_dimension_count - 1;
  if (launch.arguments.size() < first + specification.parameters.size())
    return Error{"the launch has fewer arguments than the specification has parameters"};
  SpecificationArguments result(specification, launch.threads);
  // The launch passes the extents from the second on.
  std::int64_t further = 1;
  result.launch_extents_.push_back(0);
  for (const KernelArgument& extent : launch.arguments | std::views::take(first))
    further *= result.launch_extents_.emplace_back(integer_from(extent.bytes, true));
  if (further > 0) result.launch_extents_.front() = launch.threads / further;
  for (std::size_t p = 0; p < specification.parameters.size(); ++p) {
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
            if (!p || !specification_->parameters[*p].is_integer()) return std::nullopt;
            return static_cast<double>(integer(*p));
          },
          .extent_of = [this](std::string_view name, std::size_t dimension) -> std::optional<double> {
            if (name == "threads" && dimension < launch_extents_.size())
              return static_cast<double>(launch_extents_[dimension]);
            const std::optional<std::size_t> p = find(name);
            if (!p || !arguments_[*p].view || dimension >= arguments_[*p].view->shape.size()) return std::nullopt;
            return arguments_[*p].view->shape[dimension];
          }};
}

}  // namespace assay::candidate
