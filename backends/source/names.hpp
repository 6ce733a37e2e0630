// Identifiers of the emitted code: the user's names, made legal and unique.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory_resource>
#include <optional>
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

/// Names with what NameScopes knows of each. A body's few hundred names are looked up by the thousand: so it is two
/// arrays, and the texts lie elsewhere.
class NameTable {
 public:
  using Index = std::uint32_t;
  struct Entry {
    std::string_view name;
    int taken = 0;         ///< how often; those that were released stay, with 0
    int next = kNotAStem;  ///< as what comes in front of a number, "x_": no smaller number is free
    std::uint32_t hash = 0;
  };
  static constexpr int kNotAStem = -1;

  NameTable() = default;
  /// Names that are taken once. Their texts outlive the table.
  NameTable(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
      insert(name);
  }
  void insert(std::string_view name) {
    find_or_add(name, [&](std::uint32_t hash) { return Entry{.name = name, .taken = 1, .hash = hash}; });
  }

  Entry& operator[](Index index) { return entries_[index]; }
  [[nodiscard]] std::optional<Index> find(std::string_view name) const { return find(name, hash_of(name)); }
  /// `hash` is the name's, as an entry of another table has it.
  [[nodiscard]] std::optional<Index> find(std::string_view name, std::uint32_t hash) const;
  /// Where the name is; for one that is new make(hash) gives the entry, with a text of the same name that lasts.
  template <class Make>
  Index find_or_add(std::string_view name, const Make& make) {
    const std::uint32_t hash = hash_of(name);
    const std::size_t place = place_of(name, hash);
    if (place < places_.size() && places_[place] != kFree) return places_[place];
    return add(make(hash), place);
  }

 private:
  static constexpr Index kFree = ~Index{0};
  static std::uint32_t hash_of(std::string_view name);
  /// The place in `places_` that holds the name or, if none does, a free one; 0 in an empty table.
  [[nodiscard]] std::size_t place_of(std::string_view name, std::uint32_t hash) const;
  Index add(const Entry& entry, std::size_t place);

  std::vector<Entry> entries_;  ///< in the order in which they came
  std::vector<Index> places_;   ///< by hash, a power of two; at least half are kFree
};

/// The names in use, scope by scope. A name that an inner scope released may be taken again.
class NameScopes {
 public:
  NameScopes() = default;
  /// `fixed` are names that are in use from the beginning; the table outlives this.
  explicit NameScopes(const NameTable& fixed) : fixed_(&fixed) {}
  NameScopes(const NameScopes&) = delete;
  NameScopes& operator=(const NameScopes&) = delete;

  void open() { starts_.push_back(taken_.size()); }
  void close();

  /// Takes `name` as it is in the current scope.
  void reserve(std::string_view name) { take(index_of(name)); }
  /// A legal identifier like `name` that no open scope uses, taken in the current one: x, x_1, x_2.
  std::string declare(std::string_view name) { return declare_legal(legal_identifier(name)); }
  /// The same of a name that is legal.
  std::string declare_legal(std::string_view name);

 private:
  NameTable::Index index_of(std::string_view name);
  void take(NameTable::Index name);
  void release(NameTable::Index name);

  const NameTable* fixed_ = nullptr;
  NameTable names_;                            ///< those that were asked for, fixed ones too
  std::pmr::monotonic_buffer_resource texts_;  ///< of the names, which all go at once
  std::vector<NameTable::Index> taken_;        ///< in the order of taking
  std::vector<std::size_t> starts_;            ///< of the inner scopes in it
};

}  // namespace assay::source
