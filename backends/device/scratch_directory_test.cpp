#include "backends/device/scratch_directory.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace assay::backends {
namespace {

namespace fs = std::filesystem;

class ScratchDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    parent = name;
  }
  void TearDown() override { fs::remove_all(parent); }

  static void make_old(const fs::path& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours{1});
  }

  fs::path parent;
};

TEST_F(ScratchDirectoryTest, DestructorRemovesDirectory) {
  fs::path path;
  {
    ScratchDirectory first = ScratchDirectory::create(parent / "runs").take();
    const ScratchDirectory moved = std::move(first);
    path = moved.path();
    std::ofstream(path / "file") << "content";
    EXPECT_TRUE(fs::exists(path / "file"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ScratchDirectoryTest, RemovesOnlyOldRunDirectoriesOfEndedProcesses) {
  const fs::path orphan = parent / "run-orphan";
  const fs::path other = parent / "other";
  fs::create_directories(orphan / "deep");
  fs::create_directories(other);
  const ScratchDirectory alive = ScratchDirectory::create(parent).take();
  EXPECT_TRUE(fs::exists(orphan)) << "its owner may not have locked it yet";
  for (const fs::path& path : {orphan, other, alive.path()})
    make_old(path);
  const ScratchDirectory next = ScratchDirectory::create(parent).take();
  EXPECT_FALSE(fs::exists(orphan));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(alive.path()));
}

TEST_F(ScratchDirectoryTest, CreationBelowRegularFileFails) {
  std::ofstream(parent / "file") << "";
  EXPECT_FALSE(ScratchDirectory::create(parent / "file" / "below").ok());
}

}  // namespace
}  // namespace assay::backends
