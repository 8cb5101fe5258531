package share

import (
	"context"
	crand "crypto/rand"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"golang.org/x/mod/sumdb/note"
)

// somePublisher returns a publisher with versions of someState in memory.
func somePublisher(t testing.TB, versions int) (*Publisher, *Memory, []umbel.State) {
	t.Helper()
	m := new(Memory)
	p := continuePublisher(t, m)
	rng := rand.New(rand.NewPCG(9, 10))
	states := make([]umbel.State, versions)
	s := someState(t)
	for i := range states {
		s = mutate(rng, s, 2)
		states[i] = s
		if _, err := p.Publish(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return p, m, states
}

func continuePublisher(t testing.TB, m Store) *Publisher {
	t.Helper()
	p, err := NewPublisher(t.Context(), PublisherOptions{Store: m, Key: Key{Signer: trusting{}, Verifier: trusting{}}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// someNotes returns the notes to the 5th version, its head and its state.
func someNotes(t testing.TB) (*Head, umbel.State, []byte) {
	p, _, states := somePublisher(t, 5)
	return p.Head(), states[4], p.whole().notes(nil)
}

func TestNotes(t *testing.T) {
	h, s, notes := someNotes(t)
	_, revisions, err := parseNotes(notes, h, s)
	if err != nil || len(revisions) != 4 {
		t.Fatalf("%d revisions: %v", len(revisions), err)
	}
	for n := range notes {
		if _, _, err := parseNotes(notes[:n], h, s); !isLost(err) {
			t.Fatalf("%d of %d bytes: %v", n, len(notes), err)
		}
	}
	if _, _, err := parseNotes(append(notes, 0), h, s); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte follows: %v", err)
	}
	// They are for one version of one stream, and for states of one shape.
	next := *h
	next.Version++
	if _, _, err := parseNotes(notes, &next, s); !errors.Is(err, ErrNotFound) {
		t.Errorf("another version: %v", err)
	}
	next = *h
	next.Stream.Nonce++
	if _, _, err := parseNotes(notes, &next, s); !errors.Is(err, ErrNotFound) {
		t.Errorf("another stream: %v", err)
	}
	other := s.Clone()
	other.Parts = nil
	if _, _, err := parseNotes(notes, h, other); !errors.Is(err, ErrCorrupt) {
		t.Errorf("another shape: %v", err)
	}
}

// A publisher that is started again continues where the last one ended.
func TestResume(t *testing.T) {
	p, m, states := somePublisher(t, 40)
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	q := continuePublisher(t, m)
	if q.stream != p.stream || q.version != 40 || q.whole().history.oldest() != p.whole().history.oldest() || len(q.whole().current.deltas) == 0 {
		t.Fatalf("version %d, %d revisions", q.version, len(q.whole().history.revisions))
	}
	for v := uint64(40); v >= q.whole().history.oldest(); v-- {
		checkHistory(t, &q.whole().history, states, v)
	}
	if h, err := q.Publish(t.Context(), mutate(rand.New(rand.NewPCG(1, 3)), states[39], 2)); err != nil || h.Version != 41 || len(h.Deltas) != 3 {
		t.Errorf("%+v, %v", h, err)
	}
	// The first publisher notices that it is not alone.
	for range 2 {
		if _, err := p.Renew(t.Context()); !errors.Is(err, ErrFork) {
			t.Errorf("the old publisher: %v", err)
		}
	}
}

// Whatever is damaged in the store, a publisher starts and publishes what subscribers can read.
func TestResumeDamaged(t *testing.T) {
	p, m, states := somePublisher(t, 40)
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	resumed := 0
	for name := range m.objects {
		for _, change := range []func(b []byte) []byte{
			func([]byte) []byte { return nil },
			func(b []byte) []byte { return b[:len(b)/2] },
			func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		} {
			damaged := &Memory{records: make(map[string][]byte), objects: make(map[string][]byte)}
			for n, b := range m.records {
				damaged.records[n] = b
			}
			for n, b := range m.objects {
				damaged.objects[n] = append([]byte(nil), b...)
			}
			if damaged.objects[name] = change(damaged.objects[name]); damaged.objects[name] == nil {
				delete(damaged.objects, name)
			}
			q := continuePublisher(t, damaged)
			if q.stream == p.stream {
				resumed++
			} else if q.stream.Compare(p.stream) < 0 {
				t.Error("the new stream is older")
			}
			h, err := q.Publish(t.Context(), mutate(rand.New(rand.NewPCG(1, 3)), states[39], 2))
			if err != nil {
				t.Fatal(err)
			}
			r := reacher{
				source: damaged, limits: wire.NoLimits, note: func(string, error) {},
				fetched: func(context.Context, Ref, []byte) error { return nil },
			}
			if _, err := r.reach(t.Context(), h, held{}); err != nil && q.stream != p.stream {
				t.Errorf("object %s: %v", name, err)
			}
		}
	}
	if resumed < len(m.objects) {
		t.Errorf("resumed after %d of %d damages", resumed, 3*len(m.objects))
	}
}

// An error of the store is not a lost publication: the publisher does not begin a new stream.
func TestResumeTransient(t *testing.T) {
	_, m, _ := somePublisher(t, 5)
	for _, what := range []string{"records", "objects"} {
		_, err := NewPublisher(t.Context(), PublisherOptions{Store: &unreliable{m, what}, Key: Key{Signer: trusting{}, Verifier: trusting{}}})
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// unreliable is a store of which a part cannot be read.
type unreliable struct {
	*Memory
	what string
}

func (u *unreliable) Record(ctx context.Context, name string) ([]byte, error) {
	if u.what == "records" {
		return nil, errBroken
	}
	return u.Memory.Record(ctx, name)
}

func (u *unreliable) Object(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if u.what == "objects" {
		return nil, errBroken
	}
	return u.Memory.Object(ctx, name, offset)
}

func TestPublisherOptions(t *testing.T) {
	for _, valid := range []time.Duration{-1, time.Millisecond, 1500 * time.Millisecond, (1<<31 + 1) * time.Second} {
		if _, err := NewPublisher(t.Context(), PublisherOptions{Store: new(Memory), Key: Key{Signer: trusting{}, Verifier: trusting{}}, Valid: valid}); err == nil {
			t.Errorf("valid for %v", valid)
		}
	}
	_, m, _ := somePublisher(t, 1)
	_, public, err := note.GenerateKey(crand.Reader, "n")
	if err != nil {
		t.Fatal(err)
	}
	other, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPublisher(t.Context(), PublisherOptions{Store: m, Key: Key{Signer: trusting{}, Verifier: other}}); !errors.Is(err, ErrSignature) {
		t.Errorf("a store of another key: %v", err)
	}
	p := continuePublisher(t, m)
	p.o.Valid = time.Hour
	if h, err := p.Renew(t.Context()); err != nil || h.Valid != time.Hour {
		t.Errorf("renewed for %v: %v", h.Valid, err)
	}
	if _, err := continuePublisher(t, new(Memory)).Renew(t.Context()); err == nil {
		t.Error("nothing is renewed")
	}
}
