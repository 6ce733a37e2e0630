#include "harness/records/observation_json.hpp"

#include <map>
#include <string>

namespace assay::harness {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

}  // namespace

Json to_json(const backends::ExecutionProfile& profile) {
  const backends::ExactnessCounts& exactness = profile.exactness;
  return {{"target", profile.target},
          {"threads", profile.threads},
          {"fidelity",
           {{"exact", exactness.exact_instruction_count},
            {"approximate", exactness.approximate_instruction_count},
            {"order_dependent", exactness.order_dependent_instruction_count},
            {"contractible", exactness.contractible_instruction_count},
            {"approximation_reaches_result", exactness.approximation_reaches_result}}},
          {"measures", profile.measures}};
}

backends::ExecutionProfile execution_profile_from(const json& value) {
  const json& exactness = value.at("fidelity");
  return {.target = value.at("target"),
          .threads = value.at("threads"),
          .exactness = {.exact_instruction_count = exactness.at("exact"),
                        .approximate_instruction_count = exactness.at("approximate"),
                        .order_dependent_instruction_count = exactness.at("order_dependent"),
                        .contractible_instruction_count = exactness.at("contractible"),
                        .approximation_reaches_result = exactness.at("approximation_reaches_result")},
          .measures = value.at("measures").get<std::map<std::string, double>>()};
}

Json to_json(const backends::Measurement& measurement) {
  Json value = {{"target", measurement.target}, {"threads", measurement.threads}, {"measures", Json::object()}};
  for (const auto& [name, figure] : measurement.measures)
    value["measures"][name] = figure;
  if (!measurement.remark.empty()) value["remark"] = measurement.remark;
  return value;
}

backends::Measurement measurement_from(const json& value) {
  return {.target = value.at("target"),
          .threads = value.at("threads"),
          .measures = value.at("measures").get<std::map<std::string, double>>(),
          .remark = value.value("remark", "")};
}

}  // namespace assay::harness
