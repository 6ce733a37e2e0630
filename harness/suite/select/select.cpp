#include "harness/suite/select/select.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "conformance/cases.hpp"
#include "generators/generator.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "harness/suite/select/paths.hpp"
#include "harness/suite/select/pattern.hpp"
#include "harness/suite/select/random_kernels.hpp"
#include "harness/suite/select/suggest.hpp"
#include "support/parallel.hpp"

namespace assay::harness {
namespace {

std::string types_part(const KernelSource& source) {
  return source.module ? types_of(*source.module, source.module->kernels[source.kernel_index]) : "unknown";
}

class Selecting {
 public:
  explicit Selecting(const SelectOptions& options) : options_(options) {}

  Result<void> add(const std::string& selector) {
    const bool is_glob = is_file_glob(selector);
    if (!is_glob) {
      if (const auto file = file_selector(selector)) return add_file(*file);
    }
    if (is_glob || !names_family(selector)) {
      if (const auto files = files_of(selector)) return add_files(selector, *files);
    }
    const Result<CasePattern> pattern = CasePattern::parse(selector);
    return pattern.ok() ? add_pattern(*pattern) : pattern.error();
  }

  /// Call once after all selectors. Files without kernels are only an error if no other selector selects a kernel.
  Result<Selection> take() {
    if (selection_.kernels.empty() && empty_file_) return *std::move(empty_file_);
    return std::move(selection_);
  }

 private:
  /// Whether the selector's first component matches a family, so that it is a pattern even if a folder has its name.
  static bool names_family(const std::string& selector) {
    const Result<CasePattern> pattern = CasePattern::parse(selector);
    return pattern.ok() &&
           std::ranges::any_of(generators::families(), [&](const generators::KernelFamilyDefinition& row) {
             return pattern->matches(CaseNameComponent::kFamily, std::string(row.name));
           });
  }

  void add_kernels(KernelSet read) {
    for (KernelSource& source : read.kernels)
      add_kernel({.source = std::move(source), .modes = options_.modes});
    for (std::string& text : read.notes)
      add_note({.kind = "selection", .text = std::move(text)});
  }

  void add_note(SelectionNote note) {
    if (std::ranges::find(selection_.notes, note) == selection_.notes.end())
      selection_.notes.push_back(std::move(note));
  }

  /// Adds a file that is selected by its path.
  Result<void> add_file(const FileSelector& file) {
    if (!file.kernel.empty()) {
      Result<KernelSet> read = read_file(file);
      if (!read.ok()) return read.error();
      add_kernels(read.take());
      return {};
    }
    Result<KernelSet> read = kernels_in(file.path);
    if (!read.ok()) return read.error();
    if (read->kernels.empty()) {
      add_note({.kind = "file without kernels", .text = file.path});
      if (!empty_file_) empty_file_ = read_file(file).error();
    }
    add_kernels(read.take());
    return {};
  }

  /// The files of a folder or a glob. One that cannot be parsed is skipped with a note.
  Result<void> add_files(const std::string& selector, const std::vector<std::string>& files) {
    std::vector<std::optional<Result<KernelSet>>> read(files.size());
    for_each_index_in_parallel(files.size(), std::max(1U, std::thread::hardware_concurrency()),
                               [&](std::size_t f) { read[f] = kernels_in(files[f]); });
    bool found = false;
    for (std::size_t f = 0; f < files.size(); ++f) {
      if (!read[f]->ok()) {
        add_note({.kind = "skipped file", .text = read[f]->error().text()});
      } else if ((*read[f])->kernels.empty()) {
        add_note({.kind = "file without kernels", .text = files[f]});
      } else {
        found = true;
        add_kernels(read[f]->take());
      }
    }
    if (found) return {};
    return Error{files.empty()
                     ? "contains no file with a known suffix (.py, .ir)"
                     : fmt::format("no kernel found in {} file{}", files.size(), files.size() == 1 ? "" : "s"),
                 selector};
  }

  Result<void> add_pattern(const CasePattern& pattern) {
    if (Result<void> usable = check_parts(pattern); !usable.ok()) return usable;
    Result<std::vector<KernelSource>> candidates = candidates_of(pattern);
    if (!candidates.ok()) return candidates.error();
    bool found = false;
    for (KernelSource& source : *candidates) {
      if (!pattern.matches(CaseNameComponent::kTypes, types_part(source))) continue;
      add_kernel({.source = std::move(source),
                  .forward = pattern.matches(CaseNameComponent::kPass, "forward"),
                  .backward = pattern.matches(CaseNameComponent::kPass, "backward"),
                  .modes = modes_of(pattern)});
      found = true;
    }
    if (found) return {};
    return Error{fmt::format("no kernel matches '{}'{}; 'assay list' shows all kernels", pattern.text(),
                             did_you_mean(pattern.part(CaseNameComponent::kKernel), kernels_of(pattern)))};
  }

  /// Checks the components whose possible values are known in advance.
  Result<void> check_parts(const CasePattern& pattern) const {
    std::vector<std::string> families;
    for (const generators::KernelFamilyDefinition& row : generators::families())
      families.emplace_back(row.name);
    if (std::ranges::none_of(families,
                             [&](const auto& name) { return pattern.matches(CaseNameComponent::kFamily, name); })) {
      return Error{fmt::format("unknown family '{}'{}; expected one of {}, a file, a folder or a file pattern",
                               pattern.text(), did_you_mean(pattern.part(CaseNameComponent::kFamily), families),
                               fmt::join(families, ", "))};
    }
    if (!pattern.matches(CaseNameComponent::kDevice, options_.device)) {
      return Error{fmt::format("'{}' selects device '{}', but --device is {}", pattern.text(),
                               pattern.part(CaseNameComponent::kDevice), options_.device)};
    }
    if (!pattern.matches(CaseNameComponent::kPass, "forward") &&
        !pattern.matches(CaseNameComponent::kPass, "backward")) {
      return Error{fmt::format("'{}' selects pass '{}'; expected forward or backward", pattern.text(),
                               pattern.part(CaseNameComponent::kPass))};
    }
    if (modes_of(pattern).empty()) {
      return Error{fmt::format("'{}' selects mode '{}', but the run has '{}'", pattern.text(),
                               pattern.part(CaseNameComponent::kMode), fmt::join(options_.modes, "', '"))};
    }
    return {};
  }

  std::vector<std::string> modes_of(const CasePattern& pattern) const {
    std::vector<std::string> modes;
    std::ranges::copy_if(options_.modes, std::back_inserter(modes),
                         [&](const std::string& mode) { return pattern.matches(CaseNameComponent::kMode, mode); });
    return modes;
  }

  /// Makes one kernel.
  using Make = std::function<Result<KernelSource>()>;

  /// Adds every kernel whose family and name match.
  Result<std::vector<KernelSource>> candidates_of(const CasePattern& pattern) const {
    std::vector<Make> makes;
    for (const generators::KernelFamilyDefinition& row : generators::families()) {
      if (!pattern.matches(CaseNameComponent::kFamily, std::string(row.name))) continue;
      for (const conformance::CaseFile& curated : conformance::cases_of(row.name)) {
        if (pattern.matches(CaseNameComponent::kKernel, std::string(curated.name)))
          makes.emplace_back([&curated] { return curated_kernel(curated); });
      }
      add_random(pattern, row, makes);
    }
    std::vector<std::optional<Result<KernelSource>>> made(makes.size());
    for_each_index_in_parallel(makes.size(), std::max(1U, std::thread::hardware_concurrency()),
                               [&](std::size_t k) { made[k] = makes[k](); });
    std::vector<KernelSource> sources;
    for (std::optional<Result<KernelSource>>& source : made) {
      if (!source->ok()) return source->error();
      if (pattern.matches(CaseNameComponent::kKernel, source->value().kernel)) sources.push_back(source->take());
    }
    return sources;
  }

  void add_random(const CasePattern& pattern, const generators::KernelFamilyDefinition& row,
                  std::vector<Make>& makes) const {
    const std::string& kernel = pattern.part(CaseNameComponent::kKernel);
    if (pattern.is_literal(CaseNameComponent::kKernel)) {
      if (is_random_name(kernel))
        makes.emplace_back([name = fmt::format("{}/{}", row.name, kernel)] { return random_kernel(name); });
      return;
    }
    for (int i = 0; i < options_.random_kernels_per_family; ++i) {
      makes.emplace_back([family = row.family, number = options_.first_random_seed + static_cast<std::uint64_t>(i)] {
        return random_kernel(family, number);
      });
    }
  }

  /// The kernel names of the pattern's family, for suggestions.
  static std::vector<std::string> kernels_of(const CasePattern& pattern) {
    std::vector<std::string> names;
    for (const conformance::CaseFile& curated : conformance::cases()) {
      if (pattern.matches(CaseNameComponent::kFamily, std::string(curated.family))) names.emplace_back(curated.name);
    }
    return names;
  }

  /// Adds a kernel. A kernel that is already selected gains passes and modes; a kernel of another file with the same
  /// name gets a numbered name.
  void add_kernel(SelectedKernel kernel) {
    KernelSource& source = kernel.source;
    const std::string wanted = source.kernel;
    for (int number = 2;; ++number) {
      const auto [known, is_new] = places_.try_emplace({source.family, source.kernel}, selection_.kernels.size());
      if (is_new) break;
      SelectedKernel& other = selection_.kernels[known->second];
      if (other.source.selector == source.selector) {
        other.forward |= kernel.forward;
        other.backward |= kernel.backward;
        std::erase_if(kernel.modes, [&](const std::string& mode) {
          return std::ranges::find(other.modes, mode) != other.modes.end();
        });
        std::ranges::copy(kernel.modes, std::back_inserter(other.modes));
        return;
      }
      source.kernel = fmt::format("{}.{}", wanted, number);
    }
    selection_.kernels.push_back(std::move(kernel));
  }

  const SelectOptions& options_;
  Selection selection_;
  std::optional<Error> empty_file_;  ///< of the first file named by itself that has no kernels
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  ///< of family and kernel in the selection
};

}  // namespace

Result<Selection> select(const std::vector<std::string>& selectors, const SelectOptions& options) {
  Selecting selecting(options);
  for (const std::string& selector : selectors) {
    if (Result<void> added = selecting.add(selector); !added.ok()) return added.error();
  }
  return selecting.take();
}

}  // namespace assay::harness
