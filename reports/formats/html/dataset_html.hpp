// The page about a dataset: distributions, evidence, sample rows, rejected kernels and near misses. It needs no script
// and no network.
#pragma once

#include <string>

#include "harness/dataset/overview.hpp"

namespace assay::reports {

/// A complete HTML document. `version` names the program that writes it.
std::string dataset_html(const dataset::DatasetOverview& overview, const std::string& version);

}  // namespace assay::reports
