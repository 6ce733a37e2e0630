#include "reports/report_html.hpp"

#include <charconv>

#include <fmt/format.h>

#include "ir/support/hash.hpp"
#include "reports/embedded.hpp"
#include "reports/page_data.hpp"
#include "reports/page_view.hpp"
#include "reports/template.hpp"

namespace assay::reports {
namespace {

// Base64 (RFC 4648) of the bytes that `hex` spells.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < hex.size(); i += 6) {
    const std::string_view digits = hex.substr(i, 6);  // three bytes, or fewer at the end
    std::uint32_t bits = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
    bits <<= 4 * (6 - digits.size());
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= digits.size() / 2 ? kAlphabet[(bits >> (18 - 6 * k)) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace

std::string csp_hash(std::string_view text) { return fmt::format("'sha256-{}'", base64_of_hex(sha256_hex(text))); }

std::string report_html(const Run& run, const Summary& summary, const Changes* changes) {
  nlohmann::json view = page_view(run, summary, changes);
  view["csp"] =
      fmt::format("default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
                  csp_hash(kPageScript), csp_hash(kPageCss));
  view["style"] = kPageCss;
  view["script"] = kPageScript;
  view["data"] = script_json(page_data(run, summary, view.at("title")));
  return fill(kPageHtml, view);
}

}  // namespace assay::reports
