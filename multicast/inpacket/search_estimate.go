package inpacket

import (
	"math"
	"math/bits"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// links are the distinct codewords of a task: first those that the filter must contain,
// then those that it must not match.
type links struct {
	codewords []Codeword
	tree      int  // number of codewords that the filter must contain
	torn      bool // whether one codeword is in both parts, so that no filter is possible
}

// held returns the codewords that the filter must contain, and others returns the rest.
func (l links) held() []Codeword   { return l.codewords[:l.tree] }
func (l links) others() []Codeword { return l.codewords[l.tree:] }

// exchanged returns the links with the parts exchanged.
func (l links) exchanged() links {
	return links{slices.Concat(l.others(), l.held()), len(l.others()), l.torn}
}

// newLinks returns the links of several hops.
func newLinks(tree, others [][]Codeword) links {
	count := 0
	for _, hops := range [2][][]Codeword{tree, others} {
		for _, hop := range hops {
			count += len(hop)
		}
	}
	l := links{codewords: make([]Codeword, 0, count)}
	is := make(map[Codeword]bool, count) // whether the codeword is of the tree
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

// hops returns the number of hops with links of the tree.
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

// check returns the links of all hops. It returns an error if none of the forms can
// separate the tree from the others.
func (t Task) check(forms []Form) (links, error) {
	flat := newLinks(t.Tree, t.Others)
	if !flat.torn {
		return flat, nil
	}
	for i := range t.hops() {
		if t.hop(i).torn {
			return flat, sentinel.Errorf(umbel.ErrGoal, "a link of hop %d is both in the tree and among the others; remove it from the others", i)
		}
	}
	if !slices.Contains(forms, Staged) {
		return flat, sentinel.Errorf(umbel.ErrGoal,
			"a link is in the tree at one hop and among the others at another: use form %d, which has a filter per hop", Staged)
	}
	return flat, nil
}

// chances estimates the success of a trial with a Bloom filter. The estimates only select
// what is tried; every filter that Search returns was tried. They use no function that
// may differ between machines, so that the result is the same everywhere.
type chances struct {
	tree, others  int // number of links of the tree, and of the others
	maxFalseMatch float64
}

// chance returns about the probability that a filter of m bits with k positions per link
// is valid. Filters with few ones succeed far more often than filters with the mean
// number. So it is a mean over several numbers of ones, which differ by the standard
// deviation.
func (o chances) chance(m, k int) (sum float64) {
	size, n := float64(m), o.tree*k
	// The probabilities that one bit, and that two bits, are zero.
	one, two := power(1-1/size, n), power(max(0, 1-2/size), n)
	deviation := math.Sqrt(max(0, float64(one*(1-one)/size)+float64((two-float64(one*one))*(1-1/size))))
	for i, weight := range spread {
		fill := max(1/size, 1-one-float64(float64(i)*deviation))
		match := power(fill, k)
		if match > o.maxFalseMatch || fill > 7.0/8 {
			continue
		}
		sum += float64(weight * power(1-match, o.others))
	}
	return sum
}

// spread[i] is the probability of a number about i standard deviations below the mean of
// a normal distribution.
var spread = [...]float64{.4, .24, .054, .0044, .00013}

// firstWith returns the shortest length at which k positions per link succeed with at
// least the given chance, or last+1 if that is longer than last.
func (o chances) firstWith(k int, chance float64, last int) int {
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

// estimate determines which Single filters are worth a trial.
type estimate struct {
	chances
	tries float64  // number of trials at each length
	first int      // the shortest length worth trying
	ks    []uint16 // the numbers of positions worth trying, for the lengths from first on
}

const (
	// hopeless is the expected number of successes at several lengths together below
	// which they are not worth trying. It is small because filters vary: those with few
	// ones succeed far more often than the mean filter, from which it is computed.
	hopeless = 1.0 / 256
	// unlikely is the chance below which a number of positions is not worth a trial,
	// relative to the best number.
	unlikely = 1.0 / 12
)

// newEstimate returns the estimate for a number of trials at each length.
func newEstimate(l links, tries int, maxFalseMatch float64) *estimate {
	o := &estimate{chances: chances{l.tree, len(l.others()), maxFalseMatch}, tries: float64(tries)}
	low, high := 0, 1 // a hopeless length, and one that is not
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

// successes returns the expected number of successful trials at a length with the best
// number of positions.
func (o *estimate) successes(m int) float64 {
	best := 0.0
	for k := 1; k <= maxK; k++ {
		best = max(best, o.chance(m, k))
	}
	return float64(best * o.tries)
}

// positions returns the numbers of positions worth trying at a length of at least first,
// as bits: bit k for k.
func (o *estimate) positions(m int) uint16 {
	for len(o.ks) <= m-o.first {
		o.ks = append(o.ks, o.choose(o.first+len(o.ks)))
	}
	return o.ks[m-o.first]
}

func (o *estimate) choose(m int) (ks uint16) {
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

// most returns the largest number of positions worth trying at any length from first to
// last. It returns an upper bound if there are many lengths.
func (o *estimate) most(last int) int {
	if last-o.first > 256 {
		return maxK
	}
	var all uint16
	for m := o.first; m <= last; m++ {
		all |= o.positions(m)
	}
	return bits.Len16(all) - 1
}
