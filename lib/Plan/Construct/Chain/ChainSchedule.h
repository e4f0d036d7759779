//===- ChainSchedule.h - Schedules of a chain as kernels --------*- C++ -*-===//
//
// Strategies for chains speak of stages: save the input of one, run one forward
// and keep all reads of its backward part, run its backward part. This class
// turns such a schedule into a list of kernels. The kept values decide the
// remats.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINSCHEDULE_H
#define CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINSCHEDULE_H

#include "Plan/Model/KernelGraph.h"

namespace ckpt::plan {

struct ChainStep {
  enum class Kind : uint8_t {
    /// Runs forward up to the stage and keeps its input.
    SaveInput,
    DropInput,
    /// Runs the stage forward and keeps the reads of its backward part, and the
    /// input of the next stage.
    SaveTape,
    /// Runs the backward part of the stage; its tape and the input that went
    /// with it are dropped.
    Backward,
    /// The same if the input of the stage itself is not needed any more: both
    /// are dropped as the backward part reads them last. The input that went
    /// with the tape has been dropped so before.
    BackwardFromInput,
  };
  Kind kind;
  int32_t stage;
};

/// The kernels of a plan, by stage.
class KernelChain {
public:
  /// The time at which backward nodes run that could run for several stages:
  /// early, or together with the stage that makes their reads.
  enum class Backward : uint8_t { Early, Late };
  /// \p stageOfOp is only asked for ops of forward nodes.
  KernelChain(const KernelGraph &graph, const std::vector<int32_t> &stageOfOp,
              int32_t count, Backward backward = Backward::Early);

  const KernelGraph &graph;
  int32_t count;
  /// By node. Backward nodes belong to no stage before the makers of values
  /// that they or their dependents read, if these are not small.
  std::vector<int32_t> stageOf;
  /// By stage: values of earlier stages that its forward nodes and later ones
  /// read, and their backward parts.
  std::vector<std::vector<ValueId>> inputs;
  /// By stage: values of its forward nodes that backward nodes of it and of
  /// earlier stages read.
  std::vector<std::vector<ValueId>> tapes;
  /// By value: small, and read by backward nodes of stages before the one that
  /// makes it; kept all the time.
  std::vector<char> alwaysHeld;

  /// Whether a forward node that may repeat makes \p value from nothing: it is
  /// never kept, and each reader has it made.
  bool isSource(ValueId value) const;
  bool isBackward(ValueId value) const {
    return graph.nodes[graph.maker[value]].backward;
  }

private:
  int64_t largestSlot = 0;
  void assignForward(const std::vector<int32_t> &stageOfOp);
  bool isSmall(ValueId value) const;
  std::vector<int32_t> latestStages() const;
  void assignBackward(Backward backward);
  int32_t lastForwardStage(ValueId value) const;
  int32_t lastStage(ValueId value) const;
  void collectInputs();
  void collectTapes();
};

/// Follows the steps; every schedule of the backward parts of all stages, last
/// stage first, gives a legal list.
std::vector<KernelRun> followSteps(const KernelChain &chain,
                                   const std::vector<ChainStep> &steps);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINSCHEDULE_H
