#include "store/lmdb/lmdb_store.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/descriptor.hpp"
#include "base/little_endian.hpp"
#include "base/private_folder.hpp"
#include "base/report/printable.hpp"
#include "engine/io/local_file_system.hpp"
#include "store/lmdb/data_files.hpp"
#include "store/lmdb/lmdb_database.hpp"

namespace headrace::store {
namespace {

constexpr std::string_view kFormat = "Headrace store 1\n";

// How many forks lie between this process and the first one.
std::atomic<unsigned> forks{0};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

void count_forks() {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { ++forks; });
  if (registered != 0) throw Error("forks cannot be noticed", registered);
}

// What a blob's value begins with.
constexpr std::byte kInside{0};
constexpr std::byte kInFile{1};

struct BlobValue {
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

BlobValue parse(Bytes value) {
  if (!value.empty() && value[0] == kInside)
    return {value.subspan(1), value.size() - 1, std::nullopt};
  if (value.size() != sizeof(FileValue) || value[0] != kInFile)
    throw Error("the entry of a blob is damaged", ErrorKind::corrupt);
  const auto word = [&](std::size_t at) { return little_endian<std::uint64_t>(&value[at]); };
  return {{}, word(1), DataFile{word(9), word(17)}};
}

std::string key_of_blob(std::string_view key) { return "b" + std::string(key); }

std::string key_in(std::string_view table, std::string_view key) {
  require_table(table);
  std::array<std::byte, 2> length{};
  put_little_endian(length.data(), static_cast<std::uint16_t>(table.size()));
  std::string all = "t";
  return all.append(text_of(length)).append(table).append(key);
}

// A folder that others have put something else into is none of ours.
void check_format(const std::string& folder) {
  const Descriptor opened(folder, O_RDONLY | O_DIRECTORY);
  if (!engine::io::is_on_local_file_system(opened.get()))
    throw Error("store " + folder + " is not on a local file system, which LMDB needs",
                ErrorKind::unsupported);
  const std::string path = folder + "/format";
  const std::filesystem::directory_iterator first(folder);
  if (first != std::filesystem::directory_iterator() && !std::filesystem::exists(path))
    throw Error(folder + " holds something else than a store", ErrorKind::conflict);
  // Whoever makes it writes it whole: it is shorter than what the system writes at once.
  const Descriptor file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  std::array<char, 64> text{};
  const ssize_t length = ::pread(file.get(), text.data(), text.size(), 0);
  if (length < 0) throw file_error(path + " cannot be read");
  if (length == 0) {
    if (::pwrite(file.get(), kFormat.data(), kFormat.size(), 0) != std::ssize(kFormat))
      throw file_error(path + " cannot be written");
  } else if (std::string_view(text.data(), static_cast<std::size_t>(length)) != kFormat) {
    throw Error(folder + " holds no store, or one of another version of Headrace",
                ErrorKind::conflict);
  }
}

// Files that a put has made, until others may know their names.
class NewFiles {
 public:
  explicit NewFiles(const DataFiles& files) : files_(files) {}
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;
  ~NewFiles() {
    for (const DataFile& file : made_) files_.erase(file);
  }
  void add(DataFile file) { made_.push_back(file); }
  void keep() { made_.clear(); }

 private:
  const DataFiles& files_;
  std::vector<DataFile> made_;
};

}  // namespace

// What each process has of its own.
struct LmdbStore::Process {
  Process(const std::string& folder, bool synced)
      : database(folder + "/database", folder + "/lock", folder),
        files(folder + "/files", synced) {}
  unsigned of_forks = forks;
  LmdbDatabase database;
  DataFiles files;
};

LmdbStore::LmdbStore(const std::string& folder, Durability durability)
    : folder_(std::filesystem::absolute(folder).lexically_normal()),
      synced_(durability == Durability::power) {
  count_forks();
  make_private_folder(folder_);
  check_format(folder_);
  make_private_folder(folder_ + "/files");
  process();
  if (!synced_) return;
  const Descriptor format(folder_ + "/format", O_RDONLY);
  if (::fsync(format.get()) != 0) throw file_error(format.path());
  sync_folder(folder_);
  sync_folder(std::filesystem::path(folder_).parent_path());
}

// That of a parent is left as it is: its descriptors may be others by now.
LmdbStore::~LmdbStore() {
  Process* const last = process_;
  if (last != nullptr && last->of_forks == forks) delete last;
}

// Without a lock: another thread may have had it in the parent.
LmdbStore::Process& LmdbStore::process() const {
  Process* found = process_.load(std::memory_order_acquire);
  while (found == nullptr || found->of_forks != forks) {
    auto made = std::make_unique<Process>(folder_, synced_);
    if (process_.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
      found = made.release();
  }
  return *found;
}

Commit LmdbStore::commit(std::string_view table, std::span<const Change> changes) {
  std::vector<DatabaseChange> all;
  for (const Change& one : changes) {
    require_key(one.key);
    all.push_back({key_in(table, one.key),
                   one.value.value_or(Bytes{}),
                   {},
                   !one.value.has_value(),
                   one.expected});
  }
  const Version version = process().database.write(all, /*together=*/true, synced_, {});
  const auto refused = std::ranges::find(all, true, &DatabaseChange::refused);
  if (refused == all.end()) return {version};
  return {kAbsent, refused - all.begin()};
}

std::optional<Entry> LmdbStore::find(std::string_view table, std::string_view key) {
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

std::vector<Version> LmdbStore::put(std::span<const Change> blobs) {
  auto& [forked, database, files] = process();
  std::vector<FileValue> in_files(blobs.size());
  std::vector<std::optional<DataFile>> made(blobs.size());
  std::vector<Version> versions(blobs.size(), kAbsent);
  NewFiles unnamed(files);
  std::vector<DatabaseChange> all;
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    require_key(blobs[i].key);
    const Bytes value = blobs[i].value.value_or(Bytes{});
    all.push_back({key_of_blob(blobs[i].key), std::span(&kInside, 1), value,
                   !blobs[i].value.has_value(), blobs[i].expected});
    if (value.size() <= kLargestInside) continue;
    made[i] = files.write(value);
    unnamed.add(*made[i]);
    in_files[i] = value_of(*made[i], value.size());
    all[i].head = in_files[i];
    all[i].body = {};
  }
  std::vector<DataFile> gone;
  const auto note_file = [&](Bytes value) {
    if (const auto file = parse(value).file) gone.push_back(*file);
  };
  gone.reserve(2 * blobs.size());
  const Version version =
      database.write(all, /*together=*/false, synced_, {note_file, [&] { unnamed.keep(); }});
  unnamed.keep();
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    if (all[i].refused && made[i]) gone.push_back(*made[i]);
    if (!all[i].refused && !all[i].erases) versions[i] = version;
  }
  for (const DataFile& file : gone) files.erase(file);
  return versions;
}

// Between a look at the entry and that at its file another may have replaced both.
std::optional<BlobInfo> LmdbStore::get(std::string_view key, std::uint64_t offset,
                                       std::span<std::byte> room) {
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

// Of a database that is damaged nothing is erased: it is read to its end.
void LmdbStore::collect() {
  std::set<DataFile> named;
  auto& [forked, database, files] = process();
  files.collect(
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
