// Command asm writes the kernels of package entropy for amd64 with BMI2: go generate
// ./internal/coding/entropy.
//
// A state waits some twenty cycles for its next symbol. So each kernel works on the
// states of four payloads, one after the other, and the processor on all at once.
// Only escapes are decided by a jump, because whether a state needs a word can't be
// predicted.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Copies of constants of the package.
const (
	lanes = 4

	shiftOffset  = 0 // in a table
	lastOffset   = 8
	escapeOffset = 16
	takeOffset   = 24
	putOffset    = 2072
	ownerOffset  = 12312

	xOffset     = 0 // in a taker and a putter
	tableOffset = 8

	inOffset  = 16 // in a taker
	dstOffset = 40
	atOffset  = 64
	takerSize = 72

	symbolsOffset = 16 // in a putter
	wordsOffset   = 40
	putterSize    = 64

	mostOffset    = putOffset // of the first symbol, in a table
	inverseOffset = putOffset + 2048
	beginOffset   = putOffset + 4096
	restOffset    = putOffset + 6144
	normalOffset  = putOffset + 8192
	bitsOffset    = putOffset + 9216

	sourceOffset  = 0 // in a lister
	countOffset   = 8
	flipOffset    = 16
	longestOffset = 24
	middleOffset  = 32
	zerosOffset   = 40
	targetOffset  = 48
)

func main() {
	ConstraintExpr("amd64,!purego,!race")
	take("takeGaps4", gaps)
	take("takeShifted4", shifted)
	take("takeBytes4", bytes)
	put("put4", false)
	put("putShifted4", true)
	list(1, sparse)
	list(2, middling)
	list(4, middling)
	list(8, middling)
	list(13, crowded)
	extract()
	deposit()
	Generate()
}

func load(param string) reg.GPVirtual { return Load(Param(param), GP64()).(reg.GPVirtual) }

// kinds of symbols that are taken.
const (
	gaps = iota
	shifted
	bytes
)

func take(name string, kind int) {
	TEXT(name, NOSPLIT, "func(l *byte, n int)")
	l, n := load("l"), load("n")
	var x, in [lanes]reg.GPVirtual
	field := func(lane, offset int) Mem { return Mem{Base: l, Disp: lane*takerSize + offset} }
	for i := range lanes {
		x[i], in[i] = GP64(), GP64()
		MOVQ(field(i, xOffset), x[i])
		MOVQ(field(i, inOffset), in[i])
		// A place is a number of bits from address 0, or for bytes an address.
		t := GP64()
		MOVQ(field(i, dstOffset), t)
		if kind == bytes {
			SHRQ(Imm(3), field(i, atOffset))
		} else {
			SHLQ(Imm(3), t)
		}
		ADDQ(t, field(i, atOffset))
	}
	Label("next")
	for i := range lanes {
		table, slot, symbol, t := GP64(), GP64(), GP64(), GP64()
		MOVQ(field(i, tableOffset), table)
		MOVWQZX(x[i].As16(), slot)
		MOVBQZX(Mem{Base: table, Index: slot, Scale: 1, Disp: ownerOffset}, symbol)
		SHRQ(Imm(16), x[i])
		MOVL(Mem{Base: table, Index: symbol, Scale: 8, Disp: takeOffset}, t.As32())
		IMULQ(t, x[i])
		MOVL(Mem{Base: table, Index: symbol, Scale: 8, Disp: takeOffset + 4}, t.As32())
		SUBQ(t, slot)
		ADDQ(slot, x[i])
		if kind == bytes {
			at := slot
			MOVQ(field(i, atOffset), at)
			MOVB(symbol.As8(), Mem{Base: at})
			INCQ(at)
			MOVQ(at, field(i, atOffset))
		} else {
			CMPQ(symbol, Mem{Base: table, Disp: lastOffset})
			JE(LabelRef(fmt.Sprint("escape", i)))
			if kind == shifted {
				MOVQ(Mem{Base: table, Disp: shiftOffset}, t)
				SHLXQ(t, symbol, symbol)
				BZHIQ(t, x[i], slot)
				SHRXQ(t, x[i], x[i])
				ADDQ(slot, symbol)
			}
			ADDQ(field(i, atOffset), symbol)
			MOVQ(symbol, t)
			SHRQ(Imm(6), t)
			SHLQ(Imm(3), t)
			MOVQ(Mem{Base: t}, slot)
			BTSQ(symbol, slot)
			MOVQ(slot, Mem{Base: t})
			INCQ(symbol)
			MOVQ(symbol, field(i, atOffset))
			Label(fmt.Sprint("refill", i))
		}
		word, more := slot, t
		MOVL(Mem{Base: in[i]}, word.As32())
		MOVQ(x[i], more)
		SHLQ(Imm(32), more)
		ORQ(word, more)
		LEAQ(Mem{Base: in[i], Disp: 4}, word)
		MOVQ(x[i], symbol)
		SHRQ(Imm(31), symbol)
		CMOVQEQ(more, x[i])
		CMOVQEQ(word, in[i])
	}
	DECQ(n)
	JNZ(LabelRef("next"))
	for i := range lanes {
		MOVQ(x[i], field(i, xOffset))
		MOVQ(in[i], x[i])
		SUBQ(field(i, inOffset), x[i])
		MOVQ(in[i], field(i, inOffset))
		SUBQ(x[i], field(i, inOffset+8))
		SUBQ(x[i], field(i, inOffset+16))
		t := GP64()
		MOVQ(field(i, dstOffset), t)
		if kind != bytes {
			SHLQ(Imm(3), t)
		}
		SUBQ(t, field(i, atOffset))
		if kind == bytes {
			SHLQ(Imm(3), field(i, atOffset))
		}
	}
	RET()
	if kind != bytes {
		for i := range lanes {
			Label(fmt.Sprint("escape", i))
			table := GP64()
			MOVQ(field(i, tableOffset), table)
			MOVQ(Mem{Base: table, Disp: escapeOffset}, table)
			ADDQ(table, field(i, atOffset))
			JMP(LabelRef(fmt.Sprint("refill", i)))
		}
	}
}

func put(name string, shifted bool) {
	TEXT(name, NOSPLIT, "func(l *byte, n int)")
	l, n := load("l"), load("n")
	var x, words [lanes]reg.GPVirtual
	field := func(lane, offset int) Mem { return Mem{Base: l, Disp: lane*putterSize + offset} }
	for i := range lanes {
		x[i], words[i] = GP64(), GP64()
		MOVQ(field(i, xOffset), x[i])
		t := GP64()
		MOVQ(field(i, wordsOffset+8), t)
		MOVQ(field(i, wordsOffset), words[i])
		LEAQ(Mem{Base: words[i], Index: t, Scale: 4}, words[i])
		// Words are counted from l, so that a carry can be added.
		SUBQ(l, words[i])
		SARQ(Imm(2), words[i])
		// The next symbol is the one before symbols+4n.
		MOVQ(field(i, symbolsOffset+8), t)
		SUBQ(n, t)
		MOVQ(t, field(i, symbolsOffset+8))
		SHLQ(Imm(2), t)
		ADDQ(t, field(i, symbolsOffset))
	}
	Label("next")
	for i := range lanes {
		symbol, t := GP64(), GP64()
		MOVQ(field(i, symbolsOffset), t)
		MOVL(Mem{Base: t, Index: n, Scale: 4, Disp: -4}, symbol.As32())
		MOVL(x[i].As32(), Mem{Base: l, Index: words[i], Scale: 4})
		raw := GP64()
		if shifted {
			MOVQ(field(i, tableOffset), t)
			MOVQ(symbol, raw)
			MOVQ(Mem{Base: t, Disp: shiftOffset}, t)
			SHRXQ(t, symbol, symbol)
		}
		table := GP64()
		MOVQ(field(i, tableOffset), table)
		entry := func(offset, size int) Mem {
			return Mem{Base: table, Index: symbol, Scale: uint8(size), Disp: offset}
		}
		MOVQ(x[i], t)
		SHRQ(Imm(32), t)
		CMPQ(entry(mostOffset, 8), x[i])
		CMOVQCS(t, x[i])
		ADCQ(Imm(0), words[i])
		if shifted {
			MOVL(entry(bitsOffset, 4), t.As32())
			BZHIQ(t, raw, raw)
			SHLXQ(t, x[i], x[i])
			ORQ(raw, x[i])
		}
		MOVQ(x[i], reg.RDX)
		MULXQ(entry(inverseOffset, 8), t, t)
		MOVL(entry(normalOffset, 4), reg.EDX)
		SHRXQ(reg.RDX, t, t)
		IMULQ(entry(restOffset, 8), t)
		ADDQ(entry(beginOffset, 8), x[i])
		ADDQ(t, x[i])
	}
	DECQ(n)
	JNZ(LabelRef("next"))
	for i := range lanes {
		MOVQ(x[i], field(i, xOffset))
		LEAQ(Mem{Base: l, Index: words[i], Scale: 4}, words[i])
		SUBQ(field(i, wordsOffset), words[i])
		SHRQ(Imm(2), words[i])
		MOVQ(words[i], field(i, wordsOffset+8))
		t := GP64()
		MOVQ(field(i, symbolsOffset+8), t)
		SHLQ(Imm(2), t)
		SUBQ(t, field(i, symbolsOffset))
	}
	RET()
}

// kinds of words whose gaps are listed.
const (
	sparse   = iota // most of them zero
	middling        // whether one is zero can't be foretold; no escape fits in
	crowded         // an escape may be in them
)

func list(usual, kind int) {
	TEXT(fmt.Sprint("list", usual), NOSPLIT, "func(l *byte)")
	l := load("l")
	field := func(offset int) Mem { return Mem{Base: l, Disp: offset} }
	words, count, flip, most, middle := GP64(), GP64(), GP64(), GP64(), GP64()
	zeros, dst := GP64(), GP64()
	MOVQ(field(sourceOffset), words)
	MOVQ(field(countOffset), count)
	MOVQ(field(flipOffset), flip)
	MOVQ(field(longestOffset), most)
	MOVQ(field(middleOffset), middle)
	MOVQ(field(zerosOffset), zeros)
	MOVQ(field(targetOffset), dst)
	word, gap, ones, behind := GP64(), GP64(), GP64(), GP64()
	Label("next")
	MOVQ(Mem{Base: words}, word)
	XORQ(flip, word)
	switch kind {
	case sparse:
		TESTQ(word, word)
		JZ(LabelRef("thin"))
	case crowded:
		TESTQ(middle, word)
		JZ(LabelRef("thin"))
	}
	TZCNTQ(word, gap)
	ADDQ(gap, zeros)
	CMPQ(zeros, most)
	JCC(LabelRef("stop"))
	MOVL(zeros.As32(), Mem{Base: dst})
	POPCNTQ(word, ones)
	LZCNTQ(word, behind)
	if kind == middling {
		TESTQ(word, word)
		CMOVQNE(behind, zeros)
	} else {
		MOVQ(behind, zeros)
	}
	strip := func() {
		SHRXQ(gap, word, word)
		SHRQ(Imm(1), word)
	}
	for i := 1; i < usual; i++ {
		strip()
		TZCNTQ(word, gap)
		MOVL(gap.As32(), Mem{Base: dst, Disp: 4 * i})
	}
	CMPQ(ones, Imm(uint64(usual)))
	JHI(LabelRef("more"))
	Label("done")
	LEAQ(Mem{Base: dst, Index: ones, Scale: 4}, dst)
	Label("skip")
	ADDQ(Imm(8), words)
	DECQ(count)
	JNZ(LabelRef("next"))
	Label("return")
	MOVQ(count, field(countOffset))
	MOVQ(zeros, field(zerosOffset))
	MOVQ(dst, field(targetOffset))
	RET()

	Label("more")
	at := GP64()
	MOVQ(U32(usual), at)
	Label("another")
	strip()
	TZCNTQ(word, gap)
	MOVL(gap.As32(), Mem{Base: dst, Index: at, Scale: 4})
	INCQ(at)
	CMPQ(at, ones)
	JNE(LabelRef("another"))
	JMP(LabelRef("done"))

	if kind != middling {
		Label("thin")
		if kind == crowded {
			TESTQ(word, word)
			JNZ(LabelRef("return"))
		}
		ADDQ(Imm(64), zeros)
		JMP(LabelRef("skip"))
	}

	Label("stop")
	SUBQ(gap, zeros)
	JMP(LabelRef("return"))
}
