//===- ChainSchedule.h - Schedules of a chain as kernels --------*- C++ -*-===//
//
// Strategies for chains speak of stages: save the input of one, run one forward
// and keep all that its backward part reads, run its backward part. Here such
// a schedule becomes a list of kernels. What has to be made again follows from
// what the steps keep.
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
    /// Runs the stage forward and keeps what its backward part reads, and the
    /// input of the next stage.
    SaveTape,
    /// Runs the backward part of the stage; its tape and the input that went
    /// with it are dropped.
    Backward,
    /// The same where the input of the stage itself is not needed any more, so
    /// that both are dropped as the backward part reads them last. The input
    /// that went with the tape has been dropped so before.
    BackwardFromInput,
  };
  Kind kind;
  int32_t stage;
};

/// The kernels of a plan, by stage.
class KernelChain {
public:
  /// When backward nodes run that could run for several stages: as soon as they
  /// can, or together with the stage that makes what they read.
  enum class Backward : uint8_t { Early, Late };
  /// \p stageOfOp is only asked for ops of forward nodes.
  KernelChain(const KernelGraph &graph, const std::vector<int32_t> &stageOfOp,
              int32_t count, Backward backward = Backward::Early);

  const KernelGraph &graph;
  int32_t count;
  /// By node. Backward nodes belong to no stage before those that make what
  /// they or their dependents read, if that is not small.
  std::vector<int32_t> stageOf;
  /// By stage: what its forward nodes and later ones, and their backward parts,
  /// read of earlier ones.
  std::vector<std::vector<ValueId>> inputs;
  /// By stage: what backward nodes of it and of earlier stages read of what its
  /// forward nodes make.
  std::vector<std::vector<ValueId>> tapes;
  /// By value: small, and read by backward nodes of stages before the one that
  /// makes it; kept all the time.
  std::vector<char> alwaysHeld;

  /// Whether \p value is made from nothing, by a forward node that may repeat:
  /// nobody keeps it, and whoever reads it has it made.
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
