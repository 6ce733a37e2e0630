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
#include <string_view>
#include <variant>
#include <vector>

#include "ir/operations/operations.hpp"
#include "ir/types/type.hpp"

namespace assay::ir {

/// A location in the source text of the module (Module::source_lines). Line and column are counted from 1; 0: unknown.
struct Loc {
  std::int32_t line = 0;    ///< number of the line in Module::source_lines
  std::int32_t column = 0;  ///< number of the byte in the line
};

using VarId = std::int32_t;
using ExprId = std::int32_t;
inline constexpr std::int32_t kNone = -1;  ///< stands for a missing variable, expression, function or index.

// ---- Expressions
// ----------------------------------------------------------------------------------------------

/// What an expression computes.
enum class ExprKind : std::uint8_t {
  kLiteral,    ///< a scalar constant; `bits` contains it
  kVariable,   ///< the value of the variable `variable`
  kOperation,  ///< the operation `op`, applied to `args`
  kLoad,       ///< the element of array or local array `args[0]` at the indices `args[1..]`
  kShapeOf,    ///< the extent of dimension `index` of array `args[0]`, an i32
  kField,      ///< the field with number `index` of struct `args[0]`
  /// The result of calling function `index` of the module with `args`; the function must return exactly one value.
  kCall,
};

/// One node of an expression tree.
struct Expr {
  ExprKind kind = ExprKind::kLiteral;  ///< what the expression computes
  Op op = Op::kAdd;                    ///< for kOperation: the operation
  Type type;                           ///< type of the value
  /// For kLiteral: the value. Integers are sign-extended to 64 bits, bools are 0 or 1, and floats are the bits of a
  /// double that is exactly representable in the literal's own type.
  std::uint64_t bits = 0;
  VarId variable = kNone;         ///< for kVariable: the variable
  std::int32_t index = 0;         ///< number of the dimension, field or function, depending on `kind`
  std::vector<ExprId> args = {};  ///< operands; they are in Function::expressions before this node
  Loc loc = {};                   ///< location in the source
};

// ---- Statements
// -----------------------------------------------------------------------------------------------

struct Stmt;

/// A sequence of statements with its own scope.
struct Block {
  std::vector<Stmt> statements;  ///< statements in order
};

/// Declares `variable` in the enclosing block. Without a value, all bytes of the variable are initially zero; local
/// arrays are always declared without a value.
struct Let {
  VarId variable = kNone;  ///< declared variable
  ExprId value = kNone;    ///< initial value; kNone: zero
};
/// Assigns a value to a variable that a Let in this block or an enclosing block has declared.
struct Assign {
  VarId variable = kNone;  ///< assigned variable
  ExprId value = kNone;    ///< value of the same type
  /// Whether the source updates a component in place, as `v[k] += e` does. The value is the same as that of
  /// `v[k] = v[k] + e`, but Warp differentiates the two in different ways, so its printer keeps them apart.
  bool is_augmented = false;
};
/// Stores array[indices] = value, in an array or in a local array, which has one index.
struct Store {
  ExprId array = kNone;              ///< array to change, a kVariable expression
  std::vector<ExprId> indices = {};  ///< one index for each dimension
  ExprId value = kNone;              ///< value or tile to store
  bool is_augmented = false;         ///< of an element of a local array: as Assign::is_augmented
};
/// An atomic update of array[indices], or of a field of it. If `result` is set, the statement declares this variable
/// and stores the previous value in it.
struct Atomic {
  AtomicOp op = AtomicOp::kAdd;
  ExprId array = kNone;              ///< array to change, as a kVariable expression
  std::vector<ExprId> indices = {};  ///< one index for each dimension
  /// Indices of the fields that lead from the element to the updated value; empty: the whole element is updated.
  std::vector<std::int32_t> fields = {};
  ExprId value = kNone;            ///< operand of the update
  ExprId compare_operand = kNone;  ///< for kCompareAndSwap: the value with which the previous value is compared
  VarId result = kNone;            ///< variable for the previous value; kNone: not needed
};
/// A call of a function with any number of results. It declares one new variable for each result.
struct Call {
  std::int32_t function = 0;   ///< index of the function in Module::functions
  std::vector<ExprId> args;    ///< arguments, one for each parameter
  std::vector<VarId> results;  ///< variables that are declared, one for each result
};
/// Executes one of two blocks.
struct If {
  ExprId condition = kNone;  ///< bool that selects the block
  Block then_block;          ///< executed if the condition is true
  Block else_block;          ///< executed if the condition is false
};
/// The loop `for variable in range(start, stop, step)`. It declares `variable`, which the body must not assign. `step`
/// must not be zero.
struct For {
  VarId variable = kNone;
  ExprId start = kNone;  ///< first value of the variable
  ExprId stop = kNone;   ///< end of the range; the variable does not reach it
  ExprId step = kNone;   ///< difference between successive values
  Block body;            ///< executed for each value
};
/// Repeats a block while a condition is true.
struct While {
  ExprId condition = kNone;  ///< evaluated before each iteration
  Block body;
};
struct Break {};
struct Continue {};
/// Returns from the function. A kernel returns no values.
struct Return {
  std::vector<ExprId> values;  ///< returned values, one for each of Function::results
};

/// One statement and its location.
struct Stmt {
  std::variant<Let, Assign, Store, Atomic, Call, If, For, While, Break, Continue, Return> node;  ///< the statement
  Loc loc = {};  ///< location in the source
};

// ---- Declarations
// ---------------------------------------------------------------------------------------------

/// A variable of a function; parameters and thread indices are variables too.
struct Variable {
  std::string name;  ///< name in the source; need not be unique, because the printers make names unique
  Type type;         ///< type of the values
  Loc loc = {};      ///< location of the declaration
  /// For array parameters of a backward kernel: whether the data pointer may be null to skip this gradient. A load then
  /// gives zero, and a store or atomic does nothing.
  bool is_nullable = false;
  /// For local arrays: whether each element is stored before it is read, so that emitted code need not initialize the
  /// array. Only an optimization; not part of the text or the hash.
  bool is_stored_before_read = false;
  /// For local arrays and tiles: whether the parser made the variable in place of a tile, a stack or an operation of
  /// tiles of the source that the language lacks. Not part of the text or the hash.
  bool replaces_tile = false;
  /// For a kernel parameter that is one field of a struct in the source: the path of the field, "body.position". For
  /// the parameter that holds the block size: kBlockSizePath. Not part of the text or the hash.
  std::string path = {};
};

/// Variable::path of the i32 kernel parameter that holds the number of threads in a block. The source has no such
/// parameter; it calls a function of this name.
inline constexpr std::string_view kBlockSizePath = "wp.block_dim()";
/// The same for the arrays of all meshes: one row for each mesh. The paths begin with kMeshPathPrefix.
inline constexpr std::string_view kMeshPathPrefix = "wp.Mesh.";
inline constexpr std::string_view kMeshPointsPath = "wp.Mesh.points";
inline constexpr std::string_view kMeshVelocitiesPath = "wp.Mesh.velocities";
inline constexpr std::string_view kMeshIndicesPath = "wp.Mesh.indices";
/// The order in which queries visit the faces of each mesh: a permutation of the numbers of faces.
inline constexpr std::string_view kMeshOrderPath = "wp.Mesh.order";
inline constexpr std::string_view kMeshGroupsPath = "wp.Mesh.groups";  ///< group of each face

/// A function or a kernel. The first `parameter_count` variables are its parameters. In a kernel, the next
/// `launch_rank` variables are the thread indices (i32), each from 0 to the launch extent of its dimension minus 1.
struct Function {
  std::string name;
  bool is_kernel = false;           ///< whether it is a kernel
  int parameter_count = 0;          ///< number of parameters, which are the first variables
  int launch_rank = 0;              ///< number of thread indices: 1 to 4 for a kernel, 0 for a function
  std::vector<Type> results;        ///< types of the returned values; empty for kernels
  std::vector<Variable> variables;  ///< all variables: first the parameters, then the thread indices
  std::vector<Expr> expressions;    ///< all expression nodes, which ExprId refers to
  Block body;
  /// Index in Module::functions of the custom gradient, which defines the derivative of this function (see
  /// ir/custom.hpp); kNone: none.
  std::int32_t gradient_function_index = kNone;
  /// Index in Module::functions of the custom replay, which the backward kernel calls instead of this function; kNone:
  /// none.
  std::int32_t replay_function_index = kNone;
  /// The comments directly above the kernel, without '#': "launch: (n, m)", "domain: 0 <= k < 3". Not part of the hash.
  std::vector<std::string> annotations;
  Loc loc = {};  ///< location of the definition

  bool is_parameter(VarId variable) const { return variable >= 0 && variable < parameter_count; }
  /// Returns whether the variable is a thread index.
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

/// A struct type.
struct StructDef {
  std::string name;           ///< name from the source
  std::vector<Field> fields;  ///< fields in memory order
};

/// A file from which the module's own file imports. Module::source_lines contains the lines of all files one after
/// another, and line numbers are not restarted, so that two numbers identify a location in any file.
struct ImportedFile {
  std::string name;                       ///< name of the file, as the user wrote it
  std::int32_t preceding_line_count = 0;  ///< number of lines of all files that come before this one
};

/// Lines of the module's own file that were copied from another file. The comment "# source: FILE:LINE" above them says
/// so. LINE is the line of the `def`, which follows the line with the decorator.
struct CopiedLines {
  std::string file;                       ///< name of the file from which the lines were copied
  std::int32_t preceding_line_count = 0;  ///< number of lines up to and including the comment
  std::int32_t line = 0;                  ///< line of the `def` in that file, 1-based
};

/// A program: structs, functions and kernels.
struct Module {
  std::vector<StructDef> structs;  ///< structs; each contains only structs that come before it
  /// Functions; each calls only functions that come before it, so none is recursive.
  std::vector<Function> functions;
  std::vector<Function> kernels;  ///< kernels, in their order in the source
  // For messages and for comments in emitted code (ir/source_location.hpp); not part of the hash.
  std::string source_name;                ///< name of the module's own file
  std::vector<std::string> source_lines;  ///< lines of the module's own file, followed by those of each imported file
  std::vector<ImportedFile> imported_files;  ///< imported files, in the order of their lines in source_lines
  std::vector<CopiedLines> copied_lines;     ///< copied lines, in their order in source_lines
};

}  // namespace assay::ir
