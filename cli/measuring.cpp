#include "cli/measuring.hpp"

#include <utility>

#include "cli/devices.hpp"

namespace assay::cli {

Result<std::unique_ptr<Measuring>> Measuring::make(const JudgeOptions& options, backends::Device& device) {
  auto measuring = std::make_unique<Measuring>();
  if (!options.measure || !device.can_run().available) return measuring;
  // It counts; what a kernel must not do was looked for when it was judged.
  measuring->observer_ = make_device("ptx", {.no_checks = check_names()});
  backends::Device* const observer = measuring->observer_->can_run().available ? measuring->observer_.get() : nullptr;
  auto measurer = harness::Measurer::make(device, observer, *options.measure);
  if (!measurer.ok()) return measurer.error();
  measuring->measurer_ = measurer.take();
  return measuring;
}

void Measuring::bind(std::vector<Group>& groups) {
  if (!measurer_) return;
  for (Group& group : groups) {
    group.options.measure = [this, forward = group.options.forward, backward = group.options.backward](
                                const harness::Subject& subject, const backends::BuiltKernel& kernel) {
      return measurer_->measure(subject, kernel, forward, backward);
    };
  }
}

}  // namespace assay::cli
