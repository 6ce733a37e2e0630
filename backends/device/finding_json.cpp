#include "backends/device/finding_json.hpp"

namespace assay::backends {

namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

Json site_json(const AccessSite& site) {
  return {{"code_line", site.code_line},
          {"source_line", site.source_line},
          {"instruction", site.instruction},
          {"thread", site.thread},
          {"block", site.block}};
}

AccessSite site_from(const json& value) {
  return {.code_line = value.at("code_line"),
          .source_line = value.at("source_line"),
          .instruction = value.at("instruction"),
          .thread = value.at("thread"),
          .block = value.at("block")};
}

}  // namespace

Json to_json(const MemoryFinding& fault) {
  Json value = {{"kind", fault.kind}, {"kernel", fault.kernel}, {"target", fault.target},
                {"text", fault.text}, {"count", fault.count},   {"site", site_json(fault.site)}};
  if (fault.conflicting_access) value["other"] = site_json(*fault.conflicting_access);
  if (fault.state_space.empty()) return value;
  value["space"] = fault.state_space;
  value["address"] = fault.address;
  value["access_bytes"] = fault.access_bytes;
  value["allocation"] = fault.allocation_name;
  value["offset"] = fault.offset;
  value["allocation_bytes"] = fault.allocation_bytes;
  return value;
}

MemoryFinding memory_finding_from(const json& value) {
  MemoryFinding fault{.kind = value.at("kind"),
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
  fault.allocation_name = value.at("allocation");
  fault.offset = value.at("offset");
  fault.allocation_bytes = value.at("allocation_bytes");
  return fault;
}

}  // namespace assay::backends
