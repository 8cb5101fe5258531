package format

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// The first bytes of short containers and deltas; the last byte is the version. The third byte of all others is a
// letter.
const (
	ShortMagic      = shortKind + "\x03"
	ShortDeltaMagic = shortDeltaKind + "\x02"

	shortKind      = "\x89u"
	shortDeltaKind = "\x89d"
)

// ShortVersion is the version of short containers.
const ShortVersion = 3

// IsShort reports whether b begins with a short magic, of any version.
func IsShort(b []byte, magic string) bool {
	const last = len(ShortMagic) - 1
	return len(b) > last && string(b[:last]) == magic[:last] && b[last] < ' '
}

// A short state has numbers of variable length, and only what differs from the row of its kind:
//
//	number of the row, plus hasFlags 1 | flags 1 | kind | hasher | params | arrays | parts
//
// The flags state what follows. Without them the state has the hasher of the state that it is a part of, or the zero
// hasher if it is none, the parameters and widths of its row, and no parts.
const hasFlags = 1 << 7

const (
	flagHasher  = 1 << iota // alg 1 | length 1 | seed without the zeros at its end
	flagParams              // further parameters: number 1 | name, type 1, value ...
	flagWidths              // number of arrays 1, and the width of each, 1, before its number of cells
	flagParts               // number | short states
	flagPlanned             // keys | rate, after the state, which is no part
	flagTick                // nanoseconds, likewise
	flagsEnd
)

// A short float v has, if v = n/10^e, the number 32n + e, and otherwise the number rawFloat and 8 bytes.
const (
	floatExponents = 32
	maxExponent    = 22 // the largest power of ten that is a float
	maxDigits      = 1 << 53
	rawFloat       = floatExponents - 1
)

// ShortContainer writes the short container of s.
func (w *Writer) ShortContainer(s umbel.State) {
	w.Short = true
	w.Buf = append(w.Buf, ShortMagic...)
	notes := noteFlags(s.Notes)
	w.shortState(s, umbel.Hasher{}, notes)
	w.shortNotes(notes, s.Notes)
	w.Sum()
}

// ShortBytes returns the number of bytes of the short container of s without the blocks of its arrays.
func ShortBytes(s umbel.State) uint64 {
	var room [128]byte
	w := NewAppender(room[:0], func(*Writer, cells.Array) {})
	w.ShortContainer(s)
	return w.Written()
}

// noteFlags returns the flags of notes.
func noteFlags(n umbel.Notes) (flags byte) {
	if n.Planned != (umbel.Planned{}) {
		flags |= flagPlanned
	}
	if n.Tick != 0 {
		flags |= flagTick
	}
	return flags
}

func (w *Writer) shortNotes(flags byte, n umbel.Notes) {
	if flags&flagPlanned != 0 {
		w.Uvarint(n.Planned.Keys)
		w.shortFloat(n.Planned.FPRate)
	}
	if flags&flagTick != 0 {
		w.Uvarint(n.Tick)
	}
}

// shortState writes a state, which is a part of one with the hasher outer, with additional flags.
func (w *Writer) shortState(s umbel.State, outer umbel.Hasher, flags byte) {
	number, row := rowOf(s)
	if s.Hasher != outer {
		flags |= flagHasher
	}
	further := s.Params[len(row.params):]
	if len(further) > 0 {
		flags |= flagParams
	}
	if !row.fits(s.Arrays) {
		flags |= flagWidths
	}
	if len(s.Parts) > 0 {
		flags |= flagParts
	}
	if flags == 0 {
		w.Buf = append(w.Buf, number)
	} else {
		w.Buf = append(w.Buf, number|hasFlags, flags)
	}
	if number == 0 {
		w.Name(s.Kind)
	}
	if flags&flagHasher != 0 {
		w.shortHasher(s.Hasher)
	}
	for i := range row.params {
		w.Value(s.Params[i].Value)
	}
	if flags&flagParams != 0 {
		w.Params(further)
	}
	if flags&flagWidths != 0 {
		w.Buf = append(w.Buf, byte(len(s.Arrays)))
	}
	for _, a := range s.Arrays {
		if flags&flagWidths != 0 {
			w.Buf = append(w.Buf, byte(a.Width))
		}
		w.cells(a)
	}
	if flags&flagParts != 0 {
		w.Uvarint(uint64(len(s.Parts)))
		for _, p := range s.Parts {
			w.shortState(p, s.Hasher, 0)
		}
	}
}

func (w *Writer) shortHasher(h umbel.Hasher) {
	seed := h.Seed.Bytes()
	n := len(seed)
	for n > 0 && seed[n-1] == 0 {
		n--
	}
	w.Buf = append(w.Buf, byte(h.Alg), byte(n))
	w.Buf = append(w.Buf, seed[:n]...)
}

func (w *Writer) shortFloat(v float64) {
	if n, e, ok := decimal(v); ok {
		w.Uvarint(n*floatExponents + e)
		return
	}
	w.Buf = append(w.Buf, rawFloat)
	w.Buf = binary.LittleEndian.AppendUint64(w.Buf, math.Float64bits(v))
}

// decimal returns n and e with the fewest digits such that v is the float nearest to n/10^e, and false if they are out
// of range.
func decimal(v float64) (n, e uint64, ok bool) {
	if v < 0 || math.Signbit(v) {
		return 0, 0, false
	}
	var room [64]byte
	point := false
	for _, c := range strconv.AppendFloat(room[:0], v, 'f', -1, 64) {
		if c == '.' {
			point = true
			continue
		}
		if n = n*10 + uint64(c-'0'); n >= maxDigits {
			return 0, 0, false
		}
		if point {
			e++
		}
	}
	return n, e, e <= maxExponent
}
