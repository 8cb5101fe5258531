package main

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/wire"
	"golang.org/x/mod/sumdb/note"
)

// ref returns the reference to an object of n bytes.
func ref(n int) share.Ref { return share.RefOf(content(n)) }

// sample returns a head of a version.
func sample(version uint64) share.Head {
	h := share.Head{
		Name: publication, Stream: stream, Version: version,
		Time: began.Add(time.Duration(version) * time.Minute), Valid: 5 * time.Minute,
		ID: wire.ID(sha256.Sum256([]byte("state"))), Kind: "bloom", Bytes: 625_000,
		Index: ref(1712),
	}
	for i := uint64(1); i < min(version, 4); i++ {
		h.Deltas = append(h.Deltas, ref(int(200*i)))
	}
	return h
}

// heads returns the vectors with heads that are accepted.
func heads() []file {
	var files []file
	add := func(name, comment string, number byte, h share.Head, more ...note.Signer) {
		signer, key := keyOf(h.Name, number)
		signed, err := h.Sign(signer)
		if err != nil {
			panic(err)
		}
		if len(more) > 0 {
			text, _, _ := strings.Cut(string(signed), "\n\n")
			if signed, err = note.Sign(&note.Note{Text: text + "\n"}, slices.Concat(more, []note.Signer{signer})...); err != nil {
				panic(err)
			}
		}
		files = append(files, file{Path: "head-" + name + ".txt",
			Header: append([]field{{"comment", comment}, {"expect", "ok"}, {"key", key}}, describe(h)...), Body: string(signed)})
	}
	add("first", "version 1, which has no deltas", 0, sample(1))
	add("second", "version 2 with the delta from version 1", 0, sample(2))
	add("deltas", "version 57 with three deltas", 0, sample(57))
	renewed := sample(57)
	renewed.Time = renewed.Time.Add(time.Minute)
	add("renewed", "the head of version 57 one minute later", 0, renewed)
	bare := sample(57)
	bare.Deltas = nil
	add("no-deltas", "version 57 without deltas", 0, bare)
	other := sample(3)
	other.Name = "blocklist-ü"
	add("name", "a name with a letter that is not in ASCII", 0, other)
	least := share.Head{Name: "a", Version: 1, Time: time.UnixMilli(0).UTC(), Kind: "a", Index: ref(0)}
	add("least", "the least value of each number", 0, least)
	most := share.Head{
		Name: publication, Stream: share.Stream{Began: 1 << 53, Nonce: math.MaxUint64}, Version: math.MaxUint64,
		Time: time.UnixMilli(1 << 53).UTC(), Valid: 1 << 31 * time.Second, Kind: strings.Repeat("z", 64), Bytes: math.MaxUint64,
		Index: share.Ref{Bytes: math.MaxUint64, Hash: ref(1).Hash},
	}
	add("most", "the largest value of each number", 0, most)
	unknown, _ := keyOf("example.com/witness", 1)
	add("witness", "another key has signed, too", 0, sample(57), unknown)
	sameName, _ := keyOf(publication, 1)
	add("two-keys", "another key of the same name has signed, too", 0, sample(57), sameName)
	add("classes", "a publication with fold classes", 0, classes(1))
	add("class", "the fold class 4", 0, classes(4))
	full := classes(1)
	full.Classes = full.Classes[:1]
	for i := range share.MaxFolds {
		full.Classes = append(full.Classes, share.Class{Fold: 1 << (8*i + 7), Snapshot: math.MaxUint64, Delta: math.MaxUint64, Rate: 1})
	}
	full.Fold = 1 << 63
	add("most-classes", "the most classes, and the largest factor", 0, full)
	return files
}

// classes returns the head of a fold class of version 57.
func classes(fold uint64) share.Head {
	h := sample(57)
	h.Fold = fold
	h.Classes = []share.Class{
		{Fold: 1, Snapshot: 87_807, Delta: 331, Rate: 0.0198}, {Fold: 4, Snapshot: 60_000, Delta: 300, Rate: 0.077}, {Fold: 16, Snapshot: 25_000},
	}
	return h
}

// describe returns the fields of a head.
func describe(h share.Head) []field {
	fields := []field{
		{"name", h.Name},
		{"stream", h.Stream.String()},
		{"version", fmt.Sprint(h.Version)},
		{"time", fmt.Sprint(h.Time.UnixMilli())},
		{"valid", fmt.Sprint(int64(h.Valid / time.Second))},
		{"id", h.ID.String()},
		{"kind", h.Kind},
		{"bytes", fmt.Sprint(h.Bytes)},
		{"index", refText(h.Index)},
	}
	for _, d := range h.Deltas {
		fields = append(fields, field{"delta", refText(d)})
	}
	if h.Fold > 1 {
		fields = append(fields, field{"class", fmt.Sprint(h.Fold)})
	}
	for _, c := range h.Classes {
		fields = append(fields, field{"fold", fmt.Sprintf("%d %d %d %.0f", c.Fold, c.Snapshot, c.Delta, c.Rate*1e9)})
	}
	return fields
}

func refText(r share.Ref) string { return fmt.Sprintf("%d %s", r.Bytes, r.Hash) }
