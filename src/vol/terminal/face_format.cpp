#include "vol/terminal/face_format.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::vol {
namespace {

constexpr std::size_t kAligned = 8;

std::size_t aligned(std::size_t size) { return (size + kAligned - 1) / kAligned * kAligned; }

template <typename Number>
void put(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i)
    bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> (i * 8U));
}

template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = sizeof(Number); i-- > 0;)
    number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
  return static_cast<Number>(number);
}

// A message of an object header of version 1.
enum class Message : std::uint16_t { dataspace = 1, datatype = 3, fill_value = 5, layout = 8 };

void add_message(std::string& messages, Message kind, std::string body) {
  body.resize(aligned(body.size()));
  put(messages, static_cast<std::uint16_t>(kind));
  put(messages, static_cast<std::uint16_t>(body.size()));
  put(messages, std::uint32_t{0});  // no flags
  messages += body;
}

std::string dataspace(const FaceExtent& extent) {
  constexpr std::uint8_t kVersion = 2;
  std::string body;
  put(body, kVersion);
  put(body, static_cast<std::uint8_t>(extent.dims.size()));
  put(body, static_cast<std::uint8_t>(extent.most.empty() ? 0 : 1));
  put(body, static_cast<std::uint8_t>(extent.kind));
  for (const hsize_t dim : extent.dims) put(body, dim);
  for (const hsize_t dim : extent.most) put(body, dim);
  return body;
}

// Integers of one byte.
std::string datatype() {
  constexpr std::uint8_t kVersionAndClass = 0x10;
  constexpr std::uint16_t kBits = 8;
  std::string body;
  put(body, std::uint32_t{kVersionAndClass});
  put(body, std::uint32_t{1});
  put(body, std::uint16_t{0});
  put(body, kBits);
  return body;
}

// None; allocated and written as chunks are.
std::string fill_value() { return {'\2', '\3', '\2', '\0'}; }

// Chunks of one element, none of which is stored.
std::string layout(std::size_t rank) {
  std::string body{'\3', '\2'};
  put(body, static_cast<std::uint8_t>(rank + 1));
  put(body, HADDR_UNDEF);
  for (std::size_t d = 0; d <= rank; ++d) put(body, std::uint32_t{1});
  return body;
}

}  // namespace

std::string header_of(const FaceExtent& extent) {
  std::string messages;
  add_message(messages, Message::dataspace, dataspace(extent));
  const bool can_change = extent.dims != extent.most && !extent.most.empty();
  if (can_change) {
    add_message(messages, Message::datatype, datatype());
    add_message(messages, Message::fill_value, fill_value());
    add_message(messages, Message::layout, layout(extent.dims.size()));
  }
  constexpr std::uint16_t kAll = 4;
  std::string header{'\1', '\0'};
  put(header, can_change ? kAll : std::uint16_t{1});
  put(header, std::uint32_t{1});  // links
  put(header, static_cast<std::uint32_t>(messages.size()));
  put(header, std::uint32_t{0});
  return header + messages;
}

namespace heap {
namespace {

constexpr std::size_t kHead = 16;  // of a collection, and of each object
constexpr std::size_t kSizeAt = 8;
constexpr std::size_t kSmallest = 4096;  // HDF5 takes a smaller collection for damaged

void add_head(std::string& collection, std::uint32_t index, std::uint64_t size) {
  put(collection, static_cast<std::uint16_t>(index));
  put(collection, std::uint16_t{1});  // references to it
  put(collection, std::uint32_t{0});
  put(collection, size);
}

}  // namespace

std::string empty() {
  std::string collection(kSignature);
  put(collection, std::uint32_t{1});  // version
  put(collection, std::uint64_t{0});  // sealed later
  return collection;
}

std::uint32_t add(std::string& collection, std::uint32_t objects, std::string_view content) {
  add_head(collection, objects + 1, content.size());
  collection += content;
  collection.resize(aligned(collection.size()));
  return objects + 1;
}

void seal(std::string& collection, std::uint32_t objects) {
  const std::size_t size = std::max(collection.size(), kSmallest);
  if (size - collection.size() >= kHead)
    add_head(collection, objects + 1, size - collection.size() - kHead);
  std::string number;
  put(number, std::uint64_t{size});
  collection.replace(kSizeAt, number.size(), number);
}

std::uint64_t size_of(std::string_view collection) {
  return number_at<std::uint64_t>(collection, kSizeAt);
}

std::optional<std::string> find(std::string_view collection, std::uint32_t index) {
  std::size_t at = kHead;
  while (at + kHead <= collection.size()) {
    const auto its = number_at<std::uint16_t>(collection, at);
    const auto size = number_at<std::uint64_t>(collection, at + kSizeAt);
    if (size > collection.size() - at) return std::nullopt;
    if (its == index && its != 0 && size <= collection.size() - at - kHead)
      return std::string(collection.substr(at + kHead, size));
    if (its == 0 && size < kHead) return std::nullopt;
    at += its == 0 ? size : kHead + aligned(size);  // free room is counted with its head
  }
  return std::nullopt;
}

}  // namespace heap

}  // namespace headrace::vol
