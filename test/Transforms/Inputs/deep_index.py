"""Prints a step that reads a tensor at a loop's index, doubled as often as the argument says."""
import sys

print("""func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  %e = tensor.empty() : tensor<1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<1xf32>) {
  ^bb0(%out: f32):
    %0 = linalg.index 0 : index""")
count = int(sys.argv[1])
for number in range(count):
    print(f"    %{number + 1} = arith.addi %{number}, %{number} : index")
print(f"""    %s = tensor.extract %x[%{count}] : tensor<1xf32>
    linalg.yield %s : f32
  }} -> tensor<1xf32>
  return %r : tensor<1xf32>
}}""")
