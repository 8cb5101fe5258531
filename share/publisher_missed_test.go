package share_test

import (
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire/delta"
)

// ten returns the state of a filter with k = 10 and 100,000 keys, the first of which is given.
func ten(t testing.TB, first uint64) umbel.State {
	f, err := bloom.New(100_000, 0.001)
	if err != nil {
		t.Fatal(err)
	}
	for i := first; i < first+100_000; i++ {
		f.Add(f.Hasher().HashUint64(i))
	}
	return f.State()
}

// If keys set many cells, subscribers that missed many versions get deltas, too, although most words of the
// filter have changed since. MaxOldBytes permits the publisher the memory for more.
func TestMissedManyCells(t *testing.T) {
	race.Skip(t, "makes many versions, in one goroutine")
	for _, c := range []struct{ limit, longest uint64 }{{0, 60}, {1e9, 200}} {
		p := newPair(t)
		p.publisher(func(o *share.PublisherOptions) { o.MaxOldBytes = c.limit })
		late := make(map[uint64]*share.Subscriber)
		const versions = 230
		var last umbel.State
		for v := range uint64(versions) {
			last = ten(t, 100*v)
			p.publish(last)
			switch missed := versions - 1 - v; missed {
			case 5, 8, 20, 60, 100, 200:
				late[missed] = p.subscriber(share.SubscriberOptions{})
				update(t, late[missed])
			}
		}
		for missed, s := range late {
			before := s.Counters()
			update(t, s)
			wantState(t, s, last)
			direct, err := delta.Encoder{}.AppendChange(nil, ten(t, 100*(versions-1-missed)), last)
			if err != nil {
				t.Fatal(err)
			}
			bytes := s.Counters().Bytes - before.Bytes
			t.Logf("MaxOldBytes %d, %d missed: %d objects, %d bytes; one delta: %d bytes", c.limit, missed, s.Counters().Objects-before.Objects, bytes, len(direct))
			if missed <= c.longest && bytes > uint64(len(direct))*4/3 {
				t.Errorf("MaxOldBytes %d, %d missed: %d bytes, one delta has %d", c.limit, missed, bytes, len(direct))
			}
		}
	}
}

// A subscriber that misses no version fetches one snapshot, the first. When 36 versions are complete, the deltas
// between them become a page, and are many in relation to a snapshot if much changes.
func TestMissedNone(t *testing.T) {
	race.Skip(t, "makes many versions, in one goroutine")
	const keys, versions = 10_000, 220
	for _, c := range []struct{ k, cells, replaced, limit uint64 }{
		{1, 500_000, 50, 0}, {1, 500_000, 100, 0}, {1, 500_000, 200, 0}, {7, 100_000, 100, 0},
		{1, 500_000, 100, 1}, // no bytes for deltas from older versions
	} {
		p := newPair(t)
		p.publisher(func(o *share.PublisherOptions) { o.MaxOldBytes = c.limit })
		s := p.subscriber(share.SubscriberOptions{})
		for v := range uint64(versions) {
			state := setCells(t, c.k, c.cells, v*c.replaced, v*c.replaced+keys)
			h, before := p.publish(state), s.Counters()
			update(t, s)
			wantState(t, s, state)
			bytes := s.Counters().Bytes - before.Bytes
			if v > 0 && (len(h.Deltas) == 0 || bytes != h.Deltas[0].Bytes) {
				t.Errorf("%+v, version %d: %d bytes fetched, the deltas of the head are %v", c, h.Version, bytes, h.Deltas)
			}
		}
	}
}

// The bytes of deltas are limited, and pages are completed, without an effect on subscribers that missed few versions.
func TestMissedTwenty(t *testing.T) {
	race.Skip(t, "makes many versions, in one goroutine")
	const keys, versions, missed = 10_000, 220, 20
	p := newPair(t)
	s := p.subscriber(share.SubscriberOptions{})
	snapshot := uint64(0)
	for v := range uint64(versions) {
		state := setCells(t, 1, 500_000, 100*v, 100*v+keys)
		p.publish(state)
		if v%missed > 0 {
			continue
		}
		before := s.Counters()
		update(t, s)
		wantState(t, s, state)
		if bytes := s.Counters().Bytes - before.Bytes; v == 0 {
			snapshot = bytes
		} else if bytes > snapshot/2 {
			t.Errorf("version %d: %d bytes, a snapshot has %d", v+1, bytes, snapshot)
		}
	}
}
