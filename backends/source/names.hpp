// Legal and unique identifiers for emitted code, derived from the user's names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::source {

/// `name` as a legal identifier in C++ and CUDA C++: illegal characters become '_'; keywords, predefined macros and
/// names of built-in CUDA variables get a trailing '_'.
std::string legal_identifier(std::string_view name);

/// Whether the target language defines a function with this name in the global namespace, so that user functions and
/// structs must not use it.
bool is_library_name(std::string_view name);

/// A hash table of the names that NameScopes manages. For speed (thousands of lookups per body), it consists of two
/// arrays and does not own the names' texts.
class NameTable {
 public:
  using Index = std::uint32_t;
  /// A name and how often it is in use.
  struct NameEntry {
    std::string_view name;  ///< the name
    int use_count = 0;      ///< how often the name is taken in open scopes; 0: it is free
    /// For a stem such as "x_" of the names x_0, x_1, ...: the least number that may be free; otherwise kNotNumbered.
    int next = kNotNumbered;
    std::uint32_t hash = 0;  ///< hash value of the name
  };
  static constexpr int kNotNumbered = -1;  ///< value of NameEntry::next for a name that is not a stem

  NameTable() = default;
  /// Names that are taken once. Their texts must outlive the table.
  NameTable(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
      insert(name);
  }
  /// Inserts a name that is taken.
  void insert(std::string_view name) {
    find_or_add(name, [&](std::uint32_t hash) { return NameEntry{.name = name, .use_count = 1, .hash = hash}; });
  }

  NameEntry& operator[](Index index) { return entries_[index]; }
  [[nodiscard]] std::optional<Index> find(std::string_view name) const { return find(name, hash_of(name)); }
  /// `hash` is the hash of the name from an entry of another table.
  [[nodiscard]] std::optional<Index> find(std::string_view name, std::uint32_t hash) const;
  /// The index of the name. For a new name, make(hash) must return the entry, whose text must outlive the table.
  template <class Make>
  Index find_or_add(std::string_view name, const Make& make) {
    const std::uint32_t hash = hash_of(name);
    const std::size_t slot = slot_of(name, hash);
    if (slot < name_indices_by_hash_.size() && name_indices_by_hash_[slot] != kFreeSlot)
      return name_indices_by_hash_[slot];
    return add(make(hash), slot);
  }

 private:
  static constexpr Index kFreeSlot = ~Index{0};  ///< value in name_indices_by_hash_ of a slot without a name
  static std::uint32_t hash_of(std::string_view name);
  /// The index in `name_indices_by_hash_` that contains the name or, if none does, is free; 0 in an empty table.
  [[nodiscard]] std::size_t slot_of(std::string_view name, std::uint32_t hash) const;
  Index add(const NameEntry& entry, std::size_t slot);

  std::vector<NameEntry> entries_;  ///< all names, in order of insertion; indices are never reused
  std::vector<Index>
      name_indices_by_hash_;  ///< index in entries_, by hash; the size is a power of two, at least half of it kFreeSlot
};

/// The names that are taken at the current statement, by scope. A name is free again when its scope ends.
class NameScopes {
 public:
  NameScopes() = default;
  /// `fixed` are names in use from the start; the table must outlive this object.
  explicit NameScopes(const NameTable& fixed) : fixed_names_(&fixed) {}
  NameScopes(const NameScopes&) = delete;
  NameScopes& operator=(const NameScopes&) = delete;

  void open() { scope_starts_.push_back(taken_names_.size()); }
  void close();

  /// Takes `name` unchanged in the current scope.
  void reserve(std::string_view name) { take(index_of(name)); }
  /// Takes a legal identifier similar to `name` that no open scope uses: x, x_1, x_2.
  std::string declare(std::string_view name) { return declare_legal(legal_identifier(name)); }
  /// The same for a legal name.
  std::string declare_legal(std::string_view name);

 private:
  NameTable::Index index_of(std::string_view name);
  void take(NameTable::Index name);
  void release(NameTable::Index name);

  const NameTable* fixed_names_ = nullptr;          ///< names that are taken from the start and never free; null: none
  NameTable name_table_;                            ///< all names that were looked up, including fixed names
  std::pmr::monotonic_buffer_resource name_texts_;  ///< memory of the names' texts, which is freed at once
  std::vector<NameTable::Index> taken_names_;       ///< names taken in all open scopes, in order
  std::vector<std::size_t> scope_starts_;           ///< for each inner scope: its first position in taken_names_
};

}  // namespace assay::source
