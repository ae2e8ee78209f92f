// A file in pieces that is open, on one rank. The driver below opens each subfile when it is first
// needed, in the way of a process that has it alone: ranks write straight into the subfiles, and
// nothing is sent between them, but for what one of a node writes for all
// (nodes/node_pieces.hpp), and for subfiles that only the ranks of another node reach
// (nodes/nodes.hpp).
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_scope.hpp"
#include "comm/agreement.hpp"
#include "engine/io/reopened_file.hpp"
#include "engine/io/replaceable_file.hpp"
#include "engine/kept_writes.hpp"
#include "engine/stripes.hpp"
#include "engine/threads/thread_pool.hpp"
#include "layers/stripe/driver/nodes/node_pieces.hpp"
#include "layers/stripe/driver/nodes/nodes.hpp"
#include "layers/stripe/driver/placement.hpp"
#include "layers/stripe/driver/subfile_driver.hpp"
#include "sidecar/striped/striped_set.hpp"
#include "vfd/file.hpp"

namespace headrace::stripe {

// What there is under a name before the stub is opened below, which may truncate it.
struct FoundBefore {
  CommunicatorHandle ranks;
  std::unique_ptr<Placement> placement;
  std::exception_ptr malformed;  // there is none
  // On rank 0 alone:
  std::string path;  // without links; empty where there is no file
  std::uint64_t inode = 0;
  std::optional<sidecar::StripedSet> set;
  std::exception_ptr failed;  // why none can be found
};

// Collective. Waits for processes in the background that make one file of the set.
FoundBefore find_before(const char* name, hid_t fapl, const vfd::Layer& layer);

class StripedFile {
 public:
  // Collective, after the stub has been opened below with the same arguments. Makes a set of a file
  // that is new or truncated. Null where the file is an ordinary one. Throws Error on all ranks
  // that of the first that has one.
  static std::unique_ptr<StripedFile> open(const char* name, unsigned flags, hid_t fapl,
                                           const vfd::Layer& layer, FoundBefore before);

  // Whether this process has one open over MPI.
  static bool any_over_mpi();
  // Those that it has open. A file sets its own to null when it is closed.
  static std::vector<std::shared_ptr<StripedFile*>> all_open();
  // The last one over MPI that HDF5 has opened by itself, behind an external link. Null: none.
  static std::shared_ptr<StripedFile*> behind_link();
  // What all share that have the file of a stub open in this process. The application's thread
  // only.
  static std::shared_ptr<char> opening_of(const std::string& stub);

  StripedFile(const StripedFile&) = delete;
  StripedFile& operator=(const StripedFile&) = delete;
  ~StripedFile();

  // The application's thread. Throw Error; over MPI a write that fails is told the other ranks at
  // the next flush, truncation or close.
  void write(std::uint64_t address, std::span<const std::byte> bytes);
  // Metadata that HDF5 gives to this rank alone. Where one of several ranks cannot write it, all
  // later flushes and the close fail on all ranks (kept_writes.hpp).
  void write_metadata(std::uint64_t address, std::span<const std::byte> bytes);
  void read(std::uint64_t address, std::span<std::byte> bytes);
  void read_metadata(std::uint64_t address, std::span<std::byte> bytes);

  // Collective: `transfer` reads or writes pieces of this rank by the functions above. Returns when
  // all ranks have, as each may go on to write where another one has just written. Throws Error on
  // all ranks.
  template <typename Transfer>
  void transfer_together(const Transfer& transfer) {
    const std::exception_ptr before = std::exchange(failed_, nullptr);
    const std::exception_ptr failed = error_of(transfer);
    const std::exception_ptr cause = std::exchange(failed_, before);
    agree(*ranks_, cause != nullptr ? cause : failed);  // all are told of it now
  }
  // For writes; those of a node are made by one of its ranks where they share memory. `in_order`: a
  // rank may write to the same place twice.
  template <typename Write>
  void write_together(const Write& write, bool in_order = false) {
    gathering_ = node_ != nullptr;
    in_order_ = in_order;
    const std::exception_ptr failed =
        error_of([&] { transfer_together([&] { write_gathered(error_of(write)); }); });
    if (node_ != nullptr) node_->forget();
    if (failed != nullptr) std::rethrow_exception(failed);
  }
  // Collective, around transfers of raw data that ranks make together: no rank begins before all
  // have come, nor goes on before all are done. So they read what each has written before, and
  // write over what each has read.
  void meet() { ranks_->barrier(); }
  // Before this rank reads raw data, which what it has given to its node may be part of.
  void settle();

  void opened_by_program() { by_program_ = true; }
  [[nodiscard]] const std::string& stub() const { return set_.stub; }
  [[nodiscard]] bool writes() const { return writes_; }
  [[nodiscard]] std::uint64_t eoa() const { return eoa_; }
  void set_eoa(std::uint64_t address) {
    eoa_ = address;
    farthest_ = std::max(farthest_, address);
    if (workers_write_ && !changing_) change();
  }
  // As far as this rank knows.
  [[nodiscard]] std::uint64_t eof() const { return eof_; }

  // Of this rank alone, as HDF5 flushes files on one rank, too. Throws what has failed since, once,
  // and what has failed of metadata, always.
  void flush();
  // Collective, after a flush that all ranks make. Throws Error on those where flush() has not.
  void agree_on_flush();
  // Collective. Throws Error on all ranks.
  void truncate();

  // Before the program learns where data lie, of a whole dataset or of its chunks, to read and
  // write there by itself: a file that this process alone writes becomes one on the spot, and one
  // of several ranks when it is closed. Throws Error where it cannot, or where the file is open for
  // reading only; addresses of chunks are told then, as programs want their sizes.
  void before_addresses_are_told(bool of_whole_dataset);
  // What the driver does for that: it calls become_whole() and forgets this file.
  void on_addresses_told(std::function<void()> become) { become_whole_ = std::move(become); }
  // Copies all bytes to the stub, which workers use from then on, and removes the pieces. Throws
  // Error; the file is in pieces then.
  void become_whole(std::unique_ptr<engine::io::File> stub);
  // Before the program gets the stub's descriptor, which it may sync by itself: that does not reach
  // the subfiles, so they are synced now, and with each flush from now on. Throws Error.
  void sync_always();

  // What was asked for it alone. All ranks say alike.
  void fuse_when_closed(Fuse when) { fuse_ = when; }
  // The subfiles, and to which of them this rank has written. There until the file is closed.
  struct Pieces {
    std::uint64_t stripe;
    std::span<const char* const> paths;
    std::span<const char> written;  // 0 or 1
  };
  Pieces pieces();

  // Collective, when nothing is to come any more: closes the subfiles, tells all ranks what has
  // failed, and makes one file of them where an option says so, unless nothing was written, or the
  // process has the file open once more: HDF5 opens a file again for a moment to find out that it
  // is the one that it has. In a child after fork() nothing is made. Throws Error on all ranks; the
  // file is in pieces then.
  void finish();

  // For those who want to know whether it is open still.
  std::shared_ptr<StripedFile*> self = std::make_shared<StripedFile*>(this);

  // For worker threads: opens all subfiles. Null where the driver below has no storage for them.
  std::unique_ptr<engine::io::File> storage();

 private:
  struct Subfile {
    H5FD_t* file = nullptr;  // with a driver of HDF5's; null where the storage has a descriptor
    std::unique_ptr<engine::io::File> storage;
    engine::io::ReopenedFile* own = nullptr;  // the storage, where it has
  };

  StripedFile(sidecar::StripedSet set, unsigned flags, SubfileAccess access,
              CommunicatorHandle ranks, const Placement& placement);
  engine::io::File& subfile(std::uint32_t number);
  void open_subfile(Subfile& one, const std::string& path);
  // Before each change of the bytes.
  void change();
  void put(std::uint64_t address, std::span<const std::span<const std::byte>> pieces);
  // Collective where ranks share memory; throws `failed` when all is written that can be.
  void write_gathered(const std::exception_ptr& failed);
  // The numbers of those subfiles that are this rank's to look after.
  [[nodiscard]] std::vector<std::uint32_t> mine() const;
  // Collective, where subfiles lie on several nodes: lets other nodes have those of this one.
  void serve();
  void copy_to(engine::io::File& stub);
  // Of all subfiles that are open. Throws Error.
  void sync();
  // Stripes from the first to the last.
  void note_written(std::uint64_t first, std::uint64_t last);
  // All of them; throws the first error.
  void close_subfiles();
  void close_subfile(Subfile& one, const std::string& path);
  // Collective, when no rank has the subfiles open any more: what a later opening counts on.
  void write_state();
  void fuse();
  // Collective: those of a set that is one file now.
  void remove_pieces();

  static unsigned all_over_mpi_;  // open files. The application's thread only
  sidecar::StripedSet set_;
  bool writes_;
  pid_t opener_ = ::getpid();
  SubfileAccess access_;
  CommunicatorHandle ranks_;
  bool over_mpi_ = false;  // counted among those
  bool by_program_ = false;
  bool sync_;
  bool checksums_;
  Fuse fuse_;
  bool changing_ = false;         // the set is marked as open: of several ranks by the first
  bool workers_write_ = false;    // and do not say when
  bool changed_ = false;          // by this rank, or by workers perhaps
  std::shared_ptr<char> opened_;  // shared by all of the process that have that stub open
  std::unique_ptr<Nodes> nodes_;  // null: all nodes reach all subfiles
  std::vector<Subfile> subfiles_;
  std::vector<char> written_to_;  // of each, 0 or 1: by this rank
  std::vector<const char*> paths_;
  std::optional<engine::WantedThreads> threads_;
  engine::FileOfSubfiles bytes_;
  std::shared_ptr<engine::io::ReplaceableFile::Place> place_;  // what workers use
  std::function<void()> become_whole_;  // null over MPI, and when it has been called
  bool told_addresses_ = false;         // by this rank
  bool counted_ = false;                // in the summary
  std::uint64_t eoa_ = 0;
  std::uint64_t eof_ = 0;
  // Where all subfiles were cut to what they have of a file of that size, and the largest EOA
  // since: on all ranks alike. There is one as soon as HDF5 has the file and has locked it.
  std::uint64_t cut_at_ = 0;
  std::uint64_t farthest_ = 0;
  std::uint64_t written_ = 0;   // bytes, by the program's thread
  std::uint64_t gathered_ = 0;  // given to the node
  std::uint64_t read_ = 0;
  std::unique_ptr<NodePieces> node_;  // null: each rank writes its own
  bool gathering_ = false;            // raw data goes there
  bool in_order_ = false;             // what has no room there is written after what is there
  engine::KeptWrites kept_;
  std::exception_ptr broken_;  // why metadata is kept there
  std::exception_ptr failed_;  // not told yet
  std::exception_ptr told_;    // by flush(), to this rank only
};

// While it lives, get_handle of our driver tells its file instead of a descriptor: how the
// connector finds it through HDF5.
struct FileInquiry : CallScope<FileInquiry> {
  std::shared_ptr<StripedFile*> found;  // null for an ordinary file
};

// The layer in the summary, whose numbers are of files.
inline constexpr std::string_view kShare = "stripe";
void note_left_whole(std::string_view why);

// While a file is made that is to be a whole one.
struct MakesWhole : CallScope<MakesWhole> {};

// Throws Error: what SWMR promises to readers holds for no file in pieces.
[[noreturn]] void refuse_swmr(const std::string& stub);

// Removes a set's pieces, if the file is a stub. Collective.
void remove_pieces_of(const char* name, hid_t fapl, const vfd::Layer& layer);

}  // namespace headrace::stripe
