package inpacket

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
)

var searched = []struct {
	name string
	form Form
}{{"single", Single}, {"staged", Staged}, {"folded", Folded}, {"linear", Linear}, {"deep", Deep}, {"complement", Complement}}

// checkFound fails unless routers match f as the task requires.
func checkFound(t *testing.T, task Task, f Found) {
	t.Helper()
	h := Header{Form: f.Form, K: f.K, Seed: f.Seed, Bits: f.Bits, Filter: f.Filter}
	if _, err := h.AppendBinary(nil); err != nil {
		t.Fatalf("%+v: %v", f, err)
	}
	if h.Overfull() {
		t.Errorf("%+v is overfull", f)
	}
	rate := 0.0
	for hop := range task.hops() {
		h.TTL = uint8(hop + 1)
		rate += h.FalseMatch() / float64(task.hops())
	}
	if math.Abs(rate-f.FalseMatch) > 1e-12 {
		t.Errorf("%+v: the header's false-match rate is %g over all hops", f, rate)
	}
	for hop := range max(len(task.Tree), len(task.Others)) {
		h.TTL = uint8(task.hops() - min(hop, task.hops()))
		for i, want := range []uint64{1, 0} {
			hops := [][][]Codeword{task.Tree, task.Others}[i]
			if hop >= len(hops) || len(hops[hop]) == 0 {
				continue
			}
			dst := make([]uint64, words(len(hops[hop])))
			NewTable(hops[hop]).Match(dst, &h)
			for link := range hops[hop] {
				if got := dst[link>>6] >> (link & 63) & 1; got != want {
					t.Errorf("form %d, K %d, seed %d, %d bits: link %d of hop %d: match %d, want %d", f.Form, f.K, f.Seed, f.Bits, link, hop, got, want)
				}
			}
		}
	}
}

// tasks calls f with random tasks of many sizes.
func tasks(t *testing.T, f func(t *testing.T, task Task)) {
	r := rand.New(rand.NewPCG(7, 1))
	for i := range 60 {
		nodes := 2 + r.IntN(1<<(1+i%7))
		n := randomNetwork(r, nodes, r.IntN(3*nodes))
		task := n.task(r, 1+r.IntN(nodes))
		tree, others := task.count()
		t.Run(fmt.Sprintf("%d-%d-%d", i, tree, others), func(t *testing.T) { f(t, task) })
	}
}

func TestSearchHasNoFalseMatch(t *testing.T) {
	tasks(t, func(t *testing.T, task Task) {
		least := MaxBits + 16
		for _, form := range searched {
			f, err := Search(task, Options{Forms: []Form{form.form}, Seeds: 16})
			if err != nil {
				t.Fatal(form.name, err)
			}
			if f.Form != form.form || f.Trials == 0 {
				t.Errorf("form %d after %d trials, want %s", f.Form, f.Trials, form.name)
			}
			checkFound(t, task, f)
			least = min(least, f.Cost())
		}
		forms := []Form{Single, Staged, Folded, Linear, Deep, Complement}
		f, err := Search(task, Options{Forms: forms, Seeds: 16})
		if err != nil {
			t.Fatal(err)
		}
		checkFound(t, task, f)
		if f.Cost() != least {
			t.Errorf("of all forms %d bits, want those of the best, %d", f.Cost(), least)
		}
		slices.Reverse(forms)
		again, err := Search(task, Options{Forms: forms, Seeds: 16})
		if err != nil || !reflect.DeepEqual(f, again) {
			t.Errorf("searched again %+v, %v, want %+v", again, err, f)
		}
	})
}

// codewords returns n codewords, which depend on i.
func codewords(i, n int) []Codeword {
	cs := make([]Codeword, n)
	for j := range cs {
		cs[j] = arc(i, j)
	}
	return cs
}

// oneHop returns a task of one hop.
func oneHop(tree, others int) Task {
	return Task{[][]Codeword{codewords(1, tree)}, [][]Codeword{codewords(2, others)}}
}

func TestSearchGolden(t *testing.T) {
	task := Task{
		Tree:   [][]Codeword{codewords(1, 3), codewords(2, 4), codewords(3, 2)},
		Others: [][]Codeword{codewords(4, 6), codewords(5, 12), codewords(6, 9)},
	}
	for _, want := range []struct {
		name  string
		form  Form
		found string
	}{
		{"single", Single, "K 4 seed 42 bits 24 filter ba7fb0 rate 0.152588"},
		{"staged", Staged, "K 2 seed 1 bits 47 filter 3cc02f603d60 rate 0.238519"},
		{"folded", Folded, "K 6 seed 0 bits 55 filter 3d2ef219b1ff33 rate 0.046656"},
		{"linear", Linear, "K 7 seed 222 bits 20 filter 2c1708 rate 0.250000"},
	} {
		t.Run(want.name, func(t *testing.T) {
			f, err := Search(task, Options{Forms: []Form{want.form}})
			if err != nil {
				t.Fatal(err)
			}
			checkFound(t, task, f)
			if got := fmt.Sprintf("K %d seed %d bits %d filter %x rate %.6f", f.K, f.Seed, f.Bits, f.Filter, f.FalseMatch); got != want.found {
				t.Errorf("found %s, want %s", got, want.found)
			}
		})
	}
}

func TestSearchEmptyTree(t *testing.T) {
	for _, task := range []Task{{}, {Others: [][]Codeword{codewords(1, 70)}}, {Tree: make([][]Codeword, 3)}} {
		f, err := Search(task, Options{Forms: []Form{Linear}, MaxBits: 1})
		if err != nil || f.Form != Single || f.Bits != 1 || f.Filter[0] != 0 || f.FalseMatch != 0 {
			t.Errorf("found %+v, %v, want one bit that is zero", f, err)
		}
		checkFound(t, task, f)
	}
}

func TestSearchMaxFalseMatch(t *testing.T) {
	task := randomNetwork(rand.New(rand.NewPCG(3, 3)), 80, 60).task(rand.New(rand.NewPCG(4, 4)), 10)
	for _, form := range searched {
		bits := 0
		for _, most := range []float64{.75, .5, .1, .07} {
			if form.form == Complement && most < .75 {
				if f, err := Search(task, Options{Forms: []Form{Complement}, MaxFalseMatch: most}); !errors.Is(err, ErrTooLong) {
					t.Errorf("complement with a false-match rate of %g: found %+v, %v, want ErrTooLong", most, f, err)
				}
				continue
			}
			f, err := Search(task, Options{Forms: []Form{form.form}, MaxFalseMatch: most, Seeds: 16})
			if err != nil {
				t.Fatal(form.name, err)
			}
			checkFound(t, task, f)
			if f.FalseMatch > most || f.FalseMatch <= 0 {
				t.Errorf("%s: false-match rate %g, want at most %g", form.name, f.FalseMatch, most)
			}
			if got := measuredFalseMatch(task, f); got < f.FalseMatch/2-.01 || got > f.FalseMatch*2+.01 {
				t.Errorf("%s: %.3f of unknown match, want %.3f", form.name, got, f.FalseMatch)
			}
			if f.Cost() < bits {
				t.Errorf("%s: %d bits with a false-match rate of %g, fewer than with a larger one, %d", form.name, f.Cost(), most, bits)
			}
			bits = f.Cost()
		}
	}
	for _, of := range []struct {
		form  Form
		least float64
	}{{Linear, 1. / 16}, {Deep, 1. / 256}} {
		if f, err := Search(task, Options{Forms: []Form{of.form}, MaxFalseMatch: of.least}); err != nil || f.FalseMatch != of.least {
			t.Errorf("form %d with a false-match rate of %g: found %+v, %v", of.form, of.least, f, err)
		}
		if _, err := Search(task, Options{Forms: []Form{of.form}, MaxFalseMatch: of.least * .99}); !errors.Is(err, ErrTooLong) {
			t.Errorf("form %d with a false-match rate below %g: %v, want ErrTooLong", of.form, of.least, err)
		}
	}
	f, err := Search(task, Options{MaxFalseMatch: 1e-4, Seeds: 4})
	if err != nil || f.FalseMatch > 1e-4 {
		t.Errorf("false-match rate %g, %v, want at most 1e-4", f.FalseMatch, err)
	}
	checkFound(t, task, f)
}

// measuredFalseMatch returns the fraction of 2000 links outside the task that match, over all
// its hops.
func measuredFalseMatch(task Task, f Found) float64 {
	h := Header{Form: f.Form, K: f.K, Seed: f.Seed, Bits: f.Bits, Filter: f.Filter}
	unknown := codewords(1<<20, 2000)
	dst := make([]uint64, words(len(unknown)))
	held, hops := 0, task.hops()
	for hop := range hops {
		h.TTL = uint8(hops - hop)
		NewTable(unknown).Match(dst, &h)
		for _, w := range dst {
			held += bits.OnesCount64(w)
		}
	}
	return float64(held) / float64(len(unknown)*hops)
}

func TestSearchMaxBits(t *testing.T) {
	task := oneHop(12, 40)
	for _, form := range searched {
		f, err := Search(task, Options{Forms: []Form{form.form}, Seeds: 16})
		if err != nil {
			t.Fatal(form.name, err)
		}
		if g, err := Search(task, Options{Forms: []Form{form.form}, Seeds: 16, MaxBits: f.Bits}); err != nil || g.Bits != f.Bits {
			t.Errorf("%s: in at most %d bits found %d, %v", form.name, f.Bits, g.Bits, err)
		}
		if g, err := Search(task, Options{Forms: []Form{form.form}, Seeds: 16, MaxBits: f.Bits / 2}); !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: in at most %d bits found %d, %v, want ErrTooLong", form.name, f.Bits/2, g.Bits, err)
		}
	}
}

func TestSearchLinksAtTwoHops(t *testing.T) {
	a, b, c := codewords(1, 3), codewords(2, 3), codewords(3, 3)
	torn := Task{[][]Codeword{a, b}, [][]Codeword{c, a}} // a is in the tree at hop 0, and mustn't match at hop 1
	for _, form := range searched {
		f, err := Search(torn, Options{Forms: []Form{form.form}})
		if form.form != Staged {
			if !errors.Is(err, umbel.ErrGoal) {
				t.Errorf("%s: found %+v, %v, want ErrGoal", form.name, f, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		checkFound(t, torn, f)
	}
	f, err := Search(torn, Options{})
	if err != nil || f.Form != Staged {
		t.Errorf("found form %d, %v, want %d", f.Form, err, Staged)
	}
	if _, err := Search(Task{[][]Codeword{a}, [][]Codeword{a[1:]}}, Options{}); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a link held and not held at one hop: %v, want ErrGoal", err)
	}
	// The same link twice counts once.
	once, err := Search(Task{[][]Codeword{a, nil}, [][]Codeword{b, c}}, Options{Forms: []Form{Linear}})
	if err != nil {
		t.Fatal(err)
	}
	twice, err := Search(Task{[][]Codeword{append(a, a...), a}, [][]Codeword{b, append(c, b...)}}, Options{Forms: []Form{Linear}})
	if err != nil || !reflect.DeepEqual(once, twice) {
		t.Errorf("found %+v, %v, want %+v", twice, err, once)
	}
}

// TestSearchHopsWithout: a hop may have no links of the tree, and links may be queried after the
// last hop.
func TestSearchHopsWithout(t *testing.T) {
	task := Task{
		Tree:   [][]Codeword{codewords(1, 2), nil, codewords(2, 3), nil},
		Others: [][]Codeword{nil, codewords(3, 5), codewords(4, 5), codewords(5, 5), codewords(6, 5)},
	}
	for _, form := range searched {
		f, err := Search(task, Options{Forms: []Form{form.form}})
		if err != nil {
			t.Fatal(form.name, err)
		}
		checkFound(t, task, f)
	}
	deep := Task{Tree: make([][]Codeword, 256)}
	for i := range deep.Tree {
		deep.Tree[i] = codewords(i, 1)
	}
	if _, err := Search(deep, Options{Forms: []Form{Staged}}); !errors.Is(err, ErrTooLong) {
		t.Errorf("256 stages: %v, want ErrTooLong", err)
	}
}

func TestSearchOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want error
	}{
		{"dense", Options{Forms: []Form{Single, Dense}}, errors.ErrUnsupported},
		{"form 5", Options{Forms: []Form{Dense + 1}}, umbel.ErrGoal},
		{"unknown form", Options{Forms: []Form{Complement + 1}}, umbel.ErrGoal},
		{"seeds below", Options{Seeds: -1}, umbel.ErrGoal},
		{"seeds above", Options{Seeds: 1<<16 + 1}, umbel.ErrGoal},
		{"rate below", Options{MaxFalseMatch: -.1}, umbel.ErrGoal},
		{"rate above", Options{MaxFalseMatch: 1.1}, umbel.ErrGoal},
		{"no number", Options{MaxFalseMatch: math.NaN()}, umbel.ErrGoal},
		{"bits below", Options{MaxBits: -1}, umbel.ErrGoal},
		{"bits above", Options{MaxBits: MaxBits + 1}, umbel.ErrGoal},
	} {
		t.Run(c.name, func(t *testing.T) {
			if f, err := Search(oneHop(3, 3), c.o); !errors.Is(err, c.want) {
				t.Errorf("found %+v, %v, want %v", f, err, c.want)
			}
		})
	}
}

// TestSearchWideSeeds: more seeds find filters that are at most as long, including the bytes of
// wide seeds.
func TestSearchWideSeeds(t *testing.T) {
	task := oneHop(20, 60)
	wide := 0
	for _, form := range searched {
		few, err := Search(task, Options{Forms: []Form{form.form}})
		if err != nil {
			t.Fatal(form.name, err)
		}
		many, err := Search(task, Options{Forms: []Form{form.form}, Seeds: 1 << 13})
		if err != nil {
			t.Fatal(form.name, err)
		}
		checkFound(t, task, many)
		if many.Cost() > few.Cost() {
			t.Errorf("%s: %d bits with 2^13 seeds, want at most %d", form.name, many.Cost(), few.Cost())
		}
		if many.Seed > 0xff {
			wide++
			if many.Cost() != many.Bits+16 {
				t.Errorf("%s: %d bits and seed %d cost %d, want 16 more", form.name, many.Bits, many.Seed, many.Cost())
			}
		}
	}
	if wide == 0 {
		t.Error("no wide seed was worth it")
	}
}

// TestSearchSingleMissesLittle: the search skips hopeless cases. This costs at most 10 bits in
// 40 small tasks, compared with all seeds, lengths and numbers of positions.
func TestSearchSingleMissesLittle(t *testing.T) {
	const seeds = 8
	missed := 0
	for i := range 40 {
		tree, others := 1+i%8, i/4*3
		task := oneHop(tree, others)
		f, err := Search(task, Options{Forms: []Form{Single}, Seeds: seeds})
		if err != nil {
			t.Fatal(err)
		}
		if best := exhaustSingle(task, seeds, f.Bits); best < f.Bits {
			t.Logf("%d links and %d others: %d bits, and %d would do", tree, others, f.Bits, best)
			missed += f.Bits - best
		}
	}
	if missed > 10 {
		t.Errorf("40 filters are %d bits longer than they have to be, want at most 10", missed)
	}
}

// exhaustSingle returns the length of the shortest valid Single filter below m bits, or m.
func exhaustSingle(task Task, seeds, m int) int {
	tree, others := NewTable(task.Tree[0]), NewTable(task.Others[0])
	held := make([]uint64, words(others.Len())+1)
	for bits := 1; bits < m; bits++ {
		for seed := range seeds {
			for k := range uint8(maxK) {
				h := Header{Form: Single, K: k + 1, Seed: uint16(seed), Bits: bits, Filter: make([]byte, (bits+7)>>3)}
				for _, c := range tree.codewords {
					if err := h.Or(c); err != nil {
						panic(err)
					}
				}
				clear(held)
				others.Match(held, &h)
				if !h.Overfull() && !slices.ContainsFunc(held, func(w uint64) bool { return w != 0 }) {
					return bits
				}
			}
		}
	}
	return m
}

// TestSearchLinearMissesLittle: for small tasks the filter found is hardly longer than the
// shortest of all Linear filters.
func TestSearchLinearMissesLittle(t *testing.T) {
	const seeds = 4
	for i := range 12 {
		tree, others := 1+i%3, 1+i/2
		task := oneHop(tree, others)
		f, err := Search(task, Options{Forms: []Form{Linear}, Seeds: seeds})
		if err != nil {
			t.Fatal(err)
		}
		if best := exhaustLinear(task, seeds, min(f.Bits, 12)); best < f.Bits-2 {
			t.Errorf("%d links and %d others: %d bits, and %d would do", tree, others, f.Bits, best)
		}
	}
}

// exhaustLinear returns the length of the shortest valid Linear filter below m bits, or m.
func exhaustLinear(task Task, seeds, m int) int {
	tree, others := NewTable(task.Tree[0]), NewTable(task.Others[0])
	var held, not [1]uint64
	for bits := 1; bits < m; bits++ {
		for filter := range uint16(1) << bits {
			h := Header{Form: Linear, Bits: bits, Filter: []byte{byte(filter), byte(filter >> 8)}[:(bits+7)>>3]}
			for i := range seeds * len(splits[Linear]) {
				h.Seed, h.K = uint16(i/len(splits[Linear])), uint8(i%len(splits[Linear]))
				tree.Match(held[:], &h)
				others.Match(not[:], &h)
				if held[0] == 1<<tree.Len()-1 && not[0] == 0 && !h.Overfull() {
					return bits
				}
			}
		}
	}
	return m
}

// TestSearchLarge: a task that is too large for packets is searched with fewer seeds.
func TestSearchLarge(t *testing.T) {
	task := oneHop(300, 900)
	for _, form := range searched {
		f, err := Search(task, Options{Forms: []Form{form.form}, Seeds: 2})
		if form.form == Staged {
			if !errors.Is(err, ErrTooLong) {
				t.Errorf("300 links in a stage of at most %d bits: %v, want ErrTooLong", maxStageBits, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(form.name, err)
		}
		checkFound(t, task, f)
	}
}

func TestSearchSingleExact(t *testing.T) {
	// One link and none next to it: two bits, of which one is set.
	f, err := Search(oneHop(1, 0), Options{Forms: []Form{Single}})
	if err != nil || f.Bits != 2 || f.FalseMatch != .5 {
		t.Errorf("found %+v, %v, want 2 bits", f, err)
	}
}
