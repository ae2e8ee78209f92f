// Whether stores and containers are whole, and what can go of them.
#include "objects/check/check.hpp"

#include <iostream>

#include "base/error.hpp"
#include "base/report/printable.hpp"
#include "objects/check/containers.hpp"
#include "objects/check/sweep.hpp"
#include "objects/container.hpp"
#include "target.hpp"

namespace headrace::object_tool {
namespace {

constexpr int kDamaged = 1;

class Findings {
 public:
  explicit Findings(std::string container) : container_(std::move(container)) {}

  void tell(const objects::Finding& finding) {
    const bool is_garbage = finding.kind == objects::Finding::Kind::garbage;
    ++(is_garbage ? garbage : damage);
    std::cout << JsonObject()
                     .text("finding", is_garbage ? "garbage" : "damage")
                     .text("container", printable(container_))
                     .text("object", finding.object)
                     .text("key", finding.key)
                     .text("cause", printable(finding.cause))
                     .str()
              << '\n';
  }

  std::uint64_t damage = 0;
  std::uint64_t garbage = 0;

 private:
  std::string container_;
};

void tell_left(const store::LeftOver& left, bool is_erased) {
  std::cout << JsonObject()
                   .number("files", static_cast<long long>(left.files))
                   .number("bytes", static_cast<long long>(left.bytes))
                   .boolean("erased", is_erased)
                   .str()
            << '\n';
}

// Of a container that nobody opens meanwhile, by its stub. Whether it is free of damage.
bool check_one(const Target& target, const std::string& container, const std::string& path,
               const Options& options) {
  Findings findings(container);
  std::string cause;
  objects::Amounts amounts;
  try {
    const Alone alone = alone_with(*target.store, container, path);
    amounts = objects::check(*target.store, container,
                             options.all_data ? objects::Depth::all : objects::Depth::ends,
                             [&](const objects::Finding& finding) { findings.tell(finding); });
  } catch (const Error& error) {
    if (!target.is_store) throw;
    cause = error.what();
  }
  std::cout << JsonObject()
                   .text("checked", printable(container))
                   .text("stub", printable(path))
                   .text("not_checked", printable(cause))
                   .number("damage", static_cast<long long>(findings.damage))
                   .number("garbage", static_cast<long long>(findings.garbage))
                   .number("chunks", static_cast<long long>(amounts.chunks))
                   .number("heaps", static_cast<long long>(amounts.heaps))
                   .str()
            << '\n';
  return findings.damage == 0 && cause.empty();
}

// What a removed container has left, unless its stub says that it was not removed.
bool is_left_over(store::Store& store, const std::string& name) {
  return !objects::is_container(store, name) && objects::noted_stub(store, name).empty();
}

std::string noted_path(store::Store& store, const std::string& container) {
  return stub_of_record(store, container) ? objects::noted_stub(store, container) : std::string();
}

// Whether it was cleaned.
bool sweep_one(const Target& target, const std::string& container, const std::string& path,
               const Options& options) {
  Findings findings(container);
  objects::Swept swept;
  std::string cause;
  try {
    const Alone alone = alone_with(*target.store, container, path);
    swept = objects::sweep(*target.store, container, !options.is_dry,
                           [&](const objects::Finding& finding) { findings.tell(finding); });
    if (findings.damage > 0)
      cause = "it is damaged, and what looks like garbage may be what is left of it";
  } catch (const Error& error) {
    if (!target.is_store) throw;
    cause = error.what();
  }
  std::cout << JsonObject()
                   .text("cleaned", printable(container))
                   .text("stub", printable(path))
                   .text("left_alone", printable(cause))
                   .number("entries", static_cast<long long>(swept.entries))
                   .number("chunks", static_cast<long long>(swept.chunks))
                   .number("bytes", static_cast<long long>(swept.bytes))
                   .str()
            << '\n';
  return cause.empty();
}

void remove_rest(const Target& target, const std::string& name, const Options& options) {
  const objects::Room room = objects::room_of(*target.store, name);
  if (!options.is_dry) objects::Container::remove(*target.store, name);
  std::cout << JsonObject()
                   .text("cleaned", printable(name))
                   .text("stub", "")
                   .text("left_alone", "")
                   .boolean("rest", true)
                   .number("chunks", static_cast<long long>(room.chunks))
                   .number("bytes", static_cast<long long>(room.bytes))
                   .str()
            << '\n';
}

void leave_alone(const std::string& name) {
  std::cout << JsonObject()
                   .text("cleaned", printable(name))
                   .text("stub", "")
                   .text("left_alone",
                         "its stub is not where it was, so a program may have it open unseen")
                   .str()
            << '\n';
}

}  // namespace

int fsck(const std::string& path, const Options& options) {
  const Target target = target_of(path, options);
  if (!target.is_store) {
    const Target file = file_of(path, options);
    return check_one(file, file.container(), path, options) ? 0 : kDamaged;
  }
  bool is_whole = true;
  for (const std::string& name : objects::containers_in(*target.store)) {
    if (is_left_over(*target.store, name))
      Findings(name).tell(
          {objects::Finding::Kind::garbage, "", "", "is left of a removed container"});
    else
      is_whole = check_one(target, name, noted_path(*target.store, name), options) && is_whole;
  }
  tell_left(target.store->collect(store::Collect::tell), false);
  return is_whole ? 0 : kDamaged;
}

int gc(const std::string& path, const Options& options) {
  const store::Collect how = options.is_dry ? store::Collect::tell : store::Collect::erase;
  Target target = target_of(path, options);
  bool is_clean = true;
  if (!target.is_store) {
    target = file_of(path, options);
    require_the_one(target);
    is_clean = sweep_one(target, target.container(), path, options);
  } else {
    for (const std::string& name : objects::containers_in(*target.store)) {
      const std::string stub = noted_path(*target.store, name);
      if (is_left_over(*target.store, name))
        remove_rest(target, name, options);
      else if (stub.empty())
        leave_alone(name);
      else
        is_clean = sweep_one(target, name, stub, options) && is_clean;
    }
  }
  tell_left(target.store->collect(how), !options.is_dry);
  return is_clean ? 0 : kDamaged;
}

}  // namespace headrace::object_tool
