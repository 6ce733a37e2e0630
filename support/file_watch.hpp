// Notices that files are saved.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace assay {

/// Remembers the states of files and finds the files that have changed since.
class FileWatch {
 public:
  /// Remembers the state of a file, which need not exist, unless the file has been added before.
  void add(const std::string& path);
  [[nodiscard]] std::size_t size() const { return files_.size(); }  ///< number of files

  /// The files that have been saved, created or removed since they were added, in the order in which they were added. A
  /// file counts as saved if its time of modification, its size or its inode has changed.
  [[nodiscard]] std::vector<std::string> changed() const;
  /// Waits until a file has changed and no other file has for `quiet_period`, because an editor may write in several
  /// steps, and several files. Returns the changed files.
  [[nodiscard]] std::vector<std::string> wait_for_change(std::chrono::milliseconds quiet_period) const;

 private:
  /// What stat() reports about a file; all zero if it does not exist.
  struct State {
    long long seconds = 0;      ///< time of modification, in seconds
    long long nanoseconds = 0;  ///< time of modification, nanoseconds of the second
    long long bytes = 0;        ///< size in bytes
    unsigned long long inode = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  struct WatchedFile {
    std::string path;
    State state;  ///< state when the file was added
  };
  static State state_of(const std::string& path);

  std::vector<WatchedFile> files_;
};

}  // namespace assay
