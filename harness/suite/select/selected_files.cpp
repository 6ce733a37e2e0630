#include "harness/suite/select/selected_files.hpp"

#include <algorithm>
#include <optional>

#include "frontend/interface/frontend.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "harness/suite/select/paths.hpp"
#include "harness/suite/select/source_files.hpp"

namespace assay::harness {

std::vector<std::string> selected_files(std::span<const std::string> selectors) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& file) {
    if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  };
  for (const std::string& selector : selectors) {
    if (const std::optional<std::vector<std::string>> several = files_of(selector)) {
      std::ranges::for_each(*several, add);
    } else if (const std::optional<FileSelector> one = file_selector(selector)) {
      add(one->path);
    }
  }
  const std::vector<std::string> named = files;
  const frontend::ModuleFinder finder = module_finder();
  for (const std::string& file : named) {
    const frontend::LanguageFrontend* const language = frontend::frontend_of(file);
    if (language == nullptr) continue;
    const Result<std::string> text = source_file_contents(file, *language);
    if (!text.ok()) continue;
    const auto add_found = [&](const std::string& importing_file, const std::string& module) {
      std::optional<frontend::ModuleSource> found = finder(importing_file, module);
      if (found) add(found->file_name);
      return found;
    };
    (void)language->parse(*text, file, add_found);
  }
  return files;
}

}  // namespace assay::harness
