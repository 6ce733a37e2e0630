// warp-differences: computes gradients of curated cases, examples and random kernels in Warp and prints the comparison;
// with --write-doc writes docs/generated/warp_differences.md instead.

#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "harness/warp_differences/differences_document.hpp"
#include "harness/warp_differences/exchange.hpp"
#include "harness/warp_differences/interpreter.hpp"
#include "harness/warp_differences/subject.hpp"

namespace {

using assay::Error;
using assay::Result;

std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

Result<std::string> document() {
  const auto interpreter = assay::warp::find_interpreter(ASSAY_SOURCE_DIR);
  if (!interpreter.ok()) return interpreter.error();
  const auto subjects = assay::warp::all_subjects(ASSAY_SOURCE_DIR);
  if (!subjects.ok()) return subjects.error();
  const auto session = assay::warp::run_in_warp(*interpreter, ASSAY_SOURCE_DIR, ASSAY_WARP_CACHE, subjects->all);
  if (!session.ok()) return session.error();
  return assay::warp::differences_document(subjects->all, *session, today());
}

Result<void> write(const std::string& text, const std::filesystem::path& path) {
  std::ofstream stream(path);
  stream << text;
  stream.close();
  if (!stream) return Error{"cannot be written", path.string()};
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kExitFailed = 1, kExitUsage = 2;
  const bool writes = argc == 2 && std::string_view(argv[1]) == "--write-doc";
  if (argc > 1 && !writes) {
    fmt::print(stderr, "usage: warp-differences [--write-doc]\n");
    return kExitUsage;
  }
  const Result<std::string> text = document();
  if (!text.ok()) {
    fmt::print(stderr, "warp-differences: {}\n", text.error().text());
    return kExitFailed;
  }
  if (!writes) {
    fmt::print("{}", *text);
    return 0;
  }
  const auto written =
      write(*text, std::filesystem::path(ASSAY_SOURCE_DIR) / "docs" / "generated" / "warp_differences.md");
  if (!written.ok()) fmt::print(stderr, "warp-differences: {}\n", written.error().text());
  return written.ok() ? 0 : kExitFailed;
}
