// Folders in which the processes of one user on one node find each other's files: that in memory,
// and others on disks.
//
// Any thread. Errors are thrown as Error, which names the path.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace headrace::engine::cache {

// A descriptor that closes itself; -1 is none.
class OwnedDescriptor {
 public:
  OwnedDescriptor() = default;
  explicit OwnedDescriptor(int descriptor) : descriptor_(descriptor) {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept;
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept;
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
  ~OwnedDescriptor();
  [[nodiscard]] int get() const { return descriptor_; }

  // Programs may close what they do not know, as daemons do, and something else gets the number:
  // to be asked before anything is written by a descriptor that is kept, which was noted before.
  void note_file();
  [[nodiscard]] bool has_noted_file() const;
  // The noted file by another open file description, after a fork; none where it is gone.
  void reopen();

 private:
  int descriptor_ = -1;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

// Where it is: HEADRACE_SHARED, or /dev/shm/headrace-UID.
std::string shared_folder();

// Of the file system that it is in, in bytes; none where it does not tell.
struct FolderRoom {
  std::uint64_t all = 0;
  std::uint64_t free = 0;
};
FolderRoom room_of_shared_folder();

// Opens a file of a folder for reading and writing; one that is not there is made, and filled by
// `fill(descriptor)` before anybody else can open it. Makes the folder, too: only this user may
// enter it. Of another user's folder or file, and of a link, it is an Error.
OwnedDescriptor open_private(const std::string& folder, const std::string& name,
                             const std::function<void(int)>& fill);

// Whether the file of that descriptor can still be opened by its name.
bool has_name(int descriptor);

// Reserves memory, or blocks of a disk, for a part of the file. Error (no_space) where there is
// none.
void reserve(int descriptor, off_t offset, off_t bytes);

// All of a file of so many bytes as memory of this process and others. Never unmapped. Throws
// Error.
std::byte* map_shared(int descriptor, std::size_t bytes);

// Locks on a byte of a file belong to the open file description: of two copies of a library in one
// process each has its own, and what is killed has none any more. Children after a fork share it.
// `kind`: F_RDLCK, F_WRLCK or F_UNLCK. Waits for nobody.
bool lock_byte(int descriptor, off_t at, short kind, off_t bytes = 1);
// Whether another open file description has a lock on one of so many bytes.
bool is_locked(int descriptor, off_t at, off_t bytes = 1);

}  // namespace headrace::engine::cache
