//go:build !noarrow

package parquet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Each value of each type that arrow-go writes may be in its row group.
func TestLawEveryValueIsFound(t *testing.T) {
	rounds, rows := 2, 40
	if os.Getenv("UMBEL_LONG") != "" {
		rounds, rows = 16, 200
	}
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for round := range rounds {
		path := filepath.Join(t.TempDir(), "arrow.parquet")
		list := columns()
		texts := write(t, r, path, list, rows)
		for i, c := range list {
			for group, values := range texts[i] {
				for at, a := range query(t, path, name(i), values) {
					if !a.Has || !slices.Contains(a.RowGroups, group) || slices.Contains(a.Unknown, group) {
						t.Errorf("round %d, row group %d: %s %q: %+v", round, group, c.name, values[at], a)
					}
				}
			}
		}
		types(t, path, list)
	}
}

func name(i int) string { return fmt.Sprintf("c%02d", i) }

// write writes a file of two row groups and returns the texts of the values, by column and row group.
func write(t *testing.T, r *rand.Rand, path string, list []column, rows int) [][2][]string {
	t.Helper()
	var fields schema.FieldList
	for i, c := range list {
		node, err := schema.NewPrimitiveNodeLogical(name(i), parquet.Repetitions.Required, c.logical, c.physical, c.length, -1)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		t.Fatal(err)
	}
	props := parquet.NewWriterProperties(parquet.WithBloomFilterEnabled(true), parquet.WithBloomFilterFPP(0.01),
		parquet.WithDictionaryDefault(r.IntN(2) == 0), parquet.WithAdaptiveBloomFilterEnabled(r.IntN(2) == 0),
		parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[r.IntN(2)]),
		parquet.WithVersion([]parquet.Version{parquet.V1_0, parquet.V2_LATEST}[r.IntN(2)]))
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root, file.WithWriterProps(props))
	texts := make([][2][]string, len(list))
	for group := range 2 {
		rg := w.AppendRowGroup()
		for i, c := range list {
			cw, err := rg.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			for range rows {
				v, text := c.draw(r)
				texts[i][group] = append(texts[i][group], text)
				if err := put(cw, v); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
			}
			if err := cw.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := rg.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return texts
}

func put(cw file.ColumnChunkWriter, v any) (err error) {
	switch cw := cw.(type) {
	case *file.Int32ColumnChunkWriter:
		_, err = cw.WriteBatch([]int32{v.(int32)}, nil, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = cw.WriteBatch([]int64{v.(int64)}, nil, nil)
	case *file.Int96ColumnChunkWriter:
		_, err = cw.WriteBatch([]parquet.Int96{v.(parquet.Int96)}, nil, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = cw.WriteBatch([]float32{v.(float32)}, nil, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = cw.WriteBatch([]float64{v.(float64)}, nil, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = cw.WriteBatch([]parquet.ByteArray{v.(parquet.ByteArray)}, nil, nil)
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = cw.WriteBatch([]parquet.FixedLenByteArray{v.(parquet.FixedLenByteArray)}, nil, nil)
	default:
		err = fmt.Errorf("no values for %T", cw)
	}
	return err
}

// answer is the JSON of umbel parquet for a value.
type answer struct {
	Has       bool  `json:"has"`
	RowGroups []int `json:"rowGroups"`
	Unknown   []int `json:"unknown"`
}

func query(t *testing.T, path, column string, values []string) []answer {
	t.Helper()
	args := []string{"parquet", path, "--json", "--column", column}
	for _, v := range values {
		args = append(args, "--has="+v)
	}
	return linesOf[answer](t, args)
}

// types compares the types that umbel lists with those of the columns.
func types(t *testing.T, path string, list []column) {
	t.Helper()
	type row struct {
		Index int    `json:"index"`
		Type  string `json:"type"`
		Error string `json:"error"`
	}
	rows := linesOf[row](t, []string{"parquet", path, "--json"})
	if len(rows) != 2*len(list) {
		t.Errorf("%d filters, want %d", len(rows), 2*len(list))
	}
	for _, got := range rows {
		if want := list[got.Index].name; got.Type != want || got.Error != "" {
			t.Errorf("column %d: %+v, want type %s", got.Index, got, want)
		}
	}
}

// linesOf runs umbel and returns the lines of its output.
func linesOf[T any](t *testing.T, args []string) []T {
	t.Helper()
	var stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), umbel, args...)
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("umbel %q: %v: %s", args, err, stderr.String())
	}
	var list []T
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var v T
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}
