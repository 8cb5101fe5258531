// Package kinds has what every kind needs around its arrays: the search for the number of cells m and of cells per
// key k that meet a goal, the description of a kind as umbel.Kind, and what the generated methods of filters have in
// common, containers, copies and descriptions. The methods themselves are written out for each kind by
// filter/internal/gen, so that go doc shows them.
package kinds

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// Core is what the generated methods of a filter need: the result of its method core.
type Core struct {
	Hasher  umbel.Hasher
	Planned *umbel.Planned
	Zero    bool // the filter is a zero value: it was not made by a function of its package
}

// NoCopy is the type of the first field of filters, which must not be copied. go vet reports copies. An encoder that
// was not given the address of a filter cannot call the filter's methods, and would encode its exported fields: it finds
// this field, and returns its error.
type NoCopy struct{ ByAddress byAddress }

// Lock makes the type one that go vet protects. It does nothing.
func (*NoCopy) Lock() {}

// Unlock is as Lock.
func (*NoCopy) Unlock() {}

type byAddress struct{}

// MarshalText returns an error that wraps errors.ErrUnsupported.
func (byAddress) MarshalText() ([]byte, error) {
	return nil, sentinel.Errorf(errors.ErrUnsupported, "a filter is encoded by its address: pass a pointer, or make the field one")
}

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

// SetPlanned sets what a filter was planned for. It panics unless p passes its Check.
func SetPlanned(c Core, p umbel.Planned) {
	if err := p.Check(); err != nil {
		panic(err.Error())
	}
	*c.Planned = p
}

// errZero returns the error for the container of a zero filter.
func errZero(kind string) error {
	return sentinel.Errorf(umbel.ErrGoal, "%s: a zero filter has no container: make the filter with New", kind)
}

// Marshal returns the container of s, the state of filter c.
func Marshal(s umbel.State, c Core) ([]byte, error) {
	if c.Zero {
		return nil, errZero(s.Kind)
	}
	return wire.Append(nil, s)
}

// WriteTo writes the container of s, the state of filter c, to w and returns the number of bytes written.
func WriteTo(w io.Writer, s umbel.State, c Core) (int64, error) {
	if c.Zero {
		return 0, errZero(s.Kind)
	}
	counting := countingWriter{w: w}
	err := wire.Write(&counting, s)
	return counting.n, err
}

// Text returns the container that container returns in base64, unless the seed of h is secret: texts are printed.
func Text(h umbel.Hasher, container func() ([]byte, error)) ([]byte, error) {
	if h.Secret() {
		return nil, sentinel.Errorf(errors.ErrUnsupported,
			"a filter with a secret seed has no text, JSON, YAML, XML or TOML, which would show the seed: use a field of type "+
				"[]byte with its container from MarshalBinary")
	}
	b, err := container()
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// FromText calls unmarshal with the container in text. The error wraps umbel.ErrCorrupt if text is not base64.
func FromText(text []byte, unmarshal func(b []byte) error) error {
	b, err := base64.StdEncoding.AppendDecode(nil, bytes.TrimSpace(text))
	if err != nil {
		return sentinel.Errorf(umbel.ErrCorrupt, "the text of a filter: %w", err)
	}
	return unmarshal(b)
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
		return sentinel.Errorf(umbel.ErrKind,
			"%s: the container has a filter of kind %.40q; open filters of any kind with wire.Read and the method Open of filter.All",
			z.State().Kind, s.Kind)
	}
	return err
}

// Move sets *f to *g, which is not used any more: a filter has one owner of its memory.
func Move[F any](f, g *F) { *f = *g }

// Clone returns the filter of a copy of s, the state of filter c. It panics if open refuses the state of a filter, which
// would be a bug of its kind.
func Clone[F any](s umbel.State, c Core, open func(umbel.State) (*F, error)) *F {
	return mustOpen(s.Clone(), c, open)
}

func mustOpen[F any](s umbel.State, c Core, open func(umbel.State) (*F, error)) *F {
	if c.Zero {
		return new(F)
	}
	f, err := open(s)
	if err != nil {
		panic(fmt.Sprintf("%s: the state of a filter does not open: %v", s.Kind, err))
	}
	return f
}

// CloneAtomic is Clone of a filter whose state has arrays and no parts, concurrently with AddAtomic.
func CloneAtomic[F any](s umbel.State, c Core, open func(umbel.State) (*F, error)) *F {
	s.Arrays = slices.Clone(s.Arrays)
	for i, a := range s.Arrays {
		s.Arrays[i] = a.CloneAtomic()
	}
	return mustOpen(s, c, open)
}

// LogValue describes a filter by its kind, the shape at the end of its description, and what it was planned for.
func LogValue(kind, description string, p umbel.Planned) slog.Value {
	_, shape, _ := strings.Cut(description, "{")
	attrs := []slog.Attr{slog.String("kind", kind), slog.String("shape", "{"+shape)}
	if p != (umbel.Planned{}) {
		attrs = append(attrs, slog.Group("planned", slog.Uint64("keys", p.Keys), slog.Float64("rate", p.FPRate)))
	}
	return slog.GroupValue(attrs...)
}

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
