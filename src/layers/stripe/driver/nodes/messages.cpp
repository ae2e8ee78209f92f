#include "layers/stripe/driver/nodes/messages.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/error.hpp"

namespace headrace::stripe {
namespace {

template <typename Value>
void add(std::vector<std::byte>& bytes, const Value& value) {
  const auto more = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), more.begin(), more.end());
}

template <typename Value>
void take(std::span<const std::byte>& bytes, Value& value) {
  if (bytes.size() < sizeof value) throw Error("a node's server cannot be found: torn message");
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
}

}  // namespace

std::vector<std::byte> bytes_of(const Invitation& invitation) {
  std::vector<std::byte> bytes;
  add(bytes, invitation.shown);
  add(bytes, invitation.answered);
  add(bytes, invitation.port);
  for (const std::string& address : invitation.addresses) {
    const auto text = std::as_bytes(std::span(address));
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.push_back(std::byte{'\n'});
  }
  return bytes;
}

Invitation invitation_in(std::span<const std::byte> bytes) {
  Invitation invitation;
  take(bytes, invitation.shown);
  take(bytes, invitation.answered);
  take(bytes, invitation.port);
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    invitation.addresses.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return invitation;
}

}  // namespace headrace::stripe
