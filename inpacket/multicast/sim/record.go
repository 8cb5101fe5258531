package sim

import (
	"time"

	"github.com/umbel-filters/umbel/inpacket/multicast"
)

// Record is what came of the packets of one tree. Each copy is of one of four sorts:
// Copies = Covered + Near + Far + Repeats.
type Record struct {
	Headers int           // packets that the source sent, one in most schemes
	Bits    int           // of the plan
	Bytes   int           // of all headers
	Form    string        // of the plan
	Search  time.Duration // of the plan

	TreeLinks int // arcs of the tree; with OwnPaths, those by which a receiver was first reached
	Copies    int // packets put on links, those that got lost on links that are down too
	Covered   int // arcs of the tree that carried a copy
	Near      int // false forwards next to the tree: off it, of a packet that came along it
	Far       int // false forwards off the tree that others caused
	Repeats   int // copies on arcs of the tree that had carried one before
	Lost      int // copies on links that are down

	Loops      int  // arcs that carried the same packet more than once
	Duplicates int  // arrivals of a packet at nodes that had it before
	Storm      bool // the copies were too many, and were thrown away
	Hops       int  // links on the longest way of a copy

	Receivers int                    // of the tree
	Reached   int                    // of them that got the packet
	Twice     int                    // deliveries to receivers that had got it before
	Wrong     int                    // deliveries to nodes that aren't receivers
	Drops     [multicast.Reasons]int // packets that routers dropped, by reason
}

// FalseForwards returns the number of copies on arcs that aren't the tree's.
func (r *Record) FalseForwards() int { return r.Near + r.Far }

// Efficiency returns the arcs of the tree that carried a copy, as a share of all
// copies, in [0, 1]: the forwarding efficiency of Jokela et al. 2009 where nothing is
// lost. It is 1 if there were no copies.
func (r *Record) Efficiency() float64 {
	if r.Copies == 0 {
		return 1
	}
	return float64(r.Covered) / float64(r.Copies)
}

// StormFactor returns the number of copies for each arc of the tree; 0 if it has none.
func (r *Record) StormFactor() float64 {
	if r.TreeLinks == 0 {
		return 0
	}
	return float64(r.Copies) / float64(r.TreeLinks)
}
