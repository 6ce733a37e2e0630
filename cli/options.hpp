// Options that several commands have. Each function adds one and stores its value in the given variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "backends/device/registry.hpp"
#include "support/terminal.hpp"

namespace assay::cli {

/// `--device` with the names of the devices that run Assay's code; `help` says what the option does for this command.
void add_device_option(CLI::App& command, std::string& device, const std::string& help);
/// `--device` with the names of all devices.
void add_any_device_option(CLI::App& command, std::string& device, const std::string& help);
/// `--device` with one or several names of any devices, separated by commas: the first is stored in `device`, the
/// others in `more`.
void add_main_and_other_devices_option(CLI::App& command, std::string& device, std::vector<std::string>& more,
                                       const std::string& help);
/// `--device` with any number of names of any devices, separated by commas; `unset` is the help text that states the
/// devices used without the option.
CLI::Option* add_device_list_option(CLI::App& command, std::vector<std::string>& devices, const std::string& help,
                                    const std::string& unset);
/// `--gpu` and `--device-memory`, as in DeviceOptions.
void add_gpu_options(CLI::App& command, std::string& gpu, std::size_t& device_memory_limit_bytes);
/// `--no-check` with the names of all run-time checks.
void add_no_check_option(CLI::App& command, std::vector<std::string>& names);
/// `--cxx` with several values, `--nvrtc` and `--arch`.
void add_builds_options(CLI::App& command, backends::BuildChoices& builds);
/// `--nvrtc` and `--arch`, each with several values; accepts "90" for "compute_90".
void add_nvrtc_options(CLI::App& command, backends::BuildChoices& builds);
/// Accepts an architecture, such as 75 or compute_75, and stores it as compute_75.
CLI::Validator architecture_validator();
/// `--ptx-tables`.
void add_tables_option(CLI::App& command, std::string& file);
/// `--cxx`.
void add_compiler_option(CLI::App& command, std::string& compiler);
/// `--mode`; `unset` is the help text that states the mode used without the option.
void add_mode_option(CLI::App& command, std::string& mode, const std::string& help, const std::string& unset);
/// `--optimise` with one level or several.
void add_optimization_option(CLI::App& command, std::vector<int>& levels, const std::string& help);
/// `--random`, with its present value as the default.
void add_random_option(CLI::App& command, int& count);
/// `--warp-version`: accepts the versions whose rules are modeled (docs/design/semantics.md), and rejects all others.
void add_warp_version_option(CLI::App& command);
/// `--seed`; accepts every unsigned 64-bit integer, in decimal.
void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& help);
/// `--jobs`; `help` says what is processed concurrently.
void add_jobs_option(CLI::App& command, int& jobs, const std::string& help);
/// `--color {auto,always,never}`.
void add_color_option(CLI::App& command, ColorChoice& choice);
/// `--baseline`: the folder or failures.csv of the run to compare with.
void add_baseline_option(CLI::App& command, std::string& path);
/// `--mutation-score`: the folder of `assay mutate` whose score the report shows.
void add_mutation_score_option(CLI::App& command, std::string& dir);

}  // namespace assay::cli
