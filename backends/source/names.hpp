// Identifiers of the emitted code: the user's names, made legal and unique.
#pragma once

#include <cstddef>
#include <functional>
#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/support/text_hash.hpp"

namespace assay::source {

/// `name` as an identifier that is legal in C++ and CUDA C++: other characters become '_', keywords, predefined macros
/// and names of CUDA's own variables get a trailing '_'.
std::string legal_identifier(std::string_view name);

/// Whether the target's language defines a function of this name in the global namespace, so that a user's function or
/// struct may not have it.
bool is_library_name(std::string_view name);

/// Names that are kept elsewhere.
using FixedNames = std::unordered_set<std::string_view>;

/// The names in use, scope by scope. A name that an inner scope released may be taken again.
class NameScopes {
 public:
  NameScopes() = default;
  /// `fixed` are names that are in use from the beginning; the set outlives this.
  explicit NameScopes(const FixedNames& fixed) : fixed_(&fixed) {}
  NameScopes(const NameScopes&) = delete;
  NameScopes& operator=(const NameScopes&) = delete;

  void open() { starts_.push_back(taken_.size()); }
  void close();

  /// Takes `name` as it is in the current scope.
  void reserve(std::string_view name) { take(entry(name)); }
  /// A legal identifier like `name` that no open scope uses, taken in the current one: x, x_1, x_2.
  std::string declare(std::string_view name) { return declare_legal(legal_identifier(name)); }
  /// The same of a name that is legal.
  std::string declare_legal(std::string_view name);

 private:
  using Numbers = std::pmr::unordered_map<std::pmr::string, int, TextHash, std::equal_to<>>;

  /// The name with how often it is taken.
  Numbers::value_type& entry(std::string_view name);
  void take(Numbers::value_type& name);
  void release(Numbers::value_type& name);

  const FixedNames* fixed_ = nullptr;
  /// Of the names, which all go at once.
  std::pmr::monotonic_buffer_resource memory_{8192};
  /// How often each name is taken, a fixed one once more; those that were released stay, with 0.
  Numbers counts_{&memory_};
  std::vector<Numbers::value_type*> taken_;  ///< in the order of taking
  std::vector<std::size_t> starts_;          ///< of the inner scopes in it
  /// By what comes in front of a number, "x_": no smaller number is free.
  Numbers numbers_{&memory_};
};

}  // namespace assay::source
