// The page in a real browser: it opens without errors or network requests, filters, shows a case, and reacts to the
// keyboard.
#include "reports/testing/browser.hpp"

#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reports/report_files.hpp"
#include "reports/testing/synthetic_run.hpp"

namespace assay::reports {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kFailed = "loop/generated_1_0020/f32/cpu/backward";

class ReportInBrowser : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { program_ = new std::string(testing::Browser::find_program()); }
  static void TearDownTestSuite() { delete program_; }

  void SetUp() override {
    if (program_->empty()) GTEST_SKIP() << "no chromium, chromium-browser or google-chrome in PATH";
    dir_ = fs::temp_directory_path() / fmt::format("assay-page-{}", ::getpid());
    Result<testing::Browser> browser = testing::Browser::start(*program_);
    ASSERT_TRUE(browser.ok()) << browser.error().text();
    browser_.emplace(browser.take());
  }
  void TearDown() override {
    browser_.reset();
    if (!dir_.empty()) fs::remove_all(dir_);
  }

  // Writes the report of a synthetic run and opens it.
  void open(const testing::SyntheticRun& options, const std::string& fragment = "", const ReportOptions& how = {}) {
    testing::write_synthetic_run(dir_, options);
    const Result<WrittenReports> reports = write_reports(dir_, how);
    ASSERT_TRUE(reports.ok()) << reports.error().text();
    url_ = "file://" + reports->html_path.string();
    reopen(fragment);
  }
  void reopen(const std::string& fragment) {
    const Result<void> opened = browser_->open(url_ + fragment);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    if (!scripts_) return;
    ASSERT_EQ(value("new Promise(done => { const wait = () => document.documentElement.dataset.ready ? done(true) : "
                    "setTimeout(wait, 1); wait(); })"),
              true);
  }
  json value(const std::string& expression) {
    const Result<json> found = browser_->evaluate(expression);
    EXPECT_TRUE(found.ok()) << found.error().text();
    return found.value_or(json());
  }
  // The value after the next frame, when scrolling and rendering are done.
  json value_after_frame(const std::string& expression) {
    return value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(" + expression +
                 "))))");
  }
  void press(const std::string& key) { ASSERT_TRUE(browser_->press(key).ok()); }

  static inline std::string* program_ = nullptr;
  fs::path dir_;
  std::string url_;
  bool scripts_ = true;
  std::optional<testing::Browser> browser_;
};

TEST_F(ReportInBrowser, OpensWithoutErrorsOrNetworkRequests) {
  open({});
  EXPECT_THAT(browser_->diagnostics(), IsEmpty());
  for (const std::string& request : browser_->requests()) {
    EXPECT_TRUE(request == url_ || request == "data:," || request == "about:blank") << request;
  }
  EXPECT_EQ(value("document.querySelector('h1').textContent"), "8 of 504 cases are not as expected");
  EXPECT_EQ(value("document.querySelectorAll('.grid tbody tr').length"), 9);
  EXPECT_EQ(value("document.querySelectorAll('details.case').length"), 8);
  EXPECT_EQ(value("document.getElementById('shown').textContent"), "504 of 504");
}

TEST_F(ReportInBrowser, ContentSecurityPolicyBlocksScriptsAndRequests) {
  open({});
  value(
      "window.ran = false; const s = document.createElement('script'); s.textContent = 'window.ran = true'; "
      "document.body.append(s)");
  value("fetch('https://example.invalid/').catch(() => 0)");
  value("document.body.setAttribute('style', 'color: red')");
  EXPECT_EQ(value("window.ran"), false);
  EXPECT_NE(value("getComputedStyle(document.body).color"), "rgb(255, 0, 0)");
  for (const std::string& request : browser_->requests())
    EXPECT_THAT(request, ::testing::Not(HasSubstr("example.invalid")));
  EXPECT_GE(browser_->diagnostics().size(), 3U) << "each attempt must be blocked with a diagnostic";
}

TEST_F(ReportInBrowser, ClickOnGridCellFiltersCaseList) {
  open({});
  value("document.querySelector('.grid tbody tr:nth-child(5) td:nth-child(3) a').click()");
  EXPECT_EQ(value_after_frame("document.getElementById('shown').textContent"), "14 of 504");
  EXPECT_EQ(value("document.getElementById('filter').value"), "family:loop device:cpu pass:backward");
  EXPECT_EQ(value("document.querySelector('.row .badge').textContent"), "fail(mismatch)");
}

TEST_F(ReportInBrowser, UrlFragmentSelectsFilterAndCase) {
  open({}, "#q=outcome%3Afail");
  EXPECT_EQ(value("document.getElementById('shown').textContent"), "3 of 504");
  reopen(std::string("#case=") + kFailed);
  EXPECT_EQ(value("document.getElementById('report').hidden"), true);
  EXPECT_EQ(value("document.querySelector('#case h1').textContent"), kFailed);
  const std::string text = value("document.getElementById('case').textContent");
  for (const char* part : {"assay run loop/generated_1_0020/f32/cpu/backward --seed 7", "0x3ff4000000000000",
                           "f64_promotion", "Time by stage", "@wp.kernel", "__global__"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, ::testing::Not(HasSubstr("null")));
  EXPECT_THAT(browser_->diagnostics(), IsEmpty());
}

TEST_F(ReportInBrowser, CasePageShowsChartsOfErrorMargins) {
  open({}, "#case=loop/generated_1_0020/f32/cpu/backward");
  EXPECT_EQ(value("document.querySelectorAll('#case .chart').length"), 2);
  EXPECT_EQ(value("document.querySelectorAll('#case .chart circle').length"), 6) << "a dot for each difference";
  const std::string text = value("document.getElementById('case').textContent");
  for (const char* part : {"a zero gradient for grad_x, off by ", "f64_promotion"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(browser_->diagnostics(), IsEmpty());
}

TEST_F(ReportInBrowser, ClickOnSourceLineMarksCorrespondingLinesInAllSources) {
  open({}, "#case=loop/generated_1_0020/f32/cpu/backward");
  const char* const kText = "[...document.querySelectorAll('#case .sources .on')].map(line => line.textContent.trim())";
  value(
      "[...document.querySelectorAll('#case .sources figure:nth-child(2) .line')]"
      ".find(line => line.textContent.includes('p = p * x')).click()");
  EXPECT_EQ(value(kText), json::array({"p *= x[i * n + j]", "// 27: p *= x[i * n + j]", "p = p * x[i * n + j];",
                                       "// 27: p *= x[i * n + j]", "p = p * x[i * n + j];"}));
  value(
      "[...document.querySelectorAll('#case .sources figure:nth-child(1) .line')]"
      ".find(line => line.textContent.includes('wp.tid()')).dispatchEvent(new Event('mouseover', {bubbles: true}))");
  EXPECT_EQ(value(kText), json::array({"i = wp.tid()", "// 24: i = wp.tid()", "const int i = int(thread);",
                                       "// 24: i = wp.tid()", "const int i = int(thread);"}));
  EXPECT_THAT(value("document.querySelector('#case .sources pre').innerText").get<std::string>(),
              HasSubstr("i = wp.tid()\n    p = float(1.0)\n"));
}

TEST_F(ReportInBrowser, KeyboardShortcutsFilterListAndOpenCases) {
  open({});
  press("/");
  EXPECT_EQ(value("document.activeElement.id"), "filter");
  for (const char* key : {"f", "a", "i", "l"})
    press(key);
  EXPECT_EQ(value_after_frame("document.getElementById('filter').value"), "fail");
  press("Escape");
  press("j");
  EXPECT_EQ(value_after_frame("[...document.querySelectorAll('.row')].findIndex(r => r.classList.contains('on'))"), 1);
  press("k");
  press("j");
  const std::string name = value_after_frame("document.querySelector('.row.on .name').textContent");
  press("Enter");
  EXPECT_EQ(value_after_frame("document.querySelector('#case h1').textContent"), name);
  press("k");
  EXPECT_NE(value_after_frame("document.querySelector('#case h1').textContent"), name);
  press("Escape");
  EXPECT_EQ(value_after_frame("document.getElementById('case').hidden"), true);
  EXPECT_THAT(browser_->diagnostics(), IsEmpty());
}

TEST_F(ReportInBrowser, ShowsHostileTextWithoutExecutingIt) {
  const std::string hostile =
      "</script></pre><img src=x onerror=\"window.ran=true\"><script>window.ran=true</script>{{headline}}";
  open({.kernels_per_family = 8, .cuda = false, .hostile = hostile});
  for (const char* place :
       {"details.case .message", "details.case pre", ".mismatches tbody th", "#findings td:nth-child(3)"}) {
    const json text = value(fmt::format("document.querySelector('{}')?.textContent ?? ''", place));
    EXPECT_THAT(text.get<std::string>(), HasSubstr(hostile)) << place;
  }
  EXPECT_EQ(value("typeof window.ran"), "undefined");
  EXPECT_EQ(value("document.querySelectorAll('img').length"), 0);
  EXPECT_EQ(value("document.scripts.length"), 2);
  reopen(std::string("#case=") + kFailed);
  EXPECT_THAT(value("document.getElementById('case').textContent").get<std::string>(), HasSubstr(hostile));
  EXPECT_EQ(value("document.querySelectorAll('img').length"), 0);
  EXPECT_THAT(browser_->diagnostics(), IsEmpty());
}

TEST_F(ReportInBrowser, IsReadableWithoutScripts) {
  ASSERT_TRUE(browser_->disable_scripts().ok());
  scripts_ = false;
  open({});
  const std::string text = value("document.body.innerText");
  for (const char* part :
       {"8 of 504 cases are not as expected", "nested_loop", "fail(mismatch)", "not available: no CUDA driver",
        "assay run control_flow/generated_1_0037/f32/cpu/backward --seed 7", "needs JavaScript"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, ::testing::Not(HasSubstr("Copy"))) << "controls that need scripts must be hidden";
}

TEST_F(ReportInBrowser, RendersOnlyVisibleRowsOfTenThousandCases) {
  open({.kernels_per_family = 280});
  EXPECT_LT(fs::file_size(dir_ / kReportHtmlFileName), 3U << 20U);
  EXPECT_EQ(value("document.getElementById('shown').textContent"), "10\u202f080 of 10\u202f080");
  EXPECT_LT(value("document.querySelectorAll('.row').length").get<int>(), 100);
  value("document.getElementById('list').scrollTop = 1e9");
  EXPECT_EQ(value_after_frame("document.querySelector('.row:last-child .badge').textContent"),
            "unsupported(no CUDA driver)");
  EXPECT_THAT(browser_->diagnostics(), IsEmpty());
}

// Milliseconds from an action on the page to the frame that shows its effect.
constexpr const char* kTimeOf =
    "new Promise(done => {{ const start = performance.now(); {}; "
    "requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start))); }})";

TEST_F(ReportInBrowser, RespondsWithinASecondWithTenThousandCases) {
  ASSERT_TRUE(browser_->emulate("prefers-color-scheme", "dark").ok());
  open({.kernels_per_family = 280});
  const auto time_of = [&](const std::string& action) {
    return value(fmt::format(fmt::runtime(kTimeOf), action)).get<double>();
  };
  const auto shown = [&] { return value("document.getElementById('shown').textContent").get<std::string>(); };
  // From the last byte of the file to an interactive page.
  EXPECT_LT(value("performance.getEntriesByName('ready')[0].startTime - "
                  "performance.getEntriesByType('navigation')[0].responseEnd")
                .get<double>(),
            1000.0);
  const std::string type =
      "const f = document.getElementById('filter'); f.value = '{}'; f.dispatchEvent(new Event('input'))";
  EXPECT_LT(time_of(fmt::format(fmt::runtime(type), "mismatch nested")), 1000.0);
  EXPECT_EQ(shown(), "1 of 10\u202f080");
  EXPECT_LT(time_of("document.querySelector('.grid tbody tr:nth-child(5) td:nth-child(2) a').click()"), 1000.0);
  EXPECT_EQ(shown(), "280 of 10\u202f080");
  press("j");
  EXPECT_EQ(value_after_frame("[...document.querySelectorAll('.row')].findIndex(r => r.classList.contains('on'))"), 1);
  EXPECT_LT(time_of(fmt::format("location.hash = '#case={}'", kFailed)), 1000.0);
  EXPECT_EQ(value("document.querySelector('#case h1').textContent"), kFailed);
  value("document.querySelector('#case .copy').click()");
  const std::string copied = value_after_frame("document.querySelector('#case .copy').textContent");
  EXPECT_TRUE(copied == "Copied" || copied == "Selected") << copied;
  if (copied == "Selected") {
    EXPECT_THAT(value("getSelection().toString()").get<std::string>(), HasSubstr("assay run loop/generated_1_0020"));
  }
  EXPECT_EQ(value("getComputedStyle(document.body).backgroundColor"), "rgb(16, 20, 24)");
  for (const std::string& request : browser_->requests())
    EXPECT_TRUE(request.starts_with(url_) || request == "data:," || request == "about:blank") << request;
  EXPECT_THAT(browser_->diagnostics(), IsEmpty());
}

TEST_F(ReportInBrowser, ShowsChangesSinceBaselineBeforeTotals) {
  testing::write_synthetic_run(dir_, {.failures = false});
  Result<Baseline> baseline = read_baseline(dir_);
  ASSERT_TRUE(baseline.ok());
  open({.kernels_per_family = 13}, "", {.baseline = baseline.take()});
  const std::string text = value("document.body.innerText");
  EXPECT_LT(text.find("8 broken"), text.find("Planned"));
  EXPECT_LT(text.find("36 gone"), text.find("Planned"));
  EXPECT_THAT(browser_->diagnostics(), IsEmpty());
  value("document.querySelector('.change[open] a').click()");
  EXPECT_EQ(value_after_frame("document.querySelector('#case h1').textContent"), kFailed);
}

TEST_F(ReportInBrowser, ShowsAndFiltersExpectedFailures) {
  const json line = {{"place", "waivers.csv:2"},
                     {"case", "*loop*/*/*/cpu/backward"},
                     {"outcome", "fail"},
                     {"kind", "mismatch"},
                     {"message", "grad_*"},
                     {"reason", "<b>known</b>"},
                     {"issue", "#17"},
                     {"since", "2026-11-01"},
                     {"expires", ""}};
  open({}, "#q=is%3Awaived", {.expectations = json::array({line})});
  EXPECT_EQ(value("document.getElementById('shown').textContent"), "3 of 504");
  const std::string text = value("document.getElementById('expectations').innerText");
  for (const char* part : {"unexpected pass", "waivers.csv:2", "3 as expected", "<b>known</b>", "20 days", "never"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(browser_->diagnostics(), IsEmpty());
}

TEST_F(ReportInBrowser, FollowsPreferredColorScheme) {
  ASSERT_TRUE(browser_->emulate("prefers-color-scheme", "dark").ok());
  open({});
  const std::string dark = value("getComputedStyle(document.body).backgroundColor");
  value("document.getElementById('theme').click()");
  const std::string light = value("getComputedStyle(document.body).backgroundColor");
  EXPECT_EQ(dark, "rgb(16, 20, 24)");
  EXPECT_EQ(light, "rgb(247, 247, 245)");
}

}  // namespace
}  // namespace assay::reports
