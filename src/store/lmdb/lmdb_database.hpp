// A database of the LMDB module, with what it says as C++ has it.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "store/lmdb/lmdb_table.hpp"
#include "store/store.hpp"

namespace headrace::store {

class LmdbDatabase {
 public:
  // Of a folder that is there. Throws Error, as all functions do, also where the module is missing.
  explicit LmdbDatabase(std::string folder);
  LmdbDatabase(const LmdbDatabase&) = delete;
  LmdbDatabase& operator=(const LmdbDatabase&) = delete;
  ~LmdbDatabase();

  // Values are lent. False ends a scan.
  using Visit = std::function<bool(std::string_view key, Bytes value, Version version)>;
  void read(std::string_view key, const Visit& visit) const;
  void scan(std::string_view from, const Visit& visit) const;

  // See LmdbTable::write(). `replaced` sees what is replaced or erased.
  Version write(std::span<LmdbChange> changes, bool together, bool synced,
                const std::function<void(Bytes)>& replaced) const;

 private:
  void require(int code, const char* what) const;

  std::string folder_;
  const LmdbTable& table_;
  void* database_ = nullptr;
};

inline LmdbBytes lent(std::string_view text) { return {text.data(), text.size()}; }
inline LmdbBytes lent(Bytes bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace headrace::store
