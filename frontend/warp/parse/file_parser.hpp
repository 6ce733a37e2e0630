// A file being parsed: its top-level names, functions, imports and diagnostics.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/warp/parse/environment.hpp"
#include "frontend/warp/parse/hidden_parameters.hpp"
#include "frontend/warp/parse/inferred_types.hpp"
#include "frontend/warp/parse/module_scope.hpp"
#include "frontend/warp/parse/reader.hpp"
#include "frontend/warp/syntax/syntax.hpp"

namespace assay::frontend {

/// A function or kernel of the file and its parsing state. A generic function has an additional entry for each
/// instance.
struct SourceFunction {
  enum class State : std::uint8_t { kUnparsed, kParsing, kParsed, kFailed };

  SyntaxNode definition;                     ///< the `def` statement, without decorators
  const Environment* environment = nullptr;  ///< environment in which its names are looked up
  int first_line = 0;                        ///< line of the first decorator or, without decorators, of the definition
  std::string name;                          ///< name of the function or of the instance
  bool is_kernel = false;                    ///< whether it is a kernel
  /// Whether it is the second variant of a kernel, for which assumed bool arguments are inverted.
  bool is_inverted_bool_variant = false;
  /// Whether it is a second variant that is rejected for the same reason as the first.
  bool is_redundant_variant = false;
  std::string reason_not_parsed;                          ///< reason for not trying to parse it; empty if it is parsed
  std::optional<std::string> native_code = std::nullopt;  ///< the C++ code of a native function; otherwise nullopt
  std::string rejection_reason;          ///< why it was rejected, and where; the location may be in a called function
  State parse_state = State::kUnparsed;  ///< progress of parsing
  int function_index = -1;               ///< index in Module::functions after parsing; -1: none
  bool is_callable = false;              ///< whether calls may refer to it by name
  bool is_referenced = false;            ///< whether other code refers to it, even if that code was rejected
  bool has_side_effects = false;         ///< whether it or a function that it calls changes arrays
  bool uses_thread_index = false;        ///< whether it calls wp.tid()
  /// The parameters that the source does not have, for itself and for the functions that it calls by name. Empty until
  /// the body is searched.
  std::optional<HiddenParameters> hidden_parameters = std::nullopt;
  std::vector<std::string> parameter_names;  ///< names of the parameters
  std::vector<ir::Type> parameter_types;     ///< types of the parameters; empty until they are parsed
  /// Numbers of the parameters that are passed by reference (wp.ref). The final values of these parameters are the last
  /// results of the function.
  std::vector<std::size_t> reference_parameters;
  std::map<std::string, Constant, std::less<>> default_arguments;  ///< default arguments, by parameter name
  /// The function whose gradient or replay this is; null for all others.
  SourceFunction* differentiated_function = nullptr;  ///< the function whose gradient this is; null: not a gradient
  SourceFunction* replayed_function = nullptr;        ///< the function whose replay this is; null: not a replay

  bool is_generic = false;  ///< whether the types of some parameters depend on the call
  /// For an instance: properties of each argument; empty: the types are as annotated.
  std::vector<ArgumentSpec> argument_specs;
  std::vector<SourceFunction*> generic_instances = {};  ///< for a generic function: its instances
  bool has_assumptions = false;                         ///< see FunctionDeclaration::has_assumptions
  std::string suggested_overload;                       ///< see FunctionDeclaration::suggested_overload
};

/// Parses one file and the files that it imports.
class WarpFileParser {
 public:
  /// `result` has the file's name and lines. All three outlive the reader.
  WarpFileParser(const SyntaxTree& tree, ParsedFile& result, const ModuleFinder& finder)
      : tree_(tree), result_(result), module_finder_(finder) {
    environments_by_file_name_.emplace(result.module.source_name,
                                       &environments_.emplace_back(result.module, result.module.source_name, false));
  }

  /// Fails if a kernel or function of the file has a syntax error, or if syntax errors leave no definition.
  Result<void> read();

  // ---- for the function being read
  ir::Module& module() { return result_.module; }
  const ir::Module& module() const { return result_.module; }
  /// The functions of this name visible in the environment; null if there is none.
  static const std::vector<SourceFunction*>* find(const Environment& home, std::string_view name);
  /// The functions of this name visible in the environment, parsed as far as possible; several are overloads. Empty if
  /// there is none.
  std::vector<SourceFunction*> functions(const Environment& home, std::string_view name);
  /// The instance of the function for these arguments. Null if there are too many instances.
  SourceFunction* instance(SourceFunction& entry, std::vector<ArgumentSpec> given);
  /// Determines SourceFunction::hidden_parameters.
  static HiddenParameters hidden_parameters(SourceFunction& entry);
  void report(Diagnostic diagnostic);  ///< appends a diagnostic to the result
  /// The index in Module::functions of a function that the parser provides, created on first use.
  std::int32_t library_function(std::string_view name, const std::function<ir::Function(const ir::Module&)>& make);

 private:
  /// A function with the decorator wp.func_grad or wp.func_replay.
  struct CustomDerivative {
    SourceFunction* entry = nullptr;  ///< function that defines the derivative
    std::string function;             ///< name of the function that it belongs to
    bool is_gradient = false;         ///< whether it is the gradient of that function; otherwise its replay
  };

  void collect_file(SyntaxNode root, Environment& home);
  void mark_rebound_names(SyntaxNode block, Environment& home);
  /// The functions that the expression `name` or `module.name` stands for; null if there is none.
  static const std::vector<SourceFunction*>* named_functions(const Environment& home, SyntaxNode value);
  static bool alias_functions(std::string_view name, SyntaxNode value, Environment& home);
  static void forget_functions(std::string_view name, Environment& home);
  void collect(SyntaxNode statement, bool is_sound, Environment& home);
  void collect_assignment(SyntaxNode assignment, Environment& home);
  void collect_decorated(SyntaxNode decorated, bool is_sound, Environment& home);
  bool have_same_types(const SourceFunction& a, const SourceFunction& b, std::size_t count) const;
  void drop_replaced(SourceFunction& earlier, const SourceFunction& later);
  void take_native_code(SyntaxNode decorated, SourceFunction& entry);
  void collect_struct(SyntaxNode definition, bool is_sound, Environment& home);
  /// Collects kernels and names in code that is not evaluated: functions, classes and conditions.
  void collect_unsupported(SyntaxNode node, std::string_view where, Environment& home);
  SourceFunction& add_entry(SyntaxNode decorated, bool is_kernel, const Environment& home);
  void reject(SourceFunction& entry, std::string reason);  ///< marks as failed and reports the reason
  /// Parses a kernel, and all instances of a generic one.
  void parse_kernel(SourceFunction& kernel);
  /// Whether the first variant of this kernel, with the original bools, was rejected.
  bool failed_before(const SourceFunction& kernel) const;
  /// Reports the values assumed for the arguments of the enclosing factory.
  void note_assumptions(SourceFunction& kernel);
  void parse_entry(SourceFunction& entry);        ///< parses a function on first use
  void make_name_unique(SourceFunction& kernel);  ///< appends a number if the name is taken
  /// Evaluates the default arguments of a function.
  static void find_defaults(SourceFunction& entry);
  void collect_custom_derivative(SyntaxNode decorated, std::string_view decorator, bool is_sound, Environment& home);
  /// Parses the custom gradient and replay of the function. The function fails if these are rejected.
  void parse_custom_derivatives(SourceFunction& entry);
  void reject_unmatched_customs();  ///< rejects derivatives without a function
  void reject_if_unmatched(CustomDerivative& custom);
  bool takes_parameters_of(const SourceFunction& custom, const SourceFunction& entry) const;
  void drop_invalid_kernels();        ///< removes kernels that the verifier rejects
  void demote_unreferenced_errors();  ///< reports rejections of functions that no code uses as notes
  void declare_all();                 ///< fills ParsedFile::declarations
  /// The Warp decorator of the definition: "kernel", "func", "struct", "overload"; empty for none.
  static std::string warp_decorator(SyntaxNode decorated, const Environment& home);

  // imports.cpp: definitions of other files
  void collect_import(SyntaxNode statement, Environment& home);
  void name_module(const std::string& name, const ModuleScope::FileModule& module, Environment& home);
  /// Gives `name` the meaning that `original` has in the module `from`.
  void import_name(const std::string& name, const ModuleScope::FileModule& from, const std::string& original,
                   Environment& home);
  /// The top level of a module's file, parsed on first use. Null if there is none or if it cannot be parsed.
  Environment* load(const ModuleScope::FileModule& module);
  /// The file, parsed, and an empty top level for it.
  Result<Environment*> open(const ModuleSource& text);

  // factories.cpp: kernel factories
  /// Evaluates `targets = call` if it calls a factory. False if it does not, or if the result is not known.
  bool call_factory(SyntaxNode call, std::span<const SyntaxNode> targets, Environment& home);
  bool bind_parameters(SyntaxNode definition, SyntaxNode call, Environment& inner, const Environment& from);
  /// Evaluates the statements up to the first return, which is the result; null if there is none.
  SyntaxNode run_factory(SyntaxNode block, Environment& inner);
  void bind_result(std::string_view target, SyntaxNode value, const Environment& inner, Environment& home);
  /// Records a Python function or method that may define kernels.
  void add_uncalled(SyntaxNode definition, Environment& home);
  /// Collects the definitions of factories without a known call.
  void collect_uncalled();
  /// Binds the parameters of a factory to their defaults, or to typical values of their types; others stay unknown.
  /// Returns the bool parameters that the function uses.
  std::vector<std::string_view> bind_assumed_arguments(SyntaxNode definition, bool invert_flags, Environment& inner);
  /// All names that occur in the Warp functions defined in the environment.
  const std::set<std::string_view>& names_in_functions(const Environment& home);
  /// Whether the definition was collected before and does not depend on the flags inverted since.
  bool is_repeated(SyntaxNode definition) const;

  // instances.cpp: generic functions and kernels
  /// wp.overload(kernel, types), as a statement or assigned to a name. False for any other call.
  bool collect_overload(SyntaxNode call, std::string_view target, Environment& home);
  /// @wp.overload def kernel(x: wp.array(dtype=float)): ...
  void collect_overload_stub(SyntaxNode definition, Environment& home);
  void add_overload(SourceFunction& kernel, std::vector<ArgumentSpec> given, std::string name);
  std::vector<SyntaxNode> annotations_of(const SourceFunction& entry) const;

  // default_types.cpp: generic kernels without an overload
  /// Instantiates the kernel with the first of the common types that its body supports, or rejects it.
  void assume_types(SourceFunction& kernel);
  /// Parameters of these types, in Python syntax; empty if one is not a type.
  std::vector<ArgumentSpec> parse_types(const std::vector<std::string>& annotations, const Environment& home);

  /// A Python function or method that may define kernels and may never be called in the file.
  struct UncalledFactory {
    SyntaxNode definition;               ///< the `def` statement
    Environment* environment = nullptr;  ///< environment of the definition
    std::vector<std::string_view> inverted_bool_parameters =
        {};                  ///< value of inverted_bool_parameters_ when the factory was found
    bool is_called = false;  ///< whether a call with known arguments was evaluated
  };

  const SyntaxTree& tree_;                 ///< syntax tree of the file
  ParsedFile& result_;                     ///< result of parsing, with the module, diagnostics and declarations so far
  const ModuleFinder& module_finder_;      ///< finds the files of imported modules
  std::deque<Environment> environments_;   ///< all environments; the first is the file's top level
  std::deque<SyntaxTree> imported_trees_;  ///< syntax trees of the imported files
  std::size_t imported_bytes_ = 0;         ///< total size of the imported files
  std::map<std::string, Environment*, std::less<>>
      environments_by_file_name_;  ///< environment of each file's top level, by file name; null: not readable
  /// Environment of each imported file's top level, by importing file and module name; null: no such file.
  std::map<std::pair<std::string, std::string>, Environment*> environments_by_import_;
  /// Why the file of an imported module could not be parsed, by importing file and module name.
  std::map<std::pair<std::string, std::string>, std::string> import_errors_;
  bool is_loading_import_ = false;                    ///< whether definitions are being collected from an imported file
  std::deque<SourceFunction> source_functions_;       ///< functions and kernels of the file, in their order in the file
  std::deque<SourceFunction> imported_functions_;     ///< functions and kernels of other files
  std::deque<SourceFunction> generic_instances_;      ///< instances of generic functions and kernels
  std::vector<CustomDerivative> custom_derivatives_;  ///< custom gradients and replays, in the order of the file
  std::deque<UncalledFactory> uncalled_factories_;    ///< Python functions and methods that may define kernels
  /// Syntax tree that contains the assumed arguments; nullopt: none assumed yet.
  std::optional<SyntaxTree> assumed_arguments_tree_;
  /// The bool parameters for which the current evaluation of an uncalled factory, or of a factory around it, uses the
  /// opposite of the usual argument. Empty in the first evaluation and outside of factories. Definitions that name none
  /// of these parameters are skipped, because the first evaluation has collected them.
  std::vector<std::string_view> inverted_bool_parameters_;
  /// Results of names_in_functions(), by environment.
  std::map<const Environment*, std::set<std::string_view>> function_names_by_environment_;
  /// First entry of each collected definition, by SyntaxNode::id(); null for functions that are plain Python.
  std::map<const void*, const SourceFunction*> first_function_by_definition_;
  int factory_depth_ = 0;       ///< nesting depth of factory calls
  int factory_call_count_ = 0;  ///< number of factory calls so far
  /// Kernel names in use, with the number to append to the next kernel of that name.
  std::map<std::string, int, std::less<>> next_suffix_by_kernel_name_;
  /// Index in Module::functions of each function that the parser provides, by name.
  std::map<std::string, std::int32_t, std::less<>> library_function_indices_;
};

/// Parses the definition into module(), or reports an error. Sets the entry's state, index and effects.
void read_function(WarpFileParser& file, SourceFunction& entry);

}  // namespace assay::frontend
