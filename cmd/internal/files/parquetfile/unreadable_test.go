package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/umbel-filters/umbel"
)

// A filter that can't be used, for any reason, is a chunk with the reason. All other filters answer, and its row group may have each value.
func TestOneUnreadableFilter(t *testing.T) {
	good := writeVisits(t)
	whole, err := read(good)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]int{}
	for i, c := range whole.names.columns {
		names[c.path()] = i
	}
	id := names["id"]
	at := func(group int, column string) Chunk {
		c, err := whole.Find(group, column)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := at(0, "id")
	meta := func(change func(*format.ColumnChunk)) func(*format.FileMetaData) {
		return func(m *format.FileMetaData) { change(&m.RowGroups[0].Columns[id]) }
	}
	length := func(n int32) func(*format.FileMetaData) {
		return meta(func(c *format.ColumnChunk) { c.MetaData.BloomFilterLength = n })
	}
	offset := func(n int64) func(*format.FileMetaData) {
		return meta(func(c *format.ColumnChunk) { c.MetaData.BloomFilterOffset = n })
	}
	for name, f := range map[string]struct {
		header  []byte                     // instead of that of the filter
		bitset  func([]byte)               // change of the bitset
		change  func(*format.FileMetaData) // of the footer
		want    error
		tainted string // column whose filter isn't usable either, in row group 0
	}{
		"twice the length":             {header: varint(2 * c.Bytes), want: umbel.ErrCorrupt},
		"half the length":              {header: varint(c.Bytes / 2), want: umbel.ErrCorrupt},
		"one block more":               {header: varint(c.Bytes + 32), want: umbel.ErrCorrupt},
		"another algorithm":            {header: union(c.Bytes, 0x2c, 0x1c, 0x1c), want: errors.ErrUnsupported},
		"another hash":                 {header: union(c.Bytes, 0x1c, 0x2c, 0x1c), want: errors.ErrUnsupported},
		"another compression":          {header: union(c.Bytes, 0x1c, 0x1c, 0x2c), want: errors.ErrUnsupported},
		"length in the footer":         {change: length(int32(c.Bytes)), want: umbel.ErrCorrupt},
		"negative length":              {change: length(-1), want: umbel.ErrCorrupt},
		"no length, and a larger one":  {header: varint(c.Bytes + 32), change: length(0), want: umbel.ErrCorrupt, tainted: "price"},
		"no length, and a smaller one": {header: varint(c.Bytes - 32), change: length(0), want: umbel.ErrCorrupt},
		"offset behind the file":       {change: offset(int64(len(good))), want: umbel.ErrCorrupt},
		"offset in the footer":         {change: offset(int64(len(good)) - 20), want: umbel.ErrCorrupt},
		"offset of the magic word":     {change: offset(2), want: umbel.ErrCorrupt},
		"offset of another filter": {change: meta(func(c *format.ColumnChunk) {
			other := at(0, "name")
			c.MetaData.BloomFilterOffset, c.MetaData.BloomFilterLength = other.start, int32(other.length)
		}), want: umbel.ErrCorrupt, tainted: "name"},
		"offset of another, no length": {change: meta(func(c *format.ColumnChunk) {
			c.MetaData.BloomFilterOffset, c.MetaData.BloomFilterLength = at(0, "name").start, 0
		}), want: umbel.ErrCorrupt, tainted: "name"},
		"in the pages of a column": {change: meta(func(x *format.ColumnChunk) { x.MetaData.DataPageOffset, x.MetaData.TotalCompressedSize = c.end()-1, 1 }), want: umbel.ErrCorrupt},
		"in a dictionary": {change: meta(func(x *format.ColumnChunk) {
			x.MetaData.DictionaryPageOffset, x.MetaData.DataPageOffset, x.MetaData.TotalCompressedSize = c.start-10, c.end(), 11
		}), want: umbel.ErrCorrupt, tainted: "name"},
		"in an offset index":            {change: meta(func(x *format.ColumnChunk) { x.OffsetIndexOffset, x.OffsetIndexLength = c.start, 1 }), want: umbel.ErrCorrupt},
		"in a column index":             {change: meta(func(x *format.ColumnChunk) { x.ColumnIndexOffset, x.ColumnIndexLength = c.bitset, 5 }), want: umbel.ErrCorrupt},
		"encrypted":                     {change: meta(func(c *format.ColumnChunk) { c.CryptoMetadata.Value = &format.EncryptionWithFooterKey{} }), want: errors.ErrUnsupported},
		"another file":                  {change: meta(func(c *format.ColumnChunk) { c.FilePath = "part-1.parquet" }), want: errors.ErrUnsupported},
		"another column":                {change: meta(func(c *format.ColumnChunk) { c.MetaData.PathInSchema = []string{"at"} }), want: umbel.ErrCorrupt},
		"another type":                  {change: meta(func(c *format.ColumnChunk) { c.MetaData.Type = format.Double }), want: umbel.ErrCorrupt},
		"no bit":                        {bitset: func(b []byte) { clear(b) }, want: ErrNoFilter},
		"a block without one word":      {bitset: func(b []byte) { clear(b[4:8]) }, want: umbel.ErrCorrupt},
		"zeros from the second word on": {bitset: func(b []byte) { clear(b[len(b)-28:]) }, want: umbel.ErrCorrupt},
	} {
		b := bytes.Clone(good)
		copy(b[c.start:], f.header)
		if f.bitset != nil {
			f.bitset(b[c.bitset:c.end()])
		}
		if f.change != nil {
			b = refoot(t, b, f.change)
		}
		got, err := read(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := len(got.Chunks()); n != 10 {
			t.Errorf("%s: %d filters, want 10", name, n)
		}
		for _, chunk := range got.Chunks() {
			_, err := got.Filter(chunk)
			bad := chunk.RowGroup == 0 && (chunk.Column == "id" || chunk.Column == f.tainted)
			if bad != (err != nil) || bad && chunk.Column == "id" && !errors.Is(err, f.want) {
				t.Errorf("%s: %+v: %v", name, chunk, err)
			}
		}
		answers, err := got.Query("id", "1", "301", "999")
		if err != nil || answers[0].Err == nil || answers[1].Err != nil {
			t.Errorf("%s: %+v, %v", name, answers, err)
			continue
		}
		for i, inSecond := range []bool{false, true, false} {
			if !answers[0].May[i] || answers[0].Known[i] || answers[1].May[i] != inSecond || !answers[1].Known[i] {
				t.Errorf("%s: value %d: %+v", name, i, answers)
			}
		}
	}
}

// varint is the front of a header with a bitset of n bytes. It has two bytes for the number, as the one it replaces.
func varint(n uint64) []byte { return append([]byte{0x15}, binary.AppendUvarint(nil, 2*n)...) }

// union is a header with members of its three unions.
func union(n uint64, members ...byte) []byte {
	b := varint(n)
	for _, m := range members {
		b = append(b, 0x1c, m, 0, 0)
	}
	return append(b, 0)
}

// Some writers give the offset 0 or -1 to a filter that doesn't exist.
func TestNoFilter(t *testing.T) {
	good := writeVisits(t)
	for _, offset := range []int64{0, -1} {
		f, err := read(refoot(t, good, func(m *format.FileMetaData) {
			eachChunk(m, func(g int, c *format.ColumnChunk) {
				if c.MetaData.PathInSchema[0] == "id" && g == 0 {
					c.MetaData.BloomFilterOffset = offset
				}
			})
		}))
		if err != nil {
			t.Fatal(err)
		}
		answers, err := f.Query("id", "1")
		if err != nil || len(f.Chunks()) != 9 || !answers[0].May[0] || answers[0].Known[0] || answers[0].Err != nil || answers[1].May[0] {
			t.Errorf("offset %d: %d filters, %+v, %v", offset, len(f.Chunks()), answers, err)
		}
	}
}

// A filter of a later version of parquet-go, and of columns that it encrypts.
func TestOptionsOfParquetGo(t *testing.T) {
	type row struct {
		A string `parquet:"a"`
		B string `parquet:"b"`
	}
	key := bytes.Repeat([]byte{7}, 16)
	for name, c := range map[string]struct {
		option parquet.WriterOption
		open   bool  // the file can be opened
		want   error // of the filter of column a
	}{
		"plain":            {parquet.BloomFilterCompression(&parquet.Uncompressed), true, nil},
		"compressed":       {parquet.BloomFilterCompression(&parquet.Gzip), true, errors.ErrUnsupported},
		"encrypted":        {parquet.WithEncryption(&parquet.EncryptionConfig{FooterKey: key}), true, errors.ErrUnsupported},
		"encrypted column": {parquet.WithEncryption(&parquet.EncryptionConfig{FooterKey: key, ColumnKeys: map[string][]byte{"a": key}}), true, errors.ErrUnsupported},
		"encrypted footer": {parquet.WithEncryption(&parquet.EncryptionConfig{FooterKey: key, EncryptedFooter: true}), false, errors.ErrUnsupported},
	} {
		var b bytes.Buffer
		w := parquet.NewGenericWriter[row](&b, parquet.BloomFilters(parquet.SplitBlockFilter(10, "a"), parquet.SplitBlockFilter(10, "b")), c.option)
		if _, err := w.Write([]row{{"x", "y"}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := read(b.Bytes())
		if !c.open {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if chunk, err := f.Find(0, "a"); err != nil || !errors.Is(chunk.Err, c.want) {
			t.Errorf("%s: %+v, %v, want %v", name, chunk, err, c.want)
		}
		if _, err := f.Query("a", "x"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// Groups without children, files without columns and files without row groups are Parquet files.
func TestEmptySchemas(t *testing.T) {
	write := func(g parquet.Group, rows ...parquet.Row) *File {
		t.Helper()
		var b bytes.Buffer
		w := parquet.NewWriter(&b, parquet.NewSchema("s", g), parquet.BloomFilters(parquet.SplitBlockFilter(10, "id")))
		if _, err := w.WriteRows(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := read(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := write(parquet.Group{"id": parquet.String(), "extra": parquet.Optional(parquet.Group{})}, parquet.Row{parquet.ByteArrayValue([]byte("bob"))})
	if answers, err := f.Query("id", "bob", "eve"); err != nil || !answers[0].May[0] || answers[0].May[1] {
		t.Errorf("an empty group: %+v, %v", answers, err)
	}
	if answers, err := write(parquet.Group{"id": parquet.String()}).Query("id", "bob"); err != nil || len(answers) != 0 {
		t.Errorf("no row group: %+v, %v", answers, err)
	}
	f, err := read(footed([]byte{0x15, 2, 0x19, 0x1c, 0x48, 1, 's', 0, 0x16, 0, 0x19, 0x0c, 0}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Query("id", "bob"); !errors.Is(err, errColumn) || len(f.Chunks()) != 0 {
		t.Errorf("no columns: %v", err)
	}
}

// Columns of one path are named by their index, which names the others as well.
func TestNames(t *testing.T) {
	leaf := func(names ...string) column { return column{key: strings.Join(names, separator)} }
	n := newNames([]column{leaf("a", "b"), leaf("c"), leaf("a.b"), leaf("@0"), leaf("d"), leaf("d"), leaf("")})
	want := []string{"@00", "c", "@2", "@0", "@4", "@5", ""}
	for i, name := range want {
		got, err := n.find(name)
		if n.of(i) != name || err != nil || got != i {
			t.Errorf("column %d: name %q, which is that of %d, %v; want %q", i, n.of(i), got, err, name)
		}
	}
	for _, bad := range []string{"a.b", "d", "e", "@7", "@-1", "@", "1"} {
		if i, err := n.find(bad); !errors.Is(err, errColumn) {
			t.Errorf("%q: %d, %v", bad, i, err)
		}
	}
	if i, err := n.find("@1"); i != 1 || err != nil {
		t.Errorf("@1: %d, %v", i, err)
	}
}
