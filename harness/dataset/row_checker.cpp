#include "harness/dataset/row_checker.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/dataset/evidence_check.hpp"
#include "harness/dataset/json_scan.hpp"
#include "harness/dataset/render.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "schemas/embedded.hpp"

namespace assay::dataset {
namespace {

using nlohmann::json;

std::string id_in(const json& row) {
  if (!row.is_object()) return "";
  const auto id = row.find("id");
  return id != row.end() && id->is_string() ? id->get<std::string>().substr(0, 64) : "";
}

/// Collects the diagnostics of one row.
class RowDiagnostics {
 public:
  RowDiagnostics(std::string row, std::vector<RowError>& diagnostics)
      : row_(std::move(row)), diagnostics_(diagnostics) {}

  void error(std::string pointer, std::string found, std::string expected) {
    diagnostics_.push_back({.row_id = row_,
                            .json_pointer = std::move(pointer),
                            .found_text = std::move(found),
                            .expected = std::move(expected)});
  }
  void warning(std::string pointer, std::string found, std::string expected) {
    error(std::move(pointer), std::move(found), std::move(expected));
    diagnostics_.back().is_warning = true;
  }
  void same(const std::string& pointer, const std::string& found, const std::string& expected) {
    if (found == expected) return;
    auto [shown, expected_shown] = excerpts_of_difference(found, expected);
    error(pointer, std::move(shown), std::move(expected_shown));
  }

 private:
  std::string row_;
  std::vector<RowError>& diagnostics_;
};

/// Checks that the metadata, except for the name and the family, are those of the dataset's plan.
void check_metadata(const DatasetRow& row, RowMetadata expected, RowDiagnostics& about) {
  expected.name = row.metadata.name;
  expected.category = row.metadata.category;
  const json found = json::parse(to_json_text(row.metadata));
  const json planned = json::parse(to_json_text(expected));
  const auto text = [](const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); };
  for (const auto& [name, value] : planned.items())
    about.same("/metadata/" + name, text(found.value(name, json())), text(value));
}

/// Checks that brackets, quotes and comments of C-like source are balanced, to detect truncated text. Empty if they
/// are.
std::string unbalanced(std::string_view text) {
  std::string open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t end = text.find("*/", i + 2);
      if (end == std::string_view::npos) return "an unterminated comment";
      i = end + 1;
    } else if (c == '"' || c == '\'') {
      const std::size_t start = i++;
      while (i < text.size() && text[i] != c && text[i] != '\n')
        i += text[i] == '\\' ? 2U : 1U;
      if ((i >= text.size() || text[i] == '\n') && c == '"') {
        return fmt::format("an unterminated string: {}", quoted_excerpt(text.substr(start, 20)));
      }
    } else if (c == '(' || c == '[' || c == '{') {
      open += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) return fmt::format("an unmatched '{}'", c);
      open.pop_back();
    }
  }
  return open.empty() ? "" : fmt::format("source that ends before the closing '{}'", open.back());
}

/// Compares one text of two rows.
void compare_text(const RowTextField& field, const DatasetRow& row, const DatasetRow& again, std::string_view origin,
                  RowDiagnostics& about) {
  if (row.*field.member == again.*field.member) return;
  const auto [found, expected] = first_difference(row.*field.member, again.*field.member);
  about.error(fmt::format("/{}", field.name), found, fmt::format("{}{}", expected, origin));
}

/// Whether the row's version of the schema has descriptions and difficulty measures: 1.3 and later.
bool has_description(const json& row) {
  const std::string version = row.at("schema_version");
  return !version.starts_with("1.0.") && !version.starts_with("1.1.") && !version.starts_with("1.2.");
}

/// A row with only the texts of another.
DatasetRow texts_of(const DatasetRow& row) {
  DatasetRow texts;
  for (const RowTextField& field : kRowTextFields)
    texts.*field.member = row.*field.member;
  return texts;
}

constexpr std::string_view kOlderSources[] = {"cpp_forward",  "cpp_backward", "cpu_forward",
                                              "cpu_backward", "cuda_forward", "cuda_backward"};

void check_older_sources(const json& row, RowDiagnostics& about) {
  bool any = false;
  for (const std::string_view name : kOlderSources) {
    const std::string pointer = fmt::format("/{}", name);
    const auto source = row.find(std::string(name));
    if (source == row.end() || source->is_null()) continue;
    if (!source->is_string()) {
      about.error(pointer, quoted_excerpt(source->dump()), "source text");
      continue;
    }
    const auto text = source->get<std::string>();
    any |= name.ends_with("forward") && !text.empty();
    if (text.empty()) about.error(pointer, "an empty string", "source text");
    else if (const std::string wrong = unbalanced(text); !wrong.empty())
      about.error(pointer, wrong, "source with balanced brackets and quotes");
  }
  if (!any) about.error("", "no generated source", "a member cpp_forward, cpu_forward or cuda_forward");
  const bool backward = row.contains("cpp_backward") || row.contains("cpu_backward") || row.contains("cuda_backward");
  if (!backward) about.warning("", "no backward source", "cpu_backward or cuda_backward");
}

void check_older_python(const json& row, RowDiagnostics& about) {
  const auto python = row.find("python_source");
  if (python == row.end()) return about.error("", "no member python_source", "the member python_source");
  if (!python->is_string() || python->get<std::string>().empty()) {
    return about.error("/python_source", quoted_excerpt(python->dump()), "Python source");
  }
  const Result<harness::KernelSet> read = harness::read_text(python->get<std::string>(), "python_source");
  if (!read.ok()) return about.error("/python_source", read.error().text(), "a Warp module that can be parsed");
  if (read->kernels.empty()) return about.error("/python_source", "no kernel", "a function with @wp.kernel");
  for (const harness::KernelSource& kernel : read->kernels) {
    if (kernel.parse_error) about.warning("/python_source", kernel.parse_error->text(), "a kernel that Assay supports");
  }
}

}  // namespace

RowChecker::RowChecker(harness::PairPrinter printer)
    : printer_(std::move(printer)), schema_(schemas::kDatasetRowSchemaText) {}

std::optional<CheckedRow> RowChecker::check(const std::string& line, std::vector<RowError>& diagnostics) {
  const std::optional<json> read = read_json(line);
  if (!read) {
    RowDiagnostics("", diagnostics).error("", quoted_excerpt(line), "a JSON object");
    return std::nullopt;
  }
  const json& parsed = *read;
  RowDiagnostics about(id_in(parsed), diagnostics);
  if (const auto wrong = schema_.diagnostics(parsed); !wrong.empty()) {
    for (const schemas::SchemaError& one : wrong)
      about.error(one.pointer, one.found, one.expected);
    return std::nullopt;
  }
  const DatasetRow row = row_from(parsed);
  CheckedRow checked{.id = row.id,
                     .kernel_name = row.metadata.name,
                     .python_source = row.python_source,
                     .input_seed = row.metadata.seed,
                     .judging_effort = row.metadata.judging_effort,
                     .evidence = row.evidence,
                     .toolchain = row.metadata.toolchain,
                     .ptx = summarize_ptx(row.ptx),
                     .emitter = row.metadata.emitter,
                     .emitter_version = row.metadata.emitter_version,
                     .has_description = has_description(parsed),
                     .has_current_schema = parsed.at("schema_version") == schemas::kDatasetRowSchemaVersion};
  check_evidence(row, checked.has_description ? EvidenceForm::kWithChecks : EvidenceForm::kOlder, diagnostics);
  if (!row.metadata.name.starts_with(row.family + "/")) {
    about.error("/family", quoted_excerpt(row.family),
                fmt::format("the family that the name begins with: {}", quoted_excerpt(row.metadata.name)));
  }
  about.same("/metadata/category", row.metadata.category, row.family);
  if (row.metadata.license.empty()) about.error("/metadata", "no license", "the member license");
  if (plan_ != nullptr) {
    about.same("/origin", to_json_text(row.origin), to_json_text(planned_origin(row)));
    check_metadata(row, metadata_of(*plan_, row.origin), about);
  }
  check_program(row, checked, diagnostics);
  return checked;
}

/// The origin of the row's kernel in the plan.
std::optional<live::KernelOrigin> RowChecker::planned_origin(const DatasetRow& row) const {
  const auto kernel = std::ranges::find(plan_->user_kernels, row.metadata.name, &UserKernel::name);
  return kernel == plan_->user_kernels.end() ? std::nullopt : kernel->origin;
}

/// Parses the Python and renders it again. A difference means that the row was edited or made by another version.
void RowChecker::check_program(const DatasetRow& row, CheckedRow& checked, std::vector<RowError>& diagnostics) {
  RowDiagnostics about(row.id, diagnostics);
  Result<harness::KernelSource> source =
      read_kernel(row.python_source, row.metadata.name, file_of(row.metadata.name, row.kernel_name));
  if (!source.ok())
    return about.error("/python_source", source.error().text(), "Warp Python source with exactly one kernel");
  const std::shared_ptr<const ir::Module> module = source->module;
  checked.statistics = row_statistics(row, *module, statistics_arena_);
  const bool is_warp = row.metadata.emitter == kWarpEmitter;
  const Result<RenderedKernel> rendered = render(source.take(), is_warp ? no_printer() : printer_);
  checked.shingles = statistics_arena_.store(ShingleView(shingles_of(*module)));
  if (!rendered.ok()) return about.error("/python_source", rendered.error().text(), "a kernel that has a derivative");
  const DatasetRow& again = rendered->row;
  about.same("/id", row.id, again.id);
  about.same("/kernel_name", row.kernel_name, again.kernel_name);
  for (const RowTextField& field : kRowTextFields) {
    if (field.member == &DatasetRow::ptx || (is_warp && field.member != &DatasetRow::python_source)) continue;
    compare_text(field, row, again, ", rendered from python_source", about);
  }
  if (!row.ptx.empty()) {
    if (checked.ptx.architecture.empty()) about.error("/ptx", "no .target directive", "PTX of cuda_source");
    else if (const std::string missing = missing_ptx_entry(row); !missing.empty())
      about.error("/ptx", fmt::format("no entry point {}", missing), "the entry points of cuda_source");
  }
  if (is_warp) {
    Result<warp::GeneratedCodeRequest> request = warp_request(rendered->source);
    if (!request.ok()) about.error("/python_source", request.error().text(), "a kernel that Warp supports");
    else
      checked.warp_code = {.row = texts_of(row), .request = request.take(), .has_gradients = rendered->has_gradients};
  }
  about.same("/signature", signature_text(row), signature_text(again));
  about.same("/launch", launch_text(row), launch_text(again));
  if (checked.has_description) {
    about.same("/docstring", row.description.docstring, again.description.docstring);
    about.same("/instruction", row.description.instruction, again.description.instruction);
    about.same("/difficulty", difficulty_text(row), difficulty_text(again));
  }
}

void RowChecker::compare_warp_code(const std::string& id, const WarpCodeInRow& code,
                                   const warp::GeneratedSources& generated, std::vector<RowError>& diagnostics) {
  RowDiagnostics about(id, diagnostics);
  DatasetRow again = code.row;
  add_code(generated, code.has_gradients, again);
  for (const RowTextField& field : kRowTextFields)
    compare_text(field, code.row, again, ", generated by Warp from python_source", about);
}

void RowChecker::check_older(const std::string& text, std::vector<RowError>& diagnostics) const {
  const json row = json::parse(text, nullptr, false);
  RowDiagnostics about(id_in(row), diagnostics);
  if (!row.is_object()) return about.error("", quoted_excerpt(text), "a JSON object");
  check_older_python(row, about);
  check_older_sources(row, about);
  const auto metadata = row.find("metadata");
  if (metadata == row.end()) about.warning("", "no member metadata", "the member metadata");
  else if (!metadata->is_object()) about.error("/metadata", quoted_excerpt(metadata->dump()), "an object");
  else if (!metadata->contains("category")) about.warning("/metadata", "no category", "the kernel's family");
  for (const char* name : {"id", "signature", "evidence"}) {
    if (!row.contains(name))
      about.warning("", fmt::format("no member {}", name), "the members that schema.json requires");
  }
}

}  // namespace assay::dataset
