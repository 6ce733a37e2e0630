#include "harness/records/observation_json.hpp"

#include <map>
#include <string>

namespace assay::harness {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

Json site_json(const backends::AccessSite& site) {
  return {{"code_line", site.code_line},
          {"source_line", site.source_line},
          {"instruction", site.instruction},
          {"thread", site.thread},
          {"block", site.block}};
}

backends::AccessSite site_from(const json& value) {
  return {.code_line = value.at("code_line"),
          .source_line = value.at("source_line"),
          .instruction = value.at("instruction"),
          .thread = value.at("thread"),
          .block = value.at("block")};
}

}  // namespace

Json to_json(const backends::MemoryFinding& fault) {
  Json value = {{"kind", fault.kind}, {"kernel", fault.kernel}, {"target", fault.target},
                {"text", fault.text}, {"count", fault.count},   {"site", site_json(fault.site)}};
  if (fault.conflicting_access) value["other"] = site_json(*fault.conflicting_access);
  if (fault.state_space.empty()) return value;
  value["space"] = fault.state_space;
  value["address"] = fault.address;
  value["access_bytes"] = fault.access_bytes;
  value["allocation"] = fault.allocation;
  value["offset"] = fault.offset;
  value["allocation_bytes"] = fault.allocation_bytes;
  return value;
}

backends::MemoryFinding memory_finding_from(const json& value) {
  backends::MemoryFinding fault{.kind = value.at("kind"),
                                .kernel = value.at("kernel"),
                                .target = value.at("target"),
                                .site = site_from(value.at("site")),
                                .count = value.at("count"),
                                .text = value.at("text")};
  if (value.contains("other")) fault.conflicting_access = site_from(value.at("other"));
  if (!value.contains("space")) return fault;
  fault.state_space = value.at("space");
  fault.address = value.at("address");
  fault.access_bytes = value.at("access_bytes");
  fault.allocation = value.at("allocation");
  fault.offset = value.at("offset");
  fault.allocation_bytes = value.at("allocation_bytes");
  return fault;
}

Json to_json(const backends::ExecutionProfile& profile) {
  const backends::ExactnessCounts& exactness = profile.exactness;
  return {{"target", profile.target},
          {"threads", profile.threads},
          {"fidelity",
           {{"exact", exactness.exact_count},
            {"approximate", exactness.approximate_count},
            {"order_dependent", exactness.order_dependent_count},
            {"contractible", exactness.contractible_count},
            {"approximation_reaches_result", exactness.approximation_reaches_result}}},
          {"measures", profile.measures}};
}

backends::ExecutionProfile execution_profile_from(const json& value) {
  const json& exactness = value.at("fidelity");
  return {.target = value.at("target"),
          .threads = value.at("threads"),
          .exactness = {.exact_count = exactness.at("exact"),
                        .approximate_count = exactness.at("approximate"),
                        .order_dependent_count = exactness.at("order_dependent"),
                        .contractible_count = exactness.at("contractible"),
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
