#include "harness/run/shared_exams.hpp"

namespace assay::harness {
namespace {

/// An exam takes a few megabytes, most of them for the large launch.
constexpr std::size_t kMostKept = 64;

}  // namespace

SharedExams::SharedExams(const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    for (const KernelSource& source : group.sources)
      ++entries_[key_of(source, group.options)].takers;
  }
}

SharedExams::Key SharedExams::key_of(const KernelSource& source, const RunOptions& options) {
  return {source.module.get(), source.kernel_index, options.backward, options.mode.flags.flush_subnormals};
}

std::shared_ptr<const DrawnExam> SharedExams::of(const KernelSource& source, const RunOptions& options,
                                                 const std::function<DrawnExam()>& draw) {
  const Key key = key_of(source, options);
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[key];
    --entry.takers;
    if (entry.exam != nullptr && entry.takers <= 0) --kept_;
    if (entry.exam != nullptr) return entry.takers > 0 ? entry.exam : std::move(entry.exam);
  }
  auto exam = std::make_shared<const DrawnExam>(draw());
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[key];
  if (entry.takers > 0 && entry.exam == nullptr && kept_ < kMostKept) {
    entry.exam = exam;
    ++kept_;
  }
  return exam;
}

}  // namespace assay::harness
