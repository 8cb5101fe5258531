package wal

import (
	"bytes"
	"testing"
)

const fuzzSalt = 42

// FuzzFrame: what parseFrame accepts is what appendFrame writes, and a salt accepts only its own.
func FuzzFrame(f *testing.F) {
	for _, data := range []string{"", "x", "a batch of changes"} {
		b, _ := appendFrame(nil, saltSum(fuzzSalt), &frame{entry: entry{index: 7, term: 2, what: batch, data: []byte(data)}, durable: 5, before: link{index: 6, hash: [16]byte{1, 2}}})
		f.Add(b)
		b[len(b)/2] ^= 1
		f.Add(b)
	}
	f.Add([]byte("umb\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		parsed, l, err := parseFrame(b, saltSum(fuzzSalt))
		if err != nil {
			return
		}
		again, m := appendFrame(nil, saltSum(fuzzSalt), &parsed)
		n := headerBytes + len(parsed.data) + sumBytes
		if l != m || !bytes.Equal(again[:n], b[:n]) || int64(len(again)) != frameBytes(len(parsed.data)) {
			t.Errorf("%x is parsed, and written as %x", b[:n], again)
		}
		if _, _, err := parseFrame(b, saltSum(fuzzSalt+1)); err == nil {
			t.Error("a frame of another segment is accepted")
		}
	})
}

// FuzzSegment opens the end of a log in arbitrary bytes. What it finds is a chain from the entry that
// the header names, and every frame in it is whole.
func FuzzSegment(f *testing.F) {
	for _, n := range []int{0, 1, 4} {
		b := appendSegmentHeader(nil, 3, link{index: 2}, fuzzSalt, 1)
		tip := link{index: 2}
		for i := range n {
			b, tip = appendFrame(b, saltSum(fuzzSalt), &frame{entry: entry{index: 3 + uint64(i), what: batch, data: make([]byte, 10*i)}, durable: 2, before: tip})
		}
		f.Add(b, uint64(0))
		f.Add(append(b, make([]byte, 200)...), uint64(4))
		c := bytes.Clone(b)
		c[len(c)-20] ^= 1
		f.Add(c, uint64(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, proof uint64) {
		s, damaged, err := parseSegmentHeader(b[:min(len(b), segmentHeader)], 3)
		if err != nil {
			return
		}
		if damaged < 0 || damaged >= segmentCopies || s.before.index >= s.first {
			t.Fatalf("%d copies are damaged, segment %+v", damaged, s)
		}
		file := bytes.NewReader(b)
		end, err := readTail(file, &s, link{}, proof)
		if err != nil {
			t.Fatal(err)
		}
		if end.proof < proof || end.fresh > end.end || end.end > max(int64(len(b)+align), segmentHeader) {
			t.Errorf("%+v of %d bytes with proof %d", end, len(b), proof)
		}
		last := s.before
		scan := newScanner(file, &s)
		for last != end.tip {
			f, ok, err := scan.next()
			if err != nil || !ok {
				t.Fatalf("the tip %d is not found: %v", end.tip.index, err)
			}
			last = f.link
		}
	})
}
