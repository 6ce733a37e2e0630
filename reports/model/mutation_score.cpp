#include "reports/model/mutation_score.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reports/model/text_table.hpp"
#include "schemas/embedded.hpp"
#include "schemas/validator.hpp"
#include "support/files.hpp"

namespace assay::reports {
namespace {

using nlohmann::json;

std::string number(const json& value) { return fmt::format("{}", value.get<std::int64_t>()); }

std::vector<std::string> tally_texts(const json& tally) {
  return {number(tally.at("mutants")),    percent_of(tally, "killed"),    percent_of(tally, "by_lift", "lifted"),
          percent_of(tally, "by_native"), number(tally.at("equivalent")), number(json(tally.value("proved", 0))),
          number(tally.at("kernels"))};
}

std::vector<std::string> row_of(const std::string& name, const json& tally) {
  std::vector<std::string> texts = tally_texts(tally);
  texts.insert(texts.begin(), name);
  return texts;
}

std::vector<std::string> head(const char* first) {
  return {first,    "mutants", "killed %", "f64 promotion %", "native precision %", "equivalent", "equivalent by proof",
          "kernels"};
}

std::string markdown_row(const std::vector<std::string>& texts) {
  return fmt::format("| {} |\n", fmt::join(texts, " | "));
}

std::string markdown_head(const std::vector<std::string>& texts) {
  std::string rule = "|";
  for (std::size_t i = 0; i < texts.size(); ++i)
    rule += i == 0 ? "---|" : "---:|";
  return markdown_row(texts) + rule + "\n";
}

std::string fenced(const std::string& text) { return "```diff\n" + text + "```\n"; }

std::string controls_text(const json& controls) {
  if (controls.at("cases") == 0) return "False-positive corpus: no kernels were judged.";
  return fmt::format("False-positive corpus: {} correct random kernels, {} cases; {} rejected, {} without a verdict.",
                     number(controls.at("kernels")), number(controls.at("cases")), number(controls.at("rejected")),
                     number(controls.at("inconclusive")));
}

json injected_faults_of(const json& mutation_score) { return mutation_score.value("plants", json::array()); }

/// "12 of 13": detected faults of all faults.
std::string noticed_text(const json& injected_faults) {
  std::int64_t noticed = 0;
  for (const json& injected_fault : injected_faults)
    noticed += injected_fault.at("noticed").get<bool>() ? 1 : 0;
  return fmt::format("{} of {}", noticed, injected_faults.size());
}

std::string injected_faults_text(const json& injected_faults) {
  if (injected_faults.empty()) return "";
  return fmt::format("Faults injected into the oracle, the comparator and the verdict: {} detected.",
                     noticed_text(injected_faults));
}

std::string injected_faults_section(const json& injected_faults) {
  if (injected_faults.empty()) return "";
  std::string text =
      "\n## Faults injected into Assay itself\n\nThe suite judges a correct kernel once with each fault. The oracle's "
      "self-check must detect a fault in the\noracle; a failure attributed to the kernel is a false alarm. A fault in "
      "the comparator or in the verdict is\ndetected if the verdict is not pass.\n\n" +
      markdown_row({"fault", "component", "effect", "verdict", "detected"}) + "|---|---|---|---|---|\n";
  for (const json& one : injected_faults) {
    text += markdown_row({one.at("fault"), one.at("part"), one.at("change"), one.at("check"),
                          one.at("noticed").get<bool>() ? "yes" : "**no**"});
  }
  return text;
}

}  // namespace

std::string percent_of(const json& tally, const char* part, const char* whole) {
  const auto count = tally.at(whole).get<double>();
  if (count == 0) return "";
  return fmt::format("{:.1f}", std::floor(1000 * tally.at(part).get<double>() / count) / 10);
}

Result<json> read_mutation_score(const std::filesystem::path& dir) {
  const std::filesystem::path path = dir / kMutationScoreFileName;
  const Result<std::string> text = read_file_text(path);
  if (!text.ok()) return Error{"folder contains no mutation score; create one with 'assay mutate'", path.string()};
  json mutation_score = json::parse(*text, nullptr, false);
  if (mutation_score.is_discarded()) return Error{"file is not valid JSON", path.string()};
  const schemas::Validator validator(schemas::kMutationScoreSchemaText);
  if (const auto diagnostics = validator.diagnostics(mutation_score); !diagnostics.empty()) {
    return Error{diagnostics.front().text(), path.string()};
  }
  return mutation_score;
}

std::string mutation_table(const json& mutation_score, bool color) {
  TextTable table;
  table.add_header(head("operator"));
  for (const json& one : mutation_score.at("operators"))
    table.add(row_of(one.at("operator"), one));
  if (mutation_score.at("threaded").at("mutants") > 0)
    table.add_header(row_of("threads", mutation_score.at("threaded")));
  table.add_header(row_of("all", mutation_score.at("all")));
  std::string text = table.text(color);
  for (const json& survivor : mutation_score.at("survivors")) {
    text += fmt::format("\nsurvived  {}, line {}: {}\n{}", survivor.at("mutant").get<std::string>(),
                        number(survivor.at("line")), survivor.at("what").get<std::string>(),
                        survivor.at("patch").get<std::string>());
  }
  for (const json& injected_fault : injected_faults_of(mutation_score)) {
    if (injected_fault.at("noticed").get<bool>()) continue;
    text += fmt::format("\nnot detected  {}: {}; the verdict was {}\n", injected_fault.at("fault").get<std::string>(),
                        injected_fault.at("change").get<std::string>(), injected_fault.at("check").get<std::string>());
  }
  text += "\n" + controls_text(mutation_score.at("controls")) + "\n";
  const std::string injected_faults = injected_faults_text(injected_faults_of(mutation_score));
  return injected_faults.empty() ? text : text + injected_faults + "\n";
}

std::string mutation_document(const json& mutation_score) {
  const json& all = mutation_score.at("all");
  std::string text = fmt::format(
      "# Mutation score\n\nWritten by `assay mutate --device {} --mutants {} --seed {}`, commit {}.\n\n"
      "A mutant is a kernel with one injected mistake. The suite judges it like any other kernel. A rejected mutant is "
      "killed; a\nmutant that passes survives, which shows a gap in the suite. A mutant is equivalent, and not "
      "counted, if an optimizing\ncompiler generates the same code for it as for the correct kernel, or if a written "
      "proof shows that it is correct. F64\npromotion and native precision are judged separately; mutants that can "
      "be detected only in the kernel's own types\nare not counted for f64 promotion.\n\n"
      "**{} of {} mutants killed: {} %** (f64 promotion {} %, native precision {} %). {}\n\n",
      mutation_score.at("device").get<std::string>(), number(mutation_score.at("planned")),
      number(mutation_score.at("seed")), mutation_score.at("commit").get<std::string>(), number(all.at("killed")),
      number(all.at("mutants")), percent_of(all, "killed"), percent_of(all, "by_lift", "lifted"),
      percent_of(all, "by_native"), controls_text(mutation_score.at("controls")));
  if (const json& threaded = mutation_score.at("threaded"); threaded.at("mutants") > 0) {
    text += fmt::format(
        "Mutants that only concurrent threads can reveal, judged on the device {}: {} of {} killed, {} %.\n\n",
        mutation_score.value("threaded_device", "ptx"), number(threaded.at("killed")), number(threaded.at("mutants")),
        percent_of(threaded, "killed"));
  }
  text += "## By operator\n\n";
  std::vector<std::string> columns = head("operator");
  columns.emplace_back("change");
  text += markdown_head(columns);
  for (const json& one : mutation_score.at("operators")) {
    std::vector<std::string> texts = row_of(one.at("operator"), one);
    texts.push_back(one.at("change"));
    text += markdown_row(texts);
  }
  text += "\n## By family\n\n" + markdown_head(head("family"));
  for (const json& one : mutation_score.at("families"))
    text += markdown_row(row_of(one.at("family"), one));
  text +=
      "\n## Killed mutants by the first check that failed\n\nThe records call the check `f64_promotion` t1 and "
      "`native_precision` t3.\n\n" +
      markdown_head({"check", "killed"});
  for (const json& one : mutation_score.at("checks"))
    text += markdown_row({one.at("check"), number(one.at("killed"))});
  const json& widened = mutation_score.at("widened");
  if (widened.at("mutants") > 0) {
    text += fmt::format(
                "\n## Sensitivity to the bounds\n\n{} mutants killed in native precision were judged again with "
                "wider bounds.\n\n",
                number(widened.at("mutants"))) +
            markdown_head({"bounds widened by", "still killed", "%"});
    for (const json& one : widened.at("killed")) {
      text += markdown_row({fmt::format("{}", one.at("factor").get<double>()), number(one.at("killed")),
                            percent_of({{"mutants", widened.at("mutants")}, {"killed", one.at("killed")}}, "killed")});
    }
  }
  text += injected_faults_section(injected_faults_of(mutation_score));
  text += "\n## Survivors\n\n";
  if (mutation_score.at("survivors").empty()) text += "None.\n";
  for (const json& one : mutation_score.at("survivors")) {
    text += fmt::format("- `{}`, line {}: {}\n\n{}\n", one.at("mutant").get<std::string>(), number(one.at("line")),
                        one.at("what").get<std::string>(), fenced(one.at("patch")));
  }
  return text;
}

}  // namespace assay::reports
