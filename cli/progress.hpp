// How a run shows on the terminal while it goes on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

#include <nlohmann/json_fwd.hpp>

#include "harness/records/record.hpp"
#include "reports/model/expectations.hpp"

namespace assay::cli {

/// Counts cases as they are recorded. On a terminal a bar with rate and time left stands on standard error, elsewhere a
/// plain line every ten seconds. A case that is not as expected is told at once, on standard output, with the command
/// that reproduces it; after kMaxReported of them the rest is left to the report. Thread-safe.
class Progress {
 public:
  static constexpr std::size_t kMaxReported = 100;

  /// What is counted, in the plural, and how those among it are called that are not as they should be.
  struct Words {
    const char* things = "cases";
    const char* bad = "unexpected";
  };

  /// Starts to show; `color` is for the lines on standard output.
  Progress(std::size_t planned, bool color, Words words);
  Progress(std::size_t planned, bool color) : Progress(planned, color, Words{}) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Removes the bar.
  ~Progress();

  /// Whether the case is not as expected.
  bool record(const harness::CaseRecord& record);
  /// Holds the cases that follow to the expectations of the run's start: what these bear is not told.
  void expect(const harness::RunStart& start);
  /// Tells the time left by what each of the cases planned is expected to take, by name and against the others.
  void weigh(std::unordered_map<std::string, double> costs);
  /// For what leaves no record: how many are done, and how many are bad.
  void set(std::size_t done, std::size_t bad);
  /// Removes the bar and stops showing.
  void stop();
  [[nodiscard]] std::size_t done() const;

 private:
  using Clock = std::chrono::steady_clock;

  void tell(const nlohmann::json& record);
  void tick();
  void draw_bar();
  void clear_bar();
  [[nodiscard]] std::string figures() const;
  /// Of all that is planned, what is done; above 0 once anything is.
  [[nodiscard]] double share_done() const;

  const std::size_t planned_;
  const bool color_;
  const Words words_;
  const bool is_terminal_;
  const Clock::time_point start_ = Clock::now();
  std::size_t done_ = 0;
  std::size_t unexpected_ = 0;
  std::unordered_map<std::string, double> costs_;  ///< by name; empty: all cost the same
  double planned_cost_ = 0;
  double done_cost_ = 0;
  std::optional<reports::Expectations> expectations_;
  bool drawn_ = false;
  bool stopped_ = false;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::jthread ticker_;
};

}  // namespace assay::cli
