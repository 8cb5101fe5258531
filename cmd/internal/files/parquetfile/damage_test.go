package parquetfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	codec "github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

type visit struct {
	Name  string  `parquet:"name"`
	ID    int64   `parquet:"id"`
	Price int64   `parquet:"price,decimal(2:18)"`
	At    int64   `parquet:"at,timestamp(microsecond)"`
	Key   [4]byte `parquet:"key"`
}

// present are values of the file of writeVisits, by column, and then by row group.
var present = map[string][2]string{
	"name": {"name-1", "name-301"}, "id": {"1", "301"}, "price": {"0.01", "3.01"},
	"at": {"1970-01-01T00:00:00.000001Z", "1970-01-01T00:00:00.000301Z"}, "key": {"hex:01000000", "hex:2d010000"},
}

// writeVisits returns a file of two row groups. It has filters of equal and of different sizes, next to each other.
func writeVisits(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[visit](&b, parquet.BloomFilters(
		parquet.SplitBlockFilter(10, "name"), parquet.SplitBlockFilter(10, "id"), parquet.SplitBlockFilter(20, "price"),
		parquet.SplitBlockFilter(10, "at"), parquet.SplitBlockFilter(12, "key")))
	for g := range 2 {
		for i := g * 300; i < g*300+60; i++ {
			v := visit{fmt.Sprintf("name-%d", i), int64(i), int64(i), int64(i), [4]byte{}}
			binary.LittleEndian.PutUint32(v.Key[:], uint32(i))
			if _, err := w.Write([]visit{v}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// refoot changes the footer of a file.
func refoot(t testing.TB, b []byte, change func(*format.FileMetaData)) []byte {
	t.Helper()
	n := len(b) - 8 - int(binary.LittleEndian.Uint32(b[len(b)-8:]))
	var m format.FileMetaData
	if err := codec.Unmarshal(new(codec.CompactProtocol), b[n:len(b)-8], &m); err != nil {
		t.Fatal(err)
	}
	change(&m)
	footer, err := codec.Marshal(new(codec.CompactProtocol), &m)
	if err != nil {
		t.Fatal(err)
	}
	out := append(bytes.Clone(b[:n]), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

func eachChunk(m *format.FileMetaData, change func(group int, c *format.ColumnChunk)) {
	for g := range m.RowGroups {
		for i := range m.RowGroups[g].Columns {
			change(g, &m.RowGroups[g].Columns[i])
		}
	}
}

// excluded returns a value that is in the file and that its filter excludes, or "".
func excluded(b []byte) string {
	f, err := read(b)
	if err != nil {
		return ""
	}
	for column, values := range present {
		for g, v := range values {
			answers, err := f.Query(column, v)
			if err == nil && (g >= len(answers) || !answers[g].May[0]) {
				return fmt.Sprintf("%s in column %s, row group %d: %+v", v, column, g, answers)
			}
		}
	}
	return ""
}

// If any byte of a filter's header or of the footer is changed to any other, no value that is there is excluded. The short form tries three
// values of each byte, UMBEL_LONG=1 all.
func TestLawChangedByte(t *testing.T) {
	good := writeVisits(t)
	for name, b := range map[string][]byte{
		"with lengths": good,
		"without lengths": refoot(t, good, func(m *format.FileMetaData) {
			eachChunk(m, func(_ int, c *format.ColumnChunk) { c.MetaData.BloomFilterLength = 0 })
		}),
	} {
		f, err := read(b)
		if err != nil {
			t.Fatal(err)
		}
		footer := len(b) - 8 - int(binary.LittleEndian.Uint32(b[len(b)-8:]))
		var at []int
		for _, c := range f.Chunks() {
			if c.Err != nil {
				t.Fatalf("%s: %+v", name, c)
			}
			for i := c.start; i < c.bitset; i++ {
				at = append(at, int(i))
			}
		}
		for i := footer; i < len(b); i++ {
			at = append(at, i)
		}
		seed := uint64(time.Now().UnixNano())
		r := rand.New(rand.NewPCG(seed, 0))
		for _, i := range at {
			was := b[i]
			for v := range 256 {
				if byte(v) == was || !long && r.IntN(85) > 0 {
					continue
				}
				b[i] = byte(v)
				if what := excluded(b); what != "" {
					t.Errorf("%s: byte %d (footer at %d): %#x instead of %#x excludes %s", name, i, footer, v, was, what)
				}
			}
			b[i] = was
		}
	}
}
