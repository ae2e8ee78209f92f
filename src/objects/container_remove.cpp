// Erasing a container.
#include <vector>

#include "objects/container.hpp"
#include "objects/keys.hpp"
#include "objects/ranges.hpp"

namespace headrace::objects {

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
