#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "reports/formats/html/page_view.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

constexpr std::size_t kTenths = 10;

// The number of cases by tenth of their bounds used; the last element counts cases beyond their bounds.
std::array<std::int64_t, kTenths + 1> histogram_of(const Run& run) {
  std::array<std::int64_t, kTenths + 1> counts{};
  for (const json& record : run.cases) {
    const json& rho = record.at("rho_max");
    if (rho.is_null()) continue;
    const bool within = rho.is_number() && rho.get<double>() <= 1;
    const auto tenth = within ? static_cast<std::size_t>(rho.get<double>() * kTenths) : kTenths;
    ++counts.at(within ? std::min(tenth, kTenths - 1) : kTenths);
  }
  return counts;
}

}  // namespace

json margins_view(const Run& run) {
  const auto counts = histogram_of(run);
  const std::int64_t most = *std::max_element(counts.begin(), counts.end());
  json bars = json::array();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double share = most == 0 ? 0 : 100.0 * static_cast<double>(counts.at(i)) / static_cast<double>(most);
    bars.push_back({{"label", i == kTenths ? std::string("more") : fmt::format("{} to {} %", 10 * i, 10 * (i + 1))},
                    {"tone", i == kTenths ? "unexpected" : "passed"},
                    {"share", fmt::format("{:.2f}", share)},
                    {"count", count_text(counts.at(i))}});
  }
  return bars;
}

}  // namespace assay::reports
