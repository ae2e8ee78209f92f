// How the keys of a map are written: so that their bytes are in the order of the keys. See
// docs/formats/container.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.hpp"

namespace headrace::objects {

// A part of a key: a number, or bytes. The first ones count first.
struct KeyField {
  enum class Kind : std::uint8_t {
    whole,            // an integer without a sign
    integer,          // in two's complement
    real,             // its sign, exponent and fraction from the top; -0 is 0, and all NaN are one
    bytes,            // any
    null_padded,      // a text without the zeros at its end
    null_terminated,  // up to the first zero
    space_padded,     // without the spaces at its end
    text,             // a pointer to one that ends with a zero; null: an empty one
  };
  Kind kind = Kind::whole;
  bool big_endian = false;
  std::uint8_t exponent = 0;  // bits of a real number's
  std::size_t offset = 0;     // in an element, in bytes
  std::size_t size = 0;       // as well

  bool operator==(const KeyField&) const = default;
};

struct KeyForm {
  std::size_t size = 0;  // of an element, in bytes
  std::vector<KeyField> fields;

  bool operator==(const KeyForm&) const = default;
  // Of an element as it lies in memory. What lies between fields does not count.
  [[nodiscard]] std::string key_of(std::span<const std::byte> element) const;
  // Fills an element; texts are allocated by malloc(). Throws Error (corrupt), having allocated
  // nothing, where no element has the key.
  void put_element(std::string_view key, std::span<std::byte> element) const;
  // A key in words, for errors.
  [[nodiscard]] std::string words(std::string_view key) const;
};

inline constexpr std::size_t kMostKeyFields = 1024;
inline constexpr std::size_t kMostKeySize = 65536;  // of an element, in bytes

std::string encode(const KeyForm& form);
// Throws Error (corrupt).
KeyForm decode_key_form(std::string_view bytes);

}  // namespace headrace::objects
