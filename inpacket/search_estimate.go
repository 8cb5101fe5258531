package inpacket

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
)

// links are the codewords that one filter has to tell apart, each once: first those
// it is to hold, then those it must not.
type links struct {
	codewords []Codeword
	tree      int  // how many are to be held
	torn      bool // whether one is both, so that no filter can do it
}

// held returns the codewords to be held, and others the rest.
func (l links) held() []Codeword   { return l.codewords[:l.tree] }
func (l links) others() []Codeword { return l.codewords[l.tree:] }

// newLinks returns the links of some hops.
func newLinks(tree, others [][]Codeword) links {
	count := 0
	for _, hops := range [2][][]Codeword{tree, others} {
		for _, hop := range hops {
			count += len(hop)
		}
	}
	l := links{codewords: make([]Codeword, 0, count)}
	is := make(map[Codeword]bool, count) // whether it is of the tree
	for _, hop := range tree {
		for _, c := range hop {
			if !is[c] {
				is[c] = true
				l.codewords = append(l.codewords, c)
			}
		}
	}
	l.tree = len(l.codewords)
	for _, hop := range others {
		for _, c := range hop {
			if ofTree, seen := is[c]; !seen {
				is[c] = false
				l.codewords = append(l.codewords, c)
			} else if ofTree {
				l.torn = true
			}
		}
	}
	return l
}

// hops returns the number of hops at which links are to be held.
func (t Task) hops() int {
	n := len(t.Tree)
	for n > 0 && len(t.Tree[n-1]) == 0 {
		n--
	}
	return n
}

// hop returns the links of hop i.
func (t Task) hop(i int) links {
	var others [][]Codeword
	if i < len(t.Others) {
		others = t.Others[i : i+1]
	}
	return newLinks(t.Tree[i:i+1], others)
}

// check returns the links of all hops, and an error if none of the forms can tell
// them apart.
func (t Task) check(forms []Form) (links, error) {
	flat := newLinks(t.Tree, t.Others)
	if !flat.torn {
		return flat, nil
	}
	for i := range t.hops() {
		if t.hop(i).torn {
			return flat, fmt.Errorf("inpacket: a link of hop %d is both in the tree and among the others; leave it out of those: %w", i, umbel.ErrGoal)
		}
	}
	if !slices.Contains(forms, Staged) {
		return flat, fmt.Errorf("inpacket: a link is in the tree at one hop and among the others at another: try form %d, which has a filter for each hop: %w", Staged, umbel.ErrGoal)
	}
	return flat, nil
}

// odds are what there is to tell apart by a Bloom filter, and so how likely one is to
// do. They say only where to look: a filter that is found has been tried. They are
// computed without functions that may differ between machines, and so is what is
// found.
type odds struct {
	tree, others int // links to hold, and not to
	maxStray     float64
}

// chance is about that of a filter of m bits with k positions a link to do. Filters
// with few ones do far more often than those with the mean number: so it is the mean
// over some numbers, as far from each other as the standard deviation.
func (o odds) chance(m, k int) (sum float64) {
	size, n := float64(m), o.tree*k
	// The chances that one bit, and that two bits, are zero.
	one, two := power(1-1/size, n), power(max(0, 1-2/size), n)
	deviation := math.Sqrt(max(0, float64(one*(1-one)/size)+float64((two-float64(one*one))*(1-1/size))))
	for i, weight := range spread {
		fill := max(1/size, 1-one-float64(float64(i)*deviation))
		stray := power(fill, k)
		if stray > o.maxStray || fill > 7.0/8 {
			continue
		}
		sum += float64(weight * power(1-stray, o.others))
	}
	return sum
}

// spread is how often a number is about 0, 1, … standard deviations below the mean,
// if it is normal.
var spread = [...]float64{.4, .24, .054, .0044, .00013}

// firstWith returns the shortest length with which k positions a link do with at
// least some chance, or one above last if that is longer.
func (o odds) firstWith(k int, chance float64, last int) int {
	low, high := 0, last+1
	for high-low > 1 {
		if mid := (low + high) / 2; o.chance(mid, k) < chance {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// outlook is which Single filters are worth a trial.
type outlook struct {
	odds
	tries float64  // how many trials there will be at each length
	first int      // the shortest length worth trying
	ks    []uint16 // of lengths from first on: which numbers of positions are worth trying
}

const (
	// hopeless is the number of successes that may be expected at all lengths together
	// which aren't worth trying. It is small because filters vary: those with few ones
	// succeed far more often than the mean one, from which it is computed.
	hopeless = 1.0 / 256
	// unlikely is the chance that isn't worth a trial, as a part of that with the best
	// number of positions.
	unlikely = 1.0 / 12
)

// newOutlook returns the outlook for so many trials at each length.
func newOutlook(l links, tries int, maxStray float64) *outlook {
	o := &outlook{odds: odds{l.tree, len(l.others()), maxStray}, tries: float64(tries)}
	low, high := 0, 1 // hopeless, not hopeless
	for high <= MaxBits && o.successes(high) < hopeless/8 {
		low, high = high, 2*high
	}
	for high-low > 1 {
		if mid := (low + high) / 2; o.successes(mid) < hopeless/8 {
			low = mid
		} else {
			high = mid
		}
	}
	o.first = high
	for sum := 0.0; o.first <= MaxBits; o.first++ {
		if sum += o.successes(o.first); sum >= hopeless {
			break
		}
	}
	return o
}

// successes returns how many trials with the best number of positions are expected
// to succeed at a length.
func (o *outlook) successes(m int) float64 {
	best := 0.0
	for k := 1; k <= maxK; k++ {
		best = max(best, o.chance(m, k))
	}
	return float64(best * o.tries)
}

// positions returns the numbers of positions worth trying at a length from first on:
// bit k for k.
func (o *outlook) positions(m int) uint16 {
	for len(o.ks) <= m-o.first {
		o.ks = append(o.ks, o.choose(o.first+len(o.ks)))
	}
	return o.ks[m-o.first]
}

func (o *outlook) choose(m int) (ks uint16) {
	var chance [maxK + 1]float64
	best := 0.0
	for k := 1; k <= maxK; k++ {
		chance[k] = o.chance(m, k)
		best = max(best, chance[k])
	}
	for k := 1; k <= maxK; k++ {
		if chance[k] > 0 && chance[k] >= float64(best*unlikely) {
			ks |= 1 << k
		}
	}
	return ks
}

// most returns the largest number of positions worth trying at any length from first
// to last, or more if there are many lengths.
func (o *outlook) most(last int) int {
	if last-o.first > 256 {
		return maxK
	}
	var all uint16
	for m := o.first; m <= last; m++ {
		all |= o.positions(m)
	}
	return bits.Len16(all) - 1
}
