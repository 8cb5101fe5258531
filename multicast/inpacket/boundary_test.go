package inpacket

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// edges are lengths near the ends of words, bytes and sections.
var edges = []int{1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257, 320, 600, 4095, 4096, 4097, MaxBits - 1, MaxBits}

// sectioned are the forms with sections.
var sectioned = []Form{Linear, Deep, Complement}

// TestSectionsAtEdges: Match of forms with sections agrees with the definition of rows and
// sections, at every length that its loops treat differently.
func TestSectionsAtEdges(t *testing.T) {
	for _, form := range sectioned {
		for k := range uint8(16) {
			testSectionsAtEdges(t, form, k)
		}
	}
}

func testSectionsAtEdges(t *testing.T, form Form, k uint8) {
	r := rand.New(rand.NewPCG(uint64(form), uint64(k)))
	for _, m := range edges {
		links := 67
		if m > 600 {
			links = 3
		}
		h := Header{Form: form, K: k, Seed: uint16(r.Uint32()), Bits: m, Filter: randomFilter(r, m)}
		cs := randomCodewords(r, links)
		dst := make([]uint64, words(links))
		NewTable(cs).Match(dst, &h)
		sections, lengths := Sections(form, k, m)
		for i, c := range cs {
			want, at := uint64(1), 0
			for p, length := range lengths[:sections] {
				odd := 0
				for w, v := range c.AppendRow(nil, h.Seed, p, length) {
					odd += bits.OnesCount64(v & uint64(number(h.Filter, at+w*64, min(64, length-w*64))))
				}
				want &= uint64(odd)
				at += length
			}
			if form == Complement {
				want = ^want
			}
			if got := dst[i/64] >> (i % 64) & 1; got != want&1 {
				t.Fatalf("form %d, K %d, %d bits: link %d: %d, want %d", form, k, m, i, got, want&1)
			}
		}
	}
}

// TestSingleAtEdges: Match of Single tests the positions that senders set, at every length and
// number of positions: a link with one position unset doesn't match.
func TestSingleAtEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	for k := uint8(1); k <= maxK; k++ {
		for _, m := range edges {
			cs := randomCodewords(r, 5)
			h := Header{Form: Single, K: k, Seed: uint16(r.Uint32()), Bits: m, Filter: make([]byte, (m+7)/8)}
			if err := h.Or(cs[0]); err != nil {
				t.Fatal(err)
			}
			dst := make([]uint64, 1)
			table := NewTable(cs[:1])
			if table.Match(dst, &h); dst[0] != 1 {
				t.Fatalf("K %d, %d bits: a link that was added isn't held", k, m)
			}
			for _, p := range cs[0].AppendPositions(nil, uint32(h.Seed), k, m) {
				h.Filter[p>>3] &^= 1 << (p & 7)
				if table.Match(dst, &h); dst[0] != 0 {
					t.Fatalf("K %d, %d bits: held without position %d", k, m, p)
				}
				h.Filter[p>>3] |= 1 << (p & 7)
			}
		}
	}
}

// TestStreamRangesDontOverlap: different seeds and sections use different values: a row of the
// longest section ends where the next section begins, and the last section ends where the next
// seed begins. The sections from the fifth on use the values of seeds above all that headers have.
func TestStreamRangesDontOverlap(t *testing.T) {
	for _, form := range sectioned {
		for k := range uint8(16) {
			sections, lengths := Sections(form, k, MaxBits)
			for p, length := range lengths[:sections] {
				if words(length) > 1<<sectionLog {
					t.Errorf("form %d, K %d: section %d takes %d values, and there are %d", form, k, p, words(length), 1<<sectionLog)
				}
			}
		}
	}
	first := map[uint64]bool{}
	for _, seed := range []uint16{0, 1, 2, 1<<16 - 2, 1<<16 - 1} {
		for p := range maxSections {
			v := sectionValue(seed, p)
			if first[v] || v&(1<<sectionLog-1) != 0 || p < 4 != (v>>seedLog < 1<<16) {
				t.Errorf("seed %d, section %d begins at value %d", seed, p, v)
			}
			first[v] = true
		}
	}
	if maxK > 2<<seedLog {
		t.Errorf("%d positions don't fit in the values of a seed", maxK)
	}
	last := uint64(StageSeed(1<<16-1, 15))<<seedLog + 1<<seedLog - 1
	if last>>32 != 0 {
		t.Errorf("the last value of the last stage's seed is %d, above 2^32", last)
	}
}

// TestSearchOf255Stages: the largest number of stages is found, and each stage matches at its
// own TTL.
func TestSearchOf255Stages(t *testing.T) {
	deep := Task{Tree: make([][]Codeword, 255), Others: make([][]Codeword, 255)}
	for i := range deep.Tree {
		deep.Tree[i], deep.Others[i] = codewords(i, 1), codewords(1000+i, 1)
	}
	f, err := Search(deep, Options{Forms: []Form{Staged}, Seeds: 16})
	if err != nil {
		t.Fatal(err)
	}
	checkFound(t, deep, f)
}

// TestSearchAtEdges: for tasks near the lengths at which filters begin a new word, routers agree
// with the search, for every seed.
func TestSearchAtEdges(t *testing.T) {
	for _, size := range []struct{ tree, others int }{{1, 1}, {13, 20}, {15, 40}, {16, 41}, {30, 50}, {31, 52}, {62, 63}, {63, 64}, {64, 65}, {65, 130}} {
		task := oneHop(size.tree, size.others)
		for _, form := range searched {
			t.Run(fmt.Sprintf("%s/%d-%d", form.name, size.tree, size.others), func(t *testing.T) {
				for _, o := range []Options{{Seeds: 1}, {Seeds: 8}, {Seeds: 8, MaxFalseMatch: 0.07}} {
					if form.form == Complement && o.MaxFalseMatch > 0 {
						continue
					}
					o.Forms = []Form{form.form}
					f, err := Search(task, o)
					if err != nil {
						t.Fatal(err)
					}
					checkFound(t, task, f)
				}
			})
		}
	}
}
