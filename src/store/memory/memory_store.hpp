// A store in the memory of the process: for tests. A child after fork() has a copy of it.
#pragma once

#include <map>
#include <mutex>

#include "store/store.hpp"

namespace headrace::store {

class MemoryStore final : public Store {
 public:
  Commit commit(std::string_view table, std::span<const Change> changes) override;
  std::optional<Entry> find(std::string_view table, std::string_view key) override;
  std::vector<Entry> scan(std::string_view table, std::string_view from, std::size_t most) override;
  std::vector<std::string> tables(std::string_view prefix, std::string_view behind,
                                  std::size_t most) override;
  std::vector<Version> put(std::span<const Change> blobs) override;
  std::optional<BlobInfo> get(std::string_view key, std::uint64_t offset,
                              std::span<std::byte> room) override;
  std::vector<ListedBlob> list(std::string_view from, std::size_t most) override;
  std::shared_ptr<const void> keep(std::string_view name, Keeping how) override;
  LeftOver collect(Collect /*how*/) override { return {}; }

 private:
  struct Value {
    std::vector<std::byte> bytes;
    Version version;
  };
  using Values = std::map<std::string, Value, std::less<>>;

  struct Keepers {
    std::weak_ptr<const void> many;
    std::weak_ptr<const void> alone;
  };

  void change(Values& values, const Change& change);

  std::mutex mutex_;
  Version version_ = kAbsent;
  std::map<std::string, Values, std::less<>> tables_;
  Values blobs_;
  std::map<std::string, Keepers, std::less<>> keepers_;
};

}  // namespace headrace::store
