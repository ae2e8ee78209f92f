// The files of this process whose power may be cut. A disk keeps unsynced changes of a file however
// often it is opened, and after it is closed. Threads may call all functions at the same time.
#pragma once

#include <string>
#include <string_view>

#include "layers/fault/driver/unsynced.hpp"

namespace headrace::fault {

// A file by a descriptor of our own. Closes it.
class Descriptor final : public Storage {
 public:
  // Opens the file for reading and writing. Throws Error.
  explicit Descriptor(const std::string& path);
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() override;
  [[nodiscard]] std::uint64_t size() const override;
  void read(std::uint64_t offset, std::span<std::byte> into) const override;
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void resize(std::uint64_t size) override;
  // Whether `path` names this file now.
  [[nodiscard]] bool is(const std::string& path) const;

 private:
  int descriptor_;
};

struct Disk {
  explicit Disk(const std::string& name) : path(name), file(name) {}
  std::string path;
  Descriptor file;
  Unsynced unsynced{file};
  int handles = 0;  // how often the driver has it open for writing; disk.cpp's
};

// The disk of a file that has just been opened for writing; release it. One for all handles of a
// file, by whatever name. Throws Error.
Disk& acquire_disk(const std::string& path);
// A closed handle. `sync`: the last close of a file is a sync point.
void release_disk(Disk& disk, bool sync);
// The file is being deleted: nothing of it can be lost any more.
void forget_disk(const std::string& path);

// Cuts all disks, in the order in which they were first acquired. Returns what was done as a JSON
// list, {"file","changes","kept":[[change,bytes],...]} for each. Throws Error when the system
// refuses a change to a file, which leaves that file and those after it in no defined state. Call
// it at a Standstill.
std::string cut_all_disks(Outcome outcome, Random& random);

}  // namespace headrace::fault
