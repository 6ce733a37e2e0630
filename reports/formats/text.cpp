#include "reports/formats/text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

namespace assay::reports {

std::string without_illegal_xml(std::string_view text) {
  std::string legal;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool control = byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
    if (control) continue;
    const std::string_view rest = text.substr(i, 3);
    if (rest == "\xEF\xBF\xBE" || rest == "\xEF\xBF\xBF") {
      i += 2;
      continue;
    }
    legal += text[i];
  }
  return legal;
}

std::string markdown_text(std::string_view text) {
  static constexpr std::string_view kMarkup = R"(\`*_{}[]()#+!|~$@:)";
  std::string shown;
  for (const char c : text) {
    if (c == '<') shown += "&lt;";
    else if (c == '>') shown += "&gt;";
    else if (c == '&') shown += "&amp;";
    else if (c == '\n' || c == '\r' || c == '\t') shown += ' ';
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) continue;
    else if (kMarkup.find(c) != std::string_view::npos) shown += fmt::format("\\{}", c);
    else shown += c;
  }
  return shown;
}

std::int64_t epoch_ms(std::string_view utc) {
  const auto number = [&](std::size_t at, std::size_t digits) {
    return std::atoi(std::string(utc.substr(std::min(at, utc.size()), digits)).c_str());
  };
  using namespace std::chrono;
  const sys_days day = year(number(0, 4)) / number(5, 2) / number(8, 2);
  const auto time = day + hours(number(11, 2)) + minutes(number(14, 2)) + seconds(number(17, 2));
  return duration_cast<milliseconds>(time.time_since_epoch()).count();
}

}  // namespace assay::reports
