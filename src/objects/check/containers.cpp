#include "objects/check/containers.hpp"

#include <set>

#include "objects/check/blobs.hpp"
#include "objects/keys.hpp"
#include "objects/ranges.hpp"

namespace headrace::objects {
namespace {

constexpr ObjectId kLargestId = ~ObjectId{0};

std::string container_of(std::string_view key) { return std::string(key.substr(0, key.find('/'))); }

void add_by_tables(store::Store& store, std::set<std::string>& names) {
  std::string behind;
  for (auto next = store.tables("", behind, 1); !next.empty(); next = store.tables("", behind, 1)) {
    const std::string name = container_of(next.front());
    names.insert(name);
    // Over the tables of its other groups.
    const std::string last = table_of_group(name, kLargestId);
    const bool is_of_group =
        next.front().starts_with(name + "/t/") && last.size() == next.front().size();
    behind = is_of_group ? last : next.front();
  }
}

void add_by_blobs(store::Store& store, std::set<std::string>& names) {
  std::string from;
  for (auto next = store.list(from, 1); !next.empty(); next = store.list(from, 1)) {
    const std::string name = container_of(next.front().key);
    names.insert(name);
    from = name + static_cast<char>('/' + 1);
    if (from <= next.front().key) from = next.front().key + '\0';
  }
}

}  // namespace

std::vector<std::string> containers_in(store::Store& store) {
  std::set<std::string> names;
  add_by_tables(store, names);
  add_by_blobs(store, names);
  return {names.begin(), names.end()};
}

bool is_container(store::Store& store, const std::string& name) {
  return store.find(table_of_group(name, kRootId), key_of_header(kRootId)).has_value();
}

std::string noted_stub(store::Store& store, const std::string& name) {
  const auto noted = store.find(table_of_group(name, kRootId), kStub);
  return noted ? std::string(store::text_of(noted->value)) : std::string();
}

Room room_of(store::Store& store, const std::string& name) {
  Room room;
  each_blob(store, name + "/", [&](const store::ListedBlob& blob) {
    ++(is_heap_key(name, blob.key) ? room.heaps : room.chunks);
    room.bytes += blob.info.size;
  });
  return room;
}

}  // namespace headrace::objects
