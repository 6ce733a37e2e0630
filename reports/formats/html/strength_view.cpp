#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/formats/html/page_view.hpp"
#include "reports/model/mutation_score.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

// Negative controls: incorrect results that were presented to the judge.
json controls_view(const Run& run) {
  std::int64_t rejected = 0;
  std::int64_t cases = 0;
  std::int64_t weak = 0;
  const json* nearest = nullptr;
  for (const json& record : run.cases) {
    const auto count = record.at("controls_rejected").get<std::int64_t>();
    rejected += count;
    cases += count > 0 ? 1 : 0;
    weak += record.at("kind") == "weak_oracle" ? 1 : 0;
    if (!record.contains("closest_control") || !record.at("closest_control").at("rho").is_number()) continue;
    const auto rho = [](const json& of) { return of.at("closest_control").at("rho").get<double>(); };
    if (nearest == nullptr || rho(record) < rho(*nearest)) nearest = &record;
  }
  json view = {{"refused", count_text(rejected)},
               {"cases", cases_text(cases)},
               {"weak", weak == 0 ? json() : json(cases_text(weak))},
               {"nearest", nullptr}};
  if (nearest != nullptr) {
    const json& control = nearest->at("closest_control");
    view["nearest"] = {{"what", fmt::format("{} for {}", control.at("control").get<std::string>(),
                                            control.at("array").get<std::string>())},
                       {"by", rho_text(control.at("rho"))},
                       {"name", nearest->at("case")},
                       {"href", case_link(nearest->at("case").get<std::string>())}};
  }
  return view;
}

json tally_view(const json& tally, const std::string& name, const std::string& about) {
  const auto survived = tally.at("mutants").get<std::int64_t>() - tally.at("killed").get<std::int64_t>();
  const std::string share = percent_of(tally);
  return {{"name", name},
          {"about", about},
          {"mutants", count_text(tally.at("mutants"))},
          {"share", share.empty() ? "0" : share},
          {"killed", share.empty() ? "" : share + " %"},
          {"survived", survived == 0 ? "" : count_text(survived)},
          {"tone", survived == 0 ? "passed" : "unexpected"}};
}

json mutation_score_view(const json& mutation_score) {
  const json& all = mutation_score.at("all");
  json view = {
      {"share", percent_of(all)},
      {"killed", count_text(all.at("killed"))},
      {"mutants", count_text(all.at("mutants"))},
      {"equivalent", count_text(all.at("equivalent"))},
      {"made_with",
       fmt::format("device {}, seed {}, commit {}", mutation_score.at("device").get<std::string>(),
                   mutation_score.at("seed").get<std::int64_t>(), mutation_score.at("commit").get<std::string>())}};
  for (const char* list : {"families", "operators", "survivors"})
    view[list] = json::array();
  for (const json& one : mutation_score.at("families"))
    view["families"].push_back(tally_view(one, one.at("family"), ""));
  for (const json& one : mutation_score.at("operators"))
    view["operators"].push_back(tally_view(one, one.at("operator"), one.at("change")));
  for (const json& one : mutation_score.at("survivors")) {
    view["survivors"].push_back(
        {{"mutant", one.at("mutant")},
         {"what", fmt::format("line {}: {}", one.at("line").get<std::int64_t>(), one.at("what").get<std::string>())},
         {"patch", one.at("patch")}});
  }
  const json& controls = mutation_score.at("controls");
  view["alarms"] = controls.at("cases") == 0
                       ? json()
                       : json(fmt::format("In the false-positive corpus, {} of {} were rejected.",
                                          count_text(controls.at("rejected")), cases_text(controls.at("cases"))));
  return view;
}

}  // namespace

json strength_view(const Run& run, const json* mutation_score) {
  return {{"controls", controls_view(run)},
          {"certification", mutation_score == nullptr ? json() : mutation_score_view(*mutation_score)}};
}

}  // namespace assay::reports
