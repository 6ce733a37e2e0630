#include "harness/reduce/failure_values.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ir/text.hpp"

namespace assay::reduce {
namespace {

using Json = nlohmann::ordered_json;

std::string hexadecimal(double value) { return fmt::format("{:a}", value); }

void note_left_out(Json& json, std::size_t count) {
  if (count > kMaxValuesPerArray) json["left_out"] = count - kMaxValuesPerArray;
}

Json scalars_of(const ir::Module& module, const ir::Argument& argument) {
  Json values = Json::array();
  const auto components = ir::scalar_components(module, argument.type.element());
  for (std::int64_t e = 0; e < ir::element_count(argument) && values.size() < kMaxValuesPerArray; ++e) {
    for (const ir::ScalarComponent& component : components) {
      const std::byte* at = argument.bytes.data() + ir::element_offset(argument, e) + component.offset;
      if (ir::is_float(component.scalar)) values.push_back(hexadecimal(ir::read_float(component.scalar, at)));
      else values.push_back(ir::read_integer(component.scalar, at));
    }
  }
  return values;
}

Json to_json(const ir::Module& module, const harness::Counterexample::NamedArgument& given) {
  const ir::Argument& content = given.content;
  Json json{{"name", given.name}, {"type", ir::to_text(module, content.type)}};
  if (content.type.is_array()) json["shape"] = content.shape;
  json["values"] = scalars_of(module, content);
  const std::size_t components = ir::scalar_components(module, content.type.element()).size();
  note_left_out(json, static_cast<std::size_t>(ir::element_count(content)) * components);
  return json;
}

Json comparison_of(const harness::Counterexample& counterexample) {
  Json differing = Json::array();
  Json actual = Json::array();
  Json expected = Json::array();
  Json bound = Json::array();
  for (std::size_t i = 0; i < std::min(counterexample.got.size(), kMaxValuesPerArray); ++i) {
    const harness::ExpectedScalar& wanted = counterexample.expected[i];
    if (harness::score(counterexample.got[i], wanted).agreement == harness::Agreement::kDiffers) differing.push_back(i);
    if (wanted.is_integer) {
      actual.push_back(counterexample.got[i].integer);
      expected.push_back(wanted.integer);
      bound.push_back(0);
    } else {
      actual.push_back(hexadecimal(counterexample.got[i].value));
      expected.push_back(hexadecimal(static_cast<double>(wanted.value)));
      bound.push_back(hexadecimal(wanted.bound));
    }
  }
  Json json{{"array", counterexample.array_name},
            {"differing", differing},
            {"actual", actual},
            {"expected", expected},
            {"bound", bound}};
  note_left_out(json, counterexample.got.size());
  return json;
}

}  // namespace

std::string values_json(const ir::Module& module, const harness::Counterexample& counterexample) {
  Json json{{"input_set", counterexample.input_set_index},
            {"lane", backends::to_text(counterexample.precision)},
            {"threads", counterexample.threads},
            {"given", Json::array()}};
  for (const harness::Counterexample::NamedArgument& given : counterexample.launch_arguments)
    json["given"].push_back(to_json(module, given));
  if (!counterexample.array_name.empty()) json["compared"] = comparison_of(counterexample);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay::reduce
