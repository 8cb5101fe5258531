package share

import (
	"bytes"
	"cmp"
	"context"
	crand "crypto/rand"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/race"
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

// someNotes returns the notes to the 5th version, its head, its state, and the revisions that lead to it.
func someNotes(t testing.TB) (h *Head, s umbel.State, record, part []byte) {
	p, m, states := somePublisher(t, 5)
	record, err := m.Record(t.Context(), notesName)
	if err != nil {
		t.Fatal(err)
	}
	return p.Head(), states[4], record, appendRevisions(nil, p.whole().history.revisions)
}

func TestNotes(t *testing.T) {
	h, s, record, part := someNotes(t)
	n, err := parseNotes(record, h.Stream)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := n.of(h)
	if err != nil || len(mine.parts) != 4 || mine.parts[0].from != 1 || mine.parts[3].to != 5 {
		t.Fatalf("%+v: %v", mine, err)
	}
	for i := range record {
		if _, err := parseNotes(record[:i], h.Stream); !isLost(err) {
			t.Fatalf("%d of %d bytes: %v", i, len(record), err)
		}
	}
	if _, err := parseNotes(append(record, 0), h.Stream); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte follows: %v", err)
	}
	other := h.Stream
	other.Nonce++
	if _, err := parseNotes(record, other); !errors.Is(err, ErrNotFound) {
		t.Errorf("another stream: %v", err)
	}
	// They are for one version, or for the one that follows.
	before := *h
	before.Version, before.ID = 4, mine.before
	if _, err := n.of(&before); err != nil {
		t.Errorf("the version before: %v", err)
	}
	for what, change := range map[string]func(h *Head){
		"a later version":    func(h *Head) { h.Version++ },
		"another version":    func(h *Head) { h.Version-- },
		"an earlier version": func(h *Head) { h.Version -= 2 },
		"another state":      func(h *Head) { h.ID[0]++ },
		"another class":      func(h *Head) { h.Fold = 2 },
	} {
		other := *h
		change(&other)
		if _, err := n.of(&other); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}

	if revisions, err := parsePart(part, 1, 5, s); err != nil || len(revisions) != 4 {
		t.Fatalf("%d revisions: %v", len(revisions), err)
	}
	for i := range part {
		if _, err := parsePart(part[:i], 1, 5, s); !isLost(err) {
			t.Fatalf("%d of %d bytes: %v", i, len(part), err)
		}
	}
	if _, err := parsePart(append(part, 0), 1, 5, s); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a byte follows: %v", err)
	}
	shape := s.Clone()
	shape.Parts = nil
	if _, err := parsePart(part, 1, 5, shape); !errors.Is(err, ErrCorrupt) {
		t.Errorf("another shape: %v", err)
	}
}

// mortal is a store that fails after a number of changes, as for a process that is killed.
type mortal struct {
	*Memory
	left int
}

func (m *mortal) die() error {
	if m.left--; m.left < 0 {
		return errBroken
	}
	return nil
}

func (m *mortal) PutRecord(ctx context.Context, name string, data []byte) error {
	return cmp.Or(m.die(), m.Memory.PutRecord(ctx, name, data))
}

func (m *mortal) Remove(ctx context.Context, name string) error {
	return cmp.Or(m.die(), m.Memory.Remove(ctx, name))
}

func (m *mortal) NewObject(ctx context.Context) (Upload, error) {
	if err := m.die(); err != nil {
		return nil, err
	}
	return m.Memory.NewObject(ctx)
}

// After a publisher was killed, whenever that was, the next one has its whole history.
func TestResumeKilled(t *testing.T) {
	p, m, states := somePublisher(t, 11)
	store := &mortal{Memory: m}
	p.o.Store, p.catalog.Store = store, store
	rng := rand.New(rand.NewPCG(11, 12))
	next := states[10]
	deaths := 0
	for len(states) < 80 {
		store.left = rng.IntN(30)
		next = mutate(rng, next, 1+rng.IntN(40)) // in the record, or an object
		if h, err := p.Publish(t.Context(), next); err == nil {
			states = append(states, next)
			continue
		} else if h == nil {
			deaths++
		}
		store.left = 1 << 30
		oldest := p.whole().history.oldest()
		p = continuePublisher(t, store)
		if p.version == uint64(len(states)+1) {
			states = append(states, next)
		}
		if p.version != uint64(len(states)) || p.whole().history.oldest() > oldest {
			t.Fatalf("version %d of %d, the history begins with %d, want %d", p.version, len(states), p.whole().history.oldest(), oldest)
		}
		for v := uint64(len(states)); v >= p.whole().history.oldest(); v-- {
			checkHistory(t, &p.whole().history, states, v)
		}
		next = states[len(states)-1]
	}
	if deaths < 10 {
		t.Errorf("the publisher was killed %d times", deaths)
	}
}

// The record of the notes is small enough for all carriers.
func TestNotesRecord(t *testing.T) {
	n := notes{version: 1 << 40}
	for range 1 + MaxFolds {
		c := classNotes{fold: 1 << 40}
		for i := range base * levels {
			p := part{from: 1, to: 1 + horizon, inline: make([]byte, inlineBytes/(1+MaxFolds))}
			if i%2 == 0 {
				p.inline, p.ref = nil, Ref{Bytes: 1 << 40}
			}
			c.parts = append(c.parts, p)
		}
		n.classes = append(n.classes, c)
	}
	if b := n.append(nil); len(b) > MaxRecord {
		t.Errorf("%d bytes, a record has at most %d", len(b), MaxRecord)
	}
}

// The notes have few parts, and old ones do not remain in the store.
func TestNotesParts(t *testing.T) {
	race.Skip(t, "makes many versions, in one goroutine")
	p, m, states := somePublisher(t, 1)
	rng := rand.New(rand.NewPCG(13, 14))
	s := states[0]
	now := time.Now()
	p.catalog.now = func() time.Time { return now }
	for v := range uint64(500) {
		s = mutate(rng, s, 30)
		if _, err := p.Publish(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		objects := 0
		for _, b := range m.objects {
			if bytes.HasPrefix(b, []byte(partMagic)) {
				objects++
			}
		}
		if n := len(p.whole().current.parts); n > base*levels || objects > n {
			t.Fatalf("version %d: %d parts, %d objects", v+2, n, objects)
		}
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

// A publisher that runs replaces a damaged head, and does not replace one of another key.
func TestDamagedHead(t *testing.T) {
	p, m, _ := somePublisher(t, 3)
	name := ClassRecord(1)
	for i, damage := range []func(b []byte) []byte{
		func([]byte) []byte { return []byte{} },
		func(b []byte) []byte { return b[:len(b)/2] },
		func(b []byte) []byte { b[len("umbel ")] ^= 1; return b },
		func(b []byte) []byte { clear(b); return b },
	} {
		whole, err := m.Record(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.PutRecord(t.Context(), name, damage(bytes.Clone(whole))); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Renew(t.Context()); err != nil {
			t.Fatalf("damage %d: %v", i, err)
		}
		now, err := m.Record(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.whole().open(now); err != nil {
			t.Errorf("damage %d: %v", i, err)
		}
	}
	other, _, err := NewKey("other")
	if err != nil {
		t.Fatal(err)
	}
	signed, err := p.whole().head.Sign(other.Signer)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.PutRecord(t.Context(), name, signed); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Renew(t.Context()); !errors.Is(err, ErrFork) {
		t.Errorf("the head of another key: %v, want %v", err, ErrFork)
	}
}

// With any damage in the store, a publisher starts and publishes what subscribers can read.
func TestResumeDamaged(t *testing.T) {
	race.Skip(t, "varies damage and failures, in one goroutine")
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
			f := fetcher{applier: applier{source: damaged, limits: wire.NoLimits}}
			if _, err := f.fetch(t.Context(), h, local{}, nil); err != nil && q.stream != p.stream {
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
	private, public, err := note.GenerateKey(crand.Reader, "n")
	if err != nil {
		t.Fatal(err)
	}
	other, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewPublisher(t.Context(), PublisherOptions{Store: m, Key: Key{Signer: signer, Verifier: other}}); !errors.Is(err, ErrSignature) || !strings.Contains(err.Error(), "signed with another key, n+") {
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
