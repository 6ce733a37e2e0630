// Work shared out among a few threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace assay {

/// Calls work(i) for each i below count, each once, on at most `jobs` threads, of which the caller's is one; returns
/// when all calls have. `work` must not throw.
template <typename Work>
void for_each_index(std::size_t count, unsigned jobs, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      work(i);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < jobs && i < count; ++i) {
    others.emplace_back(take_turns);
  }
  take_turns();
}

}  // namespace assay
