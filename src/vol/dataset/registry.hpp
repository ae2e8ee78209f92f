// What a connector knows of datasets, by their identity: one value for all handles of a dataset,
// however the program came by them. A connector has one registry in all, or one for each file.
//
// Dataset has a member `identity`. The application's thread only.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "vol/dataset/elements.hpp"
#include "vol/dataset/touched.hpp"

namespace headrace::vol {

template <typename Dataset>
class Registry {
 public:
  // What is known of a dataset already; `found` from now on where nothing is, or where what is
  // known may be forgotten (see may_forget): nothing is open of a dataset that only the registry
  // knows, so it may have been deleted, and its token be another one's.
  template <typename MayForget>
  std::shared_ptr<Dataset> know(std::shared_ptr<Dataset> found, const MayForget& may_forget) {
    auto& known = datasets_[found->identity];
    if (known == nullptr || (known.use_count() == 1 && may_forget(*known)))
      known = std::move(found);
    return known;
  }
  [[nodiscard]] std::shared_ptr<Dataset> find(const Identity& identity) const {
    const auto known = datasets_.find(identity);
    return known == datasets_.end() ? nullptr : known->second;
  }

  // Calls action(dataset) for each dataset that a call touches. The action may not add or forget
  // datasets.
  template <typename Action>
  void for_each(const Touched& touched, const Action& action) const {
    if (touched.what == Touched::What::dataset) {
      if (const auto one = find(touched.identity)) action(*one);
      return;
    }
    for (const auto& [identity, one] : datasets_)
      if (touched.has(identity)) action(*one);
  }
  template <typename Action>
  void for_each(const Action& action) const {
    for_each(Touched(), action);
  }
  template <typename Predicate>
  [[nodiscard]] bool any_of(const Predicate& predicate) const {
    for (const auto& [identity, one] : datasets_)
      if (predicate(*one)) return true;
    return false;
  }

  // Forgets datasets that no handle is open for, after action(dataset).
  template <typename Action>
  void forget_closed(const Action& action) {
    std::erase_if(datasets_, [&](const auto& one) {
      if (one.second.use_count() > 1) return false;
      action(*one.second);
      return true;
    });
  }
  // Handles may know them longer.
  void clear() { datasets_.clear(); }

 private:
  std::map<Identity, std::shared_ptr<Dataset>> datasets_;
};

}  // namespace headrace::vol
