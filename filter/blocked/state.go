package blocked

import (
	"fmt"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/core"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
)

var kind = core.Kind{Name: Name}

// paramNames are the parameters of a state, in order.
var paramNames = []string{"words", "bits"}

// State returns the complete contents of the filter: see [umbel.Filter].
func (f *Filter) State() umbel.State {
	return umbel.State{
		Kind:   Name,
		Hasher: f.shape.Hasher,
		Params: umbel.Params{
			{Name: "words", Value: umbel.Uint(uint64(f.shape.Words))},
			{Name: "bits", Value: umbel.Uint(uint64(f.shape.Bits))},
		},
		Arrays:  []cells.Array{f.cells},
		Planned: f.planned,
	}
}

// Open returns the filter with state s, and takes over its memory. It returns an error wrapping
// umbel.ErrKind or umbel.ErrCorrupt.
func Open(s umbel.State) (*Filter, error) {
	var words, bits uint64
	a, err := kind.OpenCells(s, paramNames, &words, &bits)
	if err != nil {
		return nil, err
	}
	shape := Shape{M: a.Len, Words: int(min(words, blockWords+1)), Bits: int(min(bits, MaxBits+1)), Hasher: s.Hasher}
	if err := design.Wrap(shape.check(), umbel.ErrCorrupt); err != nil {
		return nil, err
	}
	f := &Filter{shape: shape, planned: s.Planned}
	f.setCells(a)
	return f, nil
}

// Fold shrinks f by factor r, keeping all keys. The result is bit for bit the filter that is built at
// that size, since the block of a key among B/r is ⌊its block among B / r⌋ and its place in the block
// doesn't depend on B. Fold returns an error wrapping umbel.ErrMismatch if r doesn't divide the number of
// blocks; on error f is unchanged. It reads the filter once and allocates the smaller array.
func (f *Filter) Fold(r uint64) error {
	return f.setArray(f.array().Fold(r))
}

// Unfold enlarges f by factor u, keeping all keys: see [umbel.Folder].
func (f *Filter) Unfold(u uint64) error {
	return f.setArray(f.array().Unfold(u))
}

// Merge adds the keys of another filter of this kind with the same words, bits and hasher. Different
// sizes are handled as by bloom.Filter.Merge. It returns an error wrapping umbel.ErrMismatch with the
// first difference.
func (f *Filter) Merge(s umbel.State) error {
	g, err := core.Other(f.State(), s, Open)
	if err != nil {
		return err
	}
	if f.shape.Words != g.shape.Words || f.shape.Bits != g.shape.Bits {
		return fmt.Errorf("blocked: one filter sets %d bits in each of %d words per key, the other %d in each of %d: %w",
			f.shape.Bits, f.shape.Words, g.shape.Bits, g.shape.Words, umbel.ErrMismatch)
	}
	return f.setArray(f.array().Merge(g.array()))
}

// blockLog is log2 of BlockBits.
const blockLog = 9

// array returns the cells with blocks as groups.
func (f *Filter) array() core.Array {
	return core.Array{Kind: kind, Shape: core.Shape{M: f.cells.Len, Group: blockLog}, Cells: f.cells}
}

// setArray makes a the cells of f unless err is not nil, and returns err.
func (f *Filter) setArray(a core.Array, err error) error {
	if err == nil {
		f.setCells(a.Cells)
	}
	return err
}

// Stats measures the filter: see [umbel.Filter]. Its rate is that of the bits that are actually set: the
// mean, over the blocks and over the sets of words that keys use, of the product of the fill ratios of
// these words, once for each bit. The Stats of the zero Filter are zero.
func (f *Filter) Stats() umbel.Stats {
	if f.shape.M == 0 {
		return umbel.Stats{}
	}
	ones, rate := measure(f.cells.Words, f.shape.Words, f.shape.Bits)
	n := f.array().Keys(func(m, ones uint64) plan.Estimate {
		return plan.BlockedKeys(m, f.shape.Words, f.shape.Bits, ones)
	})
	return umbel.Stats{
		Keys: n.Value, Low: n.Low, High: n.High,
		Fill: float64(ones) / float64(f.shape.M), FPRate: rate / float64(f.blocks.count),
		Cells: f.shape.M, K: float64(f.shape.Words * f.shape.Bits), Bytes: f.cells.Bytes(),
	}
}

// measure returns the number of bits that are set and the sum of the blocks' rates.
func measure(cells []uint64, words, perWord int) (ones uint64, rate float64) {
	var low, high [1 << 4]float64
	sets, fills := &setsOf[words], &fills[perWord]
	for ; len(cells) >= blockWords; cells = cells[blockWords:] {
		var n [blockWords]int
		for i, w := range cells[:blockWords] {
			n[i] = bits.OnesCount64(w)
			ones += uint64(n[i])
		}
		setProducts(&low, fills[n[0]], fills[n[1]], fills[n[2]], fills[n[3]])
		setProducts(&high, fills[n[4]], fills[n[5]], fills[n[6]], fills[n[7]])
		rate += sets.mean(&low, &high)
	}
	return ones, rate
}

// fills are the probabilities that the one or two bits of a key in a word are set, by the number of set
// bits in the word.
var fills = func() (all [MaxBits + 1][wordBits + 1]float64) {
	for n := range all[1] {
		fill := float64(n) / wordBits
		all[1][n], all[2][n] = fill, fill*fill
	}
	return all
}()

// sumOfSets contains the share of the orders that each set of words has: every set of words words has at
// least the share every, and some have more. These come in fours whose sums don't wait for each other.
type sumOfSets struct {
	words int
	every float64
	more  [][4]wordSet
}

// wordSet is a set of words of a block: some of the lower four and some of the upper four.
type wordSet struct {
	share     float64
	low, high uint8
}

// mean returns the mean over the sets of the product of the numbers of their words. low and high contain
// the products of all subsets of the lower and of the upper four words.
func (s *sumOfSets) mean(low, high *[1 << 4]float64) float64 {
	var a, b, c, d float64
	for i := range s.more {
		four := &s.more[i]
		a += four[0].of(low, high)
		b += four[1].of(low, high)
		c += four[2].of(low, high)
		d += four[3].of(low, high)
	}
	if s.every != 0 {
		bySize, byRest := sums(low), sums(high)
		all := 0.0
		for n := max(s.words-4, 0); n <= min(s.words, 4); n++ {
			all += bySize[n] * byRest[s.words-n]
		}
		a += s.every * all
	}
	return a + b + c + d
}

func (s *wordSet) of(low, high *[1 << 4]float64) float64 {
	return s.share * low[s.low%16] * high[s.high%16]
}

// sums returns the sums of the products of zero, one, two, three and four numbers.
func sums(p *[1 << 4]float64) [5]float64 {
	return [...]float64{1, p[1] + p[2] + (p[4] + p[8]), p[3] + p[5] + (p[6] + p[9]) + (p[10] + p[12]), p[7] + p[11] + (p[13] + p[14]), p[15]}
}

// setsOf are the sets of words that keys use, by the number of words.
var setsOf = func() (all [blockWords + 1]sumOfSets) {
	for words := 1; words <= blockWords; words++ {
		var share [1 << blockWords]float64
		for _, o := range orders {
			set := 0
			for place := range words {
				set |= 1 << o.word(place)
			}
			share[set] += 1.0 / float64(len(orders))
		}
		s := &all[words]
		s.words, s.every = words, 1
		for set := range share {
			if bits.OnesCount(uint(set)) == words {
				s.every = min(s.every, share[set])
			}
		}
		var more []wordSet
		for set := range share {
			if share[set] > s.every {
				more = append(more, wordSet{share[set] - s.every, uint8(set % 16), uint8(set / 16)})
			}
		}
		for len(more) > 0 {
			var four [4]wordSet
			more = more[copy(four[:], more):]
			s.more = append(s.more, four)
		}
	}
	return all
}()

// setProducts sets p to the products of the subsets of four numbers; bit i of the index stands for number
// i.
func setProducts(p *[1 << 4]float64, a, b, c, d float64) {
	ab, cd := a*b, c*d
	p[0], p[1], p[2], p[3] = 1, a, b, ab
	p[4], p[5], p[6], p[7] = c, a*c, b*c, ab*c
	p[8], p[9], p[10], p[11] = d, a*d, b*d, ab*d
	p[12], p[13], p[14], p[15] = cd, a*cd, b*cd, ab*cd
}
