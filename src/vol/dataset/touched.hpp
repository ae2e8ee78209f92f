// What a call may look at of what a connector holds back: all, what is in one file, or one dataset.
#pragma once

#include "vol/dataset/elements.hpp"
#include "vol/effects.hpp"

namespace headrace::vol {

struct Touched {
  enum class What { all, file, dataset } what = What::all;
  Identity identity{};  // of a file its number only

  static Touched file(unsigned long number) { return {What::file, {number, {}}}; }
  static Touched dataset(const Identity& identity) { return {What::dataset, identity}; }

  // Whether that is a dataset in that file, or that one.
  [[nodiscard]] bool has(const Identity& dataset) const {
    if (what == What::all) return true;
    if (what == What::file) return identity.file == dataset.file;
    return !(identity < dataset) && !(dataset < identity);
  }
};

}  // namespace headrace::vol
