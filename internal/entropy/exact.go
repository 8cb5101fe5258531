package entropy

import "slices"

// The first symbols of a payload are put on the state exactly: a symbol multiplies the state by
// the inverse of its probability, to within one, however small the state is. A symbol is a path
// of decisions between halves of the table; each is coded by uniform binary ANS (Duda 2013,
// arXiv:1311.2540, section 3; spec/codings.md, "Decoding").
//
// Of the states below d·2^15 exactly a·2^15 mean the upper half, and of those below 2^31 exactly
// f·2^15 mean a symbol of frequency f. Those states stay below 2^31 if the symbol is put
// exactly; the others reach 2^31 if it is put plainly. So the decoder can tell them apart.

// exactMax is the limit of states that are coded exactly.
const exactMax = exactUnit * whole

// exactUnit times the frequency of a symbol is the limit of states on which it is put exactly.
const exactUnit = 1 << 15

// exactPut returns the state, below exactMax, after symbol i is put on x, which is below the
// symbol's frequency times exactUnit.
func exactPut(x uint64, v view, i int) uint64 {
	var path [9]struct {
		a, d  uint64
		upper bool
	}
	depth := 0
	for lo, hi := 0, v.n; hi-lo > 1; depth++ {
		mid := (lo + hi) / 2
		p := &path[depth]
		p.a, p.d, p.upper = v.at(hi)-v.at(mid), v.at(hi)-v.at(lo), i >= mid
		if p.upper {
			lo = mid
		} else {
			hi = mid
		}
	}
	for _, p := range slices.Backward(path[:depth]) {
		if p.upper {
			x = x * p.d / p.a
		} else {
			zeros := p.d - p.a
			x = ((x+1)*p.d+zeros-1)/zeros - 1
		}
	}
	return x
}

// exactTake returns the symbol on top of x < exactMax, and the state below it.
func exactTake(x uint64, v view) (i int, below uint64) {
	lo, hi := 0, v.n
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		a, d := v.at(hi)-v.at(mid), v.at(hi)-v.at(lo)
		ones := (x*a + d - 1) / d
		if ((x+1)*a+d-1)/d > ones {
			lo, x = mid, ones
		} else {
			hi, x = mid, x-ones
		}
	}
	return lo, x
}
