#include "harness/suite/select/select.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/suite/select/exported_kernel.hpp"
#include "harness/suite/select/kernel_file.hpp"
#include "harness/suite/select/pattern.hpp"
#include "harness/suite/select/random_kernels.hpp"
#include "harness/suite/select/selected_files.hpp"
#include "harness/suite/select/suggest.hpp"
#include "ir/source_location.hpp"
#include "ir/text.hpp"
#include "support/hash.hpp"

namespace assay::harness {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kTwoKernels = R"(import warp as wp


@wp.kernel
def scale(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 2.0 * x[i]


@wp.kernel
def draws(out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = print_and_return(i)
)";

class SelectTest : public ::testing::Test {
 protected:
  SelectTest() : dir_(fs::temp_directory_path() / fmt::format("assay-select-{}", ::getpid())) {
    fs::create_directories(dir_);
  }
  ~SelectTest() override { fs::remove_all(dir_); }

  std::string file(const std::string& name, std::string_view text) const {
    fs::create_directories((dir_ / name).parent_path());
    std::ofstream(dir_ / name, std::ios::binary) << text;
    return (dir_ / name).string();
  }

  static std::string error_of(const std::string& selector, const SelectOptions& options = {}) {
    const Result<Selection> selection = select({selector}, options);
    return selection.ok() ? "" : selection.error().text();
  }

  static std::vector<std::string> names_of(const std::vector<std::string>& selectors, const SelectOptions& options) {
    const Result<Selection> selection = select(selectors, options);
    EXPECT_TRUE(selection.ok()) << selection.error().text();
    std::vector<std::string> names;
    for (const SelectedKernel& kernel : selection->kernels)
      names.push_back(kernel.source.family + "/" + kernel.source.kernel);
    return names;
  }

  fs::path dir_;
};

TEST(CasePattern, OmittedComponentsMatchEverything) {
  const auto pattern = CasePattern::parse("loop/dyn*");
  ASSERT_TRUE(pattern.ok());
  EXPECT_TRUE(pattern->matches(CaseNameComponent::kFamily, "loop"));
  EXPECT_FALSE(pattern->matches(CaseNameComponent::kFamily, "nested_loop"));
  EXPECT_TRUE(pattern->matches(CaseNameComponent::kKernel, "dynamic_product"));
  EXPECT_FALSE(pattern->matches(CaseNameComponent::kKernel, "row_product"));
  EXPECT_TRUE(pattern->matches(CaseNameComponent::kPass, "backward"));
}

TEST(CasePattern, AcceptsFamilyAlias) {
  const auto pattern = CasePattern::parse("nested/*");
  ASSERT_TRUE(pattern.ok());
  EXPECT_TRUE(pattern->matches(CaseNameComponent::kFamily, "nested_loop"));
}

TEST(CasePattern, RejectsEmptyAndExcessComponents) {
  EXPECT_FALSE(CasePattern::parse("loop//f32").ok());
  EXPECT_FALSE(CasePattern::parse("").ok());
  EXPECT_FALSE(CasePattern::parse("a/b/c/d/e/f/g").ok());
  EXPECT_TRUE(CasePattern::parse("a/b/c/d/e/f").ok());
}

TEST(DidYouMean, SuggestsClosestNameFirst) {
  EXPECT_EQ(did_you_mean("lop", {"math", "loop", "vector"}), "; did you mean 'loop'?");
  EXPECT_EQ(did_you_mean("multi", {"multi_conditional", "math"}), "; did you mean 'multi_conditional'?");
  EXPECT_EQ(did_you_mean("nonsense", {"math", "loop"}), "");
}

TEST(PythonFile, LaunchesOneThreadIfKernelDoesNotUseTid) {
  const Result<KernelSet> read = read_text(R"(import warp as wp

@wp.kernel
def sums(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    s = float(0.0)
    for j in range(x.shape[0]):
        s += x[j]
    out[0] = s

@wp.kernel
def takes_a_number(count: wp.array(dtype=int), out: wp.array(dtype=int)):
    wp.atomic_max(out, 0, wp.atomic_add(count, 0, 1))

@wp.kernel
def counts(count: wp.array(dtype=int)):
    wp.atomic_add(count, 0, 1)

@wp.kernel
def asks(out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 1.0

# launch: (7)
@wp.kernel
def says_itself(out: wp.array(dtype=float)):
    out[0] = 1.0

@wp.kernel
def ignores(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[0] = x[0] * x[1]
)",
                                           "one.py");
  ASSERT_TRUE(read.ok()) << read.error().text();
  std::vector<std::vector<std::string>> annotations;
  for (const KernelSource& source : read->kernels)
    annotations.push_back(source.module->kernels[source.kernel_index].annotations);
  EXPECT_THAT(annotations, ElementsAre(ElementsAre("launch: (1)"), ElementsAre("launch: (1)"), IsEmpty(), IsEmpty(),
                                       ElementsAre("launch: (7)"), ElementsAre("launch: (1)")));
  EXPECT_THAT(read->notes, ElementsAre("one.py:4:1: note: in sums: kernel never calls wp.tid(); "
                                       "launching one thread to avoid a race (# launch: (1))",
                                       HasSubstr("one.py:11:1: note: in takes_a_number: "),
                                       HasSubstr("note: in ignores: kernel never uses the result of wp.tid(); ")));
}

constexpr std::string_view kTypes = R"(import warp as wp

LIMIT = 3.0


@wp.func
def bend(x: float):
    return wp.min(x * x, LIMIT)


@wp.func
def k(x: float):
    return x
)";

TEST_F(SelectTest, ResolvesAbsoluteAndRelativeImportsInPackage) {
  file("pkg/__init__.py", "");
  file("pkg/core/__init__.py", "from .types import LIMIT as TOP\n");
  file("pkg/core/types.py", kTypes);
  const std::string kernels = file("pkg/solvers/kernels.py", R"(import warp as wp

from pkg.core import TOP
from ..core import types
from ..core.types import bend as bent


@wp.kernel
def imports(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = bent(x[i]) + TOP * types.bend(x[i])


@wp.kernel
def alone(out: wp.array(dtype=float)):
    out[wp.tid()] = 1.0
)");
  const Result<KernelSet> read = read_file({.path = kernels, .kernel = ""});
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read->kernels.size(), 2U);
  const KernelSource& imports = read->kernels[0];
  ASSERT_TRUE(imports.module) << imports.parse_error->text();
  EXPECT_EQ(ir::location_text(*imports.module, imports.module->functions.at(0).loc),
            (dir_ / "pkg/core/types.py:7:1").string());

  // The source text of a kernel is self-contained.
  const Result<KernelSet> again = read_text(imports.python, "again.py");
  ASSERT_TRUE(again.ok()) << again.error().text();
  ASSERT_TRUE(again->kernels[0].module) << again->kernels[0].parse_error->text();
  EXPECT_EQ(again->kernels[0].kernel, "imports");
  EXPECT_THAT(imports.python, AllOf(HasSubstr("wp.min(x * x, 3.0)"), Not(HasSubstr("import TOP"))));
  EXPECT_THAT(read->kernels[1].python, HasSubstr("import TOP"));
}

TEST_F(SelectTest, AddsOverloadForGenericKernel) {
  const std::string path = file("generic.py", R"(from typing import Any
import warp as wp
@wp.kernel
def length(x: wp.array(dtype=Any), r: wp.array(dtype=float)):
    i = wp.tid()
    r[i] = wp.length(x[i])
@wp.kernel
def plain(out: wp.array(dtype=float)):
    out[wp.tid()] = 1.0
)");
  const Result<KernelSet> read = read_file({.path = path, .kernel = ""});
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read->kernels.size(), 2U);
  EXPECT_EQ(read->kernels[0].selector, path + ":length");
  EXPECT_THAT(read->kernels[0].python,
              HasSubstr("length = wp.overload(length, [wp.array(dtype=wp.vec3), wp.array(dtype=float)])\n"));
  EXPECT_THAT(read->kernels[1].python, Not(HasSubstr("overload")));
  EXPECT_THAT(read->notes, ElementsAre(HasSubstr("call; assuming types [wp.array(dtype=wp.vec3), ")));

  const Result<KernelSet> again = read_text(read->kernels[0].python, "again.py");
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(again->kernels[0].kernel, "length");
  EXPECT_THAT(again->notes, IsEmpty());
  EXPECT_EQ(ir::to_text(*again->kernels[0].module), ir::to_text(*read->kernels[0].module));
}

TEST_F(SelectTest, RegeneratesSourceWithInferredFactoryArguments) {
  const std::string path = file("made.py", R"(import warp as wp
def make(square: bool, dtype):
    @wp.kernel
    def k(x: wp.array(dtype=dtype)):
        i = wp.tid()
        if wp.static(square):
            x[i] = x[i] * x[i]
        x[i] = dtype(2.0) * x[i]
    return k
)");
  const Result<KernelSet> read = read_file({.path = path, .kernel = ""});
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read->kernels.size(), 2U);
  EXPECT_THAT(read->notes, ElementsAre(HasSubstr("assuming square=True, dtype=float"),
                                       HasSubstr("assuming square=False, dtype=float")));
  EXPECT_EQ(read->kernels[1].selector, path + ":k_2");
  EXPECT_THAT(read->kernels[1].python, AllOf(HasSubstr("def k_2(x: wp.array(dtype=float))"), Not(HasSubstr("if "))));
}

TEST_F(SelectTest, ResolvesImportsOfModulesInFolderOfScript) {
  file("physics.py", kTypes);
  const std::string script = file("script.py", R"(import warp as wp
from physics import bend
from physics import k as same
from elsewhere import other
@wp.kernel
def k(out: wp.array(dtype=float)):
    out[wp.tid()] = bend(2.0) + same(1.0)
@wp.kernel
def unknown(out: wp.array(dtype=float)):
    out[wp.tid()] = other(2.0)
)");
  const Result<KernelSet> read = read_file({.path = script, .kernel = ""});
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(read->kernels[0].module);
  EXPECT_THAT(read->kernels[1].parse_error->text(),
              HasSubstr("imported from module 'elsewhere', which could not be loaded"));
  EXPECT_THAT(read->kernels[0].python, HasSubstr("@wp.kernel\ndef k("));
  // A text has no adjacent files.
  EXPECT_FALSE(read_text(read->kernels[1].python, script)->kernels[0].module);
}

TEST_F(SelectTest, ParseErrorMentionsFunctionWithTooDeeplyNestedExpression) {
  std::string sum = "x";
  for (int term = 0; term < 300; ++term)
    sum += " + x";
  const std::string script = file("spoilt.py", fmt::format(R"(import warp as wp
@wp.func
def f(x: float):
    return {}
@wp.kernel
def k(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = x[i]
)",
                                                           sum));
  const Result<KernelSet> read = read_file({.path = script, .kernel = ""});
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_TRUE(read->kernels[0].parse_error);
  EXPECT_THAT(read->kernels[0].parse_error->text(), AllOf(HasSubstr("spoilt.py:4:"), HasSubstr("in function f")));
}

TEST(RandomKernelName, ConsistsOfGeneratorVersionAndSeed) {
  EXPECT_TRUE(is_random_name("r2_42"));
  EXPECT_TRUE(is_random_name("r12_0"));
  for (const char* const other : {"r1", "r_1", "r2_", "row_product", "r2_4x", ""})
    EXPECT_FALSE(is_random_name(other)) << other;
}

TEST_F(SelectTest, FamilySelectorSelectsCuratedKernelsThenRandomKernels) {
  const auto names = names_of({"loop"}, {.random_kernels_per_family = 2, .first_random_seed = 7});
  EXPECT_THAT(names, Contains("loop/dynamic_product"));
  ASSERT_GE(names.size(), 2U);
  EXPECT_EQ(names[names.size() - 2], "loop/r2_7");
  EXPECT_EQ(names.back(), "loop/r2_8");
  EXPECT_EQ(names_of({"loop"}, {.random_kernels_per_family = 0}).size(), names.size() - 2);
}

TEST_F(SelectTest, StarSelectorSelectsOnlyParsableKernelsOfEveryFamily) {
  const Result<Selection> selection = select({"*"}, {.random_kernels_per_family = 1});
  ASSERT_TRUE(selection.ok()) << selection.error().text();
  std::set<std::string> families;
  for (const SelectedKernel& kernel : selection->kernels) {
    families.insert(kernel.source.family);
    EXPECT_FALSE(kernel.source.parse_error) << kernel.source.parse_error->text();
  }
  EXPECT_EQ(families.size(), generators::families().size());
}

TEST_F(SelectTest, DeduplicatesRandomKernelSelectedTwice) {
  EXPECT_THAT(names_of({"loop/r2_42", "loop/r2_42"}, {}), ElementsAre("loop/r2_42"));
  EXPECT_THAT(error_of("loop/r999_1"), HasSubstr("version of the generators"));
}

TEST_F(SelectTest, RandomKernelHasPythonSource) {
  const Result<KernelSource> source = random_kernel("vector/r2_3");
  ASSERT_TRUE(source.ok()) << source.error().text();
  EXPECT_THAT(source->python, HasSubstr("@wp.kernel"));
  EXPECT_EQ(ir::hash(*source->module), ir::hash(generators::generate(generators::Family::kVector, 3).module));
  EXPECT_FALSE(source->module->source_lines.empty());
  EXPECT_EQ(source->selector, "vector/r2_3");
}

TEST_F(SelectTest, SelectorComponentsAfterKernelNameRestrictSelection) {
  for (const std::string& name : names_of({"math/*/f64"}, {}))
    EXPECT_EQ(name.find("math/"), 0U);
  EXPECT_LT(names_of({"math/*/f64"}, {}).size(), names_of({"math"}, {}).size());

  const auto backward = select({"loop/dynamic_product/*/cpu/backward"}, {});
  ASSERT_TRUE(backward.ok());
  ASSERT_EQ(backward->kernels.size(), 1U);
  EXPECT_FALSE(backward->kernels[0].forward);
  EXPECT_TRUE(backward->kernels[0].backward);

  const auto both = select({"loop/dynamic_product/*/cpu/backward", "loop/dynamic_product/*/cpu/forward"}, {});
  ASSERT_TRUE(both.ok());
  ASSERT_EQ(both->kernels.size(), 1U);
  EXPECT_TRUE(both->kernels[0].forward && both->kernels[0].backward);
}

TEST_F(SelectTest, SuggestsAlternativesForUnmatchedSelectors) {
  EXPECT_THAT(error_of("nonsense"), AllOf(HasSubstr("unknown family 'nonsense'"), HasSubstr("arithmetic, math")));
  EXPECT_THAT(error_of("lop"), HasSubstr("did you mean 'loop'"));
  EXPECT_THAT(error_of("loop/dynamic_prodcut"), HasSubstr("did you mean 'dynamic_product'"));
  EXPECT_THAT(error_of("loop/*/f32/cuda"), HasSubstr("--device is cpu"));
  EXPECT_THAT(error_of("loop/*/f32/cpu/sideways"), HasSubstr("expected forward or backward"));
  EXPECT_THAT(error_of("loop/*/f32/cpu/forward/fast"), HasSubstr("mode 'fast'"));
}

TEST_F(SelectTest, SelectsSupportedAndUnsupportedKernelsOfFile) {
  const std::string path = file("two.py", kTwoKernels);
  const auto selection = select({path}, {});
  ASSERT_TRUE(selection.ok()) << selection.error().text();
  ASSERT_EQ(selection->kernels.size(), 2U);
  const KernelSource& scale = selection->kernels[0].source;
  EXPECT_EQ(scale.family, "user");
  EXPECT_EQ(scale.kernel, "two.scale");
  EXPECT_EQ(scale.selector, path + ":scale");
  EXPECT_FALSE(scale.parse_error);
  const KernelSource& draws = selection->kernels[1].source;
  ASSERT_TRUE(draws.parse_error);
  EXPECT_THAT(draws.parse_error->text(), AllOf(HasSubstr("two.py:13:"), HasSubstr("print_and_return")));
}

TEST_F(SelectTest, SelectsOneKernelOfFile) {
  const std::string path = file("two.py", kTwoKernels);
  EXPECT_THAT(names_of({path + ":scale"}, {}), ElementsAre("user/two.scale"));
  EXPECT_THAT(error_of(path + ":scael"),
              AllOf(HasSubstr("unknown kernel 'scael'"), HasSubstr("did you mean 'scale'"), HasSubstr("two.py")));
}

TEST_F(SelectTest, AppendsNumberIfTwoFilesHaveKernelsOfSameName) {
  const std::string first = file("a/k.py", kTwoKernels);
  const std::string second = file("b/k.py", kTwoKernels);
  EXPECT_THAT(names_of({first + ":scale", second + ":scale"}, {}), ElementsAre("user/k.scale", "user/k.scale.2"));
}

constexpr std::string_view kTextKernel = "kernel scale(x: array<f32,1>; i) {\n  x[i] = mul(x[i], 2.0)\n}\n";

TEST_F(SelectTest, SelectsKernelOfIrFileAndShowsItAsPython) {
  const auto selection = select({file("k.ir", kTextKernel)}, {});
  ASSERT_TRUE(selection.ok()) << selection.error().text();
  ASSERT_EQ(selection->kernels.size(), 1U);
  const KernelSource& scale = selection->kernels[0].source;
  EXPECT_EQ(scale.kernel, "k.scale");
  EXPECT_THAT(scale.python, HasSubstr("@wp.kernel")) << "reports show every kernel as Python";
  EXPECT_TRUE(scale.module->kernels[0].annotations.empty());
}

TEST_F(SelectTest, SelectsAllFilesBelowFolder) {
  file("tree/b/k.py", kTwoKernels);
  file("tree/a.ir", kTextKernel);
  file("tree/plain.py", "x = 1\n");
  file("tree/broken.py", "def (:\n");
  file("tree/.hidden/h.py", kTwoKernels);
  file("tree/venv/pyvenv.cfg", "");
  file("tree/venv/v.py", kTwoKernels);
  const auto selection = select({(dir_ / "tree").string()}, {});
  ASSERT_TRUE(selection.ok()) << selection.error().text();
  std::vector<std::string> names;
  for (const SelectedKernel& one : selection->kernels)
    names.push_back(one.source.kernel);
  EXPECT_THAT(names, ElementsAre("a.scale", "k.scale", "k.draws"));
  std::vector<std::string> kinds;
  for (const SelectionNote& note : selection->notes)
    kinds.push_back(note.kind);
  EXPECT_THAT(kinds, ElementsAre("skipped file", "file without kernels"));
}

TEST_F(SelectTest, SelectsFilesMatchedByGlob) {
  file("tree/b/k.py", kTwoKernels);
  file("tree/a.py", kTwoKernels);
  const std::string tree = (dir_ / "tree").string();
  EXPECT_THAT(names_of({tree + "/*.py"}, {}), ElementsAre("user/a.scale", "user/a.draws"));
  EXPECT_THAT(names_of({tree + "/**/k.py"}, {}), ElementsAre("user/k.scale", "user/k.draws"));
  EXPECT_THAT(names_of({tree + "/**/[ak].py"}, {}).size(), 4U);
  EXPECT_THAT(error_of(tree + "/x*.py"), HasSubstr("no file"));
}

TEST_F(SelectTest, SelectedFilesAreNamedFilesAndThoseThatTheyImport) {
  const std::string physics = file("physics.py", kTypes);
  const std::string script = file("script.py", R"(import warp as wp
from physics import bend
@wp.kernel
def k(out: wp.array(dtype=float)):
    out[wp.tid()] = bend(2.0)
)");
  const std::string broken = file("tree/broken.py", "def (:\n");
  const std::string tree = (dir_ / "tree").string();
  EXPECT_THAT(selected_files(std::vector<std::string>{"loop", script + ":k", tree, script}),
              ElementsAre(script, broken, physics));
}

TEST_F(SelectTest, ReportsNoteForFileWithoutKernels) {
  const auto selection = select({file("k.ir", kTextKernel), file("plain.py", "x = 1\n")}, {});
  ASSERT_TRUE(selection.ok()) << selection.error().text();
  EXPECT_EQ(selection->kernels.size(), 1U);
  EXPECT_THAT(selection->notes, ElementsAre(SelectionNote{"file without kernels", (dir_ / "plain.py").string()}));
}

TEST_F(SelectTest, ReportsWhyFileCannotBeUsed) {
  EXPECT_THAT(error_of((dir_ / "missing.py").string()), AllOf(HasSubstr("missing.py"), HasSubstr("No such file")));
  EXPECT_THAT(error_of(file("folder.py/x", "")), HasSubstr("folder.py/x"));
  EXPECT_THAT(error_of((dir_ / "folder.py").string()), HasSubstr("contains no file with a known suffix"));
  EXPECT_THAT(error_of(file("empty.py", "")), AllOf(HasSubstr("empty.py"), HasSubstr("empty")));
  EXPECT_THAT(error_of(file("binary.py", std::string_view("\x7f"
                                                          "ELF\0\0\xff\xfe",
                                                          8))),
              HasSubstr("binary.py"));
  EXPECT_THAT(error_of(file("plain.py", "x = 1\n")),
              HasSubstr("no kernel found; expected a function with the decorator @wp.kernel"));
}

constexpr std::string_view kExported = R"(import warp as wp


# source: user/wave.py:41
@wp.func
def twice(x: float):
    return x + x


# source: user/solver.py:17
@wp.kernel
def step(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    out[0] = twice(x[0])
)";

TEST_F(SelectTest, ExportedKernelKeepsOriginalNameAndFile) {
  const std::vector<ExportedKernel> exported{{.kernel = "solver.step",
                                              .selector = "solver.py:step",
                                              .file = "user/solver.py",
                                              .line = 17,
                                              .source_text = std::string(kExported)},
                                             {.kernel = "solver.other",
                                              .selector = "solver.py:other",
                                              .file = "user/solver.py",
                                              .line = 30,
                                              .export_error = "it calls the Python function open"}};
  const Selection selection = select_exported(exported, {""});
  ASSERT_EQ(selection.kernels.size(), 2U);
  const KernelSource& step = selection.kernels[0].source;
  EXPECT_EQ(step.family + "/" + step.kernel, "user/solver.step");
  EXPECT_EQ(step.selector, "solver.py:step");
  EXPECT_EQ(step.file, "user/solver.py");
  EXPECT_EQ(step.python, kExported);
  ASSERT_NE(step.module, nullptr);
  EXPECT_EQ(ir::location_text(*step.module, step.module->kernels[0].loc), "user/solver.py:17:1");
  EXPECT_EQ(ir::location_text(*step.module, step.module->functions[0].loc), "user/wave.py:41:1");
  ASSERT_EQ(selection.notes.size(), 1U);
  EXPECT_THAT(selection.notes[0].text, AllOf(HasSubstr("user/solver.py:17:1: note: in step: "), HasSubstr("wp.tid()")));
  ASSERT_TRUE(selection.kernels[1].source.parse_error);
  EXPECT_EQ(selection.kernels[1].source.parse_error->text(),
            "user/solver.py:30: cannot be exported: it calls the Python function open");
}

TEST_F(SelectTest, UnsupportedExportedKernelReportsOriginalSourceLine) {
  std::string text(kExported);
  text.replace(text.find("x + x"), 5, "open(x)");
  const Selection selection =
      select_exported(std::vector{ExportedKernel{.file = "user/solver.py", .source_text = text}}, {""});
  ASSERT_TRUE(selection.kernels[0].source.parse_error);
  EXPECT_THAT(selection.kernels[0].source.parse_error->text(),
              ::testing::AnyOf(HasSubstr("user/wave.py:42:12"), HasSubstr("user/solver.py:18")));
}

TEST_F(SelectTest, ReportsNoteIfSourceFileChangedSinceExport) {
  const std::string origin = file("wave.py", "old text");
  const std::string text = fmt::format("# file: {} sha256 {}\n{}", origin, sha256_hex("old text"), kTwoKernels);
  const auto has_note = [&] {
    const Result<KernelSet> read = kernels_in(file("exported.py", text));
    EXPECT_TRUE(read.ok());
    return std::ranges::any_of(read->notes,
                               [&](const std::string& note) { return note.starts_with(origin + ": has changed"); });
  };
  EXPECT_FALSE(has_note());
  file("wave.py", "new text");
  EXPECT_TRUE(has_note());
  fs::remove(origin);
  EXPECT_FALSE(has_note());
}

}  // namespace
}  // namespace assay::harness
