package share

import "slices"

const (
	// objectCost is what a request costs in addition to the bytes of its object.
	objectCost = 256
	// maxObject is the maximum number of bytes of an object on a way.
	maxObject = 1 << 40
	// maxWay is the maximum number of objects of a way. The ladder needs 9.
	maxWay = 32
)

// step is an object on the way to a version: a snapshot, or a change of the state before it on the way.
// If fold is not zero, it is no object: the state is folded by that factor.
type step struct {
	Ref
	to       uint64
	snapshot bool
	fold     uint64
}

// start is a version from which deltas lead on, and how a subscriber gets it.
type start struct {
	version uint64
	bytes   uint64 // that are fetched, and the cost of the requests
	steps   []step
}

// then returns the start after another object.
func (a start) then(s step) start {
	return start{s.to, a.bytes + s.Bytes + objectCost, append(slices.Clip(a.steps), s)}
}

// cheapest returns the objects that lead to a version in the fewest bytes, and these bytes. The way
// begins with one of the snapshots or, if held is true, with version from, at no cost. Deltas are in
// the order of To. It returns nil if there is no way, or if the cheapest one has more than maxWay
// objects.
func cheapest(snapshots []Snapshot, deltas []Delta, held bool, from, version uint64) ([]step, uint64) {
	starts := startsOf(snapshots)
	if held {
		starts = append(starts, start{version: from})
	}
	return cheapestFrom(starts, deltas, version)
}

// startsOf returns the snapshots as starts.
func startsOf(snapshots []Snapshot) (starts []start) {
	for _, s := range snapshots {
		if s.Bytes <= maxObject {
			starts = append(starts, start{}.then(step{Ref: s.Ref, to: s.Version, snapshot: true}))
		}
	}
	return starts
}

// cheapestFrom is cheapest for ways that begin with one of the starts.
func cheapestFrom(starts []start, deltas []Delta, version uint64) ([]step, uint64) {
	type arrival struct {
		bytes uint64
		start *start // the way begins here
		last  Delta  // otherwise
	}
	best := make(map[uint64]arrival)
	better := func(v uint64, a arrival) {
		if old, ok := best[v]; !ok || a.bytes < old.bytes {
			best[v] = a
		}
	}
	for i := range starts {
		better(starts[i].version, arrival{bytes: starts[i].bytes, start: &starts[i]})
	}
	for _, d := range deltas {
		if a, ok := best[d.From]; ok && d.Bytes <= maxObject {
			better(d.To, arrival{bytes: a.bytes + d.Bytes + objectCost, last: d})
		}
	}
	end, ok := best[version]
	if !ok {
		return nil, 0
	}
	var way []step
	a := end
	for ; a.start == nil; a = best[a.last.From] {
		way = append(way, step{Ref: a.last.Ref, to: a.last.To})
	}
	slices.Reverse(way)
	if way = append(slices.Clip(a.start.steps), way...); len(way) > maxWay {
		return nil, 0
	}
	return way, end.bytes
}
