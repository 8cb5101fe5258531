package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// A Parquet file ends with its footer, the footer's length and a magic word:
//
//	"PAR1" … | FileMetaData, in Thrift's compact protocol | length, 4 bytes | "PAR1"
//
// Field numbers below are those of apache/parquet-format, parquet.thrift.

const (
	maxFooter = 256 << 20 // bytes
	maxChunks = 1 << 20   // with a Bloom filter
	signature = 28        // bytes behind the footer of a file with encrypted columns
)

func corrupt(format string, args ...any) error {
	return sentinel.Errorf(umbel.ErrCorrupt, ""+format, args...)
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
		return nil, sentinel.Errorf(errors.ErrUnsupported, "the footer is encrypted")
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
		return nil, sentinel.Errorf(umbel.ErrLimit, "a footer of %d bytes, want at most %d", n, maxFooter)
	}
	b := make([]byte, n)
	return b, f.readAt(b, f.size-8-n)
}

func (f *File) readAt(b []byte, at int64) error {
	if _, err := f.r.ReadAt(b, at); err != nil {
		return fmt.Errorf("read %d bytes at %d: %w", len(b), at, err)
	}
	return nil
}

// parseFooter sets the columns, row groups and parts of f, but not the data of the filters' headers.
func (f *File) parseFooter(b []byte) error {
	t := &thrift{b: b}
	schema, total, rest := false, int64(-1), 0
	t.record(func(id int16, typ byte) bool {
		switch {
		case id == 2 && schema:
			t.fail("two schemas")
		case id == 2 && typ == thriftList:
			f.names, schema = newNames(readSchema(t)), true
		case id == 3 && typ == thriftI64:
			total = t.number()
		case id == 8: // the encryption algorithm
			rest = signature
			return false
		case id == 4 && typ == thriftList:
			t.list(func(typ byte) {
				if typ == thriftStruct {
					f.readRowGroup(t)
				} else {
					t.fail("row group %d has type %d, want %d", f.groups, typ, thriftStruct)
				}
			})
		default:
			return false
		}
		return true
	})
	switch {
	case t.err != nil:
	case !schema:
		t.fail("no schema")
	case len(t.b) != rest:
		t.fail("%d bytes follow it, want %d", len(t.b), rest)
	case total < 0 || f.rows < uint64(total): // without a row group its values would be excluded
		t.fail("%d rows in %d row groups, want %d or more as in the footer", f.rows, f.groups, total)
	}
	if t.err != nil {
		return fmt.Errorf("footer: %w", t.err)
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
			t.list(func(typ byte) {
				if typ == thriftStruct {
					f.readChunk(t, n)
				} else {
					t.fail("column %d of row group %d has type %d, want %d", n, f.groups, typ, thriftStruct)
				}
				n++
			})
		case id == 3 && typ == thriftI64:
			rows = t.number()
		default:
			return false
		}
		return true
	})
	if t.err == nil && (rows < 0 || n != len(f.names.columns)) {
		t.fail("row group %d has %d rows and %d columns, want none or more and %d", f.groups, rows, n, len(f.names.columns))
	}
	for i := first; i < len(f.chunks); i++ {
		f.chunks[i].Rows = uint64(rows)
	}
	f.rows += uint64(rows)
	f.groups++
}
