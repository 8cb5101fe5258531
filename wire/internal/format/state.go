package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
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
	if err := r.State(s, 1); err != nil {
		return err
	}
	if version == VersionWithNotes {
		if err := r.Notes(&s.Notes); err != nil {
			return err
		}
	}
	return r.end()
}

// magic reads the first bytes of a container and returns its version.
func (r *Reader) magic() (version byte, err error) {
	start := r.Off
	b, err := r.Next(len(Magic))
	if read := b[:r.Off-start]; err != nil && len(read) > 0 && !strings.HasPrefix(Magic, string(read)) && !strings.HasPrefix(DeltaMagic, string(read)) {
		err = errNoContainer(read)
	}
	if err != nil {
		return 0, err
	}
	const last = len(Magic) - 1
	switch {
	case string(b[:last]) == DeltaMagic[:last]:
		return 0, sentinel.Errorf(umbel.ErrCorrupt, "want a container, this is a delta: apply it to its base")
	case string(b[:last]) != Magic[:last]:
		return 0, errNoContainer(b)
	case b[last] != Magic[last] && b[last] != VersionWithNotes:
		return 0, sentinel.Errorf(umbel.ErrCorrupt,
			"container of version %d, written by a later version of umbel; this program reads versions %d and %d: %w",
			b[last], Magic[last], VersionWithNotes, errors.ErrUnsupported)
	}
	return b[last], nil
}

// errNoContainer returns the error for an input that begins otherwise.
func errNoContainer(b []byte) error {
	return sentinel.Errorf(umbel.ErrCorrupt, "want a container, which begins with %q and its version, this begins with %q", Magic[:len(Magic)-1], b)
}

// State reads a state at nesting level depth, where the container's own is 1.
func (r *Reader) State(s *umbel.State, depth int) (err error) {
	if depth > umbel.MaxDepth {
		return sentinel.Errorf(umbel.ErrCorrupt, "parts are nested more than %d deep", umbel.MaxDepth)
	}
	if err := r.ClaimState(); err != nil {
		return err
	}
	if s.Kind, err = r.name(); err != nil {
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
	if err := r.stateArrays(s, room.arrays[:0]); err != nil {
		return err
	}
	return r.parts(s, depth)
}

// name reads the name of a kind or a parameter.
func (r *Reader) name() (string, error) {
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

// withRoom returns list if it has room for n elements, otherwise another empty list that has.
func withRoom[S ~[]E, E any](list S, n byte) S {
	if int(n) <= cap(list) {
		return list
	}
	return make(S, 0, n)
}

// Params appends a list of parameters to room, which is empty.
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
	name, err := r.name()
	if err != nil {
		return umbel.Param{}, err
	}
	b, err := r.Next(9)
	if err != nil {
		return umbel.Param{}, err
	}
	value := umbel.Uint(binary.LittleEndian.Uint64(b[1:]))
	switch b[0] {
	case typeWhole:
	case typeFloat:
		value = umbel.Float(math.Float64frombits(value.Bits()))
	default:
		return umbel.Param{}, sentinel.Errorf(umbel.ErrCorrupt, "parameter %q has type %d, want 0 or 1", name, b[0])
	}
	return umbel.Param{Name: name, Value: value}, nil
}

func (r *Reader) stateArrays(s *umbel.State, room []cells.Array) error {
	n, err := r.Byte()
	if err != nil {
		return err
	}
	if r.Index != nil && r.states == 1 && (n == 0 || !r.Index.Wanted(s.Kind)) {
		return ErrUnindexed
	}
	s.Arrays = withRoom(room, n)
	for i := range n {
		s.Arrays = append(s.Arrays, cells.Array{})
		if err := r.Array(&s.Arrays[i]); err != nil {
			return fmt.Errorf("array %d: %w", i, err)
		}
	}
	return nil
}

func (r *Reader) parts(s *umbel.State, depth int) error {
	b, err := r.Next(2)
	if err != nil {
		return err
	}
	for i := range int(binary.LittleEndian.Uint16(b)) {
		s.Parts = append(s.Parts, umbel.State{})
		if err := r.State(&s.Parts[i], depth+1); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}
