// One file being read: its top-level names, its functions, and what was found wrong.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/module_scope.hpp"
#include "frontend/reader.hpp"
#include "frontend/syntax.hpp"

namespace assay::frontend {

/// A function or kernel of the file, and how far it has been read.
struct FunctionEntry {
  enum class State : std::uint8_t { kUnread, kReading, kRead, kFailed };

  Node definition;     ///< `def ...`, without the decorators
  int first_line = 0;  ///< of the decorators
  std::string name;
  bool is_kernel = false;
  std::string refusal;  ///< why it is not even tried; empty if it is
  State state = State::kUnread;
  int index = -1;            ///< of a function that has been read: its place in Module::functions
  bool is_wanted = false;    ///< something that was read, or tried, mentions it
  bool has_effects = false;  ///< it changes arrays, itself or through what it calls
  std::vector<std::string> parameters;
  std::map<std::string, Constant, std::less<>> defaults;
};

class FileReader {
 public:
  FileReader(const SyntaxTree& tree, ReadFile& result) : tree_(tree), result_(result), scope_(result.module) {}

  /// Fails if the text is broken so that no definition is left.
  Result<void> read();

  // ---- for the function being read
  const ModuleScope& scope() const { return scope_; }
  ir::Module& module() { return result_.module; }
  bool defines(std::string_view name) const { return by_name_.contains(name); }
  /// The functions of this name (several are overloads), read as far as possible. Empty if there is none.
  std::vector<FunctionEntry*> functions(std::string_view name);
  void report(Diagnostic diagnostic);
  /// The place in Module::functions of a function that the reader brings along, made when it is first asked for.
  std::int32_t library_function(std::string_view name, ir::Function (*make)(const ir::Module&));

 private:
  void collect(Node statement, bool is_sound);
  void collect_decorated(Node decorated, bool is_sound);
  /// Looks for kernels and names where the reader cannot follow: in functions, classes and conditions.
  void collect_unread(Node node, std::string_view where);
  FunctionEntry& add_entry(Node decorated, bool is_kernel);
  void refuse(FunctionEntry& entry, std::string reason);
  void read_entry(FunctionEntry& entry);
  void drop_invalid_kernels();
  void soften_unwanted();
  void declare_all();
  /// What a decorator of Warp makes of the definition: "kernel", "func", "struct", "overload"; empty for none.
  std::string warp_decorator(Node decorated) const;

  const SyntaxTree& tree_;
  ReadFile& result_;
  ModuleScope scope_;
  std::deque<FunctionEntry> entries_;  ///< in the order of the file
  std::map<std::string_view, std::vector<FunctionEntry*>> by_name_;
  std::map<std::string, std::int32_t, std::less<>> library_;  ///< name to place in Module::functions
};

/// Reads the definition into module(), or reports why not. Sets the entry's state, index and effects.
void read_function(FileReader& file, FunctionEntry& entry);

}  // namespace assay::frontend
