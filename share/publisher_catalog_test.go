package share_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
	"golang.org/x/mod/sumdb/note"
)

// readObject returns an object of a store whose content is that of the reference.
func readObject(store share.Source, r share.Ref) ([]byte, error) {
	body, err := store.Object(context.Background(), r.Hash.String(), 0)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(body)
	if err == nil && share.RefOf(b) != r {
		err = fmt.Errorf("object %s has another content", r.Hash)
	}
	return b, err
}

// listed returns the objects that the head of a store refers to, in the index and its pages. They must
// exist.
func listed(t *testing.T, store share.Source, v note.Verifier) (h *share.Head, objects map[share.Ref]bool, x *share.Index) {
	t.Helper()
	return listedIn(t, store, share.HeadName, v)
}

// listedIn is listed for the head in a record.
func listedIn(t *testing.T, store share.Source, record string, v note.Verifier) (h *share.Head, objects map[share.Ref]bool, x *share.Index) {
	t.Helper()
	objects = make(map[share.Ref]bool)
	b, err := store.Record(t.Context(), record)
	if err != nil {
		t.Fatal(err)
	}
	if h, err = share.OpenHead(b, v.Name(), note.VerifierList(v)); err != nil {
		t.Fatal(err)
	}
	read := func(r share.Ref) *share.Index {
		b, err := readObject(store, r)
		if err != nil {
			t.Fatalf("version %d: %v", h.Version, err)
		}
		objects[r] = true
		x := new(share.Index)
		if err := x.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		return x
	}
	x = read(h.Index)
	all := x.Deltas
	for _, p := range x.Pages {
		all = append(all, read(p.Ref).Deltas...)
	}
	for _, d := range all {
		objects[d.Ref] = true
	}
	for _, d := range h.Deltas {
		objects[d] = true
	}
	for _, s := range x.Snapshots {
		objects[s.Ref] = true
	}
	for _, r := range x.Refinements {
		objects[r.Snapshot], objects[r.Ref] = true, true
	}
	for r := range objects {
		if _, err := readObject(store, r); err != nil {
			t.Fatalf("version %d: %v", h.Version, err)
		}
	}
	return h, objects, x
}

// What a head refers to exists, for every version, although writes fail and publishers restart; for the
// time of grace after the head was replaced, too. After that it is removed. The heads of fold classes share
// objects.
func TestCatalog(t *testing.T) {
	t.Run("filter", func(t *testing.T) { testCatalog(t, 1500) })
	t.Run("classes", func(t *testing.T) { testCatalog(t, 400, 4, 16) })
}

func testCatalog(t *testing.T, versions int, folds ...uint64) {
	const grace = 10 * time.Minute
	rng := rand.New(rand.NewPCG(11, 12))
	if testing.Short() {
		versions /= 6
	}
	records := []string{share.HeadName}
	for _, r := range folds {
		records = append(records, share.ClassRecord(r))
	}
	p := newPair(t)
	d := newDisk(rng, nil)
	p.store = d
	p.classes(folds...)
	d.objects["README"] = []byte("not an object")
	needed := make(map[share.Ref]time.Time) // the last time at which a head in the store needed an object
	x := &site{w: &world{rng: rng}, cells: 1 << 15}
	failed, restarts := 0, 0
	for i := range versions {
		p.now = p.now.Add(time.Duration(rng.IntN(60)) * time.Second)
		x.keys = append(x.keys, rng.Uint64())
		state := set(t, 1<<15, x.keys[0]%1000, x.keys[0]%1000+uint64(len(x.keys)))
		d.failing = 0
		if rng.IntN(4) == 0 {
			d.failing = 0.2
		}
		if _, err := p.p.Publish(t.Context(), state); err != nil {
			failed++
		}
		d.failing = 0
		if i == versions/2 || rng.IntN(50) == 0 {
			restarts++
			if rng.IntN(2) == 0 {
				if err := p.p.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			p.classes(folds...)
		}
		for _, record := range records {
			if d.records[record] == nil {
				continue
			}
			_, objects, _ := listedIn(t, d, record, p.verifier)
			for r := range objects {
				needed[r] = p.now
			}
		}
		for r, last := range needed {
			if p.now.Sub(last) < grace {
				if _, err := readObject(d, r); err != nil {
					t.Fatalf("needed %v ago: %v", p.now.Sub(last), err)
				}
			} else {
				delete(needed, r)
			}
		}
	}
	if failed < versions/20 {
		t.Errorf("%d of %d versions failed, %d restarts", failed, versions, restarts)
	}
	p.publish(set(t, 1<<15, x.keys[0]%1000, x.keys[0]%1000+uint64(len(x.keys))+1))
	p.now = p.now.Add(grace)
	for range 2 {
		if _, err := p.p.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.now = p.now.Add(grace)
	}
	names := map[string]bool{"README": true}
	for _, record := range records {
		_, objects, _ := listedIn(t, d, record, p.verifier)
		for r := range objects {
			names[r.Hash.String()], names[r.Hash.ChunksName()] = true, r.Bytes > share.ChunkBytes
		}
	}
	parts := 0
	for name, b := range d.objects {
		switch {
		case names[name] || strings.HasSuffix(name, "-chunks"):
		case strings.HasPrefix(string(b), "umbrev\n"): // of the notes of the publisher
			parts++
		default:
			t.Errorf("object %s remains", name)
		}
	}
	if parts == 0 || parts > 24*len(records) {
		t.Errorf("%d parts of notes", parts)
	}
	if d.objects["README"] == nil {
		t.Error("an object of others was removed")
	}
}

// The deltas take at most MaxOldBytes.
func TestMaxOldBytes(t *testing.T) {
	p := newPair(t)
	const limit = 3000
	var err error
	p.p, err = share.NewPublisher(t.Context(), share.PublisherOptions{Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Now: p.clock, MaxOldBytes: limit})
	if err != nil {
		t.Fatal(err)
	}
	s := p.subscriber(share.SubscriberOptions{})
	largest := uint64(0)
	for v := range uint64(150) {
		state := set(t, 1<<16, 10*v, 10*v+1000)
		p.publish(state)
		update(t, s)
		wantState(t, s, state)
		_, objects, x := listed(t, p.store, p.verifier)
		sum := uint64(0)
		for r := range objects {
			sum += r.Bytes
		}
		for _, s := range x.Snapshots {
			sum -= s.Bytes
		}
		for _, p := range x.Pages {
			sum -= p.Bytes
		}
		h := p.p.Head()
		if sum -= h.Index.Bytes; sum > limit {
			t.Fatalf("version %d: %d bytes of deltas", v+1, sum)
		}
		largest = max(largest, sum)
	}
	if largest < limit/2 {
		t.Errorf("at most %d bytes, the limit is %d", largest, limit)
	}
	if c := s.Counters(); c.Resyncs != 0 {
		t.Errorf("%+v", c)
	}
}

// A page lists what exists until all its versions are too old.
func TestPages(t *testing.T) {
	p := newPair(t)
	var err error
	p.p, err = share.NewPublisher(t.Context(), share.PublisherOptions{
		Store: p.store, Key: share.Key{Signer: p.signer, Verifier: p.verifier}, Now: p.clock, MaxOldBytes: 1 << 40, Grace: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for v := range uint64(1400) {
		p.publish(set(t, 1<<14, v, v+100))
		if v > 1290 {
			_, _, x := listed(t, p.store, p.verifier)
			pages = max(pages, len(x.Pages))
		}
	}
	if pages != 36 {
		t.Errorf("%d pages, want 36", pages)
	}
}
