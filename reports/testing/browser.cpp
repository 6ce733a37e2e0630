#include "reports/testing/browser.hpp"

#include <array>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace assay::reports::testing {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLimit{30};

// Chromium reads commands from descriptor 3 and writes answers to 4; a zero byte ends each message.
constexpr int kCommands = 3;
constexpr int kAnswers = 4;

struct Pipe {
  int read = -1;
  int write = -1;
};

// Makes a pipe whose ends do not use descriptors 3 and 4 and are closed in child processes.
Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const Pipe pipe{.read = ::fcntl(ends[0], F_DUPFD_CLOEXEC, 10), .write = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 10)};
  ::close(ends[0]);
  ::close(ends[1]);
  return pipe;
}

pid_t spawn(const std::vector<std::string>& words, const Pipe& commands, const Pipe& answers) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, commands.read, kCommands);
  ::posix_spawn_file_actions_adddup2(&actions, answers.write, kAnswers);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  for (const std::string& word : words)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t process = -1;
  if (::posix_spawn(&process, words.front().c_str(), &actions, &attributes, arguments.data(), environ) != 0)
    process = -1;
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  return process;
}

}  // namespace

std::string Browser::find_program() {
  const char* const path = std::getenv("PATH");
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::string program = folder + "/" + name;
      if (::access(program.c_str(), X_OK) == 0) return program;
    }
  }
  return "";
}

Result<Browser> Browser::start(const std::string& program) {
  Browser browser;
  std::string profile = (std::filesystem::temp_directory_path() / "assay-browser-XXXXXX").string();
  if (::mkdtemp(profile.data()) == nullptr) return Error{"cannot make a profile", profile};
  browser.profile_ = profile;
  const Pipe commands = make_pipe();
  const Pipe answers = make_pipe();
  // The page is trusted, and containers seldom allow Chromium's sandbox.
  browser.process_ = spawn({program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                            "--no-first-run", "--disable-background-networking", "--window-size=1400,1000",
                            "--remote-debugging-pipe", "--user-data-dir=" + profile, "about:blank"},
                           commands, answers);
  ::close(commands.read);
  ::close(answers.write);
  browser.to_browser_ = commands.write;
  browser.from_browser_ = answers.read;
  if (browser.process_ < 0) return Error{"cannot start", program};
  if (Result<void> attached = browser.attach(); !attached.ok()) return attached.error();
  return browser;
}

Browser::Browser(Browser&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      to_browser_(std::exchange(other.to_browser_, -1)),
      from_browser_(std::exchange(other.from_browser_, -1)),
      profile_(std::exchange(other.profile_, {})),
      session_(std::move(other.session_)),
      received_(std::move(other.received_)),
      last_id_(other.last_id_),
      loaded_(std::move(other.loaded_)),
      diagnostics_(std::move(other.diagnostics_)),
      requests_(std::move(other.requests_)) {}

Browser::~Browser() {
  if (to_browser_ >= 0) ::close(to_browser_);
  if (from_browser_ >= 0) ::close(from_browser_);
  if (process_ > 0) {
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  std::error_code ignored;
  if (!profile_.empty()) std::filesystem::remove_all(profile_, ignored);
}

Result<void> Browser::attach() {
  const Result<json> target = call("Target.createTarget", {{"url", "about:blank"}});
  if (!target.ok()) return target.error();
  const Result<json> session = call("Target.attachToTarget", {{"targetId", target->at("targetId")}, {"flatten", true}});
  if (!session.ok()) return session.error();
  session_ = session->at("sessionId");
  for (const char* domain : {"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"}) {
    if (const Result<json> enabled = call(domain); !enabled.ok()) return enabled.error();
  }
  const Result<json> lifecycle = call("Page.setLifecycleEventsEnabled", {{"enabled", true}});
  return lifecycle.ok() ? Result<void>{} : Result<void>{lifecycle.error()};
}

Result<void> Browser::open(const std::string& url) {
  // A URL that differs only in its fragment would not be loaded again.
  for (const std::string& address : {std::string("about:blank"), url}) {
    const Result<json> gone = call("Page.navigate", {{"url", address}});
    if (!gone.ok()) return gone.error();
    const std::string loader = gone->value("loaderId", "");
    const auto deadline = Clock::now() + kLimit;
    while (!loader.empty() && loaded_ != loader) {
      const Result<json> message = next_message(deadline);
      if (!message.ok()) return message.error();
      note(*message);
    }
  }
  return {};
}

Result<json> Browser::evaluate(const std::string& expression) {
  Result<json> answer =
      call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
  if (!answer.ok()) return answer;
  if (answer->contains("exceptionDetails")) return Error{answer->at("exceptionDetails").dump(), expression};
  return answer->at("result").value("value", json());
}

Result<void> Browser::press(const std::string& key) {
  for (const char* type : {"keyDown", "keyUp"}) {
    json event = {{"type", type}, {"key", key}};
    if (key.size() == 1) event["text"] = key;
    if (key == "Enter") event.update({{"text", "\r"}, {"windowsVirtualKeyCode", 13}});
    if (key == "Escape") event["windowsVirtualKeyCode"] = 27;
    if (const Result<json> sent = call("Input.dispatchKeyEvent", event); !sent.ok()) return sent.error();
  }
  return {};
}

Result<void> Browser::emulate(const std::string& feature, const std::string& value) {
  const Result<json> set = call("Emulation.setEmulatedMedia", {{"features", {{{"name", feature}, {"value", value}}}}});
  return set.ok() ? Result<void>{} : Result<void>{set.error()};
}

Result<void> Browser::disable_scripts() {
  const Result<json> set = call("Emulation.setScriptExecutionDisabled", {{"value", true}});
  return set.ok() ? Result<void>{} : Result<void>{set.error()};
}

Result<json> Browser::call(const std::string& method, json parameters) {
  const int id = ++last_id_;
  json command = {{"id", id}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) command["sessionId"] = session_;
  const std::string text = command.dump() + '\0';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t written = ::write(to_browser_, text.data() + sent, text.size() - sent);
    if (written <= 0) return Error{"the browser does not listen", method};
    sent += static_cast<std::size_t>(written);
  }
  const auto deadline = Clock::now() + kLimit;
  while (true) {
    Result<json> message = next_message(deadline);
    if (!message.ok()) return Error{message.error().message, method};
    if (message->value("id", -1) != id) {
      note(*message);
      continue;
    }
    if (message->contains("error")) return Error{message->at("error").dump(), method};
    return message->at("result");
  }
}

Result<json> Browser::next_message(Clock::time_point deadline) {
  while (true) {
    if (const std::size_t end = received_.find('\0'); end != std::string::npos) {
      json message =
          json::parse(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
      received_.erase(0, end + 1);
      return message;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{.fd = from_browser_, .events = POLLIN, .revents = 0};
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) == 0) return Error{"the browser did not answer in time"};
    std::array<char, 65536> buffer{};
    const ssize_t got = ::read(from_browser_, buffer.data(), buffer.size());
    if (got <= 0) return Error{"the browser went away"};
    received_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void Browser::note(const json& event) {
  const std::string method = event.value("method", "");
  if (method == "Page.lifecycleEvent" && event.at("params").at("name") == "load") {
    loaded_ = event.at("params").at("loaderId");
  }
  if (method == "Runtime.exceptionThrown") diagnostics_.push_back(event.at("params").dump());
  if (method == "Network.requestWillBeSent") requests_.push_back(event.at("params").at("request").at("url"));
  if (method == "Log.entryAdded") {
    const json& entry = event.at("params").at("entry");
    if (entry.at("level") == "error" || entry.at("level") == "warning") diagnostics_.push_back(entry.dump());
  }
  if (method == "Runtime.consoleAPICalled") {
    const std::string type = event.at("params").at("type");
    if (type == "error" || type == "warning" || type == "assert") diagnostics_.push_back(event.at("params").dump());
  }
}

}  // namespace assay::reports::testing
