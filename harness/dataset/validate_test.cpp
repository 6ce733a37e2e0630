#include "harness/dataset/validate.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "backends/source/print.hpp"
#include "harness/dataset/evidence.hpp"
#include "harness/dataset/finish.hpp"
#include "harness/dataset/journal.hpp"
#include "harness/dataset/render.hpp"
#include "harness/dataset/testing/generated.hpp"
#include "harness/suite/select/random_kernels.hpp"
#include "support/files.hpp"
#include "support/rng.hpp"

namespace assay::dataset {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Folder;
using ::testing::HasSubstr;
using testing::made;
using testing::small_plan;

ValidateOptions options() { return {.printer = source::print_cpp_and_cuda, .jobs = 2}; }

ValidationResult checked(const fs::path& path) {
  Result<ValidationResult> validation = validate(path, options());
  EXPECT_TRUE(validation.ok()) << validation.error().text();
  return validation.ok() ? validation.take() : ValidationResult{};
}

std::string joined(const ValidationResult& validation) {
  std::string text;
  for (const RowError& diagnostic : validation.diagnostics)
    text += to_text(diagnostic).substr(0, 600) + "\n";
  return text;
}

/// The rows of a dataset's train split, to be changed and written back with updated checksums.
class Rows {
 public:
  explicit Rows(fs::path dir) : dir_(std::move(dir)) {
    Result<LineReader> reader = LineReader::open(dir_ / kTrain);
    for (std::string line; reader->next(line).value_or(false);)
      lines.push_back(line);
  }
  void put_back() const {
    Result<LineWriter> file = LineWriter::create(dir_ / kTrain);
    for (const std::string& line : lines)
      ASSERT_TRUE(file->add(line).ok());
    ASSERT_TRUE(file->commit().ok());
    refresh_sums();
  }
  void refresh_sums() const {
    std::ifstream in(dir_ / "checksums.sha256");
    std::string text;
    for (std::string line; std::getline(in, line);) {
      const std::string name = line.substr(66);
      text += sha256_of_file(dir_ / name).value_or(line.substr(0, 64)) + "  " + name + "\n";
    }
    ASSERT_TRUE(put_file(dir_ / "checksums.sha256", text).ok());
  }
  /// Changes one row as JSON, by RFC 6902.
  void patch(std::size_t row, const char* patch) {
    lines[row] = nlohmann::ordered_json::parse(lines[row]).patch(json::parse(patch)).dump();
  }
  void replace(std::size_t row, std::string_view found, const std::string& by) {
    const std::size_t at = lines[row].find(found);
    ASSERT_NE(at, std::string::npos) << found;
    lines[row].replace(at, found.size(), by);
  }
  void replace_in(const char* file, std::string_view found, const std::string& by) const {
    std::string text = read_file_text(dir_ / file).value_or("");
    const std::size_t at = text.find(found);
    ASSERT_NE(at, std::string::npos) << found;
    ASSERT_TRUE(put_file(dir_ / file, text.replace(at, found.size(), by)).ok());
  }
  [[nodiscard]] const fs::path& dir() const { return dir_; }

  static constexpr const char* kTrain = "data/train-00000-of-00001.jsonl.gz";
  std::vector<std::string> lines;

 private:
  fs::path dir_;
};

struct Corruption {
  const char* name;
  void (*change)(Rows& rows, std::size_t row);
  const char* json_pointer;
  const char* words;        ///< in found or expected
  bool of_row = true;       ///< the diagnostic names the row's line
  bool keeps_sums = false;  ///< the change is to the files; the checksums are not updated
};

void flip_bit(Rows& rows, std::size_t row) {
  const fs::path path = rows.dir() / Rows::kTrain;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto at = static_cast<std::streamoff>(fs::file_size(path) * (row + 1) / (rows.lines.size() + 2));
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 0x10));
}

// clang-format off
const Corruption kCorruptions[] = {
    {"wrong type", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/launch/rank","value":"1"}])"); }, "/launch/rank", "integer"},
    {"number for a source", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/cuda_source","value":3}])"); }, "/cuda_source", "string"},
    {"missing member", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"remove","path":"/metadata"}])"); }, "", "the member metadata"},
    {"missing part", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"remove","path":"/evidence/0/sizes"}])"); }, "/evidence/0", "the member sizes"},
    {"unknown member", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"add","path":"/extra","value":1}])"); }, "", "no member"},
    {"no row at all", [](Rows& r, std::size_t i) { r.lines[i] = "[]"; }, "", "type object"},
    {"duplicate id", [](Rows& r, std::size_t i) { r.lines.insert(r.lines.begin() + static_cast<std::ptrdiff_t>(i), r.lines[i]); }, "/id", "the id of the row", false},
    {"another row's id", [](Rows& r, std::size_t i) { r.replace(i, r.lines[i].substr(7, 64), std::string(64, 'a')); }, "/id", "aaaa"},
    {"swapped sources", [](Rows& r, std::size_t i) { json row = json::parse(r.lines[i]); std::swap(row["cpu_source"], row["cuda_source"]); r.lines[i] = row.dump(); }, "/cpu_source", "line"},
    {"swapped Python", [](Rows& r, std::size_t i) { json a = json::parse(r.lines[i]); const json b = json::parse(r.lines[i == 0 ? 1 : 0]); a["python_source"] = b["python_source"]; r.lines[i] = a.dump(); }, "/id", "\""},
    {"edited CUDA", [](Rows& r, std::size_t i) { r.replace(i, "blockIdx.x * blockDim.x", "blockIdx.x + blockDim.x"); }, "/cuda_forward", "blockIdx.x + blockDim.x"},
    {"edited C++", [](Rows& r, std::size_t i) { json row = json::parse(r.lines[i]); row["cpu_forward"] = row["cpu_forward"].get<std::string>() + "// x\n"; r.lines[i] = row.dump(); }, "/cpu_forward", "// x"},
    {"invalid Python", [](Rows& r, std::size_t i) { r.replace(i, "wp.tid()", "wp.tid("); }, "/python_source", "one kernel"},
    {"two kernels", [](Rows& r, std::size_t i) { json row = json::parse(r.lines[i]); row["python_source"] = row["python_source"].get<std::string>() + "\n\n@wp.kernel\ndef g(z: wp.array(dtype=float)):\n    i = wp.tid()\n    z[i] = 1.0\n"; r.lines[i] = row.dump(); }, "/python_source", "got 2"},
    {"an incorrect signature", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/signature/0/name","value":"other"}])"); }, "/signature", "other"},
    {"an edited instruction", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/instruction","value":"Write a kernel."}])"); }, "/instruction", "Write a kernel."},
    {"a missing docstring", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"remove","path":"/docstring"}])"); }, "/docstring", "For each"},
    {"an edited difficulty", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/difficulty/statements","value":1000}])"); }, "/difficulty", "1000"},
    {"no license", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"remove","path":"/metadata/license"}])"); }, "/metadata", "the member license"},
    {"another license", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/metadata/license","value":"MIT"}])"); }, "/metadata/license", "unknown"},
    {"another origin", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/origin","value":{"package":"waves","version":"","file":"a.py","license":"MIT","attribution":"Ada"}}])"); }, "/origin", "waves"},
    {"another seed", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/metadata/seed","value":"77"}])"); }, "/metadata/seed", "77"},
    {"another version", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/metadata/generator_version","value":"9"}])"); }, "/metadata/generator_version", "9"},
    {"another effort", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/metadata/effort","value":"thorough"}])"); }, "/metadata/effort", "thorough"},
    {"another kernel name", [](Rows& r, std::size_t i) { json row = json::parse(r.lines[i]); row["metadata"]["name"] = row["metadata"]["name"].get<std::string>() + "1"; r.lines[i] = row.dump(); }, "/metadata/name", "slot in journal.jsonl"},
    {"another family", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/family","value":"math"}])"); }, "/family", "the family that the name begins with"},
    {"a failed verdict", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/evidence/0/verdict","value":"fail"}])"); }, "/evidence/0/verdict", "fail"},
    {"a pass without values", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/evidence/1/verdict","value":"pass"}])"); }, "/evidence/1/values_compared", "positive"},
    {"no evidence", [](Rows& r, std::size_t i) { r.patch(i, R"([{"op":"replace","path":"/evidence","value":[]}])"); }, "/evidence", "cpu/forward"},
    {"invalid UTF-8", [](Rows& r, std::size_t i) { r.replace(i, "wp.tid()", "\xff\xfe"); }, "/python_source", "UTF-8"},
    {"a member twice", [](Rows& r, std::size_t i) { r.replace(i, R"("schema_version")", R"("id")"); }, "/id", "duplicate"},
    {"deep nesting", [](Rows& r, std::size_t i) { r.replace(i, R"("signature":[)", R"("signature":)" + std::string(100'000, '[')); }, nullptr, "nesting"},
    {"half a line", [](Rows& r, std::size_t i) { r.lines[i].resize(r.lines[i].size() / 2); }, nullptr, "end of the line"},
    {"not JSON", [](Rows& r, std::size_t i) { r.lines[i] = "hello"; }, "", "hello"},
    {"a missing row", [](Rows& r, std::size_t i) { r.lines.erase(r.lines.begin() + static_cast<std::ptrdiff_t>(i)); }, "", "cannot be read", false},
    {"flipped bit", flip_bit, "", "checksums.sha256", false, true},
    {"truncated file", [](Rows& r, std::size_t) { fs::resize_file(r.dir() / Rows::kTrain, fs::file_size(r.dir() / Rows::kTrain) / 2); }, "", "gzip", false, true},
    {"no data", [](Rows& r, std::size_t) { fs::remove(r.dir() / Rows::kTrain); }, "", "No such file", false, true},
    {"an extra file", [](Rows& r, std::size_t) { fs::copy_file(r.dir() / Rows::kTrain, r.dir() / "data/train-00001-of-00001.jsonl.gz"); }, "", "does not list", false, true},
    {"edited stats", [](Rows& r, std::size_t) { json stats = json::parse(read_file_text(r.dir() / "stats.json").value()); stats["families"]["loop"] = 77; std::ofstream(r.dir() / "stats.json") << stats; }, "/families/loop", "computed from the rows", false, true},
    {"broken stats", [](Rows& r, std::size_t) { std::ofstream(r.dir() / "stats.json") << "{"; }, "", "JSON", false, true},
    {"broken journal", [](Rows& r, std::size_t) { std::ofstream(r.dir() / "journal.jsonl") << "{}\n"; }, "", "a valid journal", false, true},
    {"edited card", [](Rows& r, std::size_t) { std::ofstream(r.dir() / "README.md", std::ios::app) << "x"; }, "", "checksums.sha256", false, true},
    {"edited card with a checksum", [](Rows& r, std::size_t) { std::ofstream(r.dir() / "README.md", std::ios::app) << "x"; r.refresh_sums(); }, "", "in the card that this version of Assay writes", false, true},
    {"a card that claims a verification", [](Rows& r, std::size_t) { r.replace_in("README.md", "Nothing: the rows were generated without", "Each row passed"); r.refresh_sums(); }, "", "Each row passed", false, true},
    {"an empty card", [](Rows& r, std::size_t) { ASSERT_TRUE(put_file(r.dir() / "README.md", "").ok()); r.refresh_sums(); }, "", "line 1: nothing", false, true},
    {"an empty schema", [](Rows& r, std::size_t) { ASSERT_TRUE(put_file(r.dir() / "schema.json", "").ok()); r.refresh_sums(); }, "", "in the schema of this version of Assay", false, true},
    {"an edited schema", [](Rows& r, std::size_t) { r.replace_in("schema.json", "\"minimum\": 0", "\"minimum\": 1"); r.refresh_sums(); }, "", "in the schema of this version of Assay", false, true},
    {"rows in another order", [](Rows& r, std::size_t i) { std::swap(r.lines[i], r.lines[i == 0 ? 1 : 0]); }, "", "in the order of their slots", false},
    {"no checksum of the quarantine", [](Rows& r, std::size_t) { r.replace_in("checksums.sha256", "  quarantine/", "  unknown/"); }, "", "does not list", false, true},
};
// clang-format on

class ValidateTest : public ::testing::Test {
 protected:
  ValidateTest() : clean_(folder_ / "clean") { made(small_plan(20), {.output = clean_}); }

  fs::path copy() {
    const fs::path dir = folder_ / "copy";
    fs::remove_all(dir);
    fs::copy(clean_, dir, fs::copy_options::recursive);
    return dir;
  }

  void expect_rejected(const Corruption& corruption, std::size_t row) {
    Rows rows(copy());
    row %= rows.lines.size();
    corruption.change(rows, row);
    if (!corruption.keeps_sums) rows.put_back();
    const ValidationResult validation = checked(rows.dir());
    EXPECT_FALSE(validation.valid()) << corruption.name;
    const bool named = std::ranges::any_of(validation.diagnostics, [&](const RowError& diagnostic) {
      const bool place = !corruption.of_row || (diagnostic.file == Rows::kTrain && diagnostic.line == row + 1);
      const bool pointer = corruption.json_pointer == nullptr || diagnostic.json_pointer == corruption.json_pointer;
      const std::string text = diagnostic.found_text + " " + diagnostic.expected;
      return place && pointer && text.find(corruption.words) != std::string::npos;
    });
    EXPECT_TRUE(named) << corruption.name << " of row " << row << "\n" << joined(validation);
  }

  Folder folder_;
  fs::path clean_;
};

TEST_F(ValidateTest, AcceptsValidDataset) {
  const ValidationResult validation = checked(clean_);
  EXPECT_TRUE(validation.diagnostics.empty()) << joined(validation);
  EXPECT_EQ(validation.rows, 20U);
}

/// Rows of schema 1.2 have no descriptions, and their kernels have the numbers of the generators as names.
TEST_F(ValidateTest, AcceptsRowsOfOlderSchema) {
  const std::string name = "loop/r2_7";
  const Result<harness::KernelSource> source = harness::random_kernel(name);
  Result<RenderedKernel> rendered = render(*source, source::print_cpp_and_cuda);
  ASSERT_TRUE(rendered.ok());
  rendered->row.metadata = {.name = name, .seed = "1", .category = "loop", .judging_effort = "none", .license = "MIT"};
  for (const char* const device : {"cpu", "cuda", "ptx"}) {
    for (const char* const pass : {"forward", "backward"})
      rendered->row.evidence.push_back(not_run(device, pass, "not verified"));
  }
  json row = json::parse(to_line(rendered->row));
  row["schema_version"] = "1.2.0";
  row["metadata"]["licence"] = row["metadata"]["license"];
  row["metadata"].erase("license");
  for (const char* const member : {"docstring", "instruction", "difficulty"})
    row.erase(member);
  const fs::path file = folder_ / "older.jsonl";
  ASSERT_TRUE(put_file(file, row.dump() + "\n").ok());
  EXPECT_TRUE(checked(file).diagnostics.empty()) << joined(checked(file));
  row["schema_version"] = "1.3.0";
  ASSERT_TRUE(put_file(file, row.dump() + "\n").ok());
  EXPECT_THAT(joined(checked(file)), HasSubstr("/docstring: found"));
}

TEST_F(ValidateTest, RejectsInputWithoutRows) {
  ASSERT_TRUE(put_file(folder_ / "empty.jsonl", "").ok());
  for (const fs::path& path : {folder_ / "empty.jsonl", fs::path("/dev/null")}) {
    EXPECT_FALSE(checked(path).valid()) << path;
    EXPECT_THAT(joined(checked(path)), HasSubstr("found no rows, expected a dataset with at least one row")) << path;
  }
}

/// Each shard is a complete dataset, even if the plan has fewer blocks than shards.
TEST_F(ValidateTest, AcceptsShardWithoutBlocks) {
  DatasetPlan plan = small_plan(4);
  plan.shard = {.shard_index = 1, .shard_count = 2};
  made(plan, {.output = folder_ / "shard"});
  const ValidationResult validation = checked(folder_ / "shard");
  EXPECT_TRUE(validation.diagnostics.empty()) << joined(validation);
  EXPECT_EQ(validation.rows, 0U);
}

TEST_F(ValidateTest, DiagnosticShowsChangedPartOfLongInstruction) {
  Rows rows(copy());
  json row = json::parse(rows.lines[2]);
  std::string instruction = row.at("instruction");
  ASSERT_GT(instruction.size(), 120U);
  instruction.replace(instruction.size() - 8, 1, "~");
  row["instruction"] = instruction;
  rows.lines[2] = row.dump();
  rows.put_back();
  const ValidationResult validation = checked(rows.dir());
  const auto error = std::ranges::find(validation.diagnostics, "/instruction", &RowError::json_pointer);
  ASSERT_NE(error, validation.diagnostics.end()) << joined(validation);
  EXPECT_THAT(error->found_text, HasSubstr("~"));
  EXPECT_NE(error->found_text, error->expected);
}

TEST_F(ValidateTest, ReportsLocationOfEachCorruption) {
  for (const Corruption& corruption : kCorruptions)
    expect_rejected(corruption, 3);
}

TEST_F(ValidateTest, ReportsAllInvalidRows) {
  Rows rows(copy());
  rows.replace(1, "wp.tid()", "\xff");
  rows.patch(4, R"([{"op":"remove","path":"/launch"}])");
  rows.lines[6] = "{";
  rows.put_back();
  std::vector<std::uint64_t> lines;
  for (const RowError& diagnostic : checked(rows.dir()).diagnostics) {
    if (diagnostic.file == Rows::kTrain) lines.push_back(diagnostic.line);
  }
  EXPECT_THAT(lines, ::testing::ElementsAre(2, 5, 7));
}

TEST_F(ValidateTest, DiagnosticsContainFileLineRowAndJsonPointer) {
  Rows rows(copy());
  const std::string id = rows.lines[2].substr(7, 16);
  rows.patch(2, R"([{"op":"replace","path":"/launch/rank","value":9}])");
  rows.put_back();
  EXPECT_THAT(joined(checked(rows.dir())),
              HasSubstr(fmt::format("error: {}:3: row {}: /launch/rank: found 9, expected ", Rows::kTrain, id)));
}

TEST_F(ValidateTest, ReportsNearDuplicateInAnotherSplit) {
  Rows rows(copy());
  json row = json::parse(rows.lines[0]);
  row["id"] = std::string(64, 'b');  // the program is the first row's
  fs::remove(rows.dir() / "data/test-00000-of-00001.jsonl.gz");
  Result<LineWriter> file = LineWriter::create(rows.dir() / "data/test-00000-of-00001.jsonl.gz");
  ASSERT_TRUE(file->add(row.dump()).ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_THAT(joined(checked(rows.dir())), HasSubstr("a near duplicate of the row at data/test"));
}

TEST_F(ValidateTest, LargeRowsDoNotExhaustMemory) {
  Rows rows(copy());
  for (const std::size_t row : {1U, 2U})
    rows.replace(row, "wp.tid()", std::string(std::size_t{100} << 20, 'x'));
  rows.put_back();
  rows.lines.clear();
  rows.lines.shrink_to_fit();
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const ValidationResult validation = checked(rows.dir());
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss, std::max<long>(before.ru_maxrss + 50'000, 500'000));
  EXPECT_THAT(joined(validation), HasSubstr("/python_source: found a string that is too long"));
}

TEST_F(ValidateTest, AcceptsUnfinishedDataset) {
  const DatasetPlan plan = small_plan(20);
  const fs::path dir = folder_ / "stopped";
  struct Stop {};
  EXPECT_THROW(made(plan, {.output = dir,
                           .on_progress =
                               [](std::uint64_t rows, std::uint64_t) {
                                 if (rows >= 8) throw Stop{};
                               }}),
               Stop);
  const ValidationResult validation = checked(dir);
  EXPECT_TRUE(validation.valid()) << joined(validation);
  EXPECT_EQ(validation.rows, 8U);
  EXPECT_THAT(joined(validation), HasSubstr("2 of 5 blocks: the dataset is not finished"));
}

TEST_F(ValidateTest, ReportsErrorsOfDatasetInOlderLayout) {
  const fs::path dir = folder_ / "older";
  const json good = {
      {"python_source",
       "import warp as wp\n\n\n@wp.kernel\ndef f(x: wp.array(dtype=float)):\n    i = wp.tid()\n    x[i] = "
       "2.0\n"},
      {"cpp_forward", "void f() { g(1); }"},
      {"metadata", {{"category", "loop"}, {"device", "cpu"}}}};
  json torn = good;
  torn["cpp_forward"] = "void f() { g(1;";
  json bare = good;
  bare.erase("cpp_forward");
  json typed = good;
  typed["python_source"] = 7;
  ASSERT_TRUE(put_file(dir / "a.json", good.dump(2)).ok());
  EXPECT_TRUE(checked(dir).valid()) << joined(checked(dir));
  EXPECT_THAT(joined(checked(dir)), HasSubstr("warning: a.json: found no backward source"));
  ASSERT_TRUE(put_file(dir / "b.json", torn.dump()).ok());
  ASSERT_TRUE(put_file(dir / "c.json", bare.dump()).ok());
  ASSERT_TRUE(put_file(dir / "d.json", typed.dump()).ok());
  ASSERT_TRUE(put_file(dir / "e.json", "{\"python_source\": \"\xff\"}").ok());
  const std::string text = joined(checked(dir));
  EXPECT_THAT(text, HasSubstr("error: b.json: /cpp_forward: found source that ends before the closing ')'"));
  EXPECT_THAT(text, HasSubstr("error: c.json: found no generated source"));
  EXPECT_THAT(text, HasSubstr("error: d.json: /python_source: found"));
  EXPECT_THAT(text, HasSubstr("error: e.json: /python_source: found the byte 0xff"));
}

/// Corrupts random rows; ASSAY_CORRUPTIONS is the number of corruptions.
TEST_F(ValidateTest, RejectsRandomCorruptions) {
  const char* const wanted = std::getenv("ASSAY_CORRUPTIONS");
  if (wanted == nullptr) GTEST_SKIP() << "takes minutes; the test harness_dataset_corruption_test runs it";
  Rng rng(8);
  for (int i = 0; i < std::atoi(wanted); ++i)
    expect_rejected(rng.choose(kCorruptions), rng.uniform_int<std::size_t>(0, 17));
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(usage.ru_maxrss, 500'000);
}

}  // namespace
}  // namespace assay::dataset
