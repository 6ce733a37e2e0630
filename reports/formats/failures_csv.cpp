#include <nlohmann/json.hpp>

#include "reports/formats/formats.hpp"
#include "reports/model/summary.hpp"
#include "support/csv.hpp"

namespace assay::reports {

std::string failures_csv(const Run& run) {
  std::string table = "case,outcome,kind,message\r\n";
  for (const nlohmann::json& record : run.cases) {
    if (const Tone tone = tone_of_outcome(record.at("outcome").get<std::string>());
        tone == Tone::passed || tone == Tone::unsupported)
      continue;
    for (const char* column : {"case", "outcome", "kind", "message"}) {
      table += csv_field(record.at(column).get<std::string>());
      table += std::string_view(column) == "message" ? "\r\n" : ",";
    }
  }
  return table;
}

}  // namespace assay::reports
