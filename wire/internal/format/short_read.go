package format

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// shortContainer reads a short container between its magic and its checksum.
func (r *Reader) shortContainer(s *umbel.State) error {
	flags, err := r.shortState(s, 1, umbel.Hasher{}, flagsEnd-1)
	if err != nil {
		return err
	}
	return r.shortNotes(flags, &s.Notes)
}

// flaggedNotes reads notes after their flags.
func (r *Reader) flaggedNotes(flags byte, n *umbel.Notes) error {
	if flags == 0 || flags&^(flagPlanned|flagTick) != 0 {
		return errFlags(flags)
	}
	return r.shortNotes(flags, n)
}

func errFlags(flags byte) error {
	return sentinel.Errorf(umbel.ErrCorrupt, "flags %#02x, which this program cannot read here: %w", flags, errors.ErrUnsupported)
}

func (r *Reader) shortNotes(flags byte, n *umbel.Notes) (err error) {
	if flags&flagPlanned != 0 {
		if n.Planned.Keys, err = r.Uvarint(); err != nil {
			return err
		}
		if n.Planned.FPRate, err = r.shortFloat(); err != nil {
			return err
		}
		if err := checkPlanned(n.Planned); err != nil {
			return err
		}
	}
	if flags&flagTick != 0 {
		if n.Tick, err = r.Uvarint(); err != nil {
			return err
		}
		return checkTick(n.Tick)
	}
	return nil
}

// shortState reads a state at nesting level depth, which is a part of one with the hasher outer. It returns its flags,
// of which only some are accepted.
func (r *Reader) shortState(s *umbel.State, depth int, outer umbel.Hasher, accepted byte) (flags byte, err error) {
	if err := r.claimState(depth); err != nil {
		return 0, err
	}
	number, flags, err := r.shortForm()
	if err == nil && flags&^accepted != 0 {
		err = errFlags(flags)
	}
	if err != nil {
		return flags, err
	}
	row, err := r.kindOf(s, number)
	if err != nil {
		return flags, err
	}
	s.Hasher = outer
	if flags&flagHasher != 0 {
		if err := r.shortHasher(&s.Hasher); err != nil {
			return flags, err
		}
	}
	room := new(smallState)
	if err := r.shortParams(s, row, room.params[:0], flags); err != nil {
		return flags, err
	}
	if err := s.Check(); err != nil {
		return flags, err
	}
	if err := r.shortArrays(s, row, room.arrays[:0], flags); err != nil || flags&flagParts == 0 {
		return flags, err
	}
	n, err := r.Uvarint()
	if err != nil {
		return flags, err
	}
	return flags, r.parts(s, depth, n)
}

// shortForm reads the number of a kind and the flags of a state.
func (r *Reader) shortForm() (number, flags byte, err error) {
	if number, err = r.Byte(); err == nil && number&hasFlags != 0 {
		number &^= hasFlags
		flags, err = r.Byte()
	}
	return number, flags, err
}

// kindOf returns the row of a number, and sets the kind, which follows if the number is 0.
func (r *Reader) kindOf(s *umbel.State, number byte) (row *kindRow, err error) {
	if int(number) >= len(kindRows) {
		return nil, sentinel.Errorf(umbel.ErrCorrupt, "kind %d, this program reads 0 to %d: %w", number, len(kindRows)-1, errors.ErrUnsupported)
	}
	row = &kindRows[number]
	s.Kind = row.kind
	if number == 0 {
		s.Kind, err = r.Name()
	}
	return row, err
}

func (r *Reader) shortHasher(h *umbel.Hasher) error {
	b, err := r.Next(2)
	if err != nil {
		return err
	}
	alg, n := b[0], int(b[1])
	var seed [16]byte
	if n > len(seed) {
		return sentinel.Errorf(umbel.ErrCorrupt, "a seed of %d bytes, want at most %d", n, len(seed))
	}
	if b, err = r.Next(n); err != nil {
		return err
	}
	if copy(seed[:], b); n > 0 && seed[n-1] == 0 {
		return sentinel.Errorf(umbel.ErrCorrupt, "a seed of %d bytes that ends with a zero", n)
	}
	*h = umbel.Hasher{Alg: umbel.Alg(alg), Seed: umbel.SeedFrom(seed)}
	return nil
}

func (r *Reader) shortParams(s *umbel.State, row *kindRow, room umbel.Params, flags byte) (err error) {
	s.Params = withRoom(room, byte(len(row.params)))
	for i, name := range row.params {
		v, err := r.Value(i >= row.whole)
		if err != nil {
			return err
		}
		s.Params = append(s.Params, umbel.Param{Name: name, Value: v})
	}
	if flags&flagParams != 0 {
		s.Params, err = r.Params(s.Params)
	}
	return err
}

func (r *Reader) shortArrays(s *umbel.State, row *kindRow, room []cells.Array, flags byte) error {
	if flags&flagWidths == 0 {
		return r.stateArrays(s, room, byte(len(row.widths)), row.widths)
	}
	n, err := r.Byte()
	if err != nil {
		return err
	}
	return r.stateArrays(s, room, n, nil)
}

// shortFloat reads a float.
func (r *Reader) shortFloat() (float64, error) {
	v, err := r.Uvarint()
	if err != nil {
		return 0, err
	}
	if v == rawFloat {
		b, err := r.Next(8)
		if err != nil {
			return 0, err
		}
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), nil
	}
	n, e := v/floatExponents, v%floatExponents
	if n >= maxDigits || e > maxExponent {
		return 0, sentinel.Errorf(umbel.ErrCorrupt, "a float of %d/10^%d, want less than 2^53, and at most 10^%d", n, e, maxExponent)
	}
	return float(n, e), nil
}

// float returns the float that is nearest to n/10^e. Both are exact floats, so that every machine that conforms to IEEE 754
// divides them with the same result.
func float(n, e uint64) float64 {
	d := 1.0
	for range e {
		d *= 10
	}
	return float64(n) / d
}
