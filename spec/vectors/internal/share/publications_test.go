package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"golang.org/x/mod/sumdb/note"
)

// commit writes an object.
func commit(t *testing.T, store share.Store, data []byte) share.Ref {
	t.Helper()
	u, err := store.NewObject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u.Write(data)
	r := share.RefOf(data)
	if err := u.Commit(t.Context(), r.Hash.String()); err != nil {
		t.Fatal(err)
	}
	return r
}

// load returns the store that a vector contains, and the other rows.
func load(t *testing.T, f file) (store *share.Memory, rest map[string][]byte) {
	t.Helper()
	store, rest = new(share.Memory), make(map[string][]byte)
	for _, row := range f.Rows() {
		data, err := hex.DecodeString(row[1])
		switch name := row[0]; {
		case err != nil:
			t.Fatal(err)
		case share.IsHead(name):
			if err := store.PutRecord(t.Context(), name, data); err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(name, "state-"):
			rest[name] = data
		default:
			if got := commit(t, store, data).Hash.String(); got != name {
				t.Errorf("object %s has the name %s", got, name)
			}
		}
	}
	return store, rest
}

// A subscriber without a state reaches the last version of each publication.
func TestPublications(t *testing.T) {
	for _, f := range append(onDisk(t, "publication-*"), onDisk(t, "bad-publication-*")...) {
		t.Run(f.Path, func(t *testing.T) {
			store, states := load(t, f)
			s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
				Source: store, Verifier: verifierOf(t, f), Kinds: filter.All, Stale: share.StaleError,
				Now: func() time.Time { return began.Add(time.Minute) }, Budget: budgetOf(t, store, f),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			err = s.Update(t.Context())
			if want := sentinel(t, f.Value("expect")); !errors.Is(err, want) {
				t.Fatalf("got %v, want %v", err, want)
			}
			if err != nil {
				return
			}
			h := s.View().Head()
			if got := hashtree.Identify(s.View().Filter().State()).String(); got != f.Value("id") || fmt.Sprint(h.Version) != f.Value("version") {
				t.Errorf("version %d, ID %s, want version %s, ID %s", h.Version, got, f.Value("version"), f.Value("id"))
			}
			for _, way := range f.Values("way") {
				checkWay(t, f, store, states, strings.Fields(way))
			}
		})
	}
}

// budgetOf returns the budget that selects the class of a vector.
func budgetOf(t *testing.T, store share.Source, f file) (b share.Budget) {
	t.Helper()
	record := f.Value("record")
	if record == "" || record == share.HeadName {
		return b
	}
	signed, err := store.Record(t.Context(), record)
	if err != nil {
		t.Fatal(err)
	}
	h, err := share.OpenHead(signed, publication, note.VerifierList(verifierOf(t, f)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range h.Classes {
		if c.Fold == h.Fold {
			b.Rate = c.Rate
		}
	}
	return b
}

// checkWay checks that a way leads to the last version, and that it costs what it states.
func checkWay(t *testing.T, f file, store *share.Memory, states map[string][]byte, way []string) {
	t.Helper()
	cost, base := 0, states["state-"+way[0]]
	version, fold, _ := strings.Cut(way[0], "/")
	if (base == nil) != (version == "0") {
		t.Fatalf("no state of version %s", way[0])
	}
	if finer := f.Value("record"); base != nil && finer != "" {
		base = foldTo(t, base, fold, finer)
	}
	for _, name := range way[2:] {
		b, err := read(t.Context(), store, name)
		if err != nil {
			t.Fatal(err)
		}
		cost += len(b) + 256
		if wire.Is(b) {
			base = b
			continue
		}
		s, err := wire.Parse(base, wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if s, err = (delta.Decoder{}).ApplyChange(s, b); err != nil {
			t.Fatal(err)
		}
		if base, err = wire.Append(nil, s); err != nil {
			t.Fatal(err)
		}
	}
	s, err := wire.Parse(base, wire.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := hashtree.Identify(s).String(); got != f.Value("id") || fmt.Sprint(cost) != way[1] {
		t.Errorf("way from %s: ID %s, cost %d, want %s, %s", way[0], got, cost, f.Value("id"), way[1])
	}
}

// foldTo folds a state of a class, packed, to the class of a record if that is coarser.
func foldTo(t *testing.T, packed []byte, fold, record string) []byte {
	t.Helper()
	from, err := strconv.ParseUint(fold, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	to := uint64(1)
	if digits, ok := strings.CutPrefix(record, "head-"); ok {
		if to, err = strconv.ParseUint(digits, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if to <= from {
		return packed
	}
	s, err := wire.Parse(packed, wire.Limits{})
	if err == nil {
		s, err = foldOf(s, to/from)
	}
	if err == nil {
		packed, err = wire.Append(nil, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// Subscribers accept heads as the rows of order.txt state.
func TestOrder(t *testing.T) {
	signer, key := keyOf(publication, 0)
	verifier, err := note.NewVerifier(key)
	if err != nil {
		t.Fatal(err)
	}
	store := new(share.Memory)
	put := func(columns []string) bool {
		h, ok := headOf(t, columns)
		if !ok {
			return false
		}
		s := state(map[string]uint64{"a": 1, "b": 2}[columns[4]])
		packed, err := wire.Append(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		x := share.Index{Snapshots: []share.Snapshot{{Version: h.Version, Ref: commit(t, store, packed)}}}
		index, err := x.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		h.ID, h.Kind, h.Bytes, h.Index = hashtree.Identify(s), s.Kind, s.Bytes(), commit(t, store, index)
		signed, err := h.Sign(signer)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.PutRecord(t.Context(), share.HeadName, signed); err != nil {
			t.Fatal(err)
		}
		return true
	}
	rows := onDisk(t, "order.txt")[0].Rows()
	for i, row := range rows {
		var now time.Time
		s, err := share.NewSubscriber(t.Context(), share.SubscriberOptions{
			Source: store, Verifier: verifier, Kinds: filter.All, Stale: share.StaleError, Now: func() time.Time { return now },
		})
		if err != nil {
			t.Fatal(err)
		}
		if put(row[:5]) {
			h, _ := headOf(t, row[:5])
			now = h.Time
			if err := s.Update(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		put(row[5:10])
		now = milli(t, row[10])
		if err := s.Update(t.Context()); !errors.Is(err, sentinel(t, row[11])) {
			t.Errorf("row %d: got %v, want %s", i+1, err, row[11])
		}
		if outcome := row[11]; (outcome == "exact" || outcome == "stale") && s.View().Exact() != (outcome == "exact") {
			t.Errorf("row %d: Exact returns %v, want %s", i+1, s.View().Exact(), outcome)
		}
		s.Close()
	}
	if len(rows) < 20 {
		t.Errorf("%d rows", len(rows))
	}
}

// headOf returns the head in five columns, without a state, and false for dashes.
func headOf(t *testing.T, columns []string) (share.Head, bool) {
	t.Helper()
	if columns[0] == "-" {
		return share.Head{}, false
	}
	h := share.Head{Name: publication, Time: milli(t, columns[2])}
	var valid int64
	_, err := fmt.Sscanf(strings.Join(columns, " "), "%16x%16x %d %d %d", &h.Stream.Began, &h.Stream.Nonce, &h.Version, new(int64), &valid)
	if err != nil {
		t.Fatal(err)
	}
	h.Valid = time.Duration(valid) * time.Second
	return h, true
}

func milli(t *testing.T, text string) time.Time {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.UnixMilli(n)
}
