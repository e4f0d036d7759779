// Recomputes attention and keeps embeddings.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @ckpt_policy(%function: !transform.any_op {transform.readonly}) {
    %attention = transform.structured.match ops{["ckpt.layer"]}
        attributes{kind = #ckpt.kind<attention>} in %function
        : (!transform.any_op) -> !transform.any_op
    %recompute = transform.param.constant #ckpt.pin<recompute> -> !transform.any_param
    transform.annotate %attention "pin" = %recompute : !transform.any_op, !transform.any_param
    %embedding = transform.structured.match ops{["ckpt.layer"]}
        attributes{kind = #ckpt.kind<embedding>} in %function
        : (!transform.any_op) -> !transform.any_op
    %save = transform.param.constant #ckpt.pin<save> -> !transform.any_param
    transform.annotate %embedding "pin" = %save : !transform.any_op, !transform.any_param
    transform.yield
  }
}
