#include "reports/formats/html/page_view.hpp"
#include "reports/model/wording.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

// Limit on listed names, for runs that have little in common; report.json lists all.
constexpr std::size_t kShownOfList = 200;

const char* tone_of_list(std::string_view name) {
  if (name == "broken") return "unexpected";
  if (name == "fixed") return "passed";
  return name == "added" ? "unsupported" : "inconclusive";
}

json change_view(const CaseChange& change) {
  return {{"name", change.name},
          {"href", change.later_value.empty() ? "" : case_link(change.name)},
          {"before", change.earlier_value.empty() ? "new" : change.earlier_value},
          {"after", change.later_value.empty() ? "gone" : change.later_value},
          {"message", change.message}};
}

}  // namespace

json changes_view(const RunChanges& changes) {
  json lists = json::array();
  for (const auto& [name, list] : lists_of(changes)) {
    if (list->empty()) continue;
    json rows = json::array();
    for (const CaseChange& change : *list) {
      if (rows.size() < kShownOfList) rows.push_back(change_view(change));
    }
    const std::size_t more = list->size() - rows.size();
    lists.push_back({{"list", name},
                     {"tone", tone_of_list(name)},
                     {"count", count_text(static_cast<std::int64_t>(list->size()))},
                     {"open", std::string_view(name) == "broken"},
                     {"changes", rows},
                     {"more", more == 0 ? json() : json(count_text(static_cast<std::int64_t>(more)))}});
  }
  return {{"since", changes.baseline_label},
          {"same", cases_text(static_cast<std::int64_t>(changes.unchanged_case_count))},
          {"nothing", lists.empty()},
          {"lists", lists}};
}

}  // namespace assay::reports
