package adaptive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
)

// magic begins the bytes of a design; the last byte is the version.
const magic = "uad\x01"

// maxSize is more bytes than any design has: 65535 runs of 11, 4096 lengths of 3 and
// weights of 8, and less than 64 for the rest.
const maxSize = MaxBits*11 + MaxLinks*(3+8) + 64

// AppendBinary appends the design's bytes to dst. A design has one form in bytes, and
// is equal to another if and only if the bytes are:
//
//	4 bytes      "uad" and the version, 1
//	1 byte       objective     0 independent, 1 hashed
//	1 byte       method        0 other, 1 heuristic, 2 greedy, 3 optimum
//	8 bytes      rate          IEEE 754, high byte first
//	uvarint      k
//	uvarint      least
//	uvarint      n             number of links
//	n uvarints   lengths       m_1, m_2 - m_1, m_3 - m_2, …
//	uvarint      r             number of runs
//	r times      run           uvarint of positions, 8 bytes of odds, high byte first
//	uvarint      w             number of weights, 0 or n
//	w uvarints   weights
//
// A uvarint has seven bits a byte, low ones first, in as few bytes as they fit. The
// error is that of [Design.Check].
func (d *Design) AppendBinary(dst []byte) ([]byte, error) {
	if err := d.Check(); err != nil {
		return dst, err
	}
	return d.append(dst), nil
}

func (d *Design) append(dst []byte) []byte {
	dst = append(dst, magic...)
	dst = append(dst, byte(d.Objective), byte(d.Method))
	dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(d.Rate))
	dst = binary.AppendUvarint(dst, uint64(d.K))
	dst = binary.AppendUvarint(dst, uint64(d.Least))
	dst = binary.AppendUvarint(dst, uint64(len(d.Ends)))
	before := 0
	for _, m := range d.Ends {
		dst = binary.AppendUvarint(dst, uint64(m-before))
		before = m
	}
	dst = binary.AppendUvarint(dst, uint64(len(d.Runs)))
	for _, r := range d.Runs {
		dst = binary.AppendUvarint(dst, uint64(r.Positions))
		dst = binary.BigEndian.AppendUint64(dst, r.Odds)
	}
	dst = binary.AppendUvarint(dst, uint64(len(d.Weights)))
	for _, c := range d.Weights {
		dst = binary.AppendUvarint(dst, c)
	}
	return dst
}

// MarshalBinary is AppendBinary(nil).
func (d *Design) MarshalBinary() ([]byte, error) { return d.AppendBinary(nil) }

// UnmarshalBinary makes d the design that b, all of it, is the bytes of. It takes no
// other form of a design, and no more memory than ten times b. Otherwise the error wraps
// [umbel.ErrCorrupt], and d is as it was.
func (d *Design) UnmarshalBinary(b []byte) error {
	if len(b) > maxSize {
		return fmt.Errorf("adaptive: a design of %d bytes, want at most %d: %w", len(b), maxSize, umbel.ErrCorrupt)
	}
	r := reader{rest: b}
	if string(r.bytes(len(magic))) != magic {
		return fmt.Errorf("adaptive: %x at the beginning, want %x: not a design of version 1: %w", b[:min(len(b), len(magic))], magic, umbel.ErrCorrupt)
	}
	var x Design
	x.Objective, x.Method = Objective(r.uint(1)), Method(r.uint(1))
	x.Rate = math.Float64frombits(r.uint(8))
	x.K, x.Least = r.small(), r.small()
	if n := r.count(1); n > 0 {
		x.Ends = make([]int, n)
	}
	m := 0
	for i := range x.Ends {
		m = min(m+r.small(), MaxBits+1)
		x.Ends[i] = m
	}
	if n := r.count(9); n > 0 {
		x.Runs = make([]Run, n)
	}
	for i := range x.Runs {
		x.Runs[i] = Run{r.small(), r.uint(8)}
	}
	if n := r.count(1); n > 0 {
		x.Weights = make(Weights, n)
	}
	for i := range x.Weights {
		x.Weights[i] = r.uvarint()
	}
	if r.short {
		return fmt.Errorf("adaptive: a design in %d bytes that goes on behind them: %w", len(b), umbel.ErrCorrupt)
	}
	if len(r.rest) > 0 {
		return fmt.Errorf("adaptive: %d bytes behind a design of %d: %w", len(r.rest), len(b)-len(r.rest), umbel.ErrCorrupt)
	}
	if err := x.Check(); err != nil {
		return fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
	}
	if !bytes.Equal(x.append(make([]byte, 0, len(b))), b) {
		return fmt.Errorf("adaptive: a number in more bytes than it needs, want the fewest: %w", umbel.ErrCorrupt)
	}
	*d = x
	return nil
}

// ID returns 32 hexadecimal digits that no two designs share: the first half of the
// SHA-256 of the bytes. It is of no use if d.Check fails.
func (d *Design) ID() string {
	sum := sha256.Sum256(d.append(nil))
	return hex.EncodeToString(sum[:16])
}

// reader reads numbers from the front of bytes; past the end they are zero.
type reader struct {
	rest  []byte
	short bool // more was read than there is
}

func (r *reader) bytes(n int) []byte {
	if len(r.rest) < n {
		r.short, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// uint returns a number of n bytes.
func (r *reader) uint(n int) (x uint64) {
	for _, b := range r.bytes(n) {
		x = x<<8 | uint64(b)
	}
	return x
}

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.short, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return x
}

// small returns a number, or one that is too large for every field if it is.
func (r *reader) small() int { return int(min(r.uvarint(), MaxBits+1)) }

// count returns a number of things of which each takes at least so many bytes: 0 if
// those aren't there.
func (r *reader) count(each int) int {
	n := r.uvarint()
	if n > uint64(len(r.rest)/each) {
		r.short, r.rest = true, nil
		return 0
	}
	return int(n)
}
