#include "store/lmdb/lmdb_database.hpp"

#include <fcntl.h>
#include <lmdb.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "base/descriptor.hpp"
#include "base/little_endian.hpp"
#include "base/report/printable.hpp"
#include "engine/checksum.hpp"
#include "store/lmdb/not_cancelled.hpp"

namespace headrace::store {
namespace {

// Of address space: nothing of it is used before it holds something. The thread sanitizer has
// little of it, and more work for each byte.
#ifdef __SANITIZE_THREAD__
constexpr std::size_t kLargestMap = std::size_t{1} << 32U;
#else
constexpr std::size_t kLargestMap = std::size_t{1} << 40U;
#endif
constexpr std::size_t kSmallestMap = std::size_t{1} << 28U;

// A code of our own: what the file should hold lies beyond its end.
constexpr int kCutOff = -1;

using Head = std::array<std::byte, 12>;

// A code of LMDB's, or an errno.
struct Failure : std::exception {
  explicit Failure(int its) : code(its) {}
  int code;
};

ErrorKind kind_of_code(int code) {
  switch (code) {
    case kCutOff:
    case MDB_PAGE_NOTFOUND:
    case MDB_CORRUPTED:
    case MDB_INVALID:
      return ErrorKind::corrupt;
    case MDB_VERSION_MISMATCH:
      return ErrorKind::unsupported;
    case MDB_MAP_FULL:
      return ErrorKind::no_space;
    default:
      return ErrorKind::failed;
  }
}

// LMDB says of a write that the disk had no room for that it is an input/output error.
int told(int code, const std::string& path) {
  constexpr unsigned kFew = 16;  // blocks
  struct statvfs status{};
  const bool is_full = ::statvfs(path.c_str(), &status) == 0 && status.f_bavail < kFew;
  return code == EIO && is_full ? ENOSPC : code;
}

MDB_val value_of(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }

Bytes bytes_of_value(const MDB_val& value) {
  return {static_cast<const std::byte*>(value.mv_data), value.mv_size};
}

std::uint32_t checksum_of(std::string_view key, Version version, Bytes head, Bytes body) {
  std::array<std::byte, 8> number{};
  put_little_endian(number.data(), version);
  std::uint32_t sum = engine::checksum(number);
  for (const Bytes part : {bytes_of(key), head, body}) sum = engine::checksum(part, sum);
  return sum;
}

struct Stored {
  Version version = kAbsent;
  Bytes value;
};

int unpack(std::string_view key, const MDB_val& value, Stored* stored) {
  const Bytes bytes = bytes_of_value(value);
  if (bytes.size() < sizeof(Head)) return MDB_CORRUPTED;
  stored->version = little_endian<Version>(bytes.data());
  stored->value = bytes.subspan(sizeof(Head));
  const auto sum = little_endian<std::uint32_t>(bytes.data() + 8);
  return sum == checksum_of(key, stored->version, stored->value, {}) ? 0 : MDB_CORRUPTED;
}

}  // namespace

class LmdbDatabase::Environment {
 public:
  // Alone. Throws Failure.
  explicit Environment(const std::string& path) {
    require_content(path);
    // As large a map as this process may have.
    for (std::size_t map = kLargestMap; true; map /= 2) {
      const int code = open(path, map);
      if (code == 0) break;
      if (code != ENOMEM || map <= kSmallestMap) throw Failure(code);
    }
    try {
      check_size();
      open_dbi();
    } catch (...) {
      mdb_env_close(env_);
      throw;
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { mdb_env_close(env_); }

  [[nodiscard]] MDB_env* get() const { return env_; }
  [[nodiscard]] MDB_dbi dbi() const { return dbi_; }

 private:
  static void require(int code) {
    if (code != 0) throw Failure(code);
  }

  int open(const std::string& path, std::size_t map) {
    constexpr unsigned kFlags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOTLS | MDB_NORDAHEAD;
    int code = mdb_env_create(&env_);
    if (code != 0) return code;
    code = mdb_env_set_mapsize(env_, map);
    if (code == 0) code = mdb_env_open(env_, path.c_str(), kFlags, 0600);
    if (code != 0) mdb_env_close(env_);
    return code;
  }

  // LMDB takes an empty file for a new one.
  static void require_content(const std::string& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 && status.st_size == 0) throw Failure(kCutOff);
  }

  void open_dbi() {
    MDB_txn* txn = nullptr;
    require(mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn));
    const int code = mdb_dbi_open(txn, nullptr, 0, &dbi_);
    mdb_txn_abort(txn);
    require(code);
  }

  // What is missing of the file would be a signal. LMDB does not write pages at the end that were
  // free again when it would have: these are made, and read as zeros.
  void check_size() {
    MDB_envinfo info;
    MDB_stat stat;
    int file = -1;
    struct stat status{};
    require(mdb_env_info(env_, &info));
    require(mdb_env_stat(env_, &stat));
    require(mdb_env_get_fd(env_, &file));
    // Programs that this one starts do not get it.
    if (::fcntl(file, F_SETFD, FD_CLOEXEC) != 0 || ::fstat(file, &status) != 0)
      throw Failure(errno);
    const std::size_t page = stat.ms_psize;
    const auto have = static_cast<std::size_t>(status.st_size);
    const std::size_t pages = info.me_last_pgno + 1;
    if (pages > info.me_mapsize / page) throw Failure(MDB_CORRUPTED);
    if (have >= pages * page) return;
    if (::ftruncate(file, static_cast<off_t>(pages * page)) != 0) throw Failure(errno);
    std::vector<bool> is_missing(pages - have / page, true);
    const int code = note_free_pages(have / page, is_missing);
    if (code == 0 && std::ranges::find(is_missing, true) == is_missing.end()) return;
    if (::ftruncate(file, static_cast<off_t>(have)) != 0) throw Failure(errno);
    throw Failure(kCutOff);
  }

  // Of those from `first` on. They are in lists, in LMDB's own first table.
  int note_free_pages(std::size_t first, std::vector<bool>& is_missing) {
    MDB_txn* txn = nullptr;
    MDB_cursor* cursor = nullptr;
    int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
    if (code != 0) return code;
    code = mdb_cursor_open(txn, 0, &cursor);
    MDB_val key{};
    MDB_val list{};
    while (code == 0 && (code = mdb_cursor_get(cursor, &key, &list, MDB_NEXT)) == 0) {
      const std::span pages(static_cast<const std::size_t*>(list.mv_data),
                            list.mv_size / sizeof(std::size_t));
      if (pages.empty() || pages[0] >= pages.size()) code = MDB_CORRUPTED;
      for (std::size_t i = 1; code == 0 && i <= pages[0]; ++i)
        if (pages[i] >= first && pages[i] - first < is_missing.size())
          is_missing[pages[i] - first] = false;
    }
    if (cursor != nullptr) mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    return code == MDB_NOTFOUND ? 0 : code;
  }

  MDB_env* env_ = nullptr;
  MDB_dbi dbi_ = 0;
};

class LmdbDatabase::Transaction {
 public:
  explicit Transaction(Environment& environment) : environment_(environment) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (txn_ != nullptr) mdb_txn_abort(txn_);
  }
  int begin(unsigned flags) { return mdb_txn_begin(environment_.get(), nullptr, flags, &txn_); }
  // No other thread of the process has one that writes.
  int commit(bool synced) {
    mdb_env_set_flags(environment_.get(), MDB_NOSYNC, synced ? 0 : 1);
    return mdb_txn_commit(std::exchange(txn_, nullptr));
  }

  [[nodiscard]] Version version() const { return mdb_txn_id(txn_); }

  // Of version kAbsent where there is none.
  int look_up(std::string_view key, Stored* stored) const {
    MDB_val name = value_of(key);
    MDB_val value{};
    const int code = mdb_get(txn_, environment_.dbi(), &name, &value);
    if (code == MDB_NOTFOUND) return 0;
    return code != 0 ? code : unpack(key, value, stored);
  }

  int walk(std::string_view from, const Visit& visit) const {
    MDB_cursor* opened = nullptr;
    int code = mdb_cursor_open(txn_, environment_.dbi(), &opened);
    if (code != 0) return code;
    const std::unique_ptr<MDB_cursor, void (*)(MDB_cursor*)> cursor(opened, &mdb_cursor_close);
    MDB_val name = value_of(from);
    MDB_val value{};
    code = mdb_cursor_get(opened, &name, &value, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
    std::string before;  // keys that do not ascend are damaged
    for (; code == 0; code = mdb_cursor_get(opened, &name, &value, MDB_NEXT)) {
      const std::string_view key = text_of(bytes_of_value(name));
      Stored stored;
      code = unpack(key, value, &stored);
      if (code == 0 && !before.empty() && key <= before) code = MDB_CORRUPTED;
      if (code != 0) return code;
      if (!visit(key, stored.value, stored.version)) return 0;
      before = key;
    }
    return code == MDB_NOTFOUND ? 0 : code;
  }

  // MDB_KEYEXIST where it is to be absent and is not.
  int put(const DatabaseChange& change) const {
    const std::uint64_t made = version();
    MDB_val key = value_of(change.key);
    MDB_val value{sizeof(Head) + change.head.size() + change.body.size(), nullptr};
    const unsigned flags = MDB_RESERVE | (change.expected == kAbsent ? MDB_NOOVERWRITE : 0);
    const int code = mdb_put(txn_, environment_.dbi(), &key, &value, flags);
    if (code != 0) return code;
    auto* const at = static_cast<std::byte*>(value.mv_data);
    put_little_endian(at, made);
    put_little_endian(at + 8, checksum_of(change.key, made, change.head, change.body));
    std::ranges::copy(change.head, at + sizeof(Head));
    std::ranges::copy(change.body, at + sizeof(Head) + change.head.size());
    return 0;
  }

  int erase(std::string_view key) const {
    MDB_val name = value_of(key);
    const int code = mdb_del(txn_, environment_.dbi(), &name, nullptr);
    return code == MDB_NOTFOUND ? 0 : code;
  }

 private:
  Environment& environment_;
  MDB_txn* txn_ = nullptr;
};

LmdbDatabase::LmdbDatabase(std::string path, std::string lock_path, std::string name)
    : path_(std::move(path)), name_(std::move(name)), locks_(std::move(lock_path)) {}

// It is whole when it gets its name.
void LmdbDatabase::make(const std::function<void()>& finish) {
  const NotCancelled whole;
  const std::scoped_lock alone(locks_);
  const std::string made = path_ + ".new";
  try {
    if (::access(path_.c_str(), F_OK) != 0) {
      if (errno != ENOENT) throw Failure(errno);
      ::unlink(made.c_str());
      {
        const Environment empty(made);
      }
      if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0)
        throw Failure(errno);
    }
    finish();
  } catch (const Failure& failure) {
    ::unlink(made.c_str());
    fail(failure.code, "made", {});
  }
}

LmdbDatabase::~LmdbDatabase() = default;

void LmdbDatabase::fail(int code, const char* what, std::string_view key) const {
  std::string text = "store " + name_ + " cannot be " + what;
  if (!key.empty()) text += " at key " + printable(key);
  text += ": ";
  code = told(code, path_);
  if (code > 0) throw file_error(text.substr(0, text.size() - 2), code);
  throw Error(text + (code == kCutOff ? path_ + " is cut off" : mdb_strerror(code)),
              kind_of_code(code));
}

std::shared_ptr<LmdbDatabase::Environment> LmdbDatabase::environment() {
  const NotCancelled whole;
  const std::scoped_lock mine(mutex_);
  if (environment_ != nullptr) return environment_;
  const std::scoped_lock alone(locks_);
  if (::access(path_.c_str(), F_OK) != 0)
    throw Error("the database of store " + name_ + ": " + file_error(path_).what(),
                errno == ENOENT ? ErrorKind::corrupt : ErrorKind::failed);
  try {
    environment_ = std::make_shared<Environment>(path_);
  } catch (const Failure& failure) {
    fail(failure.code, "opened", {});
  }
  return environment_;
}

void LmdbDatabase::retire(const std::shared_ptr<Environment>& environment) {
  const std::scoped_lock mine(mutex_);
  if (environment_ == environment) environment_ = nullptr;
}

// Calls `work(transaction)`, which returns a code; again where the file has outgrown its map.
template <typename Lock, typename Work>
void LmdbDatabase::run(unsigned flags, const char* what, std::string_view key, const Work& work) {
  constexpr int kTries = 3;
  for (int i = 1;; ++i) {
    const auto current = environment();
    int code = 0;
    {
      const NotCancelled whole;
      const Lock lock(locks_);
      Transaction transaction(*current);
      code = transaction.begin(flags);
      if (code == 0) code = work(transaction);
    }
    if (code == 0) return;
    // LMDB refuses all further work after some failures of a write.
    if (code == MDB_MAP_RESIZED || code == MDB_PANIC || flags == 0) retire(current);
    if (code != MDB_MAP_RESIZED || i == kTries) fail(code, what, key);
  }
}

void LmdbDatabase::read(std::string_view key, const Visit& visit) {
  run<std::shared_lock<FileLocks>>(MDB_RDONLY, "read", key, [&](const Transaction& transaction) {
    Stored stored;
    const int code = transaction.look_up(key, &stored);
    if (code == 0 && stored.version != kAbsent) visit(key, stored.value, stored.version);
    return code;
  });
}

void LmdbDatabase::scan(std::string_view from, const Visit& visit) {
  run<std::shared_lock<FileLocks>>(MDB_RDONLY, "read", from, [&](const Transaction& transaction) {
    return transaction.walk(from, visit);
  });
}

Version LmdbDatabase::write(std::span<DatabaseChange> changes, bool together, bool synced,
                            const Writing& writing) {
  Version made = kAbsent;
  run<std::unique_lock<FileLocks>>(0, "written", {}, [&](Transaction& transaction) {
    made = kAbsent;
    bool any = false;
    for (DatabaseChange& change : changes) change.refused = false;
    for (DatabaseChange& change : changes) {
      Stored before;
      const bool is_new = !change.erases && change.expected == kAbsent;  // else put() says so
      int code = is_new ? 0 : transaction.look_up(change.key, &before);
      if (code != 0) return code;
      change.refused = change.expected && *change.expected != before.version;
      if (change.refused && together) return 0;
      if (change.refused || (change.erases && before.version == kAbsent)) continue;
      if (before.version != kAbsent) writing.replaced(before.value);
      code = change.erases ? transaction.erase(change.key) : transaction.put(change);
      change.refused = code == MDB_KEYEXIST;
      if (change.refused && together) return 0;
      if (change.refused) continue;
      if (code != 0) return code;
      if (!change.erases) made = transaction.version();
      any = true;
    }
    if (!any) return 0;
    writing.committing();
    return transaction.commit(synced);
  });
  return made;
}

}  // namespace headrace::store
