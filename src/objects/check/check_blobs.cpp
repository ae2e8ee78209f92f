#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "objects/check/blobs.hpp"
#include "objects/check/check.hpp"
#include "objects/format/heap.hpp"
#include "objects/format/stored_chunk.hpp"
#include "objects/keys.hpp"
#include "objects/ranges.hpp"
#include "objects/whole_blob.hpp"

namespace headrace::objects {
namespace {

// Reads how a blob begins, and its last byte, which tells that it is not cut off.
void read_ends(store::Store& store, const store::ListedBlob& blob, std::span<std::byte> front) {
  std::array<std::byte, 1> last{};
  store.get(blob.key, 0, front);
  if (blob.info.size > front.size()) store.get(blob.key, blob.info.size - 1, last);
}

class Blobs {
 public:
  Blobs(store::Store& store, Survey& survey, Depth depth)
      : store_(store), survey_(survey), depth_(depth) {}

  void check_chunk(const store::ListedBlob& blob, const ChunkKey& key) {
    const std::string path = survey_.path_of(key.dataset);
    if (!survey_.is_living(key.dataset, Header::Kind::dataset)) {
      if (survey_.is_living(key.dataset))
        survey_.damage(path, blob.key, "is a chunk of what is no dataset");
      return;
    }
    const Surveyed& dataset = survey_.objects.at(key.dataset);
    if (key.at.size() != std::max<std::size_t>(dataset.dims.size(), 1))
      return survey_.damage(path, blob.key, "is a chunk of another rank than its dataset");
    if (const ChunkHead head = head_of(blob); head.epoch > dataset.epoch)
      survey_.damage(path, blob.key, "is a chunk of a later epoch than its dataset");
  }

  void check_heap(const store::ListedBlob& blob) {
    if (depth_ == Depth::all) return require_heap(whole(blob));
    std::array<std::byte, kHeapHead> front{};
    read_ends(store_, blob, front);
    if (blob.info.size < front.size() || front[0] != kHeapVersion)
      throw Error("a heap is damaged", ErrorKind::corrupt);
  }

 private:
  ChunkHead head_of(const store::ListedBlob& blob) {
    if (depth_ == Depth::all) {
      const store::Bytes bytes = whole(blob);
      static_cast<void>(decode_chunk(bytes));
      return decode_head(bytes);
    }
    std::array<std::byte, kMostHead> front{};
    read_ends(store_, blob, front);
    return decode_head(std::span(front).first(std::min(front.size(), blob.info.size)));
  }

  store::Bytes whole(const store::ListedBlob& blob) {
    bytes_ = engine::Buffer(blob.info.size);
    if (whole_blob(store_, blob.key, bytes_).version == store::kAbsent)
      throw Error("was erased meanwhile", ErrorKind::not_found);
    return bytes_.bytes();
  }

  store::Store& store_;
  Survey& survey_;
  Depth depth_;
  engine::Buffer bytes_;
};

// That what the values of a map refer to is there, and as long as they say.
void check_map(store::Store& store, Survey& survey, ObjectId map, const GroupTable& table) {
  for (const auto& [heap, use] : table.heaps) {
    const std::string where = "its value is in heap " + std::to_string(heap);
    try {
      const auto info = store.get(key_of_heap(survey.container(), heap), 0, {});
      if (!info)
        survey.damage(survey.path_of(map), use.key, where + ", which does not exist");
      else if (info->size < kHeapHead + use.end)
        survey.damage(survey.path_of(map), use.key, where + ", which ends before it");
    } catch (const Error& error) {
      survey.damage(survey.path_of(map), use.key, where + ": " + error.what());
    }
  }
}

}  // namespace

void check_blobs(store::Store& store, Survey& survey, Depth depth, Amounts& amounts) {
  Blobs blobs(store, survey, depth);
  const std::string& container = survey.container();
  each_blob(store, container + "/", [&](const store::ListedBlob& blob) {
    const auto chunk = chunk_key(container, blob.key);
    try {
      if (chunk) {
        ++amounts.chunks;
        amounts.chunk_bytes += blob.info.size;
        if (const char* const cause = why_garbage(store, survey, {blob.key, *chunk})) {
          amounts.garbage_bytes += blob.info.size;
          survey.garbage(survey.path_of(chunk->dataset), blob.key, cause);
        } else {
          blobs.check_chunk(blob, *chunk);
        }
      } else if (is_heap_key(container, blob.key)) {
        ++amounts.heaps;
        amounts.heap_bytes += blob.info.size;
        blobs.check_heap(blob);
      } else {
        survey.damage({}, blob.key, "is a blob of no kind");
      }
    } catch (const Error& error) {
      survey.damage(chunk ? survey.path_of(chunk->dataset) : "", blob.key, error.what());
    }
  });
  for (const auto& [id, table] : survey.groups)
    if (survey.is_living(id, Header::Kind::map)) check_map(store, survey, id, table);
}

Amounts check(store::Store& store, const std::string& container, Depth depth, const Tell& tell) {
  Amounts amounts;
  Survey survey(store, container, [&](const Finding& finding) {
    if (finding.kind == Finding::Kind::garbage) ++amounts.garbage;
    tell(finding);
  });
  check_tables(survey);
  check_blobs(store, survey, depth, amounts);
  for (const auto& [id, object] : survey.objects) {
    if (!object.is_reached || !object.is_readable) continue;
    const std::array counts{&amounts.groups, &amounts.datasets, &amounts.types, &amounts.maps};
    ++*counts.at(static_cast<std::size_t>(object.kind));
  }
  for (const auto& [id, table] : survey.groups)
    if (survey.is_living(id)) amounts.links += table.links;
  return amounts;
}

}  // namespace headrace::objects
