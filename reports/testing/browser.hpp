// A headless Chromium for tests, driven over a pipe by the Chrome DevTools Protocol.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "support/result.hpp"

namespace assay::reports::testing {

// One page. Every call ends within a time limit; what goes wrong is an Error.
class Browser {
 public:
  // "" where no Chromium is installed.
  static std::string find_program();

  // Starts `program` with a profile of its own below the temporary folder.
  static Result<Browser> start(const std::string& program);

  Browser(Browser&& other) noexcept;
  Browser& operator=(Browser&&) = delete;
  ~Browser();

  // Loads a page and waits until it has.
  Result<void> open(const std::string& url);

  // The value of a JavaScript expression; a promise is waited for.
  Result<nlohmann::json> evaluate(const std::string& expression);

  // Presses and releases a key, by its DOM name: "j", "/", "Enter".
  Result<void> press(const std::string& key);

  // Emulates a colour scheme or a medium: "prefers-color-scheme" and "dark".
  Result<void> emulate(const std::string& feature, const std::string& value);

  // Switches scripts off for the pages that are opened from now on.
  Result<void> disable_scripts();

  // Errors and warnings of the console, of the log (security policy among them) and uncaught exceptions, so far.
  [[nodiscard]] const std::vector<std::string>& diagnostics() const { return diagnostics_; }

  // The address of every request so far, the page's own among them.
  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }

 private:
  Browser() = default;
  Result<void> attach();
  Result<nlohmann::json> call(const std::string& method, nlohmann::json parameters = nlohmann::json::object());
  Result<nlohmann::json> next_message(std::chrono::steady_clock::time_point deadline);
  void note(const nlohmann::json& event);

  pid_t process_ = -1;
  int to_browser_ = -1;
  int from_browser_ = -1;
  std::filesystem::path profile_;
  std::string session_;
  std::string received_;
  int last_id_ = 0;
  std::string loaded_;  // loader of the last document that has loaded
  std::vector<std::string> diagnostics_;
  std::vector<std::string> requests_;
};

}  // namespace assay::reports::testing
