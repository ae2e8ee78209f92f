#include "objects/format/key_form.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/report/printable.hpp"
#include "objects/format/fields.hpp"

namespace headrace::objects {
namespace {

using FieldKind = KeyField::Kind;

constexpr std::uint8_t kBigEndian = 0x80;
constexpr unsigned kBits = 8;  // of a byte
constexpr unsigned kSignByte = 0x80;
constexpr std::size_t kMostNumber = 16;  // bytes

bool is_number(FieldKind kind) { return kind <= FieldKind::real; }

// The highest byte first.
std::string number_of(const KeyField& field, std::span<const std::byte> element) {
  std::string bytes(store::text_of(element.subspan(field.offset, field.size)));
  if (!field.big_endian) std::ranges::reverse(bytes);
  return bytes;
}

void flip(std::string& bytes, std::size_t at, unsigned bits) {
  bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ bits);
}

void flip_all(std::string& bytes) {
  for (char& byte : bytes) byte = static_cast<char>(~static_cast<unsigned char>(byte));
}

bool is_set(std::string_view bytes, std::size_t bit) {
  const auto byte = static_cast<unsigned char>(bytes[bit / kBits]);
  return (byte & (kSignByte >> (bit % kBits))) != 0;
}

// The bits of a number from one on, the highest being 0.
bool is_zero_from(std::string_view bytes, std::size_t bit) {
  for (; bit < bytes.size() * kBits; ++bit)
    if (is_set(bytes, bit)) return false;
  return true;
}

bool is_nan(const KeyField& field, std::string_view bytes) {
  for (std::size_t bit = 1; bit <= field.exponent; ++bit)
    if (!is_set(bytes, bit)) return false;
  return !is_zero_from(bytes, 1U + field.exponent);
}

// One for all that compare as equal, and for all NaN one that is behind all numbers.
void make_one(const KeyField& field, std::string& bytes) {
  if (is_zero_from(bytes, 1)) bytes[0] = '\0';
  if (!is_nan(field, bytes)) return;
  std::ranges::fill(bytes, '\0');
  for (std::size_t bit = 1; bit <= 1U + field.exponent; ++bit)
    flip(bytes, bit / kBits, kSignByte >> (bit % kBits));
}

std::string ordered_number(const KeyField& field, std::span<const std::byte> element) {
  std::string bytes = number_of(field, element);
  if (field.kind == FieldKind::real) make_one(field, bytes);
  if (field.kind == FieldKind::real && is_set(bytes, 0))
    flip_all(bytes);
  else if (field.kind != FieldKind::whole)
    flip(bytes, 0, kSignByte);
  return bytes;
}

void put_number(const KeyField& field, std::string bytes, std::span<std::byte> element) {
  if (field.kind == FieldKind::real && !is_set(bytes, 0))
    flip_all(bytes);
  else if (field.kind != FieldKind::whole)
    flip(bytes, 0, kSignByte);
  if (!field.big_endian) std::ranges::reverse(bytes);
  std::memcpy(element.data() + field.offset, bytes.data(), bytes.size());
}

// A text of a fixed size, without what it is padded with: zeros follow, in a key.
std::string padded_text(const KeyField& field, std::span<const std::byte> element) {
  std::string text(store::text_of(element.subspan(field.offset, field.size)));
  if (field.kind == FieldKind::null_terminated)
    text.resize(std::min(text.find('\0'), text.size()));
  else if (field.kind == FieldKind::space_padded)
    text.resize(text.find_last_not_of(' ') + 1);
  text.resize(field.size);
  return text;
}

void put_padded(const KeyField& field, std::string text, std::span<std::byte> element) {
  if (field.kind == FieldKind::space_padded) {
    text.resize(text.find_last_not_of('\0') + 1);
    text.resize(field.size, ' ');
  }
  std::memcpy(element.data() + field.offset, text.data(), text.size());
}

std::string_view text_at(const KeyField& field, std::span<const std::byte> element) {
  const char* text = nullptr;
  std::memcpy(static_cast<void*>(&text), element.data() + field.offset, sizeof text);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

// What a field has of a key, which goes on behind it.
std::string take_field(const KeyField& field, bool is_last, std::string_view& key) {
  std::size_t size = field.size;
  if (field.kind == FieldKind::text) {
    size = key.find('\0');
    if ((size == std::string_view::npos) != is_last) fail_damaged("a key of a map");
    size = std::min(size, key.size());
  }
  if (size > key.size()) fail_damaged("a key of a map");
  std::string bytes(key.substr(0, size));
  key.remove_prefix(size);
  if (field.kind == FieldKind::text && !is_last) key.remove_prefix(1);
  return bytes;
}

std::vector<std::string> fields_of(const KeyForm& form, std::string_view key) {
  std::vector<std::string> taken;
  taken.reserve(form.fields.size());
  for (const KeyField& field : form.fields)
    taken.push_back(take_field(field, &field == &form.fields.back(), key));
  if (!key.empty()) fail_damaged("a key of a map");
  return taken;
}

// Integers up to 64 bits in digits; of all else the bytes.
std::string words_of(const KeyField& field, const std::string& bytes) {
  if (!is_number(field.kind)) {
    const std::string text =
        field.kind == FieldKind::bytes ? bytes : bytes.substr(0, bytes.find_last_not_of('\0') + 1);
    return "'" + printable(text) + "'";
  }
  std::array<std::byte, kMostNumber> element{};
  const KeyField alone{field.kind, false, field.exponent, 0, field.size};
  put_number(alone, bytes, element);
  if (field.kind == FieldKind::real && field.size == sizeof(double)) {
    double number = 0;
    std::memcpy(&number, element.data(), sizeof number);
    return std::to_string(number);
  }
  if (field.kind == FieldKind::real && field.size == sizeof(float)) {
    float number = 0;
    std::memcpy(&number, element.data(), sizeof number);
    return std::to_string(number);
  }
  if (field.kind == FieldKind::real || field.size > sizeof(std::uint64_t))
    return "'" + printable(bytes) + "'";
  std::uint64_t number = 0;
  std::memcpy(&number, element.data(), field.size);
  if (field.kind == FieldKind::whole) return std::to_string(number);
  const auto unused = static_cast<unsigned>(kBits * (sizeof number - field.size));
  return std::to_string(static_cast<std::int64_t>(number << unused) >> unused);
}

}  // namespace

std::string KeyForm::key_of(std::span<const std::byte> element) const {
  std::string key;
  for (const KeyField& field : fields) {
    if (is_number(field.kind)) {
      key += ordered_number(field, element);
    } else if (field.kind == FieldKind::bytes) {
      key += store::text_of(element.subspan(field.offset, field.size));
    } else if (field.kind == FieldKind::text) {
      key += text_at(field, element);
      if (&field != &fields.back()) key += '\0';
    } else {
      key += padded_text(field, element);
    }
  }
  return key;
}

void KeyForm::put_element(std::string_view key, std::span<std::byte> element) const {
  std::vector<std::string> taken = fields_of(*this, key);
  std::ranges::fill(element, std::byte{0});
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const KeyField& field = fields[i];
    if (is_number(field.kind)) {
      put_number(field, std::move(taken[i]), element);
    } else if (field.kind == FieldKind::bytes) {
      std::memcpy(element.data() + field.offset, taken[i].data(), field.size);
    } else if (field.kind != FieldKind::text) {
      put_padded(field, std::move(taken[i]), element);
    } else {
      const char* const text = ::strdup(taken[i].c_str());
      if (text == nullptr) throw std::bad_alloc();
      std::memcpy(element.data() + field.offset, static_cast<const void*>(&text), sizeof text);
    }
  }
}

std::string KeyForm::words(std::string_view key) const {
  std::string text;
  const std::vector<std::string> taken = fields_of(*this, key);
  for (std::size_t i = 0; i < fields.size(); ++i)
    text += (i == 0 ? "" : ", ") + words_of(fields[i], taken[i]);
  return fields.size() == 1 ? text : "(" + text + ")";
}

std::string encode(const KeyForm& form) {
  std::string bytes;
  put_varint(bytes, form.size);
  for (const KeyField& field : form.fields) {
    bytes +=
        static_cast<char>(static_cast<unsigned>(field.kind) | (field.big_endian ? kBigEndian : 0U));
    bytes += static_cast<char>(field.exponent);
    put_varint(bytes, field.offset);
    put_varint(bytes, field.size);
  }
  return bytes;
}

KeyForm decode_key_form(std::string_view bytes) {
  KeyForm form;
  form.size = take_varint(bytes);
  bool is_damaged = form.size == 0 || form.size > kMostKeySize;
  while (!bytes.empty() && !is_damaged) {
    KeyField field;
    const std::uint8_t first = take_byte(bytes);
    field.kind = static_cast<FieldKind>(first & ~kBigEndian);
    field.big_endian = (first & kBigEndian) != 0;
    field.exponent = take_byte(bytes);
    field.offset = take_varint(bytes);
    field.size = take_varint(bytes);
    is_damaged = field.kind > FieldKind::text || field.size == 0 || field.offset > form.size ||
                 field.size > form.size - field.offset ||
                 (field.kind == FieldKind::text && field.size != sizeof(char*)) ||
                 (is_number(field.kind) && field.size > kMostNumber) ||
                 (field.exponent == 0) == (field.kind == FieldKind::real) ||
                 field.exponent + 2U > field.size * kBits || form.fields.size() == kMostKeyFields;
    form.fields.push_back(field);
  }
  if (is_damaged || form.fields.empty()) fail_damaged("the form of a map's keys");
  return form;
}

}  // namespace headrace::objects
