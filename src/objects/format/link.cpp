#include "objects/format/link.hpp"

#include <limits>

#include "objects/format/fields.hpp"

namespace headrace::objects {
namespace {

constexpr std::uint8_t kUtf8 = 0x80;

}  // namespace

void put(std::string& bytes, const Link& link) {
  bytes += static_cast<char>(static_cast<unsigned>(link.kind) | (link.utf8 ? kUtf8 : 0U));
  put_varint(bytes, link.stamp);
  put_varint(bytes, link.lease);
  if (link.kind == Link::Kind::hard) {
    put_varint(bytes, link.object);
    put_varint(bytes, link.home);
    return;
  }
  if (link.kind == Link::Kind::user) bytes += static_cast<char>(link.user_class);
  put_text(bytes, link.target);
}

std::string encode(const Link& link) {
  std::string bytes;
  put(bytes, link);
  return bytes;
}

Link take_link(std::string_view& bytes) {
  const std::uint8_t first = take_byte(bytes);
  const std::uint8_t kind = first & ~kUtf8;
  if (kind > static_cast<std::uint8_t>(Link::Kind::user)) fail_damaged("a link");
  Link link;
  link.kind = static_cast<Link::Kind>(kind);
  link.utf8 = (first & kUtf8) != 0;
  link.stamp = take_varint(bytes);
  const std::uint64_t lease = take_varint(bytes);
  if (lease > std::numeric_limits<std::uint32_t>::max()) fail_damaged("a link");
  link.lease = static_cast<std::uint32_t>(lease);
  if (link.kind == Link::Kind::hard) {
    link.object = take_varint(bytes);
    link.home = take_varint(bytes);
    if (link.object == 0 || link.home == 0) fail_damaged("a hard link");
    return link;
  }
  if (link.kind == Link::Kind::user) link.user_class = take_byte(bytes);
  link.target = take_text(bytes);
  return link;
}

Link decode_link(std::string_view bytes) {
  Link link = take_link(bytes);
  if (!bytes.empty()) fail_damaged("a link");
  return link;
}

}  // namespace headrace::objects
