// What is known of a container, and of an object in it.
#include <iostream>
#include <string>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "objects/check/check.hpp"
#include "objects/committed_type.hpp"
#include "objects/container.hpp"
#include "objects/paths.hpp"
#include "objects/ranges.hpp"
#include "target.hpp"

namespace headrace::object_tool {
namespace {

constexpr unsigned kMostSoftLinks = 16;

void stat_container(const Target& file) {
  bool is_damaged = false;
  const objects::Amounts amounts = objects::check(
      *file.store, file.container(), objects::Depth::ends, [&](const objects::Finding& finding) {
        is_damaged = is_damaged || finding.kind == objects::Finding::Kind::damage;
      });
  const auto number = [](std::uint64_t of) { return static_cast<long long>(of); };
  std::cout << JsonObject()
                   .text("store", printable(file.folder))
                   .text("container", file.container())
                   .text("made", printable(file.stub.made))
                   .boolean("original", file.stub.is_original)
                   .boolean("damaged", is_damaged)
                   .number("groups", number(amounts.groups))
                   .number("datasets", number(amounts.datasets))
                   .number("datatypes", number(amounts.types))
                   .number("maps", number(amounts.maps))
                   .number("links", number(amounts.links))
                   .number("chunks", number(amounts.chunks))
                   .number("chunk_bytes", number(amounts.chunk_bytes))
                   .number("heaps", number(amounts.heaps))
                   .number("heap_bytes", number(amounts.heap_bytes))
                   .number("garbage", number(amounts.garbage))
                   .number("garbage_bytes", number(amounts.garbage_bytes))
                   .str()
            << '\n';
}

void add_type(JsonObject& to, const std::string& type) {
  to.number("type_bytes", static_cast<long long>(objects::without_reference(type).size()));
  if (const auto committed = objects::committed_type(type))
    to.raw("committed_type", std::to_string(*committed));
}

std::string attributes_of(const objects::Header& header) {
  std::string text;
  for (const objects::Attribute& one : header.attributes) {
    if (!text.empty()) text += ',';
    JsonObject attribute;
    attribute.text("name", printable(one.name))
        .number("bytes", static_cast<long long>(one.value.size()));
    add_type(attribute, one.type);
    text += attribute.str();
  }
  return '[' + text + ']';
}

void add_dataset(JsonObject& line, const Target& file, const objects::Object& dataset) {
  const objects::Header& header = dataset.header();
  std::string cuts;
  for (const objects::Cut& one : header.cuts)
    cuts +=
        (cuts.empty() ? "" : ",") +
        JsonObject().raw("epoch", std::to_string(one.epoch)).raw("dims", numbers(one.dims)).str();
  long long chunks = 0;
  std::uint64_t bytes = 0;
  objects::each_blob(*file.store,
                     objects::prefix_of_chunks(file.container(), dataset.place().object),
                     [&](const store::ListedBlob& blob) {
                       ++chunks;
                       bytes += blob.info.size;
                     });
  line.boolean("null", header.is_null)
      .raw("dims", numbers(header.dims))
      .raw("max_dims", numbers(header.max_dims))
      .raw("epoch", std::to_string(header.epoch))
      .raw("cuts", '[' + cuts + ']')
      .raw("bytes_in_header", header.data ? std::to_string(header.data->size()) : "null")
      .number("chunks", chunks)
      .number("chunk_bytes", static_cast<long long>(bytes));
}

void stat_object(const Target& file, const std::string& path) {
  objects::Container container(*file.store, file.container());
  const auto found = objects::find(container, {container.root(), "/"}, path, kMostSoftLinks);
  if (found.outside)
    throw Error(printable(found.path) + " is a link that leads out of the container");
  if (found.object == nullptr)
    throw Error("there is no " + printable(found.missing) + " in " + printable(found.path),
                ErrorKind::not_found);
  const objects::Header& header = found.object->header();
  JsonObject line;
  line.text("path", printable(found.path))
      .text("kind", objects::word_of(header.kind))
      .raw("object", std::to_string(found.object->place().object))
      .raw("home", std::to_string(found.object->place().home))
      .raw("links", std::to_string(header.links))
      .boolean("kept", header.kept)
      .raw("created", std::to_string(header.created))
      .raw("changed", std::to_string(header.changed))
      .number("creation_list_bytes", static_cast<long long>(header.creation.size()))
      .text("comment", printable(header.comment))
      .raw("attributes", attributes_of(header));
  if (header.kind != objects::Header::Kind::group) add_type(line, header.type);
  if (header.kind == objects::Header::Kind::dataset) add_dataset(line, file, *found.object);
  if (header.kind == objects::Header::Kind::group)
    line.boolean("in_order", header.in_order)
        .number("members", static_cast<long long>(container.links(*found.object).count()));
  if (header.kind == objects::Header::Kind::map)
    line.number("entries", static_cast<long long>(container.entries(*found.object).count()));
  std::cout << line.str() << '\n';
}

}  // namespace

int stat(const std::string& path, const std::string& object, const Options& options) {
  const Target file = file_of(path, options);
  if (object.empty())
    stat_container(file);
  else
    stat_object(file, object);
  return 0;
}

}  // namespace headrace::object_tool
