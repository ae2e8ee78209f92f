#include "objects/pending_table.hpp"

#include <span>

#include "base/error.hpp"

namespace headrace::objects {
namespace {

std::string text_of(const store::Entry& entry) { return std::string(store::text_of(entry.value)); }

std::size_t size_of(const std::string& key, const Value& value) {
  return key.size() + (value ? value->size() : 0);
}

}  // namespace

PendingTable::PendingTable(store::Store& store, std::string table, bool is_new, std::size_t* total)
    : store_(store), table_(std::move(table)), is_new_(is_new), total_(total) {}

std::optional<store::Entry> PendingTable::stored(const std::string& key) const {
  return is_new_ ? std::nullopt : store_.find(table_, key);
}

store::Version PendingTable::version(const std::string& key) const {
  const auto entry = stored(key);
  return entry ? entry->version : store::kAbsent;
}

Value PendingTable::find(const std::string& key) {
  if (const auto found = pending_.find(key); found != pending_.end()) return found->second.value;
  const auto entry = stored(key);
  if (!entry) return std::nullopt;
  return text_of(*entry);
}

PendingTable::Pending& PendingTable::changed(const std::string& key) {
  const auto found = pending_.find(key);
  if (found != pending_.end()) {
    count(0, size_of(key, found->second.value));
    return found->second;
  }
  Pending pending;
  if (const auto entry = stored(key)) {
    pending.base = text_of(*entry);
    pending.version = entry->version;
  }
  return pending_.emplace(key, std::move(pending)).first->second;
}

void PendingTable::prepare(const std::string& key) {
  if (pending_.contains(key)) return;
  Pending& pending = changed(key);
  pending.value = pending.base;
  count(size_of(key, pending.value), 0);
}

void PendingTable::set(const std::string& key, Value value) {
  Pending& pending = changed(key);
  pending.value = std::move(value);
  count(size_of(key, pending.value), 0);
}

void PendingTable::insert_new(const std::string& key, std::string value) {
  replace(key, std::move(value), std::nullopt, store::kAbsent);
}

void PendingTable::replace(const std::string& key, Value value, Value base,
                           store::Version version) {
  const auto [at, is_new] = pending_.try_emplace(key);
  if (!is_new) count(0, size_of(key, at->second.value));
  at->second = {std::move(value), std::move(base), version};
  count(size_of(key, at->second.value), 0);
}

bool PendingTable::is_current(const std::string& key) const {
  const auto found = pending_.find(key);
  return found == pending_.end() || found->second.version == version(key);
}

void PendingTable::each_change(const std::string& prefix, const See& see) const {
  for (auto at = pending_.lower_bound(prefix);
       at != pending_.end() && at->first.starts_with(prefix); ++at)
    see(at->first, at->second.base, at->second.value);
}

std::vector<store::Entry> PendingTable::stored_from(const std::string& from,
                                                    std::size_t most) const {
  return is_new_ ? std::vector<store::Entry>() : store_.scan(table_, from, most);
}

std::vector<std::pair<std::string, std::string>> PendingTable::scan(const std::string& from,
                                                                    std::size_t most) {
  std::vector<std::pair<std::string, std::string>> found;
  auto change = pending_.lower_bound(from);
  std::string next = from;
  // `key` is in front of all that is stored and was not looked at.
  const auto take_changes_before = [&](const std::string* key) {
    for (; change != pending_.end() && found.size() < most &&
           (key == nullptr || change->first < *key);
         ++change)
      if (change->second.value) found.emplace_back(change->first, *change->second.value);
  };
  while (found.size() < most) {
    const auto entries = stored_from(next, most - found.size());
    for (const store::Entry& entry : entries) {
      take_changes_before(&entry.key);
      if (found.size() == most) return found;
      if (!pending_.contains(entry.key)) found.emplace_back(entry.key, text_of(entry));
    }
    if (entries.empty()) {
      take_changes_before(nullptr);
      return found;
    }
    next = entries.back().key + '\0';
  }
  return found;
}

// Where another has changed it.
void PendingTable::rebase(const std::string& key, const Merge& merge, Lost& lost) {
  const auto entry = store_.find(table_, key);
  const store::Version version = entry ? entry->version : store::kAbsent;
  const Pending& pending = pending_.at(key);
  if (version == pending.version) return;
  const Value theirs = entry ? Value(text_of(*entry)) : std::nullopt;
  Value merged = merge({key, pending.base, pending.value, theirs, version}, lost);
  replace(key, std::move(merged), theirs, version);
}

std::vector<store::Change> PendingTable::changes(std::span<const Derived> derived) {
  std::vector<store::Change> all;
  all.reserve(pending_.size() + derived.size());
  const auto add = [&](const std::string& key, const auto& one) {
    all.push_back({key, std::nullopt, one.version});
    if (one.value) all.back().value = store::bytes_of(*one.value);
  };
  for (const auto& [key, one] : pending_) add(key, one);
  for (const Derived& one : derived) add(one.key, one);
  is_new_ = false;
  return all;
}

store::Version PendingTable::flush(const Merge& merge, Lost& lost, const Derive& derive) {
  store::Version version = store::kAbsent;
  while (!pending_.empty()) {
    const std::vector<Derived> derived = derive ? derive() : std::vector<Derived>();
    std::vector<store::Change> made = changes(derived);
    const auto commit = store_.commit(table_, made);
    version = commit.version;
    if (!commit.refused) break;
    made.resize(made.size() - derived.size());
    for (const store::Change& one : made) rebase(one.key, merge, lost);
  }
  drop();
  return version;
}

}  // namespace headrace::objects
