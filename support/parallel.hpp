// Distributes work over a few threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace assay {

/// Calls work(i) once for each i below count, on at most `jobs` threads including the calling one. Returns after all
/// calls have returned. `work` must not throw.
template <typename Work>
void for_each_index_in_parallel(std::size_t count, unsigned jobs, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      work(i);
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < jobs && i < count; ++i) {
    threads.emplace_back(take_turns);
  }
  take_turns();
}

}  // namespace assay
