#include "store/conformance.hpp"
#include "store/memory/memory_store.hpp"

namespace headrace::store {

INSTANTIATE_TEST_SUITE_P(Memory, Conformance,
                         testing::Values(Maker{"memory", [](const std::string&) {
                                                 return std::make_unique<MemoryStore>();
                                               }}));

}  // namespace headrace::store
