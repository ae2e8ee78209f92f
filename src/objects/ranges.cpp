#include "objects/ranges.hpp"

#include <vector>

namespace headrace::objects {

void erase_table(store::Store& store, const std::string& table) {
  while (true) {
    const auto entries = store.scan(table, "", kAtATime);
    if (entries.empty()) return;
    std::vector<store::Change> changes;
    changes.reserve(entries.size());
    for (const store::Entry& entry : entries) changes.push_back({entry.key, std::nullopt});
    // Nothing is expected, so nothing is refused.
    static_cast<void>(store.commit(table, changes));
  }
}

void erase_blobs(store::Store& store, const std::string& prefix) {
  while (true) {
    std::vector<store::Change> changes;
    for (const store::ListedBlob& blob : store.list(prefix, kAtATime))
      if (blob.key.starts_with(prefix)) changes.push_back({blob.key, std::nullopt});
    if (changes.empty()) return;
    store.put(changes);
  }
}

}  // namespace headrace::objects
