// Bytes of keys are in the order of the keys.
#include "objects/format/key_form.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "base/error.hpp"

namespace headrace::objects {
namespace {

using FieldKind = KeyField::Kind;

template <typename T>
std::span<const std::byte> element_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

template <typename T>
KeyForm form_of(FieldKind kind, bool big_endian = false) {
  KeyField field{kind, big_endian, 0, 0, sizeof(T)};
  if (kind == FieldKind::real) field.exponent = sizeof(T) == sizeof(double) ? 11 : 8;
  return {sizeof(T), {field}};
}

template <typename T>
T swapped(T value) {
  auto* const bytes = reinterpret_cast<std::byte*>(&value);
  std::reverse(bytes, bytes + sizeof value);
  return value;
}

// Of numbers in both orders of bytes, and back again.
template <typename T>
void expect_order(FieldKind kind, const std::vector<T>& values) {
  const KeyForm little = form_of<T>(kind);
  const KeyForm big = form_of<T>(kind, /*big_endian=*/true);
  std::vector<std::string> keys;
  for (const T value : values) {
    keys.push_back(little.key_of(element_of(value)));
    EXPECT_EQ(big.key_of(element_of(swapped(value))), keys.back());
    T back{};
    little.put_element(keys.back(), std::as_writable_bytes(std::span(&back, 1)));
    EXPECT_EQ(back, value);
    T turned{};
    big.put_element(keys.back(), std::as_writable_bytes(std::span(&turned, 1)));
    EXPECT_EQ(swapped(turned), value);
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t k = 0; k < values.size(); ++k)
      EXPECT_EQ(values[i] < values[k], keys[i] < keys[k]) << values[i] << " " << values[k];
}

template <typename T>
std::vector<T> integers(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{Limits::min(), Limits::max(), 0, 1, static_cast<T>(-1), 127};
  for (int i = 0; i < 60; ++i) values.push_back(static_cast<T>(random() >> (random() % 64)));
  return values;
}

template <typename T>
std::vector<T> numbers(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{0,
                        1,
                        -1,
                        Limits::max(),
                        Limits::lowest(),
                        Limits::min(),
                        Limits::denorm_min(),
                        -Limits::denorm_min(),
                        Limits::infinity(),
                        -Limits::infinity()};
  while (values.size() < 70) {
    T value{};
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isnan(value) && value != 0) values.push_back(value);
  }
  return values;
}

TEST(KeyForm, numbers_are_in_order) {
  std::mt19937_64 random(1);
  expect_order(FieldKind::whole, integers<std::uint8_t>(random));
  expect_order(FieldKind::whole, integers<std::uint16_t>(random));
  expect_order(FieldKind::whole, integers<std::uint64_t>(random));
  expect_order(FieldKind::integer, integers<std::int8_t>(random));
  expect_order(FieldKind::integer, integers<std::int32_t>(random));
  expect_order(FieldKind::integer, integers<std::int64_t>(random));
  expect_order(FieldKind::real, numbers<float>(random));
  expect_order(FieldKind::real, numbers<double>(random));
}

TEST(KeyForm, what_compares_as_equal_is_one_key) {
  const KeyForm form = form_of<double>(FieldKind::real);
  EXPECT_EQ(form.key_of(element_of(0.0)), form.key_of(element_of(-0.0)));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto other = std::bit_cast<double>(std::bit_cast<std::uint64_t>(-nan) | 77U);
  ASSERT_TRUE(std::isnan(other));
  EXPECT_EQ(form.key_of(element_of(nan)), form.key_of(element_of(other)));
  EXPECT_GT(form.key_of(element_of(nan)),
            form.key_of(element_of(std::numeric_limits<double>::infinity())));
  double back = 0;
  form.put_element(form.key_of(element_of(nan)), std::as_writable_bytes(std::span(&back, 1)));
  EXPECT_TRUE(std::isnan(back));
}

struct Entry {
  std::int16_t number;
  const char* text;
  float real;
  const char* end;
};

// The first fields count first; a text ends before what is longer.
TEST(KeyForm, members_count_one_after_the_other) {
  const KeyForm form{sizeof(Entry),
                     {{FieldKind::integer, false, 0, offsetof(Entry, number), sizeof(std::int16_t)},
                      {FieldKind::text, false, 0, offsetof(Entry, text), sizeof(char*)},
                      {FieldKind::real, false, 8, offsetof(Entry, real), sizeof(float)},
                      {FieldKind::text, false, 0, offsetof(Entry, end), sizeof(char*)}}};
  const std::vector<Entry> sorted{{-5, "z", 1, "z"},      {3, "", 9, ""},     {3, "a", -1, ""},
                                  {3, "a", -1, "\x01"},   {3, "a", 2, ""},    {3, "a\x01", -9, "x"},
                                  {3, "ab", -9, nullptr}, {4, "", 0, "\xFF"}, {4, "\xFF", 0, ""}};
  std::vector<std::string> keys;
  for (const Entry& one : sorted) {
    keys.push_back(form.key_of(element_of(one)));
    Entry back{};
    form.put_element(keys.back(), std::as_writable_bytes(std::span(&back, 1)));
    EXPECT_EQ(form.key_of(element_of(back)), keys.back());
    EXPECT_STREQ(back.text, one.text);
    std::free(const_cast<char*>(back.text));  // NOLINT: as HDF5 has such strings
    std::free(const_cast<char*>(back.end));   // NOLINT
  }
  EXPECT_TRUE(std::ranges::is_sorted(keys));
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
  EXPECT_EQ(form.words(keys[2]), "(3, 'a', -1.000000, '')");
}

TEST(KeyForm, padding_of_texts_does_not_count) {
  const auto key = [](FieldKind kind, std::string_view bytes) {
    return KeyForm{bytes.size(), {{kind, false, 0, 0, bytes.size()}}}.key_of(
        std::as_bytes(std::span(bytes)));
  };
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(key(FieldKind::null_terminated, "ab\0x"sv), "ab\0\0"sv);
  EXPECT_EQ(key(FieldKind::null_padded, "ab\0x"sv), "ab\0x"sv);
  EXPECT_EQ(key(FieldKind::space_padded, "ab  "sv), "ab\0\0"sv);
  const KeyForm spaces{4, {{FieldKind::space_padded, false, 0, 0, 4}}};
  std::string back(4, '?');
  spaces.put_element("ab\0\0"sv, std::as_writable_bytes(std::span(back)));
  EXPECT_EQ(back, "ab  ");
}

TEST(KeyForm, is_read_as_it_was_written) {
  const KeyForm form{24,
                     {{FieldKind::real, true, 11, 8, 8},
                      {FieldKind::text, false, 0, 16, sizeof(char*)},
                      {FieldKind::bytes, false, 0, 0, 3}}};
  EXPECT_EQ(decode_key_form(encode(form)), form);
  EXPECT_THROW(decode_key_form(""), Error);
  EXPECT_THROW(decode_key_form(encode(KeyForm{4, {{FieldKind::whole, false, 0, 2, 4}}})), Error);
  EXPECT_THROW(form.words("short"), Error);
}

}  // namespace
}  // namespace headrace::objects
