package entropy

// The start of a payload is coded exactly: a symbol multiplies the state by the
// inverse of its chance, to within a unit, however small the state is. A symbol is a
// path of decisions between halves of the table, and each is coded by uniform binary
// ANS (Duda 2013, arXiv:1311.2540, section 3), where of any d states in a row a or so
// mean the upper half, if it has the frequency a of d.

// exactMax bounds the states that are coded exactly.
const exactMax = 1 << 31

// exactPut returns the state after symbol i is put on x, and whether it is below
// exactMax.
func exactPut(x uint64, v view, i int) (uint64, bool) {
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
	for depth--; depth >= 0 && x < exactMax; depth-- {
		p := path[depth]
		if p.upper {
			x = x * p.d / p.a
		} else {
			zeros := p.d - p.a
			x = ((x+1)*p.d+zeros-1)/zeros - 1
		}
	}
	return x, x < exactMax
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
