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

// step is an object on the way to a version: a snapshot, or a delta from the version before it on
// the way.
type step struct {
	Ref
	to       uint64
	snapshot bool
}

// cheapest returns the objects that lead to a version in the fewest bytes, and these bytes. The way
// begins with one of the snapshots or, if held is true, with version from, at no cost. Deltas are in
// the order of To. It returns nil if there is no way, or if the cheapest one has more than maxWay
// objects.
func cheapest(snapshots []Snapshot, deltas []Delta, held bool, from, version uint64) ([]step, uint64) {
	type arrival struct {
		bytes uint64
		last  step
		from  uint64
		begin bool // the way begins here
	}
	best := make(map[uint64]arrival)
	better := func(v uint64, a arrival) {
		if old, ok := best[v]; !ok || a.bytes < old.bytes {
			best[v] = a
		}
	}
	for _, s := range snapshots {
		if s.Bytes > maxObject {
			continue
		}
		better(s.Version, arrival{bytes: s.Bytes + objectCost, last: step{s.Ref, s.Version, true}, begin: true})
	}
	if held {
		better(from, arrival{begin: true})
	}
	for _, d := range deltas {
		if a, ok := best[d.From]; ok && d.Bytes <= maxObject {
			better(d.To, arrival{bytes: a.bytes + d.Bytes + objectCost, last: step{d.Ref, d.To, false}, from: d.From})
		}
	}
	end, ok := best[version]
	if !ok {
		return nil, 0
	}
	var way []step
	for a := end; ; a = best[a.from] {
		if a.last != (step{}) {
			way = append(way, a.last)
		}
		if a.begin {
			break
		}
	}
	if len(way) > maxWay {
		return nil, 0
	}
	slices.Reverse(way)
	return way, end.bytes
}
