// What a run is asked for on the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/measure/measure.hpp"
#include "reports/formats/terminal.hpp"

namespace assay::cli {

struct JudgeOptions {
  std::vector<std::string> selectors;
  std::string device = "cpu";
  std::string pass = "both";
  int random = 8;
  std::uint64_t seed = 1;
  bool quick = false;
  bool thorough = false;
  std::string mode;  ///< one of kModeNames (modes.hpp); empty: the device's own
  int optimise = 0;
  int jobs = 0;
  std::string cache;  ///< folder of what was built before; empty: the user's
  std::string compiler;
  std::vector<std::string> no_checks;  ///< of the device ptx
  std::string tables;                  ///< of the device ptx: a file of tables (unit_tables.hpp); empty: none
  std::string gpu = "0";               ///< of the device cuda, as DeviceOptions::gpu
  std::size_t device_bytes = 0;        ///< of the device cuda, as DeviceOptions::device_bytes
  std::string cross_check;             ///< of the device cuda: "ptx", "cpu", "both" or "none"; empty: the mode's own
  std::string output = "out";
  bool fresh = false;                                             ///< judge what an earlier run proved, too
  std::optional<harness::MeasureOptions> measure = std::nullopt;  ///< how fast what passes runs; nothing: not asked
  bool resume = false;                                            ///< go on with the records in `output`
  std::string failed_in;  ///< judge what failed in this folder's run, in place of the selectors; empty: the selectors
  std::string shard;      ///< "2/4"; empty: all
  int repeat = 1;
  std::string baseline;        ///< of the reports; empty: none
  std::string mutation_score;  ///< folder of the one whose score the reports show; empty: none
  std::string expect;          ///< the file of failures that are known; empty: none
  double reduce = 10;          ///< seconds to spend on making kernels that fail small; 0: none
  reports::ColorChoice color = reports::ColorChoice::automatic;
  std::vector<std::string> command_line;  ///< as given, for the record
};

}  // namespace assay::cli
