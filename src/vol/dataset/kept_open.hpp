// Datasets that the program has closed and a connector keeps open below, as something of them is
// still to be written or read. The application's thread only.
#pragma once

#include <utility>

#include "base/error.hpp"
#include "hdf5/error_stack.hpp"
#include "vol/dataset/elements.hpp"

namespace headrace::vol {

class KeptOpen {
 public:
  // Takes over what is below the program's object: closing that closes nothing then.
  explicit KeptOpen(Object& closed)
      : object_(std::exchange(closed.under, nullptr), closed.connector, closed.state) {}
  KeptOpen(const KeptOpen&) = delete;
  KeptOpen& operator=(const KeptOpen&) = delete;
  // What has not been closed by then stays open below, until HDF5 closes the file.
  ~KeptOpen() = default;

  [[nodiscard]] Object& object() { return object_; }

  // Closes it below, once. Throws Error where HDF5 says that not all of it is in the file: HDF5 has
  // freed what it had of it in memory all the same.
  void close() {
    void* const under = object_.under;
    if (under == nullptr) return;
    const std::string name = describe(object_);
    object_.under = nullptr;
    if (h5.VLdataset_close(under, object_.connector->id(), h5.transfer_list.get(), nullptr) < 0)
      throw Error(name + " could not be closed, and misses data: " + root_cause());
  }

 private:
  Object object_;
};

}  // namespace headrace::vol
