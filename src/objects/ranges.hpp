// All entries of a table, and all blobs whose keys begin alike: a thousand at a time.
#pragma once

#include <string>

#include "store/store.hpp"

namespace headrace::objects {

inline constexpr std::size_t kAtATime = 1000;

// Calls `see` with all entries of a table.
template <typename See>
void each_entry(store::Store& store, const std::string& table, const See& see) {
  for (std::string from; true;) {
    const auto entries = store.scan(table, from, kAtATime);
    for (const store::Entry& entry : entries) see(entry);
    if (entries.empty()) return;
    from = entries.back().key + '\0';
  }
}

// Calls `see` with all blobs whose keys begin so.
template <typename See>
void each_blob(store::Store& store, const std::string& prefix, const See& see) {
  for (std::string from = prefix; true;) {
    const auto blobs = store.list(from, kAtATime);
    for (const store::ListedBlob& blob : blobs) {
      if (!blob.key.starts_with(prefix)) return;
      see(blob);
    }
    if (blobs.empty()) return;
    from = blobs.back().key + '\0';
  }
}

// Erase them, whatever others do.
void erase_table(store::Store& store, const std::string& table);
void erase_blobs(store::Store& store, const std::string& prefix);

}  // namespace headrace::objects
