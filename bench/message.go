package main

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/wire"
)

// messageBytes is the size of the planes by which the speed of coding is measured.
const messageBytes = 16 << 20

// message is a filter that is sent, to who has the old one if there is one.
type message struct {
	state umbel.State // of one plane
	plane []byte      // the plane's words, little endian: for coders of bytes
	id    wire.ID
	old   *message
}

func newMessage(s umbel.State, old *message) *message {
	return &message{s, bytesOf(s.Planes[0].Words), wire.Identify(s), old}
}

// clone returns m in other memory.
func (m *message) clone() *message {
	if m == nil {
		return nil
	}
	return &message{m.state.Clone(), bytes.Clone(m.plane), m.id, m.old.clone()}
}

// is reports whether m, as it was decoded, is the other: in that form which it has.
func (m *message) is(other *message) bool {
	if m.plane != nil {
		return bytes.Equal(m.plane, other.plane)
	}
	return slices.Equal(m.state.Planes[0].Words, other.state.Planes[0].Words)
}

// bloomWith adds so many keys to a filter of kind bloom, a new one if f is nil. The keys
// have no others' numbers if first hasn't.
func bloomWith(m uint64, k int, first, n uint64) *bloom.Filter {
	f, err := bloom.New(bloom.Shape{M: m, K: k})
	mustNot(err)
	addNumbered(f, first, n)
	return f
}

// addNumbered adds the keys numbered from first on.
func addNumbered(f umbel.Filter, first, n uint64) {
	const chunk = 1 << 16
	k := makeKeys(hashed, 0, chunk)
	for i := uint64(0); i < n; i += chunk {
		k.renumber(first + i)
		umbel.AddAll(f, nil, k.digests[:min(chunk, n-i)])
	}
}

// coder is a way to code messages.
type coder struct {
	name   string
	encode func(dst []byte, m *message) []byte
	// decode makes what src is the code of, in new memory. Of m it knows how long it is,
	// and the old one.
	decode func(src []byte, m *message) (*message, error)
	// head is the bytes of a message that tell what it is, which others haven't.
	head int
}

// coding is a comparison of coders.
type coding struct {
	path, title string
	make        func() []*message
	coders      []coder
	// ideal is what an ideal code takes for a message, in bits.
	ideal func(*message) float64
	// unit is what the bits of a message are divided by to be compared: "key", of which
	// it has so many.
	unit  string
	units float64
	turns int
}

// run measures the comparison. It returns nil if --only leaves nobody.
func (c coding) run(o options, p *progress) (*Table, error) {
	p.scope = c.path
	coders := slices.DeleteFunc(slices.Clone(c.coders), func(one coder) bool {
		return !o.only.MatchString(c.path + "/" + one.name)
	})
	if len(coders) == 0 {
		return nil, nil
	}
	defer free()
	p.show("make the filters")
	ms := c.make()
	t := &Table{
		Section: "messages", Path: c.path, Title: c.title, Unit: "MB/s of cells",
		Figures: []string{"bytes", "bits/" + c.unit, "over ideal %"}, Columns: []string{"encode", "decode"},
	}
	ideal, raw := 0.0, 0
	for _, m := range ms {
		ideal += c.ideal(m) / float64(len(ms))
		raw += len(m.plane)
	}
	t.Rows = append(t.Rows, c.row(idealRow, ideal/8, ideal))
	var encoding, decoding []task
	for _, one := range coders {
		p.show("check %s", one.name)
		own := make([]*message, len(ms)) // nobody finds in cache what another has just read
		for i, m := range ms {
			own[i] = m.clone()
		}
		codes := make([][]byte, len(ms))
		sum := 0
		for i, m := range own {
			codes[i] = one.encode(nil, m)
			sum += len(codes[i]) - one.head
			if got, err := one.decode(codes[i], m); err != nil || !got.is(m) {
				return nil, fmt.Errorf("%s: %s: another filter came back (%w)", c.path, one.name, err)
			}
		}
		row := c.row(one.name, float64(sum)/float64(len(ms)), ideal)
		t.Rows = append(t.Rows, row)
		perMB := func(do func(i int, m *message) error) (float64, error) {
			runtime.GC() // what the one before left behind
			d := timed(func() {
				for i, m := range own {
					mustNot(do(i, m))
				}
			})
			return d.Seconds() / (float64(raw) / 1e6), nil
		}
		encoding = append(encoding, task{row, "encode", func(int) (float64, error) {
			return perMB(func(i int, m *message) error { codes[i] = one.encode(codes[i][:0], m); return nil })
		}})
		decoding = append(decoding, task{row, "decode", func(int) (float64, error) {
			return perMB(func(i int, m *message) error { _, err := one.decode(codes[i], m); return err })
		}})
	}
	if err := interleave(o.rounds, c.turns, p, append(encoding, decoding...), func() {}); err != nil {
		return nil, err
	}
	t.invert()
	return t, nil
}

// idealRow is the row of what an ideal code takes.
const idealRow = "ideal"

// row returns a row with the sizes of a coder: mean bytes, against the ideal ones.
func (c coding) row(name string, bytes, ideal float64) *Row {
	return &Row{Name: name, Figures: map[string]float64{
		"bytes": bytes, "bits/" + c.unit: bytes * 8 / c.units, "over ideal %": (bytes*8/ideal - 1) * 100,
	}}
}

// entropyOf returns the bits of an ideal code that knows the fill of a message's plane.
func entropyOf(m *message) float64 {
	a := m.state.Planes[0]
	x, cells := float64(a.Nonzero()), float64(a.Len)
	if x == 0 || x == cells {
		return 0
	}
	return x*math.Log2(cells/x) + (cells-x)*math.Log2(cells/(cells-x))
}
