package processor

// queryID is the instruction CPUID (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A).
func queryID(leaf, subleaf uint32) (a, b, c, d uint32)

// xgetbv is the low half of the extended control register 0. It needs OSXSAVE.
func xgetbv() uint32

// detect returns the features and the size in bytes of the second-level cache, 0 if it is unknown.
func detect() (have Features, l2 int) {
	at := func(f Features, register uint32, bit int) {
		if register>>bit&1 == 1 {
			have |= f
		}
	}
	most, _, _, _ := queryID(0, 0)
	_, _, c, _ := queryID(1, 0)
	at(POPCNT, c, 23)
	const osxsave, vectors, wide = 1 << 27, 1<<1 | 1<<2, 1<<5 | 1<<6 | 1<<7
	saved := uint32(0)
	if c&osxsave != 0 {
		saved = xgetbv()
	}
	if most >= 7 {
		_, b, c, _ := queryID(7, 0)
		at(BMI1, b, 3)
		at(BMI2, b, 8)
		if saved&vectors == vectors {
			at(AVX2, b, 5)
		}
		if saved&(vectors|wide) == vectors|wide {
			at(AVX512F, b, 16)
			at(AVX512DQ, b, 17)
			at(AVX512BW, b, 30)
			at(AVX512VL, b, 31)
			at(AVX512VBMI, c, 1)
		}
	}
	const extended = 1 << 31
	most, _, _, _ = queryID(extended, 0)
	if most >= extended+1 {
		_, _, c, _ := queryID(extended+1, 0)
		at(LZCNT, c, 5)
	}
	if most >= extended+6 {
		_, _, c, _ := queryID(extended+6, 0)
		l2 = int(c>>16) << 10
	}
	return have, l2
}
