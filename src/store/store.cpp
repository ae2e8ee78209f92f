#include "store/store.hpp"

#include "base/error.hpp"

namespace headrace::store {
namespace {

void require_length(std::string_view what, const char* kind, std::size_t longest) {
  if (what.empty() || what.size() > longest)
    throw Error(std::string(kind) + " of " + std::to_string(what.size()) +
                    " bytes: a store takes 1 to " + std::to_string(longest),
                ErrorKind::unsupported);
}

}  // namespace

std::vector<Commit> Store::commit_in_order(std::span<const TableChanges> tables) {
  std::vector<Commit> made;
  for (const auto& [table, changes] : tables) {
    try {
      made.push_back(commit(table, changes));
    } catch (const Error&) {
      if (made.empty()) throw;
      break;
    }
    if (made.back().refused) break;
  }
  return made;
}

void require_key(std::string_view key) { require_length(key, "a key", kLongestKey); }
void require_table(std::string_view table) {
  require_length(table, "a name of a table", kLongestTable);
}

}  // namespace headrace::store
