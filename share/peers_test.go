package share_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/share"
)

// sets publishes n sets of keys "i/0" to "i/99", each with a hasher of its own if seeded, and returns
// peers that follow them.
func sets(t testing.TB, n int, seeded bool, stale share.Stale) *share.Peers {
	t.Helper()
	peers := new(share.Peers)
	for i := range n {
		h := umbel.Hasher{}
		if seeded {
			h = umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(uint64(i), 1)}
		}
		f, err := bloom.NewShape(bloom.Shape{M: 1 << 16, K: 1, Hasher: h})
		if err != nil {
			t.Fatal(err)
		}
		for k := range 100 {
			f.AddString(fmt.Sprintf("%d/%d", i, k))
		}
		p := newPair(t)
		o := share.PublisherOptions{Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Now: p.clock, PublishSeed: true}
		if p.p, err = share.NewPublisher(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		p.publish(f.State())
		s := p.subscriber(share.SubscriberOptions{Stale: stale, Compact: i%2 == 0})
		update(t, s)
		peers.Set(share.Peer{Name: fmt.Sprint(i), Subscriber: s, Zone: i % 3, Cost: float64(-i)})
	}
	return peers
}

func names(list []*share.Peer) (all []string) {
	for _, x := range list {
		all = append(all, x.Name)
	}
	return all
}

func TestPeers(t *testing.T) {
	for _, seeded := range []bool{false, true} {
		const n = 12
		peers := sets(t, n, seeded, share.StaleError)
		if got, want := names(peers.All()), []string{"9", "6", "3", "0", "10", "7", "4", "1", "11", "8", "5", "2"}; !slices.Equal(got, want) {
			t.Fatalf("order %v, want %v", got, want)
		}
		var keys [][]byte
		for i := range n {
			for k := range 100 {
				keys = append(keys, fmt.Appendf(nil, "%d/%d", i, k))
			}
		}
		all := make([][]*share.Peer, len(keys))
		peers.WhoAll(all, keys)
		others := 0
		for j, key := range keys {
			who := peers.Who(nil, key)
			if !slices.Equal(who, all[j]) {
				t.Fatalf("%s: %v, in a batch %v", key, names(who), names(all[j]))
			}
			if !slices.Contains(names(who), fmt.Sprint(j/100)) {
				t.Fatalf("%s: its peer is missing in %v", key, names(who))
			}
			others += len(who) - 1
		}
		// 100 cells of 65536 are set: 20 of 13,200 answers are false.
		if others > 50 {
			t.Errorf("%d false answers", others)
		}
		if !peers.Remove("9") || peers.Remove("9") || len(peers.All()) != n-1 {
			t.Error("a peer is not removed once")
		}
	}
}

// Stale peers are left out, or are always there, as their subscribers answer.
func TestPeersStale(t *testing.T) {
	for stale, want := range map[share.Stale]int{share.StaleError: 0, share.StaleMaybe: 3, share.StaleLast: 1} {
		peers := sets(t, 3, false, stale)
		for _, x := range peers.All() {
			x.Subscriber.Close()
		}
		if got := len(peers.Who(nil, []byte("1/5"))); got != want {
			t.Errorf("%v: %d peers, want %d", stale, got, want)
		}
		all := make([][]*share.Peer, 1)
		if peers.WhoAll(all, [][]byte{[]byte("1/5")}); len(all[0]) != want {
			t.Errorf("%v: %d peers in a batch, want %d", stale, len(all[0]), want)
		}
	}
}

// A compact subscriber follows all versions, with a cache and without.
func TestCompact(t *testing.T) {
	p := newPair(t)
	cache := new(share.Memory)
	plain, compact := p.subscriber(share.SubscriberOptions{}), p.subscriber(share.SubscriberOptions{Compact: true, Cache: cache})
	for v := range uint64(120) {
		state := set(t, 50_000, 5*v, 5*v+1000)
		p.publish(state)
		update(t, plain)
		update(t, compact)
		if v%10 == 3 { // a restart
			compact = p.subscriber(share.SubscriberOptions{Compact: true, Cache: cache})
		}
		for i := range 5*v + 2000 {
			d := state.Hasher.HashUint64(i)
			want, err := plain.Has(d)
			if got, err2 := compact.Has(d); err != nil || err2 != nil || got != want {
				t.Fatalf("version %d, key %d: %v, %v, want %v, %v", v+1, i, got, err2, want, err)
			}
		}
	}
	if c := compact.Counters(); c.Resyncs != 0 {
		t.Errorf("%+v", c)
	}
	if kind := compact.View().Filter().State().Kind; kind != "sparse" {
		t.Errorf("kind %s", kind)
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkPeers finds which of 300 peers may have a key. Their publications have 10,000 keys each at 2 %.
func BenchmarkPeers(b *testing.B) {
	const n, keys, m = 300, 10_000, 500_000
	peers := new(share.Peers)
	before, packed := heap(), uint64(0)
	for i := range uint64(n) {
		p := newPair(b)
		p.publish(set(b, m, i*keys, (i+1)*keys))
		s, err := share.NewSubscriber(b.Context(), share.SubscriberOptions{
			Source: swap{&p.store}, Verifier: p.verifier, Kinds: filter.All, Stale: share.StaleLast, Compact: true,
		})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Update(b.Context()); err != nil && !errors.Is(err, share.ErrStale) {
			b.Fatal(err)
		}
		p.store, p.p = nil, nil // the memory of the publisher does not count
		packed += s.Counters().Bytes
		peers.Set(share.Peer{Name: fmt.Sprint(i), Subscriber: s})
	}
	memory := float64(heap()-before) / float64(packed)
	b.Run("one", func(b *testing.B) {
		var dst []*share.Peer
		for i := 0; b.Loop(); i++ {
			dst = peers.Who(dst[:0], fmt.Append(nil, i))
		}
		b.ReportMetric(memory, "memory/packed")
	})
	b.Run("batch", func(b *testing.B) {
		list := make([][]byte, 256)
		for i := range list {
			list[i] = fmt.Append(nil, i)
		}
		dst := make([][]*share.Peer, len(list))
		for b.Loop() {
			for i := range dst {
				dst[i] = dst[i][:0]
			}
			peers.WhoAll(dst, list)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list)), "ns/key")
	})
}
