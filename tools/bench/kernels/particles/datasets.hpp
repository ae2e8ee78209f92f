// The datasets that hold the particles of one time step, and the transfers that move them. Shared
// by vpic, which writes such files, bdcats, which reads them, and hacc.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/particles/record.hpp"
#include "run.hpp"

namespace headrace::bench::particles {

enum class Layout {
  arrays,            // arrays in memory, a dataset per variable
  structures,        // structures in memory, one dataset of a compound type
  arrays_to_struct,  // arrays in memory, that dataset, written member by member
  struct_to_arrays,  // structures in memory, a dataset per variable
};

// One rank's particles in memory: all arrays one after the other, or structures.
class ParticleBuffer {
 public:
  // The caller keeps the record alive.
  ParticleBuffer(const Record& record, Layout layout, hsize_t count);

  [[nodiscard]] std::byte* data() { return bytes_.data(); }
  // The first element of a variable, and the bytes from one to the next.
  [[nodiscard]] std::byte* begin(std::size_t variable);
  [[nodiscard]] std::size_t step(std::size_t variable) const;
  // Data of the group `path` ("Timestep_0/", or empty for the root).
  void fill(const std::string& path, const Pick& pick);
  void verify(const std::string& path, const Pick& pick);

 private:
  const Record& record_;
  bool structures_;
  hsize_t count_;
  std::vector<std::byte> bytes_;
};

// One H5Dwrite or H5Dread.
struct Transfer {
  std::size_t dataset;
  Handle type;  // in memory
  std::byte* buffer;
};

// A transfer list for that many particles of a rank. A collective one has a conversion buffer for
// all of them: HDF5 converts the structures, and with a smaller buffer would transfer them in
// pieces, which it does independently.
Handle transfer_list(const Run& run, bool collective, const Record& record, hsize_t count);

// How the particles of a buffer get into the datasets of a group.
class ParticleDatasets {
 public:
  ParticleDatasets(const Record& record, Layout layout, ParticleBuffer& buffer);

  // Collective.
  void create(hid_t group, hsize_t total);
  // Throws Error for a dataset that is missing or whose type or size is another.
  void open(hid_t group, hsize_t total);
  void close();
  // Each moves the rank's `pick` of all variables; transfers are as `dxpl` says.
  void write(const Pick& pick, hsize_t total, const Handle& dxpl) const;
  void read(const Pick& pick, hsize_t total, const Handle& dxpl) const;

 private:
  struct Description {
    std::string name;
    Handle type;
  };
  std::vector<Description> descriptions_;
  std::vector<Transfer> transfers_;
  std::vector<Handle> open_;
};

}  // namespace headrace::bench::particles
