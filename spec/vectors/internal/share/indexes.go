package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/spec/vectors/internal/vector"
)

const indexMagic = "umbidx\n\x01"

// indexes returns the vectors with indexes that are accepted.
func indexes() ([]file, error) {
	var files []file
	for _, v := range []struct {
		name, comment string
		x             share.Index
	}{
		{"empty", "nothing: no version can be reached", share.Index{}},
		{"snapshot", "a snapshot of version 1", share.Index{Snapshots: []share.Snapshot{{Version: 1, Ref: ref(1000)}}}},
		{"example", "the example of the page", example()},
		{"page", "the page of versions 36 to 71", share.Index{Deltas: []share.Delta{
			{From: 36, To: 42, Ref: ref(70)}, {From: 37, To: 42, Ref: ref(60)}, {From: 41, To: 42, Ref: ref(20)},
			{From: 47, To: 48, Ref: ref(20)}, {From: 36, To: 72, Ref: ref(300)}, {From: 66, To: 72, Ref: ref(70)},
		}}},
		{"refinements", "refinements of version 36 from the classes 4 and 16", refined()},
		{"large", "numbers of 64 bits", share.Index{
			Snapshots: []share.Snapshot{{Version: 1<<64 - 1, Ref: share.Ref{Bytes: 1<<64 - 1, Hash: ref(1).Hash}}},
			Deltas:    []share.Delta{{From: 1, To: 1<<64 - 1, Ref: ref(1)}, {From: 1<<64 - 2, To: 1<<64 - 1, Ref: ref(2)}},
			Pages:     []share.Page{{Number: 1<<64 - 1, Ref: ref(3)}},
		}},
	} {
		b, err := v.x.AppendBinary(nil)
		if err != nil {
			return nil, err
		}
		f := file{Path: "index-" + v.name + ".txt", Header: []field{{"comment", v.comment}, {"expect", "ok"}}, Body: vector.HexLines(b)}
		f.Header = append(f.Header, entries(v.x)...)
		files = append(files, f)
	}
	return files, nil
}

// example returns the index in the example of spec/share.md.
func example() share.Index {
	return share.Index{
		Snapshots: []share.Snapshot{{Version: 36, Ref: ref(12_663)}},
		Deltas:    []share.Delta{{From: 36, To: 37, Ref: ref(200)}, {From: 35, To: 38, Ref: ref(600)}, {From: 37, To: 38, Ref: ref(201)}},
		Pages:     []share.Page{{Number: 0, Ref: ref(700)}},
	}
}

// refined returns the example with refinements.
func refined() share.Index {
	x := example()
	x.Refinements = []share.Refinement{{Fold: 4, Version: 36, Snapshot: ref(9000), Ref: ref(3700)}, {Fold: 16, Version: 36, Snapshot: ref(5000), Ref: ref(4100)}}
	return x
}

// entries returns the fields of an index.
func entries(x share.Index) (fields []field) {
	for _, s := range x.Snapshots {
		fields = append(fields, field{"snapshot", fmt.Sprintf("%d %s", s.Version, refText(s.Ref))})
	}
	for _, d := range x.Deltas {
		fields = append(fields, field{"delta", fmt.Sprintf("%d %d %s", d.From, d.To, refText(d.Ref))})
	}
	for _, p := range x.Pages {
		fields = append(fields, field{"page", fmt.Sprintf("%d %s", p.Number, refText(p.Ref))})
	}
	for _, r := range x.Refinements {
		fields = append(fields, field{"refinement", fmt.Sprintf("%d %d %s %s", r.Fold, r.Version, refText(r.Snapshot), refText(r.Ref))})
	}
	return fields
}

// badIndexes returns the vectors with indexes that are refused.
func badIndexes() []file {
	x := example()
	good, err := x.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	hash := ref(1).Hash
	var files []file
	add := func(name, comment string, b []byte) {
		files = append(files, file{Path: "bad-index-" + name + ".txt", Header: []field{{"comment", comment}, {"expect", "corrupt"}}, Body: vector.HexLines(b)})
	}
	lists := func(parts ...any) []byte {
		b := []byte(indexMagic)
		for _, p := range parts {
			switch p := p.(type) {
			case int:
				b = binary.AppendUvarint(b, uint64(p))
			case uint64:
				b = binary.AppendUvarint(b, p)
			case string:
				b = append(b, p...)
			case share.Hash:
				b = append(b, p[:]...)
			}
		}
		return b
	}
	add("magic", "another magic", []byte(strings.Replace(string(good), "umbidx", "umbidy", 1)))
	add("version", "version 2 of the format", []byte(strings.Replace(string(good), "\n\x01", "\n\x02", 1)))
	add("no-lists", "the magic alone", []byte(indexMagic))
	add("cut", "the last byte is missing", good[:len(good)-1])
	add("trailing", "a byte after the last list", append(slices.Clone(good), 0))
	add("count", "a list of 2^60 entries", lists(uint64(1)<<60, 0, 0))
	add("count-short", "a list of two deltas in the bytes of one", lists(0, 2, 2, 1, 5, hash))
	add("long-form", "a number that is not in its shortest form", lists(1, "\x81\x00", 5, hash, 0, 0))
	add("number", "a number of 65 bits", lists(1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 5, hash, 0, 0))
	add("number-long", "a number of 11 bytes", lists(1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 5, hash, 0, 0))
	add("delta-0", "a delta of 0 versions", lists(0, 1, 2, 0, 5, hash, 0))
	add("delta-from-0", "a delta from version 0", lists(0, 1, 2, 2, 5, hash, 0))
	add("delta-long", "a delta of more versions than there are", lists(0, 1, 2, 3, 5, hash, 0))
	add("delta-overflow", "a delta to version 2^64 + 1", lists(0, 2, uint64(1)<<63, 1, 5, hash, uint64(1)<<63+1, 1, 5, hash, 0))
	add("refinements-0", "a list of no refinements", lists(0, 0, 0, 0, 9))
	add("refinements-cut", "a refinement without its second object", lists(0, 0, 0, 1, 9, 4, 5, hash))
	add("refinements-count", "2^60 refinements", lists(0, 0, 0, uint64(1)<<60, 9))
	add("refinement-1", "a refinement from the whole filter", lists(0, 0, 0, 1, 9, 1, 5, hash, 5, hash))
	add("refinement-order", "refinements in descending order of their factors", lists(0, 0, 0, 2, 9, 4, 5, hash, 5, hash, 2, 5, hash, 5, hash))
	add("refinement-multiple", "a factor that is not a multiple of the one before", lists(0, 0, 0, 2, 9, 4, 5, hash, 5, hash, 6, 5, hash, 5, hash))
	nine := []any{0, 0, 0, 9, 9}
	for i := range 9 {
		nine = append(nine, 2<<i, 5, hash, 5, hash)
	}
	add("refinements-many", "nine refinements", lists(nine...))
	return files
}
