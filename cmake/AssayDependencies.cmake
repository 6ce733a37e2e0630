# External dependencies; docs/design/dependencies.md gives the reason for each. ci/setup installs them.

set(OPENSSL_USE_STATIC_LIBS ${ASSAY_CARRIED})
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(valijson REQUIRED)
find_package(pugixml REQUIRED)
find_package(CLI11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Boost 1.81 REQUIRED)

include(AssayAllocator)
include(AssayArchives)
include(AssayCudaHeaders)
include(AssaySeccomp)
include(AssayTreeSitter)

# Boost.Process v2 with Boost.Asio, headers only, on std::filesystem.
add_library(assay_boost_process INTERFACE)
target_link_libraries(assay_boost_process INTERFACE Boost::headers Threads::Threads)
target_compile_definitions(assay_boost_process INTERFACE BOOST_PROCESS_USE_STD_FS=1)
