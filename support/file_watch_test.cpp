#include "support/file_watch.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FileWatchTest : public ::testing::Test {
 protected:
  FileWatchTest() {
    std::string name = (fs::temp_directory_path() / "assay-watch-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~FileWatchTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return path(name);
  }
  static FileWatch watching(const std::vector<std::string>& paths) {
    FileWatch watch;
    for (const std::string& path : paths)
      watch.add(path);
    return watch;
  }

  fs::path folder_;
};

TEST_F(FileWatchTest, FindsSavedReplacedCreatedAndRemovedFiles) {
  const std::string saved = write("saved", "a"), replaced = write("replaced", "a"), removed = write("removed", "a");
  const std::string same = write("same", "a"), created = path("created");
  const FileWatch watch = watching({saved, same, replaced, created, removed});
  EXPECT_EQ(watch.size(), 5U);
  EXPECT_THAT(watch.changed(), IsEmpty());
  write("saved", "ab");
  // As an editor does, with the same size and time.
  const auto time = fs::last_write_time(replaced);
  fs::rename(write("other", "b"), replaced);
  fs::last_write_time(replaced, time);
  write("created", "a");
  fs::remove(removed);
  EXPECT_THAT(watch.changed(), ElementsAre(saved, replaced, created, removed));
}

TEST_F(FileWatchTest, KeepsStateOfFileThatIsAddedTwice) {
  const std::string file = write("file", "a");
  FileWatch watch = watching({file});
  write("file", "ab");
  watch.add(file);
  EXPECT_THAT(watch.changed(), ElementsAre(file));
}

TEST_F(FileWatchTest, WaitsUntilLaterChangesHaveEnded) {
  const std::vector<std::string> files{write("a", ""), write("b", ""), write("c", ""), write("d", "")};
  const FileWatch watch = watching(files);
  std::thread editor([&] {
    for (const std::string& file : files) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      std::ofstream(file) << "text";
    }
  });
  EXPECT_EQ(watch.wait_for_change(std::chrono::milliseconds(600)), files);
  editor.join();
}

}  // namespace
}  // namespace assay
