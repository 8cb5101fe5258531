package entropy

import (
	"encoding/binary"
	"errors"
	"testing"
)

// FuzzDecode: for any payload and any lengths, decoding returns an error or strings that encode
// to a payload, in time proportional to the strings.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{}, uint32(0), uint16(0))
	f.Add([]byte{93, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, uint32(100), uint16(0))
	f.Add(Append(nil, pattern(1000, 1<<28), pattern(77, 1<<31)), uint32(1000), uint16(77))
	f.Add(Append(nil, pattern(30000, 1<<22), pattern(10, 1<<30)), uint32(30000), uint16(10))
	f.Add(Append(nil, pattern(3000, 0xf0000000), pattern(100, 1<<29)), uint32(3000), uint16(100))
	var c Coder
	f.Fuzz(func(t *testing.T, code []byte, n uint32, m uint16) {
		a, b := NewBits(uint64(n%(1<<20))).noise(), NewBits(uint64(m)).noise()
		err := c.Decode(code, a, b)
		// Lanes that are decoded at the same time change nothing.
		x, y := a.noise(), b.noise()
		jobs := []Job{{Code: code, Strs: []Bits{x, y}}, {Code: code, Strs: []Bits{y.noise(), x.noise()}}, {Code: code, Strs: []Bits{x.noise(), y.noise()}}}
		c.DecodeAll(jobs)
		for _, job := range []Job{jobs[0], jobs[2]} {
			if (job.Err == nil) != (err == nil) || err != nil && job.Err.Error() != err.Error() {
				t.Fatalf("error %v, alone %v", job.Err, err)
			}
		}
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("error %v doesn't wrap ErrCorrupt", err)
			}
			return
		}
		for _, job := range []Job{jobs[0], jobs[2]} {
			for i, want := range []Bits{a, b} {
				if !equal(job.Strs[i], want) {
					t.Fatalf("string %d differs when it is decoded with others", i)
				}
			}
		}
		roundTrip(t, &c, a, b)
	})
}

// FuzzRoundTrip: all strings decode to themselves.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte{}, byte(0), uint16(0), byte(0))
	f.Add([]byte{1, 2, 4, 8, 16, 32, 64, 128}, byte(3), uint16(5), byte(1))
	f.Add([]byte("the first string, and after it the second one, 1000 times"), byte(63), uint16(1000), byte(2))
	f.Add([]byte{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, byte(7), uint16(300), byte(3))
	var c Coder
	f.Fuzz(func(t *testing.T, data []byte, cut byte, repeat uint16, thin byte) {
		// The string's words are data, repeated; each time other bits of it.
		var words []uint64
		for i := 0; i < len(data) && len(words) < 1<<14; i += 8 {
			var w [8]byte
			copy(w[:], data[i:])
			words = append(words, binary.LittleEndian.Uint64(w[:]))
		}
		for i, n := 0, len(words); n > 0 && i < int(repeat) && len(words) < 1<<14; i++ {
			w := words[i%n]
			for range thin % 8 {
				w &= w>>7 | w<<57
			}
			words = append(words, w*(2*uint64(i)+1))
		}
		b := Bits{words, 64 * uint64(len(words))}
		if n := uint64(cut % 64); b.Len > n && n > 0 {
			b.Len -= n
			words[len(words)-1] &= 1<<(64-n) - 1
		}
		payload := roundTrip(t, &c, b)
		half := Bits{words[:len(words)/2], 64 * uint64(len(words)/2)}
		roundTrip(t, &c, half, b)
		if limit := b.Len/8 + b.Len/512 + 16; uint64(len(payload)) > limit {
			t.Fatalf("%d bits have a payload of %d bytes, want %d at most", b.Len, len(payload), limit)
		}
		jobs := []Job{{Strs: []Bits{b}}, {Strs: []Bits{half}}, {Strs: []Bits{b, half}}}
		c.AppendAll(jobs)
		if string(jobs[0].Code) != string(payload) {
			t.Fatal("the code differs when it is encoded with others")
		}
	})
}

func equal(a, b Bits) bool {
	for i, w := range a.Words {
		if w != b.Words[i] {
			return false
		}
	}
	return a.Len == b.Len
}
