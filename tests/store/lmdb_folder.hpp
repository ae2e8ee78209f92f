// A folder for stores of LMDB.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "store/conformance.hpp"
#include "store/lmdb/lmdb_store.hpp"

namespace headrace::store {

namespace fs = std::filesystem;

inline constexpr std::size_t kLarge = 70000;  // bytes: a file of its own

class LmdbFolder : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<LmdbStore> open() const {
    return std::make_unique<LmdbStore>(path_, Durability::process);
  }
  // Files of blobs, whether anything names them or not.
  [[nodiscard]] std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path_ + "/files"))
      count += entry.is_regular_file() && entry.path().filename() != "lock" ? 1 : 0;
    return count;
  }
  // The kind of error, or none, with which it opens.
  [[nodiscard]] std::optional<ErrorKind> kind_of_failure() const {
    try {
      (void)whole(*open(), "b");
      return std::nullopt;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(path_), std::string::npos) << error.what();
      return error.kind();
    }
  }

  TestFolder folder_;
  const std::string path_ = folder_ / "store";
};

inline bool commit_pair(Store& store, unsigned number) {
  const std::string value = std::to_string(number);
  return !store.commit("t", std::vector{change("a", value), change("b", value)}).refused;
}

// Replaces all that is there: a blob, and two entries.
inline void renew(Store& store, unsigned number) {
  static const std::array samples{sample(kLarge, 0), sample(kLarge, 1), sample(kLarge, 2)};
  put(store, change("b", samples.at(number)));
  commit_pair(store, number);
}

}  // namespace headrace::store
