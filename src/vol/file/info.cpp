#include "vol/file/info.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/settings/connection_string.hpp"

namespace headrace::vol {
namespace {

constexpr std::array<std::string_view, 2> kUnderKeys{"under_vol", "under_info"};

constexpr int kPassThroughValue = 1;  // H5VL_PASSTHRU_VALUE, private to the library

Id<Kind::vol> connector_by_value(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.begin(), text.end(), value);
  if (code != std::errc() || end != text.end() || value < 0)
    throw Error("under_vol=" + std::string(text) + " is no connector value");
  if (value == kPassThroughValue && h5.register_pass_through != nullptr) h5.register_pass_through();
  Id<Kind::vol> id(
      h5.VLregister_connector_by_value(static_cast<H5VL_class_value_t>(value), kDefaultPlist));
  if (!id)
    throw Error("no VOL connector with value " + std::string(text) +
                " can be loaded (under_vol); is its plug-in in HDF5_PLUGIN_PATH?");
  return id;
}

UnderInfo read_under_info(const UnderRef& connector, const std::string& text) {
  void* under = nullptr;
  if (h5.VLconnector_str_to_info(text.c_str(), connector->id(), &under) < 0)
    throw Error("the connector below refused under_info={" + text + "}");
  return {connector, under};
}

void require_once(const Options& options, const Layer& layer) {
  const auto is_this = [&](const std::string& text) {
    int value = 0;
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc() &&
           value == layer.value;
  };
  if (std::ranges::any_of(values_down(options, "under_vol", "under_info"), is_this))
    throw Error("connector " + std::string(layer.name) +
                " is below itself (under_vol), where each would take what the other knows of a "
                "file for its own: it may be in the chain once");
}

std::unique_ptr<Info> parse(const char* text, const Layer& layer) {
  Options options = parse_connection_string(text == nullptr ? "" : text);
  check_options(options, layer.settings, kUnderKeys, layer.name);
  if (!layer.repeats) require_once(options, layer);
  const auto value = options.extract("under_vol");
  const auto under_text = options.extract("under_info");
  auto connector = std::make_shared<UnderConnector>(
      connector_by_value(value.empty() ? "0" : std::string_view(value.mapped())),
      layer.seat(options));
  const bool has_under = !under_text.empty() && !under_text.mapped().empty();
  return std::make_unique<Info>(
      connector, has_under ? read_under_info(connector, under_text.mapped()) : UnderInfo(),
      std::move(options), std::string());
}

}  // namespace

UnderInfo::UnderInfo(UnderInfo&& other) noexcept
    : connector_(std::move(other.connector_)), info_(std::exchange(other.info_, nullptr)) {}

UnderInfo::~UnderInfo() {
  if (info_ == nullptr) return;
  const ErrorStackKeeper keep;
  h5.VLfree_connector_info(connector_->id(), info_);
}

UnderInfo UnderInfo::copy() const {
  void* result = nullptr;
  if (info_ != nullptr && h5.VLcopy_connector_info(connector_->id(), &result, info_) < 0)
    throw Error("the info of the connector below cannot be copied");
  return {connector_, result};
}

std::unique_ptr<Info> Info::copy() const {
  return std::make_unique<Info>(connector, under.copy(), options, error);
}

std::unique_ptr<Info> parse_info(const char* text, const Layer& layer) {
  try {
    return parse(text, layer);
  } catch (const Error& error) {
    auto native = std::make_shared<UnderConnector>(connector_by_value("0"), DriverSeat{});
    return std::make_unique<Info>(native, UnderInfo(), Options(), error.what());
  }
}

char* format_info(const Info& info) {
  Options all = info.options;
  H5VL_class_value_t value = H5VL_NATIVE_VALUE;
  if (h5.VLget_value(info.connector->id(), &value) < 0)
    throw Error("the connector below does not tell its value");
  all["under_vol"] = std::to_string(value);
  char* under = nullptr;
  if (info.under.get() != nullptr &&
      h5.VLconnector_info_to_str(info.under.get(), info.connector->id(), &under) < 0)
    throw Error("the connector below does not tell its info");
  const std::unique_ptr<char, decltype(&std::free)> owner(under, &std::free);
  all["under_info"] = under == nullptr ? "" : under;
  return ::strdup(format_connection_string(all, "under_info").c_str());
}

std::vector<std::string> connectors_below(const Info& info) {
  const std::unique_ptr<char, decltype(&std::free)> text(format_info(info), &std::free);
  return values_down(parse_connection_string(text.get()), "under_vol", "under_info");
}

int compare_info(const Info& a, const Info& b) {
  int result = 0;
  h5.VLcmp_connector_cls(&result, a.connector->id(), b.connector->id());
  if (result == 0)
    h5.VLcmp_connector_info(&result, a.connector->id(), a.under.get(), b.under.get());
  if (result == 0 && a.options != b.options) result = a.options < b.options ? -1 : 1;
  return result;
}

InfoOfList::InfoOfList(hid_t fapl, const Layer& layer) {
  void* found = nullptr;
  if (LentProperty::possible()) {
    LentProperty::Value value{};
    if (h5.peek_property(h5.object_of(fapl), LentProperty::kConnector, &value) < 0)
      throw Error("the access property list has no VOL info");
    info_ = static_cast<const Info*>(value.at(1));
  } else {
    if (h5.Pget_vol_info(fapl, &found) < 0) throw Error("the access property list has no VOL info");
    own_.reset(static_cast<Info*>(found));  // HDF5 gave us a copy
    info_ = own_.get();
  }
  if (info_ == nullptr) {
    own_ = parse_info(nullptr, layer);
    info_ = own_.get();
  }
  if (!info_->error.empty()) throw Error(info_->error);
}

}  // namespace headrace::vol
