#include "backends/cpu/compiler.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/device/scratch_directory.hpp"

namespace assay::cpu {
namespace {

using backends::BuildFlags;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CompilerArguments, StrictModeDisablesFusedMultiplyAdd) {
  EXPECT_THAT(compiler_arguments(BuildFlags::strict()), Contains("-ffp-contract=off"));
  EXPECT_THAT(compiler_arguments(BuildFlags::strict()), Contains("-O0"));
  EXPECT_THAT(compiler_arguments(BuildFlags::standard()), Not(Contains("-ffp-contract=off")));
  EXPECT_THAT(compiler_arguments({.optimization_level = 2}), Contains("-O2"));
}

TEST(CompilerArguments, FastModeUsesIndividualFlagsInsteadOfFfastMath) {
  // -ffast-math links crtfastmath.o, which sets flush-to-zero when the library is loaded.
  EXPECT_THAT(compiler_arguments(BuildFlags::fast()), Not(Contains("-ffast-math")));
  EXPECT_NE(compiler_arguments(BuildFlags::fast()), compiler_arguments(BuildFlags::standard()));
}

TEST(Compiler, ChecksBoundsOfArraysWithoutOptimization) {
  for (const char* const command : {"g++", "clang++"}) {
    const auto compiler = Compiler::find(command);
    if (!compiler.ok()) continue;
    const auto starts_check = [](const std::string& argument) { return argument.starts_with("-fsanitize=bounds"); };
    EXPECT_TRUE(std::ranges::any_of(compiler->mode_arguments(BuildFlags::strict()), starts_check)) << command;
    EXPECT_FALSE(std::ranges::any_of(compiler->mode_arguments({.optimization_level = 2}), starts_check)) << command;
  }
}

TEST(Compiler, TakesCompilerNameFromCxxEnvironmentVariable) {
  ASSERT_EQ(::setenv("CXX", "no-such-compiler", 1), 0);
  const auto missing = Compiler::find("");
  ASSERT_EQ(::unsetenv("CXX"), 0);
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().text(), HasSubstr("no-such-compiler"));
  EXPECT_TRUE(Compiler::find("").ok());
}

TEST(Compiler, AcceptsCompilerCommandWithArguments) {
  const auto compiler = Compiler::find("env c++");
  ASSERT_TRUE(compiler.ok()) << compiler.error().text();
  EXPECT_THAT(compiler->identity(), HasSubstr("env c++"));
  EXPECT_FALSE(compiler->version().empty());
}

/// A path with one program, clang++, which counts its calls in the file "calls".
class FastestCompiler : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::getenv("PATH");
    folder_.emplace(backends::ScratchDirectory::create(std::filesystem::temp_directory_path() / "fastest").take());
    ASSERT_EQ(::setenv("PATH", folder_->path().c_str(), 1), 0);
  }
  void TearDown() override { ::setenv("PATH", path_.c_str(), 1); }

  /// Writes a clang++ that prints a version and compiles with this command.
  void write_compiler(const std::string& compile) const {
    const std::filesystem::path file = folder_->path() / "clang++";
    std::ofstream(file) << "#!/bin/sh\nPATH='" << path_ << "'\necho >> " << (folder_->path() / "calls").string()
                        << "\nif [ \"$1\" = --version ]; then echo 'clang version 99'; else exec " << compile
                        << "; fi\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  std::ptrdiff_t calls() const {
    std::ifstream file(folder_->path() / "calls");
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  }
  std::unique_ptr<backends::BuildCache> cache() const {
    return backends::BuildCache::open(folder_->path() / "cache", 1 << 20).take();
  }

 private:
  std::string path_;
  std::optional<backends::ScratchDirectory> folder_;
};

TEST_F(FastestCompiler, IsAClangThatWorks) {
  EXPECT_FALSE(Compiler::find_fastest(nullptr)) << "clang++ is missing";
  write_compiler("false");
  EXPECT_FALSE(Compiler::find_fastest(nullptr)) << "it cannot compile";
  // The arguments for clang, which g++ does not know.
  write_compiler("g++ -shared -o \"$(echo \"$*\" | sed 's/.*-o \\([^ ]*\\).*/\\1/')\" -x c++ /dev/null");
  const std::optional<Compiler> found = Compiler::find_fastest(nullptr);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version(), "clang version 99");
}

TEST_F(FastestCompiler, IsStartedOnceForEachFile) {
  write_compiler("true");
  EXPECT_TRUE(Compiler::find_fastest(cache().get()));
  EXPECT_EQ(calls(), 2) << "for its version and for a test";
  EXPECT_TRUE(Compiler::find_fastest(cache().get()));
  EXPECT_EQ(calls(), 2);
  write_compiler("false");
  EXPECT_FALSE(Compiler::find_fastest(cache().get())) << "the file has changed";
  EXPECT_EQ(calls(), 4);
  EXPECT_FALSE(Compiler::find_fastest(cache().get()));
  EXPECT_EQ(calls(), 4);
}

TEST(Compiler, IsNotReplacedByFastestOneIfUserChoosesIt) {
  EXPECT_TRUE(uses_default_compiler(""));
  EXPECT_FALSE(uses_default_compiler("c++"));
  ASSERT_EQ(::setenv("CXX", "c++", 1), 0);
  EXPECT_FALSE(uses_default_compiler(""));
  ASSERT_EQ(::unsetenv("CXX"), 0);
}

TEST(Compiler, LinksNoCppLibraryIfItIsGcc) {
  const auto folder = backends::ScratchDirectory::create(std::filesystem::temp_directory_path() / "compiler").take();
  const auto command_of = [&](const std::string& version) {
    const std::filesystem::path program = folder.path() / "compiler";
    std::ofstream(program) << "#!/bin/sh\necho '" << version << "'\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return Compiler::find(program.string()).take().library_command({});
  };
  EXPECT_TRUE(command_of("c++ 12.2.0 Free Software Foundation, Inc.").ends_with(" -nostdlib -lm -lc -lgcc"));
  const std::string clang = command_of("clang version 14.0.6");
  EXPECT_EQ(clang.find("-nostdlib"), std::string::npos);
  EXPECT_TRUE(clang.ends_with(" -lm"));
}

TEST(Compiler, RejectsProgramThatIsNotACompiler) { EXPECT_FALSE(Compiler::find("false").ok()); }

}  // namespace
}  // namespace assay::cpu
