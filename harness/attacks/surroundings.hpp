// What lies around code that attacks, and whether it came through unharmed.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

#include "backends/device/scratch_directory.hpp"
#include "support/result.hpp"

namespace assay::attacks {

/// A folder with a file, an open port, and the state of this process as they were found. While it lives, a process that
/// loses its parent below this one becomes its child; so there must be only one at a time, and no child may be
/// started meanwhile but by the device under attack.
class Surroundings {
 public:
  static Result<std::unique_ptr<Surroundings>> prepare();

  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;
  ~Surroundings();

  /// The folder that no attack may reach, absolute; it holds a file "bystander".
  [[nodiscard]] const std::filesystem::path& bystanders() const { return bystanders_; }
  /// A folder for the run's own files.
  [[nodiscard]] const std::filesystem::path& run_folder() const { return run_folder_; }
  /// A port on 127.0.0.1, of TCP and of UDP.
  [[nodiscard]] int port() const { return port_; }

  /// What is not as it was, in words. Files and limits are put back, so that each harm is told once.
  [[nodiscard]] std::vector<std::string> harm();
  /// What is left when the device under attack is gone: processes, which are ended, descriptors and files of the run.
  [[nodiscard]] std::vector<std::string> leftovers();

 private:
  /// What others may change of this process.
  struct Self {
    std::array<rlimit, RLIM_NLIMITS> limits{};
    int priority = 0;
    pid_t group = 0;
    std::filesystem::path folder;
  };

  explicit Surroundings(backends::ScratchDirectory scratch);
  [[nodiscard]] bool listen();
  void put_files() const;
  [[nodiscard]] std::string harm_to_files() const;
  [[nodiscard]] int connections() const;
  [[nodiscard]] int datagrams() const;

  backends::ScratchDirectory scratch_;
  std::filesystem::path bystanders_;
  std::filesystem::path run_folder_;
  int stream_ = -1;    ///< socket that accepts connections
  int datagram_ = -1;  ///< socket that takes datagrams
  int port_ = 0;
  std::size_t descriptors_ = 0;
  std::vector<pid_t> children_;  ///< that are none of the attacks'
  Self self_;
};

}  // namespace assay::attacks
