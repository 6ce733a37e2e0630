#include "ir/passes/refusal.hpp"

#include <fmt/format.h>

#include "ir/source_place.hpp"

namespace assay::passes {

Error refuse(Refusal refusal, const ir::Module& module, ir::Loc loc, const std::string& subject) {
  const RefusalRow& reason = row(refusal);
  const std::string about = subject.empty() ? "" : fmt::format("'{}': ", subject);
  return Error{.message = fmt::format("{}: {}{}", reason.label, about, reason.text),
               .where = ir::place_text(module, loc)};
}

}  // namespace assay::passes
