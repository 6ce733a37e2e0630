#include "ir/transforms/refusal.hpp"

#include <fmt/format.h>

#include "ir/source_location.hpp"

namespace assay::transforms {

Error reject(AdjointRejection rejection, const ir::Module& module, ir::Loc loc, const std::string& subject) {
  const RejectionEntry& reason = row(rejection);
  const std::string about = subject.empty() ? "" : fmt::format("'{}': ", subject);
  return Error{.message = fmt::format("{}: {}{}", reason.label, about, reason.explanation),
               .where = ir::location_text(module, loc)};
}

}  // namespace assay::transforms
