#include "support/file_watch.hpp"

#include <algorithm>
#include <thread>

#include <sys/stat.h>

namespace assay {

void FileWatch::add(const std::string& path) {
  if (std::ranges::find(files_, path, &WatchedFile::path) != files_.end()) return;
  files_.push_back({.path = path, .state = state_of(path)});
}

FileWatch::State FileWatch::state_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {.seconds = found.st_mtim.tv_sec,
          .nanoseconds = found.st_mtim.tv_nsec,
          .bytes = found.st_size,
          .inode = found.st_ino};
}

std::vector<std::string> FileWatch::changed() const {
  std::vector<std::string> paths;
  for (const WatchedFile& file : files_)
    if (state_of(file.path) != file.state) paths.push_back(file.path);
  return paths;
}

std::vector<std::string> FileWatch::wait_for_change(std::chrono::milliseconds quiet_period) const {
  constexpr std::chrono::milliseconds kPollingInterval{50};
  const auto states = [this] {
    std::vector<State> all;
    for (const WatchedFile& file : files_)
      all.push_back(state_of(file.path));
    return all;
  };
  while (changed().empty())
    std::this_thread::sleep_for(kPollingInterval);
  std::vector<State> before = states();
  while (true) {
    std::this_thread::sleep_for(quiet_period);
    std::vector<State> now = states();
    if (now == before) return changed();
    before = std::move(now);
  }
}

}  // namespace assay
