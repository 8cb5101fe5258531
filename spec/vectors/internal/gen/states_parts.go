package main

import (
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/union"
)

var spoiltParts = []corruption{
	{"part", "a part", func(s *umbel.State) bool {
		had := len(s.Parts) > 0
		s.Parts = []umbel.State{s.Clone()}
		return !had
	}},
	{"no-part", "no part", func(s *umbel.State) bool {
		had := len(s.Parts) > 0
		s.Parts = nil
		return had
	}},
	{"part-more", "a part too many", func(s *umbel.State) bool {
		most := 1
		switch {
		case hasParam(s, "planes"):
			most = int(s.Params.Uint("planes"))
		case !hasParam(s, "fold"):
			return false // there may be any number
		}
		for len(s.Parts) <= most {
			s.Parts = append(s.Parts, s.Parts[0].Clone())
		}
		return true
	}},
	{"part-hash", "a part of another hasher", onPart(func(p *umbel.State) bool {
		p.Hasher = umbel.Hasher{Alg: umbel.SipHash}
		return true
	})},
	{"part-kind", "a part of a kind that isn't one of its parts", func(s *umbel.State) bool {
		return s.Kind != union.Name && onPart(func(p *umbel.State) bool {
			*p = umbel.State{Kind: "splitblock", Hasher: p.Hasher, Arrays: []cells.Array{emptyCells(256, 1)}}
			return true
		})(s)
	}},
	{"part-union", "a union in a union", func(s *umbel.State) bool {
		return s.Kind == union.Name && onPart(func(p *umbel.State) bool { *p = s.Clone(); return true })(s)
	}},
	{"part-weighted", "a filter with classes in a union", func(s *umbel.State) bool {
		return s.Kind == union.Name && onPart(func(p *umbel.State) bool { *p = ofOneK("weighted", p.Hasher, 64); return true })(s)
	}},
	{"parts-1025", "a part more than 1024", func(s *umbel.State) bool {
		for s.Kind == union.Name && len(s.Parts) <= union.MaxMembers {
			s.Parts = append(s.Parts, ofOneK("bloom", s.Hasher, 1))
		}
		return s.Kind == union.Name
	}},
	{"part-part", "a part that has a part", onPart(func(p *umbel.State) bool {
		p.Parts = []umbel.State{p.Clone()}
		return true
	})},
	{"part-no-plane", "a part without a plane", onPart(func(p *umbel.State) bool {
		had := len(p.Arrays) > 0
		p.Arrays = nil
		return had
	})},
	{"part-counters", "a part with cells of 2 bits", onPart(ofWidth(2))},
	{"part-k-0", "a part in which k is 0", onPart(param("k", 0))},
	{"part-size", "a part of another size", func(s *umbel.State) bool {
		equalParts := hasParam(s, "full") && len(s.Parts) > 1 || hasParam(s, "planes")
		return equalParts && onPart(func(p *umbel.State) bool {
			p.Arrays[0] = emptyCells(p.Arrays[0].Len+64, p.Arrays[0].Width)
			return true
		})(s)
	}},
	{"part-mixed", "a part of bits among parts of counters", func(s *umbel.State) bool {
		return len(s.Parts) > 1 && s.Parts[0].Kind == "counting" && onPart(func(p *umbel.State) bool {
			p.Kind, p.Params = "bloom", p.Params[:2]
			return ofWidth(1)(p)
		})(s)
	}},
	{"part-group", "a part with groups of single cells", func(s *umbel.State) bool {
		// In others of these any group may come that divides the cells.
		return (hasParam(s, "slice") || hasParam(s, "planes")) && onPart(func(p *umbel.State) bool {
			return p.Params.Uint("group") == 6 && param("group", 0)(p)
		})(s)
	}},
	{"part-order", "the first part is larger than the last", func(s *umbel.State) bool {
		ordered := hasParam(s, "slice") || hasParam(s, "planes")
		slices.Reverse(s.Parts)
		return ordered && len(s.Parts) > 1 && s.Parts[0].Bytes() > s.Parts[len(s.Parts)-1].Bytes()
	}},

	{"layer-float", "a layer's entries are a float", onPart(number("entries", umbel.Float(1)))},
	{"layer-whole", "a layer's bits per key are a whole number", onPart(func(p *umbel.State) bool {
		return param("bits-per-key", uint64(float64(p.Params.Uint("k"))/math.Ln2))(p)
	})},
	{"layer-name", "a layer's error rate under another name", onPart(func(p *umbel.State) bool {
		had := hasParam(p, "error-rate")
		if had {
			p.Params[4].Name = "zz"
		}
		return had
	})},
	{"layer-rate-1", "a layer with error rate 1", onPart(number("error-rate", umbel.Float(1)))},
	{"layer-capacity-0", "a layer for no entries", onPart(param("capacity", 0))},
	{"layer-entries", "more than 2^64 entries", func(s *umbel.State) bool { return len(s.Parts) > 1 && onPart(param("entries", last))(s) }},
	{"layer-k", "a layer whose k isn't that of its bits per key", onPart(func(p *umbel.State) bool {
		return hasParam(p, "bits-per-key") && param("k", p.Params.Uint("k")+1)(p)
	})},
	{"layer-k-0", "a layer with no bits per key", onPart(layerK(0, 0))},
	{"layer-k-1075", "a layer whose k is larger than any rate gives", onPart(layerK(1075, 1550))},
	{"layer-n2", "a layer of other than 2^n2 cells", onPart(param("n2", 20))},
	{"layer-cells", "a layer of 65 cells", onPart(func(p *umbel.State) bool {
		if !hasParam(p, "n2") {
			return false
		}
		p.Arrays[0] = emptyCells(65, 1)
		return true
	})},
}

// ofOneK returns an empty state of kind bloom, or of one with the same parameters, with k = 1.
func ofOneK(kind string, h umbel.Hasher, m uint64) umbel.State {
	return umbel.State{Kind: kind, Hasher: h, Arrays: []cells.Array{emptyCells(m, 1)}, Params: umbel.Params{
		{Name: "k", Value: umbel.Uint(1)}, {Name: "group", Value: umbel.Uint(0)},
	}}
}

// layerK sets both numbers that contain the k of a layer.
func layerK(k uint64, bitsPerKey float64) func(*umbel.State) bool {
	return func(p *umbel.State) bool {
		return number("bits-per-key", umbel.Float(bitsPerKey))(p) && param("k", k)(p)
	}
}

// onPart changes the last part, if there is one.
func onPart(change func(*umbel.State) bool) func(*umbel.State) bool {
	return func(s *umbel.State) bool { return len(s.Parts) > 0 && change(&s.Parts[len(s.Parts)-1]) }
}

var spoiltTables = []corruption{
	{"three-planes", "a plane behind the table", func(s *umbel.State) bool {
		s.Arrays = append(s.Arrays, emptyCells(64, 1))
		return len(s.Arrays) == 3
	}},
	{"table-empty", "a table of nothing", onTable(64, func(a *cells.Array) { *a = cells.Array{Width: 64} })},
	{"table-width", "a table with cells of 16 bits, whose first bytes are a prefix", onTable(8, func(a *cells.Array) {
		*a = emptyCells(3, 16)
		a.Put(0, 1<<8)
		a.Put(1, 'a')
	})},
	{"table-order", "digests in a table that don't ascend", onTable(64, func(a *cells.Array) { slices.Reverse(a.Words) })},
	{"table-twice", "a digest twice in a table", onTable(64, func(a *cells.Array) { a.Words[1] = a.Words[0]&^0xff | 2 })},
	{"table-class-0", "a digest of class 0 in a table", onTable(64, func(a *cells.Array) { a.Words[0] &^= 0xff })},
	{"table-class-3", "a digest in a table whose class there isn't", onTable(64, func(a *cells.Array) { a.Words[0] |= 3 })},
	{"prefix-class-3", "a prefix whose class there isn't", onTable(8, func(a *cells.Array) { a.Put(0, 3) })},
	{"prefix-empty", "a prefix without bytes", onTable(8, func(a *cells.Array) { *a = emptyCells(2, 8) })},
	{"prefix-cut", "a prefix that isn't all there", onTable(8, func(a *cells.Array) { *a = cut(*a, 6) })},
	{"prefix-tail", "a class without a prefix behind the last", onTable(8, func(a *cells.Array) { *a = cut(*a, 8) })},
	{"prefix-order", "prefixes that don't ascend", onTable(8, func(a *cells.Array) { a.Put(2, 'z') })},
	{"prefix-twice", "a prefix twice", onTable(8, func(a *cells.Array) {
		*a = emptyCells(6, 8)
		for i := range uint64(2) {
			a.Put(3*i, i)
			a.Put(3*i+1, 1)
			a.Put(3*i+2, 'a')
		}
	})},
}

// onTable changes the second array, if it has the given width.
func onTable(width uint, change func(*cells.Array)) func(*umbel.State) bool {
	return func(s *umbel.State) bool {
		if len(s.Arrays) < 2 || s.Arrays[1].Width != width {
			return false
		}
		change(&s.Arrays[1])
		return true
	}
}

// cut returns the first n cells of a.
func cut(a cells.Array, n uint64) cells.Array {
	b := emptyCells(n, a.Width)
	for i := range n {
		b.Put(i, a.Get(i))
	}
	return b
}
