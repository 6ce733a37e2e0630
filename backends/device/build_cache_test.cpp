#include "backends/device/build_cache.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/hash.hpp"

namespace assay::backends {
namespace {

namespace fs = std::filesystem;

class BuildCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory = name;
  }
  void TearDown() override { fs::remove_all(directory); }

  std::unique_ptr<BuildCache> open(std::uint64_t bytes = 1 << 20) const {
    return BuildCache::open(directory / "cache", bytes).take();
  }

  /// A file with this content.
  fs::path file(const std::string& content) {
    const fs::path path = directory / std::to_string(next_++);
    std::ofstream(path) << content;
    return path;
  }

  /// The content that the cache holds under the key; "" if none.
  std::string content(BuildCache& cache, const std::string& key) {
    const fs::path path = directory / std::to_string(next_++);
    if (!cache.fetch(sha256_hex(key), path)) {
      return "";
    }
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  void store(BuildCache& cache, const std::string& key, const std::string& text) {
    const Result<void> stored = cache.store(sha256_hex(key), file(text));
    EXPECT_TRUE(stored.ok()) << stored.error().text();
  }

  fs::path directory;

 private:
  int next_ = 0;
};

TEST_F(BuildCacheTest, ReturnsStoredFile) {
  store(*open(), "a", "alpha");
  const auto cache = open();
  EXPECT_EQ(content(*cache, "a"), "alpha");
  EXPECT_EQ(content(*cache, "b"), "");
  store(*cache, "a", "changed");
  EXPECT_EQ(content(*cache, "a"), "changed");
}

TEST_F(BuildCacheTest, ReadReturnsWrittenStringIncludingNulBytes) {
  const auto cache = open(100);
  const std::string binary("a\0b\n", 4);
  EXPECT_EQ(cache->read(sha256_hex("a")), std::nullopt);
  EXPECT_TRUE(cache->write(sha256_hex("a"), binary).ok());
  EXPECT_EQ(cache->read(sha256_hex("a")), binary);
  EXPECT_TRUE(cache->write(sha256_hex("b"), std::string(101, 'b')).ok());
  EXPECT_EQ(cache->read(sha256_hex("b")), std::nullopt) << "the content is larger than the store";
}

TEST_F(BuildCacheTest, ReadsNoContentThatWasChanged) {
  const std::unique_ptr<BuildCache> cache = open();
  const std::string key = sha256_hex("a");
  const fs::path entry = cache->directory() / key.substr(0, 2) / key.substr(2);
  const auto change = [&](const auto& damage) {
    ASSERT_TRUE(cache->write(key, "add.f32").ok());
    ASSERT_TRUE(cache->read(key));
    damage();
    EXPECT_EQ(cache->read(key), std::nullopt);
  };
  change([&] { fs::resize_file(entry, 0); });
  change([&] { fs::resize_file(entry, fs::file_size(entry) - 1); });
  change([&] { std::fstream(entry, std::ios::in | std::ios::out) << "sub"; });
  change([&] {
    fs::remove(entry);
    fs::create_directory(entry);
  });
}

TEST_F(BuildCacheTest, StoringSameFileTwiceUsesSpaceOfOneFile) {
  const auto cache = open();
  const fs::path once = file("alpha");
  EXPECT_TRUE(cache->store(sha256_hex("a"), once).ok());
  EXPECT_TRUE(cache->store(sha256_hex("a"), once).ok());
  EXPECT_EQ(cache->measure(), 5U);
}

TEST_F(BuildCacheTest, EvictsLeastRecentlyUsedEntry) {
  const auto cache = open(1000);
  for (const char* key : {"a", "b", "c"}) {
    store(*cache, key, std::string(300, *key));
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  EXPECT_EQ(content(*cache, "a"), std::string(300, 'a'));
  store(*cache, "d", std::string(300, 'd'));
  EXPECT_LE(cache->measure(), 900U);
  EXPECT_EQ(content(*cache, "a"), std::string(300, 'a')) << "a was used after b";
  EXPECT_EQ(content(*cache, "b"), "");
  EXPECT_EQ(content(*cache, "d"), std::string(300, 'd'));
}

TEST_F(BuildCacheTest, EnforcesSizeLimitAcrossRuns) {
  for (const char* key : {"a", "b", "c"})
    store(*open(1000), key, std::string(300, *key));
  const auto cache = open(1000);
  EXPECT_EQ(content(*cache, "a"), std::string(300, 'a')) << "three entries fit";
  store(*cache, "d", std::string(300, 'd'));
  EXPECT_LE(cache->measure(), 900U);
}

TEST_F(BuildCacheTest, FetchedFilesSurviveLaterEviction) {
  const auto cache = open(100);
  store(*cache, "a", std::string(60, 'a'));
  const fs::path held = directory / "held";
  ASSERT_TRUE(cache->fetch(sha256_hex("a"), held));
  store(*cache, "b", std::string(60, 'b'));
  EXPECT_EQ(content(*cache, "a"), "");
  EXPECT_EQ(fs::file_size(held), 60U);
}

TEST_F(BuildCacheTest, DoesNotStoreFileLargerThanLimit) {
  const auto cache = open(100);
  store(*cache, "a", "small");
  store(*cache, "b", std::string(101, 'b'));
  EXPECT_EQ(content(*cache, "a"), "small");
  EXPECT_EQ(content(*cache, "b"), "");
}

TEST_F(BuildCacheTest, RemovesIncompleteFilesOnlyIfOld) {
  const fs::path directory_of_builds = open(100)->directory();
  const fs::path abandoned = directory_of_builds / "incomplete" / "1-1";
  const fs::path in_progress = directory_of_builds / "incomplete" / "1-2";
  for (const fs::path& path : {abandoned, in_progress}) {
    std::ofstream(path) << std::string(50, 'x');
  }
  fs::last_write_time(abandoned, fs::file_time_type::clock::now() - std::chrono::hours{2});
  const auto cache = open(100);
  store(*cache, "a", std::string(60, 'a'));
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(in_progress));
}

/// Several processes store and fetch in one small directory, so that each evicts entries that the others just wrote.
/// Every entry found must be complete.
TEST_F(BuildCacheTest, ConcurrentRunsNeverReadIncompleteFiles) {
  constexpr int kProcesses = 4;
  constexpr int kRounds = 150;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto cache = open(5000);
      int torn = 0;
      for (int round = 0; round < kRounds; ++round) {
        const std::string key = std::to_string((round * 7 + process) % 20);
        const fs::path path = directory / (std::to_string(process) + "-" + std::to_string(round));
        if (cache->fetch(sha256_hex(key), path)) {
          torn += fs::file_size(path) == 500 ? 0 : 1;
        } else {
          std::ofstream(path) << std::string(500, key[0]);
          torn += cache->store(sha256_hex(key), path).ok() ? 0 : 1;
        }
      }
      ::_exit(torn == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_LE(open(5000)->measure(), 5000U + kProcesses * 500U);
}

TEST_F(BuildCacheTest, ReportsUnwritableDirectory) {
  std::ofstream(directory / "cache") << "a file where the directory should be";
  const auto cache = BuildCache::open(directory / "cache", 1000);
  ASSERT_FALSE(cache.ok());
  EXPECT_NE(cache.error().text().find((directory / "cache").string()), std::string::npos);
}

TEST(DefaultCacheDirectory, IsBelowXdgCacheHomeIfThatIsAnAbsolutePath) {
  const char* const before = ::getenv("XDG_CACHE_HOME");
  const std::string saved = before == nullptr ? "" : before;
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(default_cache_directory(), "/somewhere/assay");
  ::setenv("XDG_CACHE_HOME", "not/absolute", 1);
  EXPECT_TRUE(default_cache_directory().is_absolute());
  before == nullptr ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", saved.c_str(), 1);
}

TEST_F(BuildCacheTest, TwoCachesCanWriteToOneDirectoryConcurrently) {
  constexpr int kEntries = 200;
  const auto write = [](BuildCache& cache, int number) {
    for (int i = 0; i < kEntries; ++i) {
      const std::string text = std::to_string(number) + " " + std::to_string(i);
      EXPECT_TRUE(cache.write(sha256_hex(text), text).ok());
    }
  };
  const std::unique_ptr<BuildCache> first = open();
  const std::unique_ptr<BuildCache> second = open();
  std::thread other([&] { write(*second, 2); });
  write(*first, 1);
  other.join();
  for (const int number : {1, 2}) {
    for (int i = 0; i < kEntries; ++i) {
      const std::string text = std::to_string(number) + " " + std::to_string(i);
      EXPECT_EQ(first->read(sha256_hex(text)), text);
    }
  }
}

}  // namespace
}  // namespace assay::backends
