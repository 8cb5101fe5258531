package inpacket

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkMatch measures a router's decision by form and number of links. It uses a few hundred
// headers in turn, so that branch predictors can't learn them.
func BenchmarkMatch(b *testing.B) {
	for _, f := range []struct {
		name string
		form Form
		k    uint8
		bits int
	}{
		{"single/m=157/k=4", Single, 4, 157},
		{"single/m=157/k=5", Single, 5, 157},
		{"single/m=2000/k=4", Single, 4, 2000},
		{"staged/m=170/k=4", Staged, 4, 170},
		{"folded/m=168/k=4", Folded, 4, 168},
		{"linear/m=60/k=0", Linear, 0, 60},
		{"linear/m=100/k=0", Linear, 0, 100},
		{"linear/m=100/k=4", Linear, 4, 100},
		{"linear/m=100/k=14", Linear, 14, 100},
		{"linear/m=167/k=14", Linear, 14, 167},
		{"linear/m=250/k=4", Linear, 4, 250},
		{"linear/m=250/k=9", Linear, 9, 250},
		{"linear/m=400/k=0", Linear, 0, 400},
		{"linear/m=400/k=4", Linear, 4, 400},
		{"linear/m=400/k=14", Linear, 14, 400},
		{"dense/m=256", Dense, 0, 256},
		{"dense/m=200", Dense, 0, 200},
		{"dense/m=576", Dense, 0, 576},
	} {
		for _, links := range []int{4, 8, 16, 29, 45} {
			b.Run(fmt.Sprintf("%s/links=%d", f.name, links), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, uint64(links)))
				table := tableFor(r, f.form, max(f.bits, 256), links)
				headers := make([]Header, 256)
				for i := range headers {
					headers[i] = randomHeader(r, f.form, f.k, f.bits)
				}
				var dst [1]uint64
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					table.Match(dst[:], &headers[i&255])
					i++
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(links), "ns/link")
			})
		}
	}
}

// tableFor returns a table of random links for a form.
func tableFor(r *rand.Rand, form Form, bits, links int) interface{ Match([]uint64, *Header) } {
	if form != Dense {
		return NewTable(randomCodewords(r, links))
	}
	sets := make([][]BitString, 8)
	for s := range sets {
		for range links {
			sets[s] = append(sets[s], randomBitString(r, bits, 5))
		}
	}
	return NewDenseTable(bits, sets)
}

func randomCodewords(r *rand.Rand, n int) []Codeword {
	cs := make([]Codeword, n)
	for i := range cs {
		cs[i] = Codeword{r.Uint64(), r.Uint64()}
	}
	return cs
}

// randomBitString returns a codeword of the given number of bits with up to k ones.
func randomBitString(r *rand.Rand, bits, k int) BitString {
	c := make(BitString, words(bits))
	for range k {
		at := r.IntN(bits)
		c[at>>6] |= 1 << (at & 63)
	}
	return c
}

// randomHeader returns a valid header whose filter is half full.
func randomHeader(r *rand.Rand, form Form, k uint8, bits int) Header {
	h := Header{TTL: 1, Form: form, K: k, Seed: uint16(r.IntN(256)), Bits: bits, Filter: randomFilter(r, bits)}
	switch form {
	case Dense:
		h.Seed &= 7
	case Folded:
		h.Seed = 0
	case Staged:
		h.Bits, h.Filter = randomStages(r, bits/4, 4)
		h.TTL = uint8(1 + r.IntN(4))
	}
	return h
}

func randomFilter(r *rand.Rand, bits int) []byte {
	f := make([]byte, (bits+7)/8)
	for i := range bits {
		f[i/8] |= byte(r.Uint32()&1) << (i % 8)
	}
	return f
}

// randomStages returns a filter of n stages of up to bits bits each, with its header, and its
// length.
func randomStages(r *rand.Rand, most, n int) (int, []byte) {
	var bits []byte // one each
	for range n {
		code, _ := StageCode(r.IntN(max(most-StageHeadBits, 1)))
		head := r.IntN(16) | int(code)<<4
		for i := range StageHeadBits {
			bits = append(bits, byte(head>>i&1))
		}
		for range StageBits(code) {
			bits = append(bits, byte(r.IntN(2)))
		}
	}
	f := make([]byte, (len(bits)+7)/8)
	for i, b := range bits {
		f[i/8] |= b << (i % 8)
	}
	return len(bits), f
}

// BenchmarkParse measures what a router does with a packet before it matches.
func BenchmarkParse(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, form := range []Form{Single, Staged, Folded, Linear, Dense} {
		b.Run(fmt.Sprintf("form=%d", form), func(b *testing.B) {
			h := randomHeader(r, form, 4, 168)
			if form == Dense {
				h.K = 0
			}
			packet := mustAppend(b, &h)
			full := 0
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.Parse(packet); err != nil {
					b.Fatal(err)
				}
				if h.Overfull() {
					full++
				}
			}
			if full > 0 && full < b.N {
				b.Fatalf("overfull %d times of %d, and always the same filter", full, b.N)
			}
		})
	}
}

// BenchmarkAppend measures encoding a header.
func BenchmarkAppend(b *testing.B) {
	h := randomHeader(rand.New(rand.NewPCG(1, 2)), Single, 4, 168)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if dst, err = h.AppendBinary(dst[:0]); err != nil {
			b.Fatal(err)
		}
	}
}
