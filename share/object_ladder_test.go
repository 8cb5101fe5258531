package share

import (
	"testing"

	"github.com/umbel-filters/umbel/internal/race"
)

// Every version is reached from each of the 1295 before it, in at most 8 deltas.
func TestLadder(t *testing.T) {
	race.Skip(t, "makes many filters, in one goroutine")
	deltas := make(map[edge]Ref)
	e := offer{deltas: deltas}
	most := 0
	for v := uint64(1); v <= 3*horizon; v++ {
		for d := range deltas {
			if !useful(d.from, d.to, v) {
				delete(deltas, d)
			}
		}
		for from := range incoming(v) {
			if useful(from, v, v) {
				deltas[edge{from, v}] = Ref{Bytes: v - from}
			}
		}
		if v < horizon || v%7 != 0 && v%216 != 0 && v%216 != 215 {
			continue
		}
		list := e.list()
		for _, missed := range []uint64{1, 2, 5, 6, 7, 35, 36, 37, 215, 216, 217, 1000, 1290, 1295} {
			if missed >= v {
				continue
			}
			p, bytes, ok := cheapest([]pathStart{{version: v - missed}}, list, v)
			if !ok || bytes != missed+objectCost*uint64(len(p.objects)) {
				t.Fatalf("from %d to %d: %d objects, %d bytes", v-missed, v, len(p.objects), bytes)
			}
			most = max(most, len(p.objects))
		}
	}
	if most != 8 {
		t.Errorf("at most %d deltas, want 8", most)
	}
}

// What an index must list itself stays small, and a page has what its versions need.
func TestLadderPages(t *testing.T) {
	for v := uint64(horizon); v < horizon+300; v++ {
		inIndex, inPage := 0, make(map[uint64]int)
		for to := v - horizon + 1; to <= v; to++ {
			for from := range incoming(to) {
				switch {
				case !useful(from, to, v):
				case paged(from, to, v):
					inPage[page(from)]++
				default:
					inIndex++
				}
			}
		}
		if inIndex > 100 || len(inPage) > horizon/pageVersions+1 {
			t.Fatalf("version %d: %d deltas in the index, %d pages", v, inIndex, len(inPage))
		}
		for n, count := range inPage {
			if count > 35 {
				t.Fatalf("page %d has %d deltas", n, count)
			}
		}
	}
}
