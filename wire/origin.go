package wire

import "github.com/umbel-filters/umbel"

// origins returns for each part of a result the part of the base that it is best told
// from, and -1 where there is none of its kind and hasher. Filters grow at the end or in
// front, and lose parts anywhere; so what is looked at is the part of the same number
// counted from either end, the one after the last that was found, and the one whose
// sample is the same.
func origins(base, result []umbel.State) []int {
	from := make([]int, len(result))
	var same map[uint64]int
	last := -1
	for i, s := range result {
		from[i] = -1
		least := uint64(0)
		try := func(j int) {
			if j < 0 || j >= len(base) || s.Alike(base[j]) != nil {
				return
			}
			if d := unlikeness(base[j], s); from[i] < 0 || d < least {
				from[i], least = j, d
			}
		}
		if try(i); from[i] < 0 || least > 0 {
			if same == nil {
				same = prints(base)
			}
			if j, ok := same[fingerprint(s)]; ok {
				try(j)
			}
			try(last + 1)
			try(i + len(base) - len(result))
		}
		last = from[i]
	}
	return from
}

// unlikeness returns about how many bits it takes to tell a state from another.
func unlikeness(base, s umbel.State) (bits uint64) {
	for i, a := range s.Arrays {
		size := a.Bytes() * 8
		switch {
		case i >= len(base.Arrays):
			bits += size
		case a.Len != base.Arrays[i].Len || max(a.Width, 1) != max(base.Arrays[i].Width, 1):
			bits += size / 2
		case size > 0:
			d, _ := distance(a.Words, base.Arrays[i].Words)
			bits += d
		}
	}
	for i, p := range s.Parts {
		if i < len(base.Parts) {
			bits += unlikeness(base.Parts[i], p)
		} else {
			bits += p.Bytes() * 8
		}
	}
	return bits
}

// prints returns the parts by their fingerprints, the first of equal ones.
func prints(parts []umbel.State) map[uint64]int {
	all := make(map[uint64]int, len(parts))
	for i := range parts {
		j := len(parts) - 1 - i
		all[fingerprint(parts[j])] = j
	}
	return all
}

// fingerprint returns a hash of the shape and of a sample of a state.
func fingerprint(s umbel.State) uint64 {
	h := uint64(len(s.Arrays))
	mix := func(x uint64) { h = umbel.DigestFromHash64(h ^ x).H2 }
	for _, a := range s.Arrays {
		mix(a.Len)
		for i := 0; i < len(a.Words); i += sampleStep(len(a.Words)) {
			mix(a.Words[i])
		}
	}
	for _, p := range s.Parts {
		mix(fingerprint(p))
	}
	return h
}
