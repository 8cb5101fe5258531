// Package contacts simulates an opportunistic network, the setting of Sailhan and Stehr's
// "Folding and Unfolding Bloom Filters": peers meet for seconds, and each learns from a summary
// which of the objects that it wants the other one has.
package contacts

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/plan"
)

// Setting contains the parameters of a simulation.
type Setting struct {
	Peers, Contacts int
	Capacity        int     // objects in the fullest store; stores have a quarter of it to all of it
	Wanted          int     // objects that a peer wants
	Seconds         float64 // mean length of a contact; lengths are exponentially distributed
	Bandwidth       float64 // bytes per second, both directions together
	Energy          float64 // joules that both ends spend on a direction of a contact; 0: any
	Radio           int     // index into prices, for Energy
}

const (
	zipf      = 0.8 // exponent of the popularity
	group     = 4   // peers that meet often
	loyalty   = 0.8 // share of the contacts that are inside a group
	renewed   = 0.1 // share of the wanted objects that are replaced before each contact
	arrivals  = 0.01
	variety   = 10 // objects of all peers together, in capacities
	cellsK    = 4  // of all filters except the full one
	paperRate = 0.01
	paperEps  = 0.002
)

// world contains what the peers have in common. Objects are numbered by popularity, the most
// popular first.
type world struct {
	Setting
	digests []umbel.Digest
	below   []float64 // sums of the popularity, normalized
	prior   []float64 // probability that a peer has the object, roughly
	base    uint64    // cells of the filters that umbel folds
	sizes   []uint64  // to which the base folds
	peers   []*peer
}

// peer has a store, in the order of arrival, and a sorted list of what it wants.
type peer struct {
	id     int
	store  []int
	has    []bool
	wanted []int
}

func newWorld(s Setting, r *rand.Rand) (*world, error) {
	base, err := plan.Interval{K: cellsK, FPRate: paperRate, Eps: paperEps}.Base(uint64(s.Capacity), 0)
	if err != nil {
		return nil, err
	}
	n := variety * s.Capacity
	w := &world{
		Setting: s, base: base, sizes: plan.FoldSizes(base, 1),
		digests: make([]umbel.Digest, n), below: make([]float64, n), prior: make([]float64, n),
	}
	sum := 0.0
	for i := range n {
		w.digests[i] = umbel.Digest{H1: r.Uint64(), H2: r.Uint64()}
		sum += math.Pow(float64(i+1), -zipf)
		w.below[i] = sum
	}
	last := 0.0
	for i := range n {
		w.below[i] /= sum
		w.prior[i] = -math.Expm1(float64(s.Capacity) * 5 / 8 * math.Log1p(last-w.below[i]))
		last = w.below[i]
	}
	for id := range s.Peers {
		p := &peer{id: id, has: make([]bool, n)}
		for range s.Capacity/4 + r.IntN(s.Capacity*3/4+1) {
			o := w.draw(r, func(o int) bool { return !p.has[o] })
			p.has[o] = true
			p.store = append(p.store, o)
		}
		w.peers = append(w.peers, p)
		for range s.Wanted {
			w.want(p, r)
		}
	}
	return w, nil
}

// clone returns a world with stores of its own.
func (w *world) clone() *world {
	c := *w
	c.peers = make([]*peer, len(w.peers))
	for i, p := range w.peers {
		c.peers[i] = &peer{p.id, slices.Clone(p.store), slices.Clone(p.has), slices.Clone(p.wanted)}
	}
	return &c
}

// draw returns a random object that is good, popular ones more often.
func (w *world) draw(r *rand.Rand, good func(int) bool) int {
	for {
		if o := min(sort.SearchFloat64s(w.below, r.Float64()), len(w.below)-1); good(o) {
			return o
		}
	}
}

// want adds an object to what p wants.
func (w *world) want(p *peer, r *rand.Rand) {
	o := w.draw(r, func(o int) bool {
		_, wanted := slices.BinarySearch(p.wanted, o)
		return !p.has[o] && !wanted
	})
	at, _ := slices.BinarySearch(p.wanted, o)
	p.wanted = slices.Insert(p.wanted, at, o)
}

// receive replaces the oldest object of p's store.
func (w *world) receive(p *peer, o int, r *rand.Rand) {
	if p.has[o] {
		return
	}
	p.has[p.store[0]] = false
	p.store = append(p.store[1:], o)
	p.has[o] = true
	if at, wanted := slices.BinarySearch(p.wanted, o); wanted {
		p.wanted = slices.Delete(p.wanted, at, at+1)
		w.want(p, r)
	}
}

// change replaces a part of what p has and wants, since time has passed.
func (w *world) change(p *peer, r *rand.Rand) {
	for range int(math.Ceil(arrivals * float64(len(p.store)))) {
		w.receive(p, w.draw(r, func(o int) bool { return !p.has[o] }), r)
	}
	for range int(math.Ceil(renewed * float64(w.Wanted))) {
		at := r.IntN(len(p.wanted))
		p.wanted = slices.Delete(p.wanted, at, at+1)
		w.want(p, r)
	}
}

// pair returns two different peers that meet.
func (w *world) pair(r *rand.Rand) (a, b *peer) {
	i, j := r.IntN(w.Peers), r.IntN(w.Peers-1)
	if r.Float64() < loyalty {
		j = i - i%group + r.IntN(min(group, w.Peers-(i-i%group)))
		if j == i {
			j = i - i%group + (i+1)%group
		}
	} else if j >= i {
		j++
	}
	return w.peers[i], w.peers[j]
}
