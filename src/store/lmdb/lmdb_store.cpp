#include "store/lmdb/lmdb_store.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/descriptor.hpp"
#include "base/little_endian.hpp"
#include "base/private_folder.hpp"
#include "base/report/printable.hpp"
#include "engine/io/local_file_system.hpp"

namespace headrace::store {
namespace {

constexpr std::string_view kFormat = "Headrace store 1\n";

// What a blob's value begins with.
constexpr std::byte kInside{0};
constexpr std::byte kInFile{1};

struct Value {
  Bytes inside;
  std::uint64_t size = 0;
  std::optional<DataFile> file;
};

using FileValue = std::array<std::byte, 25>;

FileValue value_of(DataFile file, std::uint64_t size) {
  FileValue value{kInFile};
  put_little_endian(value.data() + 1, size);
  put_little_endian(value.data() + 9, file.session);
  put_little_endian(value.data() + 17, file.number);
  return value;
}

Value parse(Bytes value) {
  if (!value.empty() && value[0] == kInside)
    return {value.subspan(1), value.size() - 1, std::nullopt};
  if (value.size() != sizeof(FileValue) || value[0] != kInFile)
    throw Error("a blob's entry is damaged", ErrorKind::corrupt);
  const auto word = [&](std::size_t at) { return little_endian<std::uint64_t>(&value[at]); };
  return {{}, word(1), DataFile{word(9), word(17)}};
}

std::string key_of_blob(std::string_view key) { return "b" + std::string(key); }

std::string key_in(std::string_view table, std::string_view key) {
  require_table(table);
  std::array<std::byte, 2> length{};
  put_little_endian(length.data(), static_cast<std::uint16_t>(table.size()));
  std::string all = "t";
  all.append(reinterpret_cast<const char*>(length.data()), length.size());
  return all.append(table).append(key);
}

// As the module takes it. `key` outlives the result.
LmdbChange change_of(const Change& change, const std::string& key, Bytes head, Bytes body) {
  return {lent(key),
          lent(head),
          lent(body),
          !change.value.has_value(),
          change.expected.has_value(),
          change.expected.value_or(kAbsent),
          /*refused=*/false};
}

void check_format(const std::string& folder) {
  const Descriptor opened(folder, O_RDONLY | O_DIRECTORY);
  if (!engine::io::is_on_local_file_system(opened.get()))
    throw Error(folder + " is not on a local file system, which LMDB needs",
                ErrorKind::unsupported);
  // Whoever makes it writes it whole: it is shorter than what the system writes at once.
  const Descriptor file(folder + "/format", O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  std::array<char, 64> text{};
  const ssize_t length = ::pread(file.get(), text.data(), text.size(), 0);
  if (length < 0) throw file_error(file.path() + " cannot be read");
  if (length == 0) {
    if (::pwrite(file.get(), kFormat.data(), kFormat.size(), 0) != std::ssize(kFormat))
      throw file_error(file.path() + " cannot be written");
  } else if (std::string_view(text.data(), static_cast<std::size_t>(length)) != kFormat) {
    throw Error(folder + " holds no store, or one of another version of Headrace",
                ErrorKind::conflict);
  }
}

std::string prepared(const std::string& folder) {
  const auto database = folder + "/database";
  make_private_folder(folder);
  check_format(folder);
  make_private_folder(database);
  make_private_folder(folder + "/files");
  return database;
}

// Files that a put has made, until they are named.
class NewFiles {
 public:
  explicit NewFiles(const DataFiles& files) : files_(files) {}
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    for (const DataFile& file : made_) files_.erase(file);
  }
  void add(DataFile file) { made_.insert(file); }
  void keep(DataFile file) { made_.erase(file); }

 private:
  const DataFiles& files_;
  std::set<DataFile> made_;
};

}  // namespace

LmdbStore::LmdbStore(const std::string& folder, Durability durability)
    : synced_(durability == Durability::power),
      database_(prepared(folder)),
      files_(folder + "/files", synced_) {}

std::optional<std::size_t> LmdbStore::commit(std::string_view table,
                                             std::span<const Change> changes) {
  std::vector<std::string> keys;
  for (const Change& one : changes) {
    require_key(one.key);
    keys.push_back(key_in(table, one.key));
  }
  std::vector<LmdbChange> all;
  for (std::size_t i = 0; i < changes.size(); ++i)
    all.push_back(change_of(changes[i], keys[i], changes[i].value.value_or(Bytes{}), {}));
  database_.write(all, /*together=*/true, synced_, [](Bytes) {});
  const auto refused = std::ranges::find(all, true, &LmdbChange::refused);
  if (refused == all.end()) return std::nullopt;
  return refused - all.begin();
}

std::optional<Entry> LmdbStore::find(std::string_view table, std::string_view key) {
  require_key(key);
  std::optional<Entry> found;
  database_.read(key_in(table, key), [&](std::string_view, Bytes value, Version version) {
    found = Entry{std::string(key), {value.begin(), value.end()}, version};
    return false;
  });
  return found;
}

std::vector<Entry> LmdbStore::scan(std::string_view table, std::string_view from,
                                   std::size_t most) {
  std::vector<Entry> found;
  const std::string prefix = key_in(table, {});
  if (most == 0) return found;
  database_.scan(key_in(table, from), [&](std::string_view key, Bytes value, Version version) {
    if (!key.starts_with(prefix)) return false;
    found.push_back(
        {std::string(key.substr(prefix.size())), {value.begin(), value.end()}, version});
    return found.size() < most;
  });
  return found;
}

std::vector<Version> LmdbStore::put(std::span<const Change> blobs) {
  std::vector<std::string> keys;
  std::vector<FileValue> in_files(blobs.size());
  std::vector<std::optional<DataFile>> made(blobs.size());
  NewFiles unnamed(files_);
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    require_key(blobs[i].key);
    keys.push_back(key_of_blob(blobs[i].key));
    if (!blobs[i].value || blobs[i].value->size() <= kLargestInside) continue;
    made[i] = files_.write(*blobs[i].value);
    unnamed.add(*made[i]);
    in_files[i] = value_of(*made[i], blobs[i].value->size());
  }
  std::vector<LmdbChange> all;
  for (std::size_t i = 0; i < blobs.size(); ++i)
    all.push_back(made[i] ? change_of(blobs[i], keys[i], in_files[i], {})
                          : change_of(blobs[i], keys[i], std::span(&kInside, 1),
                                      blobs[i].value.value_or(Bytes{})));
  std::vector<DataFile> replaced;
  const Version version = database_.write(all, /*together=*/false, synced_, [&](Bytes value) {
    if (const auto file = parse(value).file) replaced.push_back(*file);
  });
  std::vector<Version> versions(blobs.size(), kAbsent);
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    if (all[i].refused || all[i].erases) continue;
    versions[i] = version;
    if (made[i]) unnamed.keep(*made[i]);
  }
  for (const DataFile& file : replaced) files_.erase(file);
  return versions;
}

// Between a look at the entry and that at its file another may have replaced both.
std::optional<BlobInfo> LmdbStore::get(std::string_view key, std::uint64_t offset,
                                       std::span<std::byte> room) {
  require_key(key);
  std::optional<DataFile> gone;
  while (true) {
    std::optional<BlobInfo> info;
    std::optional<DataFile> file;
    database_.read(key_of_blob(key), [&](std::string_view, Bytes stored, Version version) {
      const Value value = parse(stored);
      info = BlobInfo{version, value.size};
      file = value.file;
      if (file) return false;
      const Bytes rest = value.inside.subspan(std::min<std::uint64_t>(offset, value.size));
      std::ranges::copy(rest.first(std::min(rest.size(), room.size())), room.begin());
      return false;
    });
    if (!info || !file) return info;
    const std::uint64_t rest = info->size - std::min(offset, info->size);
    if (files_.read(*file, offset, room.first(std::min<std::uint64_t>(rest, room.size()))))
      return info;
    if (gone == file)
      throw Error(
          "the file " + files_.path_of(*file) + " of blob " + printable(key) + " is missing",
          ErrorKind::corrupt);
    gone = file;
  }
}

std::vector<ListedBlob> LmdbStore::list(std::string_view from, std::size_t most) {
  std::vector<ListedBlob> found;
  if (most == 0) return found;
  database_.scan(key_of_blob(from), [&](std::string_view key, Bytes value, Version version) {
    if (!key.starts_with('b')) return false;
    found.push_back({std::string(key.substr(1)), {version, parse(value).size}});
    return found.size() < most;
  });
  return found;
}

void LmdbStore::collect() {
  std::set<DataFile> named;
  files_.collect(
      [&] {
        // What a writer has put in the moment it was killed is seen after the next writer only.
        database_.write({}, /*together=*/true, synced_, [](Bytes) {});
        database_.scan("b", [&](std::string_view key, Bytes value, Version /*version*/) {
          if (!key.starts_with('b')) return false;
          if (const auto file = parse(value).file) named.insert(*file);
          return true;
        });
      },
      [&](DataFile file) { return named.contains(file); });
}

}  // namespace headrace::store
