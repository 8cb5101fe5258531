package part

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
)

func input(name, text string) Input {
	return Input{Name: name, ReaderAt: strings.NewReader(text), Size: int64(len(text))}
}

// room is the memory of chunks.
var room = make([]byte, 0, 1<<20)

// keysOf returns the keys of pieces, or the error of reading them.
func keysOf(sources ...io.Reader) (list []string, err error) {
	for _, s := range sources {
		r := keys.NewReader(s, keys.Lines)
		for {
			chunk, err := r.Next(room)
			if err == io.EOF {
				break
			}
			if err != nil {
				return list, err
			}
			for len(chunk) > 0 {
				var key []byte
				key, chunk = keys.Lines.Cut(chunk)
				list = append(list, string(key))
			}
		}
	}
	return list, nil
}

// Each line is in exactly one part, in order, for every number of parts, so that a boundary is at every byte: with empty and
// long lines, CRLF, no newline at the end, a byte order mark at the beginning and in a line, and lines that begin as other files do.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 90)
	for _, texts := range [][]string{
		{"a\nbb\nccc\n"}, {"a\nbb\nccc"}, {"a\r\nbb\r\n\r\nccc\r\n"}, {"\n\n\n"}, {""}, {"\n"}, {"a"}, {long}, {"a\n" + long + "\nb"},
		{"\xef\xbb\xbfa\n\xef\xbb\xbfb\nc"}, {"a\nBZh91AY&SY\nPK\x03\x04\n\x1f\x8b\x08\nPAR1\n\x89umbel\n\xff\xfe\nx"},
		{"a\nb", "", "c\n\n", "\xef\xbb\xbfd", long + "\n" + long}, {"", "", "x"},
	} {
		var inputs []Input
		var whole []io.Reader
		total := 0
		for i, text := range texts {
			inputs = append(inputs, input(fmt.Sprint(i), text))
			whole = append(whole, strings.NewReader(text))
			total += len(text)
		}
		want := fixture.Must(keysOf(whole...))
		for of := range uint64(total + 3) {
			var got []string
			for i := range of + 1 {
				pieces, err := Of(inputs, Number{i + 1, of + 1}, Lines, '\n')
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range pieces {
					more, err := keysOf(p)
					if err != nil {
						t.Fatalf("%q in %d parts: part %d: %v", texts, of+1, i+1, err)
					}
					got = append(got, more...)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q in %d parts: keys %q, want %q", texts, of+1, got, want)
			}
		}
	}
}

// Whole files are in one part each, and each part has all files if cells are divided.
func TestFiles(t *testing.T) {
	inputs := []Input{input("a", "1\n2"), input("b", "3\n"), input("c", "4")}
	for w, want := range map[Way][]string{Files: {"1", "2", "4"}, Cells: {"1", "2", "3", "4"}} {
		var got []string
		for _, p := range fixture.Must(Of(inputs, Number{1, 2}, w, '\n')) {
			got = append(got, fixture.Must(keysOf(p))...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: keys %q, want %q", w, got, want)
		}
	}
}

// The identity differs for other names, contents at the ends, sizes, orders, ways and jobs, and not for other directories.
func TestIdentity(t *testing.T) {
	a, b := input("dir/a", "one\n"), input("b", "two\n")
	id := func(w Way, job string, in ...Input) uint64 { return fixture.Must(Identity(in, w, job)) }
	all := []uint64{
		id(Lines, "", a, b), id(Lines, "", b, a), id(Lines, "", a), id(Files, "", a, b), id(Cells, "", a, b), id(Lines, "x", a, b),
		id(Lines, "", input("a", "onf\n"), b), id(Lines, "", input("a", "one\n\n"), b), id(Lines, "", input("c", "one\n"), b), id(None, ""), id(None, "x"),
	}
	for i, x := range all {
		if slices.Contains(all[:i], x) {
			t.Errorf("identity %d is that of another", i)
		}
	}
	if id(Lines, "", input("other/a", "one\n"), b) != all[0] || id(None, "", a) != id(None, "", b) {
		t.Error("a directory, or an input of a part with inputs of its own, changes the identity")
	}
}

func TestNumber(t *testing.T) {
	var n Number
	if err := n.Set("3/8"); err != nil || n != (Number{3, 8}) || n.String() != "3/8" {
		t.Error(n, err)
	}
	for _, s := range []string{"", "3", "0/8", "9/8", "a/8", "3/", "-1/8", "1/524289", "1/8/2", "+1/8", " 1/8"} {
		if n.Set(s) == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}

// A manifest is what its state has, which a container holds.
func TestManifest(t *testing.T) {
	f := fixture.Must(filter.All[0].New(umbel.Goal{Keys: 100, FPRate: 0.01, Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: umbel.SeedFrom([16]byte{1})}}, nil)).State()
	m := ManifestOf(Number{3, 70}, 7, false, 9)
	s := fixture.Must(wire.Parse(fixture.Must(wire.Append(nil, m.State(f))), wire.Limits{}))
	got, g, err := Open(s)
	if err != nil || !reflect.DeepEqual(got, m) || !g.Equal(f) || g.Notes != f.Notes {
		t.Errorf("%+v, %v, want %+v", got, err, m)
	}
	other := ManifestOf(Number{70, 70}, 7, false, 1)
	both := fixture.Must(m.Join(other))
	if both.Keys != 10 || both.Complete() || !slices.Equal(slices.Collect(both.Each(true)), []uint64{3, 70}) || !both.Covers(m) || m.Covers(both) {
		t.Errorf("joined: %+v", both)
	}
	if n, ok := both.Shares(m); !ok || n != 3 {
		t.Errorf("shares %d, %v", n, ok)
	}
	if _, ok := m.Shares(other); ok {
		t.Error("different parts share one")
	}
	byCells := ManifestOf(Number{1, 70}, 7, true, 9)
	for what, foreign := range map[string][2]Manifest{
		"number": {m, ManifestOf(Number{3, 71}, 7, false, 9)}, "inputs": {m, ManifestOf(Number{4, 70}, 8, false, 9)},
		"way": {m, byCells}, "keys": {byCells, ManifestOf(Number{2, 70}, 7, true, 8)},
	} {
		if _, err := foreign[0].Join(foreign[1]); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	for what, change := range map[string]func(*umbel.State){
		"no parameter":    func(s *umbel.State) { s.Params = s.Params[1:] },
		"one more":        func(s *umbel.State) { s.Params = append(slices.Clone(s.Params), umbel.Param{Name: "x"}) },
		"cells 2":         func(s *umbel.State) { s.Params = slices.Clone(s.Params); s.Params[1].Value = umbel.Uint(2) },
		"no filter":       func(s *umbel.State) { s.Parts = nil },
		"two filters":     func(s *umbel.State) { s.Parts = append(slices.Clone(s.Parts), s.Parts...) },
		"no numbers":      func(s *umbel.State) { s.Arrays = nil },
		"no number":       func(s *umbel.State) { s.Arrays = []cells.Array{numbers(8)} },
		"too many":        func(s *umbel.State) { s.Arrays = []cells.Array{numbers(MaxParts + 1)} },
		"counters":        func(s *umbel.State) { s.Arrays = []cells.Array{fixture.Must(cells.New(8, 8))} },
		"another hasher":  func(s *umbel.State) { s.Hasher = umbel.Hasher{} },
		"without words":   func(s *umbel.State) { s.Arrays = []cells.Array{{Len: 8, Width: 1}} },
		"without a width": func(s *umbel.State) { s.Arrays = []cells.Array{{}} },
	} {
		s := m.State(f)
		if change(&s); !errors.Is(second(Open(s)), umbel.ErrCorrupt) {
			t.Errorf("%s is accepted", what)
		}
	}
}

func second(_ Manifest, _ umbel.State, err error) error { return err }

// The kinds that are joined cell by cell are those whose Merge is the sum of the arrays.
func TestCellwise(t *testing.T) {
	for _, k := range filter.All {
		goal := umbel.Goal{Keys: 500, FPRate: 0.02}
		a, b := fixture.Must(k.New(goal, nil)), fixture.Must(k.New(goal, nil))
		if CheckCellwise(a.State()) != nil {
			continue
		}
		ds := fixture.Digests(1, 700)
		umbel.AddAll(a, nil, ds[:400])
		umbel.AddAll(b, nil, ds[300:])
		sum := a.State().Clone()
		if err := sum.Arrays[0].Sum(b.State().Arrays[0]); err != nil {
			t.Fatal(err)
		}
		if err := a.(umbel.Merger).Merge(b.State()); err != nil || !a.State().Equal(sum) {
			t.Errorf("%s: Merge isn't the sum of the cells, %v", k.Name, err)
		}
		one := fixture.Must(k.New(goal, nil))
		umbel.AddAll(one, nil, ds[:400])
		umbel.AddAll(one, nil, ds[300:])
		if !one.State().Equal(sum) {
			t.Errorf("%s: the sum of the cells isn't the filter of all keys", k.Name)
		}
	}
}

// A skeleton has everything but the words of the filter that the kind makes.
func TestSkeleton(t *testing.T) {
	made := 0
	for _, k := range filter.All {
		for _, goal := range []umbel.Goal{{Keys: 3, FPRate: 0.1}, {Keys: 100_000, FPRate: 0.001}, {Keys: 10, Bytes: 4096}, {FPRate: 0.01, Bytes: 5000}} {
			s, err := Skeleton(k, goal, nil)
			if err != nil {
				continue
			}
			made++
			want := fixture.Must(k.New(goal, nil)).State()
			notes := want.Notes == s.Notes
			want.Arrays[0].Words = nil
			if !want.Equal(s) || !notes {
				t.Errorf("%s %+v: %+v, want %+v", k.Name, goal, s, want)
			}
		}
	}
	if made < 16 {
		t.Errorf("%d skeletons", made)
	}
}

// The ranges of cells that are made from all keys have together the cells of the filter, once each.
func TestRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 36))
	most, rounds := uint64(3_000_000), 4
	if testing.Short() {
		most, rounds = 300_000, 2
	}
	for _, k := range filter.All {
		for range rounds {
			goal := umbel.Goal{Keys: 1 + rng.Uint64N(most), FPRate: 0.01}
			s, err := Skeleton(k, goal, nil)
			if err != nil {
				break
			}
			f := fixture.Must(k.New(goal, nil))
			var text bytes.Buffer
			for range 5000 {
				fmt.Fprintln(&text, rng.Uint32N(4000)) // counters count more than one
			}
			job := keys.Job{Format: keys.Lines, Workers: 2}
			for line := range strings.Lines(text.String()) {
				f.Add(umbel.Hasher{}.HashBytes([]byte(strings.TrimSuffix(line, "\n"))))
			}
			of := 1 + rng.Uint64N(9)
			sum := fixture.Must(cells.New(s.Arrays[0].Len, s.Arrays[0].Width))
			for i := range of {
				r, err := NewRange(s, Number{i + 1, of})
				if err != nil {
					t.Fatal(err)
				}
				n, err := r.Add(job, []io.Reader{bytes.NewReader(text.Bytes())})
				if err != nil || n != 5000 {
					t.Fatal(n, err)
				}
				var b bytes.Buffer
				if err := r.Write(&b, ManifestOf(Number{i + 1, of}, 1, true, n)); err != nil {
					t.Fatal(err)
				}
				m, part, err := Open(fixture.Must(wire.Parse(b.Bytes(), wire.Limits{})))
				if err != nil || !m.Cells {
					t.Fatal(err)
				}
				for j, w := range part.Arrays[0].Words {
					if w != 0 && sum.Words[j] != 0 {
						t.Fatalf("%s: word %d is in two parts", k.Name, j)
					}
					sum.Words[j] |= w
				}
			}
			if !slices.Equal(sum.Words, f.State().Arrays[0].Words) {
				t.Errorf("%s: other cells than those of the filter", k.Name)
			}
		}
	}
}
