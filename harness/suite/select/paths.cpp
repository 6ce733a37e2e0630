#include "harness/suite/select/paths.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>

#include <fnmatch.h>

#include "frontend/interface/frontend.hpp"

namespace assay::harness {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAnyFolders = "**";

bool is_skipped(const fs::path& folder) {
  std::error_code error;
  const std::string name = folder.filename().string();
  return name.starts_with('.') || name == "__pycache__" || fs::exists(folder / "pyvenv.cfg", error);
}

bool has_wildcard(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

using Components = std::span<const std::string>;

/// Whether a path matches a glob, component by component.
bool matches(Components glob, Components path) {
  if (glob.empty()) return path.empty();
  if (glob.front() == kAnyFolders) {
    return matches(glob.subspan(1), path) || (!path.empty() && matches(glob, path.subspan(1)));
  }
  return !path.empty() && ::fnmatch(glob.front().c_str(), path.front().c_str(), FNM_PERIOD) == 0 &&
         matches(glob.subspan(1), path.subspan(1));
}

std::vector<std::string> components_of(const fs::path& path) {
  std::vector<std::string> components;
  for (const fs::path& component : path)
    components.push_back(component.string());
  return components;
}

/// The folder that all files of a glob lie in: its components before the first wildcard.
fs::path fixed_folder(const fs::path& glob) {
  fs::path folder;
  for (const fs::path& component : glob) {
    if (has_wildcard(component.string())) break;
    folder /= component;
  }
  return folder;
}

/// All files below a folder that a frontend can parse, sorted.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code unknown;
    if (entry->is_directory(unknown)) {
      if (is_skipped(entry->path())) entry.disable_recursion_pending();
    } else if (entry->is_regular_file(unknown) && frontend::frontend_of(entry->path().string()) != nullptr) {
      files.push_back(entry->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

bool is_file_glob(std::string_view selector) {
  std::error_code error;
  return has_wildcard(selector) && frontend::frontend_of(selector) != nullptr && !fs::exists(selector, error);
}

std::optional<std::vector<std::string>> files_of(std::string_view selector) {
  const fs::path path(selector);
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (!is_folder && !is_file_glob(selector)) return std::nullopt;
  const fs::path folder = is_folder ? path : fixed_folder(path);
  const std::vector<std::string> glob = components_of(path.lexically_relative(folder.empty() ? "." : folder));
  std::vector<std::string> files;
  for (const fs::path& file : files_below(folder.empty() ? "." : folder)) {
    if (!is_folder && !matches(glob, components_of(file.lexically_relative(folder.empty() ? "." : folder)))) continue;
    files.push_back((folder.empty() ? file.lexically_relative(".") : file).string());
  }
  return files;
}

}  // namespace assay::harness
