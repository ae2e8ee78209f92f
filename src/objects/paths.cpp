#include "objects/paths.hpp"

#include <ranges>
#include <vector>

#include "base/error.hpp"
#include "base/report/printable.hpp"

namespace headrace::objects {
namespace {

// The parts of a path that are still to be walked, the next one last.
using Parts = std::vector<std::string>;

// In front of those that are there; empty ones and "." lead nowhere.
void put_before(Parts& parts, std::string_view path) {
  while (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::string_view part = path.substr(slash == path.npos ? 0 : slash + 1);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path = slash == path.npos ? std::string_view() : path.substr(0, slash);
  }
}

std::string rest_of(const Parts& parts) {
  std::string rest;
  for (const std::string& part : parts | std::views::reverse)
    rest += (rest.empty() ? "" : "/") + part;
  return rest;
}

}  // namespace

Split split(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return {"", std::string(path)};
  return {std::string(path.substr(0, slash + 1)), std::string(path.substr(slash + 1))};
}

Destination find(Container& container, const Start& start, std::string_view path,
                 unsigned most_soft_links, const Ends& ends) {
  Start at = start;
  Parts parts;
  Destination found;
  const auto walk_from = [&](std::string_view further) {
    put_before(parts, further);
    if (!further.starts_with('/')) return;
    at = {container.root(), "/"};
    found.ended = ends.at_root;
  };
  walk_from(path);
  if (found.ended) return {{}, at.path, {}, "/" + rest_of(parts), {}, true};
  for (unsigned soft_links = 0; !parts.empty();) {
    const std::string name = parts.back();
    parts.pop_back();
    std::optional<Link> link;
    if (at.object->header().kind == Header::Kind::group)
      link = container.links(*at.object).find(name);
    if (!link) {
      found.missing = name;
      found.path = at.path;
      return found;
    }
    if (link->kind == Link::Kind::hard) {
      at = {container.open({link->object, link->home}), joined(at.path, name)};
      if (ends.at && ends.at(link->object))
        return {at.object, at.path, {}, rest_of(parts), {}, true};
    } else if (link->kind == Link::Kind::soft) {
      if (++soft_links > most_soft_links)
        throw Error("too many soft links on the way to " + printable(path));
      walk_from(link->target);
      if (found.ended) return {{}, at.path, {}, "/" + rest_of(parts), {}, true};
    } else {
      found.path = joined(at.path, name);
      found.outside = std::move(link);
      found.rest = rest_of(parts);
      return found;
    }
  }
  found.object = at.object;
  found.path = at.path;
  return found;
}

}  // namespace headrace::objects
