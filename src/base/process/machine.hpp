// Where and when something is written.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <string>

namespace headrace {

inline std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// In nanoseconds.
inline std::int64_t since_1970() {
  std::timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace headrace
