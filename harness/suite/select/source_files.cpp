#include "harness/suite/select/source_files.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "support/hash.hpp"

namespace assay::harness {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackageFile = "__init__.py";

/// The parent of a folder, which may be relative: "", "..".
fs::path around(const fs::path& folder) { return (folder / "..").lexically_normal(); }

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// Largest nesting depth of packages.
constexpr int kDeepest = 64;

/// The root of absolute imports for files of a folder: the parent of the outermost package.
fs::path root_of(fs::path folder) {
  for (int level = 0; level < kDeepest && is_file(folder / kPackageFile); ++level)
    folder = around(folder);
  return folder;
}

/// The parent of the nearest folder with this name, among the folder itself and its ancestors. Empty if there is none.
std::optional<fs::path> around_named(fs::path folder, std::string_view name) {
  std::error_code error;
  fs::path whole = fs::absolute(folder, error).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  for (int level = 0; level < kDeepest && whole.has_relative_path(); ++level) {
    folder = around(folder);
    if (whole.filename() == name) return folder;
    whole = whole.parent_path();
  }
  return std::nullopt;
}

/// The file of the module at the path `below` a folder: "core/types".
std::optional<fs::path> file_in(const fs::path& folder, const std::string& below) {
  const fs::path path = folder / below;
  if (fs::path file = path / kPackageFile; is_file(file)) return file;
  if (fs::path file = path.string() + ".py"; !below.empty() && is_file(file)) return file;
  return std::nullopt;
}

std::optional<frontend::ModuleSource> find(const std::string& importing_file, const std::string& module) {
  const std::size_t dots = std::min(module.find_first_not_of('.'), module.size());
  const fs::path own = fs::path(importing_file).parent_path();
  fs::path folder = dots == 0 ? root_of(own) : own;
  for (std::size_t level = 1; level < dots; ++level)
    folder = around(folder);
  std::string below = module.substr(dots);
  std::ranges::replace(below, '.', '/');
  std::optional<fs::path> file = file_in(folder, below);
  if (!file && dots == 0) {
    const auto outer = around_named(own, std::string_view(below).substr(0, below.find('/')));
    if (outer) file = file_in(*outer, below);
  }
  const Result<std::string> text =
      file ? source_file_contents(file->string(), frontend::frontends().front()) : Error{"no such module"};
  if (!text.ok()) return std::nullopt;
  return frontend::ModuleSource{.file_name = file->lexically_normal().string(), .text = *text};
}

}  // namespace

Result<std::string> source_file_contents(const std::string& path, const frontend::LanguageFrontend& language) {
  const auto reject = [&](const std::string& why) {
    return Error{fmt::format("cannot be read: {}; expected {}", why, language.file_description), path};
  };
  std::error_code error;
  if (fs::is_directory(path, error)) return reject("the path is a folder");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream.is_open()) return reject(std::generic_category().message(errno));
  std::string text(language.max_source_bytes + 1, '\0');  // a device file may be endless
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return reject(std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

std::vector<std::string> changed_origins(std::string_view text) {
  constexpr std::string_view kFile = "# file: ";
  constexpr std::string_view kHash = " sha256 ";
  std::vector<std::string> changed;
  while (text.starts_with(kFile)) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t middle = line.rfind(kHash);
    if (middle == std::string_view::npos || middle < kFile.size()) break;
    const std::string path(line.substr(kFile.size(), middle - kFile.size()));
    std::ifstream stream(path, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(stream), {}};
    if (stream.is_open() && sha256_hex(content) != line.substr(middle + kHash.size())) changed.push_back(path);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return changed;
}

frontend::ModuleFinder module_finder() { return find; }

}  // namespace assay::harness
