//===- IndexEmitter.cpp - Turns linear indices into SSA values ------------===//

#include "Conversion/Element/IndexEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace ckpt;
using namespace mlir;

IndexEmitter::IndexEmitter(ImplicitLocOpBuilder &builder, int64_t lanes)
    : builder(builder), lanes(lanes), atoms(1) {}

LinearIndex IndexEmitter::atom(Value value, int64_t extent) {
  auto [entry, isNew] = atomOf.try_emplace(value, atoms.size());
  if (isNew)
    atoms.push_back(value);
  return LinearIndex::atom(entry->second, extent);
}

bool IndexEmitter::varies(AtomId atom) const {
  return atom == laneAtom || isa<VectorType>(atoms[atom].getType());
}

bool IndexEmitter::varies(const LinearIndex &index) const {
  return llvm::any_of(index.getTerms(),
                      [&](const auto &term) { return varies(term.atom); });
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

std::pair<LinearIndex, LinearIndex>
IndexEmitter::divide(const LinearIndex &dividend, int64_t divisor) {
  if (divisor == 1)
    return {dividend, 0};
  for (const Division &division : divisions)
    if (division.divisor == divisor && division.dividend == dividend)
      return {division.quotient, division.remainder};
  Value value = materialize(dividend);
  Value by = constant(divisor, isa<VectorType>(value.getType()));
  Value quotient = arith::DivUIOp::create(builder, value, by);
  Value remainder = arith::RemUIOp::create(builder, value, by);
  divisions.push_back({dividend, divisor,
                       atom(quotient, dividend.max() / divisor + 1),
                       atom(remainder, divisor)});
  return {divisions.back().quotient, divisions.back().remainder};
}

LinearIndex IndexEmitter::simplify(LinearIndex index) const {
  // Later divisions divide the results of earlier ones.
  for (const Division &division : llvm::reverse(divisions)) {
    if (division.quotient.isConstant() || division.remainder.isConstant())
      continue;
    int64_t factor = index.factorOf(division.remainder.getTerms().front().atom);
    if (factor == 0 ||
        index.factorOf(division.quotient.getTerms().front().atom) !=
            factor * division.divisor)
      continue;
    index = index - division.remainder * factor -
            division.quotient * (factor * division.divisor) +
            division.dividend * factor;
  }
  return index;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value IndexEmitter::constant(int64_t value, bool vector) {
  if (!vector)
    return arith::ConstantIndexOp::create(builder, value);
  auto type = VectorType::get(lanes, builder.getIndexType());
  return arith::ConstantOp::create(
      builder, DenseElementsAttr::get(type, builder.getIndexAttr(value)));
}

Value IndexEmitter::atomValue(AtomId atom, bool vector) {
  auto type = VectorType::get(lanes, builder.getIndexType());
  if (atom == laneAtom)
    return vector::StepOp::create(builder, type);
  Value value = atoms[atom];
  if (vector && !isa<VectorType>(value.getType()))
    return vector::BroadcastOp::create(builder, type, value);
  return value;
}

Value IndexEmitter::materialize(const LinearIndex &index) {
  auto known = materialized.find(index);
  if (known != materialized.end())
    return known->second;
  auto isUniform = [&](const auto &term) { return !varies(term.atom); };
  bool vector = varies(index);
  Value sum;
  auto add = [&](Value part, bool asVector) {
    if (sum && asVector && !isa<VectorType>(sum.getType()))
      sum = vector::BroadcastOp::create(
          builder, VectorType::get(lanes, builder.getIndexType()), sum);
    sum = sum ? Value(arith::AddIOp::create(builder, sum, part)) : part;
  };
  auto addTerm = [&](const LinearIndex::Term &term, bool asVector) {
    Value value = atomValue(term.atom, asVector);
    if (term.factor != 1)
      value = arith::MulIOp::create(builder, value,
                                    constant(term.factor, asVector));
    add(value, asVector);
  };
  // Scalars first, so that vectors meet one broadcast sum.
  for (const LinearIndex::Term &term : index.getTerms())
    if (isUniform(term))
      addTerm(term, false);
  if (index.getConstant() != 0 || index.isConstant())
    add(constant(index.getConstant(), false), false);
  if (vector)
    for (const LinearIndex::Term &term : index.getTerms())
      if (!isUniform(term))
        addTerm(term, true);
  return materialized[index] = sum;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

ClampedIndex IndexEmitter::clampValue(const LinearIndex &index,
                                      IndexRange range) {
  Value value = materialize(index);
  bool vector = isa<VectorType>(value.getType());
  Value low = constant(range.begin, vector);
  Value high = constant(range.end - 1, vector);
  Value inside;
  auto require = [&](arith::CmpIPredicate predicate, Value bound) {
    Value holds = arith::CmpIOp::create(builder, predicate, value, bound);
    inside =
        inside ? Value(arith::AndIOp::create(builder, inside, holds)) : holds;
  };
  Value clamped = value;
  if (index.min() < range.begin) {
    require(arith::CmpIPredicate::sge, low);
    clamped = arith::MaxSIOp::create(builder, clamped, low);
  }
  if (index.max() >= range.end) {
    require(arith::CmpIPredicate::sle, high);
    clamped = arith::MinSIOp::create(builder, clamped, high);
  }
  // The atom starts at 0, the range elsewhere.
  Value fromBegin = range.begin == 0
                        ? clamped
                        : Value(arith::SubIOp::create(builder, clamped, low));
  return {atom(fromBegin, range.end - range.begin) + range.begin, inside};
}

GranularIndex IndexEmitter::splitAtRange(const LinearIndex &index,
                                         IndexRange range) const {
  return splitAtGranule(index, std::gcd(range.begin, range.end),
                        [&](AtomId atom) { return varies(atom); });
}

static bool isWithin(const LinearIndex &index, IndexRange range) {
  return index.min() >= range.begin && index.max() < range.end;
}

bool IndexEmitter::clampParts(const LinearIndex &index,
                              IndexRange range) const {
  return !isWithin(index, range) && range.begin < range.end &&
         varies(splitAtRange(index, range).coarse);
}

Value IndexEmitter::lanesBetween(Value begin, Value end, int64_t lanes) {
  auto type = VectorType::get(lanes, builder.getI32Type());
  auto everywhere = [&](Value value) {
    value = arith::IndexCastOp::create(builder, type.getElementType(), value);
    return vector::BroadcastOp::create(builder, type, value);
  };
  Value none = constant(0, /*vector=*/false);
  begin = arith::MaxSIOp::create(builder, begin, none);
  end = arith::MinSIOp::create(builder, end, constant(lanes, false));
  Value count = arith::SubIOp::create(builder, end, begin);
  count = arith::MaxSIOp::create(builder, count, none);
  auto numbers = llvm::map_to_vector(llvm::seq<int32_t>(lanes),
                                     [](int32_t number) { return number; });
  Value number = arith::ConstantOp::create(
      builder, DenseElementsAttr::get(type, ArrayRef(numbers)));
  // Lanes before the first have numbers above all others without a sign.
  number = arith::SubIOp::create(builder, number, everywhere(begin));
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, number,
                               everywhere(count));
}

ClampedIndex IndexEmitter::clamp(const LinearIndex &index, IndexRange range) {
  if (isWithin(index, range))
    return {index, Value()};
  if (range.end <= range.begin) // Nothing is inside; any index will do.
    return {0, arith::ConstantIntOp::create(builder, 0, 1)};
  // Whole granules are inside or outside, so lanes stay neighbours.
  GranularIndex split = splitAtRange(index, range);
  if (varies(split.coarse))
    return clampValue(index, range);
  ClampedIndex coarse = clampValue(
      split.coarse, {range.begin / split.granule, range.end / split.granule});
  return {coarse.index * split.granule + split.fine, coarse.inside};
}

ClampedIndex IndexEmitter::confine(const LinearIndex &index, IndexRange range) {
  ClampedIndex clamped = clamp(index, range);
  if (!clampParts(index, range))
    return clamped;
  LinearIndex first = index - lane();
  if (!varies(first))
    clamped.inside =
        lanesBetween(materialize(LinearIndex(range.begin) - first),
                     materialize(LinearIndex(range.end) - first), lanes);
  if (!clamped.index.isConstant())
    confined[clamped.index.getTerms().front().atom] = {index - range.begin,
                                                       clamped.inside};
  return clamped;
}

std::optional<MaskedNeighbours>
IndexEmitter::maskedNeighbours(LinearIndex position) {
  LinearIndex any = position;
  Value inside;
  auto isConfined = [&](const LinearIndex::Term &term) {
    return confined.contains(term.atom);
  };
  // An index may be confined again and again.
  for (;;) {
    const auto *term = llvm::find_if(position.getTerms(), isConfined);
    if (term == position.getTerms().end())
      break;
    const Confined &known = confined.find(term->atom)->second;
    LinearIndex atom = LinearIndex::atom(term->atom, term->extent);
    inside = inside
                 ? Value(arith::AndIOp::create(builder, inside, known.inside))
                 : known.inside;
    any = any - atom * any.factorOf(term->atom);
    position = position + (known.index - atom) * term->factor;
  }
  LinearIndex start = position - lane();
  if (!inside || varies(start) || varies(any))
    return std::nullopt;
  return MaskedNeighbours{start, inside, any};
}

Value IndexEmitter::isMultiple(const LinearIndex &index, int64_t divisor) {
  auto [quotient, remainder] = divideIndex(index, divisor, *this);
  if (remainder == LinearIndex(0))
    return Value();
  Value value = materialize(remainder);
  Value zero = constant(0, isa<VectorType>(value.getType()));
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, value, zero);
}
