package format

import (
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// kindRow is what a short state need not name: the kind, its first parameters, and the widths of its arrays.
type kindRow struct {
	kind   string
	params []string // names
	whole  int      // number of parameters that are whole numbers; those after them are floats
	widths []uint   // of the arrays that filters of the kind usually have
}

// kindRows are the rows of spec/kinds.tsv. The index of a row is its number. Rows are appended and never changed,
// because a number keeps its meaning. Row 0 is that of the kinds without a number.
var kindRows = []kindRow{
	{},
	{"bloom", []string{"k", "group"}, 2, []uint{1}},
	{"partitioned", []string{"k", "group"}, 2, []uint{1}},
	{"blocked", []string{"words", "bits"}, 2, []uint{1}},
	{"splitblock", nil, 0, []uint{1}},
	{"counting", []string{"k", "group", "copied"}, 3, []uint{4}},
	{"weighted", []string{"k", "group"}, 2, []uint{1}},
	{"scalable", []string{"slice", "first-log2", "tightening-log2", "growth", "max-bytes"}, 5, nil},
	{"dynamic", []string{"full", "max-bytes"}, 2, nil},
	{"folding", []string{"fold", "low", "high"}, 3, nil},
	{"window", []string{"k", "l", "group", "limit", "ticks", "now"}, 6, []uint{1}},
	{"sparse", []string{"m", "group"}, 2, []uint{1, 1}},
	{"ribbon", []string{"steps", "low", "keys", "listed"}, 4, []uint{1, 32}},
	{"union", nil, 0, nil},
	{"redisbloom", []string{"expansion", "options"}, 2, nil},
	{"redisbloom-layer", []string{"capacity", "entries", "k", "n2", "error-rate", "bits-per-key"}, 4, []uint{1}},
	{"squid", nil, 0, []uint{1}},
	{"nixbloom", []string{"k"}, 1, []uint{1}},
	{"imported", []string{"form", "k"}, 2, []uint{1}},
	{"weighted-counting", []string{"k", "group", "copied"}, 3, []uint{4}},
}

// rowOf returns the number and the row of a state: 0 unless the state has the parameters of its kind's row first.
func rowOf(s umbel.State) (byte, *kindRow) {
	for i := range kindRows {
		if row := &kindRows[i]; row.kind == s.Kind && row.begins(s.Params) {
			return byte(i), row
		}
	}
	return 0, &kindRows[0]
}

// begins reports whether ps begins with the parameters of the row.
func (row *kindRow) begins(ps umbel.Params) bool {
	if len(ps) < len(row.params) {
		return false
	}
	for i, name := range row.params {
		if p := ps[i]; p.Name != name || p.Value.IsFloat() != (i >= row.whole) {
			return false
		}
	}
	return true
}

// fits reports whether arrays have the widths of the row.
func (row *kindRow) fits(arrays []cells.Array) bool {
	return slices.EqualFunc(row.widths, arrays, func(w uint, a cells.Array) bool { return w == a.Width })
}

// ShortKind writes the number of a kind, with a bit, and the name of a kind without a number.
func (w *Writer) ShortKind(kind string, bit bool) {
	number := max(slices.IndexFunc(kindRows, func(row kindRow) bool { return row.kind == kind }), 0)
	if bit {
		number |= hasFlags
	}
	w.Buf = append(w.Buf, byte(number))
	if number&^hasFlags == 0 {
		w.Name(kind)
	}
}

// ShortKind reads what ShortKind of a Writer writes.
func (r *Reader) ShortKind() (kind string, bit bool, err error) {
	number, err := r.Byte()
	if err != nil {
		return "", false, err
	}
	var s umbel.State
	_, err = r.kindOf(&s, number&^hasFlags)
	return s.Kind, number&hasFlags != 0, err
}
