package share_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	counts "github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// The filter of the day has 64·10,080 cells. 10,080 has divisors 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, …
const (
	dayCells  = 64 * 10_080
	dayPeriod = 10 * time.Minute // between versions
	dayRushes = 200              // versions of the rush hour, one per second
	dayLeast  = 500              // keys at night
	dayMost   = 6000             // keys at noon
)

// population returns the number of keys at a time of the day.
func population(at time.Duration) int {
	return dayLeast + int((dayMost-dayLeast)*(1-math.Cos(2*math.Pi*at.Hours()/24))/2)
}

// day is a set whose size follows the hour, in a counting filter that folds, and its publications.
type day struct {
	*testing.T
	rng          *rand.Rand
	keys         []umbel.Digest
	filter       *folding.Counting
	bits, folded *pair // of the bits of its base, with classes; of its folded filter
	state        umbel.State
	followers    []*follower
	plain, small *follower // of the bits and of the folded filter, without a budget
	limited      *follower // from the rush hour on
	snapshots    uint64    // bytes for a subscriber that fetches all bits for each version
}

// follower is a subscriber that runs.
type follower struct {
	*share.Subscriber
	rate            float64 // that suffices; 0 means any
	folds           map[uint64]int
	lowest, highest float64 // rate of its views
}

// change makes n keys the set, and replaces some.
func (d *day) change(n, replaced int) {
	for len(d.keys) > n-replaced {
		i := d.rng.IntN(len(d.keys))
		if !d.filter.Remove(d.keys[i]) {
			d.Fatal("a key is absent")
		}
		d.keys[i] = d.keys[len(d.keys)-1]
		d.keys = d.keys[:len(d.keys)-1]
	}
	for len(d.keys) < n {
		x := umbel.Digest{H1: d.rng.Uint64(), H2: d.rng.Uint64()}
		d.filter.Add(x)
		d.keys = append(d.keys, x)
	}
}

// publish publishes the bits of the base and the folded filter.
func (d *day) publish() {
	d.Helper()
	base, err := counts.Open(d.filter.State().Parts[0].Clone())
	if err != nil {
		d.Fatal(err)
	}
	d.state = base.View().State()
	packed, err := wire.Packer{}.Append(nil, d.state)
	if err != nil {
		d.Fatal(err)
	}
	d.snapshots += uint64(len(packed))
	small, err := d.filter.Folded()
	if err != nil {
		d.Fatal(err)
	}
	for p, s := range map[*pair]umbel.State{d.bits: d.state, d.folded: small.State()} {
		if _, err := p.p.Publish(d.Context(), s); err != nil {
			d.Fatal(err)
		}
	}
}

// follow runs a subscriber until the test ends.
func (d *day) follow(p *pair, b share.Budget) *follower {
	d.Helper()
	s, err := share.NewSubscriber(d.Context(), share.SubscriberOptions{
		Source: p.store, Verifier: p.verifier, Kinds: filter.All, Stale: share.StaleError, Budget: b,
	})
	if err != nil {
		d.Fatal(err)
	}
	d.Cleanup(s.Close)
	d.Cleanup(run(d.T, s, time.Hour))
	return &follower{Subscriber: s, rate: b.Rate, folds: make(map[uint64]int), lowest: 1}
}

// check fails unless a subscriber has the last version of the bits, in the class and with the rate that are
// right for it.
func (d *day) check(f *follower, at time.Duration) {
	d.Helper()
	v := f.View()
	if v == nil || !v.Exact() || v.Head().Version != d.bits.p.Head().Version {
		d.Fatalf("%v: the version has not arrived", at)
	}
	if hashtree.Identify(v.Filter().State()) != hashtree.Identify(folded(d, d.state, v.Head().Fold)) {
		d.Fatalf("%v: the view is not the fold by %d", at, v.Head().Fold)
	}
	for _, x := range d.keys {
		if has, err := f.Has(x); !has || err != nil {
			d.Fatalf("%v: a key is absent: %v", at, err)
		}
	}
	h := v.Head()
	f.folds[h.Fold]++
	f.lowest, f.highest = min(f.lowest, v.Rate()), max(f.highest, v.Rate())
	if f.rate == 0 {
		return
	}
	if v.Rate() > f.rate {
		d.Errorf("%v: %d keys, class %d: the rate is %.4f, want at most %.4f", at, len(d.keys), h.Fold, v.Rate(), f.rate)
	}
	for _, c := range h.Classes {
		if c.Fold > h.Fold && c.Rate <= 0.9*f.rate || c.Fold == h.Fold && c.Rate > f.rate && c.Fold > 1 {
			d.Errorf("%v: the class %d is followed, %+v", at, h.Fold, h.Classes)
		}
	}
}

// The population of a set follows a day, as in Sailhan and Stehr 2012, section II. Subscribers state the rate that
// suffices, and follow the coarsest class whose rate is at most that. For rates above 3 %, they receive at most
// a twentieth more than if the filter were published folded to that rate, and all receive at most a tenth more than a subscriber of
// the whole filter: a change of the class costs a message, which counts while versions change little (6.4 % at noon and 0.4 % after the
// rush hour, for the rate of 1 %). One that is limited to 2000 bytes per second keeps to it in a rush hour.
func TestDay(t *testing.T) {
	race.Skip(t, "simulates a long time, in one goroutine")
	synctest.Test(t, func(t *testing.T) {
		d := &day{T: t, rng: rand.New(rand.NewPCG(19, 20)), bits: live(t), folded: live(t)}
		d.bits.p = d.publisher(d.bits, 4, 16)
		d.folded.p = d.publisher(d.folded)
		shape, err := folding.Shape{M: dayCells, K: 1, Width: 4, Group: 6}.Keep(0.03, 0.01)
		if err == nil {
			d.filter, err = folding.NewCountingShape(shape)
		}
		if err != nil {
			t.Fatal(err)
		}
		d.change(dayLeast, 0)
		d.publish()
		for _, rate := range []float64{0.01, 0.04, 0.1} {
			d.followers = append(d.followers, d.follow(d.bits, share.Budget{Rate: rate}))
		}
		d.plain, d.small = d.follow(d.bits, share.Budget{}), d.follow(d.folded, share.Budget{})
		synctest.Wait()
		at := time.Duration(0)
		step := func(wait time.Duration, replaced int) {
			t.Helper()
			time.Sleep(wait)
			at += wait
			d.change(population(at), replaced)
			d.publish()
			synctest.Wait()
			for _, f := range append(d.followers, d.plain) {
				d.check(f, at)
			}
		}
		for at < 12*time.Hour {
			step(dayPeriod, 20)
		}
		d.report()
		d.limited = d.follow(d.bits, share.Budget{Start: 1, BytesPerSecond: 2000})
		begun, first := at, d.limited.Counters().Received
		for range dayRushes {
			step(time.Second, 3000)
			used, limit := d.limited.Counters().Received-first, 2000*uint64((at-begun)/time.Second)+1500
			if used > limit {
				t.Fatalf("%v: %d bytes were received, want at most %d", at, used, limit)
			}
		}
		c := d.limited.Counters()
		t.Logf("limited to 2 kB/s: %d bytes in %d seconds, %d versions of %d", c.Received-first, dayRushes, c.Versions, dayRushes)
		if c.Versions < dayRushes/4 || c.Versions > dayRushes*9/10 {
			t.Errorf("%+v", c)
		}
		for at < 24*time.Hour {
			step(dayPeriod, 20)
		}
		d.check(d.limited, at)
		if f := d.limited.View().Head().Fold; f != 1 {
			t.Errorf("class %d after a quiet afternoon", f)
		}
		d.report()
		for _, f := range d.followers {
			if len(f.folds) < 2 {
				t.Errorf("the class does not follow the population: %v", f.folds)
			}
		}
	})
}

// publisher begins a publisher by the time of the day.
func (d *day) publisher(p *pair, folds ...uint64) *share.Publisher {
	d.Helper()
	publisher, err := share.NewPublisher(d.Context(), share.PublisherOptions{
		Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Folds: folds, Kinds: filter.All, Valid: 3 * dayPeriod,
	})
	if err != nil {
		d.Fatal(err)
	}
	return publisher
}

// report compares what the subscribers have received.
func (d *day) report() {
	d.Helper()
	whole, small := d.plain.Counters(), d.small.Counters()
	if whole.Received > d.snapshots*2/3 {
		d.Errorf("%d bytes as whole filters, %d as deltas", d.snapshots, whole.Received)
	}
	d.Logf("%d versions: %d bytes as whole filters, %d as its deltas, %d as deltas of the folded filter", whole.Versions, d.snapshots, whole.Received, small.Received)
	for _, f := range d.followers {
		c := f.Counters()
		d.Logf("rate %v: %d bytes, rates from %.4f to %.4f, versions by class: %v", f.rate, c.Received, f.lowest, f.highest, f.folds)
		if c.Resyncs > 0 || f.rate > 0.03 && c.Received > small.Received*21/20 || c.Received > whole.Received*11/10 {
			d.Errorf("%+v", c)
		}
	}
}
