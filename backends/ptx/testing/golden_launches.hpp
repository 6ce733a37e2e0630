// The content of the golden folder: PTX from NVRTC and its launches.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace assay::ptx::testing {

inline std::filesystem::path golden_folder() { return ASSAY_SOURCE_DIR "/testdata/ptx/golden"; }

/// A line of launches.txt.
struct GoldenLaunch {
  std::string family;                  ///< family of the kernel: "loop"
  std::string stem;                    ///< name of the PTX files without architecture: "loop_horner"
  std::string kernel;                  ///< name of the kernel: "horner"
  std::vector<std::string> targets;    ///< architectures with PTX, as numbers: "75"
  std::vector<std::string> arguments;  ///< texts of the arguments (execute/argument_text.hpp)
  std::vector<std::string> gradients;  ///< texts of the gradient arguments; empty without a backward kernel
};

inline std::vector<GoldenLaunch> golden_launches() {
  std::vector<GoldenLaunch> launches;
  std::ifstream file(golden_folder() / "launches.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    GoldenLaunch launch;
    words >> launch.stem;
    const std::size_t slash = launch.stem.find('/');
    launch.family = launch.stem.substr(0, slash);
    launch.kernel = launch.stem.substr(slash + 1);
    launch.stem[slash] = '_';
    std::string targets;
    words >> targets;
    std::istringstream list_of_targets(targets);
    for (std::string target; std::getline(list_of_targets, target, ',');)
      launch.targets.push_back(target);
    std::vector<std::string>* list = &launch.arguments;
    for (std::string word; words >> word;) {
      if (word == "|") list = &launch.gradients;
      else list->push_back(word);
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

/// The text for one of the launch's targets.
inline std::string golden_ptx(const GoldenLaunch& launch, const std::string& architecture) {
  std::ifstream file(golden_folder() / fmt::format("{}_{}.ptx", launch.stem, architecture));
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace assay::ptx::testing
