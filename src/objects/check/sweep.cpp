#include "objects/check/sweep.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "objects/check/blobs.hpp"
#include "objects/check/check.hpp"
#include "objects/check/survey.hpp"
#include "objects/counting/blocks.hpp"
#include "objects/pending_table.hpp"
#include "objects/ranges.hpp"

namespace headrace::objects {
namespace {

class Sweep {
 public:
  Sweep(store::Store& store, const Survey& survey, bool erases)
      : store_(store), survey_(survey), erases_(erases) {}

  // A count of links includes those of garbage until these are erased, so it is lowered after that.
  Swept run() {
    for (const auto& [group, table] : survey_.groups) {
      erase_entries(group);
      if (survey_.is_living(group)) erase_orders(group, table);
    }
    for (const auto& [group, table] : survey_.groups) lower_counts(group);
    erase_places();
    erase_chunks();
    return swept_;
  }

 private:
  [[nodiscard]] bool is_garbage_entry(ObjectId group, const std::string& key) const {
    if (key.starts_with(kHeader)) return !survey_.is_living(number_in(key.substr(1)));
    return !survey_.is_living(group);
  }

  void erase_entries(ObjectId group) {
    const std::string name = table_of_group(survey_.container(), group);
    std::vector<store::Change> changes;
    each_entry(store_, name, [&](const store::Entry& entry) {
      if (is_garbage_entry(group, entry.key))
        changes.push_back({entry.key, std::nullopt, entry.version});
      if (changes.size() == kAtATime) commit(name, changes);
    });
    commit(name, changes);
  }

  // Of links that are gone. They may be counted.
  void erase_orders(ObjectId group, const GroupTable& table) {
    PendingTable pending(store_, table_of_group(survey_.container(), group));
    for (const std::string& key : table.stale_orders) pending.set(key, std::nullopt);
    swept_.entries += table.stale_orders.size();
    if (!erases_ || table.stale_orders.empty()) return;
    pending.prepare(std::string(kSums));
    Lost lost;
    pending.flush([this](const Meeting&, Lost&) -> Value { fail_changed(); }, lost,
                  [&] { return count_changes(pending, /*in_order=*/true); });
  }

  [[noreturn]] void fail_changed() const {
    throw Error("container " + survey_.container() + " was changed while it was cleaned",
                ErrorKind::conflict);
  }

  // Of objects whose headers are in a group's table.
  void lower_counts(ObjectId group) {
    const std::string name = table_of_group(survey_.container(), group);
    each_entry(store_, name, [&](const store::Entry& entry) {
      if (!entry.key.starts_with(kHeader)) return;
      const auto found = survey_.objects.find(number_in(std::string_view(entry.key).substr(1)));
      if (found == survey_.objects.end() || !found->second.is_reached) return;
      const Surveyed& object = found->second;
      const std::uint64_t most = object.found + object.references;
      if (object.kept || object.links <= most) return;
      Header header = decode_header(store::text_of(entry.value));
      header.links = most;
      const std::string value = encode(header);
      std::vector<store::Change> change{{entry.key, store::bytes_of(value), entry.version}};
      commit(name, change);
    });
  }

  void erase_places() {
    const std::string name = table_of_places(survey_.container());
    std::vector<store::Change> changes;
    for (const auto& [last, range] : survey_.places) {
      if (!survey_.has_living(range.first, last)) changes.push_back({in_order(last), std::nullopt});
      if (changes.size() == kAtATime) commit(name, changes);
    }
    commit(name, changes);
  }

  void commit(const std::string& table, std::vector<store::Change>& changes) {
    swept_.entries += changes.size();
    if (erases_ && !changes.empty() && store_.commit(table, changes).refused) fail_changed();
    changes.clear();
  }

  void erase_chunks() {
    std::vector<store::Change> changes;
    const auto put = [&] {
      if (erases_ && !changes.empty()) store_.put(changes);
      changes.clear();
    };
    each_blob(store_, survey_.container() + "/d/", [&](const store::ListedBlob& blob) {
      const auto chunk = chunk_key(survey_.container(), blob.key);
      if (!chunk || why_garbage(store_, survey_, {blob.key, *chunk}) == nullptr) return;
      ++swept_.chunks;
      swept_.bytes += blob.info.size;
      changes.push_back({blob.key, std::nullopt, blob.info.version});
      if (changes.size() == kAtATime) put();
    });
    put();
  }

  store::Store& store_;
  const Survey& survey_;
  bool erases_;
  Swept swept_;
};

}  // namespace

Swept sweep(store::Store& store, const std::string& container, bool erases, const Tell& tell) {
  // Of what is found only damage is told: garbage is erased.
  Survey survey(store, container, [&](const Finding& finding) {
    if (finding.kind == Finding::Kind::damage) tell(finding);
  });
  check_tables(survey);
  Amounts amounts;
  check_blobs(store, survey, Depth::ends, amounts);
  if (survey.is_uncertain()) return {};
  return Sweep(store, survey, erases).run();
}

}  // namespace headrace::objects
