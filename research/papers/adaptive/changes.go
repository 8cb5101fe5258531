package adaptive

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/multicast"
	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/scheme"
	"github.com/umbel-filters/umbel/multicast/tree"
	"github.com/umbel-filters/umbel/research/papers/internal/forward"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

var changes = piece.Piece{
	Name:  "002/changes",
	Title: "Receivers that leave and join: storage for testing, and for adding and removing",
	Note: `
The introduction names two metrics of filters in packets: the storage for testing, which is the
header, and the storage with which a network management entity adds and removes elements. A
group has 16 receivers, and 200 times one leaves or another joins, at random, between 8 and 24.
Each time the sender changes the header of before (inpacket.Found.Change). "Kept" and "solved" are the
shares of changes for which it needs no search: the filter is right as it is, or another one
with the same seed is. "Bits" are those after each change, and "bits, searched" those that a search
would have found for the same tree; "filters tried" are averages per change and per search. Every
changed filter contains its tree and matches no link next to it.

"Header" is the bytes of the header, and "links" the bytes with which umbel's sender changes it: the
numbers of the tree's links, 4 bytes each; those next to the tree follow from the topology.
"Counters" are the bytes of a counter of 4 bits for each position of the filter, with which
a sender of a single filter adds and removes links without a list of them. With the paper's
filters these are counters for all positions of codewords, 1129 at the rate 0.1, since a header of any
length may be needed: 565 bytes.

With the default forms no change needs a search, and a filter is 7 to 13 bits longer than one that
is searched. A single filter can't be changed in a third to a half of cases: a link that was removed,
or one that is new next to the tree, matches by chance.`,
	Make: func(ctx context.Context, r *piece.Run) error {
		maps, err := forward.Maps(r.Topologies)
		if err != nil {
			return err
		}
		t := piece.Table{Head: []string{"network", "forms", "kept", "solved", "searched", "bits", "bits, searched", "filters tried",
			"by a search", "header", "links", "counters"}}
		for _, g := range forward.Named(maps, 6, mains...) {
			for _, forms := range [][]inpacket.Form{nil, {inpacket.Single}} {
				if err := ctx.Err(); err != nil {
					return err
				}
				c := membership{network: multicast.NewNetwork(g, key, 0), forms: forms, rng: rand.New(rand.NewPCG(r.Runner.Seed, 77))}
				if err := c.run(min(r.Trials, 200)); err != nil {
					return err
				}
				t.Append(c.row()...)
			}
		}
		r.Tabulate(t)
		return nil
	},
}

// membership is a group whose receivers leave and join.
type membership struct {
	network *multicast.Network
	forms   []inpacket.Form
	rng     *rand.Rand

	changes, bits, searched, tried, triedBySearch, header, links, counters float64
	how                                                                    [inpacket.Searched + 1]float64
}

func (c *membership) run(changes int) error {
	order := c.rng.Perm(len(c.network.Graph.Nodes))
	source, members, absent := order[0], order[1:17], order[17:]
	o := inpacket.Options{Forms: c.forms}
	var found inpacket.Found
	for i := range changes + 1 {
		if i > 0 {
			from, to := &members, &absent
			if n := len(members); n == 8 || n < 24 && len(absent) > 0 && c.rng.IntN(2) == 0 {
				from, to = to, from
			}
			at := c.rng.IntN(len(*from))
			*to = append((*to)[:len(*to):len(*to)], (*from)[at])
			*from = append((*from)[:at:at], (*from)[at+1:]...)
		}
		t, err := tree.ShortestPath(c.network.Graph, source, members, tree.Hops)
		if err != nil {
			return err
		}
		task := c.network.Task(t)
		search, err := inpacket.Search(task, o)
		if err != nil {
			return err
		}
		if i == 0 {
			found = search
			continue
		}
		changed, how, err := found.Change(task, o)
		if err != nil {
			return err
		}
		if wrong := misses(task, changed); wrong > 0 {
			return fmt.Errorf("%s: %d links match wrongly after a change", c.network.Graph.Name, wrong)
		}
		found = changed
		h := inpacket.Header{Form: found.Form, K: found.K, Seed: found.Seed, Bits: found.Bits, Filter: found.Filter}
		c.changes++
		c.how[how]++
		c.bits += float64(found.Cost())
		c.searched += float64(search.Cost())
		c.tried += float64(found.Trials)
		c.triedBySearch += float64(search.Trials)
		c.header += float64(h.Size())
		c.links += float64(4 * len(t.Steps))
		c.counters += float64(found.Bits) / 2
	}
	return nil
}

// misses returns the number of links of a task that match wrongly.
func misses(task inpacket.Task, f inpacket.Found) (wrong int) {
	h := inpacket.Header{Form: f.Form, K: f.K, Seed: f.Seed, Bits: f.Bits, Filter: f.Filter}
	for hop := range task.Tree {
		h.TTL = uint8(len(task.Tree) - hop)
		for want, links := range map[uint64][]inpacket.Codeword{1: task.Tree[hop], 0: task.Others[hop]} {
			for _, c := range links {
				var got [1]uint64
				if inpacket.NewTable([]inpacket.Codeword{c}).Match(got[:], &h); got[0] != want {
					wrong++
				}
			}
		}
	}
	return wrong
}

func (c *membership) row() []string {
	mean := func(sum float64, decimals int) string { return piece.Fixed(sum/c.changes, decimals) }
	share := func(n float64) string { return fmt.Sprintf("%.0f %%", 100*n/c.changes) }
	name, counters := "default", "—"
	if len(c.forms) > 0 {
		name, counters = scheme.FormName(c.forms[0]), mean(c.counters, 0)
	}
	return []string{c.network.Graph.Name, name, share(c.how[inpacket.Kept]), share(c.how[inpacket.Solved]), share(c.how[inpacket.Searched]),
		mean(c.bits, 1), mean(c.searched, 1), mean(c.tried, 1), mean(c.triedBySearch, 0), mean(c.header, 1), mean(c.links, 0), counters}
}
