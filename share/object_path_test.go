package share

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// checkPath fails unless cheapest returns a connected path of minimal cost.
func checkPath(t *testing.T, snapshots []Snapshot, deltas []Delta, local bool, from, version uint64) {
	t.Helper()
	starts := snapshotStarts(snapshots)
	if local {
		starts = append(starts, pathStart{version: from})
	}
	p, bytes, ok := cheapest(starts, deltas, version)
	want, reachable := bruteForce(snapshots, deltas, local, from, version)
	if ok != reachable {
		t.Fatalf("a path to %d: %v, want %v of %d bytes", version, ok, reachable, want)
	}
	if !ok {
		return
	}
	if bytes != want {
		t.Fatalf("%d bytes, want %d", bytes, want)
	}
	at, sum := from, uint64(0)
	for i, s := range p.objects {
		sum += s.Bytes + objectCost
		if s.snapshot {
			if i > 0 || !slices.Contains(snapshots, Snapshot{s.to, s.Ref}) {
				t.Fatalf("object %d is no snapshot of the list", i)
			}
		} else if !slices.Contains(deltas, Delta{at, s.to, s.Ref}) {
			t.Fatalf("object %d: no delta from %d to %d", i, at, s.to)
		}
		at = s.to
	}
	if at != version || sum != bytes || len(p.objects) > maxPath || p.isLocal() && !local {
		t.Fatalf("the path leads to %d, want %d; %d bytes, want %d", at, version, sum, bytes)
	}
}

// bruteForce returns the cost of the cheapest path: Bellman and Ford, without an order.
func bruteForce(snapshots []Snapshot, deltas []Delta, local bool, from, version uint64) (uint64, bool) {
	cost := make(map[uint64]uint64)
	relax := func(v, c uint64) bool {
		if old, ok := cost[v]; ok && old <= c {
			return false
		}
		cost[v] = c
		return true
	}
	for _, s := range snapshots {
		if s.Bytes <= maxObject {
			relax(s.Version, s.Bytes+objectCost)
		}
	}
	if local {
		relax(from, 0)
	}
	for changed := true; changed; {
		changed = false
		for _, d := range deltas {
			if c, ok := cost[d.From]; ok && d.Bytes <= maxObject {
				changed = relax(d.To, c+d.Bytes+objectCost) || changed
			}
		}
	}
	c, ok := cost[version]
	return c, ok
}

// graph makes a small graph of bytes.
func graph(b []byte) (snapshots []Snapshot, deltas []Delta) {
	for i := 0; i+2 < len(b) && i < 3*25; i += 3 {
		r := Ref{Bytes: uint64(b[i]) << (b[i] % 48)}
		r.Hash[0], r.Hash[1] = byte(i), b[i]
		first, last := uint64(b[i+1]%30), uint64(b[i+2]%30)
		switch {
		case first == last:
			snapshots = append(snapshots, Snapshot{first, r})
		default:
			deltas = append(deltas, Delta{min(first, last), max(first, last), r})
		}
	}
	slices.SortStableFunc(deltas, compareDeltas)
	return snapshots, deltas
}

func TestPath(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		b := make([]byte, rng.IntN(75))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		snapshots, deltas := graph(b)
		checkPath(t, snapshots, deltas, rng.IntN(2) == 0, rng.Uint64N(30), rng.Uint64N(30))
	}
	// Huge objects do not overflow the sum.
	huge := []Delta{{1, 2, Ref{Bytes: math.MaxUint64}}, {2, 3, Ref{Bytes: 1}}}
	if p, _, ok := cheapest([]pathStart{{version: 1}}, huge, 3); ok {
		t.Errorf("%v", p)
	}
	// The local version needs no object.
	if p, bytes, ok := cheapest([]pathStart{{version: 7}}, nil, 7); !ok || len(p.objects) > 0 || bytes != 0 {
		t.Errorf("%v, %d, %v", p, bytes, ok)
	}
}

func FuzzPath(f *testing.F) {
	f.Add([]byte{9, 1, 1, 5, 1, 2, 7, 2, 4, 3, 1, 4}, true, uint64(1), uint64(4))
	f.Add([]byte{200, 3, 3, 255, 3, 9, 1, 9, 8, 1, 8, 3}, false, uint64(0), uint64(9))
	f.Fuzz(func(t *testing.T, b []byte, local bool, from, version uint64) {
		snapshots, deltas := graph(b)
		checkPath(t, snapshots, deltas, local, from%30, version%30)
	})
}
