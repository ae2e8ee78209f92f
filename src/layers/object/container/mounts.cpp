#include "layers/object/container/mounts.hpp"

#include <vector>

#include "layers/object/container/file.hpp"

namespace headrace::object {
namespace {

H5F_close_degree_t close_degree(const Opening& opening) {
  H5F_close_degree_t degree = H5F_CLOSE_DEFAULT;
  h5.Pget_fclose_degree(file_of(opening).access.get(), &degree);
  return degree == H5F_CLOSE_DEFAULT ? H5F_CLOSE_WEAK : degree;
}

}  // namespace

Mounts& Mounts::of(const Opening& opening) { return file_of(opening).mounts; }

Mounts::~Mounts() {
  for (const auto& [group, child] : children_) forget_ended_parent(child.opening);
}

// It may be mounted elsewhere by now.
void Mounts::forget_ended_parent(const Opening& child) {
  auto& all = of(child).parents_;
  const auto found = all.find(child.get());
  if (found != all.end() && found->second.opening.expired()) all.erase(found);
}

Opening Mounts::child_at(objects::ObjectId group) {
  Opening found = mounted_at(group);
  for (Opening next = found; next != nullptr;
       next = of(found).mounted_at(file_of(found).container.root()->place().object))
    found = next;
  return found;
}

Opening Mounts::mounted_at(objects::ObjectId group) {
  const auto found = children_.find(group);
  if (found == children_.end()) return nullptr;
  if (!found->second.parent.expired()) return found->second.opening;
  const Child ended = std::move(found->second);
  children_.erase(found);
  forget_ended_parent(ended.opening);
  return nullptr;
}

const Mounts::Parent* Mounts::parent_entry(const Opening& opening) {
  const auto found = parents_.find(opening.get());
  return found == parents_.end() || found->second.opening.expired() ? nullptr : &found->second;
}

Opening Mounts::parent_of(const Opening& opening) {
  const Parent* const found = parent_entry(opening);
  return found == nullptr ? nullptr : found->opening.lock();
}

Opening Mounts::top_of(const Opening& opening) {
  Opening top;
  for (Opening next = of(opening).parent_of(opening); next != nullptr;
       next = of(next).parent_of(next))
    top = next;
  return top;
}

std::string Mounts::prefix_of(const Opening& opening) {
  std::string prefix;
  Opening at = opening;
  while (at != nullptr) {
    const Parent* const found = of(at).parent_entry(at);
    if (found == nullptr) break;
    if (found->path != "/") prefix.insert(0, found->path);
    at = found->opening.lock();
  }
  return prefix;
}

void Mounts::mount(const Opening& parent, objects::ObjectId group, const std::string& path,
                   const Opening& child) {
  if (of(child).parent_of(child) != nullptr) throw Error("file is already mounted");
  for (Opening one = parent; one != nullptr; one = of(one).parent_of(one))
    if (one->file == child->file) throw Error("mount would introduce a cycle");
  if (close_degree(parent) != close_degree(child))
    throw Error("mounted file has different file close degree than parent");
  if (of(parent).mounted_at(group) != nullptr)
    throw Error("mount point is already in use: " + path);
  of(parent).children_[group] = {child, parent};
  of(child).parents_[child.get()] = {parent, group, path};
}

void Mounts::unmount(const Opening& child) {
  Mounts& mounted = of(child);
  const Parent* const found = mounted.parent_entry(child);
  if (found == nullptr) throw Error("not a mount point");
  const Opening parent = found->opening.lock();
  of(parent).unmount_at(found->group);
}

void Mounts::unmount_at(objects::ObjectId group) {
  const Opening child = mounted_at(group);
  if (child == nullptr) throw Error("not a mount point");
  children_.erase(group);
  of(child).parents_.erase(child.get());
  if (child->writable()) file_of(child).flush();  // it may be the last that keeps the file
}

void Mounts::unmount_all(const Opening& parent) {
  std::vector<objects::ObjectId> groups;
  for (const auto& [group, child] : children_)
    if (child.parent.lock() == parent) groups.push_back(group);
  for (const objects::ObjectId group : groups) unmount_at(group);
}

void Mounts::flush() {
  FirstError failed;
  for (const auto& [group, child] : children_) {
    failed.of([&] { file_of(child.opening).flush(); });
    failed.of([&] { of(child.opening).flush(); });
  }
  failed.rethrow();
}

}  // namespace headrace::object
