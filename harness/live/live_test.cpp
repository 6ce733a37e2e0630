// Imports of modules that misbehave. Warp is a small module with its name, so that only Python is needed.

#include "harness/live/live.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "backends/python/python_process.hpp"
#include "harness/live/package.hpp"
#include "support/hash.hpp"

namespace assay::live {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kFakeWarp = R"(class config:
    quiet = False
__version__ = "1.19.0"
)";
constexpr std::string_view kFakeContext = R"(user_modules = {}
class Kernel:
    pass
)";

TEST(LivePackageTest, ContainsEveryModuleThatItsFilesImport) {
  std::set<std::string> names;
  for (const PackageFile& file : list_package_files())
    names.emplace(file.name);
  const std::regex import{R"(from \.(\w+) import)"};
  int imports = 0;
  for (const PackageFile& file : list_package_files()) {
    const std::string text{file.text};
    for (std::sregex_iterator found(text.begin(), text.end(), import); found != std::sregex_iterator(); ++found) {
      EXPECT_THAT(names, ::testing::Contains((*found)[1].str() + ".py")) << file.name;
      ++imports;
    }
  }
  EXPECT_GT(imports, 0);
}

class LiveImportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!python::find_python("").ok()) GTEST_SKIP() << "no python3";
    std::string name = (fs::temp_directory_path() / "assay-live-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("packages/warp/__init__.py", kFakeWarp);
    write("packages/warp/_src/__init__.py", "");
    write("packages/warp/_src/context.py", kFakeContext);
    ::setenv("PYTHONPATH", (folder_ / "packages").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("PYTHONPATH");
    fs::remove_all(folder_);
  }

  std::string write(const std::string& name, std::string_view text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  [[nodiscard]] ImportRequest request_for(std::string_view text) const {
    return {.files = {write("user.py", text)}, .module_names = {}, .python_interpreter = {}};
  }
  [[nodiscard]] std::string error_of(const ImportRequest& request) const {
    const Result<ImportedKernels> imported = import_kernels(request);
    return imported.ok() ? "" : imported.error().text();
  }
  [[nodiscard]] std::string error_of(std::string_view text) const { return error_of(request_for(text)); }
  /// Whether this system can enforce the confinement; otherwise nothing about it can be tested.
  [[nodiscard]] bool is_confined() const {
    const Result<ImportedKernels> imported = import_kernels(request_for("pass\n"));
    return imported.ok() && imported->confinement.complete();
  }
  [[nodiscard]] std::string user_line(int line) const {
    return fmt::format("{}:{}: ", (folder_ / "user.py").string(), line);
  }

  fs::path folder_;
};

TEST_F(LiveImportTest, AcceptsModuleWithoutKernels) {
  const Result<ImportedKernels> imported = import_kernels(request_for("x = 1\n"));
  ASSERT_TRUE(imported.ok()) << imported.error().text();
  EXPECT_THAT(imported->kernels, IsEmpty());
  EXPECT_EQ(imported->total_output_bytes, 0U);
}

TEST_F(LiveImportTest, ReportsPythonExceptionWithSourceLine) {
  EXPECT_EQ(error_of("x = 1\n\ny = x / 0\n"), user_line(3) + "import failed: ZeroDivisionError: division by zero");
}

TEST_F(LiveImportTest, ReportsSyntaxErrorWithSourceLine) {
  EXPECT_THAT(error_of("x = 1\ndef f(:\n"), StartsWith(user_line(2) + "import failed: SyntaxError: "));
}

TEST_F(LiveImportTest, ReportsMissingModule) {
  EXPECT_THAT(error_of({.files = {}, .module_names = {"no_such_module"}, .python_interpreter = {}}),
              HasSubstr("ModuleNotFoundError: No module named 'no_such_module'"));
}

TEST_F(LiveImportTest, ReportsCallOfSysExit) {
  EXPECT_EQ(error_of("import sys\nsys.exit(4)\n"), user_line(2) + "import failed: the imported code calls sys.exit(4)");
}

TEST_F(LiveImportTest, ReportsModuleThatEndsPythonProcess) {
  EXPECT_EQ(error_of("import os\nprint('last words', flush=True)\nos._exit(7)\n"),
            (folder_ / "user.py").string() +
                ": import failed: the imported code ended the process with status 7; its last output: last words");
  EXPECT_THAT(error_of("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"),
              HasSubstr("ended the process with signal 11 (Segmentation fault)"));
}

TEST_F(LiveImportTest, StopsEndlessImport) {
  ImportRequest request = request_for("while True: pass\n");
  request.time_limit = std::chrono::seconds(1);
  EXPECT_THAT(error_of(request), HasSubstr("did not finish within 1 s"));
  // A thread that never ends does not keep the process alive.
  EXPECT_EQ(error_of("import threading, time\n"
                     "threading.Thread(target=time.sleep, args=(1000,)).start()\n"),
            "");
}

TEST_F(LiveImportTest, CountsAllPrintedBytesButKeepsOnlyEndOfOutput) {
  const Result<ImportedKernels> imported =
      import_kernels(request_for("for _ in range(1024): print('x' * (1 << 20))\nprint('end')\n"));
  ASSERT_TRUE(imported.ok()) << imported.error().text();
  EXPECT_GT(imported->total_output_bytes, std::uint64_t{1} << 30);
  EXPECT_LE(imported->output_tail.size(), std::size_t{1} << 20);
  EXPECT_TRUE(imported->output_tail.ends_with("end\n"));
}

TEST_F(LiveImportTest, LimitsMemoryOfImport) {
  ImportRequest request = request_for("x = bytearray(1 << 30)\n");
  request.memory_limit_bytes = std::uint64_t{512} << 20;
  EXPECT_EQ(error_of(request), user_line(1) + "import failed: MemoryError");
}

TEST_F(LiveImportTest, ReportsInvalidAnswerOfPythonProcess) {
  EXPECT_THAT(error_of("import os\nos.write(3, b'{\"kernels\": 1, \"sources\": 2}')\nos._exit(0)\n"),
              HasSubstr("the Python process returned an invalid result"));
}

TEST_F(LiveImportTest, ImportCannotChangeFiles) {
  if (!is_confined()) GTEST_SKIP() << "confinement is only partly supported here";
  const std::string file = write("precious", "data");
  for (const std::string action :
       {"os.remove({0})", "open({0}, 'w')", "os.rename({0}, {0} + '2')", "os.mkdir({0} + '.d')", "os.chmod({0}, 0)",
        "os.utime({0})", "os.truncate({0}, 0)", "os.symlink('x', {0} + '.l')", "shutil.rmtree(os.path.dirname({0}))"}) {
    SCOPED_TRACE(action);
    std::string text = "import os, shutil\n" + action + "\n";
    for (std::size_t at = 0; (at = text.find("{0}")) != std::string::npos;)
      text.replace(at, 3, "'" + file + "'");
    EXPECT_THAT(error_of(text), ::testing::AnyOf(HasSubstr("PermissionError"), HasSubstr("OSError")));
    std::ifstream stream(file);
    std::string content;
    stream >> content;
    EXPECT_EQ(content, "data");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 3);
  }
}

TEST_F(LiveImportTest, ImportCanWriteTemporaryFiles) {
  EXPECT_EQ(error_of("import tempfile\n"
                     "with tempfile.NamedTemporaryFile('w') as stream: stream.write('x')\n"
                     "with open('/dev/null', 'w') as stream: stream.write('x')\n"),
            "");
}

TEST_F(LiveImportTest, ConfinesAndEndsChildProcessesOfImport) {
  if (!is_confined()) GTEST_SKIP() << "confinement is only partly supported here";
  EXPECT_EQ(error_of("import subprocess\nsubprocess.run(['true'], check=True)\n"), "");
  EXPECT_THAT(
      error_of(fmt::format("import subprocess\nsubprocess.run(['rm', '{}'], check=True)\n", write("precious", "data"))),
      HasSubstr("returned non-zero exit status"));
  EXPECT_TRUE(fs::exists(folder_ / "precious"));
  EXPECT_EQ(error_of("import os, time\nif os.fork() == 0: time.sleep(1000)\n"), "");
  EXPECT_THAT(error_of("import os\nos.setsid()\n"), HasSubstr("PermissionError"));
  EXPECT_THAT(error_of("import os\nwhile True: os.fork()\n"),
              HasSubstr("the imported code started more than 64 processes"));
}

TEST_F(LiveImportTest, ImportCannotSignalOtherProcessesOrUseNetwork) {
  if (!is_confined()) GTEST_SKIP() << "confinement is only partly supported here";
  EXPECT_THAT(error_of("import os\nos.kill(os.getppid(), 0)\n"), HasSubstr("PermissionError"));
  EXPECT_THAT(error_of("import socket\nsocket.socket()\n"), HasSubstr("PermissionError"));
  EXPECT_EQ(error_of("import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\n"), "");
}

TEST_F(LiveImportTest, RejectsWarpThatIsMissingBrokenOrTooOld) {
  write("packages/warp/__init__.py", "__version__ = '1.9.1'\n");
  EXPECT_THAT(error_of("pass\n"), HasSubstr("Warp 1.9.1 is too old; version 1.15 or later is required"));
  write("packages/warp/__init__.py", "raise ImportError('libwarp.so: no such file')\n");
  EXPECT_THAT(error_of("pass\n"), HasSubstr("cannot import Warp: ImportError: libwarp.so: no such file"));
  write("packages/warp/__init__.py", "raise ModuleNotFoundError(name='warp')\n");
  EXPECT_THAT(error_of("pass\n"), HasSubstr("this Python has no Warp; install warp-lang"));
}

TEST_F(LiveImportTest, RejectsPathThatIsNotAPythonInterpreter) {
  ImportRequest request = request_for("pass\n");
  request.python_interpreter = "/no/such/python";
  EXPECT_EQ(error_of(request), "/no/such/python: no such program; expected a Python interpreter");
  request.python_interpreter = "/bin/true";
  EXPECT_EQ(error_of(request), "/bin/true: is not a Python interpreter");
}

TEST_F(LiveImportTest, AcceptsWrapperScriptAsPythonInterpreter) {
  const std::string script =
      write("python", fmt::format("#!/bin/sh\n/bin/true\nexec '{}' \"$@\"\n", python::find_python("")->string()));
  fs::permissions(script, fs::perms::owner_all);
  ImportRequest request = request_for("x = 1 / 0\n");
  request.python_interpreter = script;
  EXPECT_THAT(error_of(request), HasSubstr("ZeroDivisionError"));
}

TEST_F(LiveImportTest, DetectsChangedOrRemovedSourceFile) {
  const std::string file = write("wave.py", "x = 1\n");
  const std::vector<SourceFile> sources{{file, sha256_hex("x = 1\n")}};
  EXPECT_EQ(changed_source(sources), std::nullopt);
  write("wave.py", "x = 2\n");
  EXPECT_EQ(changed_source(sources), file);
  fs::remove(file);
  EXPECT_EQ(changed_source(sources), file);
}

}  // namespace
}  // namespace assay::live
