// Progress of a run on the terminal.
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

/// Counts cases as they are recorded. Shows a bar with rate and time left on standard error if that is a terminal that
/// can redraw a line, and a plain line every ten seconds otherwise. Prints each unexpected case at once on standard
/// output, with the command that reproduces it; after kMaxPrintedUnexpectedCases of them, further ones are listed in
/// the report only. Thread-safe.
class ProgressDisplay {
 public:
  static constexpr std::size_t kMaxPrintedUnexpectedCases = 100;  ///< maximum number of unexpected cases printed

  /// Words of the progress display.
  struct ProgressLabels {
    const char* item_noun = "cases";              ///< plural noun of the counted items
    const char* unexpected_label = "unexpected";  ///< label of the number of items that are not as expected
  };

  /// Starts the display; `color` is for the lines on standard output.
  ProgressDisplay(std::size_t planned, bool color, ProgressLabels words);
  ProgressDisplay(std::size_t planned, bool color) : ProgressDisplay(planned, color, ProgressLabels{}) {}
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;
  /// Removes the bar.
  ~ProgressDisplay();

  /// Counts and prints the case. Returns true if it is unexpected.
  bool record(const harness::CaseRecord& record);
  /// Applies the expectations in the run's start record to the cases that follow: expected failures are not printed.
  void expect(const harness::RunStart& start);
  /// Sets the relative cost of each planned case, by name, from which the time left is estimated.
  void set_costs(std::unordered_map<std::string, double> costs);
  /// Sets the numbers of completed and of unexpected items directly, for work that leaves no record.
  void set(std::size_t done, std::size_t bad);
  /// Shows what is being done after the last item, in place of rate and time left: "writing files".
  void set_final_stage(std::string text);
  /// Removes the bar and stops the display.
  void stop();
  [[nodiscard]] std::size_t done() const;  ///< number of cases recorded so far

 private:
  using Clock = std::chrono::steady_clock;

  void print_result(const nlohmann::json& record);  ///< prints an unexpected case
  void tick();                                      ///< body of the ticker's thread
  void draw_bar();
  void clear_bar();
  [[nodiscard]] std::string progress_text() const;  ///< the text after the bar: counts, rate and time left
  /// The completed share of the planned work; above 0 once anything is done.
  [[nodiscard]] double done_fraction() const;

  const std::size_t planned_count_;                                ///< number of cases that will be recorded
  const bool uses_color_;                                          ///< whether the lines on standard output are colored
  const ProgressLabels labels_;                                    ///< words of the display
  const bool draws_bar_;                                           ///< whether the bar is drawn on standard error
  const Clock::time_point start_time_ = Clock::now();              ///< when the display started
  std::size_t done_count_ = 0;                                     ///< number of cases recorded so far
  std::size_t unexpected_count_ = 0;                               ///< number of unexpected cases so far
  std::string final_stage_;                                        ///< see set_final_stage; empty before it
  std::unordered_map<std::string, double> relative_cost_by_case_;  ///< relative cost, by case name; empty: all the same
  double planned_relative_cost_ = 0;                               ///< sum of `relative_cost_by_case_`
  double completed_relative_cost_ = 0;                             ///< sum of the costs of the recorded cases
  std::optional<reports::ExpectationMatcher>
      expected_failures_;                       ///< expected failures of the run; empty until expect() is called
  bool is_bar_drawn_ = false;                   ///< whether the bar is on the terminal now
  bool is_stopped_ = false;                     ///< whether stop() was called
  mutable std::mutex mutex_;                    ///< guards all members that change
  std::condition_variable wake_redraw_thread_;  ///< ends the redraw thread's wait when the display stops
  std::jthread redraw_thread_;                  ///< thread that redraws the display
};

}  // namespace assay::cli
