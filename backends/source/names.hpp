// Identifiers of the emitted code: the user's names, made legal and unique.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::source {

/// `name` as an identifier that is legal in C++ and CUDA C++: other characters become '_', keywords, predefined macros
/// and names of CUDA's own variables get a trailing '_'.
std::string legal_identifier(std::string_view name);

/// Whether the target's language defines a function of this name in the global namespace, so that a user's function or
/// struct may not have it.
bool is_library_name(std::string_view name);

/// The names in use, scope by scope. A name that an inner scope released may be taken again.
class NameScopes {
 public:
  NameScopes() : scopes_(1) {}

  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }

  /// Takes `name` as it is in the current scope.
  void reserve(std::string name) { scopes_.back().insert(std::move(name)); }
  /// A legal identifier like `name` that no open scope uses, taken in the current one: x, x_1, x_2.
  std::string declare(std::string_view name);

 private:
  bool taken(const std::string& name) const;

  std::vector<std::set<std::string>> scopes_;
};

}  // namespace assay::source
