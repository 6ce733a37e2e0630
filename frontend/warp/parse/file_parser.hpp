// A file being read: its top-level names, its functions, what it takes of other files, and what was found wrong.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/warp/parse/environment.hpp"
#include "frontend/warp/parse/inferred_types.hpp"
#include "frontend/warp/parse/module_scope.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "frontend/warp/syntax/syntax.hpp"

namespace assay::frontend {

/// A function or kernel of the file, and how far it has been read. One that is read for each way of calling it has an
/// entry for each of these too.
struct FunctionEntry {
  enum class State : std::uint8_t { kUnread, kReading, kRead, kFailed };

  Node definition;                    ///< `def ...`, without the decorators
  const Environment* home = nullptr;  ///< where it finds what it names
  int first_line = 0;                 ///< of the decorators
  std::string name;
  bool is_kernel = false;
  bool is_turned = false;   ///< read a second time, with truth values turned over that nothing gives
  bool is_dropped = false;  ///< such a one, as unreadable as the first time
  std::string rejection;    ///< why it is not even tried; empty if it is
  std::string failure;      ///< why it could not be read, with the place, be it in a function that it calls
  State state = State::kUnread;
  int index = -1;                ///< of a function that has been read: its place in Module::functions
  bool is_listed = false;        ///< a call may name it
  bool is_wanted = false;        ///< something that was read, or tried, mentions it
  bool has_effects = false;      ///< it changes arrays, itself or through what it calls
  bool asks_for_thread = false;  ///< it calls wp.tid()
  std::vector<std::string> parameters;
  std::vector<ir::Type> types;  ///< of the parameters, once read
  std::map<std::string, Constant, std::less<>> defaults;
  /// The function whose gradient or replay this is; null for all others.
  FunctionEntry* gradient_of = nullptr;
  FunctionEntry* replay_of = nullptr;

  bool is_generic = false;   ///< the annotations leave some type to the call
  std::vector<Given> given;  ///< by parameter; empty: what the annotations say
  std::vector<FunctionEntry*> instances = {};
  bool has_assumptions = false;  ///< as in Declaration
  std::string overload;          ///< likewise
};

class FileReader {
 public:
  /// `result` has the file's name and lines. All three outlive the reader.
  FileReader(const SyntaxTree& tree, ParsedFile& result, const ModuleFinder& finder)
      : tree_(tree), result_(result), finder_(finder) {
    loaded_.emplace(result.module.source_name,
                    &environments_.emplace_back(result.module, result.module.source_name, false));
  }

  /// Fails if the text is broken so that no definition is left.
  Result<void> read();

  // ---- for the function being read
  ir::Module& module() { return result_.module; }
  const ir::Module& module() const { return result_.module; }
  /// The functions of this name that the environment sees; null if there is none.
  static const std::vector<FunctionEntry*>* find(const Environment& home, std::string_view name);
  /// The same (several are overloads), read as far as possible. Empty if there is none.
  std::vector<FunctionEntry*> functions(const Environment& home, std::string_view name);
  /// The function read for this way of calling it. Null where there are too many ways.
  FunctionEntry* instance(FunctionEntry& entry, std::vector<Given> given);
  void report(Diagnostic diagnostic);
  /// The place in Module::functions of a function that the reader brings along, made when it is first asked for.
  std::int32_t library_function(std::string_view name, ir::Function (*make)(const ir::Module&));

 private:
  struct Custom {
    FunctionEntry* entry = nullptr;
    std::string function;  ///< its argument's name
    bool is_gradient = false;
  };

  void collect_file(Node root, Environment& home);
  void collect(Node statement, bool is_sound, Environment& home);
  void collect_assignment(Node assignment, Environment& home);
  void collect_decorated(Node decorated, bool is_sound, Environment& home);
  void collect_struct(Node definition, bool is_sound, Environment& home);
  /// Looks for kernels and names where the reader cannot follow: in functions, classes and conditions.
  void collect_unread(Node node, std::string_view where, Environment& home);
  FunctionEntry& add_entry(Node decorated, bool is_kernel, const Environment& home);
  void reject(FunctionEntry& entry, std::string reason);
  /// Reads a kernel, and all instances of a generic one.
  void read_kernel(FunctionEntry& kernel);
  /// Whether a kernel that was read a second time could not be read the first time, with other truth values.
  bool failed_before(const FunctionEntry& kernel) const;
  /// Tells of the values that the reader chose for what the kernel's surroundings leave open.
  void note_assumptions(FunctionEntry& kernel);
  void read_entry(FunctionEntry& entry);
  void make_name_unique(FunctionEntry& kernel);
  /// The defaults of a function that is not read by itself.
  static void find_defaults(FunctionEntry& entry);
  void collect_custom(Node decorated, std::string_view decorator, bool is_sound, Environment& home);
  /// Reads what the file says of the function's derivative. A function of which that cannot be read has failed.
  void read_customs(FunctionEntry& entry);
  void reject_unmatched_customs();
  void reject_if_unmatched(Custom& custom);
  bool takes_parameters_of(const FunctionEntry& custom, const FunctionEntry& entry) const;
  void drop_invalid_kernels();
  void soften_unwanted();
  void declare_all();
  /// What a decorator of Warp makes of the definition: "kernel", "func", "struct", "overload"; empty for none.
  static std::string warp_decorator(Node decorated, const Environment& home);

  // imports.cpp: what other files define
  void collect_import(Node statement, Environment& home);
  void name_module(const std::string& name, const ModuleScope::FileModule& module, Environment& home);
  /// Gives a name the meaning that `original` has in the module.
  void import_name(const std::string& name, const ModuleScope::FileModule& from, const std::string& original,
                   Environment& home);
  /// The top level of a module's file, read if it was not yet. Null if there is none.
  Environment* load(const ModuleScope::FileModule& module);
  /// The file, parsed, and an empty top level for it.
  Environment* open(const ModuleText& text);

  // factories.cpp: Python functions that make kernels
  /// Follows `targets = call` if it calls such a function. False if it does not, or if what it does is not known.
  bool call_factory(Node call, std::span<const Node> targets, Environment& home);
  bool bind_parameters(Node definition, Node call, Environment& inner, const Environment& from);
  /// Follows the statements to the first return, which it gives; null if there is none.
  Node run_factory(Node block, Environment& inner);
  void bind_result(std::string_view target, Node value, const Environment& inner, Environment& home);
  /// Notes a Python function or method that may define kernels.
  void add_uncalled(Node definition, Environment& home);
  /// What Python functions and methods that no known call reaches define.
  void collect_uncalled();
  /// Gives the parameters of a Python function their defaults, or usual values of their types; those of which neither
  /// is known stay unknown. Returns the truth values among them that the function uses.
  std::vector<std::string_view> bind_usual_arguments(Node definition, bool turn_flags, Environment& inner);
  /// All names in the functions of Warp that are defined in it.
  const std::set<std::string_view>& names_in_functions(const Environment& home);
  /// Whether the definition was collected before, and the flags that have been turned over since do not matter to it.
  bool is_repeated(Node definition) const;

  // instances.cpp: generic functions and kernels
  /// wp.overload(kernel, types), as a statement or assigned to a name. False if it is no such call.
  bool collect_overload(Node call, std::string_view target, Environment& home);
  /// @wp.overload def kernel(x: wp.array(dtype=float)): ...
  void collect_overload_stub(Node definition, Environment& home);
  void add_overload(FunctionEntry& kernel, std::vector<Given> given, std::string name);
  std::vector<Node> annotations_of(const FunctionEntry& entry) const;

  // assumed_types.cpp: generic kernels of which nothing says the types
  /// Reads the kernel for the first of the usual types that its body takes, or refuses it.
  void assume_types(FunctionEntry& kernel);
  /// Parameters of these types, in Python's spelling; empty if one is no type.
  std::vector<Given> types_spelt(const std::vector<std::string>& annotations, const Environment& home);

  struct Uncalled {
    Node definition;
    Environment* home = nullptr;
    std::vector<std::string_view> turned_flags = {};  ///< when it was found
    bool is_called = false;
  };

  const SyntaxTree& tree_;
  ParsedFile& result_;
  const ModuleFinder& finder_;
  std::deque<Environment> environments_;  ///< the file's top level first
  std::deque<SyntaxTree> imported_trees_;
  std::size_t imported_bytes_ = 0;
  std::map<std::string, Environment*, std::less<>> loaded_;              ///< by the file's name; null: not readable
  std::map<std::pair<std::string, std::string>, Environment*> modules_;  ///< by importing file and module
  bool is_loading_ = false;                                              ///< the top level of an imported file
  std::deque<FunctionEntry> entries_;                                    ///< in the order of the file
  std::deque<FunctionEntry> imported_entries_;                           ///< of other files
  std::deque<FunctionEntry> instances_;
  std::vector<Custom> customs_;
  std::deque<Uncalled> factories_;
  std::optional<SyntaxTree> usual_arguments_;
  std::vector<std::string_view> turned_flags_;
  std::map<const Environment*, std::set<std::string_view>> names_in_functions_;
  /// What has been collected, by Node::id() of its definition: the first entry of it, null for Python functions.
  std::map<const void*, const FunctionEntry*> made_;
  int factory_depth_ = 0;
  int factory_calls_ = 0;
  std::map<std::string, int, std::less<>> kernel_names_;      ///< those taken, with the number to try next
  std::map<std::string, std::int32_t, std::less<>> library_;  ///< name to place in Module::functions
};

/// Reads the definition into module(), or reports why not. Sets the entry's state, index and effects.
void read_function(FileReader& file, FunctionEntry& entry);

}  // namespace assay::frontend
