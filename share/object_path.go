package share

import "slices"

const (
	// objectCost is what a request costs in addition to the bytes of its object.
	objectCost = 256
	// maxPath is the maximum number of objects on a path. The ladder needs 9.
	maxPath = 32
)

// object is one of the objects that lead to a version: a snapshot, or a change of the state before it on the path.
type object struct {
	Ref
	to       uint64 // the version that it leads to
	snapshot bool
}

// path leads to a version, from its first object if that is a snapshot, and otherwise from the local state.
type path struct {
	fold    uint64 // the factor by which the local state is folded first, unless it is 0
	objects []object
}

// isLocal reports whether the path begins with the local state.
func (p path) isLocal() bool { return len(p.objects) == 0 || !p.objects[0].snapshot }

// then returns the path after another object.
func (p path) then(o object) path { return path{p.fold, append(slices.Clip(p.objects), o)} }

// pathStart is a version from which deltas lead on, and the path to it.
type pathStart struct {
	version uint64
	bytes   uint64 // of the objects that are fetched, and the cost of the requests
	path    path
}

// then returns the start after another object.
func (s pathStart) then(o object) pathStart {
	return pathStart{o.to, s.bytes + o.Bytes + objectCost, s.path.then(o)}
}

// snapshotStarts returns the starts that consist of a snapshot.
func snapshotStarts(snapshots []Snapshot) (starts []pathStart) {
	for _, s := range snapshots {
		if s.Bytes <= maxObject {
			starts = append(starts, pathStart{}.then(object{Ref: s.Ref, to: s.Version, snapshot: true}))
		}
	}
	return starts
}

// cheapest returns the path to a version whose objects and requests cost the fewest bytes, and these bytes. It
// begins with one of the starts. Deltas are in the order of To. It returns false if there is no path, or if the
// cheapest one has more than maxPath objects.
func cheapest(starts []pathStart, deltas []Delta, version uint64) (_ path, bytes uint64, ok bool) {
	type arrival struct {
		bytes uint64
		start *pathStart // the path begins here
		last  Delta      // otherwise
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
		return path{}, 0, false
	}
	var deltasBack []object
	a := end
	for ; a.start == nil; a = best[a.last.From] {
		if deltasBack = append(deltasBack, object{Ref: a.last.Ref, to: a.last.To}); len(deltasBack) > maxPath {
			return path{}, 0, false
		}
	}
	p := a.start.path
	for _, o := range slices.Backward(deltasBack) {
		p = p.then(o)
	}
	if len(p.objects) > maxPath {
		return path{}, 0, false
	}
	return p, end.bytes, true
}
