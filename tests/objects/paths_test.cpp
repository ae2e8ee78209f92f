#include "objects/paths.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "store/memory/memory_store.hpp"

namespace headrace::objects {
namespace {

class Paths : public testing::Test {
 protected:
  Paths() {
    Container::make(store_, "c", Header());
    container_ = std::make_unique<Container>(store_, "c");
    group_ = add(container_->root(), "g");
    inner_ = add(group_, "inner");
  }
  Handle add(const Handle& group, const std::string& name) {
    const Handle made = container_->create(Header());
    container_->link(*group, name, made, /*utf8=*/true);
    return made;
  }
  void add(const Handle& group, const std::string& name, Link::Kind kind,
           const std::string& target) {
    Link link;
    link.kind = kind;
    link.target = target;
    container_->link(*group, name, link);
  }
  Destination at(const std::string& path) {
    return find(*container_, {group_, "/g"}, path, /*most_soft_links=*/16);
  }

  store::MemoryStore store_;
  std::unique_ptr<Container> container_;
  Handle group_;
  Handle inner_;
};

TEST_F(Paths, lead_from_an_object_or_from_the_root) {
  for (const char* const path : {"inner", "./inner/", "//g///inner", "/g/./inner/."}) {
    EXPECT_EQ(at(path).object, inner_) << path;
    EXPECT_EQ(at(path).path, "/g/inner") << path;
  }
  for (const char* const path : {"", ".", "./", "/g"}) EXPECT_EQ(at(path).object, group_) << path;
  EXPECT_EQ(at("/").object, container_->root());
  EXPECT_EQ(at("/").path, "/");
}

TEST_F(Paths, tell_what_is_missing) {
  EXPECT_EQ(at("nothing").missing, "nothing");
  EXPECT_EQ(at("/g/nothing/inner").missing, "nothing");
  EXPECT_EQ(at("/g/inner/..").missing, "..");
  EXPECT_FALSE(at("nothing").object);
  Header header;
  header.kind = Header::Kind::dataset;
  container_->link(*group_, "d", container_->create(header), true);
  EXPECT_EQ(at("d/x").missing, "x");
}

TEST_F(Paths, follow_soft_links) {
  add(group_, "soft", Link::Kind::soft, "/g/./inner");
  add(group_, "relative", Link::Kind::soft, "soft");
  add(inner_, "back", Link::Kind::soft, "deeper");
  const Handle deeper = add(inner_, "deeper");
  EXPECT_EQ(at("relative").object, inner_);
  EXPECT_EQ(at("relative").path, "/g/inner");
  EXPECT_EQ(at("relative/back").object, deeper);
  add(group_, "dangling", Link::Kind::soft, "/g/lost/x");
  EXPECT_EQ(at("dangling/y").missing, "lost");
  add(group_, "ring", Link::Kind::soft, "ring");
  EXPECT_THROW(at("ring"), Error);
}

TEST_F(Paths, end_where_a_link_leads_out) {
  add(inner_, "out", Link::Kind::external, "file and path");
  const Destination outside = at("/g/inner/out/a//b");
  ASSERT_TRUE(outside.outside);
  EXPECT_EQ(outside.outside->target, "file and path");
  EXPECT_EQ(outside.rest, "a/b");
  EXPECT_EQ(outside.path, "/g/inner/out");
  EXPECT_FALSE(outside.object);
}

TEST_F(Paths, end_where_others_stand_in) {
  add(inner_, "deeper");
  add(group_, "soft", Link::Kind::soft, "/g/inner");
  const auto ended = [&](const std::string& path, const Ends& ends) {
    const Destination found = find(*container_, {group_, "/g"}, path, 16, ends);
    return std::tuple(found.ended, found.object, found.rest);
  };
  const Ends group{[this](ObjectId id) { return id == inner_->place().object; }, false};
  EXPECT_EQ(ended("inner/deeper//x", group), std::tuple(true, inner_, "deeper/x"));
  EXPECT_EQ(ended("soft", group), std::tuple(true, inner_, ""));
  EXPECT_EQ(ended(".", group), std::tuple(false, group_, ""));
  const Ends root{{}, true};
  EXPECT_EQ(ended("/g//inner", root), std::tuple(true, Handle(), "/g/inner"));
  EXPECT_EQ(ended("soft/deeper", root), std::tuple(true, Handle(), "/g/inner/deeper"));
  EXPECT_EQ(ended("inner", root), std::tuple(false, inner_, ""));
}

TEST(Split, has_the_last_part_of_a_path) {
  const auto parts = [](const char* path) {
    const Split found = split(path);
    return std::pair(found.group, found.name);
  };
  using Two = std::pair<std::string, std::string>;
  EXPECT_EQ(parts("a"), Two("", "a"));
  EXPECT_EQ(parts("/a"), Two("/", "a"));
  EXPECT_EQ(parts("a/b//"), Two("a/", "b"));
  EXPECT_EQ(parts("/"), Two("", ""));
}

}  // namespace
}  // namespace headrace::objects
