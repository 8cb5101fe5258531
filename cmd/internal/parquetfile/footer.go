package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
)

// A Parquet file ends with its footer, the footer's length and a magic word:
//
//	"PAR1" … | FileMetaData, in Thrift's compact protocol | length, 4 bytes | "PAR1"
//
// Field numbers below are those of apache/parquet-format, parquet.thrift.

const (
	maxFooter = 256 << 20 // bytes
	maxChunks = 1 << 20   // with a Bloom filter
)

func corrupt(format string, args ...any) error {
	return fmt.Errorf("parquetfile: %w: %w", fmt.Errorf(format, args...), umbel.ErrCorrupt)
}

// readFooter returns the bytes of FileMetaData.
func (f *File) readFooter() ([]byte, error) {
	const magic, encrypted = "PAR1", "PARE"
	if f.size < 12 {
		return nil, corrupt("not a Parquet file: it has %d bytes, want at least 12", f.size)
	}
	var head [4]byte
	var tail [8]byte
	if err := f.readAt(head[:], 0); err != nil {
		return nil, err
	}
	if err := f.readAt(tail[:], f.size-8); err != nil {
		return nil, err
	}
	switch end := string(tail[4:]); {
	case end == encrypted:
		return nil, fmt.Errorf("parquetfile: the footer is encrypted: %w", errors.ErrUnsupported)
	case string(head[:]) != magic:
		return nil, corrupt("not a Parquet file: it begins with %q, want %q", head, magic)
	case end != magic:
		return nil, corrupt("not a whole Parquet file: it ends with %q, want %q", end, magic)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > f.size-12 {
		return nil, corrupt("a footer of %d bytes in a file of %d", n, f.size)
	}
	if n > maxFooter {
		return nil, fmt.Errorf("parquetfile: a footer of %d bytes, want at most %d: %w", n, maxFooter, umbel.ErrLimit)
	}
	b := make([]byte, n)
	return b, f.readAt(b, f.size-8-n)
}

func (f *File) readAt(b []byte, at int64) error {
	if _, err := f.r.ReadAt(b, at); err != nil {
		return fmt.Errorf("parquetfile: read %d bytes at %d: %w", len(b), at, err)
	}
	return nil
}

// parseFooter sets the columns and row groups of f, but not the data of the filters' headers.
func (f *File) parseFooter(b []byte) error {
	t := &thrift{b: b}
	t.record(func(id int16, typ byte) bool {
		switch {
		case id == 2 && f.columns != nil:
			t.fail("two schemas")
		case id == 2 && typ == thriftList:
			f.columns = readSchema(t)
		case id == 4 && typ == thriftList:
			t.list(func(byte) { f.readRowGroup(t) })
		default:
			return false
		}
		return true
	})
	if t.err == nil && f.columns == nil {
		t.fail("no columns in the schema")
	}
	if t.err != nil {
		return fmt.Errorf("parquetfile: footer: %w", t.err)
	}
	return nil
}

// readRowGroup reads a RowGroup and keeps the chunks that have a Bloom filter.
func (f *File) readRowGroup(t *thrift) {
	first, n := len(f.chunks), 0
	rows := int64(-1)
	t.record(func(id int16, typ byte) bool {
		switch {
		case id == 1 && typ == thriftList:
			t.list(func(byte) { f.readChunk(t, n); n++ })
		case id == 3 && typ == thriftI64:
			rows = t.number()
		default:
			return false
		}
		return true
	})
	if t.err == nil && (rows < 0 || n != len(f.columns)) {
		t.fail("row group %d has %d rows and %d columns, want none or more and %d", f.groups, rows, n, len(f.columns))
	}
	for i := first; i < len(f.chunks); i++ {
		f.chunks[i].Rows = uint64(rows)
	}
	f.groups++
}

// readChunk reads the ColumnChunk of a column. It keeps a chunk with a Bloom filter, and an
// encrypted one, which may have one.
func (f *File) readChunk(t *thrift, column int) {
	c := Chunk{RowGroup: f.groups, column: column, bitset: -1}
	physical, values := int64(-1), int64(-1)
	encrypted := false
	t.record(func(id int16, typ byte) bool {
		switch {
		case id == 3 && typ == thriftStruct:
			t.record(func(id int16, typ byte) bool {
				switch {
				case id == 1 && typ == thriftI32:
					physical = t.number()
				case id == 5 && typ == thriftI64:
					values = t.number()
				case id == 14 && typ == thriftI64:
					c.bitset = t.number()
				default:
					return false
				}
				return true
			})
			return true
		case id == 8:
			encrypted = true
		}
		return false
	})
	if t.err != nil || c.bitset < 0 && !encrypted {
		return
	}
	if column >= len(f.columns) {
		t.fail("row group %d has more columns than the schema's %d", f.groups, len(f.columns))
		return
	}
	c.Column, c.Type = f.columns[column].path, f.columns[column].typ.name
	switch want := f.columns[column].typ.physical; {
	case encrypted:
		c.Err = c.wrap(fmt.Errorf("the column is encrypted: %w", errors.ErrUnsupported))
	case physical != int64(want) || values < 0:
		t.fail("column %q in row group %d has %d values of type %d, want none or more of type %d", clip(c.Column), f.groups, values, physical, want)
	}
	if len(f.chunks) == maxChunks {
		t.limit("more than %d Bloom filters", maxChunks)
	}
	c.Values = uint64(max(values, 0))
	f.chunks = append(f.chunks, c)
}
