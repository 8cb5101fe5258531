#include "textflag.h"

// func prefetchLines(words *uint64, lines uint64, ds *umbel.Digest, count int)
TEXT ·prefetchLines(SB), NOSPLIT, $0-32
	MOVQ words+0(FP), SI
	MOVQ lines+8(FP), R8
	MOVQ ds+16(FP), DI
	MOVQ count+24(FP), CX

loop:
	MOVQ (DI), AX
	MULQ R8                // line in DX
	SHLQ $6, DX
	PREFETCHT0 (SI)(DX*1)
	ADDQ $16, DI
	DECQ CX
	JNZ  loop
	RET
