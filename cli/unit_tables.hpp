// Tables of a device's approximation units: measured by `assay calibrate --tables`, taken by --ptx-tables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "backends/device/backend.hpp"
#include "backends/ptx/execute/tables.hpp"
#include "support/result.hpp"

namespace assay::cli {

/// Adds `--ptx-tables`.
void add_tables_option(CLI::App& command, std::string& file);

/// The tables of a file; null where its name is empty. Fails with what is wrong with the file.
Result<std::shared_ptr<const ptx::Tables>> load_tables(const std::string& file);

/// The instructions whose units can be measured: "ex2.approx.ftz.f32".
std::vector<std::string> unit_names();

/// Measures the named units of a device that can run, all where none is named, and writes what it did not contradict to
/// the file. Tells and prints; returns the exit status.
int measure_tables(backends::Device& device, const std::vector<std::string>& names, std::uint64_t step,
                   const std::string& file);

}  // namespace assay::cli
