#include "cli/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/records/record_json.hpp"
#include "reports/formats/terminal.hpp"
#include "reports/model/summary.hpp"
#include "support/terminal.hpp"

namespace assay::cli {
namespace {

constexpr std::size_t kBarCells = 24;
constexpr std::chrono::milliseconds kBarInterval{250};
constexpr std::chrono::seconds kLineInterval{10};

/// A rough duration: "42 s", "3 min 5 s".
std::string about(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {} s", whole / 60, whole % 60);
}

/// Ignores write errors: a run continues without its terminal.
void put(std::FILE* stream, const std::string& text) {
  std::fputs(text.c_str(), stream);
  std::fflush(stream);
}

std::size_t columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

ProgressDisplay::ProgressDisplay(std::size_t planned, bool color, ProgressLabels words)
    : planned_count_(planned),
      uses_color_(color),
      labels_(words),
      draws_bar_(can_redraw(::isatty(STDERR_FILENO) == 1, std::getenv("TERM"))),
      redraw_thread_([this] { tick(); }) {}

ProgressDisplay::~ProgressDisplay() { stop(); }

bool ProgressDisplay::record(const harness::CaseRecord& record) {
  const std::lock_guard lock(mutex_);
  ++done_count_;
  if (const auto cost = relative_cost_by_case_.find(record.name); cost != relative_cost_by_case_.end())
    completed_relative_cost_ += cost->second;
  if (!expected_failures_ && harness::is_as_expected(record.outcome)) return false;
  nlohmann::json line = nlohmann::json::parse(harness::to_line(record));
  if (expected_failures_) expected_failures_->annotate(line);
  if (!reports::fails_run(reports::tone_of(line))) return false;
  ++unexpected_count_;
  print_result(line);
  return true;
}

void ProgressDisplay::expect(const harness::RunStart& start) {
  const std::lock_guard lock(mutex_);
  expected_failures_.emplace(nlohmann::json::parse(harness::to_line(start)));
}

void ProgressDisplay::set_costs(std::unordered_map<std::string, double> costs) {
  const std::lock_guard lock(mutex_);
  relative_cost_by_case_ = std::move(costs);
  for (const auto& [name, cost] : relative_cost_by_case_)
    planned_relative_cost_ += cost;
}

void ProgressDisplay::set(std::size_t done, std::size_t bad) {
  const std::lock_guard lock(mutex_);
  done_count_ = done;
  unexpected_count_ = bad;
}

void ProgressDisplay::set_final_stage(std::string text) {
  const std::lock_guard lock(mutex_);
  final_stage_ = std::move(text);
}

void ProgressDisplay::print_result(const nlohmann::json& record) {
  if (unexpected_count_ > kMaxPrintedUnexpectedCases + 1) return;
  clear_bar();
  if (unexpected_count_ > kMaxPrintedUnexpectedCases) {
    put(stdout, "further unexpected results are listed in the report only\n");
  } else {
    put(stdout, reports::unexpected_lines(record, uses_color_));
  }
}

void ProgressDisplay::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    clear_bar();
  }
  wake_redraw_thread_.notify_all();
  if (redraw_thread_.joinable() && redraw_thread_.get_id() != std::this_thread::get_id()) redraw_thread_.join();
}

std::size_t ProgressDisplay::done() const {
  const std::lock_guard lock(mutex_);
  return done_count_;
}

void ProgressDisplay::tick() {
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    if (draws_bar_) draw_bar();
    wake_redraw_thread_.wait_for(lock, draws_bar_ ? kBarInterval : kLineInterval, [this] { return is_stopped_; });
    if (!is_stopped_ && !draws_bar_) put(stderr, progress_text() + "\n");
  }
}

std::string ProgressDisplay::progress_text() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_time_).count();
  std::string text = fmt::format("{}/{} {}", done_count_, planned_count_, labels_.item_noun);
  if (!final_stage_.empty()) {
    text += ", " + final_stage_;
  } else if (done_count_ > 0) {
    const double left = seconds * (1 - done_fraction()) / done_fraction();
    text += fmt::format(", {:.1f}/s, {} left", static_cast<double>(done_count_) / seconds, about(left));
  } else {
    text += fmt::format(", {}", about(seconds));
  }
  if (unexpected_count_ > 0) text += fmt::format(", {} {}", unexpected_count_, labels_.unexpected_label);
  return text;
}

double ProgressDisplay::done_fraction() const {
  if (planned_relative_cost_ > 0 && completed_relative_cost_ > 0)
    return std::min(completed_relative_cost_ / planned_relative_cost_, 1.0);
  return static_cast<double>(done_count_) / static_cast<double>(planned_count_);
}

void ProgressDisplay::draw_bar() {
  const std::size_t filled = planned_count_ == 0 ? kBarCells : kBarCells * done_count_ / planned_count_;
  std::string line =
      fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(kBarCells - filled, '.'), progress_text());
  line.resize(std::min(line.size(), columns() - 1));  // a longer line would wrap and could not be removed
  put(stderr, "\r\x1b[K" + line);
  is_bar_drawn_ = true;
}

void ProgressDisplay::clear_bar() {
  if (!is_bar_drawn_) return;
  put(stderr, "\r\x1b[K");
  is_bar_drawn_ = false;
}

}  // namespace assay::cli
