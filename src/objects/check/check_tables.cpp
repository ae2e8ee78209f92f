#include "base/error.hpp"
#include "objects/check/check.hpp"
#include "objects/check/survey.hpp"
#include "objects/keys.hpp"

namespace headrace::objects {
namespace {

void check_place(Survey& survey, ObjectId id, const Surveyed& object) {
  const auto range = survey.places.lower_bound(id);
  const bool is_there = range != survey.places.end() && range->second.first <= id;
  if (!is_there)
    survey.damage(survey.path_of(id), in_order(id), "references to it lead nowhere");
  else if (range->second.home != object.home)
    survey.damage(survey.path_of(id), in_order(id), "references to it lead elsewhere");
  if (!survey.leases.contains(lease_of(id)))
    survey.damage(survey.path_of(id), in_order(lease_of(id)), "its lease is missing");
}

// A type may be referred to by what was made before its first link, which is not counted.
void check_count(Survey& survey, ObjectId id, const Surveyed& object) {
  const std::string told = std::to_string(object.links) + " links are counted, and " +
                           std::to_string(object.found) + " lead to it";
  if (object.links < object.found)
    survey.damage(survey.path_of(id), key_of_header(id), told);
  else if (object.links > object.found + object.references && !object.kept)
    survey.garbage(survey.path_of(id), key_of_header(id), told);
}

void check_number(Survey& survey, const std::string& path, std::uint64_t counted,
                  std::uint64_t found, const char* what) {
  if (counted != found)
    survey.damage(path, std::string(kSums),
                  std::to_string(counted) + " " + what + " are counted, and there are " +
                      std::to_string(found));
}

// Blocks of names come before those of the order of creation, which begin where names end.
void check_counts(Survey& survey, const std::string& path, const GroupTable& table,
                  const std::string& end) {
  std::string begin(1, kName);
  for (const auto& [its_end, count] : table.counts) {
    const std::string key = key_of_block(its_end);
    if (count.block.begin != begin)
      survey.damage(path, key, "the count of links does not begin where the one before ends");
    if (count.block.links != count.found)
      survey.damage(path, key,
                    std::to_string(count.block.links) + " links are counted there, and there are " +
                        std::to_string(count.found));
    begin = its_end;
  }
  if (begin != end || !table.counts.contains(std::string(1, kOrder)))
    survey.damage(path, key_of_block(end), "a count of links is missing");
}

void check_links(Survey& survey, ObjectId id, const GroupTable& table) {
  const std::string path = survey.path_of(id);
  const Sums sums = decode_sums(table.sums);
  check_number(survey, path, sums.links, table.links, "links");
  if (sums.stamps < table.largest)
    survey.damage(path, std::string(kSums), "a link's stamp is larger than the last one");
  const bool in_order = survey.objects.at(id).in_order;
  if (sums.counted)
    check_counts(survey, path, table, std::string(1, in_order ? kOrder + 1 : kOrder));
  else if (!table.counts.empty())
    survey.damage(path, std::string(kSums), "there are counts of links that it does not tell of");
  if (!in_order) return;
  for (const std::string& name : table.unordered)
    survey.damage(path, key_of_name(name), "the link is missing in the order of creation");
}

void check_table(Survey& survey, ObjectId id, const GroupTable& table) try {
  if (survey.is_living(id, Header::Kind::group)) check_links(survey, id, table);
  if (survey.is_living(id, Header::Kind::map))
    check_number(survey, survey.path_of(id), number_of_entries(table.sums), table.entries,
                 "entries");
} catch (const Error& error) {
  survey.damage(survey.path_of(id), std::string(kSums), error.what());
}

// Of links and of entries their number comes first.
bool counts_some(const Value& sums) { return sums && !sums->empty() && sums->front() != 0; }

void tell_garbage(Survey& survey, ObjectId id, const GroupTable& table) {
  const std::string path = survey.path_of(id);
  if (!survey.is_living(id)) {
    if (table.links > 0 || table.entries > 0 || counts_some(table.sums))
      survey.garbage(path, {}, "the links or entries of an object that nothing leads to");
    return;
  }
  for (const std::string& key : table.stale_orders)
    survey.garbage(path, key, "the order of creation of a link that is gone");
}

}  // namespace

void check_tables(Survey& survey) {
  for (const auto& [id, object] : survey.objects) {
    if (!object.is_reached) {
      survey.garbage(survey.path_of(id), key_of_header(id), "no link leads to it");
      continue;
    }
    if (object.is_readable) check_count(survey, id, object);
    if (id != kRootId) check_place(survey, id, object);
  }
  for (const auto& [id, table] : survey.groups) {
    check_table(survey, id, table);
    tell_garbage(survey, id, table);
  }
  for (const auto& [last, range] : survey.places)
    if (!survey.has_living(range.first, last))
      survey.garbage({}, in_order(last), "the place of objects that are gone");
}

}  // namespace headrace::objects
