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
	"github.com/umbel-filters/umbel/wire/hashtree"
)

const (
	// messageBytes is the size of the arrays for which the speed of coding is measured.
	messageBytes = 16 << 20
	// messageTimes is the number of filters over which the paper's sizes are averaged.
	messageTimes = 64
	// slowest is the time of a slice above which a coder is timed only once.
	slowest = time.Second
)

// message is a filter that is sent. If old is not nil, the receiver has the old filter.
type message struct {
	state umbel.State // has one array
	bytes []byte      // the words of the array, little endian, for coders of bytes
	id    wire.ID
	old   *message
}

func newMessage(s umbel.State, old *message) *message {
	return &message{s, bytesOf(s.Arrays[0].Words), hashtree.Identify(s), old}
}

// clone returns a deep copy of m.
func (m *message) clone() *message {
	if m == nil {
		return nil
	}
	return &message{m.state.Clone(), bytes.Clone(m.bytes), m.id, m.old.clone()}
}

// equal reports whether m, as decoded, equals other. It compares the form that m has.
func (m *message) equal(other *message) bool {
	if m.bytes != nil {
		return bytes.Equal(m.bytes, other.bytes)
	}
	return slices.Equal(m.state.Arrays[0].Words, other.state.Arrays[0].Words)
}

// bloomWith returns a filter of kind bloom with n keys numbered from first on.
func bloomWith(m uint64, k int, first, n uint64) *bloom.Filter {
	f, err := bloom.NewShape(bloom.Shape{M: m, K: k})
	must(err)
	addNumbered(f, first, n)
	return f
}

// addNumbered adds n keys numbered from first on.
func addNumbered(f umbel.Filter, first, n uint64) {
	const chunk = 1 << 16
	k := makeKeys(hashed, 0, chunk)
	for i := uint64(0); i < n; i += chunk {
		k.renumber(first + i)
		umbel.AddAll(f, nil, k.digests[:min(chunk, n-i)])
	}
}

// coder encodes and decodes messages.
type coder struct {
	name   string
	encode func(dst []byte, m *message) []byte
	// decode decodes src into new memory. It uses only the length of m, and m.old.
	decode func(src []byte, m *message) (*message, error)
	// head is the number of bytes of a header that other coders don't have.
	head int
}

// coding is a comparison of coders.
type coding struct {
	path, title string
	make        func() []*message
	coders      []coder
	// ideal returns the bits of an ideal code of a message.
	ideal func(*message) float64
	// unit is the unit per which bits are reported, for example "key"; units is their number
	// in a message.
	unit  string
	units float64
	turns int
}

// run measures the comparison. It returns nil if --only excludes all coders.
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
		raw += len(m.bytes)
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
		row := c.row(one.name, float64(s.size())/float64(len(ms)), ideal)
		t.Rows = append(t.Rows, row)
		if first*s.mb > slowest.Seconds() {
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

// slice is the work of a coder in one timing: all messages, in its own memory, so that no
// coder finds data in cache that another has just read.
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

// check returns an error unless all messages are decoded correctly, and the result of
// encode.
func (s *slice) check() (float64, error) {
	first := s.encode()
	for i, m := range s.messages {
		got, err := s.coder.decode(s.codes[i], m)
		if err != nil {
			return 0, err
		}
		if !got.equal(m) {
			return 0, fmt.Errorf("message %d of %d is decoded incorrectly", i, len(s.messages))
		}
	}
	return first, nil
}

// size returns the number of bytes of all codes, without their heads.
func (s *slice) size() (sum int) {
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
	return s.perMB(func(i int, m *message) { must(second(s.coder.decode(s.codes[i], m))) })
}

func (s *slice) perMB(do func(int, *message)) float64 {
	runtime.GC() // the garbage of the previous measurement
	d := timed(func() {
		for i, m := range s.messages {
			do(i, m)
		}
	})
	return d.Seconds() / s.mb
}

// idealRow is the row of the ideal code.
const idealRow = "ideal"

// row returns a row with the sizes of a coder, given its mean bytes and the ideal bits.
func (c coding) row(name string, bytes, ideal float64) *Row {
	return &Row{Name: name, Figures: map[string]float64{
		"bytes": bytes, "bits/" + c.unit: bytes * 8 / c.units, "over ideal %": (bytes*8/ideal - 1) * 100,
	}}
}

// entropyOf returns the bits of an ideal code that has the fill ratio of the array.
func entropyOf(m *message) float64 {
	a := m.state.Arrays[0]
	return binaryEntropy(a.Nonzero(), a.Len)
}

// binaryEntropy returns n·H(x/n), the bits that encode which x of n cells are ones.
func binaryEntropy(x, n uint64) float64 {
	if x == 0 || x == n {
		return 0
	}
	ones, zeros, all := float64(x), float64(n-x), float64(n)
	return ones*math.Log2(all/ones) + zeros*math.Log2(all/zeros)
}
