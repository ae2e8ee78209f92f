// Links by their index.
#include <algorithm>
#include <utility>

#include "objects/keys.hpp"
#include "objects/links.hpp"

namespace headrace::objects {
namespace {

char kind_of(Links::Index index) { return index == Links::Index::name ? kName : kOrder; }

std::string key_in(Links::Index index, const NamedLink& link) {
  return index == Links::Index::name ? key_of_name(link.first)
                                     : key_of_order(link.second.stamp, link.second.lease);
}

}  // namespace

const Positions& Links::positions(Index index) const {
  Known& known = known_of(index);
  if (known.positions && known.version == table_.version(std::string(kSums)))
    return *known.positions;
  StoredCounts counts = stored_counts(table_, in_order_);
  auto& blocks = index == Index::name ? counts.names : counts.orders;
  known.some.clear();
  known.version = counts.version;
  return known.positions.emplace(table_, kind_of(index), std::move(blocks));
}

// After a change of this writer.
void Links::note(Index index, const std::string& key, std::int64_t links) {
  Known& known = known_of(index);
  known.some.clear();
  if (known.positions && !known.positions->add(key, links)) known.positions.reset();
}

std::vector<NamedLink> Links::links_of(Index index, const std::string& key,
                                       const std::string& value) const {
  if (index == Index::name) return links_of_entry(key, value);
  const auto link = find(value);
  if (!link || key != key_of_order(link->stamp, link->lease)) return {};
  return {{value, *link}};
}

// From a key on, without the first so many. What has no link is counted as one, as it is in blocks.
std::vector<NamedLink> Links::from(Index index, const std::string& key, std::uint64_t skipped,
                                   std::uint64_t most) const {
  constexpr std::uint64_t kAtOnce = 1000;
  std::vector<NamedLink> links;
  for (std::string next = key; most > 0;) {
    const auto entries = table_.scan(next, std::min(kAtOnce, skipped + std::min(most, kAtOnce)));
    for (const auto& [its_key, value] : entries) {
      if (most == 0 || its_key.front() != kind_of(index)) return links;
      const auto its_links = static_cast<std::uint64_t>(links_in(its_key, value));
      if (skipped >= its_links) {
        skipped -= its_links;
        continue;
      }
      std::vector<NamedLink> some = links_of(index, its_key, value);
      const std::uint64_t taken = std::min(its_links - skipped, most);
      for (std::size_t i = skipped; i < some.size() && i < skipped + taken; ++i)
        links.push_back(std::move(some[i]));
      skipped = 0;
      most -= taken;
    }
    if (entries.empty()) break;
    next = entries.back().first + '\0';
  }
  return links;
}

// Of single ones those around are kept, as programs ask for one after the other.
std::vector<NamedLink> Links::by_index(Index index, std::uint64_t first, std::size_t most) const {
  constexpr std::uint64_t kAround = 32;
  if (first == 0 && most > 1) return from(index, whole(kind_of(index)).begin, 0, most);
  const Positions& positions = this->positions(index);
  Known& known = known_of(index);
  const bool is_known = first >= known.first && first - known.first < known.some.size();
  if (most != 1 || !is_known) {
    const auto place = positions.at(first);
    if (!place) return {};
    if (most != 1) return from(index, place->begin, first - place->before, most);
    const std::uint64_t begin = std::max(place->before, first - std::min(first, kAround));
    known.some = from(index, place->begin, begin - place->before, first - begin + kAround);
    known.first = begin;
    if (first - begin >= known.some.size()) return {};
  }
  return {known.some[first - known.first]};
}

std::vector<NamedLink> Links::in_front_of(Index index, const NamedLink& link,
                                          std::size_t most) const {
  constexpr std::size_t kAtOnce = 1000;
  const std::string key = key_in(index, link);
  auto [begin, end] = positions(index).of(key);
  std::string next = begin;
  for (bool is_before = true; is_before;) {
    const auto entries = table_.scan(next, kAtOnce);
    is_before = !entries.empty();
    for (const auto& [its_key, value] : entries) {
      is_before = its_key < key;
      if (!is_before) {
        if (its_key == key && index == Index::name)
          end += static_cast<std::uint64_t>(
              std::ranges::count_if(links_of_entry(its_key, value),
                                    [&](const NamedLink& one) { return one.first < link.first; }));
        break;
      }
      end += static_cast<std::uint64_t>(links_in(its_key, value));
    }
    if (!entries.empty()) next = entries.back().first + '\0';
  }
  std::vector<NamedLink> links;
  while (links.empty() && end > 0 && most > 0) {
    const std::uint64_t first = end - std::min<std::uint64_t>(end, most);
    links = by_index(index, first, end - first);
    end = first;
  }
  return links;
}

}  // namespace headrace::objects
