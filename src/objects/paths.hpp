// Where paths lead in a container.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "objects/container.hpp"

namespace headrace::objects {

// An object; or a link that leads out of the container, and what is left of the path behind it; or
// the part of the path that is not there.
struct Destination {
  Handle object;
  std::string path;  // of it, as it was walked from `start`'s; soft links are those they lead to
  std::optional<Link> outside = std::nullopt;
  std::string rest;
  std::string missing;
  bool ended = false;  // as `Ends` says, with `rest` to go
};

// Where else a path ends than at its end: at groups that others stand in for, and where it goes on
// from the root.
struct Ends {
  std::function<bool(ObjectId)> at;
  bool at_root = false;
};

struct Start {
  Handle object;
  std::string path;  // of it; begins with a slash
};

inline std::string joined(std::string_view group, std::string_view name) {
  return std::string(group) + (group.ends_with('/') ? "" : "/") + std::string(name);
}

// A path and its last part, behind slashes: of "/a/b/" it is "b", and of "/" none.
struct Split {
  std::string group;
  std::string name;
};
Split split(std::string_view path);

// From `start`, or of a path that begins with a slash from the root. Soft links are followed, the
// last part's, too: at most so many. Throws Error, also where there are more.
Destination find(Container& container, const Start& start, std::string_view path,
                 unsigned most_soft_links, const Ends& ends = {});

}  // namespace headrace::objects
