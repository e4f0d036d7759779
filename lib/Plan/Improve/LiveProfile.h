//===- LiveProfile.h - Live bytes of each kernel of a list ------*- C++ -*-===//
//
// Moves ask whether a value can stay in memory between two kernels, and change
// the live bytes of all kernels between. Long plans have long ranges: question
// and change take logarithmic time.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_LIVEPROFILE_H
#define CKPT_LIB_PLAN_IMPROVE_LIVEPROFILE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ckpt::plan {

/// A tree over places; a node adds its `added` to all places below.
class LiveProfile {
public:
  LiveProfile() = default;
  explicit LiveProfile(const std::vector<int64_t> &bytes);

  /// Adds \p bytes to the places from \p first to before \p end.
  void add(size_t first, size_t end, int64_t bytes);
  /// The most bytes of a place from \p first to before \p end; 0 if there is no
  /// such place.
  int64_t most(size_t first, size_t end) const;
  int64_t at(size_t place) const;
  /// The most bytes of all places.
  int64_t peak() const { return nodes.empty() ? 0 : nodes[1].most; }
  /// The first place with the most bytes, of places that are not negative.
  size_t worst() const;
  /// The bytes of the first \p count places.
  std::vector<int64_t> values(size_t count) const;
  /// Bytes above \p limit, summed over all places. Visits no place below it.
  int64_t excess(int64_t limit) const;

private:
  struct Node {
    int64_t most = 0, added = 0;
  };
  struct Span {
    size_t node, begin, end;
    size_t middle() const { return (begin + end) / 2; }
    Span left() const { return {2 * node, begin, middle()}; }
    Span right() const { return {2 * node + 1, middle(), end}; }
  };

  Span all() const { return {1, 0, leaves}; }
  void updateAbove(size_t first, size_t last);
  int64_t excess(const Span &span, int64_t limit) const;
  void list(const Span &span, int64_t added, std::vector<int64_t> &bytes) const;

  size_t leaves = 1;
  std::vector<Node> nodes;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_LIVEPROFILE_H
