// Fused ops on narrow types; the sum has 16 running results.
func.func @step(%x: tensor<72x40xbf16>, %y: tensor<40x64xbf16>, %b: tensor<64xbf16>, %h: tensor<64xf16>, %w: tensor<8x256xbf16>) -> (tensor<72x64xbf16>, tensor<8xbf16>, tensor<64xf16>) {
  %zero = arith.constant 0.0 : bf16
  %square = tensor.empty() : tensor<72x64xbf16>
  %none = linalg.fill ins(%zero : bf16) outs(%square : tensor<72x64xbf16>) -> tensor<72x64xbf16>
  %product = linalg.matmul ins(%x, %y : tensor<72x40xbf16>, tensor<40x64xbf16>) outs(%none : tensor<72x64xbf16>) -> tensor<72x64xbf16>
  %bias = linalg.broadcast ins(%b : tensor<64xbf16>) outs(%square : tensor<72x64xbf16>) dimensions = [0]
  %sum = arith.addf %product, %bias : tensor<72x64xbf16>
  %tanh = math.tanh %sum : tensor<72x64xbf16>
  %gate = arith.mulf %tanh, %sum : tensor<72x64xbf16>
  %column = tensor.empty() : tensor<8xbf16>
  %nothing = linalg.fill ins(%zero : bf16) outs(%column : tensor<8xbf16>) -> tensor<8xbf16>
  %scaled = arith.mulf %w, %w : tensor<8x256xbf16>
  %total = linalg.reduce { arith.addf } ins(%scaled : tensor<8x256xbf16>) outs(%nothing : tensor<8xbf16>) dimensions = [1]
  %twice = arith.addf %h, %h : tensor<64xf16>
  %cube = arith.mulf %twice, %h : tensor<64xf16>
  %rest = arith.subf %cube, %h : tensor<64xf16>
  return %gate, %total, %rest : tensor<72x64xbf16>, tensor<8xbf16>, tensor<64xf16>
}
