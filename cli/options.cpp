#include "cli/options.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/suite/modes.hpp"

namespace assay::cli {

namespace {

void add_option_of_devices(CLI::App& command, std::string& device, const std::string& help,
                           const std::vector<std::string>& names) {
  command.add_option("--device", device, help)
      ->option_text(fmt::format("{{{}}} [{}]", fmt::join(names, ","), device))
      ->check(CLI::IsMember(names));
}

/// The commands in a list with commas. A comma in an option, such as -fsanitize=undefined,address, does not separate.
std::vector<std::string> commands_in(const std::string& text) {
  std::vector<std::string> commands{""};
  bool in_option = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 0 || text[i - 1] == ' ') in_option = text[i] == '-';
    if (text[i] == ',' && !in_option) commands.emplace_back();
    else commands.back() += text[i];
  }
  return commands;
}

}  // namespace

void add_device_option(CLI::App& command, std::string& device, const std::string& help) {
  add_option_of_devices(command, device, help, backends::emitted_code_devices());
}

void add_any_device_option(CLI::App& command, std::string& device, const std::string& help) {
  add_option_of_devices(command, device, help, backends::device_names());
}

void add_main_and_other_devices_option(CLI::App& command, std::string& device, std::vector<std::string>& more,
                                       const std::string& help) {
  const std::vector<std::string> names = backends::device_names();
  command
      .add_option_function<std::vector<std::string>>(
          "--device",
          [&device, &more](const std::vector<std::string>& chosen) {
            device = chosen.front();
            for (const std::string& name : chosen)
              if (name != device && std::ranges::find(more, name) == more.end()) more.push_back(name);
          },
          help)
      ->option_text(fmt::format("{{{}}},... [{}]", fmt::join(names, ","), device))
      ->delimiter(',')
      ->check(CLI::IsMember(names));
}

CLI::Option* add_device_list_option(CLI::App& command, std::vector<std::string>& devices, const std::string& help,
                                    const std::string& unset) {
  const std::vector<std::string> names = backends::device_names();
  return command.add_option("--device", devices, help)
      ->option_text(fmt::format("{{{}}},... [{}]", fmt::join(names, ","), unset))
      ->delimiter(',')
      ->check(CLI::IsMember(names));
}

void add_gpu_options(CLI::App& command, std::string& gpu, std::size_t& device_memory_limit_bytes) {
  const auto check = [](const std::string& text) -> std::string {
    const bool number = !text.empty() && text.size() < 4 && text.find_first_not_of("0123456789") == std::string::npos;
    return number || text == "all" ? "" : fmt::format("must be the number of a GPU or 'all', got '{}'", text);
  };
  command
      .add_option("--gpu", gpu,
                  "With cuda: number of the GPU to use; all: distribute the kernels among all GPUs;\nwith warp-cuda: "
                  "number of the GPU; all: the first")
      ->option_text("{N,all} [0]")
      ->check(check);
  command
      .add_option("--device-memory", device_memory_limit_bytes,
                  "With cuda: maximum GPU memory for the arrays of one session, such as 512MiB")
      ->option_text("SIZE [1GiB]")
      ->transform(CLI::AsSizeValue(false));
}

void add_no_check_option(CLI::App& command, std::vector<std::string>& names) {
  const std::vector<std::string> known = backends::check_names();
  command.add_option("--no-check", names, fmt::format("With ptx: disable a check, one of {}", fmt::join(known, ", ")))
      ->option_text("NAME ...")
      ->allow_extra_args(false)
      ->check(CLI::IsMember(known));
}

void add_builds_options(CLI::App& command, backends::BuildChoices& builds) {
  command
      .add_option_function<std::vector<std::string>>(
          "--cxx",
          [&builds](const std::vector<std::string>& texts) {
            for (const std::string& text : texts)
              std::ranges::move(commands_in(text), std::back_inserter(builds.compilers));
          },
          "C++ compilers for the device cpu, such as g++-12,clang++-14, each as\na separate mode; default: $CXX, "
          "otherwise c++, and clang++\nfor generated kernels without optimization")
      ->option_text("COMMAND,...");
  add_nvrtc_options(command, builds);
}

void add_nvrtc_options(CLI::App& command, backends::BuildChoices& builds) {
  command
      .add_option("--nvrtc", builds.nvrtc_versions_or_paths,
                  "For PTX: libraries of NVRTC, or versions that ci/setup-compilers\ninstalled, such as "
                  "13.0.88,13.5.37, each as a separate mode")
      ->option_text("PATH_OR_VERSION,...")
      ->delimiter(',');
  command
      .add_option("--arch", builds.architectures,
                  "For PTX: architectures to compile for, such as 75,90,100, each as\na separate mode; default: 75 "
                  "and 100, in one mode")
      ->option_text("N,...")
      ->delimiter(',')
      ->transform(architecture_validator());
}

CLI::Validator architecture_validator() {
  return {[](std::string& text) {
            if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) text = "compute_" + text;
            return text.starts_with("compute_") ? ""
                                                : fmt::format("must be an architecture such as 90, got '{}'", text);
          },
          ""};
}

void add_tables_option(CLI::App& command, std::string& file) {
  command
      .add_option("--ptx-tables", file,
                  "With ptx: compute approximate instructions like the device\nmeasured by 'assay calibrate --tables'")
      ->option_text("FILE");
}

void add_compiler_option(CLI::App& command, std::string& compiler) {
  command.add_option("--cxx", compiler, "C++ compiler for the device cpu; default: $CXX, otherwise clang++ or c++")
      ->option_text("COMMAND");
}

void add_mode_option(CLI::App& command, std::string& mode, const std::string& help, const std::string& unset) {
  command.add_option("--mode", mode, help)
      ->option_text(fmt::format("{{{}}} [{}]", fmt::join(harness::kModeNames, ","), unset))
      ->check(CLI::IsMember(std::vector<std::string>(harness::kModeNames.begin(), harness::kModeNames.end())));
}

void add_optimization_option(CLI::App& command, std::vector<int>& levels, const std::string& help) {
  command.add_option("--optimise", levels, help)->option_text("N,... [0]")->delimiter(',')->check(CLI::Range(0, 3));
}

void add_random_option(CLI::App& command, int& count) {
  command.add_option("--random", count, "Number of random kernels of each family that matches a pattern")
      ->option_text(fmt::format("N [{}]", count))
      ->check(CLI::Range(0, 1'000'000));
}

void add_seed_option(CLI::App& command, std::uint64_t& seed, const std::string& help) {
  const auto check = [](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end) return "";
    return fmt::format("must be an integer from 0 to {}, got '{}'", std::numeric_limits<std::uint64_t>::max(), text);
  };
  command.add_option("--seed", seed, help)->option_text("S [1]")->check(check);
}

void add_warp_version_option(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--warp-version", [](const std::string&) {},
          "Version of Warp that defines the semantics of the kernels; the rules that Assay models are the same in all "
          "supported versions")
      ->option_text("{1.15,...,1.19} [1.19]")
      ->check([](const std::string& text) -> std::string {
        static constexpr std::string_view kVersions[] = {"1.15", "1.16", "1.17", "1.18", "1.19"};
        const auto is_of = [&](std::string_view version) {
          return text == version || text.starts_with(fmt::format("{}.", version));
        };
        if (std::ranges::any_of(kVersions, is_of)) return "";
        return fmt::format("Warp {} is not supported: its rules may differ; expected a version from 1.15 to 1.19",
                           text);
      });
}

void add_jobs_option(CLI::App& command, int& jobs, const std::string& help) {
  command.add_option("--jobs", jobs, help + "; 0: one for each core")->option_text("N [0]")->check(CLI::Range(0, 1024));
}

void add_color_option(CLI::App& command, ColorChoice& choice) {
  static const std::map<std::string, ColorChoice> kChoices{
      {"auto", ColorChoice::automatic}, {"always", ColorChoice::always}, {"never", ColorChoice::never}};
  command
      .add_option_function<std::string>(
          "--color", [&choice](const std::string& text) { choice = kChoices.at(text); },
          "Color the output; auto: on a terminal, unless NO_COLOR is set")
      ->option_text("{auto,always,never} [auto]")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void add_baseline_option(CLI::App& command, std::string& path) {
  command
      .add_option("--baseline", path, "Report changes since an earlier run, given by its folder or its failures.csv")
      ->option_text("PATH");
}

void add_mutation_score_option(CLI::App& command, std::string& dir) {
  command.add_option("--mutation-score", dir, "Show the score of 'assay mutate --output DIR' in the report")
      ->option_text("DIR");
}

}  // namespace assay::cli
