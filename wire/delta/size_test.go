package delta_test

import (
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

// hashed returns an array of m bits in which each of n keys sets k.
func hashed(t testing.TB, rng *rand.Rand, m uint64, keys, k int) cells.Array {
	a := wiretest.Array(t, m, 1, wiretest.Zeros)
	for range keys * k {
		a.SetBit(rng.Uint64N(m))
	}
	return a
}

// bloomOf returns a state of one array.
func bloomOf(a cells.Array) umbel.State {
	return umbel.State{Kind: "bloom", Arrays: []cells.Array{a}}
}

// deltaHead is the length of a delta of a filter of one array without its blocks: magic, IDs,
// bytes, kind, parameters, numbers of arrays and parts, source, checksum.
const deltaHead = 3 + 4 + 8 + 1 + 4

// generalHead is that of a change of which not only blocks are written: the memory of the result as well, and numbers of
// parameters, arrays and parts, and the source of an array.
const generalHead = deltaHead + 4 + 1 + 1 + 1 + 2

// meanPayload returns the mean bytes of the blocks of deltas between filters in which a fraction
// c of n keys is replaced.
func meanPayload(t *testing.T, times int, m uint64, n, changed, k int) float64 {
	rng := rand.New(rand.NewPCG(m, uint64(k)))
	sum := 0
	for range times {
		stay := hashed(t, rng, m, n-changed, k)
		of := func() umbel.State {
			a := hashed(t, rng, m, changed, k)
			if err := a.Sum(stay); err != nil {
				t.Fatal(err)
			}
			return bloomOf(a)
		}
		sum += len(mustDelta(t, of(), of())) - deltaHead
	}
	return float64(sum) / float64(times)
}

// TestMitzenmacherDelta: Mitzenmacher 2002, section 5 and Table VI, sends the exclusive-or of
// two filters of n = 10^4 keys, m = 320000, k = 2, of which 5 % are replaced, in 2090 bytes on
// average with an arithmetic coder; its entropy is 2076 bytes. Given the base bits the entropy
// is 1822.1 bytes: m·(p·H(a) + (1-p)·H(p·a/(1-p))) with p the fill, a = 1-(1-p)^c.
func TestMitzenmacherDelta(t *testing.T) {
	const frame = 1 + 2 // coding, length of the payload
	if got, want := meanPayload(t, 200, 320000, 10000, 500, 2)-frame, 1826.0; got > want {
		t.Errorf("%.1f bytes on average, want %v at most", got, want)
	}
}

// TestSparseDelta: with one cell per key and m/n = 50, the entropy of a delta in which 1 % of
// the keys are replaced is 21.39 bits per key.
func TestSparseDelta(t *testing.T) {
	const changed = 1000
	if got, want := 8*meanPayload(t, 5, 5000000, 100000, changed, 1)/changed, 21.5; got > want {
		t.Errorf("%.2f bits a changed key, want %v at most", got, want)
	}
}

// TestRareBitsToTheEntropy: a delta of rare changes takes at most 40 bytes more than the entropy of its changes, 24 of which are its head. Lists
// of positions alone would take up to 0.7 % more.
func TestRareBitsToTheEntropy(t *testing.T) {
	rng := rand.New(rand.NewPCG(36, 138))
	for _, c := range []struct {
		changes int
		gap     uint64
	}{{200, 100_000}, {1000, 5000}, {2000, 10_000}, {2000, 30_000}, {10_000, 2100}, {10_000, 10_000}} {
		m := uint64(c.changes) * c.gap
		base := hashed(t, rng, m, int(m/100), 1)
		result := base.Clone()
		changed := [2]int{}
		for changed[0]+changed[1] < c.changes {
			i := rng.Uint64N(m)
			if v := base.Get(i); result.Get(i) == v && (v == 1 || changed[0] < c.changes/2) {
				result.Put(i, 1-v)
				changed[v]++
			}
		}
		ones := base.Nonzero()
		least := (choices(float64(ones), float64(changed[1])) + choices(float64(m-ones), float64(changed[0]))) / 8
		if over := float64(len(mustDelta(t, bloomOf(base), bloomOf(result)))) - least; over > 40 {
			t.Errorf("%d changes of %d bits: %.1f bytes over the entropy of %.0f", c.changes, m, over, least)
		}
	}
}

// TestDeltaFinds: if arrays and parts moved, grew or shrank with few changes, a delta finds them
// and takes little more than its header.
func TestDeltaFinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	plane := func(words int) cells.Array {
		return wiretest.Array(t, uint64(words)*64, 1, func(int) uint64 { return rng.Uint64() & rng.Uint64() })
	}
	part := func(words int) umbel.State {
		return umbel.State{Kind: "part", Params: umbel.Params{{Name: "k", Value: umbel.Uint(2)}}, Arrays: []cells.Array{plane(words)}}
	}
	touched := func(s umbel.State) umbel.State {
		s = s.Clone()
		for range 3 {
			a := s.Arrays[0]
			a.Words[rng.IntN(len(a.Words))] ^= 1 << rng.UintN(64)
		}
		return s
	}
	p, q, r := plane(3000), plane(3000), plane(3000)
	a, b, c, d := part(9000), part(1000), part(1000), part(1000)
	planes := func(ps ...cells.Array) umbel.State { return umbel.State{Kind: "x", Arrays: ps} }
	parts := func(ps ...umbel.State) umbel.State { return umbel.State{Kind: "x", Parts: ps} }
	for _, c := range []struct {
		name         string
		base, result umbel.State
		most         int // bytes in addition to the header
	}{
		{"nothing changed", planes(p, q, r), planes(p, q, r), 20},
		{"planes that rotate", planes(p, q, r), planes(r, p, q), 20},
		{"planes in front", planes(p, q), planes(wiretest.Array(t, 200*64, 1, wiretest.Zeros), p, q), 30},
		{"planes gone", planes(p, q, r), planes(r), 20},
		{"a fold", planes(p), planes(fold(t, p, 3)), 20},
		{"an unfold", planes(p), planes(unfold(t, p, 3)), 20},
		{"a fold by blocks", planes(p), planes(foldIn(t, p, 3, 512)), 24},
		{"parts in front", parts(b, c, d), parts(part(0), b, c, d), 60},
		{"parts behind", parts(b, c, d), parts(b, c, d, part(0)), 60},
		{"parts gone", parts(a, b, c, d), parts(a, c, d), 40},
		{"parts gone in front", parts(a, b, c, d), parts(touched(c), touched(d)), 60},
		{"parts changed", parts(a, b, c, d), parts(touched(a), touched(b), touched(c), touched(d)), 120},
		{"a part in another place", parts(a, b, c, d), parts(d, a, b, c), 40},
		{"an empty plane", planes(p), planes(wiretest.Array(t, 3000*64, 1, wiretest.Zeros)), 20},
		{"a full plane", planes(p), planes(wiretest.Array(t, 3000*64, 1, wiretest.Ones)), 20},
	} {
		head := generalHead + 1 + len("x")
		if got := len(mustDelta(t, c.base, c.result)) - head; got > c.most {
			t.Errorf("%s: %d bytes, want %d at most", c.name, got, c.most)
		}
	}
}

func foldIn(t testing.TB, a cells.Array, r, group uint64) cells.Array {
	a.Words = a.Words[:len(a.Words)/24*24]
	a.Len = uint64(len(a.Words)) * 64
	f, err := a.Fold(r, group)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDeltaOfUnlikeBlocks: a delta takes about the entropy, wherever the changes are and however
// many there are.
func TestDeltaOfUnlikeBlocks(t *testing.T) {
	const blocks = 40
	rng := rand.New(rand.NewPCG(5, 6))
	base := wiretest.Array(t, blocks<<19, 1, wiretest.Noise)
	for _, c := range []struct {
		name  string
		flips func(block int) int
		most  int
	}{
		{"one", func(i int) int { return b2i(i == 20) }, 15},
		{"one in each", func(int) int { return 1 }, 40*20/8 + 10},
		{"one block of many", func(i int) int { return b2i(i == 7) * 1000 }, 1000*11/8 + 10},
		{"many in half", func(i int) int { return i & 1 * 1000 }, 20 * (1000*11/8 + 10)},
		{"more and more", func(i int) int { return i * 50 }, 780 * 50 * 21 / 2 / 8},
	} {
		result := base.Clone()
		for i := range blocks {
			for range c.flips(i) {
				at := rng.Uint64N(1 << 19)
				result.Words[i<<13+int(at>>6)] ^= 1 << (at & 63)
			}
		}
		if got := len(mustDelta(t, bloomOf(base), bloomOf(result))) - deltaHead; got > c.most {
			t.Errorf("%s: %d bytes, want %d at most", c.name, got, c.most)
		}
	}
}

// A block that becomes empty costs a byte and doesn't affect the coding of its neighbors.
func TestDeltaEmptiedBlocks(t *testing.T) {
	const blocks = 16
	rng := rand.New(rand.NewPCG(7, 8))
	base, result := hashed(t, rng, blocks<<19, blocks<<12, 1), hashed(t, rng, blocks<<19, blocks<<12, 1)
	for i := 0; i < blocks; i += 2 {
		clear(result.Words[i<<13:][:1<<13])
	}
	got, want := len(mustDelta(t, bloomOf(base), bloomOf(result)))-deltaHead, entropyBytes(wiretest.Array(t, 1<<19, 1, func(i int) uint64 { return result.Words[1<<13+i] }))
	if most := blocks / 2 * (1.01*want + 10); float64(got) > most {
		t.Errorf("%d bytes, want %.0f at most", got, most)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
