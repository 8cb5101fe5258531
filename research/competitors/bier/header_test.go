package bier

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"testing"
)

var example = Header{
	BIFT: 0x20304, TC: 5, S: true, TTL: 64, Entropy: 0xabcde, OAM: 2, DSCP: 46, Proto: 4, BFIR: 0x1234,
	Bits: []byte{0x80, 0, 0, 0, 0, 0, 0, 0x01, 0, 0, 0, 0, 0, 0, 0, 0x03},
}

// 20304 5·2+1 40 | 5 0 2 abcde | 10 00 101110 000100 1234 | bits 127, 64, 1 and 0.
const exampleHex = "20304b40" + "502abcde" + "8b841234" + "8000000000000001" + "0000000000000003"

func TestHeaderGolden(t *testing.T) {
	b, err := example.AppendBinary([]byte("before"))
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(b[6:]); got != exampleHex || string(b[:6]) != "before" {
		t.Errorf("%s, want %s", got, exampleHex)
	}
	var h Header
	n, err := h.Parse(append(b[6:], "payload"...))
	if err != nil || n != 28 || !reflect.DeepEqual(h, example) {
		t.Errorf("%d %v %+v, want %+v", n, err, h, example)
	}
	words := make([]uint64, 2)
	load(words, h.Bits)
	if words[0] != 3 || words[1] != 1<<63|1 {
		t.Errorf("bits %#x", words)
	}
	again := make([]byte, 16)
	store(again, words)
	for _, bit := range []int{0, 1, 64, 127} {
		setBit(again, bit)
	}
	if !bytes.Equal(again, h.Bits) {
		t.Errorf("bits %x, want %x", again, h.Bits)
	}
}

// TestCodesOfLengths: the codes of lengths are those of RFC 8296: log2 of the length, minus 5.
func TestCodesOfLengths(t *testing.T) {
	for want, length := range map[uint32]int{1: 64, 2: 128, 3: 256, 4: 512, 5: 1024, 6: 2048, 7: 4096} {
		if got := code(length); got != want {
			t.Errorf("%d bits have the code %d, want %d", length, got, want)
		}
	}
	if got := bift(256, 1, 2); got != 0x30102 {
		t.Errorf("BIFT-id %#x, want 0x30102", got)
	}
}

func TestHeadersThatAreRefused(t *testing.T) {
	whole, err := hex.DecodeString(exampleHex)
	if err != nil {
		t.Fatal(err)
	}
	with := func(i int, v byte) []byte {
		b := bytes.Clone(whole)
		b[i] = v
		return b
	}
	for _, c := range []struct {
		name string
		b    []byte
		want error
	}{
		{"empty", nil, ErrMalformed},
		{"cut before the bits", whole[:12], ErrMalformed},
		{"cut in the bits", whole[:27], ErrMalformed},
		{"another nibble", with(4, 0x40), ErrMalformed},
		{"version 1", with(4, 0x51), ErrVersion},
		{"length code 0", with(5, 0x0a), ErrMalformed},
		{"length code 8", with(5, 0x8a), ErrMalformed},
		{"longer than it is", with(5, 0x3a), ErrMalformed},
	} {
		h := example
		if n, err := h.Parse(c.b); !errors.Is(err, c.want) || n != 0 || !reflect.DeepEqual(h, example) {
			t.Errorf("%s: %d %v, want %v", c.name, n, err, c.want)
		}
	}

	for name, change := range map[string]func(*Header){
		"BIFT-id": func(h *Header) { h.BIFT = 1 << 20 },
		"TC":      func(h *Header) { h.TC = 8 },
		"entropy": func(h *Header) { h.Entropy = 1 << 20 },
		"OAM":     func(h *Header) { h.OAM = 4 },
		"DSCP":    func(h *Header) { h.DSCP = 64 },
		"proto":   func(h *Header) { h.Proto = 64 },
		"no bits": func(h *Header) { h.Bits = nil },
		"32 bits": func(h *Header) { h.Bits = make([]byte, 4) },
		"72 bits": func(h *Header) { h.Bits = make([]byte, 9) },
		"8192":    func(h *Header) { h.Bits = make([]byte, 1024) },
	} {
		h := example
		change(&h)
		if b, err := h.AppendBinary([]byte("x")); err == nil || string(b) != "x" {
			t.Errorf("%s: %x, %v", name, b, err)
		}
	}
}

func FuzzHeader(f *testing.F) {
	whole, err := hex.DecodeString(exampleHex)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		var h Header
		n, err := h.Parse(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrVersion) {
				t.Fatal(err)
			}
			return
		}
		again, err := h.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Clone(b[:n])
		want[8] &^= 0x30 // Rsv isn't read
		if !bytes.Equal(again, want) {
			t.Errorf("%x, want %x", again, want)
		}
	})
}
