// What a file is that the program opens, by its name, its access property list and HDF5's word.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "connectors/log/opening/marker.hpp"

namespace headrace::log_layout {

constexpr unsigned kReadWrite = 0x01;  // H5F_ACC_RDWR, a macro that calls the library
constexpr unsigned kSwmr = 0x60;       // H5F_ACC_SWMR_WRITE and H5F_ACC_SWMR_READ

// The logs of a file that HDF5 is about to cut off and make anew: nobody can use them then.
class FormerLogs {
 public:
  // Finds them, where the program creates a file of that name with these flags.
  FormerLogs(const char* name, unsigned flags, hid_t fapl) noexcept;
  // To be called when HDF5 has created it. Those of a file that is still there remain.
  void remove() const noexcept;

 private:
  std::string name_;
  std::uint64_t size_ = 0;
  std::optional<engine::log::Owner> owner_;
};

// Whether ranks open it together.
bool parallel(hid_t fapl);
// Whether HDF5 has all ranks wait for each other when it reads metadata to answer our questions.
bool asks_together(hid_t fapl);
// Whether the file is one that every HDF5 can open as it is.
bool ordinary(hid_t fapl);
// Whether nothing of it is open but the id that it was opened by.
bool only_one_open(const Below& file);
// The number that HDF5 has for it; none when it does not tell.
std::optional<unsigned long> number_of(const Below& file);

}  // namespace headrace::log_layout
