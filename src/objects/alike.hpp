// What is in one entry of a table, as the keys begin alike: by the rest of their keys.
#pragma once

#include <optional>
#include <set>
#include <string>

namespace headrace::objects {

// Of a map from rests.
template <typename Alike>
std::optional<typename Alike::mapped_type> in(const Alike& alike, const std::string& rest) {
  const auto found = alike.find(rest);
  if (found == alike.end()) return std::nullopt;
  return found->second;
}

// What two writers have made of an entry that was `base`: each rest is what
// merge_one(rest, base, mine, theirs) says of it, or nothing.
template <typename Alike, typename MergeOne>
Alike merge_alike(const Alike& base, const Alike& mine, const Alike& theirs,
                  const MergeOne& merge_one) {
  Alike result = theirs;
  std::set<std::string> rests;
  for (const Alike* const one : {&base, &mine})
    for (const auto& [rest, value] : *one) rests.insert(rest);
  for (const std::string& rest : rests) {
    if (auto now = merge_one(rest, in(base, rest), in(mine, rest), in(theirs, rest)))
      result.insert_or_assign(rest, *std::move(now));
    else
      result.erase(rest);
  }
  return result;
}

}  // namespace headrace::objects
