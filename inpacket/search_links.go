package inpacket

import (
	"fmt"
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
