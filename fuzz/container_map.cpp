// Any bytes are the form of a map's keys and one of these, and the same when they are written and
// read again, or an Error; so are those of a value.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/error.hpp"
#include "objects/entries.hpp"
#include "percent.hpp"

namespace {

using namespace headrace;

void free_texts(const objects::KeyForm& form, std::span<const std::byte> element) {
  for (const objects::KeyField& field : form.fields) {
    if (field.kind != objects::KeyField::Kind::text) continue;
    void* text = nullptr;
    std::memcpy(static_cast<void*>(&text), element.data() + field.offset, sizeof text);
    std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): as HDF5 has such texts
  }
}

bool overlaps(const objects::KeyForm& form) {
  std::vector<bool> taken(form.size);
  for (const objects::KeyField& field : form.fields)
    for (std::size_t i = field.offset; i < field.offset + field.size; ++i) {
      if (taken[i]) return true;
      taken[i] = true;
    }
  return false;
}

// Bytes: a length, so much of a form, and a key.
void try_key(std::string_view input) {
  if (input.empty()) return;
  const auto size = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  const objects::KeyForm form = objects::decode_key_form(input.substr(0, size));
  if (objects::decode_key_form(objects::encode(form)) != form) std::abort();
  const std::string_view key = input.substr(std::min<std::size_t>(size, input.size()));
  std::vector<std::byte> element(form.size);
  if (form.words(key).empty()) std::abort();
  if (overlaps(form)) return;
  form.put_element(key, element);
  // Another key for what is none, and one for all that compare as equal, is the same from then on.
  const std::string again = form.key_of(element);
  std::vector<std::byte> other(form.size);
  form.put_element(again, other);
  if (form.key_of(other) != again) std::abort();
  free_texts(form, element);
  free_texts(form, other);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input = from_percent(data, size);
  try {
    const objects::MapValue value = objects::decode_map_value(input);
    if (objects::decode_map_value(objects::encode(value)) != value) std::abort();
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the documented answer to nonsense
  }
  try {
    try_key(input);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the documented answer to nonsense
  }
  return 0;
}
