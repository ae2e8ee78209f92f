// What every store must do. A store is tested by
//   INSTANTIATE_TEST_SUITE_P(Memory, Conformance, testing::Values(Maker{"memory", ...}));
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "store/store.hpp"
#include "support/present.hpp"
#include "unit/files.hpp"

namespace headrace::store {

struct Maker {
  const char* name;
  std::function<std::unique_ptr<Store>(const std::string& folder)> make;
};

// GoogleTest's name.
inline void PrintTo(  // NOLINT(readability-identifier-naming)
    const Maker& maker, std::ostream* out) {
  *out << maker.name;
}

using test::present;

class Conformance : public testing::TestWithParam<Maker> {
 protected:
  TestFolder folder_;
  std::unique_ptr<Store> made_ = GetParam().make(folder_ / "store");
  Store& store_ = *made_;
};

inline Change change(std::string key, std::string_view value,
                     std::optional<Version> expected = std::nullopt) {
  return {std::move(key), bytes_of(value), expected};
}
inline Change erasure(std::string key, std::optional<Version> expected = std::nullopt) {
  return {std::move(key), std::nullopt, expected};
}

// Bytes that depend on their place and on a number.
std::string sample(std::size_t size, unsigned number);
// A blob as a whole.
std::optional<std::string> whole(Store& store, std::string_view key);
// The version afterwards.
Version put(Store& store, const Change& blob);

}  // namespace headrace::store
