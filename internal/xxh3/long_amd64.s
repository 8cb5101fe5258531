//go:build amd64 && !purego && !race

#include "textflag.h"

DATA prime<>+0(SB)/8, $0x9e3779b1
GLOBL prime<>(SB), RODATA|NOPTR, $8

// STRIPE adds 64 bytes from B, with the secret from K, to the sums in Y0 and Y1: the products of the halves of each word
// with its secret, and to each word's sum the neighbor of the word.
#define STRIPE(B, K) \
	VMOVDQU  (B), Y2        \
	VMOVDQU  32(B), Y3      \
	VPXOR    (K), Y2, Y4    \
	VPXOR    32(K), Y3, Y5  \
	VPSRLQ   $32, Y4, Y6    \
	VPSRLQ   $32, Y5, Y7    \
	VPMULUDQ Y4, Y6, Y4     \
	VPMULUDQ Y5, Y7, Y5     \
	VPSHUFD  $0x4e, Y2, Y2  \
	VPSHUFD  $0x4e, Y3, Y3  \
	VPADDQ   Y2, Y0, Y0     \
	VPADDQ   Y3, Y1, Y1     \
	VPADDQ   Y4, Y0, Y0     \
	VPADDQ   Y5, Y1, Y1

// SCRAMBLE shifts, combines with the secret from AT and multiplies the sums in Y; Y8 contains the prime.
#define SCRAMBLE(Y, AT) \
	VPSRLQ   $47, Y, Y2     \
	VPXOR    Y2, Y, Y       \
	VPXOR    AT, Y, Y       \
	VPSRLQ   $32, Y, Y2     \
	VPMULUDQ Y8, Y, Y       \
	VPMULUDQ Y8, Y2, Y2     \
	VPSLLQ   $32, Y2, Y2    \
	VPADDQ   Y2, Y, Y

// func accumulateAVX2(sums *[8]uint64, b *byte, n int, key *[192]byte)
TEXT ·accumulateAVX2(SB), NOSPLIT, $0-32
	MOVQ         sums+0(FP), AX
	MOVQ         b+8(FP), CX
	MOVQ         n+16(FP), SI
	MOVQ         key+24(FP), DX
	VMOVDQU      (AX), Y0
	VMOVDQU      32(AX), Y1
	VPBROADCASTQ prime<>(SB), Y8
	LEAQ         -64(CX)(SI*1), DI
	DECQ         SI

	// SI is one less than the bytes that are left, BX the stripes of the block, and R8 their secret.
block:
	MOVQ    SI, BX
	SHRQ    $6, BX
	JEQ     last
	MOVQ    $16, R9
	CMPQ    BX, R9
	CMOVQHI R9, BX
	MOVQ    DX, R8

next:
	STRIPE(CX, R8)
	ADDQ $64, CX
	ADDQ $8, R8
	DECQ BX
	JNE  next
	SUBQ $1024, SI
	JCS  last
	SCRAMBLE(Y0, 128(DX))
	SCRAMBLE(Y1, 160(DX))
	JMP  block

last:
	LEAQ    121(DX), R8
	STRIPE(DI, R8)
	VMOVDQU Y0, (AX)
	VMOVDQU Y1, 32(AX)
	VZEROUPPER
	RET
