// The kernel language: a Module of structs, functions and kernels.
//
// Start reading here. A function body is a tree of structured statements over typed variables; the right-hand
// sides are expression trees kept in one arena per function (`Function::expressions`), immutable once made.
// Everything is a value: copying a Module copies the program. Make expressions with Builder (ir/builder.hpp),
// which infers and checks their types; check a finished Module with verify (ir/verifier.hpp).
//
// Meaning: Warp's (docs/design/semantics.md). Unsigned and narrow integers wrap; signed overflow of 32 or 64 bits is
// undefined, though emitted code wraps; integer / and % truncate as in C; float % is fmod and float // is floor(a/b);
// `and`, `or` and the conditional expression are lazy, `where` is eager; float min and max are fmin and fmax. Variables
// are typed slots of one thread. A range loop evaluates its bounds once, before the first iteration.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "ir/operations/operations.hpp"
#include "ir/types/type.hpp"

namespace assay::ir {

/// Location in the source text of the module (Module::source_lines); both numbers are 1-based, 0 if unknown.
struct Loc {
  std::int32_t line = 0;    ///< number of the line
  std::int32_t column = 0;  ///< number of the byte in the line
};

using VarId = std::int32_t;
using ExprId = std::int32_t;
inline constexpr std::int32_t kNone = -1;

// ---- Expressions
// ----------------------------------------------------------------------------------------------

enum class ExprKind : std::uint8_t {
  kLiteral,    ///< a scalar constant; `bits` contains it
  kVariable,   ///< the value of `variable`
  kOperation,  ///< operation `op` of the table, applied to `args`
  kLoad,       ///< load of the element of array or local array `args[0]` at indices `args[1..]`
  kShapeOf,    ///< extent of dimension `index` of array `args[0]`, an i32
  kField,      ///< field `index` of struct `args[0]`
  kCall,       ///< call of function `index` of the module with `args`; the function returns exactly one value
};

/// One node of an expression tree.
struct Expr {
  ExprKind kind = ExprKind::kLiteral;
  Op op = Op::kAdd;               ///< operation of a kOperation
  Type type;                      ///< type of the value
  std::uint64_t bits = 0;         ///< literal: integers sign-extended to 64 bits, bool 0 or 1, floats the bits of a
                                  ///< double that the literal's own type represents exactly
  VarId variable = kNone;         ///< variable of a kVariable
  std::int32_t index = 0;         ///< number of the dimension, field or function, by kind
  std::vector<ExprId> args = {};  ///< operands in the arena of the same Function, created before this node
  Loc loc = {};                   ///< location in the source
};

// ---- Statements
// -----------------------------------------------------------------------------------------------

struct Stmt;

struct Block {
  std::vector<Stmt> statements;  ///< statements in order
};

/// Declares `variable` in the enclosing block. Without a value it starts as zero (all bytes zero), which is
/// the only form for local arrays.
struct Let {
  VarId variable = kNone;  ///< declared variable
  ExprId value = kNone;    ///< initial value; kNone: zero
};
/// Assigns a variable that a Let in this or an enclosing block declared.
struct Assign {
  VarId variable = kNone;  ///< assigned variable
  ExprId value = kNone;    ///< value of the same type
};
/// array[indices] = value, for an array or a local array (one index).
struct Store {
  ExprId array = kNone;              ///< array to change, as a kVariable expression
  std::vector<ExprId> indices = {};  ///< one index for each dimension
  ExprId value = kNone;              ///< value or tile to store
};
/// Atomic update of array[indices]; `result`, if any, is declared here and receives the previous value.
struct Atomic {
  AtomicOp op = AtomicOp::kAdd;
  ExprId array = kNone;              ///< array to change, as a kVariable expression
  std::vector<ExprId> indices = {};  ///< one index for each dimension
  ExprId value = kNone;              ///< operand of the update
  ExprId compare_operand = kNone;    ///< expected previous value, for kCompareAndSwap only
  VarId result = kNone;              ///< variable of the previous value; kNone: not used
};
/// Call of a function with any number of results; declares one new variable for each.
struct Call {
  std::int32_t function = 0;   ///< index into Module::functions
  std::vector<ExprId> args;    ///< arguments, one for each parameter
  std::vector<VarId> results;  ///< declared variables, one for each result
};
struct If {
  ExprId condition = kNone;  ///< a bool expression
  Block then_block;
  Block else_block;
};
/// for variable in range(start, stop, step): declares `variable`, which the body must not assign. `step` is
/// not zero.
struct For {
  VarId variable = kNone;
  ExprId start = kNone;  ///< first value of the variable
  ExprId stop = kNone;   ///< end of the range, which is exclusive
  ExprId step = kNone;   ///< distance between values
  Block body;
};
struct While {
  ExprId condition = kNone;  ///< evaluated before each iteration
  Block body;
};
struct Break {};
struct Continue {};
/// Leaves the function; a kernel returns no values.
struct Return {
  std::vector<ExprId> values;  ///< one for each of Function::results
};

struct Stmt {
  std::variant<Let, Assign, Store, Atomic, Call, If, For, While, Break, Continue, Return> node;
  Loc loc = {};  ///< location in the source
};

// ---- Declarations
// ---------------------------------------------------------------------------------------------

struct Variable {
  std::string name;  ///< name from the source; need not be unique, because the printers make names unique
  Type type;         ///< type of the values
  Loc loc = {};      ///< location of the declaration
  /// For array parameters of a backward kernel: the data pointer may be null to skip this gradient. A load then gives
  /// zero, and a store or atomic does nothing.
  bool is_nullable = false;
  /// For local arrays: no element is read before it is stored, so emitters need not zero-initialize the array. An
  /// optimization only; not part of the text or the hash.
  bool is_stored_before_read = false;
  /// For a kernel parameter that is one field of a struct in the source: the path to the field, "body.position".
  /// Not part of the text or the hash.
  std::string path = {};
};

/// A function or, with is_kernel, a kernel. The first `parameter_count` variables are the parameters. A
/// kernel's next `launch_rank` variables are its thread indices (i32), each from 0 to the launch extent of
/// its dimension.
struct Function {
  std::string name;
  bool is_kernel = false;
  int parameter_count = 0;          ///< number of parameters
  int launch_rank = 0;              ///< number of thread indices: 1 to 4 for kernels, 0 for functions
  std::vector<Type> results;        ///< types of the returned values; empty for kernels
  std::vector<Variable> variables;  ///< all variables: parameters, thread indices, then others
  std::vector<Expr> expressions;    ///< arena of all expression nodes
  Block body;
  /// Functions: indices in Module::functions of the custom gradient, which defines the derivative of this function, and
  /// of the custom replay, which the backward kernel calls instead of this function; kNone for none. See ir/custom.hpp.
  std::int32_t gradient_function_index = kNone;  ///< index of the gradient
  std::int32_t replay_function_index = kNone;    ///< index of the replay
  /// The comments above the kernel, without the leading '#': "launch: (n, m)", "domain: 0 <= k < 3". Not part of the
  /// hash.
  std::vector<std::string> annotations;
  Loc loc = {};  ///< location of the definition

  bool is_parameter(VarId variable) const { return variable >= 0 && variable < parameter_count; }
  bool is_thread_index(VarId variable) const {
    return variable >= parameter_count && variable < parameter_count + launch_rank;
  }
  const Expr& expr(ExprId id) const { return expressions[static_cast<std::size_t>(id)]; }
  const Variable& var(VarId id) const { return variables[static_cast<std::size_t>(id)]; }
};

/// A field of a struct.
struct Field {
  std::string name;
  Type type;  ///< a value (nested structs come earlier in Module::structs) or an array
};

struct StructDef {
  std::string name;           ///< name from the source
  std::vector<Field> fields;  ///< fields in memory order
};

/// A file that the module's own file imports from. Module::source_lines concatenates the lines of all files, and line
/// numbers continue across files, so that a location is two numbers in any file.
struct ImportedFile {
  std::string name;                       ///< name of the file, as the user wrote it
  std::int32_t preceding_line_count = 0;  ///< number of lines of all files before this one
};

/// Lines of the module's own file that were copied from another file, as the comment "# source: FILE:LINE" above them
/// says. The comment gives the line of the `def`, which follows a line with the decorator.
struct CopiedLines {
  std::string file;                       ///< name of the other file
  std::int32_t preceding_line_count = 0;  ///< number of lines up to and including the comment
  std::int32_t line = 0;                  ///< line of the `def` in that file, 1-based
};

struct Module {
  std::vector<StructDef> structs;   ///< a struct contains only structs before it
  std::vector<Function> functions;  ///< a function calls only functions before it: no recursion
  std::vector<Function> kernels;    ///< kernels in the order of the source
  // For messages and for comments in emitted code (ir/source_location.hpp); not part of the hash.
  std::string source_name;                   ///< name of the user's file
  std::vector<std::string> source_lines;     ///< lines of the user's file, then the lines of each imported file
  std::vector<ImportedFile> imported_files;  ///< imported files, in the order of their lines
  std::vector<CopiedLines> copied_lines;     ///< copied lines, in order
};

}  // namespace assay::ir
