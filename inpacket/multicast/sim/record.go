package sim

import (
	"time"

	"github.com/umbel-filters/umbel/inpacket/multicast"
)

// Record is what came of the packets of one tree. Each copy is of one of four sorts:
// Copies = Covered + Near + Far + Repeats.
type Record struct {
	Headers int           `json:"headers"` // packets that the source sent, one in most schemes
	Bits    int           `json:"bits"`    // of the plan
	Bytes   int           `json:"bytes"`   // of all headers
	Form    string        `json:"form"`    // of the plan
	Search  time.Duration `json:"search_ns"`

	TreeLinks int `json:"tree_links"`  // arcs of the tree; with OwnPaths, those by which a receiver was first reached
	Copies    int `json:"copies"`      // packets put on links, with those lost on links that are down
	Covered   int `json:"covered"`     // arcs of the tree that carried a copy
	Near      int `json:"false_near"`  // false forwards next to the tree: off it, of a packet that came along it
	Far       int `json:"false_far"`   // false forwards off the tree that others caused
	Repeats   int `json:"repeats"`     // copies on arcs of the tree that had carried one before
	Lost      int `json:"lost_copies"` // copies on links that are down

	Loops      int  `json:"loops"`      // arcs that carried the same packet more than once
	Duplicates int  `json:"duplicates"` // arrivals of a packet at nodes that had it before
	Storm      bool `json:"storm"`      // the copies were too many, and were thrown away
	Hops       int  `json:"hops"`       // links on the longest way of a copy

	Receivers int                    `json:"receivers"`       // of the tree
	Reached   int                    `json:"reached"`         // of them that got the packet
	Twice     int                    `json:"delivered_twice"` // deliveries to receivers that had got it before
	Wrong     int                    `json:"delivered_wrong"` // deliveries to nodes that aren't receivers
	Drops     [multicast.Reasons]int `json:"-"`               // packets that routers dropped, by reason
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
