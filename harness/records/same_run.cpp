#include "harness/records/same_run.hpp"

#include <map>

#include <fmt/format.h>

namespace assay::harness {
namespace {

/// The environment and seed of a run, as text by name.
std::map<std::string, std::string> facts_of(const RunStart& start) {
  const RunEnvironment& environment = start.environment;
  std::map<std::string, std::string> facts{
      {"the operating system", environment.os},
      {"the processor", environment.cpu},
      {"the compiler", environment.compiler},
      {"NVRTC", environment.nvrtc},
      {"the seed", fmt::format("{}", start.seed)},
      {"Assay", environment.commit + (environment.dirty ? " with local changes" : "")}};
  for (const DeviceStatus& device : environment.devices) {
    facts["device " + device.name] =
        device.available ? fmt::format("{}, {}", device.description, device.toolkit) : "missing, " + device.reason;
    if (!device.confinement.empty()) facts["the confinement of code on " + device.name] = device.confinement;
  }
  return facts;
}

}  // namespace

std::optional<std::string> difference(const RunStart& one, const RunStart& other) {
  std::map<std::string, std::string> ours = facts_of(one);
  std::map<std::string, std::string> theirs = facts_of(other);
  for (const auto& [name, fact] : theirs)
    ours.try_emplace(name, "unknown");
  for (const auto& [name, fact] : ours) {
    const std::string& theirs_fact = theirs.try_emplace(name, "unknown").first->second;
    if (theirs_fact != fact) return fmt::format("{} is '{}' in one run and '{}' in the other", name, fact, theirs_fact);
  }
  if (one.inputs != other.inputs) return "the selected kernels, their sources or the options differ";
  if (one.expectations != other.expectations) return "the expected failures differ";
  return std::nullopt;
}

}  // namespace assay::harness
