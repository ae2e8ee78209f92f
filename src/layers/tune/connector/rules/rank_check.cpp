#include "layers/tune/connector/rules/rank_check.hpp"

#include <algorithm>
#include <cstring>

#include "base/report/log.hpp"
#include "base/report/printable.hpp"
#include "comm/agreement.hpp"
#include "hdf5/quiet_errors.hpp"
#include "vol/chunks/layout.hpp"
#include "vol/dataset/selection.hpp"

namespace headrace::tune {
namespace {

using engine::SteppedBox;
using engine::TouchedElements;
using Values = std::vector<std::uint64_t>;

// All elements between the first and the last that are selected; none where nothing is.
std::optional<SteppedBox> bounds_of(hid_t space) {
  std::array<hsize_t, engine::kMaxRank> first{};
  std::array<hsize_t, engine::kMaxRank> last{};
  if (h5.Sget_select_npoints(space) <= 0 ||
      h5.Sget_select_bounds(space, first.data(), last.data()) < 0)
    return std::nullopt;
  SteppedBox all;
  for (unsigned d = 0; d < engine::kMaxRank; ++d) {
    all.box.start[d] = first.at(d);
    all.box.count[d] = last.at(d) - first.at(d) + 1;
  }
  return all;
}

// What a space selects, part by part; false where there are more than `most` parts, or where HDF5
// does not tell.
bool add_points(hid_t space, unsigned rank, std::size_t most, TouchedElements& to) {
  const hssize_t count = h5.Sget_select_elem_npoints(space);
  if (count < 0 || static_cast<std::uint64_t>(count) > most) return false;
  std::vector<hsize_t> points(static_cast<std::size_t>(count) * rank);
  if (h5.Sget_select_elem_pointlist(space, 0, static_cast<hsize_t>(count), points.data()) < 0)
    return false;
  for (std::size_t i = 0; i < points.size(); i += rank) {
    SteppedBox one;
    one.box.count = engine::kEach;
    std::copy_n(&points[i], rank, one.box.start.begin());
    to.add(one);
  }
  return true;
}

bool add_blocks(hid_t space, unsigned rank, std::size_t most, TouchedElements& to) {
  const hssize_t count = h5.Sget_select_hyper_nblocks(space);
  if (count < 0 || static_cast<std::uint64_t>(count) > most) return false;
  const std::size_t width = std::size_t{2} * rank;
  std::vector<hsize_t> corners(static_cast<std::size_t>(count) * width);
  if (h5.Sget_select_hyper_blocklist(space, 0, static_cast<hsize_t>(count), corners.data()) < 0)
    return false;
  for (std::size_t i = 0; i < corners.size(); i += width) {
    SteppedBox one;
    for (unsigned d = 0; d < rank; ++d) {
      one.box.start[d] = corners[i + d];
      one.box.count[d] = corners[i + rank + d] - corners[i + d] + 1;
    }
    to.add(one);
  }
  return true;
}

bool add_parts(hid_t space, std::size_t most, TouchedElements& to) {
  if (vol::Hyperslab slab; vol::read_hyperslab(space, slab)) {
    to.add({slab.box, slab.step});
    return true;
  }
  switch (h5.Sget_select_type(space)) {
    case H5S_SEL_POINTS:
      return add_points(space, to.rank(), most, to);
    case H5S_SEL_HYPERSLABS:
      return add_blocks(space, to.rank(), most, to);
    default:
      return false;
  }
}

std::array<std::uint64_t, 2> token_of(const vol::Identity& identity) {
  std::array<std::uint64_t, 2> token{};
  std::memcpy(token.data(), &identity.token, sizeof token);
  return token;
}

// As NumPy writes it.
std::string text_of(unsigned rank, const engine::Box& box) {
  std::string text;
  for (unsigned d = 0; d < rank; ++d) {
    text += (d == 0 ? "" : ", ") + std::to_string(box.start[d]);
    if (box.count[d] > 1) text += ":" + std::to_string(box.start[d] + box.count[d]);
  }
  return "[" + text + "]";
}

Values numbers_of(std::span<const std::byte> bytes) {
  Values numbers(bytes.size() / sizeof(std::uint64_t));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

std::uint64_t take(std::span<const std::uint64_t>& numbers) {
  if (numbers.empty()) throw Error("what a rank tells of its elements ends early");
  const std::uint64_t first = numbers.front();
  numbers = numbers.subspan(1);
  return first;
}

}  // namespace

void RankCheck::note_chunk(const vol::Object& dataset, const hsize_t* origin, bool writes) {
  const PrivateErrors own;
  const auto list = vol::creation_list(dataset);
  const Id<Kind::dataspace> space(
      vol::get(dataset, H5VL_DATASET_GET_SPACE).args.get_space.space_id);
  unsigned rank = 0;
  engine::Index dims{};
  const auto chunks = vol::chunk_shape(list.get());
  if (!chunks || !vol::read_dims(space.get(), rank, dims) || rank != chunks->rank) return;
  engine::Index count = chunks->lengths;
  for (unsigned d = 0; d < rank; ++d) {
    if (origin[d] >= dims[d]) return;
    count[d] = std::min(count[d], dims[d] - origin[d]);
  }
  if (h5.Sselect_hyperslab(space.get(), H5S_SELECT_SET, origin, nullptr, count.data(), nullptr) >=
      0)
    note(dataset, space.get(), writes);
}

void RankCheck::forget(const vol::Object& dataset) {
  const PrivateErrors own;
  vol::Identity identity{};
  if (vol::read_identity(dataset, identity)) datasets_.erase(token_of(identity));
}

void RankCheck::note(const vol::Object& dataset, hid_t file_space, bool writes) {
  const PrivateErrors own;
  Id<Kind::dataspace> whole;
  if (!vol::is_dataspace(file_space))
    whole = Id<Kind::dataspace>(vol::get(dataset, H5VL_DATASET_GET_SPACE).args.get_space.space_id);
  const hid_t space = whole ? whole.get() : file_space;
  const auto bounds = bounds_of(space);
  const int rank = h5.Sget_simple_extent_ndims(space);
  vol::Identity identity{};
  if (!bounds || rank < 0 || !vol::read_identity(dataset, identity)) return;
  const TouchedElements none(static_cast<unsigned>(rank), kMost);
  const auto [found, fresh] = datasets_.try_emplace(token_of(identity), Dataset{"", none, none});
  if (fresh) found->second.name = vol::name_of(dataset);
  TouchedElements& touched = writes ? found->second.written : found->second.read;
  if (touched.rank() != none.rank()) touched = none;
  const bool told = file_space != vol::kPlist;  // else the transfer list selects
  if (touched.exact() && !(told && add_parts(space, kMost, touched)))
    touched.add_bounds(bounds->box);
  if (!touched.exact()) touched.add(*bounds);
}

// What the ranks have noted, of each rank: bounds, or without `bounds` the elements of the wanted
// datasets.
std::vector<RankCheck::Datasets> RankCheck::exchange(const Datasets& noted, bool bounds,
                                                     const std::set<Token>& wanted) {
  Values mine;
  for (const auto& [token, dataset] : noted) {
    if (!bounds && !wanted.contains(token)) continue;
    mine.insert(mine.end(), token.begin(), token.end());
    for (const TouchedElements* const each : {&dataset.read, &dataset.written})
      bounds ? each->encode_bounds(mine) : each->encode(mine);
  }
  const auto decode = bounds ? &TouchedElements::decode_bounds : &TouchedElements::decode;
  std::vector<Datasets> all;
  for (const auto& bytes : ranks_.all_gather_any(std::as_bytes(std::span(mine)))) {
    const Values numbers = numbers_of(bytes);
    std::span<const std::uint64_t> rest(numbers);
    Datasets& theirs = all.emplace_back();
    while (!rest.empty()) {
      const std::uint64_t first = take(rest);
      const Token token{first, take(rest)};
      TouchedElements read = decode(rest);
      theirs.try_emplace(token, Dataset{"", std::move(read), decode(rest)});
    }
  }
  return all;
}

// Of a dataset, by all ranks.
std::optional<RankCheck::Conflict> RankCheck::conflict(const std::vector<Datasets>& all,
                                                       const Token& token) const {
  for (std::size_t one = 0; one < all.size(); ++one) {
    const auto writer = all[one].find(token);
    if (writer == all[one].end()) continue;
    const TouchedElements& written = writer->second.written;
    for (std::size_t other = 0; other < all.size(); ++other) {
      const auto toucher = all[other].find(token);
      if (other == one || toucher == all[other].end()) continue;
      for (const bool writes : {true, false}) {
        const TouchedElements& theirs = writes ? toucher->second.written : toucher->second.read;
        const auto both = written.common(theirs);
        if (!both) continue;
        const std::string who = std::to_string(one) + " and " + std::to_string(other);
        const std::string where = "elements " + text_of(written.rank(), *both) + " of ";
        std::string text = "ranks ";
        text.append(who);
        if (written.exact() && theirs.exact()) {
          text.append(writes ? " have both written " : " have written and read ").append(where);
          return Conflict{static_cast<int>(one), text};
        }
        text.append(" may both have touched ").append(where).append("a dataset of ").append(file_);
        log(Level::warning, "tune: " + text + ": they select too many parts to tell");
      }
    }
  }
  return std::nullopt;
}

std::exception_ptr RankCheck::violation() {
  const Datasets noted = std::exchange(datasets_, {});
  const std::vector<Datasets> bounds = exchange(noted, true, {});
  std::set<Token> near;
  for (const Datasets& one : bounds)
    for (const Datasets& other : bounds)
      for (const auto& [token, dataset] : one)
        if (const auto theirs = other.find(token); &one != &other && theirs != other.end())
          if (dataset.written.common(theirs->second.written) ||
              dataset.written.common(theirs->second.read))
            near.insert(token);
  if (near.empty()) return nullptr;
  const std::vector<Datasets> all = exchange(noted, false, near);
  for (const Token& token : near) {
    const auto found = conflict(all, token);
    if (!found) continue;
    // Who has written to it knows its name.
    std::exception_ptr mine;
    if (found->writer == ranks_.rank())
      mine = std::make_exception_ptr(
          Error(found->what + "dataset " + printable(noted.at(token).name) + " of file " + file_ +
                " without a flush between; that needs a stack without mpi_staging and mpi_logs"));
    return error_of([&] { agree(ranks_, mine); });
  }
  return nullptr;
}

}  // namespace headrace::tune
