// The LMDB module: LMDB, and nothing of the core. See lmdb_table.hpp.
//
// The value of a key is its version, 8 bytes of this machine's order, and what was given. A version
// is the number of the transaction that made it: LMDB counts these.
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "store/lmdb/lmdb_table.hpp"

namespace headrace::store {
namespace {

// Of address space: nothing of it is used before it holds something.
constexpr std::size_t kLargestMap = std::size_t{1} << 40U;
constexpr std::size_t kSmallestMap = std::size_t{1} << 30U;
constexpr unsigned kReaders = 4096;  // threads that read at a time, of all processes
constexpr std::size_t kIdleReaders = 16;

// How many forks lie between this process and the first one that had the module.
std::atomic<unsigned> generation{0};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// LMDB's own handle, of one process. One that belongs to the parent of this process is left as it
// is: closing it would take locks that this process has.
struct Handle {
  MDB_env* env = nullptr;
  MDB_dbi dbi = 0;
  unsigned of_generation = 0;
  std::shared_mutex gate;  // alone while the map changes its size
  std::mutex mutex;        // of `idle`
  std::vector<MDB_txn*> idle;
};

void close_handle(Handle* handle) {
  for (MDB_txn* const txn : handle->idle) mdb_txn_abort(txn);
  mdb_env_close(handle->env);
  delete handle;
}

struct Database {
  std::string folder;
  unsigned opens = 0;
  std::mutex mutex;  // of opening
  std::atomic<Handle*> handle{nullptr};
};

using Place = std::pair<dev_t, ino_t>;

// Leaked on purpose: HDF5 ends its connectors after C++ statics are destroyed.
struct Registry {
  std::mutex mutex;
  std::map<Place, Database*> databases;
};
Registry& registry() {
  static auto& made = *new Registry();
  return made;
}

void prepare_fork() {
  registry().mutex.lock();
  for (auto& [place, database] : registry().databases) database->mutex.lock();
}
void end_fork() {
  for (auto& [place, database] : registry().databases) database->mutex.unlock();
  registry().mutex.unlock();
}
void begin_child() {
  ++generation;
  end_fork();
}

// Programs that this one starts do not get it. Whether it holds all pages that it says are in use:
// what is missing would be a signal.
int check_file(MDB_env* env) {
  MDB_envinfo info;
  MDB_stat stat;
  int descriptor = -1;
  struct stat file{};
  if (mdb_env_info(env, &info) != 0 || mdb_env_stat(env, &stat) != 0 ||
      mdb_env_get_fd(env, &descriptor) != 0 || ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0 ||
      ::fstat(descriptor, &file) != 0)
    return EIO;
  const std::size_t used = (info.me_last_pgno + 1) * stat.ms_psize;
  return static_cast<std::size_t>(file.st_size) < used ? kLmdbCutOff : 0;
}

// With as large a map as the process may have; each try needs an env of its own.
int open_env(const char* folder, MDB_env** env) {
  for (std::size_t map = kLargestMap;; map /= 4) {
    int code = mdb_env_create(env);
    if (code != 0) return code;
    code = mdb_env_set_maxreaders(*env, kReaders);
    if (code == 0) code = mdb_env_set_mapsize(*env, map);
    if (code == 0) code = mdb_env_open(*env, folder, MDB_NOTLS | MDB_NORDAHEAD, 0600);
    if (code == 0) return 0;
    mdb_env_close(*env);
    if (code != ENOMEM || map <= kSmallestMap) return code;
  }
}

int open_dbi(MDB_env* env, MDB_dbi* dbi) {
  MDB_txn* txn = nullptr;
  int code = mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn);
  if (code == 0) code = mdb_dbi_open(txn, nullptr, 0, dbi);
  if (code == 0) return mdb_txn_commit(txn);
  if (txn != nullptr) mdb_txn_abort(txn);
  return code;
}

int open_handle(const std::string& folder, Handle** opened) {
  auto* const handle = new Handle;
  handle->of_generation = generation;
  int code = open_env(folder.c_str(), &handle->env);
  if (code != 0) {
    delete handle;
    return code;
  }
  int dead = 0;
  code = mdb_reader_check(handle->env, &dead);
  if (code == 0) code = check_file(handle->env);
  if (code == 0) code = open_dbi(handle->env, &handle->dbi);
  if (code != 0) {
    close_handle(handle);
    return code;
  }
  *opened = handle;
  return 0;
}

// The handle of this process.
int handle_of(Database& database, Handle** found) {
  *found = database.handle.load(std::memory_order_acquire);
  if (*found != nullptr && (*found)->of_generation == generation) return 0;
  const std::scoped_lock lock(database.mutex);
  *found = database.handle.load(std::memory_order_acquire);
  if (*found != nullptr && (*found)->of_generation == generation) return 0;
  const int code = open_handle(database.folder, found);
  if (code == 0) database.handle.store(*found, std::memory_order_release);
  return code;
}

// Another process has a larger map.
int adopt_map(Handle& handle) {
  const std::unique_lock alone(handle.gate);
  {
    const std::scoped_lock lock(handle.mutex);
    for (MDB_txn* const txn : std::exchange(handle.idle, {})) mdb_txn_abort(txn);
  }
  return mdb_env_set_mapsize(handle.env, 0);
}

MDB_txn* take_idle(Handle& handle) {
  const std::scoped_lock lock(handle.mutex);
  if (handle.idle.empty()) return nullptr;
  MDB_txn* const txn = handle.idle.back();
  handle.idle.pop_back();
  return txn;
}

int begin_once(Handle& handle, unsigned flags, MDB_txn** txn) {
  if ((flags & MDB_RDONLY) == 0) return mdb_txn_begin(handle.env, nullptr, flags, txn);
  *txn = take_idle(handle);
  if (*txn == nullptr) return mdb_txn_begin(handle.env, nullptr, flags, txn);
  const int code = mdb_txn_renew(*txn);
  if (code != 0) mdb_txn_abort(std::exchange(*txn, nullptr));
  return code;
}

// Calls `work(txn)` in a transaction; ends it after one that reads, as `work` does after one that
// writes.
template <typename Work>
int in_transaction(Database& database, unsigned flags, const Work& work) {
  constexpr int kTries = 10;
  Handle* handle = nullptr;
  int code = handle_of(database, &handle);
  for (int i = 0; code == 0 && i < kTries; ++i) {
    {
      const std::shared_lock shared(handle->gate);
      MDB_txn* txn = nullptr;
      code = begin_once(*handle, flags, &txn);
      if (code == 0) return work(*handle, txn);
    }
    int dead = 0;
    if (code == MDB_MAP_RESIZED)
      code = adopt_map(*handle);
    else if (code == MDB_READERS_FULL && mdb_reader_check(handle->env, &dead) == 0 && dead > 0)
      code = 0;
  }
  return code == 0 ? MDB_READERS_FULL : code;
}

void end_read(Handle& handle, MDB_txn* txn) {
  mdb_txn_reset(txn);
  {
    const std::scoped_lock lock(handle.mutex);
    if (handle.idle.size() < kIdleReaders) {
      handle.idle.push_back(txn);
      return;
    }
  }
  mdb_txn_abort(txn);
}

MDB_val value_of(LmdbBytes bytes) { return {bytes.size, const_cast<void*>(bytes.data)}; }

struct Stored {
  std::uint64_t version = 0;
  LmdbBytes value{};
};

int unpack(const MDB_val& value, Stored* stored) {
  if (value.mv_size < sizeof stored->version) return MDB_CORRUPTED;
  std::memcpy(&stored->version, value.mv_data, sizeof stored->version);
  stored->value = {static_cast<const char*>(value.mv_data) + sizeof stored->version,
                   value.mv_size - sizeof stored->version};
  return 0;
}

// Of version 0 where there is none.
int look_up(MDB_txn* txn, MDB_dbi dbi, LmdbBytes key, Stored* stored) {
  MDB_val name = value_of(key);
  MDB_val value{};
  const int code = mdb_get(txn, dbi, &name, &value);
  if (code == MDB_NOTFOUND) return 0;
  return code != 0 ? code : unpack(value, stored);
}

int read(void* self, LmdbBytes key, LmdbVisit* visit, void* context) {
  return in_transaction(*static_cast<Database*>(self), MDB_RDONLY,
                        [&](Handle& handle, MDB_txn* txn) {
                          Stored stored;
                          const int code = look_up(txn, handle.dbi, key, &stored);
                          if (code == 0 && stored.version != 0)
                            visit(context, key, stored.value, stored.version);
                          end_read(handle, txn);
                          return code;
                        });
}

int walk(MDB_cursor* cursor, LmdbBytes from, LmdbVisit* visit, void* context) {
  MDB_val name = value_of(from);
  MDB_val value{};
  int code = mdb_cursor_get(cursor, &name, &value, from.size == 0 ? MDB_FIRST : MDB_SET_RANGE);
  for (; code == 0; code = mdb_cursor_get(cursor, &name, &value, MDB_NEXT)) {
    Stored stored;
    code = unpack(value, &stored);
    if (code != 0) return code;
    if (!visit(context, {name.mv_data, name.mv_size}, stored.value, stored.version)) return 0;
  }
  return code == MDB_NOTFOUND ? 0 : code;
}

int scan(void* self, LmdbBytes from, LmdbVisit* visit, void* context) {
  return in_transaction(*static_cast<Database*>(self), MDB_RDONLY,
                        [&](Handle& handle, MDB_txn* txn) {
                          MDB_cursor* cursor = nullptr;
                          int code = mdb_cursor_open(txn, handle.dbi, &cursor);
                          if (code == 0) {
                            code = walk(cursor, from, visit, context);
                            mdb_cursor_close(cursor);
                          }
                          end_read(handle, txn);
                          return code;
                        });
}

int put(MDB_txn* txn, MDB_dbi dbi, const LmdbChange& change) {
  const std::uint64_t version = mdb_txn_id(txn);
  MDB_val key = value_of(change.key);
  MDB_val value{sizeof version + change.head.size + change.body.size, nullptr};
  const int code = mdb_put(txn, dbi, &key, &value, MDB_RESERVE);
  if (code != 0) return code;
  auto* const at = static_cast<char*>(value.mv_data);
  std::memcpy(at, &version, sizeof version);
  if (change.head.size > 0) std::memcpy(at + sizeof version, change.head.data, change.head.size);
  if (change.body.size > 0)
    std::memcpy(at + sizeof version + change.head.size, change.body.data, change.body.size);
  return 0;
}

struct Writing {
  LmdbChange* changes;
  std::size_t count;
  bool together;
  LmdbReplaced* replaced;
  void* context;
};

int erase(MDB_txn* txn, MDB_dbi dbi, LmdbBytes key) {
  MDB_val name = value_of(key);
  const int code = mdb_del(txn, dbi, &name, nullptr);
  return code == MDB_NOTFOUND ? 0 : code;
}

// Makes all changes but refused ones. `*refused`: whether there is one.
int apply(MDB_txn* txn, MDB_dbi dbi, const Writing& writing, bool* refused) {
  for (std::size_t i = 0; i < writing.count; ++i) {
    LmdbChange& change = writing.changes[i];
    Stored before;
    int code = look_up(txn, dbi, change.key, &before);
    if (code != 0) return code;
    change.refused = change.is_conditional && before.version != change.expected;
    *refused = *refused || change.refused;
    if (change.refused && writing.together) return 0;
    if (change.refused) continue;
    if (before.version != 0) writing.replaced(writing.context, before.value);
    code = change.erases ? erase(txn, dbi, change.key) : put(txn, dbi, change);
    if (code != 0) return code;
  }
  return 0;
}

int write(void* self, LmdbChange* changes, std::size_t count, bool together, bool synced,
          LmdbReplaced* replaced, void* context, std::uint64_t* made) {
  const Writing writing{changes, count, together, replaced, context};
  for (std::size_t i = 0; i < count; ++i) changes[i].refused = false;
  return in_transaction(*static_cast<Database*>(self), 0, [&](Handle& handle, MDB_txn* txn) {
    bool refused = false;
    // Of this transaction: no other thread of the process has one that writes.
    mdb_env_set_flags(handle.env, MDB_NOSYNC, synced ? 0 : 1);
    *made = mdb_txn_id(txn);
    const int code = apply(txn, handle.dbi, writing, &refused);
    if (code == 0 && !(refused && together)) return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return code;
  });
}

int open(const char* folder, void** database) {
  static const int registered = ::pthread_atfork(&prepare_fork, &end_fork, &begin_child);
  if (registered != 0) return registered;
  struct stat status{};
  if (::stat(folder, &status) != 0) return errno;
  const std::scoped_lock lock(registry().mutex);
  Database*& found = registry().databases[{status.st_dev, status.st_ino}];
  if (found == nullptr) {
    found = new Database;
    found->folder = folder;
  }
  Handle* handle = nullptr;
  const int code = handle_of(*found, &handle);
  if (code == 0) {
    ++found->opens;
    *database = found;
  } else if (found->opens == 0) {
    delete found;
    registry().databases.erase({status.st_dev, status.st_ino});
  }
  return code;
}

void close(void* self) {
  auto* const database = static_cast<Database*>(self);
  const std::scoped_lock lock(registry().mutex);
  if (--database->opens > 0) return;
  Handle* const handle = database->handle;
  if (handle->of_generation == generation) close_handle(handle);
  std::erase_if(registry().databases, [&](const auto& entry) { return entry.second == database; });
  delete database;
}

const char* error_text(int code) {
  return code == kLmdbCutOff ? "the file is shorter than what it holds" : mdb_strerror(code);
}

// What may run out of memory says so.
template <auto function, typename... Args>
int guarded(Args... args) {
  try {
    return function(args...);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

constexpr LmdbTable kTable{
    kLmdbTableVersion,
    [](auto... args) { return guarded<&open>(args...); },
    &close,
    [](auto... args) { return guarded<&read>(args...); },
    [](auto... args) { return guarded<&scan>(args...); },
    [](auto... args) { return guarded<&write>(args...); },
    &error_text,
};

}  // namespace
}  // namespace headrace::store

extern "C" __attribute__((visibility("default"))) const headrace::store::LmdbTable*
headrace_lmdb_table() {
  return &headrace::store::kTable;
}
