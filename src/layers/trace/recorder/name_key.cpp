#include "layers/trace/recorder/name_key.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/error.hpp"
#include "base/little_endian.hpp"
#include "base/report/printable.hpp"

namespace headrace::trace {
namespace {

constexpr const char* kName = "/names.key";

using Bytes = std::array<std::byte, sizeof(NameKey)>;

Error key_failure(const std::string& path, int error) {
  return Error("key " + path + ": " + std::strerror(error), error);
}

// False where another process has made it.
bool make(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 && errno == EEXIST) return false;
  if (file < 0) throw key_failure(path, errno);
  Bytes bytes;
  const bool made = ::getrandom(bytes.data(), bytes.size(), 0) == std::ssize(bytes) &&
                    ::write(file, bytes.data(), bytes.size()) == std::ssize(bytes);
  const int error = errno;
  ::close(file);
  if (!made) throw key_failure(path, error);
  return true;
}

bool read(const std::string& path, Bytes& bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw key_failure(path, errno);
  const ssize_t done = ::read(file, bytes.data(), bytes.size());
  ::close(file);
  return done == std::ssize(bytes);
}

void mix(std::array<std::uint64_t, 4>& v, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = std::rotl(v[1], 13) ^ v[0];
    v[3] = std::rotl(v[3], 16) ^ v[2];
    v[0] = std::rotl(v[0], 32) + v[3];
    v[2] += v[1];
    v[1] = std::rotl(v[1], 17) ^ v[2];
    v[3] = std::rotl(v[3], 21) ^ v[0];
    v[2] = std::rotl(v[2], 32);
  }
}

}  // namespace

NameKey name_key(const std::string& folder) {
  constexpr int kTries = 1000;
  constexpr std::chrono::milliseconds kPause{2};
  const std::string path = folder + kName;
  std::error_code error;
  if (std::filesystem::create_directories(folder, error); error)
    throw key_failure(folder, error.value());
  make(path);
  Bytes bytes;
  // Who made it may not have written it yet.
  for (int i = 0; !read(path, bytes); ++i) {
    if (i == kTries) throw key_failure(path, ENODATA);
    std::this_thread::sleep_for(kPause);
  }
  return {little_endian<std::uint64_t>(bytes.data()), little_endian<std::uint64_t>(&bytes[8])};
}

std::string hash_of(std::string_view name, const NameKey& key) {
  std::array<std::uint64_t, 4> v{0x736f6d6570736575U ^ key[0], 0x646f72616e646f6dU ^ key[1],
                                 0x6c7967656e657261U ^ key[0], 0x7465646279746573U ^ key[1]};
  for (std::size_t at = 0; at <= name.size(); at += 8) {
    std::array<std::byte, 8> word{};
    const std::string_view part = name.substr(at, 8);
    std::memcpy(word.data(), part.data(), part.size());
    if (part.size() < 8) word[7] = static_cast<std::byte>(name.size());
    const auto number = little_endian<std::uint64_t>(word.data());
    v[3] ^= number;
    mix(v, 2);
    v[0] ^= number;
  }
  v[2] ^= 0xffU;
  mix(v, 4);
  std::array<std::byte, 8> hash;
  put_little_endian(hash.data(), v[0] ^ v[1] ^ v[2] ^ v[3]);
  return hexadecimal({reinterpret_cast<const unsigned char*>(hash.data()), hash.size()});
}

}  // namespace headrace::trace
