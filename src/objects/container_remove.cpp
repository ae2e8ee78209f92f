// Erasing a container.
#include <vector>

#include "objects/container.hpp"
#include "objects/keys.hpp"

namespace headrace::objects {
namespace {

constexpr std::size_t kAtATime = 1000;

void erase_table(store::Store& store, const std::string& table) {
  for (auto entries = store.scan(table, "", kAtATime); !entries.empty();
       entries = store.scan(table, "", kAtATime)) {
    std::vector<store::Change> changes;
    changes.reserve(entries.size());
    for (const store::Entry& entry : entries) changes.push_back({entry.key, std::nullopt});
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

// The root's header and its stub's path go first: what is left of a container then is none.
void Container::remove(store::Store& store, const std::string& name) {
  const std::vector<store::Change> first{{key_of_header(kRoot.object), std::nullopt},
                                         {std::string(kStub), std::nullopt}};
  static_cast<void>(store.commit(table_of_group(name, kRoot.home), first));
  const std::string prefix = name + "/";
  for (auto tables = store.tables(prefix, "", kAtATime); !tables.empty();
       tables = store.tables(prefix, "", kAtATime))
    for (const std::string& table : tables) erase_table(store, table);
  erase_blobs(store, prefix);
}

}  // namespace headrace::objects
