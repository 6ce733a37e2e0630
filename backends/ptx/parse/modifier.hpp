// The modifiers that may follow an opcode, each after a dot: ".rn", ".ftz", ".global", ".v2", ".lt".
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::ptx {

// Enumerator and spelling, by meaning: rounding; numeric mode; part of a product; state space and vectors; ordering and
// scope; caches (no effect on results); comparison; boolean and atomic operations; warp and barrier forms; the rest.
// The formatter breaks this list differently each time.
// clang-format off
#define ASSAY_PTX_MODIFIERS(X)                                                                                         \
  X(kRn, "rn")                                                                                                         \
  X(kRz, "rz") X(kRm, "rm") X(kRp, "rp") X(kRni, "rni") X(kRzi, "rzi") X(kRmi, "rmi") X(kRpi, "rpi") X(kFtz, "ftz") X( \
      kSat, "sat") X(kApprox, "approx") X(kFull, "full") X(kNoftz, "noftz") X(kNaN, "NaN") X(kRelu, "relu")            \
      X(kCc, "cc") X(kLo, "lo") X(kHi, "hi") X(kWide, "wide") X(kGlobal, "global") X(kShared, "shared") X(             \
          kSharedCta, "shared::cta") X(kLocal, "local") X(kConst, "const") X(kParam, "param") X(kTo, "to")             \
          X(kV2, "v2") X(kV4, "v4") X(kNc, "nc") X(kVolatile, "volatile") X(kWeak, "weak") X(kRelaxed, "relaxed") X(   \
              kAcquire, "acquire") X(kRelease, "release") X(kAcqRel, "acq_rel") X(kSc, "sc") X(kCta, "cta")            \
              X(kCluster, "cluster") X(kGpu, "gpu") X(kSys, "sys") X(kGl, "gl") X(kCa, "ca") X(kCg, "cg") X(kCs, "cs") \
                  X(kCv, "cv") X(kLu, "lu") X(kWb, "wb") X(kWt, "wt") X(kL1EvictNormal, "L1::evict_normal")            \
                      X(kL1EvictUnchanged, "L1::evict_unchanged") X(kL1EvictFirst, "L1::evict_first")                  \
                          X(kL1EvictLast, "L1::evict_last") X(kL1NoAllocate, "L1::no_allocate") X(                     \
                              kL2Prefetch64, "L2::64B") X(kL2Prefetch128, "L2::128B")                                  \
                              X(kL2Prefetch256, "L2::256B") X(kL1, "L1") X(kL2, "L2") X(kEq, "eq") X(kNe, "ne")        \
                                  X(kLt, "lt") X(kLe, "le") X(kGt, "gt") X(kGe, "ge") X(kLs, "ls") X(kHs, "hs")        \
                                      X(kEqu, "equ") X(kNeu, "neu") X(kLtu, "ltu") X(kLeu, "leu") X(kGtu, "gtu")       \
                                          X(kGeu, "geu") X(kNum, "num") X(kNan, "nan") X(kAnd, "and") X(kOr, "or")     \
                                              X(kXor, "xor") X(kPopc, "popc")                                          \
                                                  X(kAdd, "add") X(kInc, "inc") X(kDec, "dec") X(kMin, "min")          \
                                                      X(kMax, "max") X(kExch, "exch") X(kCas, "cas") X(kSync, "sync")  \
                                                          X(kAligned, "aligned") X(kUni, "uni") X(kUp, "up")           \
                                                              X(kDown, "down") X(kBfly, "bfly") X(kIdx, "idx") X(      \
                                                                  kAll, "all") X(kAny, "any") X(kBallot, "ballot")     \
                                                                  X(kWarp, "warp") X(kRed, "red") X(kArrive, "arrive") \
                                                                      X(kL, "l") X(kR, "r") X(kWrap, "wrap")           \
                                                                          X(kClamp, "clamp") X(kShiftamt, "shiftamt")  \
                                                                              X(kF4e, "f4e") X(kB4e, "b4e")            \
                                                                                  X(kRc8, "rc8") X(kEcl, "ecl")        \
                                                                                      X(kEcr, "ecr") X(kRc16, "rc16")         \
  X(kFinite, "finite") X(kInfinite, "infinite") X(kNumber, "number") X(kNotanumber, "notanumber")                      \
  X(kNormal, "normal") X(kSubnormal, "subnormal")                                                                      \
  X(kAsync, "async") X(kCommitGroup, "commit_group") X(kWaitGroup, "wait_group") X(kWaitAll, "wait_all")               \
  X(kM8n8, "m8n8") X(kX1, "x1") X(kX2, "x2") X(kX4, "x4") X(kTrans, "trans") \
  X(kM8n8k4, "m8n8k4") X(kM8n8k16, "m8n8k16") X(kM16n8k4, "m16n8k4") X(kM16n8k8, "m16n8k8") \
  X(kM16n8k16, "m16n8k16") X(kM16n8k32, "m16n8k32") X(kRow, "row") X(kCol, "col") X(kSatfinite, "satfinite") \
  X(kM16n16k16, "m16n16k16") X(kM32n8k16, "m32n8k16") X(kM8n32k16, "m8n32k16") X(kM16n16k8, "m16n16k8") \
  X(kLoad, "load") X(kStore, "store") X(kMma, "mma") X(kA, "a") X(kB, "b") X(kC, "c") X(kD, "d") X(kRna, "rna") \
  X(kMmaAsync, "mma_async") X(kFence, "fence") X(kProxy, "proxy") X(kAlias, "alias") \
  X(kSharedCluster, "shared::cluster") X(kMbarrierInit, "mbarrier_init") \
  X(kInit, "init") X(kInval, "inval") X(kArriveDrop, "arrive_drop") X(kExpectTx, "expect_tx") \
  X(kCompleteTx, "complete_tx") X(kNoComplete, "noComplete") X(kTestWait, "test_wait") X(kTryWait, "try_wait") \
  X(kParity, "parity") X(kMbarrier, "mbarrier") X(kNoinc, "noinc") X(kBulk, "bulk") \
  X(kCompletesTransaction, "mbarrier::complete_tx::bytes") X(kBulkGroup, "bulk_group") X(kRead, "read") \
  X(kL2CacheHint, "L2::cache_hint") X(kWait, "wait") X(kLaunchDependents, "launch_dependents") \
  X(kXorsign, "xorsign") X(kAbs, "abs") \
  X(kTensor, "tensor") X(kRank1, "1d") X(kRank2, "2d") X(kRank3, "3d") X(kRank4, "4d") X(kRank5, "5d") \
  X(kTile, "tile") X(kMulticast, "multicast::cluster") X(kOneBlockGroup, "cta_group::1") X(kReduce, "reduce") \
  X(kPrefetchTensor, "prefetch") X(kTensorMap, "tensormap") X(kTensorMapProxy, "tensormap::generic") \
  X(kReplace, "replace") X(kCopyAndFence, "cp_fenceproxy") X(kMapObject, "b1024") \
  X(kGlobalAddress, "global_address") X(kRankField, "rank") X(kBoxDim, "box_dim") X(kGlobalDim, "global_dim") \
  X(kGlobalStride, "global_stride") X(kElementStride, "element_stride") X(kElementType, "elemtype") \
  X(kInterleaveLayout, "interleave_layout") X(kSwizzleMode, "swizzle_mode") \
  X(kSwizzleAtomicity, "swizzle_atomicity") X(kFillMode, "fill_mode") \
  X(kAlloc, "alloc") X(kDealloc, "dealloc") X(kRelinquishAllocPermit, "relinquish_alloc_permit") X(kLd, "ld") \
  X(kSt, "st") X(kWaitLd, "wait::ld") X(kWaitSt, "wait::st") X(kCommit, "commit") X(kCp, "cp") X(kWs, "ws") \
  X(kFenceBefore, "fence::before_thread_sync") X(kFenceAfter, "fence::after_thread_sync") \
  X(kArriveOne, "mbarrier::arrive::one") \
  X(kKindF16, "kind::f16") X(kKindTf32, "kind::tf32") X(kKindF8f6f4, "kind::f8f6f4") X(kKindI8, "kind::i8") \
  X(k32x32b, "32x32b") X(k16x64b, "16x64b") X(k16x128b, "16x128b") X(k16x256b, "16x256b") X(k16x32bx2, "16x32bx2") \
  X(kX8, "x8") X(kX16, "x16") X(kX32, "x32") X(kX64, "x64") X(kX128, "x128") X(kPack16, "pack::16b") \
  X(kUnpack16, "unpack::16b") X(k128x256b, "128x256b") X(k128x128b, "128x128b") X(k64x128b, "64x128b") \
  X(k32x128b, "32x128b") X(kWarps02And13, "warpx2::02_13") X(kWarps01And23, "warpx2::01_23") X(kWarpx4, "warpx4") \
  X(kCollectorAFill, "collector::a::fill") X(kCollectorAUse, "collector::a::use") \
  X(kCollectorALastuse, "collector::a::lastuse") X(kCollectorADiscard, "collector::a::discard")
// clang-format on

/// The modifiers that the parser knows.
enum class Modifier : std::uint16_t {
#define ASSAY_PTX_ENUMERATOR(enumerator, spelling) enumerator,
  ASSAY_PTX_MODIFIERS(ASSAY_PTX_ENUMERATOR)
#undef ASSAY_PTX_ENUMERATOR
};

inline constexpr std::array kModifierNames = {
#define ASSAY_PTX_NAME(enumerator, spelling) std::string_view{spelling},
    ASSAY_PTX_MODIFIERS(ASSAY_PTX_NAME)
#undef ASSAY_PTX_NAME
};
#undef ASSAY_PTX_MODIFIERS

/// Returns the modifier with this spelling, without the dot.
constexpr std::optional<Modifier> find_modifier(std::string_view name) {
  for (std::size_t i = 0; i < kModifierNames.size(); ++i) {
    if (kModifierNames[i] == name) return static_cast<Modifier>(i);
  }
  return std::nullopt;
}

/// A set of modifiers; their order in the text has no meaning.
class Modifiers {
 public:
  [[nodiscard]] bool has(Modifier modifier) const { return bits_.test(static_cast<std::size_t>(modifier)); }
  void add(Modifier modifier) { bits_.set(static_cast<std::size_t>(modifier)); }
  /// The first of the candidates that is present.
  template <class Candidates>
  [[nodiscard]] std::optional<Modifier> first_of(const Candidates& candidates) const {
    for (const Modifier candidate : candidates) {
      if (has(candidate)) return candidate;
    }
    return std::nullopt;
  }
  friend bool operator==(const Modifiers&, const Modifiers&) = default;

 private:
  std::bitset<kModifierNames.size()> bits_;
};

/// The extents of a matrix product: (m by k) times (k by n).
struct MatrixShape {
  unsigned m = 0;
  unsigned n = 0;
  unsigned k = 0;
  friend bool operator==(MatrixShape, MatrixShape) = default;
};

/// Returns the shape of a matrix product from the modifiers of an instruction, such as "m16n8k8".
constexpr std::optional<MatrixShape> find_matrix_shape(const Modifiers& modifiers) {
  struct NamedShape {
    Modifier modifier;
    MatrixShape shape;
  };
  constexpr std::array kShapes = {
      NamedShape{Modifier::kM8n8k4, {8, 8, 4}},       NamedShape{Modifier::kM8n8k16, {8, 8, 16}},
      NamedShape{Modifier::kM16n8k4, {16, 8, 4}},     NamedShape{Modifier::kM16n8k8, {16, 8, 8}},
      NamedShape{Modifier::kM16n8k16, {16, 8, 16}},   NamedShape{Modifier::kM16n8k32, {16, 8, 32}},
      NamedShape{Modifier::kM16n16k16, {16, 16, 16}}, NamedShape{Modifier::kM32n8k16, {32, 8, 16}},
      NamedShape{Modifier::kM8n32k16, {8, 32, 16}},   NamedShape{Modifier::kM16n16k8, {16, 16, 8}}};
  for (const NamedShape& named : kShapes) {
    if (modifiers.has(named.modifier)) return named.shape;
  }
  return std::nullopt;
}

}  // namespace assay::ptx
