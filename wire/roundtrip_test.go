package wire_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
	"pgregory.net/rapid"
)

func mustAppend(t testing.TB, s umbel.State) []byte {
	t.Helper()
	b, err := wire.Append(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Decoding an encoding is the identity, by all four ways through the package.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := wiretest.DrawState(t, umbel.MaxDepth)
		b, err := wire.Append(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		if n := wire.Size(s); uint64(len(b)) > n {
			t.Fatalf("%d bytes, Size said %d at most", len(b), n)
		}
		fitsExactly(t, s, b)
		var w bytes.Buffer
		if err := wire.Write(&w, s); err != nil || !bytes.Equal(w.Bytes(), b) {
			t.Fatalf("Write differs from Append: %v", err)
		}
		parsed, err := wire.Parse(b, wire.Limits{})
		if err != nil || !wiretest.Equal(parsed, s) {
			t.Fatalf("Parse: %v", err)
		}
		read, err := wire.Read(&w, wire.Limits{})
		if err != nil || !wiretest.Equal(read, s) {
			t.Fatalf("Read: %v", err)
		}
		if hashtree.Identify(parsed) != hashtree.Identify(s) {
			t.Fatal("the ID changed on the way")
		}
		if _, err := wire.Parse(b, wire.Limits{Bytes: s.Bytes()}); err != nil {
			t.Fatalf("within its limits: %v", err)
		}
	})
}

// TestReadPieces: an array that grows in several steps is read correctly from pieces of any
// size.
func TestReadPieces(t *testing.T) {
	s := umbel.State{Kind: "x", Arrays: []cells.Array{wiretest.Array(t, 5<<23+1000, 1, wiretest.Noise)}}
	b := mustAppend(t, s)
	for name, r := range map[string]io.Reader{
		"seeker":         bytes.NewReader(b),
		"seeker, behind": behind(t, b),
		"can't seek":     noSeeker{bytes.NewReader(b)},
		"stream":         bytes.NewBuffer(b),
		"half":           iotest.HalfReader(bytes.NewReader(b)),
		"data with EOF":  iotest.DataErrReader(bytes.NewReader(b)),
		"byte by byte":   iotest.OneByteReader(bytes.NewReader(b)),
		"through a pipe": pipe(b),
	} {
		got, err := wire.Read(r, wire.Limits{})
		if err != nil || !wiretest.Equal(got, s) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// behind returns a reader of b that follows other bytes.
func behind(t *testing.T, b []byte) io.Reader {
	r := bytes.NewReader(append([]byte("else"), b...))
	if _, err := r.Seek(4, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	return r
}

// noSeeker is like an *os.File that is a pipe: it has Seek, which fails.
type noSeeker struct{ io.Reader }

func (noSeeker) Seek(int64, int) (int64, error) { return 0, errors.ErrUnsupported }

func pipe(b []byte) io.Reader {
	r, w := io.Pipe()
	go func() { w.CloseWithError(func() error { _, err := w.Write(b); return err }()) }()
	return r
}

// TestCanonicalReads: the canonical container can be read, like the one that Append writes.
func TestCanonicalReads(t *testing.T) {
	s := wiretest.Sample(t)
	b := fixture.Must(wire.Packer{Raw: true}.Append(nil, s))
	if uint64(len(b)) != wire.Size(s) {
		t.Errorf("canonical container of %d bytes, Size said %d", len(b), wire.Size(s))
	}
	got, err := wire.Parse(b, wire.Limits{})
	if err != nil || !wiretest.Equal(got, s) {
		t.Errorf("Parse: %v", err)
	}
}

// TestSmallCodings: an empty or full block of 64 KiB takes one byte.
func TestSmallCodings(t *testing.T) {
	for _, c := range []struct {
		name string
		a    cells.Array
		want int // bytes of blocks
	}{
		{"no cells", cells.Array{Width: 1}, 0},
		{"empty", wiretest.Array(t, 8<<19+1, 1, wiretest.Zeros), 9},
		{"full", wiretest.Array(t, 8<<19+1, 1, wiretest.Ones), 9},
		{"one full cell", wiretest.Array(t, 1, 1, wiretest.Ones), 1},
		{"full, narrow end", wiretest.Array(t, 21, 2, wiretest.Ones), 1},
		{"raw", wiretest.Array(t, 64, 1, wiretest.Noise), 9},
		{"first word only", wiretest.Array(t, 1<<19, 1, allBut(0)), 1 + 1<<16},
		{"all but the last word", wiretest.Array(t, 1<<19, 1, allBut(8191)), 1 + 1<<16},
	} {
		const around = 8 + 1 + 1 + 17 + 1 + 1 + 9 + 2 + 4
		s := umbel.State{Kind: "x", Arrays: []cells.Array{c.a}}
		if got := len(mustAppend(t, s)) - around; got != c.want {
			t.Errorf("%s: blocks take %d bytes, want %d", c.name, got, c.want)
		}
	}
}

// allBut returns a word function of ones, except that word i is zero.
func allBut(i int) func(int) uint64 {
	return func(j int) uint64 {
		if i == j {
			return 0
		}
		return ^uint64(0)
	}
}

func TestAppendKeepsDst(t *testing.T) {
	dst := []byte("before")
	got, err := wire.Append(dst, wiretest.Sample(t))
	if err != nil || !bytes.HasPrefix(got, dst) {
		t.Fatalf("Append: %v", err)
	}
	if _, err := wire.Parse(got[len(dst):], wire.Limits{}); err != nil {
		t.Error(err)
	}
	many := make([]umbel.Param, 256)
	for i := range many {
		many[i].Name = "p" + string([]byte{'a' + byte(i/16), 'a' + byte(i%16)})
	}
	for name, s := range map[string]umbel.State{
		"no kind":     {},
		"params":      {Kind: "x", Params: many},
		"planes":      {Kind: "x", Arrays: make([]cells.Array, 256)},
		"parts":       {Kind: "x", Parts: slices.Repeat([]umbel.State{{Kind: "y"}}, umbel.MaxStates)},
		"part params": {Kind: "x", Parts: []umbel.State{{Kind: "y", Params: many}}},
	} {
		got, err := wire.Append(dst, s)
		if !errors.Is(err, umbel.ErrCorrupt) || !bytes.Equal(got, dst) {
			t.Errorf("%s: %q, %v, want what was there and %v", name, got, err, umbel.ErrCorrupt)
		}
		if err := wire.Write(io.Discard, s); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: Write: %v, want %v", name, err, umbel.ErrCorrupt)
		}
	}
}

// TestForeignErrors: errors of the source and of the target are returned unchanged.
func TestForeignErrors(t *testing.T) {
	broken := errors.New("broken cable")
	b := mustAppend(t, wiretest.Sample(t))
	for n := range len(b) + 1 {
		r := io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken))
		if _, err := wire.Read(r, wire.Limits{}); !errors.Is(err, broken) || errors.Is(err, umbel.ErrCorrupt) {
			t.Fatalf("after %d bytes: %v, want %v", n, err, broken)
		}
	}
	r, w := io.Pipe()
	r.CloseWithError(broken)
	if err := wire.Write(w, wiretest.Sample(t)); !errors.Is(err, broken) {
		t.Errorf("Write: %v, want %v", err, broken)
	}
}

// TestReadLostSeeker: Read returns an error if the source reports its size but can't seek back.
func TestReadLostSeeker(t *testing.T) {
	b := mustAppend(t, wiretest.Sample(t))
	for name, read := range map[string]func(io.Reader) error{
		"Read":       func(r io.Reader) error { _, err := wire.Read(r, wire.Limits{}); return err },
		"ReadBlocks": func(r io.Reader) error { return readBlocks(r, wire.Limits{}) },
	} {
		if err := read(lostSeeker{bytes.NewReader(b)}); !errors.Is(err, errLost) {
			t.Errorf("%s: %v, want %v", name, err, errLost)
		}
	}
}

var errLost = errors.New("lost")

type lostSeeker struct{ *bytes.Reader }

func (l lostSeeker) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		return 0, errLost
	}
	return l.Reader.Seek(offset, whence)
}

// TestNotes: all writers write what a filter was planned for, all readers read it, and it changes
// neither the ID nor the bytes of the state.
func TestNotes(t *testing.T) {
	s := wiretest.Sample(t)
	plain, id := mustAppend(t, s), hashtree.Identify(s)
	s.Planned, s.Tick = umbel.Planned{Keys: 1000, FPRate: 0.01}, 1e9
	b := mustAppend(t, s)
	if end := len(plain) - 4; !bytes.Equal(b[8:end], plain[8:end]) || b[7] != 2 || plain[7] != 1 {
		t.Errorf("with notes it is % x, without % x", b, plain)
	}
	if got := hashtree.Identify(s); got != id {
		t.Errorf("ID %v, want %v", got, id)
	}
	var written bytes.Buffer
	if err := wire.Write(&written, s); err != nil || !bytes.Equal(written.Bytes(), b) {
		t.Errorf("Write writes % x, %v, want what Append appends", written.Bytes(), err)
	}
	packed, err := wire.Packer{}.Append(nil, s)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"plain": b, "packed": packed} {
		parseBothWays(t, b)
		if got, err := wire.Parse(b, wire.Limits{}); err != nil || !wiretest.Equal(got, s) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, s)
		}
		tree, _, err := hashtree.Read(bytes.NewReader(b), uint64(len(b)), wire.Limits{})
		if err != nil || tree.Planned != s.Planned || tree.Tick != s.Tick {
			t.Errorf("%s: hashtree.Read returns %+v, %v, %v, want %+v, %v", name, tree.Planned, tree.Tick, err, s.Planned, s.Tick)
		}
		for n := range len(b) {
			if _, err := wire.Parse(b[:n], wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
				t.Errorf("%s: the first %d bytes: %v, want %v", name, n, err, umbel.ErrCorrupt)
			}
		}
	}
}
