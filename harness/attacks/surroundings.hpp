// The surroundings of hostile code: files, ports and process state that it must not change.
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

/// What no attack may change: a folder with a file, an open port, and the state of this process. While the object
/// exists, orphaned descendants of this process become its children. Therefore there must be only one object at a time,
/// and only the device under attack may start child processes.
class ProtectedEnvironment {
 public:
  static Result<std::unique_ptr<ProtectedEnvironment>> prepare();

  ProtectedEnvironment(const ProtectedEnvironment&) = delete;
  ProtectedEnvironment& operator=(const ProtectedEnvironment&) = delete;
  ~ProtectedEnvironment();

  /// Absolute path of the folder that no attack may change; it holds a file "bystander".
  [[nodiscard]] const std::filesystem::path& bystanders() const { return protected_folder_; }
  /// A folder for the run's own files.
  [[nodiscard]] const std::filesystem::path& run_folder() const { return run_folder_; }
  /// A port on 127.0.0.1, for TCP and UDP.
  [[nodiscard]] int port() const { return port_; }

  /// Damage since the last call, one message each. Restores files and limits, so that damage is reported once.
  [[nodiscard]] std::vector<std::string> find_damage();
  /// Processes, file descriptors and files of the run that remain after the device under attack is destroyed. Ends the
  /// processes.
  [[nodiscard]] std::vector<std::string> leftover_resources();

 private:
  /// State of this process that other processes can change.
  struct ProcessState {
    std::array<rlimit, RLIM_NLIMITS> limits{};  ///< resource limits, by RLIMIT_ number
    int priority = 0;                           ///< scheduling priority (getpriority)
    pid_t process_group = 0;                    ///< id of the process group
    std::filesystem::path working_directory;    ///< current directory
  };

  explicit ProtectedEnvironment(backends::ScratchDirectory scratch);
  [[nodiscard]] bool listen();  ///< opens both sockets; false if that fails
  void restore_files() const;
  [[nodiscard]] std::string damage_to_files() const;  ///< what changed in the bystander folder; empty if nothing did
  [[nodiscard]] int connections() const;              ///< number of connections that were made to the open port
  [[nodiscard]] int datagrams() const;                ///< number of datagrams that arrived at the open port

  backends::ScratchDirectory scratch_directory_;  ///< temporary folder that contains both folders
  std::filesystem::path protected_folder_;        ///< folder that no attack may change
  std::filesystem::path run_folder_;              ///< folder for the run's own files
  int stream_socket_ = -1;                        ///< socket that accepts connections
  int datagram_socket_ = -1;                      ///< socket that takes datagrams
  int port_ = 0;                                  ///< the port of both sockets
  std::size_t initial_descriptor_count_ = 0;      ///< open file descriptors of this process before the attacks
  std::vector<pid_t> initial_children_;           ///< child processes of this process before the attacks
  ProcessState initial_state_;                    ///< state of this process before the attacks
};

}  // namespace assay::attacks
