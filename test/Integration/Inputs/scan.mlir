#map = affine_map<() -> ()>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map5 = affine_map<(d0, d1) -> ()>
#map6 = affine_map<(d0, d1) -> (d1, d0)>
#map7 = affine_map<(d0, d1) -> (d0)>
#map8 = affine_map<(d0, d1, d2) -> ()>
module @jit_step {
  func.func public @main(%arg0: tensor<4x16xf32>, %arg1: tensor<4x16x16xf32>, %arg2: tensor<4x16xf32>, %arg3: tensor<4x16x16xf32>, %arg4: tensor<8x16xf32>, %arg5: tensor<8x16xf32>) -> (tensor<f32>, tensor<4x16xf32>, tensor<4x16x16xf32>, tensor<4x16xf32>, tensor<4x16x16xf32>) {
    %c7_i32 = arith.constant 7 : i32
    %c3_i32 = arith.constant 3 : i32
    %cst = arith.constant 7.812500e-03 : f32
    %cst_0 = arith.constant 1.000000e-01 : f32
    %cst_1 = arith.constant 0.899999976 : f32
    %cst_2 = arith.constant 1.280000e+02 : f32
    %cst_3 = arith.constant 2.000000e+00 : f32
    %cst_4 = arith.constant 1.000000e+00 : f32
    %cst_5 = arith.constant 0.000000e+00 : f32
    %c3 = arith.constant 3 : index
    %c0 = arith.constant 0 : index
    %cst_6 = arith.constant dense<0.000000e+00> : tensor<4x16x16xf32>
    %cst_7 = arith.constant dense<0.000000e+00> : tensor<4x16xf32>
    %cst_8 = arith.constant dense<0.000000e+00> : tensor<4x8x16xf32>
    %c0_i32 = arith.constant 0 : i32
    %c4_i32 = arith.constant 4 : i32
    %c1_i32 = arith.constant 1 : i32
    %0:4 = scf.for %arg6 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg7 = %arg4, %arg8 = %cst_8, %arg9 = %cst_8, %arg10 = %cst_8) -> (tensor<8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>)  : i32 {
      %from_elements = tensor.from_elements %arg6 : tensor<i32>
      %61 = tensor.empty() : tensor<i1>
      %62 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%from_elements : tensor<i32>) outs(%61 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %98 = arith.cmpi slt, %in, %c0_i32 : i32
        linalg.yield %98 : i1
      } -> tensor<i1>
      %63 = arith.addi %arg6, %c4_i32 : i32
      %from_elements_9 = tensor.from_elements %63 : tensor<i32>
      %64 = tensor.empty() : tensor<i32>
      %65 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%62, %from_elements_9, %from_elements : tensor<i1>, tensor<i32>, tensor<i32>) outs(%64 : tensor<i32>) {
      ^bb0(%in: i1, %in_18: i32, %in_19: i32, %out: i32):
        %98 = arith.select %in, %in_18, %in_19 : i32
        linalg.yield %98 : i32
      } -> tensor<i32>
      %extracted = tensor.extract %65[] : tensor<i32>
      %66 = arith.index_cast %extracted : i32 to index
      %67 = arith.maxsi %66, %c0 : index
      %68 = arith.minsi %67, %c3 : index
      %extracted_slice = tensor.extract_slice %arg0[%68, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<1x16xf32>
      %collapsed = tensor.collapse_shape %extracted_slice [[0, 1]] : tensor<1x16xf32> into tensor<16xf32>
      %extracted_10 = tensor.extract %65[] : tensor<i32>
      %69 = arith.index_cast %extracted_10 : i32 to index
      %70 = arith.maxsi %69, %c0 : index
      %71 = arith.minsi %70, %c3 : index
      %extracted_slice_11 = tensor.extract_slice %arg1[%71, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<4x16x16xf32> to tensor<1x16x16xf32>
      %collapsed_12 = tensor.collapse_shape %extracted_slice_11 [[0, 1], [2]] : tensor<1x16x16xf32> into tensor<16x16xf32>
      %72 = tensor.empty() : tensor<8x16xf32>
      %73 = linalg.fill ins(%cst_5 : f32) outs(%72 : tensor<8x16xf32>) -> tensor<8x16xf32>
      %74 = linalg.matmul ins(%arg7, %collapsed_12 : tensor<8x16xf32>, tensor<16x16xf32>) outs(%73 : tensor<8x16xf32>) -> tensor<8x16xf32>
      %75 = tensor.empty() : tensor<8x16xf32>
      %76 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<16xf32>) outs(%75 : tensor<8x16xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<8x16xf32>
      %77 = tensor.empty() : tensor<8x16xf32>
      %78 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%74, %76 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%77 : tensor<8x16xf32>) {
      ^bb0(%in: f32, %in_18: f32, %out: f32):
        %98 = arith.addf %in, %in_18 : f32
        linalg.yield %98 : f32
      } -> tensor<8x16xf32>
      %79 = tensor.empty() : tensor<8x16xf32>
      %80 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%78 : tensor<8x16xf32>) outs(%79 : tensor<8x16xf32>) {
      ^bb0(%in: f32, %out: f32):
        %98 = math.tanh %in : f32
        linalg.yield %98 : f32
      } -> tensor<8x16xf32>
      %81 = tensor.empty() : tensor<8x16xf32>
      %82 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%80 : tensor<8x16xf32>) outs(%81 : tensor<8x16xf32>) {
      ^bb0(%in: f32, %out: f32):
        %98 = arith.subf %cst_4, %in : f32
        linalg.yield %98 : f32
      } -> tensor<8x16xf32>
      %83 = tensor.empty() : tensor<1x8x16xf32>
      %84 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg7 : tensor<8x16xf32>) outs(%83 : tensor<1x8x16xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<1x8x16xf32>
      %extracted_13 = tensor.extract %65[] : tensor<i32>
      %85 = arith.index_cast %extracted_13 : i32 to index
      %86 = arith.maxsi %85, %c0 : index
      %87 = arith.minsi %86, %c3 : index
      %inserted_slice = tensor.insert_slice %84 into %arg8[%87, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<1x8x16xf32> into tensor<4x8x16xf32>
      %88 = tensor.empty() : tensor<1x8x16xf32>
      %89 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80 : tensor<8x16xf32>) outs(%88 : tensor<1x8x16xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<1x8x16xf32>
      %extracted_14 = tensor.extract %65[] : tensor<i32>
      %90 = arith.index_cast %extracted_14 : i32 to index
      %91 = arith.maxsi %90, %c0 : index
      %92 = arith.minsi %91, %c3 : index
      %inserted_slice_15 = tensor.insert_slice %89 into %arg9[%92, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<1x8x16xf32> into tensor<4x8x16xf32>
      %93 = tensor.empty() : tensor<1x8x16xf32>
      %94 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%82 : tensor<8x16xf32>) outs(%93 : tensor<1x8x16xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<1x8x16xf32>
      %extracted_16 = tensor.extract %65[] : tensor<i32>
      %95 = arith.index_cast %extracted_16 : i32 to index
      %96 = arith.maxsi %95, %c0 : index
      %97 = arith.minsi %96, %c3 : index
      %inserted_slice_17 = tensor.insert_slice %94 into %arg10[%97, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<1x8x16xf32> into tensor<4x8x16xf32>
      scf.yield %80, %inserted_slice, %inserted_slice_15, %inserted_slice_17 : tensor<8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>
    }
    %1 = tensor.empty() : tensor<8x16xf32>
    %2 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%0#0, %arg5 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%1 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %61 = arith.subf %in, %in_9 : f32
      linalg.yield %61 : f32
    } -> tensor<8x16xf32>
    %3 = tensor.empty() : tensor<8x16xf32>
    %4 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<8x16xf32>) outs(%3 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.mulf %in, %in : f32
      linalg.yield %61 : f32
    } -> tensor<8x16xf32>
    %5 = tensor.empty() : tensor<8x16xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<8x16xf32>) outs(%5 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.mulf %in, %cst_3 : f32
      linalg.yield %61 : f32
    } -> tensor<8x16xf32>
    %7 = tensor.empty() : tensor<f32>
    %8 = linalg.fill ins(%cst_5 : f32) outs(%7 : tensor<f32>) -> tensor<f32>
    %9 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["reduction", "reduction"]} ins(%4 : tensor<8x16xf32>) outs(%8 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.addf %out, %in : f32
      linalg.yield %61 : f32
    } -> tensor<f32>
    %10 = tensor.empty() : tensor<f32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%9 : tensor<f32>) outs(%10 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.divf %in, %cst_2 : f32
      linalg.yield %61 : f32
    } -> tensor<f32>
    %12 = tensor.empty() : tensor<f32>
    %13 = linalg.generic {indexing_maps = [#map], iterator_types = []} outs(%12 : tensor<f32>) {
    ^bb0(%out: f32):
      linalg.yield %cst : f32
    } -> tensor<f32>
    %14 = tensor.empty() : tensor<8x16xf32>
    %15 = linalg.generic {indexing_maps = [#map5, #map2], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<f32>) outs(%14 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<8x16xf32>
    %16 = tensor.empty() : tensor<8x16xf32>
    %17 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%15, %6 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%16 : tensor<8x16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %61 = arith.mulf %in, %in_9 : f32
      linalg.yield %61 : f32
    } -> tensor<8x16xf32>
    %18:3 = scf.for %arg6 = %c0_i32 to %c4_i32 step %c1_i32 iter_args(%arg7 = %17, %arg8 = %cst_7, %arg9 = %cst_6) -> (tensor<8x16xf32>, tensor<4x16xf32>, tensor<4x16x16xf32>)  : i32 {
      %61 = arith.subi %c3_i32, %arg6 : i32
      %from_elements = tensor.from_elements %61 : tensor<i32>
      %62 = tensor.empty() : tensor<i1>
      %63 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%from_elements : tensor<i32>) outs(%62 : tensor<i1>) {
      ^bb0(%in: i32, %out: i1):
        %111 = arith.cmpi slt, %in, %c0_i32 : i32
        linalg.yield %111 : i1
      } -> tensor<i1>
      %64 = arith.subi %c7_i32, %arg6 : i32
      %from_elements_9 = tensor.from_elements %64 : tensor<i32>
      %65 = tensor.empty() : tensor<i32>
      %66 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = []} ins(%63, %from_elements_9, %from_elements : tensor<i1>, tensor<i32>, tensor<i32>) outs(%65 : tensor<i32>) {
      ^bb0(%in: i1, %in_22: i32, %in_23: i32, %out: i32):
        %111 = arith.select %in, %in_22, %in_23 : i32
        linalg.yield %111 : i32
      } -> tensor<i32>
      %extracted = tensor.extract %66[] : tensor<i32>
      %67 = arith.index_cast %extracted : i32 to index
      %68 = arith.maxsi %67, %c0 : index
      %69 = arith.minsi %68, %c3 : index
      %extracted_slice = tensor.extract_slice %arg1[%69, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<4x16x16xf32> to tensor<1x16x16xf32>
      %collapsed = tensor.collapse_shape %extracted_slice [[0, 1], [2]] : tensor<1x16x16xf32> into tensor<16x16xf32>
      %extracted_10 = tensor.extract %66[] : tensor<i32>
      %70 = arith.index_cast %extracted_10 : i32 to index
      %71 = arith.maxsi %70, %c0 : index
      %72 = arith.minsi %71, %c3 : index
      %extracted_slice_11 = tensor.extract_slice %0#1[%72, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<4x8x16xf32> to tensor<1x8x16xf32>
      %collapsed_12 = tensor.collapse_shape %extracted_slice_11 [[0, 1], [2]] : tensor<1x8x16xf32> into tensor<8x16xf32>
      %extracted_13 = tensor.extract %66[] : tensor<i32>
      %73 = arith.index_cast %extracted_13 : i32 to index
      %74 = arith.maxsi %73, %c0 : index
      %75 = arith.minsi %74, %c3 : index
      %extracted_slice_14 = tensor.extract_slice %0#2[%75, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<4x8x16xf32> to tensor<1x8x16xf32>
      %collapsed_15 = tensor.collapse_shape %extracted_slice_14 [[0, 1], [2]] : tensor<1x8x16xf32> into tensor<8x16xf32>
      %extracted_16 = tensor.extract %66[] : tensor<i32>
      %76 = arith.index_cast %extracted_16 : i32 to index
      %77 = arith.maxsi %76, %c0 : index
      %78 = arith.minsi %77, %c3 : index
      %extracted_slice_17 = tensor.extract_slice %0#3[%78, 0, 0] [1, 8, 16] [1, 1, 1] : tensor<4x8x16xf32> to tensor<1x8x16xf32>
      %collapsed_18 = tensor.collapse_shape %extracted_slice_17 [[0, 1], [2]] : tensor<1x8x16xf32> into tensor<8x16xf32>
      %79 = tensor.empty() : tensor<8x16xf32>
      %80 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg7, %collapsed_18 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%79 : tensor<8x16xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %111 = arith.mulf %in, %in_22 : f32
        linalg.yield %111 : f32
      } -> tensor<8x16xf32>
      %81 = tensor.empty() : tensor<8x16xf32>
      %82 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%80, %collapsed_15 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%81 : tensor<8x16xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %111 = arith.mulf %in, %in_22 : f32
        linalg.yield %111 : f32
      } -> tensor<8x16xf32>
      %83 = tensor.empty() : tensor<8x16xf32>
      %84 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%80, %82 : tensor<8x16xf32>, tensor<8x16xf32>) outs(%83 : tensor<8x16xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %111 = arith.addf %in, %in_22 : f32
        linalg.yield %111 : f32
      } -> tensor<8x16xf32>
      %85 = tensor.empty() : tensor<16xf32>
      %86 = linalg.fill ins(%cst_5 : f32) outs(%85 : tensor<16xf32>) -> tensor<16xf32>
      %87 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "reduction"]} ins(%84 : tensor<8x16xf32>) outs(%86 : tensor<16xf32>) {
      ^bb0(%in: f32, %out: f32):
        %111 = arith.addf %out, %in : f32
        linalg.yield %111 : f32
      } -> tensor<16xf32>
      %expanded = tensor.expand_shape %87 [[0, 1]] output_shape [1, 16] : tensor<16xf32> into tensor<1x16xf32>
      %88 = tensor.empty() : tensor<16xf32>
      %89 = linalg.fill ins(%cst_5 : f32) outs(%88 : tensor<16xf32>) -> tensor<16xf32>
      %90 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "reduction"]} ins(%expanded : tensor<1x16xf32>) outs(%89 : tensor<16xf32>) {
      ^bb0(%in: f32, %out: f32):
        %111 = arith.addf %out, %in : f32
        linalg.yield %111 : f32
      } -> tensor<16xf32>
      %91 = tensor.empty() : tensor<16x8xf32>
      %92 = linalg.generic {indexing_maps = [#map6, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed_12 : tensor<8x16xf32>) outs(%91 : tensor<16x8xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<16x8xf32>
      %93 = tensor.empty() : tensor<16x16xf32>
      %94 = linalg.fill ins(%cst_5 : f32) outs(%93 : tensor<16x16xf32>) -> tensor<16x16xf32>
      %95 = linalg.matmul ins(%92, %84 : tensor<16x8xf32>, tensor<8x16xf32>) outs(%94 : tensor<16x16xf32>) -> tensor<16x16xf32>
      %96 = tensor.empty() : tensor<16x16xf32>
      %97 = linalg.generic {indexing_maps = [#map6, #map2], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<16x16xf32>) outs(%96 : tensor<16x16xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<16x16xf32>
      %98 = tensor.empty() : tensor<8x16xf32>
      %99 = linalg.fill ins(%cst_5 : f32) outs(%98 : tensor<8x16xf32>) -> tensor<8x16xf32>
      %100 = linalg.matmul ins(%84, %97 : tensor<8x16xf32>, tensor<16x16xf32>) outs(%99 : tensor<8x16xf32>) -> tensor<8x16xf32>
      %101 = tensor.empty() : tensor<1x16xf32>
      %102 = linalg.generic {indexing_maps = [#map1, #map2], iterator_types = ["parallel", "parallel"]} ins(%90 : tensor<16xf32>) outs(%101 : tensor<1x16xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<1x16xf32>
      %extracted_19 = tensor.extract %66[] : tensor<i32>
      %103 = arith.index_cast %extracted_19 : i32 to index
      %104 = arith.maxsi %103, %c0 : index
      %105 = arith.minsi %104, %c3 : index
      %inserted_slice = tensor.insert_slice %102 into %arg8[%105, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<4x16xf32>
      %106 = tensor.empty() : tensor<1x16x16xf32>
      %107 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<16x16xf32>) outs(%106 : tensor<1x16x16xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<1x16x16xf32>
      %extracted_20 = tensor.extract %66[] : tensor<i32>
      %108 = arith.index_cast %extracted_20 : i32 to index
      %109 = arith.maxsi %108, %c0 : index
      %110 = arith.minsi %109, %c3 : index
      %inserted_slice_21 = tensor.insert_slice %107 into %arg9[%110, 0, 0] [1, 16, 16] [1, 1, 1] : tensor<1x16x16xf32> into tensor<4x16x16xf32>
      scf.yield %100, %inserted_slice, %inserted_slice_21 : tensor<8x16xf32>, tensor<4x16xf32>, tensor<4x16x16xf32>
    }
    %19 = tensor.empty() : tensor<4x16xf32>
    %20 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%18#1 : tensor<4x16xf32>) outs(%19 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.mulf %in, %in : f32
      linalg.yield %61 : f32
    } -> tensor<4x16xf32>
    %21 = tensor.empty() : tensor<f32>
    %22 = linalg.fill ins(%cst_5 : f32) outs(%21 : tensor<f32>) -> tensor<f32>
    %23 = linalg.generic {indexing_maps = [#map2, #map5], iterator_types = ["reduction", "reduction"]} ins(%20 : tensor<4x16xf32>) outs(%22 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.addf %out, %in : f32
      linalg.yield %61 : f32
    } -> tensor<f32>
    %24 = tensor.empty() : tensor<f32>
    %25 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%23 : tensor<f32>) outs(%24 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.addf %in, %cst_5 : f32
      linalg.yield %61 : f32
    } -> tensor<f32>
    %26 = tensor.empty() : tensor<4x16x16xf32>
    %27 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18#2 : tensor<4x16x16xf32>) outs(%26 : tensor<4x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.mulf %in, %in : f32
      linalg.yield %61 : f32
    } -> tensor<4x16x16xf32>
    %28 = tensor.empty() : tensor<f32>
    %29 = linalg.fill ins(%cst_5 : f32) outs(%28 : tensor<f32>) -> tensor<f32>
    %30 = linalg.generic {indexing_maps = [#map4, #map8], iterator_types = ["reduction", "reduction", "reduction"]} ins(%27 : tensor<4x16x16xf32>) outs(%29 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.addf %out, %in : f32
      linalg.yield %61 : f32
    } -> tensor<f32>
    %31 = tensor.empty() : tensor<f32>
    %32 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = []} ins(%25, %30 : tensor<f32>, tensor<f32>) outs(%31 : tensor<f32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %61 = arith.addf %in, %in_9 : f32
      linalg.yield %61 : f32
    } -> tensor<f32>
    %33 = tensor.empty() : tensor<f32>
    %34 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%32 : tensor<f32>) outs(%33 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = math.sqrt %in : f32
      linalg.yield %61 : f32
    } -> tensor<f32>
    %35 = tensor.empty() : tensor<4x16xf32>
    %36 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<4x16xf32>) outs(%35 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.mulf %in, %cst_1 : f32
      linalg.yield %61 : f32
    } -> tensor<4x16xf32>
    %37 = tensor.empty() : tensor<f32>
    %38 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%34 : tensor<f32>) outs(%37 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.maximumf %in, %cst_4 : f32
      linalg.yield %61 : f32
    } -> tensor<f32>
    %39 = tensor.empty() : tensor<4x16xf32>
    %40 = linalg.generic {indexing_maps = [#map5, #map2], iterator_types = ["parallel", "parallel"]} ins(%38 : tensor<f32>) outs(%39 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x16xf32>
    %41 = tensor.empty() : tensor<4x16xf32>
    %42 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%18#1, %40 : tensor<4x16xf32>, tensor<4x16xf32>) outs(%41 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %61 = arith.divf %in, %in_9 : f32
      linalg.yield %61 : f32
    } -> tensor<4x16xf32>
    %43 = tensor.empty() : tensor<4x16xf32>
    %44 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%36, %42 : tensor<4x16xf32>, tensor<4x16xf32>) outs(%43 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %61 = arith.addf %in, %in_9 : f32
      linalg.yield %61 : f32
    } -> tensor<4x16xf32>
    %45 = tensor.empty() : tensor<4x16x16xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg3 : tensor<4x16x16xf32>) outs(%45 : tensor<4x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.mulf %in, %cst_1 : f32
      linalg.yield %61 : f32
    } -> tensor<4x16x16xf32>
    %47 = tensor.empty() : tensor<4x16x16xf32>
    %48 = linalg.generic {indexing_maps = [#map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%38 : tensor<f32>) outs(%47 : tensor<4x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4x16x16xf32>
    %49 = tensor.empty() : tensor<4x16x16xf32>
    %50 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18#2, %48 : tensor<4x16x16xf32>, tensor<4x16x16xf32>) outs(%49 : tensor<4x16x16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %61 = arith.divf %in, %in_9 : f32
      linalg.yield %61 : f32
    } -> tensor<4x16x16xf32>
    %51 = tensor.empty() : tensor<4x16x16xf32>
    %52 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46, %50 : tensor<4x16x16xf32>, tensor<4x16x16xf32>) outs(%51 : tensor<4x16x16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %61 = arith.addf %in, %in_9 : f32
      linalg.yield %61 : f32
    } -> tensor<4x16x16xf32>
    %53 = tensor.empty() : tensor<4x16xf32>
    %54 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%44 : tensor<4x16xf32>) outs(%53 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.mulf %in, %cst_0 : f32
      linalg.yield %61 : f32
    } -> tensor<4x16xf32>
    %55 = tensor.empty() : tensor<4x16xf32>
    %56 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg0, %54 : tensor<4x16xf32>, tensor<4x16xf32>) outs(%55 : tensor<4x16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %61 = arith.subf %in, %in_9 : f32
      linalg.yield %61 : f32
    } -> tensor<4x16xf32>
    %57 = tensor.empty() : tensor<4x16x16xf32>
    %58 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%52 : tensor<4x16x16xf32>) outs(%57 : tensor<4x16x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %61 = arith.mulf %in, %cst_0 : f32
      linalg.yield %61 : f32
    } -> tensor<4x16x16xf32>
    %59 = tensor.empty() : tensor<4x16x16xf32>
    %60 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %58 : tensor<4x16x16xf32>, tensor<4x16x16xf32>) outs(%59 : tensor<4x16x16xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %61 = arith.subf %in, %in_9 : f32
      linalg.yield %61 : f32
    } -> tensor<4x16x16xf32>
    return %11, %56, %60, %44, %52 : tensor<f32>, tensor<4x16xf32>, tensor<4x16x16xf32>, tensor<4x16xf32>, tensor<4x16x16xf32>
  }
}

