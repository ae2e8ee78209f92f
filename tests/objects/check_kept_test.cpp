// What objects refer to is kept and checked: types, chunks, heaps; and what nothing leads to goes.
#include <gtest/gtest.h>

#include <functional>

#include "base/little_endian.hpp"
#include "objects/checked.hpp"
#include "objects/format/heap.hpp"
#include "support/present.hpp"

namespace headrace::objects {
namespace {

TEST_F(Checked, a_committed_type_lives_as_long_as_what_is_of_it) {
  Place type_place;
  {
    Container container(store_, "c");
    Header type_header;
    type_header.kind = Header::Kind::datatype;
    type_header.type = "type";
    const auto make_type = [&](const std::string& name) {
      return add(container, container.root(), name, type_header);
    };
    // One that an attribute of the other is of, which a dataset is of.
    const Handle below = make_type("below");
    type_header.attributes = {attribute("a", "1")};
    type_header.attributes[0].type = with_reference(below->place().object, "type");
    const Handle type = make_type("type");
    type_place = type->place();
    Header typed = dataset_header();
    typed.type = with_reference(type_place.object, "type");
    add(container, container.root(), "typed", typed);
    container.flush();
    container.hold(type);
    container.hold(below);
    container.unlink(*container.root(), "type");
    container.unlink(*container.root(), "below");
    container.flush();
  }
  EXPECT_EQ(text_of(findings_in(store_)), "");
  EXPECT_EQ(sweep_all(store_).entries, 0U);
  // Nor does it count how many links it had, as it may have been made without one.
  const std::string table = table_of_group("c", type_place.home);
  Header header = decode_header(
      store::text_of(test::present(store_.find(table, key_of_header(type_place.object))).value));
  EXPECT_EQ(header.links, 1U);
  header.links = 0;
  change_entry(table, key_of_header(type_place.object), encode(header));
  EXPECT_EQ(sweep_all(store_).entries, 0U);
  {
    Container container(store_, "c");
    EXPECT_EQ(container.open(container.place_of(type_place.object))->header().type, "type");
    container.unlink(*container.root(), "typed");
    container.flush();
  }
  sweep_all(store_);
  EXPECT_EQ(store_.scan(table, "h", kAll).size(), 2U);  // the root, and the number of links
  EXPECT_EQ(text_of(findings_in(store_)), "");
}

TEST_F(Checked, garbage_is_counted_once) {
  work(store_);
  put_chunk(store_, 77, 0);
  std::size_t told = 0;
  const Amounts amounts =
      check(store_, "c", Depth::ends, [&](const Finding& /*finding*/) { ++told; });
  EXPECT_EQ(amounts.garbage, told);
}

TEST_F(Checked, the_order_of_a_link_that_is_gone_is_garbage) {
  work(store_);
  sweep_all(store_);
  const std::string root = table_of_group("c", kRootId);
  const std::vector<store::Change> stale{{key_of_order(77, 5), store::bytes_of("gone")}};
  static_cast<void>(store_.commit(root, stale));
  const Findings found = findings_in(store_);
  EXPECT_EQ(found.size(), 1U) << text_of(found);
  EXPECT_TRUE(has(found, Finding::Kind::garbage, "/", "order of creation")) << text_of(found);
  EXPECT_EQ(sweep_all(store_).entries, 1U);
  EXPECT_EQ(text_of(findings_in(store_)), "");
}

TEST_F(Checked, beside_a_damaged_chunk_nothing_is_swept) {
  work(store_);
  const ObjectId data = number_in(store_.list("c/d/", 1)[0].key.substr(4, 8));
  const auto damage = [&](const std::function<void()>& harm, const std::string& cause) {
    put_chunk(store_, data, 0);
    put_chunk(store_, data, 9);  // beyond the extent
    harm();
    const Findings found = findings_in(store_, Depth::ends);
    EXPECT_TRUE(has(found, Finding::Kind::damage, "/g/d", cause)) << text_of(found);
    EXPECT_EQ(text_of(Findings()), "");
    const std::size_t chunks = store_.list("c/d/", 10).size();
    std::size_t told = 0;
    const Swept swept = sweep(store_, "c", true, [&](const Finding& /*finding*/) { ++told; });
    EXPECT_EQ(swept.entries + swept.chunks, 0U) << cause;
    EXPECT_EQ(store_.list("c/d/", 10).size(), chunks);
    EXPECT_EQ(told, 1U);
  };
  const auto blob = [&](std::uint64_t at, std::string_view value) {
    const store::Change change{prefix_of_chunks("c", data) + in_order(at), store::bytes_of(value)};
    store_.put({&change, 1});
  };
  // The dataset's header may be an older one than chunks of a later epoch belong to.
  damage([&] { put_chunk(store_, data, 9, 3); }, "later epoch");
  damage([&] { put_chunk(store_, data, 0, 3); }, "later epoch");
  damage([&] { blob(0, "9"); }, "version");
  damage([&] { blob(9, "9"); }, "version");
  put_chunk(store_, data, 0);
  put_chunk(store_, data, 9);
  EXPECT_EQ(sweep_all(store_).chunks, 1U);
}

// The blob of a heap that has as many bytes of values.
void put_heap(store::Store& store, std::uint64_t heap, std::size_t bytes) {
  const std::string values(bytes, 'v');
  std::string blob = std::string(kHeapHead, '\0') + values;
  blob[0] = static_cast<char>(kHeapVersion);
  put_little_endian(std::as_writable_bytes(std::span(blob)).data() + 1,
                    checksum_of_heap(store::bytes_of(blob)));
  const store::Change change{key_of_heap("c", heap), store::bytes_of(blob)};
  store.put({&change, 1});
}

class CheckedMaps : public Checked {
 protected:
  static constexpr std::uint64_t kHeap = 12;

  // One with a value of its own, and two in a heap.
  CheckedMaps() {
    Container container(store_, "c");
    const Handle map = add(container, container.root(), "m", map_header());
    container.put(*map, "small", encode(MapValue{std::nullopt, "value"}));
    container.put(*map, "large", encode(MapValue{HeapId{kHeap, 0, 60}, {}}));
    container.put(*map, std::string(kLongName, 'k'), encode(MapValue{HeapId{kHeap, 60, 40}, {}}));
    container.flush();
    put_heap(store_, kHeap, 100);
  }
  std::string table() { return table_of_group("c", place_at("m").object); }
};

TEST_F(CheckedMaps, that_are_whole_are_clean) {
  EXPECT_EQ(text_of(findings_in(store_)), "");
  EXPECT_EQ(sweep_all(store_).entries, 0U);
  const Amounts amounts = check(store_, "c", Depth::all, [](const Finding& /*finding*/) {});
  EXPECT_EQ(amounts.maps, 1U);
  EXPECT_EQ(amounts.heaps, 1U);
}

TEST_F(CheckedMaps, are_damaged_where_entries_or_their_values_are) {
  const auto told = [&](const std::string& cause) {
    const Findings found = findings_in(store_, Depth::ends);
    EXPECT_TRUE(has(found, Finding::Kind::damage, "/m", cause)) << text_of(found);
    EXPECT_EQ(sweep_all(store_).entries, 0U);
  };
  put_heap(store_, kHeap, 99);
  told("in heap 12, which ends before it");
  const store::Change none{key_of_heap("c", kHeap), std::nullopt};
  store_.put({&none, 1});
  told("in heap 12, which does not exist");
  put_heap(store_, kHeap, 100);
  EXPECT_EQ(text_of(findings_in(store_)), "");
  change_entry(table(), key_of_entry("small"), "\x07");
  told("a value of a map is damaged");
  erase_entry(table(), key_of_entry("small"));
  told("3 entries are counted, and there are 2");
}

TEST_F(CheckedMaps, leave_garbage_where_the_map_goes_and_its_entries_stay) {
  const Place map = place_at("m");
  const std::string home = table_of_group("c", map.home);
  for (const std::string& key : {key_of_name("m"), key_of_header(map.object)})
    erase_entry(home, key);
  change_entry(home, std::string(kSums), std::string("\0\1", 2));
  const Findings found = findings_in(store_);
  EXPECT_TRUE(has(found, Finding::Kind::garbage, "(object " + std::to_string(map.object) + ")",
                  "links or entries"))
      << text_of(found);
  sweep_all(store_);
  EXPECT_EQ(store_.scan(table_of_group("c", map.object), "", kAll).size(), 0U);
}

}  // namespace
}  // namespace headrace::objects
