// The datasets that a virtual dataset's elements lie in. The program's thread only; all throw
// Error.
#pragma once

#include <memory>
#include <string>

#include "hdf5/id.hpp"

namespace headrace::object {

// One that is open.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // As it is now.
  [[nodiscard]] virtual Id<Kind::dataspace> space() = 0;
  virtual void read(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                    void* buffer) = 0;
  virtual void write(hid_t mem_type, hid_t mem_space, hid_t file_space, hid_t dxpl,
                     const void* buffer) = 0;
  [[nodiscard]] virtual bool is_virtual() const = 0;
  virtual void flush() = 0;
  virtual void refresh() = 0;
};

class Sources {
 public:
  Sources() = default;
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;
  virtual ~Sources() = default;

  // Null where there is no such file or dataset.
  virtual std::shared_ptr<Source> open(const std::string& file, const std::string& dataset) = 0;
};

}  // namespace headrace::object
