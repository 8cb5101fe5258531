// Package parquetfile finds the Bloom filters in a Parquet file, reads them as filters of
// package splitblock, and converts values in text form to the digests that the file's writer
// added.
//
// It reads only the footer, the headers of the filters and the filters. All of them are
// untrusted: sizes are compared with the file's before memory is allocated, and nesting is
// bounded. Libraries for whole Parquet files allocate the length that a list claims and nest as
// deep as the bytes do, which recover can't handle; so this package has its own reader of the few
// fields that it needs.
package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/splitblock"
)

// Sentinels of this package. Errors of invalid files wrap umbel.ErrCorrupt, those of files that
// are too large umbel.ErrLimit, and those of encrypted files and later versions
// errors.ErrUnsupported.
var (
	ErrColumn   = errors.New("no such column")  // the schema has no column of that path
	ErrNoFilter = errors.New("no Bloom filter") // the column has none in any row group
	ErrValue    = errors.New("unfit value")     // the column's type has no such value
)

// File is an open Parquet file. All methods but Close may be called concurrently.
type File struct {
	r       io.ReaderAt
	size    int64
	close   func() error
	columns []column
	groups  int
	chunks  []Chunk
}

// Chunk is a column in a row group, with a Bloom filter.
type Chunk struct {
	RowGroup int    // from 0
	Column   string // names from the root, joined by dots: "tags.list.element"
	Type     string // the logical type if there is one: "STRING", "DECIMAL(9,2)", "INT64"
	Rows     uint64 // of the row group
	Values   uint64 // of the column in it, including nulls and repetitions
	Bytes    uint64 // of the filter's bitset; 0 if Err isn't nil
	Err      error  // why the filter can't be read, or nil

	column int
	bitset int64 // offset in the file
}

// Text reports whether the values of the column are hashed as the bytes of their text.
func (c Chunk) Text() bool {
	switch c.Type {
	case "STRING", "ENUM", "JSON", physicalNames[physicalByteArray], physicalNames[physicalFixed]:
		return true
	}
	return false
}

// Answer is the answer of the Bloom filter of one row group.
type Answer struct {
	RowGroup int
	Known    bool   // false without a filter: every value may be present
	May      []bool // whether each value may be in the row group
}

// Open opens a Parquet file and reads its footer and the headers of its filters.
// The caller closes it. Errors are those of package os, and those above.
func Open(path string) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a %s; give a Parquet file", path, kindOf(info))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := Read(file, info.Size())
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.close = file.Close
	return f, nil
}

func kindOf(info os.FileInfo) string {
	if info.IsDir() {
		return "directory"
	}
	return "device or pipe"
}

// Read is Open for the first size bytes of r, which it keeps.
func Read(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size, close: func() error { return nil }}
	b, err := f.readFooter()
	if err != nil {
		return nil, err
	}
	if err := f.parseFooter(b); err != nil {
		return nil, err
	}
	for i := range f.chunks {
		f.readHeader(&f.chunks[i])
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() error { return f.close() }

// Chunks returns the chunks with Bloom filters, by row group, then in the order of the schema.
func (f *File) Chunks() []Chunk { return append([]Chunk(nil), f.chunks...) }

// Filter reads the filter of a chunk of this file; its hasher is splitblock.ParquetHasher. It
// returns c.Err, or an error wrapping umbel.ErrCorrupt.
func (f *File) Filter(c Chunk) (*splitblock.Filter, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	b := make([]byte, c.Bytes)
	if _, err := f.r.ReadAt(b, c.bitset); err != nil {
		return nil, c.wrap(fmt.Errorf("read %d bytes at %d: %w", c.Bytes, c.bitset, err))
	}
	g, err := splitblock.OpenBitset(b)
	if err != nil {
		return nil, c.wrap(err)
	}
	return g, nil
}

// wrap adds the chunk to an error.
func (c Chunk) wrap(err error) error {
	return fmt.Errorf("parquetfile: Bloom filter of %q in row group %d: %w", c.Column, c.RowGroup, err)
}

// Digest returns the digest of a value of that column, for queries of its filters: the
// hash of the value's plain encoding. The value is text: numbers in decimal, dates
// as 2006-01-31, times as 15:04:05.999, timestamps as 2006-01-31T15:04:05.999Z
// (without the zone where the column has none), UUIDs with hyphens; strings, enums
// and JSON unchanged. Dates, times and timestamps may be given as the whole
// number that is stored. Bytes without a logical type are those of the text, or hex digits
// after "hex:".
//
// It returns an error wrapping ErrColumn that lists the columns, or one wrapping ErrValue that
// describes the type's values; for BOOLEAN it wraps errors.ErrUnsupported as well. Some writers
// hash a truth value as a byte, parquet-go v0.32 hashes eight of them packed in
// one, and most make no filter.
func (f *File) Digest(column, value string) (umbel.Digest, error) {
	i, err := f.find(column)
	if err != nil {
		return umbel.Digest{}, err
	}
	c := f.columns[i]
	b, err := c.typ.encode(value)
	if err != nil {
		return umbel.Digest{}, fmt.Errorf("parquetfile: column %q is %s: %w: %w", c.path, c.typ.name, err, ErrValue)
	}
	return splitblock.ParquetHasher.HashBytes(b), nil
}

// Query queries the filters of a column for values, and returns one answer per row group. Errors
// are those of Digest and Filter, or wrap ErrNoFilter.
func (f *File) Query(column string, values ...string) ([]Answer, error) {
	i, err := f.find(column)
	if err != nil {
		return nil, err
	}
	ds := make([]umbel.Digest, len(values))
	for j, v := range values {
		if ds[j], err = f.Digest(column, v); err != nil {
			return nil, err
		}
	}
	answers := make([]Answer, f.groups)
	for g := range answers {
		answers[g] = Answer{RowGroup: g, May: make([]bool, len(values))}
		for j := range values {
			answers[g].May[j] = true
		}
	}
	some := false
	for _, c := range f.chunks {
		if c.column != i {
			continue
		}
		filter, err := f.Filter(c)
		if err != nil {
			return nil, err
		}
		filter.HasAll(answers[c.RowGroup].May, ds)
		answers[c.RowGroup].Known, some = true, true
	}
	if !some {
		return nil, fmt.Errorf("parquetfile: column %q: %w in any of %d row groups", column, ErrNoFilter, f.groups)
	}
	return answers, nil
}

// find returns the index of the column with that path.
func (f *File) find(path string) (int, error) {
	at := -1
	for i, c := range f.columns {
		switch {
		case c.path != path:
		case at >= 0:
			return 0, fmt.Errorf("parquetfile: two columns have the path %q: %w", path, ErrColumn)
		default:
			at = i
		}
	}
	if at < 0 {
		return 0, fmt.Errorf("parquetfile: column %q, want one of %s: %w", clip(path), f.paths(), ErrColumn)
	}
	return at, nil
}

// paths lists the first columns for an error.
func (f *File) paths() string {
	const most = 40
	var ps []string
	for _, c := range f.columns[:min(len(f.columns), most)] {
		ps = append(ps, clip(c.path))
	}
	s := strings.Join(ps, ", ")
	if n := len(f.columns) - most; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// clip shortens untrusted text for an error.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}
