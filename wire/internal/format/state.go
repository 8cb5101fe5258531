package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Container reads a container to the end of the source into s, which has what was read so far when Visit is called.
func (r *Reader) Container(s *umbel.State) error {
	version, err := r.magic()
	if err != nil {
		return err
	}
	if r.Short {
		err = r.shortContainer(s)
	} else {
		err = r.State(s, 1, umbel.Hasher{})
	}
	if err != nil {
		return err
	}
	if version == VersionWithNotes {
		if err := r.Notes(&s.Notes); err != nil {
			return err
		}
	}
	return r.end()
}

// magic reads the first bytes of a container and returns its version. It sets Short.
func (r *Reader) magic() (version byte, err error) {
	var head [len(Magic)]byte
	start := r.Off
	b, err := r.Next(len(ShortMagic))
	n := copy(head[:], b[:r.Off-start])
	if err == nil && !IsShort(head[:n], ShortMagic) && !IsShort(head[:n], ShortDeltaMagic) {
		b, err = r.Next(len(head) - n)
		n += copy(head[n:], b[:r.Off-start-uint64(n)])
	}
	if err != nil && n > 0 && !begins(string(head[:n]), Magic, DeltaMagic, ShortMagic, ShortDeltaMagic) {
		err = errNoContainer(string(head[:n]))
	}
	if err != nil {
		return 0, err
	}
	version, kind := head[n-1], string(head[:n-1])
	r.Short = kind == shortKind
	switch kind {
	case DeltaMagic[:len(DeltaMagic)-1], shortDeltaKind:
		return 0, sentinel.Errorf(umbel.ErrCorrupt, "want a container, this is a delta: apply it to its base")
	case Magic[:len(Magic)-1], shortKind:
		if r.Short == (version == ShortVersion) && version > 0 && version <= ShortVersion {
			return version, nil
		}
		return 0, sentinel.Errorf(umbel.ErrCorrupt,
			"container of version %d, written by a later version of umbel; this program reads versions %d to %d: %w",
			version, Magic[len(Magic)-1], ShortVersion, errors.ErrUnsupported)
	}
	return 0, errNoContainer(string(head[:n]))
}

// begins reports whether one of the magics begins with b.
func begins(b string, magics ...string) bool {
	return slices.ContainsFunc(magics, func(m string) bool { return strings.HasPrefix(m, b) })
}

// errNoContainer returns the error for an input that begins otherwise.
func errNoContainer(b string) error {
	return sentinel.Errorf(umbel.ErrCorrupt, "want a container, which begins with %q or %q and its version, this begins with %q",
		Magic[:len(Magic)-1], shortKind, b)
}

// State reads a state at nesting level depth, where the container's own is 1. It is a part of one with the hasher outer.
func (r *Reader) State(s *umbel.State, depth int, outer umbel.Hasher) (err error) {
	if r.Short {
		_, err = r.shortState(s, depth, outer, flagParts<<1-1)
		return err
	}
	if err := r.claimState(depth); err != nil {
		return err
	}
	if s.Kind, err = r.Name(); err != nil {
		return err
	}
	b, err := r.Next(1 + 16)
	if err != nil {
		return err
	}
	s.Hasher.Alg, s.Hasher.Seed = umbel.Alg(b[0]), umbel.SeedFrom([16]byte(b[1:]))
	room := new(smallState)
	if s.Params, err = r.Params(room.params[:0]); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	n, err := r.Byte()
	if err != nil {
		return err
	}
	if err := r.stateArrays(s, room.arrays[:0], n, nil); err != nil {
		return err
	}
	if b, err = r.Next(2); err != nil {
		return err
	}
	return r.parts(s, depth, uint64(binary.LittleEndian.Uint16(b)))
}

// Kind returns the kind of the container that begins with b. It needs no bytes after the kind.
func Kind(b []byte) (string, error) {
	r := NewReader(b, 0, Budget{})
	if _, err := r.magic(); err != nil {
		return "", err
	}
	if !r.Short {
		return r.Name()
	}
	number, _, err := r.shortForm()
	if err != nil {
		return "", err
	}
	var s umbel.State
	_, err = r.kindOf(&s, number)
	return s.Kind, err
}

// claimState counts a state at a nesting level.
func (r *Reader) claimState(depth int) error {
	if depth > umbel.MaxDepth {
		return sentinel.Errorf(umbel.ErrCorrupt, "parts are nested more than %d deep", umbel.MaxDepth)
	}
	return r.ClaimState()
}

// Name reads the name of a kind or a parameter.
func (r *Reader) Name() (string, error) {
	n, err := r.Byte()
	if err != nil {
		return "", err
	}
	b, err := r.Next(int(n))
	if err != nil {
		return "", err
	}
	name := r.names.of(b)
	return name, umbel.CheckName(name)
}

// smallState is the memory of the lists of a state, in one piece. Most states need no more.
type smallState struct {
	params [4]umbel.Param
	arrays [1]cells.Array
}

// withRoom returns list with room for n more elements.
func withRoom[S ~[]E, E any](list S, n byte) S {
	if len(list)+int(n) <= cap(list) {
		return list
	}
	return append(make(S, 0, len(list)+int(n)), list...)
}

// Params appends a list of parameters to room, which may have some.
func (r *Reader) Params(room umbel.Params) (umbel.Params, error) {
	n, err := r.Byte()
	if err != nil {
		return nil, err
	}
	params := withRoom(room, n)
	for range n {
		p, err := r.param()
		if err != nil {
			return params, err
		}
		params = append(params, p)
	}
	return params, nil
}

func (r *Reader) param() (umbel.Param, error) {
	name, err := r.Name()
	if err != nil {
		return umbel.Param{}, err
	}
	kind, err := r.Byte()
	if err == nil && kind != typeWhole && kind != typeFloat {
		err = sentinel.Errorf(umbel.ErrCorrupt, "parameter %q has type %d, want 0 or 1", name, kind)
	}
	if err != nil {
		return umbel.Param{}, err
	}
	value, err := r.Value(kind == typeFloat)
	return umbel.Param{Name: name, Value: value}, err
}

// Value reads the value of a parameter.
func (r *Reader) Value(float bool) (umbel.Number, error) {
	if float && r.Short {
		f, err := r.shortFloat()
		return umbel.Float(f), err
	}
	n, err := r.Number()
	if float {
		return umbel.Float(math.Float64frombits(n)), err
	}
	return umbel.Uint(n), err
}

// stateArrays reads n arrays, of the given widths or, if there are none, each after its width.
func (r *Reader) stateArrays(s *umbel.State, room []cells.Array, n byte, widths []uint) (err error) {
	if r.Index != nil && r.states == 1 && (n == 0 || !r.Index.Wanted(s.Kind)) {
		return ErrUnindexed
	}
	s.Arrays = withRoom(room, n)
	for i := range n {
		s.Arrays = append(s.Arrays, cells.Array{})
		if widths == nil {
			err = r.Array(&s.Arrays[i])
		} else {
			err = r.arrayOf(&s.Arrays[i], widths[i])
		}
		if err != nil {
			return fmt.Errorf("array %d: %w", i, err)
		}
	}
	return nil
}

// parts reads n parts.
func (r *Reader) parts(s *umbel.State, depth int, n uint64) error {
	for i := range n {
		s.Parts = append(s.Parts, umbel.State{})
		if err := r.State(&s.Parts[i], depth+1, s.Hasher); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}
