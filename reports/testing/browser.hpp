// A headless Chromium for tests, controlled over a pipe with the Chrome DevTools Protocol.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "support/result.hpp"

namespace assay::reports::testing {

/// A browser with one page. Every call ends within a time limit; failures are returned as Error.
class Browser {
 public:
  /// "" if Chromium is not installed.
  static std::string find_program();

  /// Starts `program` with a new profile in the temporary folder.
  static Result<Browser> start(const std::string& program);

  Browser(Browser&& other) noexcept;
  Browser& operator=(Browser&&) = delete;
  ~Browser();

  /// Loads a page and waits until it is loaded.
  Result<void> open(const std::string& url);

  /// The value of a JavaScript expression; waits for a promise.
  Result<nlohmann::json> evaluate(const std::string& expression);

  /// Presses and releases a key, by its DOM name: "j", "/", "Enter".
  Result<void> press(const std::string& key);

  /// Emulates a color scheme or a medium: "prefers-color-scheme" and "dark".
  Result<void> emulate(const std::string& feature, const std::string& value);

  /// Disables scripts for pages opened later.
  Result<void> disable_scripts();

  /// Errors and warnings so far: from the console, from the log (including the security policy), and uncaught
  /// exceptions.
  [[nodiscard]] const std::vector<std::string>& diagnostics() const { return diagnostics_; }

  /// The URL of every request so far, including the page itself.
  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }

 private:
  Browser() = default;
  Result<void> attach();
  Result<nlohmann::json> call(const std::string& method, nlohmann::json parameters = nlohmann::json::object());
  Result<nlohmann::json> next_message(std::chrono::steady_clock::time_point deadline);
  void note(const nlohmann::json& event);

  pid_t process_ = -1;                    ///< process id of the browser; -1: moved from
  int to_browser_ = -1;                   ///< write end of the pipe for commands
  int from_browser_ = -1;                 ///< read end of the pipe for answers and events
  std::filesystem::path profile_;         ///< folder of the browser's profile, removed at the end
  std::string session_;                   ///< id of the DevTools session with the page; empty until attached
  std::string received_;                  ///< bytes received after the last complete message
  int last_id_ = 0;                       ///< id of the last command
  std::string loaded_;                    ///< loader id of the last document that has loaded
  std::vector<std::string> diagnostics_;  ///< errors and warnings so far
  std::vector<std::string> requests_;     ///< URLs of all requests so far
};

}  // namespace assay::reports::testing
