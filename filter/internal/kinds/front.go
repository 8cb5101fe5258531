// Package kinds has what every kind needs around its arrays: the search for the number of cells m and of cells per
// key k that meet a goal, the description of a kind as umbel.Kind, and what the generated methods of filters have in
// common, containers, copies and descriptions. The methods themselves are written out for each kind by
// filter/internal/gen, so that go doc shows them.
package kinds

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// NoCopy is a field of types whose values must not be copied: go vet reports copies.
type NoCopy struct{}

// Lock makes the type one that go vet protects. It does nothing.
func (*NoCopy) Lock() {}

// Unlock is as Lock.
func (*NoCopy) Unlock() {}

// New returns the filter that kind k makes for a goal and parameters.
func New[F umbel.Filter](k umbel.Kind, g umbel.Goal, ps umbel.Params) (F, error) {
	var none F
	if err := g.Check(); err != nil {
		return none, err
	}
	f, err := k.New(g, ps)
	if err != nil {
		return none, err
	}
	return f.(F), nil
}

// MustBePlan panics unless p passes its Check.
func MustBePlan(p umbel.Planned) {
	if err := p.Check(); err != nil {
		panic(err.Error())
	}
}

// errZero returns the error for the container of a zero filter.
func errZero(kind string) error {
	return sentinel.Errorf(umbel.ErrGoal, "%s: a zero filter has no container: make the filter with New", kind)
}

// Append appends the container of s to dst, unless the filter is a zero filter. On error
// it returns dst unchanged.
func Append(dst []byte, s umbel.State, isZero bool) ([]byte, error) {
	if isZero {
		return dst, errZero(s.Kind)
	}
	return wire.Append(dst, s)
}

// WriteTo writes the container of s to w and returns the number of bytes written.
func WriteTo(w io.Writer, s umbel.State, isZero bool) (int64, error) {
	if isZero {
		return 0, errZero(s.Kind)
	}
	c := countingWriter{w: w}
	err := wire.Write(&c, s)
	return c.n, err
}

// Unmarshal sets *f to the filter in container b. On error *f is unchanged.
func Unmarshal[F any](f *F, b []byte, open func(umbel.State) (*F, error)) error {
	s, err := wire.Parse(b, wire.Limits{})
	if err != nil {
		return err
	}
	return set(f, s, open)
}

// ReadFrom reads r to its end, sets *f to the filter in the container that r holds, and
// returns the number of bytes read. On error *f is unchanged.
func ReadFrom[F any](f *F, r io.Reader, open func(umbel.State) (*F, error)) (int64, error) {
	c := countingReader{r: r}
	in := io.Reader(&c)
	if s, ok := r.(io.Seeker); ok {
		in = struct {
			io.Reader
			io.Seeker
		}{&c, s} // wire.Read determines the size by seeking
	}
	s, err := wire.Read(in, wire.Limits{})
	if err != nil {
		return c.n, err
	}
	return c.n, set(f, s, open)
}

func set[F any](f *F, s umbel.State, open func(umbel.State) (*F, error)) error {
	g, err := open(s)
	if err == nil {
		Move(f, g)
		return nil
	}
	if z, ok := any(new(F)).(umbel.Filter); ok && z.State().Kind != s.Kind {
		return sentinel.Errorf(umbel.ErrKind, "%s: the container has a filter of kind %.40q; open filters of any kind with wire.Read and the method Open of filter.All",
			z.State().Kind, s.Kind)
	}
	return err
}

// Move sets *f to *g, which is not used any more: a filter has one owner of its memory.
func Move[F any](f, g *F) { *f = *g }

// Clone returns the filter of a copy of s, and a zero filter if isZero is set. It panics
// if open refuses the state of a filter, which would be a bug of its kind.
func Clone[F any](s umbel.State, isZero bool, open func(umbel.State) (*F, error)) *F {
	return mustOpen(s.Clone(), isZero, open)
}

func mustOpen[F any](s umbel.State, isZero bool, open func(umbel.State) (*F, error)) *F {
	if isZero {
		return new(F)
	}
	f, err := open(s)
	if err != nil {
		panic(fmt.Sprintf("%s: the state of a filter does not open: %v", s.Kind, err))
	}
	return f
}

// CloneAtomic is Clone of a filter whose state has arrays and no parts, concurrently with AddAtomic.
func CloneAtomic[F any](s umbel.State, isZero bool, open func(umbel.State) (*F, error)) *F {
	s.Arrays = slices.Clone(s.Arrays)
	for i, a := range s.Arrays {
		s.Arrays[i] = a.CloneAtomic()
	}
	return mustOpen(s, isZero, open)
}

// ErrJSON returns the error of a filter of a type as JSON. Without it encoding/json would write {}, because a
// filter has no exported fields, and all keys would be lost. A container in JSON would contain a secret seed,
// which programs that log values as JSON would print.
func ErrJSON(name string) error {
	return sentinel.Errorf(errors.ErrUnsupported, "%s has no JSON: use a field of type []byte with the container from MarshalBinary, or String in a log", name)
}

// ErrYAML is ErrJSON for YAML.
func ErrYAML(name string) error {
	return sentinel.Errorf(errors.ErrUnsupported, "%s has no YAML: use a field of type []byte with the container from MarshalBinary, or String in a log", name)
}

// String describes a filter by its type and shape. The shape contains the hasher, which
// prints without its seed.
func String(name string, shape any) string { return fmt.Sprintf("%s%+v", name, shape) }

// Format writes the description of a filter, for every verb: the fields of a filter,
// among them a seed, are not printed.
func Format(s fmt.State, description string) { io.WriteString(s, description) }

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}
