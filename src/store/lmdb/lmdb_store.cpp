#include "store/lmdb/lmdb_store.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/descriptor.hpp"
#include "base/little_endian.hpp"
#include "base/private_folder.hpp"
#include "base/process/forks.hpp"
#include "base/report/printable.hpp"
#include "engine/checksum.hpp"
#include "engine/io/local_file_system.hpp"
#include "store/lmdb/blob_value.hpp"
#include "store/lmdb/data_files.hpp"
#include "store/lmdb/file_locks.hpp"
#include "store/lmdb/lmdb_database.hpp"
#include "store/lmdb/new_files.hpp"
#include "store/lmdb/not_cancelled.hpp"

namespace headrace::store {
namespace {

constexpr std::string_view kFormat = "Headrace store 1\n";

std::string key_of_blob(std::string_view key) { return "b" + std::string(key); }

constexpr std::size_t kTableHead = 3;  // bytes in front of a table's name

// Where tables begin whose names have that length and begin so.
std::string begin_of_tables(std::size_t length, std::string_view name) {
  std::array<std::byte, kTableHead - 1> size{};
  put_little_endian(size.data(), static_cast<std::uint16_t>(length));
  std::string all = "t";
  return all.append(text_of(size)).append(name);
}

std::string key_in(std::string_view table, std::string_view key) {
  require_table(table);
  return begin_of_tables(table.size(), table).append(key);
}

// Behind all entries of a table.
std::string end_of_table(std::string_view table) {
  return key_in(table, std::string(kLongestKey + 1, '\xff'));
}

// That of an entry's table; 0 where it is none.
std::size_t length_of_table(std::string_view key) {
  if (!key.starts_with('t') || key.size() < kTableHead) return 0;
  return little_endian<std::uint16_t>(bytes_of(key).data() + 1);
}

// Throws Error where a folder has something else in it, or another version's store. Whether it is
// one: else it is to be made, or somebody was killed while he made it.
bool is_made(const std::string& folder) {
  const Descriptor opened(folder, O_RDONLY | O_DIRECTORY);
  if (!engine::io::is_on_local_file_system(opened.get()))
    throw Error("store " + folder + " is not on a local file system, which LMDB needs",
                ErrorKind::unsupported);
  const std::string path = folder + "/format";
  constexpr std::array<std::string_view, 6> kOurs{"lock",  "database",   "database.new",
                                                  "files", "format.new", "format"};
  bool has_format = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (std::ranges::find(kOurs, name) == kOurs.end())
      throw Error("no store, as there is something else: " + entry.path().string(),
                  ErrorKind::conflict);
    has_format = has_format || name == "format";
  }
  if (!has_format) return false;
  const Descriptor file(path, O_RDONLY | O_NOFOLLOW);
  std::array<char, 64> text{};
  const ssize_t length = ::pread(file.get(), text.data(), text.size(), 0);
  if (length < 0) throw file_error(path + " cannot be read");
  if (std::string_view(text.data(), static_cast<std::size_t>(length)) != kFormat)
    throw Error(folder + " holds no store, or one of another version of Headrace",
                ErrorKind::conflict);
  return true;
}

// Last of all: what has it is a store.
void write_format(const std::string& folder) {
  const std::string made = folder + "/format.new";
  {
    const Descriptor file(made, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (::pwrite(file.get(), kFormat.data(), kFormat.size(), 0) != std::ssize(kFormat))
      throw file_error(made + " cannot be written");
    if (::fsync(file.get()) != 0) throw file_error(made + " cannot be written to the disk");
  }
  if (::rename(made.c_str(), (folder + "/format").c_str()) != 0)
    throw file_error(made + " cannot be renamed");
}

// Of tables that were committed together, and of one that was refused.
std::vector<Commit> made_of(std::span<const TableChanges> tables, Version version,
                            const std::optional<Commit>& refused) {
  std::vector<Commit> made;
  for (const TableChanges& one : tables) {
    const bool puts = std::ranges::any_of(
        one.changes, [](const Change& change) { return change.value.has_value(); });
    made.push_back({puts ? version : kAbsent});
  }
  if (refused) made.push_back(*refused);
  return made;
}

// Whether the entry of a blob is sure not to have that value.
bool is_without(LmdbDatabase& database, const std::string& key, const FileValue& value) {
  bool has_value = false;
  return error_of([&] {
           database.read(key, [&](std::string_view, Bytes stored, Version) {
             has_value = std::ranges::equal(stored, value);
             return false;
           });
         }) == nullptr &&
         !has_value;
}

}  // namespace

// What each process has of its own.
struct LmdbStore::Process {
  Process(const std::string& folder, bool synced)
      : database(folder + "/database", folder + "/lock", folder),
        files(folder + "/files", synced) {}
  unsigned of_forks = forks();
  LmdbDatabase database;
  DataFiles files;
};

LmdbStore::LmdbStore(const std::string& folder, Durability durability)
    : folder_(std::filesystem::absolute(folder).lexically_normal()),
      synced_(durability == Durability::power) {
  const NotCancelled whole;
  try {
    open();
  } catch (...) {
    end();
    throw;
  }
}

void LmdbStore::open() {
  make_private_folder(folder_);
  if (!is_made(folder_)) {
    make_private_folder(folder_ + "/files");
    process().database.make([&] { write_format(folder_); });
    if (synced_) {
      sync_folder(folder_);
      sync_folder(std::filesystem::path(folder_).parent_path());
    }
  }
  process().database.read("t", [](std::string_view, Bytes, Version) { return false; });
}

// That of a parent is left as it is: its descriptors may be others by now.
void LmdbStore::end() noexcept {
  const Process* const last = process_;
  static_cast<void>(error_of([&] {  // forks() throws only where it is asked for the first time
    if (last != nullptr && last->of_forks == forks()) delete last;
  }));
}

// Without a lock: another thread may have had it in the parent.
LmdbStore::Process& LmdbStore::process() const {
  Process* found = process_.load(std::memory_order_acquire);
  while (found == nullptr || found->of_forks != forks()) {
    auto made = std::make_unique<Process>(folder_, synced_);
    if (process_.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
      found = made.release();
  }
  return *found;
}

Commit LmdbStore::commit(std::string_view table, std::span<const Change> changes) {
  const TableChanges only{table, changes};
  return commit_in_order({&only, 1}).front();
}

// Where one is refused, those before it are tried again.
std::vector<Commit> LmdbStore::commit_in_order(std::span<const TableChanges> tables) {
  const NotCancelled whole;
  std::vector<DatabaseChange> all;
  std::vector<std::size_t> ends;  // of each table's changes
  for (const auto& [table, changes] : tables) {
    for (const Change& one : changes) {
      require_key(one.key);
      all.push_back({key_in(table, one.key), one.front, one.value.value_or(Bytes{}),
                     !one.value.has_value(), one.expected});
    }
    ends.push_back(all.size());
  }
  std::optional<Commit> refused;
  while (true) {
    const Version version = process().database.write(all, /*together=*/true, synced_, {});
    const auto first = std::ranges::find(all, true, &DatabaseChange::refused);
    if (first == all.end()) return made_of(tables.first(ends.size()), version, refused);
    const auto place = static_cast<std::size_t>(first - all.begin());
    const auto table = std::ranges::upper_bound(ends, place);
    const std::size_t begin = table == ends.begin() ? 0 : *std::prev(table);
    refused = Commit{kAbsent, place - begin};
    if (table == ends.begin()) return {*refused};
    ends.erase(table, ends.end());
    all.resize(begin);
  }
}

std::optional<Entry> LmdbStore::find(std::string_view table, std::string_view key) {
  const NotCancelled whole;
  require_key(key);
  std::optional<Entry> found;
  process().database.read(key_in(table, key), [&](std::string_view, Bytes value, Version version) {
    found = Entry{std::string(key), {value.begin(), value.end()}, version};
    return false;
  });
  return found;
}

std::vector<Entry> LmdbStore::scan(std::string_view table, std::string_view from,
                                   std::size_t most) {
  const NotCancelled whole;
  std::vector<Entry> found;
  const std::string prefix = key_in(table, {});
  if (most == 0) return found;
  process().database.scan(
      key_in(table, from), [&](std::string_view key, Bytes value, Version version) {
        if (!key.starts_with(prefix)) return false;
        found.push_back(
            {std::string(key.substr(prefix.size())), {value.begin(), value.end()}, version});
        return found.size() < most;
      });
  return found;
}

// Goes from the first entry of each table to that of the next one.
std::vector<std::string> LmdbStore::tables(std::string_view prefix, std::string_view behind,
                                           std::size_t most) {
  const NotCancelled whole;
  std::vector<std::string> found;
  std::size_t length = std::max({prefix.size(), behind.size(), std::size_t{1}});
  std::string from = behind.size() < length || behind < prefix ? begin_of_tables(length, prefix)
                                                               : end_of_table(behind);
  while (found.size() < most && length <= kLongestTable) {
    std::string next;
    process().database.scan(from, [&](std::string_view key, Bytes, Version) {
      next = key;
      return false;
    });
    const std::size_t of_next = length_of_table(next);
    if (of_next == 0) break;
    const bool fits = of_next == length && next.starts_with(begin_of_tables(length, prefix));
    if (fits) {
      found.push_back(next.substr(kTableHead, length));
      from = end_of_table(found.back());
    } else {
      length = std::max(length + 1, of_next);
      from = begin_of_tables(length, prefix);
    }
  }
  return found;
}

std::vector<Version> LmdbStore::put(std::span<const Change> blobs) {
  const NotCancelled whole;
  auto& [forked, database, files] = process();
  std::vector<FileValue> in_files(blobs.size());
  std::vector<std::vector<std::byte>> heads(blobs.size());
  std::vector<Version> versions(blobs.size(), kAbsent);
  NewFiles unnamed(files, blobs.size());
  std::vector<DatabaseChange> all;
  all.reserve(blobs.size());
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    require_key(blobs[i].key);
    const auto& [key, value, expected, front] = blobs[i];
    const std::uint64_t size = front.size() + value.value_or(Bytes{}).size();
    heads[i].assign(1, kInside);
    heads[i].insert(heads[i].end(), front.begin(), front.end());
    all.push_back(
        {key_of_blob(key), heads[i], value.value_or(Bytes{}), !value.has_value(), expected, false});
    if (!value || size <= kLargestInside) continue;
    in_files[i] = value_of(unnamed.write(i, blobs[i]), size);
    all[i].head = in_files[i];
    all[i].body = {};
  }
  unnamed.sync();
  if (unnamed.any()) files.sync_names();
  std::vector<DataFile> gone;
  gone.reserve(blobs.size());
  const auto note_file = [&](Bytes value) {
    if (const auto file = parse(value).file) gone.push_back(*file);
  };
  bool is_known = true;
  try {
    const Version version =
        database.write(all, /*together=*/false, synced_, {note_file, [&] { is_known = false; }});
    for (std::size_t i = 0; i < blobs.size(); ++i) {
      if (all[i].refused) continue;
      unnamed.keep(i);
      if (!all[i].erases) versions[i] = version;
    }
  } catch (...) {
    for (std::size_t i = 0; i < blobs.size() && !is_known; ++i)
      if (!is_without(database, all[i].key, in_files[i])) unnamed.keep(i);
    throw;
  }
  for (const DataFile& file : gone) files.erase(file);
  return versions;
}

// Between a look at the entry and that at its file another may have replaced both.
std::optional<BlobInfo> LmdbStore::get(std::string_view key, std::uint64_t offset,
                                       std::span<std::byte> room) {
  const NotCancelled whole;
  require_key(key);
  auto& [forked, database, files] = process();
  std::optional<DataFile> gone;
  while (true) {
    std::optional<BlobInfo> info;
    std::optional<DataFile> file;
    database.read(key_of_blob(key), [&](std::string_view, Bytes stored, Version version) {
      const BlobValue value = parse(stored);
      info = BlobInfo{version, value.size};
      file = value.file;
      if (file) return false;
      const Bytes rest = value.inside.subspan(std::min<std::uint64_t>(offset, value.size));
      std::ranges::copy(rest.first(std::min(rest.size(), room.size())), room.begin());
      return false;
    });
    if (!info || !file) return info;
    const std::uint64_t rest = info->size - std::min(offset, info->size);
    if (files.read(*file, offset, room.first(std::min<std::uint64_t>(rest, room.size()))))
      return info;
    if (gone == file)
      throw Error("the file " + files.path_of(*file) + " of blob " + printable(key) + " is missing",
                  ErrorKind::corrupt);
    gone = file;
  }
}

std::vector<ListedBlob> LmdbStore::list(std::string_view from, std::size_t most) {
  const NotCancelled whole;
  std::vector<ListedBlob> found;
  if (most == 0) return found;
  process().database.scan(
      key_of_blob(from), [&](std::string_view key, Bytes value, Version version) {
        if (!key.starts_with('b')) return false;
        found.push_back({std::string(key.substr(1)), {version, parse(value).size}});
        return found.size() < most;
      });
  return found;
}

std::shared_ptr<const void> LmdbStore::keep(std::string_view name, Keeping how) {
  constexpr std::uint64_t kNames = std::uint64_t{1} << 32U;
  const NotCancelled whole;
  return lock_byte(folder_ + "/lock", kNames + engine::checksum(bytes_of(name)),
                   how == Keeping::alone);
}

// Of a database that is damaged nothing is erased: it is read to its end.
LeftOver LmdbStore::collect(Collect how) {
  const NotCancelled whole;
  std::set<DataFile> named;
  auto& [forked, database, files] = process();
  return files.collect(
      how,
      [&] {
        database.scan({}, [&](std::string_view key, Bytes value, Version /*version*/) {
          if (!key.starts_with('b') && !key.starts_with('t'))
            throw Error("store " + folder_ + " has a key of no kind", ErrorKind::corrupt);
          if (!key.starts_with('b')) return true;
          if (const auto file = parse(value).file) named.insert(*file);
          return true;
        });
      },
      [&](DataFile file) { return named.contains(file); });
}

}  // namespace headrace::store
