#include "store/memory/memory_store.hpp"

#include <algorithm>
#include <utility>

namespace headrace::store {
namespace {

template <typename Values>
bool is_expected(const Values& values, const Change& change) {
  if (!change.expected) return true;
  const auto found = values.find(change.key);
  return *change.expected == (found == values.end() ? kAbsent : found->second.version);
}

// Calls `take` with at most so many of them.
template <typename Values, typename Take>
void walk(const Values& values, std::string_view from, std::size_t most, const Take& take) {
  for (auto at = values.lower_bound(from); at != values.end() && most > 0; ++at, --most)
    take(at->first, at->second);
}

}  // namespace

void MemoryStore::change(Values& values, const Change& change) {
  if (!change.value) {
    values.erase(change.key);
    return;
  }
  Value value{{change.front.begin(), change.front.end()}, version_};
  value.bytes.insert(value.bytes.end(), change.value->begin(), change.value->end());
  values.insert_or_assign(change.key, std::move(value));
}

Commit MemoryStore::commit(std::string_view table, std::span<const Change> changes) {
  require_table(table);
  for (const Change& one : changes) require_key(one.key);
  const std::scoped_lock lock(mutex_);
  auto& entries = tables_[std::string(table)];
  for (std::size_t i = 0; i < changes.size(); ++i)
    if (!is_expected(entries, changes[i])) return {kAbsent, i};
  ++version_;
  for (const Change& one : changes) change(entries, one);
  return {version_};
}

std::optional<Entry> MemoryStore::find(std::string_view table, std::string_view key) {
  require_key(key);
  auto found = scan(table, key, 1);
  if (found.empty() || found.front().key != key) return std::nullopt;
  return std::move(found.front());
}

std::vector<Entry> MemoryStore::scan(std::string_view table, std::string_view from,
                                     std::size_t most) {
  require_table(table);
  const std::scoped_lock lock(mutex_);
  std::vector<Entry> found;
  const auto entries = tables_.find(table);
  if (entries == tables_.end()) return found;
  walk(entries->second, from, most, [&](const std::string& key, const Value& value) {
    found.push_back({key, value.bytes, value.version});
  });
  return found;
}

std::vector<std::string> MemoryStore::tables(std::string_view prefix, std::string_view behind,
                                             std::size_t most) {
  const auto place = [](std::string_view name) { return std::pair(name.size(), name); };
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> found;
  for (const auto& [name, entries] : tables_)
    if (!entries.empty() && name.starts_with(prefix) && place(name) > place(behind))
      found.push_back(name);
  std::ranges::sort(found, {}, place);
  found.resize(std::min(found.size(), most));
  return found;
}

std::vector<Version> MemoryStore::put(std::span<const Change> blobs) {
  for (const Change& one : blobs) require_key(one.key);
  const std::scoped_lock lock(mutex_);
  std::vector<Version> versions(blobs.size(), kAbsent);
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    if (!is_expected(blobs_, blobs[i])) continue;
    ++version_;
    change(blobs_, blobs[i]);
    if (blobs[i].value) versions[i] = version_;
  }
  return versions;
}

std::optional<BlobInfo> MemoryStore::get(std::string_view key, std::uint64_t offset,
                                         std::span<std::byte> room) {
  require_key(key);
  const std::scoped_lock lock(mutex_);
  const auto found = blobs_.find(key);
  if (found == blobs_.end()) return std::nullopt;
  const Bytes all(found->second.bytes);
  const Bytes rest = all.subspan(std::min<std::uint64_t>(offset, all.size()));
  std::ranges::copy(rest.first(std::min(rest.size(), room.size())), room.begin());
  return BlobInfo{found->second.version, all.size()};
}

std::shared_ptr<const void> MemoryStore::keep(std::string_view name, Keeping how) {
  const std::scoped_lock lock(mutex_);
  auto& [many, alone] = keepers_[std::string(name)];
  if (!alone.expired() || (how == Keeping::alone && !many.expired())) return nullptr;
  if (auto same = many.lock()) return same;
  std::shared_ptr<const void> made = std::make_shared<char>();
  (how == Keeping::alone ? alone : many) = made;
  return made;
}

std::vector<ListedBlob> MemoryStore::list(std::string_view from, std::size_t most) {
  const std::scoped_lock lock(mutex_);
  std::vector<ListedBlob> found;
  walk(blobs_, from, most, [&](const std::string& key, const Value& value) {
    found.push_back({key, {value.version, value.bytes.size()}});
  });
  return found;
}

}  // namespace headrace::store
