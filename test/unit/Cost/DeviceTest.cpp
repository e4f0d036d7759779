//===- DeviceTest.cpp - Devices and the work of ops -----------------------===//

#include "ckpt/Cost/Device.h"
#include "ckpt/Cost/Tiling.h"
#include "ckpt/ExternalModels/ExternalModels.h"
#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace ckpt;

namespace {

std::string textOf(const Device &device) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printDevice(device, stream);
  return text;
}

TEST(DeviceTest, FilesHoldWhatWasPrinted) {
  for (Device device : knownDevices()) {
    device.lanes = 8;
    device.caches = {{1000000, 70000}, {30000000, 30000}};
    device.rate(WorkType::F16, WorkKind::HyperbolicTangent) = 77;
    llvm::Expected<Device> read = parseDevice(textOf(device), "d.json");
    ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
    EXPECT_EQ(read->name, device.name);
    EXPECT_EQ(read->rates, device.rates);
    EXPECT_EQ(read->caches.size(), 2u);
    EXPECT_EQ(textOf(*read), textOf(device));
  }
}

TEST(DeviceTest, EveryKindHasItsName) {
  for (unsigned kind = 0; kind < workKindCount; ++kind)
    EXPECT_EQ(workKindNamed(nameOf(static_cast<WorkKind>(kind))),
              static_cast<WorkKind>(kind));
  EXPECT_EQ(workKindNamed("tanh"), std::nullopt);
  EXPECT_EQ(workTypeNamed("f8"), std::nullopt);
}

TEST(DeviceTest, WhatHasNoRateIsElementwiseOrFree) {
  Device device = knownDevices().front(); // 20 GFLOP/s elementwise
  auto time = [&](WorkKind kind) {
    return device.computePs(Work{WorkType::F32, kind, 1000});
  };
  EXPECT_EQ(time(WorkKind::Exponential), 50000);
  EXPECT_EQ(time(WorkKind::Gather), 0);
  device.rate(WorkType::F32, WorkKind::Exponential) = 1000;
  device.rate(WorkType::F32, WorkKind::Gather) = 500;
  EXPECT_EQ(time(WorkKind::Exponential), 1000000);
  EXPECT_EQ(time(WorkKind::Gather), 2000000);
  EXPECT_EQ(device.computePs(Work{WorkType::F64, WorkKind::Exponential, 1000}),
            50000);
}

TEST(DeviceTest, HugeWorkSaturates) {
  Device device = knownDevices().front();
  device.rate(WorkType::F32, WorkKind::Elementwise) = 1;
  EXPECT_EQ(
      device.computePs(Work{WorkType::F32, WorkKind::Elementwise, INT64_MAX}),
      INT64_MAX);
}

/// Work of the last op of a function with \p arguments.
class WorkTest : public ::testing::Test {
protected:
  WorkTest() {
    mlir::DialectRegistry registry;
    registry.insert<CkptDialect, mlir::arith::ArithDialect,
                    mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                    mlir::math::MathDialect, mlir::tensor::TensorDialect>();
    registerExternalModels(registry);
    context.appendDialectRegistry(registry);
  }

  std::map<std::string, int64_t> workOfLast(const std::string &arguments,
                                            const std::string &body,
                                            int64_t lanes = 16,
                                            bool inCache = true) {
    module = mlir::parseSourceString<ModuleOp>(
        "func.func @f(" + arguments + ") {\n" + body + "\nreturn\n}", &context);
    std::map<std::string, int64_t> amounts;
    if (!module)
      return amounts;
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    Operation *op = function.front().getTerminator()->getPrevNode();
    for (const Work &part : workOf(op, {lanes, inCache}))
      amounts[(nameOf(part.type) + "." + nameOf(part.kind)).str()] =
          part.amount;
    return amounts;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<ModuleOp> module;
};

using Amounts = std::map<std::string, int64_t>;

TEST_F(WorkTest, ContractionsWithoutTilesAreTheirFlops) {
  EXPECT_EQ(workOfLast("%a: tensor<10x20xbf16>, %b: tensor<20x40xbf16>, %c: "
                       "tensor<10x40xbf16>",
                       "%0 = linalg.matmul ins(%a, %b : tensor<10x20xbf16>, "
                       "tensor<20x40xbf16>) outs(%c : tensor<10x40xbf16>) -> "
                       "tensor<10x40xbf16>",
                       /*lanes=*/0),
            (Amounts{{"f16.contraction", 2 * 10 * 20 * 40}}));
}

/// 16 lanes make panels of 32 columns and tiles of 8 rows: 17 rows are cut into
/// tiles of 6, which wait for eight vectors no longer, and 40 columns make two
/// panels, of which the second is packed one by one.
TEST_F(WorkTest, ContractionsAreCountedInWholeTiles) {
  std::string arguments =
      "%a: tensor<17x20xf32>, %b: tensor<20x40xf32>, %c: tensor<17x40xf32>";
  std::string matmul = "%0 = linalg.matmul ins(%a, %b : tensor<17x20xf32>, "
                       "tensor<20x40xf32>) outs(%c : tensor<17x40xf32>) -> "
                       "tensor<17x40xf32>";
  Amounts amounts = {{"f32.contraction", 2 * 18 * 64 * 20},
                     {"f32.spread", 2 * 18 * 20},
                     {"f32.sums", 2 * 18 * 64},
                     {"f32.pack", 20 * 32},
                     {"f32.pack-gathered", 20 * 32}};
  EXPECT_EQ(workOfLast(arguments, matmul), amounts);
  amounts["f32.fetch"] = 4 * (17 * 20 + 20 * 40 + 17 * 40);
  EXPECT_EQ(workOfLast(arguments, matmul, 16, /*inCache=*/false), amounts);
}

/// The left operand is stored by columns, in rows of half a page, so that two
/// of the 20 steps share one. The right one is stored by columns too, and
/// packed in squares.
TEST_F(WorkTest, ViewsDecideTheOrderInMemory) {
  EXPECT_EQ(
      workOfLast("%a: tensor<20x512xf32>, %b: tensor<32x20xf32>, %c: "
                 "tensor<512x32xf32>, %e: tensor<512x20xf32>, %g: "
                 "tensor<20x32xf32>",
                 "%0 = linalg.transpose ins(%a : tensor<20x512xf32>) outs(%e : "
                 "tensor<512x20xf32>) permutation = [1, 0]\n"
                 "%1 = linalg.transpose ins(%b : tensor<32x20xf32>) outs(%g : "
                 "tensor<20x32xf32>) permutation = [1, 0]\n"
                 "%2 = linalg.matmul ins(%0, %1 : tensor<512x20xf32>, "
                 "tensor<20x32xf32>) outs(%c : tensor<512x32xf32>) -> "
                 "tensor<512x32xf32>"),
      (Amounts{{"f32.contraction", 2 * 528 * 32 * 20},
               {"f32.spread", 528 * 20},
               {"f32.page", 66 * 20 / 2},
               {"f32.sums", 2 * 528 * 32},
               {"f32.pack-transposed", 3 * 20 * 32}}));
}

/// Tiles of 6 rows by 64 columns read the left operand half as often: 516 rows
/// for each of four panels.
TEST_F(WorkTest, TilesAreWideWhereTheLeftOperandLiesAlongItsRows) {
  Amounts amounts =
      workOfLast("%a: tensor<128x512xf32>, %b: tensor<128x256xf32>, %c: "
                 "tensor<512x256xf32>, %e: tensor<512x128xf32>",
                 "%0 = linalg.transpose ins(%a : tensor<128x512xf32>) outs(%e "
                 ": tensor<512x128xf32>) permutation = [1, 0]\n"
                 "%1 = linalg.matmul ins(%0, %b : tensor<512x128xf32>, "
                 "tensor<128x256xf32>) outs(%c : tensor<512x256xf32>) -> "
                 "tensor<512x256xf32>");
  EXPECT_EQ(amounts["f32.spread"], 4 * 516 * 128);
}

TEST(TilingTest, TasksMakeGroupsOfPanelsWhereRowsLeaveTheCache) {
  EXPECT_EQ(Tiling({1, 512, 768, 384}, 4, 16).groupPanels, 1);
  EXPECT_EQ(Tiling({1, 512, 768, 3072}, 4, 16).groupPanels, 6);
  EXPECT_EQ(Tiling({1, 64, 768, 50257}, 4, 16).groupPanels, 24);
  EXPECT_EQ(Tiling({1, 512, 768, 50257}, 4, 16, /*threads=*/true).groupPanels,
            1);
}

TEST(TilingTest, ThreadsGetMoreTasks) {
  auto tasks = [](bool threads) {
    Tiling tiling({1, 512, 768, 3072}, 4, 16, threads);
    return tiling.rowBlocks * tiling.groups;
  };
  EXPECT_EQ(tasks(false), 4);
  EXPECT_EQ(tasks(true), 72);
}

TEST(TilingTest, BlocksOfFewStepsHaveFewRows) {
  EXPECT_EQ(Tiling({1, 512, 64, 384}, 4, 16).blockRows, 512);
  EXPECT_LE(Tiling({1, 512, 64, 64}, 4, 16).blockRows, 192);
}

TEST(TilingTest, TilesWidenWhereTheLeftOperandLiesAlongItsRows) {
  auto panel = [](int64_t columns, int64_t lanes, bool leftAlongRows) {
    return Tiling({1, 384, columns, 512, leftAlongRows}, 4, lanes).panel;
  };
  EXPECT_EQ(panel(1536, 16, true), 64);
  EXPECT_EQ(panel(1536, 16, false), 32);
  EXPECT_EQ(panel(1536, 8, true), 16);
  // Half of the last panel would be for nothing.
  EXPECT_EQ(panel(96, 16, true), 32);
  // The left operand stays in the nearest cache.
  EXPECT_EQ(Tiling({1, 64, 64, 64, true}, 4, 16).panel, 32);
}

/// The gradient of a weight of 512 x 32 is made as that of 32 x 512, unless its
/// inits are values of their own.
TEST_F(WorkTest, WideGradientsOfWeightsAreMadeTransposed) {
  auto gradient = [&](StringRef rows, StringRef columns, bool isFilled) {
    std::string left = ("tensor<20x" + rows + "xf32>").str();
    std::string right = ("tensor<20x" + columns + "xf32>").str();
    std::string out = ("tensor<" + rows + "x" + columns + "xf32>").str();
    return workOfLast(
        "%a: " + left + ", %b: " + right + ", %c: " + out + ", %z: f32",
        "%f = linalg.fill ins(%z : f32) outs(%c : " + out + ") -> " + out +
            "\n%0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> "
            "(k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> "
            "(m, n)>] ins(%a, %b : " +
            left + ", " + right + ") outs(" + (isFilled ? "%f" : "%c") + " : " +
            out + ") -> " + out);
  };
  Amounts transposed = gradient("32", "512", /*isFilled=*/true);
  EXPECT_EQ(gradient("512", "32", /*isFilled=*/true), transposed);
  EXPECT_NE(gradient("512", "32", /*isFilled=*/false), transposed);
}

/// The gradient of a filter: 512 channels are rows, in lines of half a page,
/// three windows of each.
TEST_F(WorkTest, PaddingKeepsTheOrderInMemory) {
  EXPECT_EQ(
      workOfLast("%a: tensor<1x20x512xf32>, %b: tensor<20x1x32xf32>, %c: "
                 "tensor<512x3x32xf32>, %e: tensor<512x20x1xf32>",
                 "%z = arith.constant 0.0 : f32\n"
                 "%0 = linalg.transpose ins(%a : tensor<1x20x512xf32>) "
                 "outs(%e : tensor<512x20x1xf32>) permutation = [2, 1, 0]\n"
                 "%1 = tensor.pad %0 low[0, 1, 0] high[0, 1, 0] {\n"
                 "^bb0(%i: index, %j: index, %k: index):\n"
                 "  tensor.yield %z : f32\n"
                 "} : tensor<512x20x1xf32> to tensor<512x22x1xf32>\n"
                 "%2 = linalg.conv_1d_nwc_wcf ins(%1, %b : "
                 "tensor<512x22x1xf32>, tensor<20x1x32xf32>) outs(%c : "
                 "tensor<512x3x32xf32>) -> tensor<512x3x32xf32>"),
      (Amounts{{"f32.contraction", 2 * 1536 * 32 * 20},
               {"f32.spread", 1536 * 20},
               {"f32.page", 192 * 20 / 2},
               {"f32.sums", 2 * 1536 * 32},
               {"f32.pack", 8 * 20 * 32}}));
}

/// An op on tensor<\p rows x \p columns> with a sum, an exp and a product,
/// whose second operand is read as \p map says.
std::string threeOps(const std::string &rows, const std::string &columns,
                     const std::string &map, const std::string &second) {
  std::string type = "tensor<" + rows + "x" + columns + "xf32>";
  return "%0 = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, "
         "affine_map<(r, c) -> (" +
         map +
         ")>, affine_map<(r, c) -> (r, c)>], iterator_types = [\"parallel\", "
         "\"parallel\"]} ins(%a, %b : " +
         type + ", " + second + ") outs(%a : " + type +
         ") {\n^bb0(%x: f32, %y: f32, %o: f32):\n"
         "%s = arith.addf %x, %y : f32\n"
         "%t = math.exp %s : f32\n"
         "%u = arith.mulf %t, %x : f32\n"
         "linalg.yield %u : f32\n} -> " +
         type;
}

Amounts threeOpsOn(int64_t executions) {
  return {{"f32.element", executions},
          {"f32.elementwise", 2 * executions},
          {"f32.exponential", executions}};
}

TEST_F(WorkTest, ArithmeticIsCountedByKind) {
  EXPECT_EQ(workOfLast("%a: tensor<4x16xf32>, %b: tensor<16xf32>",
                       threeOps("4", "16", "c", "tensor<16xf32>")),
            threeOpsOn(64));
}

TEST_F(WorkTest, NeighboursThatLieApartAreGathered) {
  Amounts amounts = threeOpsOn(64);
  amounts["f32.transpose"] = 64;
  EXPECT_EQ(workOfLast("%a: tensor<4x16xf32>, %b: tensor<16x4xf32>",
                       threeOps("4", "16", "c, r", "tensor<16x4xf32>")),
            amounts);
}

/// 20 columns are one vector and four elements alone, which take as long each.
TEST_F(WorkTest, RemaindersTakeAsLongAsVectors) {
  EXPECT_EQ(workOfLast("%a: tensor<4x20xf32>, %b: tensor<20xf32>",
                       threeOps("4", "20", "c", "tensor<20xf32>")),
            threeOpsOn(4 * (16 + 4 * 16)));
}

/// With 8 columns, vectors run over the ends of rows.
TEST_F(WorkTest, ShortRowsGatherWhatIsBroadcast) {
  Amounts amounts = threeOpsOn(32);
  EXPECT_EQ(workOfLast("%a: tensor<4x8xf32>, %b: tensor<4x8xf32>",
                       threeOps("4", "8", "r, c", "tensor<4x8xf32>")),
            amounts);
  amounts["f32.gather"] = 32;
  EXPECT_EQ(workOfLast("%a: tensor<4x8xf32>, %b: tensor<4xf32>",
                       threeOps("4", "8", "r", "tensor<4xf32>")),
            amounts);
}

/// The result of a transposed operand is made in its order, and written apart.
TEST_F(WorkTest, ResultsInAnotherOrderAreWrittenAlone) {
  Amounts amounts = threeOpsOn(16 * 32);
  amounts["f32.transpose"] = 16 * 32;
  EXPECT_EQ(
      workOfLast("%c: tensor<32x16xf32>, %e: tensor<16x32xf32>, %b: "
                 "tensor<16xf32>",
                 "%a = linalg.transpose ins(%c : tensor<32x16xf32>) outs(%e : "
                 "tensor<16x32xf32>) permutation = [1, 0]\n" +
                     threeOps("16", "32", "r", "tensor<16xf32>")),
      amounts);
}

TEST_F(WorkTest, TransposedProductsAreWrittenAlone) {
  Amounts amounts = threeOpsOn(16 * 32);
  amounts["f32.transpose-result"] = 16 * 32;
  EXPECT_EQ(
      workOfLast(
          "%l: tensor<32x8xf32>, %m: tensor<8x16xf32>, %n: tensor<32x16xf32>, "
          "%e: tensor<16x32xf32>, %b: tensor<16xf32>",
          "%p = linalg.matmul ins(%l, %m : tensor<32x8xf32>, tensor<8x16xf32>) "
          "outs(%n : tensor<32x16xf32>) -> tensor<32x16xf32>\n"
          "%a = linalg.transpose ins(%p : tensor<32x16xf32>) outs(%e : "
          "tensor<16x32xf32>) permutation = [1, 0]\n" +
              threeOps("16", "32", "r", "tensor<16xf32>")),
      amounts);
}

TEST_F(WorkTest, LookupsReadRowsOrElements) {
  auto lookUp = [&](const std::string &indices) {
    return workOfLast(
        "%t: tensor<16x16xf32>, %i: tensor<16xi32>, %c: tensor<16x16xf32>",
        "%0 = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r)>, "
        "affine_map<(r, c) -> (r, c)>], iterator_types = [\"parallel\", "
        "\"parallel\"]} ins(%i : tensor<16xi32>) outs(%c : "
        "tensor<16x16xf32>) {\n^bb0(%x: i32, %o: f32):\n"
        "%l = linalg.index 1 : index\n"
        "%k = arith.index_cast %x : i32 to index\n"
        "%v = tensor.extract %t[" +
            indices +
            "] : tensor<16x16xf32>\n"
            "linalg.yield %v : f32\n} -> tensor<16x16xf32>");
  };
  EXPECT_EQ(lookUp("%k, %l").count("f32.gather"), 0u);
  EXPECT_EQ(lookUp("%l, %k").at("f32.gather"), 256);
}

TEST_F(WorkTest, PadsMoveVectorsOrElements) {
  auto pad = [&](const std::string &source, const std::string &low,
                 const std::string &result) {
    return workOfLast("%a: " + source + ", %z: f32",
                      "%0 = tensor.pad %a low[" + low + "] high[" + low +
                          "] {\n^bb0(%i: index, %j: index):\ntensor.yield %z : "
                          "f32\n} : " +
                          source + " to " + result);
  };
  EXPECT_EQ(pad("tensor<4x16xf32>", "1, 0", "tensor<6x16xf32>"),
            (Amounts{{"f32.select", 96}}));
  EXPECT_EQ(pad("tensor<4x16xf32>", "0, 1", "tensor<4x18xf32>"),
            (Amounts{{"f32.select-apart", 72}}));
  EXPECT_EQ(pad("tensor<4x8xf32>", "1, 0", "tensor<6x8xf32>"),
            (Amounts{{"f32.select-apart", 2 * 48}}));
}

TEST_F(WorkTest, ReductionsAreCountedByDirection) {
  auto reduce = [&](const std::string &kept, const std::string &iterators,
                    const std::string &type, int64_t lanes = 16) {
    return workOfLast(
        "%a: tensor<4x16xf32>, %c: " + type,
        "%0 = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, "
        "affine_map<(r, c) -> (" +
            kept + ")>], iterator_types = [" + iterators +
            "]} ins(%a : tensor<4x16xf32>) outs(%c : " + type +
            ") {\n^bb0(%x: f32, %o: f32):\n%s = arith.addf %x, %o : f32\n"
            "linalg.yield %s : f32\n} -> " +
            type,
        lanes);
  };
  EXPECT_EQ(reduce("r", "\"parallel\", \"reduction\"", "tensor<4xf32>"),
            (Amounts{{"f32.elementwise", 64}, {"f32.reduce", 64}}));
  EXPECT_EQ(reduce("c", "\"reduction\", \"parallel\"", "tensor<16xf32>"),
            (Amounts{{"f32.elementwise", 64}, {"f32.reduce-apart", 64}}));
  // Rows of 16 hold no vector of 32.
  EXPECT_EQ(reduce("r", "\"parallel\", \"reduction\"", "tensor<4xf32>", 32),
            (Amounts{{"f32.elementwise", 64},
                     {"f32.reduce", 64},
                     {"f32.reduce-short", 64}}));
}

} // namespace
