package adaptive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// magic is the prefix of an encoded design; the last byte is the version.
const magic = "uad\x01"

// maxSize bounds the size of a design in bytes: 65535 runs of 11 bytes, 4096 lengths of 3
// and weights of 8, and less than 64 for the rest.
const maxSize = MaxBits*11 + MaxLinks*(3+8) + 64

// AppendBinary appends the encoding of d to dst. A design has exactly one encoding, so
// designs are equal if and only if their encodings are:
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
// A uvarint has seven bits per byte, low bits first, in the fewest bytes. AppendBinary
// returns dst unchanged and the error of [Design.Check] if d is not valid.
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

// UnmarshalBinary sets d to the design that b encodes. It accepts only the encoding that
// AppendBinary writes, and allocates at most ten times len(b). It returns an error
// wrapping [umbel.ErrCorrupt] if b is anything else; on error d is unchanged.
func (d *Design) UnmarshalBinary(b []byte) error {
	if len(b) > maxSize {
		return sentinel.Errorf(umbel.ErrCorrupt, "a design of %d bytes, want at most %d", len(b), maxSize)
	}
	r := reader{rest: b}
	if string(r.bytes(len(magic))) != magic {
		return sentinel.Errorf(umbel.ErrCorrupt, "the first bytes are %x, want %x, a design of version 1", b[:min(len(b), len(magic))], magic)
	}
	var x Design
	x.Objective, x.Method = Objective(r.uintN(1)), Method(r.uintN(1))
	x.Rate = math.Float64frombits(r.uintN(8))
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
		x.Runs[i] = Run{r.small(), r.uintN(8)}
	}
	if n := r.count(1); n > 0 {
		x.Weights = make(Weights, n)
	}
	for i := range x.Weights {
		x.Weights[i] = r.uvarint()
	}
	if r.short {
		return sentinel.Errorf(umbel.ErrCorrupt, "a design of %d bytes that is cut off", len(b))
	}
	if len(r.rest) > 0 {
		return sentinel.Errorf(umbel.ErrCorrupt, "%d bytes after a design of %d", len(r.rest), len(b)-len(r.rest))
	}
	if err := x.Check(); err != nil {
		return sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	if !bytes.Equal(x.append(make([]byte, 0, len(b))), b) {
		return sentinel.Errorf(umbel.ErrCorrupt, "a number is encoded in more bytes than necessary")
	}
	*d = x
	return nil
}

// ID returns 32 hexadecimal digits that identify the design: the first half of the
// SHA-256 of its encoding. It is meaningless if d.Check fails.
func (d *Design) ID() string {
	sum := sha256.Sum256(d.append(nil))
	return hex.EncodeToString(sum[:16])
}

// reader reads numbers from the front of a slice. After its end it returns zeros.
type reader struct {
	rest  []byte
	short bool // whether a read passed the end
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

// uintN returns a number of n bytes, high byte first.
func (r *reader) uintN(n int) (x uint64) {
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

// small returns a number, or MaxBits+1, which every field refuses, if that is less.
func (r *reader) small() int { return int(min(r.uvarint(), MaxBits+1)) }

// count returns a number of elements of at least each bytes, or 0 if fewer bytes are
// left than they need.
func (r *reader) count(each int) int {
	n := r.uvarint()
	if n > uint64(len(r.rest)/each) {
		r.short, r.rest = true, nil
		return 0
	}
	return int(n)
}

// text is the JSON form of a design. Odds are 16 hexadecimal digits, in units of 2^-64,
// because many JSON parsers have no 64-bit integers.
type text struct {
	Version   int       `json:"version"`
	Objective string    `json:"objective"`
	Method    string    `json:"method"`
	Rate      float64   `json:"rate"`
	K         int       `json:"k,omitempty"`
	Least     int       `json:"least"`
	Ends      []int     `json:"ends"`
	Runs      []textRun `json:"runs"`
	Weights   Weights   `json:"weights,omitempty"`
}

type textRun struct {
	Positions int    `json:"positions"`
	Odds      string `json:"odds"`
}

// MarshalJSON returns the design as JSON: the fields of [Design] and the version, 1. It
// returns the error of [Design.Check] if d is not valid.
func (d *Design) MarshalJSON() ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	t := text{1, d.Objective.String(), d.Method.String(), d.Rate, d.K, d.Least, d.Ends, nil, d.Weights}
	for _, r := range d.Runs {
		t.Runs = append(t.Runs, textRun{r.Positions, fmt.Sprintf("%016x", r.Odds)})
	}
	return json.Marshal(t)
}

// UnmarshalJSON sets d to the design that b describes. It returns an error wrapping
// [umbel.ErrCorrupt] if b has unknown fields or is not a valid design; on error d is
// unchanged.
func (d *Design) UnmarshalJSON(b []byte) error {
	var t text
	in := json.NewDecoder(bytes.NewReader(b))
	in.DisallowUnknownFields()
	if err := in.Decode(&t); err != nil {
		return sentinel.Errorf(umbel.ErrCorrupt, "design: %w", err)
	}
	if _, err := in.Token(); err != io.EOF {
		return sentinel.Errorf(umbel.ErrCorrupt, "data after a design")
	}
	if t.Version != 1 {
		return sentinel.Errorf(umbel.ErrCorrupt, "a design of version %d, want 1", t.Version)
	}
	x := Design{K: t.K, Least: t.Least, Ends: t.Ends, Rate: t.Rate, Weights: t.Weights}
	objective, method := slices.Index(objectives[:], t.Objective), slices.Index(methods[:], t.Method)
	if objective < 0 || method < 0 {
		return sentinel.Errorf(umbel.ErrCorrupt,
			"objective %q and method %q, want one of %q and one of %q", clip(t.Objective), clip(t.Method), objectives, methods)
	}
	x.Objective, x.Method = Objective(objective), Method(method)
	if len(x.Weights) == 0 {
		x.Weights = nil
	}
	for i, r := range t.Runs {
		odds, err := strconv.ParseUint(r.Odds, 16, 64)
		if err != nil || len(r.Odds) != 16 {
			return sentinel.Errorf(umbel.ErrCorrupt, "run %d has odds of %q, want 16 hexadecimal digits", i, clip(r.Odds))
		}
		x.Runs = append(x.Runs, Run{r.Positions, odds})
	}
	if err := x.Check(); err != nil {
		return sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	*d = x
	return nil
}
