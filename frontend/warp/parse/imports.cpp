// The part of WarpFileParser that resolves imports of other files. A file is loaded when one of its names is first
// used, and each of its definitions is parsed on first use, because a package may import much of itself in each of its
// files.
#include <utility>

#include <fmt/format.h>

#include "frontend/warp/parse/file_parser.hpp"
#include "frontend/warp/syntax/source_text.hpp"
#include "ir/source_location.hpp"

namespace assay::frontend {

void WarpFileParser::collect_import(SyntaxNode statement, Environment& home) {
  const SyntaxNode module = statement.part(SyntaxField::kModuleName);
  const bool is_from = statement.is(SyntaxKind::kImportFrom);
  if (!module_finder_ || !is_from || module.text() == "warp") home.scope.add_import(statement);
  if (!module_finder_ || module.text() == "warp") return;
  for (const SyntaxNode item : statement.children()) {
    if (item.id() == module.id()) continue;
    const bool is_renamed = item.is(SyntaxKind::kAliasedImport);
    const std::string original(is_renamed ? item.part(SyntaxField::kName).text() : item.text());
    const std::string name(is_renamed ? item.part(SyntaxField::kAlias).text() : item.text());
    home.functions.erase(name);  // the later definition wins
    if (is_from) {
      home.scope.defer(name, [this, name, original, from = std::string(module.text()), &home] {
        import_name(name, {.importing_file = home.file, .module = from}, original, home);
      });
    } else if (original != "warp" && original != "math" && original != "numpy") {
      name_module(name, {.importing_file = home.file, .module = original}, home);
    }
  }
}

void WarpFileParser::name_module(const std::string& name, const ModuleScope::FileModule& module, Environment& home) {
  home.scope.add_module(name, module, [this, module, &home](const std::string& whole, const std::string& member) {
    import_name(whole, module, member, home);
  });
}

void WarpFileParser::import_name(const std::string& name, const ModuleScope::FileModule& from,
                                 const std::string& original, Environment& home) {
  const Environment* file = load(from);
  if (file != nullptr) {
    if (const auto* functions = find(*file, original)) {
      home.functions.insert_or_assign(name, *functions);
      return;
    }
    if (const ModuleScope::FileModule* module = file->scope.file_module(original)) {
      return name_module(name, *module, home);
    }
    if (home.scope.adopt(name, file->scope, original)) return;
    if (const std::string why = file->scope.reason_unknown(original); !why.empty()) {
      return home.scope.mark_unknown(name, fmt::format("in {}, {}", file->file, why));
    }
  }
  // A name that a package does not define may be one of its modules.
  const ModuleScope::FileModule inner{.importing_file = from.importing_file,
                                      .module = from.module + (from.module.ends_with('.') ? "" : ".") + original};
  if (load(inner) != nullptr) return name_module(name, inner, home);
  const auto error = import_errors_.find({from.importing_file, from.module});
  home.scope.mark_unknown(
      name, file == nullptr ? fmt::format("the name is imported from module '{}', which could not be loaded{}",
                                          from.module, error == import_errors_.end() ? "" : ": " + error->second)
                            : fmt::format("the file {} does not define this name", file->file));
}

Environment* WarpFileParser::load(const ModuleScope::FileModule& module) {
  const std::pair key(module.importing_file, module.module);
  if (const auto known = environments_by_import_.find(key); known != environments_by_import_.end())
    return known->second;
  std::optional<ModuleSource> text = module_finder_(module.importing_file, module.module);
  Environment* home = nullptr;
  const auto loaded = text ? environments_by_file_name_.find(text->file_name) : environments_by_file_name_.end();
  const bool is_new = text && loaded == environments_by_file_name_.end();
  if (loaded != environments_by_file_name_.end()) home = loaded->second;
  if (is_new) {
    const Result<Environment*> opened = open(*text);
    home = opened.value_or(nullptr);
    if (!opened.ok()) import_errors_.emplace(key, in_file(opened.error(), text->file_name).text());
  }
  environments_by_import_.emplace(key, home);
  if (!is_new) return home;
  environments_by_file_name_.emplace(std::move(text->file_name), home);
  if (home == nullptr) return nullptr;
  // Register it first, so that circular imports find it.
  const bool was_loading = std::exchange(is_loading_import_, true);
  collect_file(imported_trees_.back().root(), *home);
  is_loading_import_ = was_loading;
  return home;
}

Result<Environment*> WarpFileParser::open(const ModuleSource& text) {
  ir::Module& module = result_.module;
  if (imported_trees_.size() >= kMaxImportedFiles)
    return Error{fmt::format("more than {} files are imported", kMaxImportedFiles)};
  if (text.text.size() > kMaxImportedBytes - imported_bytes_)
    return Error{fmt::format("the imported files have more than {} bytes", kMaxImportedBytes)};
  const auto source = check_source(text.text);
  if (!source.ok()) return source.error();
  imported_bytes_ += text.text.size();
  const auto lines_before = static_cast<std::int32_t>(module.source_lines.size());
  auto tree = SyntaxTree::parse(std::string(*source), lines_before);
  if (!tree.ok()) return tree.error();
  imported_trees_.push_back(tree.take());
  for (std::string& line : ir::split_lines(*source))
    module.source_lines.push_back(std::move(line));
  module.imported_files.push_back({.name = text.file_name, .preceding_line_count = lines_before});
  return &environments_.emplace_back(module, text.file_name, true);
}

}  // namespace assay::frontend
