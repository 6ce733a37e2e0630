#include "reports/model/wording.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::reports {

std::string count_text(std::int64_t count) {
  constexpr std::string_view kNarrowSpace = "\u202f";
  const std::string digits = fmt::format("{}", count);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += kNarrowSpace;
    grouped += digits[i];
  }
  return grouped;
}

std::string time_text(double milliseconds) {
  if (milliseconds >= 60e3) {
    const auto seconds = std::llround(milliseconds / 1e3);
    return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  }
  if (milliseconds >= 1e3) return fmt::format("{:.2f} s", milliseconds / 1e3);
  return milliseconds >= 10 ? fmt::format("{:.0f} ms", milliseconds) : fmt::format("{:.1f} ms", milliseconds);
}

std::string rho_text(const nlohmann::json& rho) {
  if (rho.is_null()) return "";
  if (rho.is_string()) return rho == "inf" ? "∞" : rho.get<std::string>();
  const double value = rho;
  return value >= 1000 ? fmt::format("{:.1e}", value) : fmt::format("{:.3g}", value);
}

std::string cases_text(std::int64_t cases) {
  return fmt::format("{} {}", count_text(cases), cases == 1 ? "case" : "cases");
}

std::string location_text(const nlohmann::json& mismatch) {
  std::string index;
  for (const nlohmann::json& coordinate : mismatch.at("index")) {
    index += (index.empty() ? "" : ", ") + fmt::format("{}", coordinate.get<std::int64_t>());
  }
  const std::string array = mismatch.at("array");
  return index.empty() ? array : fmt::format("{}[{}]", array, index);
}

std::string fragment(std::string_view text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string encoded;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string case_link(std::string_view name) { return "#case=" + fragment(name); }

std::string filter_link(std::string_view query) { return "#q=" + fragment(query); }

}  // namespace assay::reports
