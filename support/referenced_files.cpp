#include "support/referenced_files.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/files.hpp"

namespace assay {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string_view without_leading_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
  return text;
}

/// Takes `word` and the white space before it from the start of the text. Returns whether it is there.
bool take(std::string_view& text, std::string_view word) {
  const std::string_view rest = without_leading_space(text);
  if (!rest.starts_with(word)) return false;
  text = rest.substr(word.size());
  return true;
}

/// Takes everything up to one of the characters, without leading white space.
std::string_view take_until(std::string_view& text, std::string_view characters) {
  text = without_leading_space(text);
  const std::size_t end = std::min(text.find_first_of(characters), text.size());
  return std::exchange(text, text.substr(end)).substr(0, end);
}

/// Calls use(rest) for each line, with the text from its start to the end of the file.
template <class Use>
void for_each_line(std::string_view text, Use use) {
  for (std::size_t at = 0; at < text.size();) {
    use(text.substr(at));
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
}

/// The name between <> or "" of an #include directive at the start of the text; empty if there is none.
std::string_view included_name(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  if (!take(text, "#") || !take(text, "include")) return {};
  text = without_leading_space(text);
  if (text.empty() || (text[0] != '<' && text[0] != '"')) return {};
  const std::size_t end = text.find(text[0] == '<' ? '>' : '"', 1);
  return end == std::string_view::npos ? std::string_view() : text.substr(1, end - 1);
}

/// The modules that the import statement at the start of the text may read: "a.b", ".types". In `from a import b`, b
/// may be a module of the package a.
std::vector<std::string> imported_modules(std::string_view text) {
  constexpr std::string_view kEndOfName = " \t\r\n,;#()\\";
  std::vector<std::string> modules;
  const bool is_from = take(text, "from ");
  std::string package;
  if (is_from) {
    package = take_until(text, kEndOfName);
    modules.push_back(package);
    if (!package.ends_with('.')) package += '.';
  }
  if (!take(text, "import")) return {};
  if (text.empty() || (kWhiteSpace.find(text[0]) == std::string_view::npos && text[0] != '(')) return {};
  std::string_view names = text.substr(0, text.find('\n'));
  if (take(text, "(")) names = text.substr(0, text.find(')'));
  while (!names.empty()) {
    if (const std::string_view name = take_until(names, kEndOfName); !name.empty())
      modules.push_back(package + std::string(name));
    // The rest of the name's item, such as "as c".
    names.remove_prefix(std::min(names.find_first_of(",;\n"), names.size()));
    names.remove_prefix(std::min<std::size_t>(1, names.size()));
  }
  return modules;
}

/// Adds the files of a module at a path below a folder: "core/types".
void add_module(const fs::path& folder, const std::string& below, std::vector<fs::path>& files) {
  if (fs::path file = folder / below / "__init__.py"; is_file(file)) files.push_back(std::move(file));
  if (fs::path file = folder / (below + ".py"); !below.empty() && is_file(file)) files.push_back(std::move(file));
}

std::vector<fs::path> files_of_module(const fs::path& importing_file, const std::string& module) {
  std::vector<fs::path> files;
  const std::size_t dots = std::min(module.find_first_not_of('.'), module.size());
  std::string below = module.substr(dots);
  std::ranges::replace(below, '.', '/');
  fs::path folder = importing_file.parent_path();
  if (dots > 0) {
    for (std::size_t level = 1; level < dots; ++level)
      folder = folder.parent_path();
    add_module(folder, below, files);
    return files;
  }
  for (;; folder = folder.parent_path()) {
    add_module(folder, below, files);
    if (!folder.has_relative_path()) return files;
  }
}

/// All files that `root` refers to, directly or indirectly. `references_of(file, text)`: the files that one file names.
std::vector<fs::path> reachable_files(
    const fs::path& root,
    const std::function<std::vector<fs::path>(const fs::path&, std::string_view)>& references_of) {
  std::error_code error;
  std::set<fs::path> found;
  std::vector<fs::path> open{fs::absolute(root, error).lexically_normal()};
  const fs::path start = open.front();
  while (!open.empty()) {
    const fs::path file = std::move(open.back());
    open.pop_back();
    const Result<std::string> text = read_file_text(file);
    if (!text.ok()) continue;
    for (const fs::path& reference : references_of(file, *text)) {
      fs::path normal = reference.lexically_normal();
      if (normal != start && found.insert(normal).second) open.push_back(std::move(normal));
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace

std::vector<fs::path> included_files(const fs::path& source) {
  std::error_code error;
  const fs::path folder_of_source = fs::absolute(source, error).lexically_normal().parent_path();
  return reachable_files(source, [&](const fs::path& file, std::string_view text) {
    std::vector<fs::path> files;
    for_each_line(text, [&](std::string_view rest) {
      const std::string_view name = included_name(rest);
      if (name.empty()) return;
      for (const fs::path& folder : {file.parent_path(), folder_of_source})
        if (fs::path included = folder / name; is_file(included)) files.push_back(std::move(included));
    });
    return files;
  });
}

std::vector<fs::path> imported_files(const fs::path& python_file) {
  return reachable_files(python_file, [](const fs::path& file, std::string_view text) {
    std::vector<fs::path> files;
    for_each_line(text, [&](std::string_view rest) {
      for (const std::string& module : imported_modules(rest))
        std::ranges::move(files_of_module(file, module), std::back_inserter(files));
    });
    return files;
  });
}

}  // namespace assay
