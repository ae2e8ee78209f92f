#include "layers/object/container/map_values.hpp"

namespace headrace::object {
namespace {

// Entries are read and written whole; a heap's values are read when they are asked for.
constexpr std::size_t kMostHere = 16384;

}  // namespace

std::string stored_value(File& file, std::string value) {
  if (value.size() <= kMostHere) return objects::encode({std::nullopt, std::move(value)});
  return objects::encode({file.heaps.put(store::bytes_of(value)), {}});
}

std::string value_of(File& file, std::string_view stored) {
  objects::MapValue value = objects::decode_map_value(stored);
  if (!value.heap) return std::move(value.bytes);
  std::string bytes(value.heap->size, '\0');
  file.heaps.get(*value.heap, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

void copy_entries(File& from, const objects::Object& source, File& to,
                  const objects::Object& target) {
  constexpr std::size_t kAtOnce = 1000;
  const objects::Entries& entries = from.container.entries(source);
  std::string last;
  for (auto part = entries.from("", /*behind=*/false, kAtOnce); !part.empty();
       part = entries.from(last, /*behind=*/true, kAtOnce)) {
    for (const auto& [key, stored] : part) {
      to.container.put(target, key, stored_value(to, value_of(from, stored)));
      to.note_change();
    }
    last = part.back().first;
  }
}

}  // namespace headrace::object
