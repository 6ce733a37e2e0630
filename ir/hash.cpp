#include "ir/hash.hpp"

#include "ir/text.hpp"
#include "support/hash.hpp"

namespace assay::ir {

std::string hash(const Module& module) { return sha256_hex(to_text(module, Naming::kCanonical)); }

}  // namespace assay::ir
