// Package sharetest tests carriers of publications: that a [share.Store] keeps what a publisher
// writes, that a [share.Source] returns it, and that a publication works over both.
//
//	func TestStore(t *testing.T) {
//		sharetest.Store(t, func(t *testing.T) share.Store { return newStore(t) })
//	}
package sharetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
)

// timeout bounds what a test waits for.
const timeout = time.Minute

// Open returns an empty store, and the source that reads what is written to it. Both are closed by
// t.Cleanup.
type Open func(t *testing.T) (share.Store, share.Source)

// Store tests a store. open returns an empty one.
func Store(t *testing.T, open func(t *testing.T) share.Store) {
	both := func(t *testing.T) (share.Store, share.Source) {
		s := open(t)
		return s, s
	}
	t.Run("Source", func(t *testing.T) { Source(t, both) })
	t.Run("Publication", func(t *testing.T) { Publication(t, both) })
	for _, c := range []struct {
		name string
		test func(*testing.T, share.Store)
	}{
		{"Objects", testObjects},
		{"Remove", testRemove},
		{"Close", testClose},
		{"Again", testAgain},
		{"Names", testNames},
		{"OtherRecords", testOtherRecords},
		{"Canceled", testCanceled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// object returns n bytes and their name.
func object(n int, seed byte) ([]byte, string) {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*i>>3) ^ seed
	}
	return b, share.RefOf(b).Hash.String()
}

// put writes an object in pieces.
func put(t testing.TB, s share.Store, name string, data []byte) {
	t.Helper()
	u, err := s.NewObject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for piece := range slices.Chunk(data, 10_000) {
		if n, err := u.Write(piece); n != len(piece) || err != nil {
			t.Fatalf("Write: %d, %v", n, err)
		}
	}
	if err := u.Commit(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := u.Close(); err != nil {
		t.Fatalf("Close after Commit: %v", err)
	}
}

func putRecord(t testing.TB, s share.Store, data []byte) {
	t.Helper()
	if err := s.PutRecord(t.Context(), share.HeadName, data); err != nil {
		t.Fatal(err)
	}
}

// read returns the bytes of an object from an offset on.
func read(ctx context.Context, s share.Source, name string, offset int64) ([]byte, error) {
	body, err := s.Object(ctx, name, offset)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(body)
	return b, errors.Join(err, body.Close())
}

func wantObject(t testing.TB, s share.Source, name string, want []byte) {
	t.Helper()
	if got, err := read(t.Context(), s, name, 0); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("object %s has %d bytes, %v; want %d", name, len(got), err, len(want))
	}
}

func wantAbsent(t testing.TB, s share.Source, name string) {
	t.Helper()
	if b, err := read(t.Context(), s, name, 0); !errors.Is(err, share.ErrNotFound) {
		t.Fatalf("object %s: %d bytes, %v; want ErrNotFound", name, len(b), err)
	}
}

// names returns the names of all objects, sorted.
func names(t testing.TB, s share.Store) []string {
	t.Helper()
	var all []string
	for n, err := range s.Objects(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}
