#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/records/record_reader.hpp"
#include "support/csv.hpp"

namespace assay::harness {
namespace {

struct Column {
  std::string_view name;
  std::string ExpectedFailure::*member;
  bool required = false;
};

constexpr std::array<Column, 9> kColumns{{
    {"case", &ExpectedFailure::pattern, true},
    {"outcome", &ExpectedFailure::outcome, true},
    {"kind", &ExpectedFailure::kind},
    {"message", &ExpectedFailure::message, true},
    {"compiler", &ExpectedFailure::compiler},
    {"reason", &ExpectedFailure::reason},
    {"issue", &ExpectedFailure::issue_id},
    {"since", &ExpectedFailure::since_date},
    {"expires", &ExpectedFailure::expiry_date},
}};

bool can_be_expected(Outcome outcome) {
  return !is_as_expected(outcome) && outcome != Outcome::not_run && outcome != Outcome::internal_error;
}

std::string expected_outcomes() {
  std::vector<std::string_view> names;
  for (const OutcomeName& row : kOutcomeNames) {
    if (can_be_expected(row.outcome)) names.push_back(row.text);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Whether the text is a valid date, "2026-11-21".
bool is_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = -1;
    const char* const end = text.data() + at + digits;
    return std::from_chars(text.data() + at, end, value).ptr == end ? value : -1;
  };
  return std::chrono::year_month_day(std::chrono::year(number(0, 4)),
                                     std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                     std::chrono::day(static_cast<unsigned>(number(8, 2))))
      .ok();
}

/// The columns in the order of the header.
Result<std::vector<Column>> columns_of(const CsvRow& head) {
  std::vector<Column> columns;
  std::vector<std::string_view> names;
  for (const Column& column : kColumns)
    names.push_back(column.name);
  for (const std::string& name : head.fields) {
    const auto* const found = std::ranges::find(kColumns, name, &Column::name);
    if (found == kColumns.end() || std::ranges::find(columns, name, &Column::name) != columns.end())
      return Error{fmt::format("unknown or repeated column '{}'; the columns are {}", name, fmt::join(names, ", "))};
    columns.push_back(*found);
  }
  for (const Column& column : kColumns) {
    if (column.required && std::ranges::find(columns, column.name, &Column::name) == columns.end())
      return Error{fmt::format("missing column '{}'", column.name)};
  }
  return columns;
}

/// The error of an invalid expectation.
std::optional<Error> diagnostic(const ExpectedFailure& expectation) {
  if (expectation.pattern.empty()) return Error{"the case pattern is empty"};
  const auto outcome = outcome_from_text(expectation.outcome);
  if (!outcome || !can_be_expected(*outcome))
    return Error{fmt::format("outcome '{}' is not allowed in a table of expected failures; must be one of {}",
                             expectation.outcome, expected_outcomes())};
  for (const std::string& day : {expectation.since_date, expectation.expiry_date}) {
    if (!day.empty() && !is_day(day))
      return Error{fmt::format("invalid date '{}'; expected a date such as 2027-01-31 or an empty field", day)};
  }
  return std::nullopt;
}

Result<std::vector<ExpectedFailure>> expectations_of(const std::vector<CsvRow>& rows, const std::string& file) {
  const auto place = [&](const CsvRow& row) { return fmt::format("{}:{}", file, row.line); };
  if (rows.empty()) return Error{"is empty; expected a header with the columns case, outcome and message", file};
  const Result<std::vector<Column>> columns = columns_of(rows.front());
  if (!columns.ok()) return Error{columns.error().message, place(rows.front())};
  std::vector<ExpectedFailure> expectations;
  for (const CsvRow& row : std::ranges::subrange(rows.begin() + 1, rows.end())) {
    if (row.fields.size() != columns->size()) {
      return Error{fmt::format("row has {} fields, but the header has {}", row.fields.size(), columns->size()),
                   place(row)};
    }
    ExpectedFailure& expectation = expectations.emplace_back(ExpectedFailure{.location = place(row)});
    for (std::size_t i = 0; i < row.fields.size(); ++i)
      expectation.*(*columns)[i].member = row.fields[i];
    if (const auto wrong = diagnostic(expectation)) return Error{wrong->message, place(row)};
  }
  return expectations;
}

}  // namespace

Result<std::vector<ExpectedFailure>> read_expectations(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) return Error{"is a folder; expected a CSV file", file.string()};
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return Error{fmt::format("cannot read expectations: {}", std::generic_category().message(errno)), file.string()};
  }
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const Result<std::vector<CsvRow>> rows = read_csv(text);
  if (!rows.ok()) return Error{rows.error().message, fmt::format("{}:{}", file.string(), rows.error().where)};
  return expectations_of(*rows, file.string());
}

}  // namespace assay::harness
