package sharetest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/share"
)

// Objects lists the committed objects and nothing else.
func testObjects(t *testing.T, s share.Store) {
	if got := names(t, s); len(got) != 0 {
		t.Fatalf("a new store has the objects %v", got)
	}
	var want []string
	for i := range 20 {
		b, name := object(10+i, 0)
		put(t, s, name, b)
		want = append(want, name)
	}
	list, name := object(64, 1)
	put(t, s, name+"-chunks", list)
	want = append(want, name+"-chunks")
	putRecord(t, s, []byte("head"))
	slices.Sort(want)
	if got := names(t, s); !slices.Equal(got, want) {
		t.Errorf("objects %v, want %v", got, want)
	}
	for range s.Objects(t.Context()) {
		break // The caller may stop.
	}
}

func testRemove(t *testing.T, s share.Store) {
	a, nameA := object(1000, 0)
	b, nameB := object(1000, 1)
	put(t, s, nameA, a)
	put(t, s, nameB, b)
	for range 2 {
		if err := s.Remove(t.Context(), nameA); err != nil {
			t.Fatalf("Remove: %v", err)
		}
		wantAbsent(t, s, nameA)
	}
	wantObject(t, s, nameB, b)
	put(t, s, nameA, a)
	wantObject(t, s, nameA, a)
}

// An upload that is closed leaves nothing.
func testClose(t *testing.T, s share.Store) {
	b, name := object(100_000, 0)
	u, err := s.NewObject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Write(b); err != nil {
		t.Fatal(err)
	}
	wantAbsent(t, s, name)
	if got := names(t, s); len(got) != 0 {
		t.Errorf("objects %v before Commit", got)
	}
	if err := u.Close(); err != nil {
		t.Fatal(err)
	}
	wantAbsent(t, s, name)
	if got := names(t, s); len(got) != 0 {
		t.Errorf("objects %v after Close", got)
	}
}

// Commit replaces an object: the one in the store may be damaged.
func testAgain(t *testing.T, s share.Store) {
	b, name := object(1000, 0)
	damaged := bytes.Clone(b)
	damaged[500] ^= 1
	put(t, s, name, damaged)
	put(t, s, name, b)
	wantObject(t, s, name, b)
	if got := names(t, s); len(got) != 1 {
		t.Errorf("objects %v, want one", got)
	}
}

// badNames are not the names of objects.
var badNames = []string{
	"", ".", "..", "/", "head", "../head", "../../etc/passwd", `..\head`, "a/b", strings.Repeat("a", 25), strings.Repeat("A", 26),
	strings.Repeat("0", 26) + "-chunk", strings.Repeat("0", 26) + "-chunks-chunks", strings.Repeat("0", 25) + "\x00", strings.Repeat("0", 25) + "/",
}

func testNames(t *testing.T, s share.Store) {
	for _, name := range badNames {
		u, err := s.NewObject(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := u.Commit(t.Context(), name); err == nil {
			t.Errorf("Commit accepts the name %q", name)
		}
		if err := u.Close(); err != nil {
			t.Error(err)
		}
		if b, err := read(t.Context(), s, name, 0); err == nil {
			t.Errorf("Object returns %d bytes for the name %q", len(b), name)
		}
	}
	for _, name := range []string{"", ".", "..", "../head", "objects", "a/b", "Head", ".writer", "head ", "head-", "head-1", "head-04", "head-x", "held-4"} {
		if err := s.PutRecord(t.Context(), name, []byte("x")); err == nil {
			t.Errorf("PutRecord accepts the name %q", name)
		}
	}
}

// A store keeps several records.
func testOtherRecords(t *testing.T, s share.Store) {
	ctx := t.Context()
	for _, name := range []string{"head", "head-4", "head-16", "held"} {
		if err := s.PutRecord(ctx, name, []byte("the record "+name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"head", "head-4", "head-16", "held"} {
		if b, err := s.Record(ctx, name); string(b) != "the record "+name || err != nil {
			t.Errorf("record %s: %q, %v", name, b, err)
		}
	}
}

// After the context has ended, nothing is published.
func testCanceled(t *testing.T, s share.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	b, name := object(1000, 0)
	u, err := s.NewObject(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Write(b); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := u.Commit(ctx, name); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit: %v, want Canceled", err)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
	if err := s.PutRecord(ctx, share.HeadName, b); !errors.Is(err, context.Canceled) {
		t.Errorf("PutRecord: %v, want Canceled", err)
	}
	wantAbsent(t, s, name)
	if _, err := s.Record(t.Context(), share.HeadName); !errors.Is(err, share.ErrNotFound) {
		t.Errorf("Record: %v, want ErrNotFound", err)
	}
}
