package contacts

import (
	"slices"

	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/wire"
)

// scheme is a way to find the objects that a peer wants and the other one has.
type scheme struct {
	name     string
	exchange func(*exchange) error
}

// Names of schemes.
const (
	full    = "full filter"
	folded  = "fold of the paper"
	squid   = "Squid digest"
	list    = "key list"
	umbels  = "umbel"
	deltas  = "umbel, deltas"
	queries = "no summary"
)

var schemes = []scheme{
	{full, fullFilter}, {folded, paperFold}, {squid, squidDigest}, {list, keyList},
	{umbels, func(x *exchange) error { return x.refine(false) }},
	{deltas, func(x *exchange) error { return x.refine(true) }},
	{queries, noSummary},
}

// fullFilter sends a filter that is planned for the capacity of a store and a rate of 1 %.
func fullFilter(x *exchange) error {
	f, err := bloom.New(uint64(x.Capacity), paperRate)
	if err != nil {
		return err
	}
	x.keys(len(x.from.store))
	x.whole(x.fill(f), int(wire.Size(f.State()))+headBytes)
	return nil
}

// paperFold sends the fold whose rate is 1 % ± 0.2 % with the current number of objects, by
// equation (14) in its corrected form, without compression.
func paperFold(x *exchange) error {
	size, _ := plan.Interval{K: cellsK, FPRate: paperRate, Eps: paperEps}.Target(x.sizes, uint64(len(x.from.store)))
	f, err := x.fold(size)
	if err != nil {
		return err
	}
	x.keys(len(x.from.store))
	x.whole(f, int(size+7)/8+headBytes)
	return nil
}

// squidDigest sends five bits per object with k = 4 and a head of 128 bytes.
func squidDigest(x *exchange) error {
	m := uint64(5 * len(x.from.store))
	f, err := bloom.NewShape(bloom.Shape{M: m, K: 4})
	if err != nil {
		return err
	}
	x.keys(len(x.from.store))
	x.whole(x.fill(f), 128+int(m+7)/8+headBytes)
	return nil
}

// keyList sends hashes of the most popular objects. They take at most half of an expected
// contact.
func keyList(x *exchange) error {
	keys := slices.Sorted(slices.Values(x.from.store))
	if most := max(0, x.expected/2-headBytes) / hashBytes; len(keys) > most {
		keys = keys[:most]
	}
	if len(keys) == 0 || !x.send(headBytes+hashBytes*len(keys)) {
		return nil
	}
	x.keys(len(keys) + len(x.to.wanted))
	var both []int
	for _, o := range x.to.wanted {
		if _, found := slices.BinarySearch(keys, o); found {
			both = append(both, o)
		}
	}
	x.request(both)
	return nil
}

// noSummary sends hashes of what the receiver wants, popular ones first, and the other peer
// sends what it has of them. They take at most half of an expected contact.
func noSummary(x *exchange) error {
	wanted := x.to.wanted
	if most := max(0, x.expected/2-headBytes) / hashBytes; len(wanted) > most {
		wanted = wanted[:most]
	}
	if len(wanted) == 0 || !x.send(headBytes+hashBytes*len(wanted)) {
		return nil
	}
	x.keys(len(wanted))
	for _, o := range wanted {
		if !x.from.has[o] {
			continue
		}
		if !x.send(objectBytes) {
			return nil
		}
		x.Found++
		x.got = append(x.got, o)
	}
	return nil
}
