package inpacket

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustAppend(t interface {
	Helper()
	Fatal(...any)
}, h *Header) []byte {
	t.Helper()
	b, err := h.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestParseUndoesAppend: Parse returns the header that was encoded and its size, regardless of what
// follows.
func TestParseUndoesAppend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		b := mustAppend(t, &h)
		if len(b) != h.Size() || len(b)%4 != 0 {
			t.Fatalf("%d bytes, Size says %d", len(b), h.Size())
		}
		payload := rapid.SliceOf(rapid.Byte()).Draw(t, "payload")
		var got Header
		n, err := got.Parse(append(b, payload...))
		if err != nil || n != len(b) {
			t.Fatalf("n = %d, %v; want %d", n, err, len(b))
		}
		if !reflect.DeepEqual(got, h) {
			t.Fatalf("got %+v, want %+v", got, h)
		}
	})
}

// TestParseTruncated: a header truncated at any byte is an error, and the receiver is unchanged.
func TestParseTruncated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		b := mustAppend(t, &h)
		for n := range b {
			got := Header{Group: 77}
			if _, err := got.Parse(b[:n:n]); !errors.Is(err, ErrMalformed) {
				t.Fatalf("%d of %d bytes: %v", n, len(b), err)
			}
			if !reflect.DeepEqual(got, Header{Group: 77}) {
				t.Fatalf("%d of %d bytes: left %+v", n, len(b), got)
			}
		}
	})
}

// simple is a valid header of 20 bits: 16 bytes on the wire.
func simple() Header {
	return Header{TTL: 9, Form: Single, K: 3, Seed: 7, Bits: 20, Epoch: 0x1234, Group: 0xa1b2c3d4, Filter: []byte{0x11, 0x22, 0x03}}
}

func TestHeaderBytes(t *testing.T) {
	h := simple()
	h.Seed = 0x0107
	h.Sequenced, h.Source, h.Sequence = true, 5, 6
	h.Trace = &Trace{Nodes: []uint32{0xdeadbeef}, Capacity: 2}
	want := []byte{
		0x1e, 9, 0x30, 7, 0, 20, 0x12, 0x34, 0xa1, 0xb2, 0xc3, 0xd4,
		1, 0x11, 0x22, 0x03,
		0, 0, 0, 5, 0, 0, 0, 6,
		1, 2, 0, 0, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 0,
	}
	if got := mustAppend(t, &h); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

func TestParseRefuses(t *testing.T) {
	h := simple()
	plain := mustAppend(t, &h)
	h.Seed = 0x300
	wide := mustAppend(t, &h)
	h = simple()
	h.Trace = &Trace{Nodes: []uint32{1}, Capacity: 2}
	traced := mustAppend(t, &h)
	set := func(b []byte, at int, v byte) []byte {
		b = bytes.Clone(b)
		b[at] = v
		return b
	}
	for _, c := range []struct {
		name   string
		packet []byte
		is     error
		says   string
	}{
		{"nothing", nil, ErrMalformed, "0 bytes"},
		{"version 2", set(plain, 0, 0x20), ErrVersion, "version 2"},
		{"version 0, cut off", []byte{0}, ErrVersion, "version 0"},
		{"reserved flag", set(plain, 0, 0x11), ErrMalformed, "reserved"},
		{"no bits", set(plain, 5, 0), ErrMalformed, "0 bits"},
		{"K 0", set(plain, 2, 0x00), ErrMalformed, "K is 0"},
		{"form 5", set(plain, 2, 0x35), ErrMalformed, "form 5"},
		{"dense with K", set(plain, 2, 0x34), ErrMalformed, "stored"},
		{"folded with a seed", set(plain, 2, 0x32), ErrMalformed, "seed 7"},
		{"folded, no divisor", set(set(set(plain, 2, 0x32), 3, 0), 5, 19), ErrMalformed, "divisor"},
		{"staged, cut off", set(plain, 2, 0x31), ErrMalformed, "stage"},
		{"bits after the last", set(plain, 14, 0x13), ErrMalformed, "0x13"},
		{"padding", set(plain, 15, 1), ErrMalformed, "padding"},
		{"narrow seed, wide flag", set(wide, 12, 0), ErrMalformed, "wide seed"},
		{"trace over its capacity", set(traced, 16, 3), ErrMalformed, "capacity 2"},
		{"trace, reserved", set(traced, 19, 1), ErrMalformed, "reserved"},
		{"trace, free room", set(traced, 27, 1), ErrMalformed, "0x1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h Header
			_, err := h.Parse(c.packet)
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.is, c.says)
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*Header)
	}{
		{"too many bits", func(h *Header) { h.Bits, h.Filter = MaxBits+1, make([]byte, 8192) }},
		{"no filter", func(h *Header) { h.Filter = nil }},
		{"a byte too many", func(h *Header) { h.Filter = append(h.Filter, 0) }},
		{"bits after the last", func(h *Header) { h.Filter[2] |= 0x10 }},
		{"K 16", func(h *Header) { h.K = 16 }},
		{"form 16", func(h *Header) { h.Form = 16 }},
		{"source without", func(h *Header) { h.Source = 1 }},
		{"trace over its capacity", func(h *Header) { h.Trace = &Trace{Nodes: make([]uint32, 2), Capacity: 1} }},
		{"room for 256", func(h *Header) { h.Trace = &Trace{Capacity: 256} }},
		{"room below 0", func(h *Header) { h.Trace = &Trace{Capacity: -1} }},
		{"256 stages", func(h *Header) {
			h.Form = Staged
			h.Bits, h.Filter = 256*StageHeadBits, make([]byte, 256*StageHeadBits/8)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := simple()
			c.spoil(&h)
			before := []byte{1, 2, 3}
			got, err := h.AppendBinary(before)
			if !errors.Is(err, ErrMalformed) || !bytes.Equal(got, before) {
				t.Errorf("got %x, %v; want an error and dst as it was", got, err)
			}
		})
	}
}

// TestInPlace: TTL and trace that are changed in a packet give the bytes of the encoded changed
// header.
func TestInPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		b := append(mustAppend(t, &h), "payload"...)
		h.TTL = rapid.Byte().Draw(t, "new TTL")
		SetTTL(b, h.TTL)
		want := h.Trace != nil && len(h.Trace.Nodes) < h.Trace.Capacity
		if got := Record(b, 0xfeedf00d); got != want {
			t.Fatalf("recorded: %v, want %v", got, want)
		}
		if want {
			h.Trace.Nodes = append(h.Trace.Nodes, 0xfeedf00d)
		}
		if want := append(mustAppend(t, &h), "payload"...); !bytes.Equal(b, want) {
			t.Fatalf("got  %x\nwant %x", b, want)
		}
	})
}

// TestSetSequence: SetSequence sets the sequence of a header that has one, for every form and
// seed, and changes no other. It doesn't panic on a truncated header.
func TestSetSequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHeader(t)
		b := mustAppend(t, &h)
		was := bytes.Clone(b)
		if got := SetSequence(b, 0xfeedf00d); got != h.Sequenced {
			t.Fatalf("set %v, the header has one: %v", got, h.Sequenced)
		}
		if !h.Sequenced {
			if !bytes.Equal(b, was) {
				t.Fatal("changed a packet without a sequence")
			}
			return
		}
		h.Sequence = 0xfeedf00d
		if want := mustAppend(t, &h); !bytes.Equal(b, want) {
			t.Fatalf("got %x, want %x", b, want)
		}
		for n := range b[:len(b)-1] {
			SetSequence(b[:n], 1) // mustn't panic
		}
	})
}

// TestRecordTruncated: Record writes nothing to a truncated header.
func TestRecordTruncated(t *testing.T) {
	h := simple()
	h.Trace = &Trace{Capacity: 1}
	b := mustAppend(t, &h)
	for n := range b {
		if Record(bytes.Clone(b[:n]), 1) {
			t.Errorf("recorded in %d bytes of %d", n, len(b))
		}
	}
}

// TestHotPathAllocatesNothing: Parse and Match allocate nothing.
func TestHotPathAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for form := Single; form <= Dense; form++ {
		for _, bits := range []int{168, 3465} {
			h := randomHeader(r, form, 4, bits)
			if form == Dense {
				h.K = 0
			}
			h.Sequenced = true
			packet, table := mustAppend(t, &h), tableFor(r, form, bits, 100)
			var dst [2]uint64
			var got Header
			n := testing.AllocsPerRun(100, func() {
				if _, err := got.Parse(packet); err != nil {
					t.Fatal(err)
				}
				got.Overfull()
				table.Match(dst[:], &got)
				SetTTL(packet, got.TTL)
			})
			if n != 0 {
				t.Errorf("form %d, %d bits: %v allocations", form, bits, n)
			}
		}
	}
}
