package siblings

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
)

// A digest has the key of everything that is held all the time, also if other keys come and go while it is made. Keys of what is no
// longer held do not accumulate if nobody reads the digest.
func TestSquidKeys(t *testing.T) {
	const lasting = 5000
	s := squidKeys{held: NewHeld(1 << 20)}
	until := time.Now().Add(time.Hour)
	add := func(k Key) {
		s.held.Added(k, until)
		s.add(s.held.hash(k), k, nil, nil)
	}
	lastingKey := func(i int) Key { return Key(fmt.Sprint("http://www.example.org/", i)) }
	want := make([]umbel.Digest, lasting)
	for i := range want {
		add(lastingKey(i))
		want[i], _ = squidKey(lastingKey(i), nil, nil)
	}
	var changing sync.WaitGroup
	for worker := range 2 {
		changing.Go(func() {
			for i := range 20_000 {
				k := Key(fmt.Sprintf("http://www.example.org/%d/%d", worker, i))
				add(k)
				s.held.Removed(k)
			}
		})
	}
	for range 10 {
		have := map[umbel.Digest]bool{}
		for _, d := range s.prune() {
			have[d] = true
		}
		if i := slices.IndexFunc(want, func(d umbel.Digest) bool { return !have[d] }); i >= 0 {
			t.Errorf("%s is absent", lastingKey(i))
		}
	}
	changing.Wait()
	for i := range 10 * lasting {
		k := Key(fmt.Sprint("http://www.example.org/gone/", i))
		add(k)
		s.held.Removed(k)
	}
	if n := len(s.keys); n > 3*lasting {
		t.Errorf("%d keys are kept of %d that are held", n, lasting)
	}
	if n := len(s.prune()); n != lasting || len(s.keys) != lasting {
		t.Errorf("%d keys are in the digest and %d are kept, want %d", n, len(s.keys), lasting)
	}
}

// BenchmarkSquidKeys adds a key next to a million that are no longer held, while nobody reads the digest.
func BenchmarkSquidKeys(b *testing.B) {
	s := squidKeys{held: NewHeld(1 << 20), keys: map[uint64]umbel.Digest{}}
	until := time.Now().Add(time.Hour)
	for i := range 500_000 {
		s.held.Added(Key(fmt.Sprint("http://www.example.org/", i)), until)
	}
	for i := range uint64(1_001_024) {
		s.keys[i] = umbel.Digest{}
	}
	k, hash := Key("http://www.example.org/new"), uint64(1<<63)
	b.ReportAllocs()
	for b.Loop() {
		hash++
		s.add(hash, k, nil, nil)
	}
}
