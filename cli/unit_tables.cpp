#include "cli/unit_tables.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "harness/calibrate/probe.hpp"
#include "reports/report_files.hpp"

namespace assay::cli {
namespace {

Result<ptx::Measured> measured(backends::Device& device, const ptx::UnitRow& unit, std::uint64_t step) {
  auto probe = harness::Probe::make(device, unit.instruction);
  if (!probe.ok()) return probe.error();
  const ptx::Ask ask = [&](const ptx::UnitRow&, std::span<const std::uint32_t> operands) {
    return probe->ask(operands);
  };
  return ptx::measure_unit(unit, ask, step);
}

/// How many operands of a table have an answer other than the nearest number.
std::size_t differing(const ptx::UnitTable& table) {
  std::size_t count = 0;
  for (const ptx::UnitTable::Window& window : table.windows()) {
    count += static_cast<std::size_t>(
        std::ranges::count_if(window.differences, [](std::int8_t difference) { return difference != 0; }));
  }
  return count;
}

std::string line_of(const ptx::UnitRow& unit, const ptx::Measured& found) {
  if (found.table) {
    return fmt::format("{:<22} {} of {} operands as foretold; {} of its entries are not the nearest number\n",
                       unit.instruction, found.verified, found.verified, differing(*found.table));
  }
  return fmt::format("{:<22} left out: {} of {} operands are not as foretold, the first 0x{:08x}\n", unit.instruction,
                     found.contradicted, found.verified, found.contradicting);
}

}  // namespace

void add_tables_option(CLI::App& command, std::string& file) {
  command
      .add_option("--ptx-tables", file,
                  "With ptx: approximate instructions answer as the device\nthat 'assay calibrate --tables' measured")
      ->option_text("FILE");
}

Result<std::shared_ptr<const ptx::Tables>> load_tables(const std::string& file) {
  if (file.empty()) return std::shared_ptr<const ptx::Tables>();
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return Error{"cannot be read", file};
  const std::string content(std::istreambuf_iterator<char>(stream), {});
  Result<ptx::Tables> tables = ptx::decode_tables(content);
  if (!tables.ok()) return Error{tables.error().text(), file};
  return std::shared_ptr<const ptx::Tables>(std::make_shared<const ptx::Tables>(tables.take()));
}

std::vector<std::string> unit_names() {
  std::vector<std::string> names;
  for (const ptx::UnitRow& unit : ptx::units())
    names.emplace_back(unit.instruction);
  return names;
}

int measure_tables(backends::Device& device, const std::vector<std::string>& names, std::uint64_t step,
                   const std::string& file) {
  ptx::Tables tables{.device = device.can_run().detail, .units = {}};
  std::string shown;
  bool all = true;
  for (const ptx::UnitRow& unit : ptx::units()) {
    if (!names.empty() && std::ranges::find(names, unit.instruction) == names.end()) continue;
    tell(fmt::format("measuring {}", unit.instruction));
    const Result<ptx::Measured> found = measured(device, unit, step);
    if (!found.ok()) return fail(found.error(), ExitStatus::internal);
    shown += line_of(unit, *found);
    all = all && found->table.has_value();
    if (found->table) tables.units.push_back(*found->table);
  }
  const Result<void> written = reports::replace_file(file, ptx::encode_tables(tables));
  if (!written.ok()) return fail(written.error(), ExitStatus::internal);
  const Result<void> printed =
      print(fmt::format("{}{} tables of {} in {}\n", shown, tables.units.size(), tables.device, file));
  if (!printed.ok()) return fail(printed.error(), ExitStatus::internal);
  return to_int(all ? ExitStatus::as_expected : ExitStatus::unexpected);
}

}  // namespace assay::cli
