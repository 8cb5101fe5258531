package contacts

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/umbel-filters/umbel/filter/bloom"
)

func small() Setting {
	s := usual
	s.Peers, s.Contacts, s.Capacity = 40, 80, 200
	return s
}

func tallies(t *testing.T, s Setting, verify bool) map[string]Tally {
	t.Helper()
	w, err := newWorld(s, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]Tally)
	for _, scheme := range schemes {
		got, err := w.run(scheme, 3, verify)
		if err != nil {
			t.Fatalf("%s: %v", scheme.name, err)
		}
		all[scheme.name] = got
	}
	return all
}

// All messages of umbel are decoded to the filter of the sender, and a second run, without
// decoding, has the same results.
func TestMessages(t *testing.T) {
	first, second := tallies(t, small(), true), tallies(t, small(), false)
	for name, got := range first {
		if got != second[name] {
			t.Errorf("%s: first %+v, then %+v", name, got, second[name])
		}
		if got.Found == 0 {
			t.Errorf("%s: found nothing", name)
		}
	}
}

// Contacts do not transfer more than their bytes and their energy.
func TestBudgets(t *testing.T) {
	s := small()
	s.Seconds, s.Bandwidth, s.Energy, s.Radio = 60, 10_000, 0.002, 2
	p := prices[s.Radio]
	most := 2 * float64(s.Contacts) * s.Energy
	for name, got := range tallies(t, s, false) {
		// The last message of an exchange may be preceded by work of the processor that exceeds
		// the energy.
		if spent := got.Joules(p) - 1e-9*float64(got.CPU)*p.CPUMicrosecond; spent > most || spent < most/10 {
			t.Errorf("%s: the radio spent %g J, want %g to %g J", name, spent, most/10, most)
		}
	}
	s = small()
	s.Bandwidth = 1 // two bytes per contact
	for name, got := range tallies(t, s, false) {
		if got.Found != 0 || got.Bytes > 4*int64(s.Contacts) {
			t.Errorf("%s: found %d with %d bytes, want none with at most %d bytes", name, got.Found, got.Bytes, 4*s.Contacts)
		}
	}
}

// A summary has no false negatives: in contacts without a limit all schemes find what a list of
// all keys finds.
func TestLongContacts(t *testing.T) {
	s := small()
	s.Seconds, s.Bandwidth = 1000, 1e6
	all := tallies(t, s, false)
	want := all[list]
	if want.Wasted != 0 || want.Found != want.Requests {
		t.Errorf("%s: %d found and %d wasted of %d requests, want none wasted", list, want.Found, want.Wasted, want.Requests)
	}
	for name, got := range all {
		if off := math.Abs(float64(got.Found-want.Found)) / float64(want.Found); off > 0.01 {
			t.Errorf("%s: found %d, want %d ± 1 %%", name, got.Found, want.Found)
		}
		if name != queries && got.Found+got.Wasted != got.Requests {
			t.Errorf("%s: %d found and %d wasted of %d requests", name, got.Found, got.Wasted, got.Requests)
		}
	}
}

// False positives of filters that are sent whole are those of equation (1), corrected.
func TestRates(t *testing.T) {
	s := usual
	s.Seconds, s.Contacts = 60, 200
	all := tallies(t, s, false)
	for _, name := range []string{full, folded, squid} {
		got := all[name]
		// The peers of a group meet again, so queries are not independent: six deviations.
		if off := math.Abs(float64(got.Positives) - got.Predicted); off > 6*math.Sqrt(got.Predicted) {
			t.Errorf("%s: %d false positives, want %.0f ± %.0f", name, got.Positives, got.Predicted, 6*math.Sqrt(got.Predicted))
		}
	}
}

// In contacts of seconds, umbel finds more than each other summary, with deltas more than
// without. If little is wanted, sending the wanted keys finds more than umbel.
func TestShortContacts(t *testing.T) {
	s := usual
	s.Contacts = 200
	all := tallies(t, s, false)
	for _, name := range []string{full, folded, squid, list} {
		if got := all[name].Found; 10*got > 9*all[umbels].Found {
			t.Errorf("%s found %d, umbel %d, want at least a tenth more", name, got, all[umbels].Found)
		}
	}
	if got, with := all[umbels].Found, all[deltas].Found; with <= got {
		t.Errorf("umbel found %d, with deltas %d, want more", got, with)
	}
	s.Wanted = 20
	all = tallies(t, s, false)
	if got, best := all[deltas].Found, all[queries].Found; got >= best {
		t.Errorf("20 wanted: umbel with deltas found %d, without a summary %d, want more", got, best)
	}
}

// The fold of a base is the filter that is built at that size.
func TestFold(t *testing.T) {
	w, err := newWorld(small(), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	x := exchange{world: w, Tally: new(Tally), from: w.peers[0]}
	for _, size := range w.sizes {
		base, err := bloom.NewShape(bloom.Shape{M: w.base, K: cellsK})
		if err != nil {
			t.Fatal(err)
		}
		if err := x.fill(base).Fold(w.base / size); err != nil {
			t.Fatal(err)
		}
		if f, err := x.fold(size); err != nil || !f.Equal(base) {
			t.Errorf("size %d: %v, or it differs from the fold", size, err)
		}
	}
}

// A byte over IEEE 802.15.4 takes 32 µs at 17.4 and 18.8 mA of 3 V; a packet of Feeney and
// Nilsson's takes 454 and 356 µJ.
func TestJoules(t *testing.T) {
	got := Tally{Bytes: 1000, Packets: 1}
	for i, want := range map[int]float64{0: 0.0002256e0, 2: 0.0034752, 3: 0.00321} {
		if j := got.Joules(prices[i]); math.Abs(j-want) > 1e-9 {
			t.Errorf("%s: %g J, want %g", prices[i].Name, j, want)
		}
	}
}

// The quantiles are those of Student's distribution in tables.
func TestInterval(t *testing.T) {
	for n, want := range map[int]float64{11: 2.228, 20: 2.093, 31: 2.042} {
		if got := interval(n); math.Abs(got-want) > 0.002 {
			t.Errorf("n=%d: %.4f, want %g", n, got, want)
		}
	}
}

// If a contact lasts longer than expected, umbel requests all positives of a small fold, also those
// that are probably false, and thus finds all objects that are wanted and present.
func TestUnexpectedlyLong(t *testing.T) {
	w, err := newWorld(small(), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	a, b := w.peers[0], w.peers[1]
	want := 0
	for _, o := range b.wanted {
		if a.has[o] {
			want++
		}
	}
	x := exchange{world: w, Tally: new(Tally), from: a, to: b, left: 1 << 30, expected: 200, memory: new(memory)}
	if err := x.refine(false); err != nil || want == 0 || len(x.got) != want {
		t.Errorf("found %d, %v, want %d", len(x.got), err, want)
	}
}
