#include "backends/ptx/parse/opcode.hpp"

#include <array>

namespace assay::ptx {

namespace {

constexpr std::string_view kIntegers = "u16 s16 u32 s32 u64 s64";
constexpr std::string_view kBits = "b16 b32 b64";
constexpr std::string_view kBitsOrPred = "pred b16 b32 b64";
constexpr std::string_view kArithmetic = "u16 s16 u32 s32 u64 s64 f16 f16x2 bf16 bf16x2 f32 f64";
constexpr std::string_view kFloats = "f16 f16x2 bf16 bf16x2 f32 f64";
constexpr std::string_view kSigned = "s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64";
constexpr std::string_view kCompared = "b16 b32 b64 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64";
constexpr std::string_view kMovable = "pred b16 b32 b64 u16 s16 u32 s32 u64 s64 f16 bf16 f16x2 bf16x2 f32 f64";
constexpr std::string_view kMemory = "b8 u8 s8 b16 u16 s16 b32 u32 s32 b64 u64 s64 f16 bf16 f16x2 bf16x2 f32 f64";
constexpr std::string_view kConverted =
    "u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64/u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64";
constexpr std::string_view kRounding = "rn rz rm rp ftz sat";
constexpr std::string_view kRoundingOfPair = "rn rz rm rp ftz";
constexpr std::string_view kCompare = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan ftz and or xor";
constexpr std::string_view kMbarrierArrival =
    "expect_tx noComplete release relaxed cta cluster shared shared::cta shared::cluster";
constexpr std::string_view kMbarrierWait = "parity acquire relaxed cta cluster shared shared::cta";
constexpr std::string_view kMbarrierTransaction = "relaxed cta cluster shared shared::cta shared::cluster";
constexpr std::string_view kComparePair = "eq ne lt le gt ge equ neu ltu leu gtu geu num nan";
constexpr std::string_view kAccess =
    "global shared shared::cta shared::cluster local const param v2 v4 nc volatile weak relaxed acquire release cta "
    "cluster gpu sys ca "
    "cg cs cv lu wb wt L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::64B "
    "L2::128B L2::256B";
constexpr std::string_view kAtomicForms =
    "global shared shared::cta shared::cluster relaxed acquire release acq_rel cta cluster gpu sys noftz add and or "
    "xor min max inc "
    "dec exch cas";
constexpr std::string_view kAtomicTypes = "b16 b32 b64 u32 s32 u64 s64 f16 f16x2 bf16 bf16x2 f32 f64";
constexpr std::string_view kVectorAtomicForms =
    "global relaxed acquire release acq_rel cta cluster gpu sys noftz add min max";
constexpr std::string_view kVectorAtomicTypes = "f16 f16x2 bf16 bf16x2 f32";
constexpr std::string_view kMmaTypes =
    "f16 f32 f64 s32/f16 bf16 tf32 f64 s8 u8 e4m3 e5m2/f16 bf16 tf32 f64 s8 u8 e4m3 e5m2/f16 f32 f64 s32";
constexpr std::string_view kWmmaShapes = "aligned m16n16k16 m32n8k16 m8n32k16 m16n16k8 row col satfinite";
constexpr std::string_view kWmmaMoves =
    "aligned a b c d m16n16k16 m32n8k16 m8n32k16 m16n16k8 row col global shared shared::cta";
constexpr std::string_view kSpaces = "global shared shared::cta shared::cluster local const param";
constexpr std::string_view kTensorLoad =
    "1d 2d 3d 4d 5d tile global shared::cta shared::cluster multicast::cluster cta_group::1 L2::cache_hint";
constexpr std::string_view kTensorStore = "1d 2d 3d 4d 5d tile global shared::cta L2::cache_hint";
constexpr std::string_view kTensorReduction =
    "1d 2d 3d 4d 5d tile global shared::cta add min max inc dec and or xor L2::cache_hint";
constexpr std::string_view kBulkReduction = "global shared::cta add min max inc dec and or xor noftz L2::cache_hint";
constexpr std::string_view kTensorMapFields =
    "global_address rank box_dim global_dim global_stride element_stride elemtype interleave_layout swizzle_mode "
    "swizzle_atomicity fill_mode b1024 global shared::cta";
constexpr std::string_view kTensorSizes = "aligned 32x32b 16x64b 16x128b 16x256b x1 x2 x4 x8 x16 x32 x64 x128";

namespace table {

using enum Opcode;
using C = InstructionCategory;

constexpr std::array kRows = {
    OpcodeRow{kAbs, C::kFloat, "abs", "", "ftz", kSigned, "ds"},
    OpcodeRow{kActivemask, C::kWarp, "activemask", "", "", "b32", "d"},
    OpcodeRow{kAdd, C::kInteger, "add", "cc", "", "u32 s32 u64 s64", "dss"},
    OpcodeRow{kAdd, C::kFloat, "add", "f32x2", kRoundingOfPair, "f32x2", "dss"},
    OpcodeRow{kAdd, C::kFloat, "add", "", kRounding, kArithmetic, "dss"},
    OpcodeRow{kAddc, C::kInteger, "addc", "", "cc", "u32 s32 u64 s64", "dss"},
    OpcodeRow{kAnd, C::kInteger, "and", "", "", kBitsOrPred, "dss"},
    OpcodeRow{kAtom, C::kAtomic, "atom", "v2", kVectorAtomicForms, kVectorAtomicTypes, "DaS"},
    OpcodeRow{kAtom, C::kAtomic, "atom", "v4", kVectorAtomicForms, kVectorAtomicTypes, "DaS"},
    OpcodeRow{kAtom, C::kAtomic, "atom", "", kAtomicForms, kAtomicTypes, "das?s"},
    OpcodeRow{kBarWarp, C::kBarrier, "bar", "warp sync", "", "", "u"},
    OpcodeRow{kBar, C::kBarrier, "bar", "arrive", "cta", "", "uu"},
    OpcodeRow{kClusterBarrier, C::kBarrier, "barrier", "cluster arrive", "release relaxed aligned", "", ""},
    OpcodeRow{kClusterBarrier, C::kBarrier, "barrier", "cluster wait", "acquire aligned", "", ""},
    OpcodeRow{kBar, C::kBarrier, "barrier", "arrive", "cta aligned", "", "uu"},
    OpcodeRow{kBar, C::kBarrier, "bar", "red", "cta popc and or", "u32 pred", "*"},
    OpcodeRow{kBar, C::kBarrier, "barrier", "red", "cta popc and or aligned", "u32 pred", "*"},
    OpcodeRow{kBar, C::kBarrier, "bar", "sync", "cta", "", "u?u"},
    OpcodeRow{kBar, C::kBarrier, "barrier", "sync", "cta aligned", "", "u?u"},
    OpcodeRow{kBfe, C::kInteger, "bfe", "", "", "u32 u64 s32 s64", "dsuu"},
    OpcodeRow{kBfi, C::kInteger, "bfi", "", "", "b32 b64", "dssuu"},
    OpcodeRow{kBfind, C::kInteger, "bfind", "", "shiftamt", "u32 u64 s32 s64", "Xs"},
    OpcodeRow{kBra, C::kControl, "bra", "", "uni", "", "l"},
    OpcodeRow{kBrev, C::kInteger, "brev", "", "", "b32 b64", "ds"},
    OpcodeRow{kBrx, C::kControl, "brx", "idx", "uni", "", "ul"},
    OpcodeRow{kCall, C::kControl, "call", "", "uni", "", "*"},
    OpcodeRow{kClz, C::kInteger, "clz", "", "", "b32 b64", "Xs"},
    OpcodeRow{kCnot, C::kInteger, "cnot", "", "", kBits, "ds"},
    OpcodeRow{kCopysign, C::kFloat, "copysign", "", "", "f32 f64", "dss"},
    OpcodeRow{kCos, C::kSpecialFunction, "cos", "approx", "ftz", "f32", "ds"},
    OpcodeRow{kMbarrier, C::kBarrier, "cp", "async mbarrier arrive", "noinc shared shared::cta", "b64", "a"},
    OpcodeRow{kBulkCopyControl, C::kControl, "cp", "async bulk commit_group", "", "", ""},
    OpcodeRow{kBulkCopyControl, C::kBarrier, "cp", "async bulk wait_group", "read", "", "n"},
    OpcodeRow{kBulkCopy, C::kLoad, "cp", "async bulk tensor mbarrier::complete_tx::bytes", kTensorLoad, "", "aTa?xx"},
    OpcodeRow{kBulkCopy, C::kAtomic, "cp", "reduce async bulk tensor bulk_group", kTensorReduction, "", "Ta?x"},
    OpcodeRow{kBulkCopy, C::kAtomic, "cp", "reduce async bulk bulk_group", kBulkReduction,
              "f16 bf16 b32 u32 s32 b64 u64 s64 f32 f64", "aau?x"},
    OpcodeRow{kBulkCopy, C::kStore, "cp", "async bulk tensor bulk_group", kTensorStore, "", "Ta?x"},
    OpcodeRow{kPrefetch, C::kControl, "cp", "async bulk prefetch tensor",
              "1d 2d 3d 4d 5d tile L2 global L2::cache_hint", "", "T?x"},
    OpcodeRow{kPrefetch, C::kControl, "cp", "async bulk prefetch", "L2 global L2::cache_hint", "", "au?x"},
    OpcodeRow{kBulkCopy, C::kLoad, "cp", "async bulk mbarrier::complete_tx::bytes",
              "global shared::cta shared::cluster L2::cache_hint", "", "aaua?x"},
    OpcodeRow{kBulkCopy, C::kStore, "cp", "async bulk bulk_group", "global shared::cta L2::cache_hint", "", "aau?x"},
    OpcodeRow{kCpAsyncCommit, C::kControl, "cp", "async commit_group", "", "", ""},
    OpcodeRow{kCpAsyncWait, C::kBarrier, "cp", "async wait_group", "", "", "n"},
    OpcodeRow{kCpAsyncWait, C::kBarrier, "cp", "async wait_all", "", "", ""},
    OpcodeRow{kCpAsync, C::kLoad, "cp", "async", "ca cg global shared shared::cta L2::64B L2::128B L2::256B", "",
              "aan?y"},
    OpcodeRow{kCvt, C::kConvert, "cvt", "tf32", "rna rn rz relu", "tf32/f32", "dt"},
    OpcodeRow{kCvt, C::kConvert, "cvt", "satfinite f32", "rn relu", "e4m3x2 e5m2x2 e2m3x2 e3m2x2/f32", "dtt"},
    OpcodeRow{kCvt, C::kConvert, "cvt", "satfinite f16x2", "rn relu", "e4m3x2 e5m2x2/f16x2", "dt"},
    OpcodeRow{kCvt, C::kConvert, "cvt", "e4m3x2", "rn relu", "f16x2/e4m3x2", "dt"},
    OpcodeRow{kCvt, C::kConvert, "cvt", "e5m2x2", "rn relu", "f16x2/e5m2x2", "dt"},
    OpcodeRow{kCvt, C::kConvert, "cvt", "e2m3x2", "rn relu", "f16x2/e2m3x2", "dt"},
    OpcodeRow{kCvt, C::kConvert, "cvt", "e3m2x2", "rn relu", "f16x2/e3m2x2", "dt"},
    OpcodeRow{kCvt, C::kConvert, "cvt", "f16x2", "rn rz relu", "f16x2/f32", "dtt"},
    OpcodeRow{kCvt, C::kConvert, "cvt", "bf16x2", "rn rz relu", "bf16x2/f32", "dtt"},
    OpcodeRow{kCvt, C::kConvert, "cvt", "", "rn rz rm rp rni rzi rmi rpi ftz sat", kConverted, "Xx"},
    OpcodeRow{kCvtaTo, C::kMove, "cvta", "to", kSpaces, "u32 u64", "ds"},
    OpcodeRow{kCvta, C::kMove, "cvta", "", kSpaces, "u32 u64", "di"},
    OpcodeRow{kDiv, C::kSpecialFunction, "div", "approx", "ftz", "f32", "dss"},
    OpcodeRow{kDiv, C::kSpecialFunction, "div", "full", "ftz", "f32", "dss"},
    OpcodeRow{kDiv, C::kFloat, "div", "", "rn rz rm rp ftz", "u16 s16 u32 s32 u64 s64 f32 f64", "dss"},
    OpcodeRow{kDp2a, C::kInteger, "dp2a", "", "lo hi", "u32 s32/u32 s32", "Xuuu"},
    OpcodeRow{kDp4a, C::kInteger, "dp4a", "", "", "u32 s32/u32 s32", "Xuuu"},
    OpcodeRow{kElect, C::kWarp, "elect", "sync", "", "", "*"},
    OpcodeRow{kEx2, C::kSpecialFunction, "ex2", "approx", "ftz", "f16 bf16 f32", "ds"},
    OpcodeRow{kExit, C::kControl, "exit", "", "", "", ""},
    OpcodeRow{kFma, C::kFloat, "fma", "f32x2", kRoundingOfPair, "f32x2", "dsss"},
    OpcodeRow{kFma, C::kFloat, "fma", "", "rn rz rm rp ftz sat relu", kFloats, "dsss"},
    OpcodeRow{kProxyFence, C::kBarrier, "fence", "proxy tensormap::generic", "acquire release cta cluster gpu sys", "",
              "?an"},
    OpcodeRow{kProxyFence, C::kBarrier, "fence", "proxy", "alias async global shared::cta shared::cluster", "", ""},
    OpcodeRow{kProxyFence, C::kBarrier, "fence", "mbarrier_init", "release cluster", "", ""},
    OpcodeRow{kMembar, C::kBarrier, "fence", "", "sc acq_rel cta cluster gpu sys", "", ""},
    OpcodeRow{kGetctarank, C::kMove, "getctarank", "", "shared::cluster", "u32 u64", "Xi"},
    OpcodeRow{kGriddepcontrol, C::kControl, "griddepcontrol", "", "wait launch_dependents", "", ""},
    OpcodeRow{kIsspacep, C::kPredicate, "isspacep", "", kSpaces, "", "Px"},
    OpcodeRow{kLd, C::kLoad, "ld", "", kAccess, kMemory, "Da"},
    OpcodeRow{kLdmatrix, C::kLoad, "ldmatrix", "sync", "aligned m8n8 x1 x2 x4 trans shared shared::cta", "b16", "Fa"},
    OpcodeRow{kLd, C::kLoad, "ldu", "", kAccess, kMemory, "Da"},
    OpcodeRow{kLg2, C::kSpecialFunction, "lg2", "approx", "ftz", "f32", "ds"},
    OpcodeRow{kLop3, C::kInteger, "lop3", "", "", "b32", "dsssu"},
    OpcodeRow{kMadWide, C::kInteger, "mad", "wide", "", "u16 s16 u32 s32", "Wssw"},
    OpcodeRow{kMad, C::kFloat, "mad", "", "lo hi cc sat rn rz rm rp ftz", "u16 s16 u32 s32 u64 s64 f32 f64", "dsss"},
    OpcodeRow{kMad24, C::kInteger, "mad24", "", "lo hi", "u32 s32", "dsss"},
    OpcodeRow{kMadc, C::kInteger, "madc", "", "lo hi cc", "u32 s32 u64 s64", "dsss"},
    OpcodeRow{kMapa, C::kMove, "mapa", "", "shared::cluster", "u32 u64", "diu"},
    OpcodeRow{kMatch, C::kWarp, "match", "sync", "any all", "b32 b64", "*"},
    OpcodeRow{kMax, C::kFloat, "max", "f32", "ftz NaN", "f32", "dss?s"},
    OpcodeRow{kMax, C::kFloat, "max", "", "ftz NaN", kArithmetic, "dss"},
    OpcodeRow{kMbarrier, C::kBarrier, "mbarrier", "init", "shared shared::cta", "b64", "au"},
    OpcodeRow{kMbarrier, C::kBarrier, "mbarrier", "inval", "shared shared::cta", "b64", "a"},
    OpcodeRow{kMbarrier, C::kBarrier, "mbarrier", "arrive", kMbarrierArrival, "b64", "Xa?u"},
    OpcodeRow{kMbarrier, C::kBarrier, "mbarrier", "arrive_drop", kMbarrierArrival, "b64", "Xa?u"},
    OpcodeRow{kMbarrier, C::kBarrier, "mbarrier", "test_wait", kMbarrierWait, "b64", "Pax?u"},
    OpcodeRow{kMbarrier, C::kBarrier, "mbarrier", "try_wait", kMbarrierWait, "b64", "Pax?u"},
    OpcodeRow{kMbarrier, C::kBarrier, "mbarrier", "expect_tx", kMbarrierTransaction, "b64", "au"},
    OpcodeRow{kMbarrier, C::kBarrier, "mbarrier", "complete_tx", kMbarrierTransaction, "b64", "au"},
    OpcodeRow{kMembar, C::kBarrier, "membar", "", "cta gl sys", "", ""},
    OpcodeRow{kMin, C::kFloat, "min", "f32", "ftz NaN", "f32", "dss?s"},
    OpcodeRow{kMin, C::kFloat, "min", "", "ftz NaN", kArithmetic, "dss"},
    OpcodeRow{kMma, C::kWarp, "mma", "sync",
              "aligned m8n8k4 m8n8k16 m16n8k4 m16n8k8 m16n8k16 m16n8k32 row col satfinite rn", kMmaTypes, "FFFF"},
    OpcodeRow{kMov, C::kMove, "mov", "", "", kMovable, "Di"},
    OpcodeRow{kMulWide, C::kInteger, "mul", "wide", "", "u16 s16 u32 s32", "Wss"},
    OpcodeRow{kMul, C::kFloat, "mul", "f32x2", kRoundingOfPair, "f32x2", "dss"},
    OpcodeRow{kMul, C::kFloat, "mul", "", "lo hi rn rz rm rp ftz sat", kArithmetic, "dss"},
    OpcodeRow{kMul24, C::kInteger, "mul24", "", "lo hi", "u32 s32", "dss"},
    OpcodeRow{kNanosleep, C::kControl, "nanosleep", "", "", "u32", "s"},
    OpcodeRow{kNeg, C::kFloat, "neg", "", "ftz", kSigned, "ds"},
    OpcodeRow{kNot, C::kInteger, "not", "", "", kBitsOrPred, "ds"},
    OpcodeRow{kOr, C::kInteger, "or", "", "", kBitsOrPred, "dss"},
    OpcodeRow{kPopc, C::kInteger, "popc", "", "", "b32 b64", "Xs"},
    OpcodeRow{kPrefetch, C::kControl, "prefetch", "", "global local L1 L2 tensormap const param", "", "a"},
    OpcodeRow{kPrefetch, C::kControl, "prefetchu", "", "L1", "", "a"},
    OpcodeRow{kPrmt, C::kInteger, "prmt", "", "f4e b4e rc8 ecl ecr rc16", "b32", "dsss"},
    OpcodeRow{kRcp, C::kSpecialFunction, "rcp", "approx", "ftz", "f32 f64", "ds"},
    OpcodeRow{kRcp, C::kFloat, "rcp", "", "rn rz rm rp ftz", "f32 f64", "ds"},
    OpcodeRow{kRed, C::kAtomic, "red", "v2", kVectorAtomicForms, kVectorAtomicTypes, "aS"},
    OpcodeRow{kRed, C::kAtomic, "red", "v4", kVectorAtomicForms, kVectorAtomicTypes, "aS"},
    OpcodeRow{kRed, C::kAtomic, "red", "", kAtomicForms, kAtomicTypes, "as"},
    OpcodeRow{kRedux, C::kWarp, "redux", "sync f32", "min max abs NaN", "f32", "dsu"},
    OpcodeRow{kRedux, C::kWarp, "redux", "sync", "add and or xor min max", "u32 s32 b32", "dsu"},
    OpcodeRow{kRem, C::kInteger, "rem", "", "", kIntegers, "dss"},
    OpcodeRow{kRet, C::kControl, "ret", "", "uni", "", ""},
    OpcodeRow{kRsqrt, C::kSpecialFunction, "rsqrt", "approx", "ftz", "f32 f64", "ds"},
    OpcodeRow{kSad, C::kInteger, "sad", "", "", kIntegers, "dsss"},
    OpcodeRow{kSelp, C::kMove, "selp", "", "", "b16 b32 b64 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64", "dssp"},
    OpcodeRow{kSet, C::kPredicate, "set", "f16x2", kComparePair, "f16x2/f16x2", "Xtt"},
    OpcodeRow{kSet, C::kPredicate, "set", "bf16x2", kComparePair, "bf16x2/bf16x2", "Xtt"},
    OpcodeRow{kSet, C::kPredicate, "set", "", kCompare,
              "u32 s32 f32 f16 bf16 u16 s16/b16 b32 b64 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64", "Xtt?p"},
    OpcodeRow{kSetp, C::kPredicate, "setp", "", kCompare, kCompared, "qss?p"},
    OpcodeRow{kSetmaxnreg, C::kControl, "setmaxnreg", "sync", "aligned inc dec", "u32", "n"},
    OpcodeRow{kShf, C::kInteger, "shf", "", "l r wrap clamp", "b32", "dsss"},
    OpcodeRow{kShfl, C::kWarp, "shfl", "sync", "up down bfly idx", "b32", "Qsuuu"},
    OpcodeRow{kShl, C::kInteger, "shl", "", "", kBits, "dsu"},
    OpcodeRow{kShr, C::kInteger, "shr", "", "", "b16 b32 b64 u16 s16 u32 s32 u64 s64", "dsu"},
    OpcodeRow{kSin, C::kSpecialFunction, "sin", "approx", "ftz", "f32", "ds"},
    OpcodeRow{kSlct, C::kMove, "slct", "", "ftz", "b16 b32 b64 u16 s16 u32 s32 u64 s64 f32 f64/s32 f32", "dsst"},
    OpcodeRow{kSqrt, C::kSpecialFunction, "sqrt", "approx", "ftz", "f32", "ds"},
    OpcodeRow{kSqrt, C::kFloat, "sqrt", "", "rn rz rm rp ftz", "f32 f64", "ds"},
    OpcodeRow{kSt, C::kStore, "st", "", kAccess, kMemory, "aS"},
    OpcodeRow{kStmatrix, C::kStore, "stmatrix", "sync", "aligned m8n8 x1 x2 x4 trans shared shared::cta", "b16", "aF"},
    OpcodeRow{kSub, C::kInteger, "sub", "cc", "", "u32 s32 u64 s64", "dss"},
    OpcodeRow{kSub, C::kFloat, "sub", "f32x2", kRoundingOfPair, "f32x2", "dss"},
    OpcodeRow{kSub, C::kFloat, "sub", "", kRounding, kArithmetic, "dss"},
    OpcodeRow{kSubc, C::kInteger, "subc", "", "cc", "u32 s32 u64 s64", "dss"},
    OpcodeRow{kTanh, C::kSpecialFunction, "tanh", "approx", "", "f16 bf16 f32", "ds"},
    OpcodeRow{kTensorMap, C::kStore, "tensormap", "replace tile", kTensorMapFields, "b32 b64", "ax?x"},
    OpcodeRow{kTensorMap, C::kStore, "tensormap", "cp_fenceproxy tensormap::generic release sync aligned",
              "global shared::cta cta cluster gpu sys", "", "aan"},
    OpcodeRow{kTensorMemory, C::kBarrier, "tcgen05", "alloc sync", "cta_group::1 aligned shared::cta", "b32", "au"},
    OpcodeRow{kTensorMemory, C::kBarrier, "tcgen05", "dealloc sync", "cta_group::1 aligned", "b32", "uu"},
    OpcodeRow{kTensorMemory, C::kControl, "tcgen05", "relinquish_alloc_permit sync", "cta_group::1 aligned", "", ""},
    OpcodeRow{kTensorMemory, C::kLoad, "tcgen05", "ld sync 16x32bx2", "aligned x1 x2 x4 x8 x16 x32 x64 x128 pack::16b",
              "b32", "Fan"},
    OpcodeRow{kTensorMemory, C::kLoad, "tcgen05", "ld sync pack::16b", kTensorSizes, "b32", "Fa"},
    OpcodeRow{kTensorMemory, C::kLoad, "tcgen05", "ld sync", kTensorSizes, "b32", "Fa"},
    OpcodeRow{kTensorMemory, C::kStore, "tcgen05", "st sync 16x32bx2",
              "aligned x1 x2 x4 x8 x16 x32 x64 x128 unpack::16b", "b32", "anF"},
    OpcodeRow{kTensorMemory, C::kStore, "tcgen05", "st sync unpack::16b", kTensorSizes, "b32", "aF"},
    OpcodeRow{kTensorMemory, C::kStore, "tcgen05", "st sync", kTensorSizes, "b32", "aF"},
    OpcodeRow{kTensorMemory, C::kBarrier, "tcgen05", "wait::ld sync", "aligned", "", ""},
    OpcodeRow{kTensorMemory, C::kBarrier, "tcgen05", "wait::st sync", "aligned", "", ""},
    OpcodeRow{kTensorMemory, C::kBarrier, "tcgen05", "fence::before_thread_sync", "", "", ""},
    OpcodeRow{kTensorMemory, C::kBarrier, "tcgen05", "fence::after_thread_sync", "", "", ""},
    OpcodeRow{kTensorProduct, C::kBarrier, "tcgen05", "commit",
              "cta_group::1 mbarrier::arrive::one shared::cta shared::cluster multicast::cluster", "b64", "a?x"},
    OpcodeRow{kTensorProduct, C::kLoad, "tcgen05", "cp",
              "cta_group::1 128x256b 128x128b 64x128b 32x128b warpx2::02_13 warpx2::01_23 warpx4", "", "ax"},
    OpcodeRow{kTensorProduct, C::kWarp, "tcgen05", "mma",
              "ws cta_group::1 kind::f16 kind::tf32 kind::f8f6f4 kind::i8 collector::a::fill collector::a::use "
              "collector::a::lastuse collector::a::discard",
              "", "*"},
    OpcodeRow{kTestp, C::kPredicate, "testp", "", "finite infinite number notanumber normal subnormal", "f32 f64",
              "Ps"},
    OpcodeRow{kTrap, C::kControl, "trap", "", "", "", ""},
    OpcodeRow{kVote, C::kWarp, "vote", "sync", "all any uni ballot", "b32 pred", "*"},
    OpcodeRow{kWgmma, C::kWarp, "wgmma", "mma_async sync", "aligned m64nNk8 m64nNk16 m64nNk32 satfinite",
              "f16 f32 s32/f16 bf16 tf32 e4m3 e5m2 s8 u8/f16 bf16 tf32 e4m3 e5m2 s8 u8", "*"},
    OpcodeRow{kWgmmaControl, C::kBarrier, "wgmma", "fence sync", "aligned", "", ""},
    OpcodeRow{kWgmmaControl, C::kBarrier, "wgmma", "commit_group sync", "aligned", "", ""},
    OpcodeRow{kWgmmaControl, C::kBarrier, "wgmma", "wait_group sync", "aligned", "", "n"},
    OpcodeRow{kWmmaLoad, C::kLoad, "wmma", "load sync", kWmmaMoves, "f16 f32 bf16 tf32 s8 u8 s32", "Fa?u"},
    OpcodeRow{kWmmaStore, C::kStore, "wmma", "store sync", kWmmaMoves, "f16 f32 s32", "aF?u"},
    OpcodeRow{kWmmaMma, C::kWarp, "wmma", "mma sync", kWmmaShapes,
              "f16 f32 s32/f16 f32 bf16 tf32 s8 u8?bf16 tf32 s8 u8/f32 s32", "FFFF"},
    OpcodeRow{kXor, C::kInteger, "xor", "", "", kBitsOrPred, "dss"},
};

}  // namespace table

constexpr std::array<std::string_view, kInstructionCategoryCount> kCategoryNames = {
    "float", "special", "integer", "convert", "move", "predicate",
    "load",  "store",   "atomic",  "control", "warp", "barrier"};

}  // namespace

std::span<const OpcodeRow> opcode_rows() { return table::kRows; }

std::string_view to_text(InstructionCategory category) { return kCategoryNames[static_cast<std::size_t>(category)]; }

bool contains_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace assay::ptx
