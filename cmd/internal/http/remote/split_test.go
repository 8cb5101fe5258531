package remote

import (
	"fmt"
	"math"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/redis/slots"
)

// A split filter divides keys evenly between filters on all nodes: each key is in the filter that is queried and in no other, and the
// rate is the planned one.
func TestSplit(t *testing.T) {
	const n, keys, absent = 16, 20_000, 40_000
	k := newMapNodes(t, 3, 3)
	ctx := t.Context()
	if err := k.clients[1].MakeSplit(ctx, "big", n, api.FilterSpec{Kind: "bloom", Keys: keys, FPRate: 0.01}); err != nil {
		t.Fatal(err)
	}
	s, _, err := k.clients[2].Split(ctx, "big", n)
	if err != nil {
		t.Fatal(err)
	}
	list := func(what string, n int) (all [][]byte) {
		for i := range n {
			all = append(all, fmt.Appendf(nil, "%s %d", what, i))
		}
		return all
	}
	batches := func(yield func([][]byte, error) bool) {
		_ = yield(list("key", keys/2), nil) && yield(list("key", keys)[keys/2:], nil)
	}
	added := 0
	if err := s.Each(ctx, Add, batches, func(keys [][]byte, _ []uint64) error { added += len(keys); return nil }); err != nil || added != keys {
		t.Fatalf("%d keys added: %v", added, err)
	}
	count := func(what string, n int) (found int) {
		answers, err := s.Keys(ctx, Has, list(what, n))
		if err != nil {
			t.Fatal(err)
		}
		for _, yes := range answers {
			found += int(yes)
		}
		return found
	}
	if got := count("key", keys); got != keys {
		t.Errorf("%d of %d keys are present", got, keys)
	}
	if rate := float64(count("absent", absent)) / absent; rate > 0.0105 || rate < 0.004 { // each is made for 11 % more keys than its share
		t.Errorf("rate %.4f, planned 0.01", rate)
	}
	var had [n]uint64
	for _, key := range list("key", keys) {
		had[s.hasher.HashBytes(key).Split(n)]++
	}
	for i, f := range s.filters {
		in, err := f.c.Info(ctx, f.name)
		if err != nil || in.Counts.Added != had[i] || in.Counts.Changed < had[i]*98/100 {
			t.Errorf("filter %d was given %d keys, want %d: %v", i, in.Counts.Added, had[i], err)
		}
		if had[i] < keys/n*85/100 || had[i] > keys/n*115/100 {
			t.Errorf("filter %d has %d of %d keys", i, had[i], keys)
		}
	}
	_, in, err := k.clients[0].Split(ctx, "big", n)
	if err != nil || math.Abs(float64(in.Keys.Estimate)-keys) > keys/50 || in.Planned.Keys < keys || in.Planned.Overfull || in.Name != "big" {
		t.Errorf("%+v, %v", in, err)
	}
	for i, c := range k.clients {
		filters := 0
		for b, err := range c.List(ctx, "big{") {
			if err != nil {
				t.Fatal(err)
			}
			if k.maps[2].Owner(slots.Of([]byte(b.Name))) != i {
				t.Errorf("%s is on node %d", b.Name, i)
			}
			filters++
		}
		if filters < 4 || filters > 7 {
			t.Errorf("node %d has %d of %d filters", i, filters, n)
		}
	}
	if _, _, err := k.clients[0].Split(ctx, "big", n+1); word(err) != api.WordNotFound {
		t.Errorf("another number of filters: %v", err)
	}
	if err := k.clients[0].MakeSplit(ctx, "big", n, api.FilterSpec{Keys: keys}); word(err) != api.WordExists {
		t.Errorf("a name that is taken: %v", err)
	}
	if got := count("key", keys); got != keys {
		t.Errorf("%d of %d keys are present after a name was refused", got, keys)
	}
	if err := k.clients[0].DeleteSplit(ctx, "big", n); err != nil {
		t.Fatal(err)
	}
	k.placed(k.maps[2], 0)
}
