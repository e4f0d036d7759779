//===- DeviceFile.cpp - Devices that are described in a file --------------===//
//
// JSON, since people write these files and tools measure them. Everything that
// is not understood is an error with its place: a rate with a misspelt name
// would silently be another cost.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Cost/Device.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace ckpt;
namespace json = llvm::json;

namespace {

/// Reads one file. Methods return false after the first error.
class DeviceReader {
public:
  explicit DeviceReader(StringRef path) : path(path) {}

  llvm::Expected<Device> read(StringRef text);

private:
  bool fail(const Twine &message) {
    error = ("'" + path + "': " + message).str();
    return false;
  }
  /// Null means an absent value.
  bool failExpected(const Twine &place, const Twine &what,
                    const json::Value *got) {
    std::string text = got ? llvm::formatv("{0}", *got).str() : "nothing";
    return fail("expected " + place + " to be " + what + ", but got " + text);
  }
  bool readText(const json::Object &object, StringRef key, std::string &text);
  bool readNumber(const json::Object &object, StringRef key, const Twine &place,
                  int64_t least, int64_t &number);
  bool readTop(const json::Object &top);
  bool readCache(const json::Value &value, const std::string &place);
  bool readCaches(const json::Value &value);
  bool readRates(const json::Object &rates);
  bool readRatesOf(WorkType type, const json::Object &rates);

  StringRef path;
  std::string error;
  Device device;
};

} // namespace

bool DeviceReader::readText(const json::Object &object, StringRef key,
                            std::string &text) {
  std::optional<StringRef> found = object.getString(key);
  if (!found || found->empty())
    return failExpected("'" + key + "'", "a text", object.get(key));
  text = found->str();
  return true;
}

/// Rates of 10^15 per microsecond are beyond any device, and their products
/// stay within 128 bits.
static constexpr int64_t largestNumber = 1000000000000000;

bool DeviceReader::readNumber(const json::Object &object, StringRef key,
                              const Twine &place, int64_t least,
                              int64_t &number) {
  std::optional<int64_t> found = object.getInteger(key);
  if (!found || *found < least || *found > largestNumber)
    return failExpected(place,
                        "a whole number from " + Twine(least) + " to " +
                            Twine(largestNumber),
                        object.get(key));
  number = *found;
  return true;
}

bool DeviceReader::readRatesOf(WorkType type, const json::Object &rates) {
  auto place = [&](StringRef key) {
    return ("'rates." + nameOf(type) + "." + key + "'").str();
  };
  for (const auto &[key, value] : rates) {
    std::optional<WorkKind> kind = workKindNamed(key);
    if (!kind)
      return fail(place(key) + " is no kind of work");
    if (!readNumber(rates, key, place(key), 1, device.rate(type, *kind)))
      return false;
  }
  for (WorkKind needed : {WorkKind::Contraction, WorkKind::Elementwise})
    if (device.rate(type, needed) == 0)
      return failExpected(place(nameOf(needed)), "a rate", nullptr);
  return true;
}

bool DeviceReader::readRates(const json::Object &rates) {
  for (const auto &[key, value] : rates) {
    std::optional<WorkType> type = workTypeNamed(key);
    const json::Object *ofType = value.getAsObject();
    std::string place = ("'rates." + StringRef(key) + "'").str();
    if (!type)
      return fail(place +
                  " is no type of elements; these are f64, f32 and f16");
    if (!ofType)
      return failExpected(place, "an object", &value);
    if (!readRatesOf(*type, *ofType))
      return false;
  }
  for (unsigned type = 0; type < workTypeCount; ++type)
    if (StringRef name = nameOf(static_cast<WorkType>(type)); !rates.get(name))
      return failExpected("'rates." + name + "'", "an object", nullptr);
  return true;
}

bool DeviceReader::readCache(const json::Value &value,
                             const std::string &place) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return failExpected(place, "an object", &value);
  for (const auto &[key, inside] : *object)
    if (StringRef name = key; name != "bytes" && name != "bandwidth")
      return fail(place + " has '" + name +
                  "', which is no property of a cache; these are bytes and "
                  "bandwidth");
  Cache cache;
  int64_t least = device.caches.empty() ? 1 : device.caches.back().bytes + 1;
  if (!readNumber(*object, "bytes", "'bytes' of " + place, least,
                  cache.bytes) ||
      !readNumber(*object, "bandwidth", "'bandwidth' of " + place, 1,
                  cache.bytesPerMicrosecond))
    return false;
  device.caches.push_back(cache);
  return true;
}

bool DeviceReader::readCaches(const json::Value &value) {
  const json::Array *caches = value.getAsArray();
  if (!caches)
    return failExpected("'caches'", "a list", &value);
  for (auto [number, cache] : llvm::enumerate(*caches))
    if (!readCache(cache, llvm::formatv("'caches[{0}]'", number).str()))
      return false;
  return true;
}

bool DeviceReader::readTop(const json::Object &top) {
  for (const auto &[key, value] : top)
    if (!llvm::is_contained(ArrayRef<StringRef>{"name", "source", "bandwidth",
                                                "caches", "launch", "lanes",
                                                "rates"},
                            StringRef(key)))
      return fail("'" + StringRef(key) +
                  "' is no property of a device; these are name, source, "
                  "bandwidth, caches, launch, lanes and rates");
  const json::Object *rates = top.getObject("rates");
  if (!readText(top, "name", device.name) ||
      !readText(top, "source", device.source) ||
      !readNumber(top, "bandwidth", "'bandwidth'", 1,
                  device.bytesPerMicrosecond) ||
      !readNumber(top, "launch", "'launch'", 0, device.launchNs) ||
      (top.get("lanes") &&
       !readNumber(top, "lanes", "'lanes'", 1, device.lanes)) ||
      (top.get("caches") && !readCaches(*top.get("caches"))))
    return false;
  if (!rates)
    return failExpected("'rates'", "an object", top.get("rates"));
  return readRates(*rates);
}

llvm::Expected<Device> DeviceReader::read(StringRef text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return llvm::createStringError("'" + path +
                                   "': " + llvm::toString(value.takeError()));
  const json::Object *top = value->getAsObject();
  if (!top)
    failExpected("a device", "an object", &*value);
  else if (readTop(*top))
    return std::move(device);
  return llvm::createStringError(error);
}

llvm::Expected<Device> ckpt::parseDevice(StringRef text, StringRef path) {
  return DeviceReader(path).read(text);
}

llvm::Expected<Device> ckpt::findDevice(StringRef nameOrPath) {
  for (const Device &device : knownDevices())
    if (device.name == nameOrPath)
      return device;
  if (nameOrPath.find_first_of("./") == StringRef::npos) {
    std::string names;
    for (const Device &device : knownDevices())
      names += " " + device.name;
    return llvm::createStringError(
        "expected a known device or the path of a file, but got '" +
        nameOrPath + "'; known are" + names);
  }
  auto file = llvm::MemoryBuffer::getFile(nameOrPath);
  if (!file)
    return llvm::createStringError(
        "'" + nameOrPath + "' cannot be read: " + file.getError().message());
  return parseDevice((*file)->getBuffer(), nameOrPath);
}

void ckpt::printDevice(const Device &device, llvm::raw_ostream &os) {
  json::OStream out(os, /*IndentSize=*/2);
  out.object([&] {
    out.attribute("name", device.name);
    out.attribute("source", device.source);
    out.attribute("bandwidth", device.bytesPerMicrosecond);
    if (!device.caches.empty())
      out.attributeArray("caches", [&] {
        for (const Cache &cache : device.caches)
          out.object([&] {
            out.attribute("bytes", cache.bytes);
            out.attribute("bandwidth", cache.bytesPerMicrosecond);
          });
      });
    out.attribute("launch", device.launchNs);
    if (device.lanes > 0)
      out.attribute("lanes", device.lanes);
    out.attributeObject("rates", [&] {
      for (unsigned type = 0; type < workTypeCount; ++type)
        out.attributeObject(nameOf(static_cast<WorkType>(type)), [&] {
          for (unsigned kind = 0; kind < workKindCount; ++kind)
            if (int64_t rate = device.rates[type][kind])
              out.attribute(nameOf(static_cast<WorkKind>(kind)), rate);
        });
    });
  });
  os << "\n";
}
