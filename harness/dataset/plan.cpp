#include "harness/dataset/plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "generators/generator.hpp"
#include "schemas/validator.hpp"
#include "support/rng.hpp"

namespace assay::dataset {
namespace {

using nlohmann::json;
using Json = nlohmann::ordered_json;

/// Bits in the seed of a random kernel: few collisions among a billion rows, and short names.
constexpr unsigned kSeedBits = 40;

}  // namespace

RowMetadata metadata_of(const DatasetPlan& plan, const std::optional<live::KernelOrigin>& origin) {
  const bool has_own_license = origin && plan.license == kLicensePerRow;
  return {.generator_version = plan.generator_version,
          .emitter = plan.emitter,
          .emitter_version = plan.emitter_version,
          .kernel_generators_version = plan.kernel_generators_version,
          .name = {},
          .seed = fmt::format("{}", plan.seed),
          .category = {},
          .device = plan.devices,
          .numeric_modes = plan.numeric_modes,
          .judging_effort = plan.judging_effort,
          .toolchain = plan.toolchain,
          .license = has_own_license ? origin->license : plan.license};
}

Result<void> distribute_rows(DatasetPlan& plan) {
  constexpr double kMinWeight = 0.001, kMaxWeight = 1'000'000;
  double total = 0;
  for (const FamilyShare& share : plan.family_shares) {
    if (!(share.weight >= kMinWeight && share.weight <= kMaxWeight)) {
      return Error{fmt::format("the weight of '{}' must be from {} to {:.0f}, got {}", share.family, kMinWeight,
                               kMaxWeight, share.weight)};
    }
    total += share.weight;
  }
  if (plan.family_shares.empty()) return Error{"no kernel family is selected"};
  std::vector<double> remainders;
  std::uint64_t given = 0;
  for (FamilyShare& share : plan.family_shares) {
    const double exact = static_cast<double>(plan.row_count) * share.weight / total;
    share.row_count = static_cast<std::uint64_t>(exact);
    given += share.row_count;
    remainders.push_back(exact - std::floor(exact));
  }
  std::vector<std::size_t> order(plan.family_shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; given < plan.row_count; ++i, ++given)
    ++plan.family_shares[order[i % order.size()]].row_count;
  return {};
}

std::vector<DatasetSlot> slots_of(const DatasetPlan& plan) {
  std::vector<DatasetSlot> slots;
  slots.reserve(plan.row_count);
  for (std::uint32_t f = 0; f < plan.family_shares.size(); ++f) {
    for (std::uint64_t i = 0; i < plan.family_shares[f].row_count; ++i)
      slots.push_back({.number = 0, .family = f, .index_in_family = i});
  }
  const auto place = [&](const DatasetSlot& slot) {
    return (static_cast<double>(slot.index_in_family) + 0.5) /
           static_cast<double>(plan.family_shares[slot.family].row_count);
  };
  std::ranges::sort(slots, [&](const DatasetSlot& a, const DatasetSlot& b) {
    return std::pair(place(a), a.family) < std::pair(place(b), b.family);
  });
  for (std::uint64_t number = 0; number < slots.size(); ++number)
    slots[number].number = number;
  return slots;
}

std::span<const DatasetSlot> slots_of_block(const DatasetPlan& plan, std::span<const DatasetSlot> slots,
                                            std::uint64_t block) {
  const std::uint64_t first = block * plan.slots_per_block;
  return slots.subspan(first, std::min<std::uint64_t>(plan.slots_per_block, slots.size() - first));
}

std::vector<std::uint64_t> blocks_of_shard(const DatasetPlan& plan) {
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t block = plan.shard.shard_index; block < plan.blocks(); block += plan.shard.shard_count)
    blocks.push_back(block);
  return blocks;
}

std::optional<std::string> candidate_name(const DatasetPlan& plan, const DatasetSlot& slot, std::uint32_t attempt) {
  if (!plan.user_kernels.empty()) {
    return attempt == 0 ? std::optional(plan.user_kernels[slot.number].name) : std::nullopt;
  }
  const std::string& family = plan.family_shares[slot.family].family;
  Rng rng = Rng(plan.seed).split(family).split(slot.index_in_family).split(std::uint64_t{attempt});
  return fmt::format("{}/r{}_{}", family, generators::kGeneratorVersion, rng.next() >> (64 - kSeedBits));
}

namespace {

Json to_json(const std::vector<UserKernel>& kernels) {
  Json list = Json::array();
  for (const UserKernel& kernel : kernels) {
    Json line{{"name", kernel.name}, {"python", kernel.python_source}};
    if (kernel.origin) line["origin"] = Json::parse(to_json_text(kernel.origin));
    if (!kernel.export_error.empty()) line["export_error"] = kernel.export_error;
    if (!kernel.parse_error.empty()) line["parse_error"] = kernel.parse_error;
    list.push_back(std::move(line));
  }
  return list;
}

std::vector<UserKernel> kernels_from(const json& list) {
  std::vector<UserKernel> kernels;
  for (const json& kernel : list)
    kernels.push_back({.name = kernel.at("name"),
                       .python_source = kernel.at("python"),
                       .origin = origin_from(kernel.value("origin", json())),
                       .export_error = kernel.value("export_error", ""),
                       .parse_error = kernel.value("parse_error", "")});
  return kernels;
}

}  // namespace

Json to_json(const DatasetPlan& plan) {
  Json shares = Json::array();
  for (const FamilyShare& share : plan.family_shares)
    shares.push_back({{"family", share.family}, {"weight", share.weight}, {"rows", share.row_count}});
  Json tools = Json::array();
  for (const DeviceCompiler& tool : plan.toolchain)
    tools.push_back({{"device", tool.device}, {"version", tool.version}, {"sha256", tool.sha256}});
  return {{"record", "plan"},
          {"schema_version", schemas::kManifestSchemaVersion},
          {"generator_version", plan.generator_version},
          {"emitter", plan.emitter},
          {"emitter_version", plan.emitter_version},
          {"kernels_version", plan.kernel_generators_version},
          {"count", plan.row_count},
          {"seed", fmt::format("{}", plan.seed)},
          {"families", shares},
          {"kernels", to_json(plan.user_kernels)},
          {"excluded", to_json(plan.excluded_kernels)},
          {"verify", plan.verifies_rows},
          {"effort", plan.judging_effort},
          {"devices", plan.devices},
          {"flags", plan.numeric_modes},
          {"toolchain", tools},
          {"ptx", plan.ptx.architecture.empty()
                      ? Json()
                      : Json{{"architecture", plan.ptx.architecture}, {"compiler", plan.ptx.version}}},
          {"license", plan.license},
          {"compression", name_of(plan.compression)},
          {"block_rows", plan.slots_per_block},
          {"shard", {{"index", plan.shard.shard_index}, {"of", plan.shard.shard_count}}}};
}

DatasetPlan plan_from(const json& line) {
  DatasetPlan plan{.generator_version = line.at("generator_version"),
                   .emitter = line.value("emitter", "assay"),
                   .emitter_version = line.value("emitter_version", line.at("generator_version")),
                   .kernel_generators_version = line.at("kernels_version"),
                   .row_count = line.at("count"),
                   .seed = std::stoull(line.at("seed").get<std::string>()),
                   .verifies_rows = line.at("verify"),
                   .judging_effort = line.at("effort"),
                   .devices = line.at("devices").get<std::vector<std::string>>(),
                   .numeric_modes = line.at("flags").get<std::vector<std::string>>(),
                   // Plans of schema 1.1 and older call it "licence".
                   .license = line.value("license", line.value("licence", std::string(kUnknownLicense))),
                   // Older datasets have no such member; all are compressed with zstd.
                   .compression = find_compression(line.value("compression", "zstd")).value_or(Compression::kZstd),
                   .slots_per_block = line.at("block_rows"),
                   .shard = {.shard_index = line.at("shard").at("index"), .shard_count = line.at("shard").at("of")}};
  for (const json& share : line.at("families"))
    plan.family_shares.push_back(
        {.family = share.at("family"), .weight = share.at("weight"), .row_count = share.at("rows")});
  plan.user_kernels = kernels_from(line.at("kernels"));
  plan.excluded_kernels = kernels_from(line.value("excluded", json::array()));  // since schema 1.3
  for (const json& tool : line.at("toolchain"))
    plan.toolchain.push_back({.device = tool.at("device"), .version = tool.at("version"), .sha256 = tool.at("sha256")});
  // Since schema 1.5.
  if (const auto ptx = line.find("ptx"); ptx != line.end() && !ptx->is_null())
    plan.ptx = {.architecture = ptx->at("architecture"), .version = ptx->at("compiler")};
  return plan;
}

std::string difference(const DatasetPlan& a, const DatasetPlan& b) {
  const Json left = to_json(a);
  const Json right = to_json(b);
  for (const auto& [name, value] : left.items()) {
    if (name != "shard" && right.at(name) != value) return name;
  }
  return "";
}

}  // namespace assay::dataset
