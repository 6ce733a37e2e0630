#include "cli/report_output.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "cli/command.hpp"

namespace assay::cli {

Result<void> print_closing(const reports::Reports& reports, reports::ColorChoice color) {
  std::error_code error;
  const std::filesystem::path page = std::filesystem::absolute(reports.html, error);
  std::string changes;
  if (reports.changes)
    changes = fmt::format("since {}: {}\n", reports.changes->since, reports::changes_text(*reports.changes));
  return print(fmt::format("{}{}report: {}\n",
                           reports::closing_table(reports.run, reports.summary, reports::use_color_on_stdout(color)),
                           changes, (error ? reports.html : page).lexically_normal().string()));
}

}  // namespace assay::cli
