"""Writes a step whose results 0 and 1, 2 and 3, ... are the same: integers of one
width each, by way of memory and by way of i64."""

WIDTHS = [2, 3, 4, 7, 12, 24, 33, 48]
ROWS = 20

results, lines = [], []


def emit(text):
    lines.append("  " + text)


def sums(name, matrix, zero, kind):
    """Of the rows, and of these with all of them: two kernels."""
    maps = "iterator_types = [\"parallel\", \"reduction\"]"
    vector = f"tensor<{ROWS}x{kind}>"
    for step, (source, read, init) in enumerate([(matrix, "#all", zero), (f"%{name}_0", "#columns", f"%{name}_0")]):
        type = f"tensor<{ROWS}x{ROWS}x{kind}>" if step == 0 else vector
        emit(f"%{name}_{step} = linalg.generic {{indexing_maps = [{read}, #rows], {maps}}} ins({source} : {type}) outs({init} : {vector}) {{")
        emit(f"^bb0(%p: {kind}, %q: {kind}):")
        emit(f"  %s = arith.addi %p, %q : {kind}")
        emit(f"  linalg.yield %s : {kind}")
        emit(f"}} -> {vector}")
    return f"%{name}_1"


square, vector = f"tensor<{ROWS}x{ROWS}xi64>", f"tensor<{ROWS}xi64>"
emit(f"%wide = arith.extsi %x : tensor<{ROWS}x{ROWS}xi32> to {square}")
emit(f"%factor = arith.constant dense<123456789123> : {square}")
emit(f"%many = arith.muli %wide, %factor : {square}")
emit(f"%zero = arith.constant dense<0> : {vector}")
exact = sums("exact", "%many", "%zero", "i64")
for width in WIDTHS:
    kind = f"i{width}"
    narrow = f"tensor<{ROWS}x{kind}>"
    emit(f"%t{width} = arith.trunci %many : {square} to tensor<{ROWS}x{ROWS}x{kind}>")
    emit(f"%z{width} = arith.constant dense<0> : {narrow}")
    total = sums(kind, f"%t{width}", f"%z{width}", kind)
    emit(f"%r{width} = arith.extsi {total} : {narrow} to {vector}")
    emit(f"%u{width} = arith.constant dense<{64 - width}> : {vector}")
    emit(f"%v{width} = arith.shli {exact}, %u{width} : {vector}")
    emit(f"%w{width} = arith.shrsi %v{width}, %u{width} : {vector}")
    results += [(f"%r{width}", vector), (f"%w{width}", vector)]

# Arguments, results and constants: a byte for an element.
emit("%twice = arith.addi %a, %a : tensor<20xi4>")
emit("%table = arith.constant dense<[-8, 7, -1, 3]> : tensor<4xi4>")
emit("%empty = tensor.empty() : tensor<20xi4>")
emit("%looked = linalg.generic {indexing_maps = [#id, #id], iterator_types = [\"parallel\"]} ins(%a : tensor<20xi4>) outs(%empty : tensor<20xi4>) {")
emit("^bb0(%p: i4, %q: i4):")
emit("  %at = arith.index_cast %p : i4 to index")
emit("  %value = tensor.extract %table[%at] : tensor<4xi4>")
emit("  linalg.yield %value : i4")
emit("} -> tensor<20xi4>")
emit("%one = arith.addi %twice, %looked : tensor<20xi4>")
emit("%bytes = arith.extsi %a : tensor<20xi4> to tensor<20xi8>")
emit("%more = arith.addi %bytes, %bytes : tensor<20xi8>")
emit("%wideLooked = arith.extsi %looked : tensor<20xi4> to tensor<20xi8>")
emit("%all = arith.addi %more, %wideLooked : tensor<20xi8>")
emit("%four = arith.constant dense<4> : tensor<20xi8>")
emit("%up = arith.shli %all, %four : tensor<20xi8>")
emit("%other = arith.shrsi %up, %four : tensor<20xi8>")
results += [("%one", "tensor<20xi4>"), ("%other", "tensor<20xi8>")]

print("#all = affine_map<(d0, d1) -> (d0, d1)>")
print("#rows = affine_map<(d0, d1) -> (d0)>")
print("#columns = affine_map<(d0, d1) -> (d1)>")
print("#id = affine_map<(d0) -> (d0)>")
types = ", ".join(type for _, type in results)
print(f"func.func @main(%x: tensor<{ROWS}x{ROWS}xi32>, %a: tensor<20xi4>) -> ({types}) {{")
print("\n".join(lines))
print(f"  return {', '.join(name for name, _ in results)} : {types}")
print("}")
