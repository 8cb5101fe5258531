package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/umbel-filters/umbel"
)

// small returns a file with one column, one row group and one filter of a block.
func small(t testing.TB) []byte {
	t.Helper()
	type row struct {
		A string `parquet:"a"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.BloomFilters(parquet.SplitBlockFilter(10, "a")))
	if _, err := w.Write([]row{{"x"}, {"y"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// footed returns a file that consists of a footer.
func footed(footer []byte) []byte {
	b := append([]byte("PAR1"), footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, "PAR1"...)
}

func read(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }

func TestNotParquet(t *testing.T) {
	good := small(t)
	encrypted := bytes.Clone(good)
	copy(encrypted[len(encrypted)-4:], "PARE")
	long := bytes.Clone(good)
	binary.LittleEndian.PutUint32(long[len(long)-8:], 1<<31)
	many := append([]byte{0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}, make([]byte, 100)...) // a list of 2^31-1
	for name, c := range map[string]struct {
		b    []byte
		want error
		says string
	}{
		"empty":             {nil, umbel.ErrCorrupt, "0 bytes"},
		"text":              {[]byte("name,age\nalice,7\n"), umbel.ErrCorrupt, "not a Parquet file"},
		"truncated":         {good[:len(good)-1], umbel.ErrCorrupt, "not a whole Parquet file"},
		"encrypted":         {encrypted, errors.ErrUnsupported, "encrypted"},
		"footer too long":   {long, umbel.ErrCorrupt, "footer of 2147483648 bytes"},
		"no footer":         {footed(nil), umbel.ErrCorrupt, "footer"},
		"empty footer":      {footed([]byte{0}), umbel.ErrCorrupt, "no schema"},
		"deep footer":       {footed(bytes.Repeat([]byte{0x1c}, 1<<20)), umbel.ErrCorrupt, "deeper"},
		"deep lists":        {footed(append([]byte{0x19}, bytes.Repeat([]byte{0x19}, 1<<20)...)), umbel.ErrCorrupt, "deeper"},
		"long list":         {footed(many), umbel.ErrCorrupt, "elements"},
		"wrong type":        {footed([]byte{0x1f, 0}), umbel.ErrCorrupt, "unknown type"},
		"schema unfinished": {footed([]byte{0x29, 0x1c, 0x48, 0, 0x15, 8, 0, 0}), umbel.ErrCorrupt, "missing"},
	} {
		_, err := read(c.b)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v and %q", name, err, c.want, c.says)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	path := filepath.Join(dir, "text.parquet")
	if err := os.WriteFile(path, []byte("not at all a Parquet file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, umbel.ErrCorrupt) || !strings.Contains(err.Error(), path) {
		t.Errorf("a text: %v", err)
	}
}

// If the file is cut off at any byte, nothing panics and no incomplete filter is returned.
func TestTruncated(t *testing.T) {
	good := small(t)
	for n := range good {
		if _, err := read(good[:n]); err == nil {
			t.Fatalf("%d of %d bytes were read", n, len(good))
		}
	}
}

// If any bit is flipped, nothing panics, and what is read stays in bounds.
func TestBitFlips(t *testing.T) {
	good := small(t)
	for i := range good {
		for bit := range 8 {
			good[i] ^= 1 << bit
			exercise(t, good)
			good[i] ^= 1 << bit
		}
	}
}

// exercise does all there is to do with a file and wants errors to be known ones.
func exercise(t *testing.T, b []byte) {
	known := func(err error) {
		t.Helper()
		for _, want := range []error{umbel.ErrCorrupt, umbel.ErrLimit, errors.ErrUnsupported, errColumn, ErrNoFilter, errValue} {
			if err == nil || errors.Is(err, want) {
				return
			}
		}
		t.Fatalf("an error of no kind: %v", err)
	}
	f, err := read(b)
	known(err)
	if err != nil {
		return
	}
	for _, c := range f.names.columns {
		for _, value := range []string{"1", "hex:00"} {
			_, err := c.query(value)
			known(err)
		}
	}
	for i, c := range f.Chunks() {
		if c.Bytes > uint64(len(b)) {
			t.Fatalf("%+v in a file of %d bytes", c, len(b))
		}
		if i < 4 {
			_, err := f.Filter(c)
			known(err)
			_, err = f.Query(c.Name, "1")
			known(err)
		}
	}
}

// A filter's header that lies makes its chunk unreadable, and no other.
func TestHostileHeaders(t *testing.T) {
	good := small(t)
	f, err := read(good)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(good, []byte{0x15, 0x40, 0x1c, 0x1c}) // 32 bytes, and the three unions
	if at < 0 || f.chunks[0].bitset <= int64(at) {
		t.Fatal("no header where one was expected")
	}
	for name, c := range map[string]struct {
		header []byte
		want   error
	}{
		"2 GiB":            {[]byte{0x15, 0xc0, 0xff, 0xff, 0xff, 0x0f, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0}, umbel.ErrCorrupt},
		"4 GiB":            {[]byte{0x15, 0x80, 0x80, 0x80, 0x80, 0x20, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0}, umbel.ErrLimit},
		"negative":         {[]byte{0x15, 0x3f}, umbel.ErrCorrupt},
		"no bytes":         {[]byte{0x15, 0x00}, umbel.ErrCorrupt},
		"part of a block":  {[]byte{0x15, 0x42}, umbel.ErrCorrupt},
		"no algorithm":     {[]byte{0x15, 0x40, 0x00}, umbel.ErrCorrupt},
		"other algorithm":  {[]byte{0x15, 0x40, 0x1c, 0x2c}, errors.ErrUnsupported},
		"endless number":   {bytes.Repeat([]byte{0xff}, 12), umbel.ErrCorrupt},
		"unknown contents": {[]byte{0x1e}, umbel.ErrCorrupt},
	} {
		b := bytes.Clone(good)
		copy(b[at:], c.header)
		f, err := read(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		chunk := f.Chunks()[0]
		_, filterErr := f.Filter(chunk)
		_, askErr := f.Query("a", "x")
		for _, err := range []error{chunk.Err, filterErr, askErr} {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add(small(f))
	visits := writeVisits(f)
	f.Add(visits)
	f.Add(refoot(f, visits, func(m *format.FileMetaData) {
		eachChunk(m, func(_ int, c *format.ColumnChunk) { c.MetaData.BloomFilterLength = 0 })
	}))
	f.Add(refoot(f, visits, func(m *format.FileMetaData) { m.RowGroups, m.NumRows = nil, 0 }))
	f.Fuzz(exercise)
}
