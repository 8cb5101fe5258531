package parquetfile

import (
	"bytes"
	"errors"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// chunkMeta is what the footer contains of one ColumnChunk. Numbers that are missing are -1.
type chunkMeta struct {
	otherFile bool // the column and its filter are in another file
	encrypted bool

	physical, values, nulls int64
	key                     string // path_in_schema, as column.key
	hasKey                  bool

	data, dictionary, compressed int64 // offsets of the first pages, and the length of all pages
	offsetIndex, columnIndex     [2]int64
	filter, filterLength         int64
	hasLength                    bool
}

func readChunkMeta(t *thrift) chunkMeta {
	m := chunkMeta{physical: -1, values: -1, nulls: -1, data: -1, filter: -1}
	t.record(func(id int16, typ byte) bool {
		switch {
		case id == 1 && typ == thriftBinary:
			m.otherFile = len(t.binary()) > 0
		case id == 3 && typ == thriftStruct:
			m.readMetaData(t)
		case id == 4 && typ == thriftI64:
			m.offsetIndex[0] = t.number()
		case id == 5 && typ == thriftI32:
			m.offsetIndex[1] = t.number()
		case id == 6 && typ == thriftI64:
			m.columnIndex[0] = t.number()
		case id == 7 && typ == thriftI32:
			m.columnIndex[1] = t.number()
		case id == 8 || id == 9:
			m.encrypted = true
			return false
		default:
			return false
		}
		return true
	})
	return m
}

// readMetaData reads the ColumnMetaData of a chunk.
func (m *chunkMeta) readMetaData(t *thrift) {
	t.record(func(id int16, typ byte) bool {
		switch {
		case id == 1 && typ == thriftI32:
			m.physical = t.number()
		case id == 3 && typ == thriftList:
			m.readPath(t)
		case id == 5 && typ == thriftI64:
			m.values = t.number()
		case id == 7 && typ == thriftI64:
			m.compressed = t.number()
		case id == 9 && typ == thriftI64:
			m.data = t.number()
		case id == 11 && typ == thriftI64:
			m.dictionary = t.number()
		case id == 12 && typ == thriftStruct:
			t.record(func(id int16, typ byte) bool {
				if id != 3 || typ != thriftI64 {
					return false
				}
				m.nulls = t.number()
				return true
			})
		case id == 14 && typ == thriftI64:
			m.filter = t.number()
		case id == 15 && typ == thriftI32:
			m.filterLength, m.hasLength = t.number(), true
		default:
			return false
		}
		return true
	})
}

func (m *chunkMeta) readPath(t *thrift) {
	var key []byte
	t.list(func(typ byte) {
		if typ != thriftBinary {
			t.fail("a name of type %d in a column's path, want %d", typ, thriftBinary)
			return
		}
		if m.hasKey {
			key = append(key, separator...)
		}
		key, m.hasKey = append(key, t.binary()...), true
	})
	m.key = string(bytes.ToValidUTF8(key, []byte("\ufffd")))
}

// pages returns the part of the file with the pages of the column.
func (m *chunkMeta) pages() part {
	start := m.data
	if m.dictionary > 0 && m.dictionary < start {
		start = m.dictionary
	}
	return part{start, start + m.compressed}
}

// readChunk reads the ColumnChunk of a column. It keeps the parts of the file that the chunk takes. It keeps a chunk
// with a Bloom filter, and an encrypted one, which may have one. Some writers give the offset 0 or -1 to a filter that
// doesn't exist.
func (f *File) readChunk(t *thrift, index int) {
	m := readChunkMeta(t)
	if t.err != nil {
		return
	}
	if index >= len(f.names.columns) {
		t.fail("row group %d has more columns than the schema's %d", f.groups, len(f.names.columns))
		return
	}
	if !m.otherFile {
		f.take(m.pages())
		f.take(part{m.offsetIndex[0], m.offsetIndex[0] + m.offsetIndex[1]})
		f.take(part{m.columnIndex[0], m.columnIndex[0] + m.columnIndex[1]})
	}
	if m.filter <= 0 && !m.encrypted {
		return
	}
	if len(f.chunks) == maxChunks {
		t.limit("more than %d Bloom filters", maxChunks)
		return
	}
	col := f.names.columns[index]
	c := Chunk{
		RowGroup: f.groups, Column: col.path(), Index: index, Name: f.names.of(index), Type: col.typ.name, Text: col.typ.isText(),
		filled: m.values > 0 && m.nulls != m.values, start: m.filter, length: -1,
	}
	if m.hasLength {
		c.length = max(m.filterLength, 0)
	}
	switch {
	case m.encrypted:
		c.Err = sentinel.Errorf(errors.ErrUnsupported, "the column is encrypted")
	case m.otherFile:
		c.Err = sentinel.Errorf(errors.ErrUnsupported, "the column is in another file")
	case m.hasKey && m.key != col.key:
		c.Err = sentinel.Errorf(umbel.ErrCorrupt, "it belongs to column %q", clip(dotted(m.key)))
	case m.physical != col.typ.physical || m.values < 0:
		c.Err = sentinel.Errorf(umbel.ErrCorrupt, "the column has %d values of type %d there, want none or more of type %d",
			m.values, m.physical, col.typ.physical)
	}
	f.chunks = append(f.chunks, c)
}
