// Erasing a container.
#include <vector>

#include "objects/container.hpp"
#include "objects/keys.hpp"

namespace headrace::objects {
namespace {

constexpr std::size_t kAtATime = 1000;

// Groups and maps whose headers are in a table: of all but the root the home is another one.
void add_groups(const store::Entry& entry, ObjectId home, std::vector<ObjectId>& groups) {
  if (!entry.key.starts_with(kHeader)) return;
  const ObjectId object = number_in(std::string_view(entry.key).substr(1));
  if (object == home) return;
  const Header::Kind kind = decode_header(store::text_of(entry.value)).kind;
  if (kind == Header::Kind::group || kind == Header::Kind::map) groups.push_back(object);
}

template <typename See>
void erase_table(store::Store& store, const std::string& table, const See& see) {
  for (auto entries = store.scan(table, "", kAtATime); !entries.empty();
       entries = store.scan(table, "", kAtATime)) {
    std::vector<store::Change> changes;
    changes.reserve(entries.size());
    for (const store::Entry& entry : entries) {
      see(entry);
      changes.push_back({entry.key, std::nullopt});
    }
    // Nobody else changes it.
    static_cast<void>(store.commit(table, changes));
  }
}

void erase_blobs(store::Store& store, const std::string& prefix) {
  for (auto blobs = store.list(prefix, kAtATime); !blobs.empty();
       blobs = store.list(prefix, kAtATime)) {
    std::vector<store::Change> changes;
    changes.reserve(blobs.size());
    for (const store::ListedBlob& blob : blobs)
      if (blob.key.starts_with(prefix)) changes.push_back({blob.key, std::nullopt});
    if (changes.empty()) return;
    store.put(changes);
  }
}

}  // namespace

// The root's header goes first: what is left of a container then is none.
void Container::remove(store::Store& store, const std::string& name) {
  const store::Change root{key_of_header(kRoot.object), std::nullopt};
  static_cast<void>(store.commit(table_of_group(name, kRoot.home), {&root, 1}));
  std::vector<ObjectId> groups{kRoot.object};
  while (!groups.empty()) {
    const ObjectId group = groups.back();
    groups.pop_back();
    erase_table(store, table_of_group(name, group),
                [&](const store::Entry& entry) { add_groups(entry, group, groups); });
  }
  erase_table(store, table_of_places(name), [](const store::Entry&) {});
  erase_table(store, table_of_leases(name), [](const store::Entry&) {});
  erase_blobs(store, name + "/");
}

}  // namespace headrace::objects
