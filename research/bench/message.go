package main

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/wire"
)

const (
	// messageBytes is the size of the planes by which the speed of coding is measured.
	messageBytes = 16 << 20
	// messageTimes is the number of filters of which the paper's sizes are the mean.
	messageTimes = 64
	// patience is the time of a slice from which on a coder isn't timed again.
	patience = time.Second
)

// message is a filter that is sent, to who has the old one if there is one.
type message struct {
	state umbel.State // of one plane
	plane []byte      // the plane's words, little endian: for coders of bytes
	id    wire.ID
	old   *message
}

func newMessage(s umbel.State, old *message) *message {
	return &message{s, bytesOf(s.Arrays[0].Words), wire.Identify(s), old}
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
	return slices.Equal(m.state.Arrays[0].Words, other.state.Arrays[0].Words)
}

// bloomWith returns a filter of kind bloom with the keys numbered from first on.
func bloomWith(m uint64, k int, first, n uint64) *bloom.Filter {
	f, err := bloom.NewShape(bloom.Shape{M: m, K: k})
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
		s := newSlice(one, ms, float64(raw)/1e6)
		first, err := s.check()
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", c.path, one.name, err)
		}
		row := c.row(one.name, float64(s.bytes())/float64(len(ms)), ideal)
		t.Rows = append(t.Rows, row)
		if first*s.mb > patience.Seconds() {
			row.set("encode", summary([]float64{first}))
		} else {
			encoding = append(encoding, task{row, "encode", func(int) (float64, error) { return s.encode(), nil }})
		}
		decoding = append(decoding, task{row, "decode", func(int) (float64, error) { return s.decode(), nil }})
	}
	if err := interleave(o.rounds, c.turns, p, append(encoding, decoding...), func() {}); err != nil {
		return nil, err
	}
	t.invert()
	return t, nil
}

// slice is what a coder does between two looks at the clock: all messages, in memory of
// its own, so that nobody finds in cache what another has just read.
type slice struct {
	coder
	messages []*message
	codes    [][]byte
	mb       float64 // megabytes of cells
}

func newSlice(c coder, ms []*message, mb float64) *slice {
	s := &slice{c, make([]*message, len(ms)), make([][]byte, len(ms)), mb}
	for i, m := range ms {
		s.messages[i] = m.clone()
	}
	return s
}

// check tests that all messages come back. It returns the time of encoding as encode
// does.
func (s *slice) check() (float64, error) {
	first := s.encode()
	for i, m := range s.messages {
		got, err := s.coder.decode(s.codes[i], m)
		if err != nil {
			return 0, err
		}
		if !got.is(m) {
			return 0, fmt.Errorf("message %d of %d comes back as another", i, len(s.messages))
		}
	}
	return first, nil
}

// bytes returns the bytes of all codes, without their heads.
func (s *slice) bytes() (sum int) {
	for _, code := range s.codes {
		sum += len(code) - s.head
	}
	return sum
}

// encode returns the time of encoding, in seconds per MB.
func (s *slice) encode() float64 {
	return s.perMB(func(i int, m *message) { s.codes[i] = s.coder.encode(s.codes[i][:0], m) })
}

// decode returns the time of decoding, in seconds per MB.
func (s *slice) decode() float64 {
	return s.perMB(func(i int, m *message) { mustNot(second(s.coder.decode(s.codes[i], m))) })
}

func (s *slice) perMB(do func(int, *message)) float64 {
	runtime.GC() // what the one before left behind
	d := timed(func() {
		for i, m := range s.messages {
			do(i, m)
		}
	})
	return d.Seconds() / s.mb
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
	a := m.state.Arrays[0]
	return binaryEntropy(a.Nonzero(), a.Len)
}

// binaryEntropy returns n·H(x/n): the bits that tell which x of n cells are ones.
func binaryEntropy(x, n uint64) float64 {
	if x == 0 || x == n {
		return 0
	}
	ones, zeros, all := float64(x), float64(n-x), float64(n)
	return ones*math.Log2(all/ones) + zeros*math.Log2(all/zeros)
}
