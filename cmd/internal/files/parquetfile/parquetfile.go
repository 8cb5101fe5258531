// Package parquetfile finds the Bloom filters in a Parquet file, reads them as filters of
// package splitblock, and converts values in text form to the digests that the file's writer
// added.
//
// It reads only the footer, the headers of the filters and the filters. All of them are
// untrusted: sizes are compared with the file's before memory is allocated, and nesting is
// bounded. A filter whose place is uncertain is not used, since it would exclude values that the file
// has. Libraries for whole Parquet files allocate the length that a list claims and nest as
// deep as the bytes do, which recover can't handle; so this package has its own reader of the few
// fields that it needs.
package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Sentinels of this package. Errors of invalid files wrap umbel.ErrCorrupt, those of files that
// are too large umbel.ErrLimit, and those of encrypted files and later versions
// errors.ErrUnsupported.
var (
	errColumn   = errors.New("no such column")  // the schema has no column of that path
	ErrNoFilter = errors.New("no Bloom filter") // the column has none in any row group, or nothing was added to it
	errValue    = errors.New("unfit value")     // the column's type has no such value
)

// File is an open Parquet file. All methods but Close may be called concurrently.
type File struct {
	r      io.ReaderAt
	size   int64
	close  func() error
	names  names
	rows   uint64 // of all row groups
	groups int
	chunks []Chunk
	parts  []part // of the file that aren't filters, while it is opened
}

// Chunk is a column in a row group, with a Bloom filter.
type Chunk struct {
	RowGroup int    // from 0
	Column   string // names from the root, joined by dots: "tags.list.element"
	Index    int    // of the column in the schema, from 0
	Name     string // of the column, for Query and Find
	Type     string // the logical type if there is one: "STRING", "DECIMAL(9,2)", "INT64"
	Text     bool   // the values are hashed as the bytes of their text
	Rows     uint64 // of the row group
	Bytes    uint64 // of the filter's bitset; 0 if Err isn't nil
	Err      error  // why the filter can't be read, or nil

	filled bool  // some value may not be null
	start  int64 // offset of the header in the file
	length int64 // of header and bitset as stated in the footer, or -1
	bitset int64 // offset of the bitset
}

// end returns the offset behind the bitset.
func (c Chunk) end() int64 { return c.bitset + int64(c.Bytes) }

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
	f.take(part{size - 8 - int64(len(b)), size})
	for i := range f.chunks {
		f.readHeader(&f.chunks[i])
	}
	f.checkPlaces()
	return f, nil
}

// Close closes the file.
func (f *File) Close() error { return f.close() }

// Chunks returns the chunks with Bloom filters, by row group, then in the order of the schema.
func (f *File) Chunks() []Chunk { return append([]Chunk(nil), f.chunks...) }

// Filter reads the filter of a chunk of this file; its hasher is splitblock.ParquetHasher. It
// returns c.Err, an error wrapping umbel.ErrCorrupt, or one wrapping ErrNoFilter if the writer has added nothing to it
// though the column may have values. The errors don't name the chunk.
func (f *File) Filter(c Chunk) (*splitblock.Filter, error) {
	if c.Err != nil {
		return nil, c.Err
	}
	b := make([]byte, c.Bytes)
	if err := f.readAt(b, c.bitset); err != nil {
		return nil, err
	}
	used, err := checkBlocks(b)
	if err != nil {
		return nil, err
	}
	if !used && c.filled {
		return nil, fmt.Errorf("no bit is set, though the column may have values: %w", ErrNoFilter)
	}
	return splitblock.OpenBitset(b)
}

// checkBlocks reports whether a bitset has a bit that is set. A value sets a bit in each of the eight words of a block, so it returns
// an error for a block in which only some words are zero.
func checkBlocks(b []byte) (used bool, err error) {
	for at := 0; at+splitblock.BlockBytes <= len(b); at += splitblock.BlockBytes {
		const words = splitblock.BlockBytes / 4
		zero := 0
		for i := range words {
			if binary.LittleEndian.Uint32(b[at+4*i:]) == 0 {
				zero++
			}
		}
		if zero%words != 0 {
			return false, sentinel.Errorf(umbel.ErrCorrupt, "%d of %d words of block %d are zero, want none or all", zero, words, at/splitblock.BlockBytes)
		}
		used = used || zero == 0
	}
	return used, nil
}
