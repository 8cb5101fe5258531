package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/bloom"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
)

type address struct {
	City string `parquet:"city"`
}

type row struct {
	Name    string    `parquet:"name"`
	Kind    string    `parquet:"kind,enum"`
	Doc     string    `parquet:"doc,json"`
	Raw     []byte    `parquet:"raw"`
	I8      int8      `parquet:"i8"`
	U16     uint16    `parquet:"u16"`
	I32     int32     `parquet:"i32"`
	U32     uint32    `parquet:"u32"`
	I64     int64     `parquet:"i64"`
	U64     uint64    `parquet:"u64"`
	F32     float32   `parquet:"f32"`
	F64     float64   `parquet:"f64"`
	ID      [16]byte  `parquet:"id,uuid"`
	Fixed   [5]byte   `parquet:"fixed"`
	Day     int32     `parquet:"day,date"`
	At      time.Time `parquet:"at,timestamp(microsecond)"`
	Seen    int64     `parquet:"seen,timestamp(millisecond:local)"`
	Clock   int32     `parquet:"clock,time(millisecond)"`
	Price   int64     `parquet:"price,decimal(2:18)"`
	Cents   int32     `parquet:"cents,decimal(2:9)"`
	Address address   `parquet:"address"`
	Tags    []string  `parquet:"tags,list"`
	Maybe   *int64    `parquet:"maybe,optional"`
	Plain   string    `parquet:"plain"` // without a Bloom filter
}

var epoch = time.Date(1969, 12, 31, 23, 0, 0, 0, time.UTC)

// value i of each column, as it is stored.
func makeRow(i int) row {
	r := row{
		Name: fmt.Sprintf("name-%d", i), Kind: fmt.Sprintf("KIND_%d", i), Doc: fmt.Sprintf(`{"n":%d}`, i),
		Raw: []byte{0xff, byte(i), byte(i >> 8)},
		I8:  int8(i), U16: uint16(65535 - i), I32: int32(-i), U32: math.MaxUint32 - uint32(i), I64: math.MinInt64 + int64(i), U64: math.MaxUint64 - uint64(i),
		F32: float32(i) / 8, F64: -float64(i) / 3,
		ID: [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, byte(i >> 8), byte(i)}, Fixed: [5]byte{'f', 'i', 'x', byte('0' + i/10%10), byte('0' + i%10)},
		Day: int32(i - 400), At: epoch.Add(time.Duration(i) * 1001 * time.Microsecond), Seen: int64(i) * 86400500, Clock: int32(i * 1001),
		Price: int64(i)*101 - 5000, Cents: int32(i),
		Address: address{City: fmt.Sprintf("Köln %d", i)}, Tags: []string{fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)},
		Plain: "plain",
	}
	if i%2 == 0 {
		m := int64(i)
		r.Maybe = &m
	}
	return r
}

// texts are the values of row i as somebody would write them.
func texts(i int) map[string]string {
	r := makeRow(i)
	clock := epoch.Truncate(24 * time.Hour).Add(time.Duration(r.Clock) * time.Millisecond)
	sign, price := "", r.Price
	if price < 0 {
		sign, price = "-", -price
	}
	m := map[string]string{
		"name": r.Name, "kind": r.Kind, "doc": r.Doc, "raw": fmt.Sprintf("hex:%x", r.Raw),
		"i8": fmt.Sprint(r.I8), "u16": fmt.Sprint(r.U16), "i32": fmt.Sprint(r.I32), "u32": fmt.Sprint(r.U32), "i64": fmt.Sprint(r.I64), "u64": fmt.Sprint(r.U64),
		"f32": fmt.Sprint(r.F32), "f64": fmt.Sprint(r.F64),
		"id":    fmt.Sprintf("%x-%x-%x-%x-%x", r.ID[:4], r.ID[4:6], r.ID[6:8], r.ID[8:10], r.ID[10:]),
		"fixed": string(r.Fixed[:]),
		"day":   time.Unix(int64(r.Day)*86400, 0).UTC().Format(time.DateOnly),
		"at":    r.At.Format(time.RFC3339Nano),
		"seen":  time.UnixMilli(r.Seen).UTC().Format("2006-01-02 15:04:05.999"),
		"clock": clock.Format("15:04:05.999"),
		"price": fmt.Sprintf("%s%d.%02d", sign, price/100, price%100), "cents": fmt.Sprintf("%d.%02d", r.Cents/100, r.Cents%100),
		"address.city": r.Address.City, "tags.list.element": r.Tags[1],
	}
	if r.Maybe != nil {
		m["maybe"] = fmt.Sprint(*r.Maybe)
	}
	return m
}

const rowsPerGroup, groups, bitsPerValue = 300, 3, 12

// write makes a file of several row groups with a filter for each column but one.
func write(t testing.TB) []byte {
	t.Helper()
	var filters []parquet.BloomFilterColumn
	for path := range texts(0) {
		filters = append(filters, parquet.SplitBlockFilter(bitsPerValue, strings.Split(path, ".")...))
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.BloomFilters(filters...))
	for g := range groups {
		for i := range rowsPerGroup {
			if _, err := w.Write([]row{makeRow(g*rowsPerGroup + i)}); err != nil {
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

func open(t testing.TB, b []byte) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.parquet")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Every value that parquet-go wrote is found, in its row group.
func TestEveryValueIsFound(t *testing.T) {
	f := open(t, write(t))
	for i := 0; i < groups*rowsPerGroup; i += 7 {
		for column, text := range texts(i) {
			answers, err := f.Query(column, text)
			if err != nil {
				t.Fatal(err)
			}
			if a := answers[i/rowsPerGroup]; len(answers) != groups || !a.Known[0] || !a.May[0] {
				t.Fatalf("row %d: column %s, value %q: %+v", i, column, text, answers)
			}
		}
	}
}

// Values that aren't there are mostly not found: no more of them than the filter's
// bits say, within 4 standard deviations of 20,000 trials.
func TestRateIsPlanned(t *testing.T) {
	f := open(t, write(t))
	const trials = 20000
	for _, c := range f.Chunks() {
		if c.Column != "name" && c.Column != "i64" {
			continue
		}
		column := f.names.columns[c.Index]
		filter, err := f.Filter(c)
		if err != nil {
			t.Fatal(err)
		}
		yes := 0
		for i := range trials {
			text := fmt.Sprint(1e6 + i)
			q, err := column.query(text)
			if err != nil {
				t.Fatal(err)
			}
			if q.in(filter) {
				yes++
			}
		}
		s := filter.Stats()
		planned := splitblock.Shape{M: c.Bytes * 8}.Forecast(rowsPerGroup).FPRate
		if got, sd := float64(yes)/trials, math.Sqrt(s.FPRate/trials); math.Abs(got-s.FPRate) > 4*sd || s.FPRate > 2*planned || s.FPRate < planned/2 {
			t.Errorf("%s in row group %d: rate %.5f, measured from the bits %.5f, planned %.5f", c.Column, c.RowGroup, got, s.FPRate, planned)
		}
		if s.Low > rowsPerGroup || s.High < rowsPerGroup {
			t.Errorf("%s in row group %d: %g to %g keys, want %d", c.Column, c.RowGroup, s.Low, s.High, rowsPerGroup)
		}
	}
}

func TestListing(t *testing.T) {
	f := open(t, write(t))
	types := map[string]string{
		"name": "STRING", "kind": "ENUM", "doc": "JSON", "raw": "BYTE_ARRAY", "i8": "INT8", "u16": "UINT16", "i32": "INT32", "u32": "UINT32",
		"i64": "INT64", "u64": "UINT64", "f32": "FLOAT", "f64": "DOUBLE", "id": "UUID", "fixed": "FIXED_LEN_BYTE_ARRAY(5)", "day": "DATE",
		"at": "TIMESTAMP(MICROS,UTC)", "seen": "TIMESTAMP(MILLIS,LOCAL)", "clock": "TIME(MILLIS)", "price": "DECIMAL(18,2)", "cents": "DECIMAL(9,2)",
		"address.city": "STRING", "tags.list.element": "STRING", "maybe": "INT64", "plain": "STRING",
	}
	if len(f.names.columns) != len(types) {
		t.Errorf("%d columns, want %d", len(f.names.columns), len(types))
	}
	for i, c := range f.names.columns {
		want, chunks := groups, 0
		if c.path() == "plain" {
			want = 0
		}
		for _, chunk := range f.chunks {
			if chunk.Index == i {
				chunks++
			}
		}
		if c.typ.name != types[c.path()] || chunks != want {
			t.Errorf("%s has type %q and %d chunks, want %q and %d", c.path(), c.typ.name, chunks, types[c.path()], want)
		}
	}
	chunks := f.Chunks()
	if len(chunks) != groups*(len(types)-1) || f.groups != groups {
		t.Errorf("%d chunks in %d row groups, want %d in %d", len(chunks), f.groups, groups*(len(types)-1), groups)
	}
	for _, c := range chunks {
		values := rowsPerGroup
		if c.Column == "tags.list.element" {
			values *= 2
		}
		if c.Err != nil || c.Rows != rowsPerGroup || c.Bytes != uint64(32*bloom.NumSplitBlocksOf(int64(values), bitsPerValue)) {
			t.Errorf("%+v", c)
		}
	}
}

// parquet-go queries the filters that umbel writes, and umbel those of parquet-go.
func TestInterop(t *testing.T) {
	ours, err := splitblock.NewShape(splitblock.Shape{M: 100 * splitblock.BlockBits, Hasher: splitblock.ParquetHasher})
	if err != nil {
		t.Fatal(err)
	}
	theirs := make(bloom.SplitBlockFilter, 100)
	for i := range 2000 {
		key := fmt.Appendf(nil, "key-%d", i)
		ours.AddBytes(key)
		theirs.Insert(bloom.XXH64{}.Sum64(key))
	}
	b, err := ours.AppendBitset(nil)
	if err != nil || !bytes.Equal(b, theirs.Bytes()) {
		t.Fatalf("bitsets differ (%v)", err)
	}
	same, err := splitblock.OpenBitset(theirs.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20000 {
		h := bloom.XXH64{}.Sum64(fmt.Appendf(nil, "key-%d", i))
		if same.Has(umbel.DigestFromHash64(h)) != theirs.Check(h) {
			t.Fatalf("key-%d: answers differ", i)
		}
	}
	// A fold is what parquet-go would have built at that size.
	small := make(bloom.SplitBlockFilter, 20)
	for i := range 2000 {
		small.Insert(bloom.XXH64{}.Sum64(fmt.Appendf(nil, "key-%d", i)))
	}
	if err := ours.Fold(5); err != nil {
		t.Fatal(err)
	}
	if b, err = ours.AppendBitset(nil); err != nil || !bytes.Equal(b, small.Bytes()) {
		t.Errorf("folded by 5: bitsets differ (%v)", err)
	}
}

func TestAskRefuses(t *testing.T) {
	f := open(t, write(t))
	for _, c := range []struct {
		column, value string
		want          error
		says          string
	}{
		{"nonsense", "1", errColumn, "address.city"},
		{"", "1", errColumn, "name"},
		{"plain", "x", ErrNoFilter, "plain"},
		{"i8", "128", errValue, "-128 to 127"},
		{"u32", "-1", errValue, "0 to 4294967295"},
		{"i64", "one", errValue, "INT64"},
	} {
		_, err := f.Query(c.column, c.value)
		if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("column %q, value %q: %v, want %v and %q", c.column, c.value, err, c.want, c.says)
		}
	}
}

// A row group without a filter for the column may hold anything.
func TestGroupWithoutFilter(t *testing.T) {
	f := open(t, write(t))
	kept := f.chunks[:0]
	for _, c := range f.chunks {
		if c.RowGroup != 1 || c.Column != "name" {
			kept = append(kept, c)
		}
	}
	f.chunks = kept
	answers, err := f.Query("name", "name-0", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	if a := answers[1]; a.Known[0] || a.Known[1] || !a.May[0] || !a.May[1] {
		t.Errorf("row group without a filter: %+v", a)
	}
	if a := answers[0]; !a.Known[0] || !a.Known[1] || !a.May[0] || a.May[1] {
		t.Errorf("row group with a filter: %+v", a)
	}
}
