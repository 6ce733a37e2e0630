// Runs the program of this build as a user would.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace assay::cli::testing {

/// The exit status and output of a command.
struct CommandResult {
  int status = -1;  ///< exit status of the command, or 128 plus the number of the signal that ended it
  std::string out;  ///< standard output
  std::string err;  ///< standard error
};

/// A temporary folder for one test, in which commands run.
class Workshop {
 public:
  /// `program` is the assay to run.
  explicit Workshop(std::string program);
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop();

  /// Runs a shell command in the folder; `assay` in it, or "$program", stands for the program.
  [[nodiscard]] CommandResult run(const std::string& command) const;
  /// Writes a file into the folder.
  void write(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::string program_;         ///< path of the assay executable
  std::filesystem::path path_;  ///< the temporary folder
};

}  // namespace assay::cli::testing
