// What is in a store, and in a container.
#include <iostream>
#include <set>

#include "base/report/printable.hpp"
#include "objects/check/containers.hpp"
#include "objects/container.hpp"
#include "objects/paths.hpp"
#include "target.hpp"

namespace headrace::object_tool {
namespace {

void list_store(const Target& target) {
  for (const std::string& name : objects::containers_in(*target.store)) {
    const objects::Room room = objects::room_of(*target.store, name);
    std::cout << JsonObject()
                     .text("container", printable(name))
                     .boolean("whole", objects::is_container(*target.store, name))
                     .text("stub", printable(objects::noted_stub(*target.store, name)))
                     .boolean("there", stub_of_record(*target.store, name).has_value())
                     .number("chunks", static_cast<long long>(room.chunks))
                     .number("heaps", static_cast<long long>(room.heaps))
                     .number("bytes", static_cast<long long>(room.bytes))
                     .str()
              << '\n';
  }
}

const char* word_of(objects::Link::Kind kind) {
  constexpr std::array kWords{"hard", "soft", "external", "user"};
  return kWords.at(static_cast<std::size_t>(kind));
}

void add_object(JsonObject& line, const objects::Object& object) {
  const objects::Header& header = object.header();
  line.text("kind", objects::word_of(header.kind))
      .raw("object", std::to_string(object.place().object))
      .raw("links", std::to_string(header.links))
      .number("attributes", static_cast<long long>(header.attributes.size()));
  if (header.kind != objects::Header::Kind::dataset) return;
  line.boolean("null", header.is_null)
      .raw("dims", numbers(header.dims))
      .raw("max_dims", numbers(header.max_dims));
}

// Of an external link HDF5 keeps a byte, the file's name and the object's path, each with a zero.
void add_target(JsonObject& line, const objects::Link& link) {
  const std::string& target = link.target;
  const std::size_t end = target.find('\0', 1);
  if (link.kind == objects::Link::Kind::external && end != std::string::npos)
    line.text("file", printable(target.substr(1, end - 1)))
        .text("target", printable(target.substr(end + 1, target.find('\0', end + 1) - end - 1)));
  else
    line.text("target", printable(target));
}

// Each group once, under the first path that leads to it.
class Tree {
 public:
  explicit Tree(objects::Container& container) : container_(container) {}

  void list() {
    left_.push_back({container_.root(), "/"});
    seen_.insert(left_.back().object->place().object);
    JsonObject line;
    line.text("path", "/").text("link", "hard");
    add_object(line, *left_.back().object);
    std::cout << line.str() << '\n';
    while (!left_.empty()) {
      const objects::Start group = left_.back();
      left_.pop_back();
      list_group(group);
    }
  }

 private:
  void list_group(const objects::Start& group) {
    constexpr std::size_t kAtOnce = 1000;
    const objects::Links& links = container_.links(*group.object);
    std::vector<objects::Start> below;
    for (auto part = links.by_name("", /*behind=*/false, kAtOnce); !part.empty();
         part = links.by_name(part.back().first, /*behind=*/true, kAtOnce))
      for (const auto& [name, link] : part)
        list_link(objects::joined(group.path, name), link, below);
    left_.insert(left_.end(), below.rbegin(), below.rend());
  }

  void list_link(const std::string& path, const objects::Link& link,
                 std::vector<objects::Start>& below) {
    JsonObject line;
    line.text("path", printable(path)).text("link", word_of(link.kind));
    if (link.kind == objects::Link::Kind::hard) {
      const objects::Handle object = container_.open({link.object, link.home});
      add_object(line, *object);
      const bool is_first = seen_.insert(link.object).second;
      if (is_first && object->header().kind == objects::Header::Kind::group)
        below.push_back({object, path});
    } else {
      add_target(line, link);
    }
    std::cout << line.str() << '\n';
  }

  objects::Container& container_;
  std::vector<objects::Start> left_;
  std::set<objects::ObjectId> seen_;
};

}  // namespace

int list(const std::string& path, const Options& options) {
  const Target target = target_of(path, options);
  if (target.is_store) {
    list_store(target);
    return 0;
  }
  const Target file = file_of(path, options);
  objects::Container container(*file.store, file.container());
  Tree(container).list();
  return 0;
}

}  // namespace headrace::object_tool
