#include "reports/formats/html/report_html.hpp"

#include <charconv>

#include <fmt/format.h>

#include "reports/formats/html/embedded.hpp"
#include "reports/formats/html/packed.hpp"
#include "reports/formats/html/page_data.hpp"
#include "reports/formats/html/page_view.hpp"
#include "reports/formats/html/template.hpp"
#include "support/hash.hpp"

namespace assay::reports {
namespace {

// Decodes hexadecimal text.
std::string bytes_of_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned char byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

std::string csp_hash(std::string_view text) {
  return fmt::format("'sha256-{}'", base64(bytes_of_hex(sha256_hex(text))));
}

std::string report_html(const Run& run, const RunSummary& summary, const RunChanges* changes,
                        const nlohmann::json* mutation_score) {
  nlohmann::json view = page_view(run, summary, changes);
  view["strength"] = strength_view(run, mutation_score);
  view["csp"] =
      fmt::format("default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
                  csp_hash(kPageScript), csp_hash(kPageCss));
  view["style"] = kPageCss;
  view["script"] = kPageScript;
  const nlohmann::json data = page_data(run, summary, view.at("title"));
  view["data"] = base64(deflated(data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  return fill(kPageHtml, view);
}

}  // namespace assay::reports
