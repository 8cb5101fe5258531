package keys

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/umbel-filters/umbel"
	"pgregory.net/rapid"
)

// readAll returns the keys of a stream in order.
func readAll(r *Reader) ([]string, error) {
	var out []string
	var buf []byte
	for {
		chunk, err := r.Next(buf)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		buf = chunk
		for rest := chunk; len(rest) > 0; {
			var key []byte
			key, rest = r.text.Format.Cut(rest)
			out = append(out, string(key))
		}
	}
}

// binary is f for streams that need not be text.
func binary(f Format) Format {
	f.Binary = true
	return f
}

// split is what the format says, in the plainest way.
func split(s string, f Format) []string {
	if s == "" {
		return nil
	}
	out := strings.Split(strings.TrimSuffix(s, string(rune(f.Separator))), string(rune(f.Separator)))
	if f.Separator == '\n' {
		for i := range out {
			out[i] = strings.TrimSuffix(out[i], "\r")
		}
	}
	return out
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		name, in string
		format   Format
		want     []string
	}{
		{"nothing", "", Lines, nil},
		{"one empty line", "\n", Lines, []string{""}},
		{"lines", "a\nb\n", Lines, []string{"a", "b"}},
		{"no newline at the end", "a\nb", Lines, []string{"a", "b"}},
		{"empty lines", "a\n\nb\n", Lines, []string{"a", "", "b"}},
		{"carriage returns", "a\r\nb\r", Lines, []string{"a", "b"}},
		{"one of two carriage returns", "a\r\r\n", Lines, []string{"a\r"}},
		{"zero bytes are no separators", "a\x00b\n", binary(Lines), []string{"a\x00b"}},
		{"NUL", "a\r\nb\x00\x00c", NUL, []string{"a\r\nb", "", "c"}},
		{"not UTF-8", "\xff\xfd\n", Lines, []string{"\xff\xfd"}},
		{"longer than a chunk", strings.Repeat("x", 3*chunkBytes) + "\ny\n", Lines, []string{strings.Repeat("x", 3*chunkBytes), "y"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readAll(NewReader(strings.NewReader(c.in), c.format))
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %.80q, %v, want %.80q", got, err, c.want)
			}
		})
	}
}

func TestTooLong(t *testing.T) {
	r := NewReader(iotest.OneByteReader(strings.NewReader("abc\nabcdefghij")), Lines)
	r.MaxKey = 8
	got, err := readAll(r)
	if err == nil || !slices.Equal(got, []string{"abc"}) {
		t.Errorf("got %q, %v, want abc and an error", got, err)
	}
	if err != nil && !strings.Contains(err.Error(), "longer than 8 bytes") {
		t.Errorf("error %q, want the limit of 8 bytes", err)
	}
}

// Files that were compressed, and others that are no text, are no lists of keys.
func TestBinary(t *testing.T) {
	const text, zeros = "", "zero bytes"
	for _, c := range []struct {
		name, in string
		format   Format
		want     string
	}{
		{"gzip", "\x1f\x8b\x08\x00abc", Lines, "gzip"},
		{"gzip, with zero bytes as separators", "\x1f\x8b\x08\x00abc", NUL, "gzip"},
		{"zstd", "\x28\xb5\x2f\xfd\x24abc\n", Lines, "zstd"},
		{"xz", "\xfd7zXZ\x00", Lines, "xz"},
		{"xz, with zero bytes as separators", "\xfd7zXZ\x00", NUL, "xz"},
		{"bzip2", "BZh91AY&SY\x00", Lines, "bzip2"},
		{"a word like bzip2", "BZh\n", Lines, text},
		{"lz4", "\x04\x22\x4d\x18\n", Lines, "lz4"},
		{"zip", "PK\x03\x04", Lines, "zip"},
		{"Parquet", "PAR1\x15\x00", Lines, FileParquet},
		{"a filter", "\x89umbel\n\x02", Lines, FileFilter},
		{"a packed filter", "\x89u\x03\x01\x07\x00", Lines, FileFilter},
		{"a delta", "\x89umdlt\n\x01", NUL, FileFilter},
		{"a short delta", "\x89d\x02\x00\x01\x02", NUL, FileFilter},
		{"UTF-16", "\xff\xfea\x00\n\x00", Lines, "UTF-16"},
		{"UTF-16, big-endian", "\xfe\xff\x00a\x00\n", Lines, "UTF-16"},
		{"UTF-16 without a mark", "a\x00b\x00\n\x00", Lines, "UTF-16LE"},
		{"UTF-16 without a mark, big-endian", "\x00a\x00b\x00\n", Lines, "UTF-16BE"},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", Lines, "UTF-32"},
		{"UTF-32, big-endian", "\x00\x00\xfe\xff\x00\x00\x00a", Lines, "UTF-32"},
		{"zero bytes", "abc\x00\n\x00", Lines, zeros},
		{"zero bytes as separators", "a\x00b", NUL, text},
		{"a zero byte later", strings.Repeat("x\n", chunkBytes) + "\x00", Lines, zeros},
		{"a zero byte in the last line", strings.Repeat("x\n", chunkBytes) + "abc\x00", Lines, zeros},
		{"accepted", "\x1f\x8b\x08\x00abc", binary(Lines), text},
		{"nothing", "", Lines, text},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := text
			_, err := readAll(NewReader(strings.NewReader(c.in), c.format))
			if wrong, ok := errors.AsType[*BinaryError](err); ok {
				got = cmp.Or(wrong.Compression, wrong.File, wrong.Encoding, zeros)
			} else if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A byte order mark at the beginning of lines is not part of the first key.
func TestByteOrderMark(t *testing.T) {
	for _, c := range []struct {
		in     string
		format Format
		want   string
	}{
		{"\ufeffalice\nbob\n", Lines, "alice\nbob\n"},
		{"\ufeffalice", Lines, "alice"},
		{"alice\n\ufeffbob\n", Lines, "alice\n\ufeffbob\n"},
		{"\ufeffalice\n", binary(Lines), "\ufeffalice\n"},
		{"\ufeffalice\x00", NUL, "\ufeffalice\x00"},
	} {
		var got []byte
		r := NewReader(iotest.OneByteReader(strings.NewReader(c.in)), c.format)
		for {
			chunk, err := r.Next(nil)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, chunk...)
		}
		if string(got) != c.want {
			t.Errorf("%q: read %q, want %q", c.in, got, c.want)
		}
	}
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader("a\nb\nc"), iotest.ErrReader(broken))
	_, err := Job{Format: Lines, Workers: 2}.Run([]io.Reader{r}, func([]umbel.Digest) error { return nil })
	if !errors.Is(err, broken) {
		t.Errorf("Run: %v, want %v", err, broken)
	}
	_, err = Job{Format: Lines, Workers: 2}.Run([]io.Reader{strings.NewReader("a\n")}, func([]umbel.Digest) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("Run: %v, want the error of add", err)
	}
}

// A key that is there is handed on although the stream stays open.
func TestNoWaiting(t *testing.T) {
	r, w := io.Pipe()
	go w.Write([]byte("first\nsec"))
	in := NewReader(r, Lines)
	if chunk, err := in.Next(nil); err != nil || string(chunk) != "first\n" {
		t.Fatalf("got %q, %v", chunk, err)
	}
	go func() {
		w.Write([]byte("ond"))
		w.Close()
	}()
	if chunk, err := in.Next(nil); err != nil || string(chunk) != "second" {
		t.Fatalf("got %q, %v", chunk, err)
	}
}

func TestDigest(t *testing.T) {
	caller := umbel.Hasher{Alg: umbel.Caller}
	want := umbel.Digest{H1: 1, H2: 2}
	if got, err := Digest(caller, []byte(want.String())); got != want || err != nil {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := Digest(caller, []byte("alice")); err == nil {
		t.Error("a key passed for a digest")
	}
	_, err := Job{Format: Lines, Hasher: caller, Workers: 1}.Run([]io.Reader{strings.NewReader("alice\n")}, func([]umbel.Digest) error { return nil })
	if err == nil {
		t.Error("Run took a key for a digest")
	}
}

// However the bytes come and in any goroutine, each key is hashed once.
func TestRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]Format{binary(Lines), NUL}).Draw(t, "format")
		texts := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune("ab\r\n\x00é"))), 0, 3).Draw(t, "sources")
		job := Job{Format: format, Workers: rapid.IntRange(1, 4).Draw(t, "workers")}
		want := map[umbel.Digest]int{}
		var keys uint64
		var sources []io.Reader
		for _, s := range texts {
			for _, k := range split(s, format) {
				want[job.Hasher.HashString(k)]++
				keys++
			}
			r := io.Reader(strings.NewReader(s))
			if rapid.Bool().Draw(t, "byte by byte") {
				r = iotest.OneByteReader(r)
			}
			sources = append(sources, r)
		}
		got := map[umbel.Digest]int{}
		var mu sync.Mutex
		n, err := job.Run(sources, func(ds []umbel.Digest) error {
			mu.Lock()
			defer mu.Unlock()
			for _, d := range ds {
				got[d]++
			}
			return nil
		})
		if err != nil || n != keys || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q: %d keys, %v, want %d", texts, n, err, keys)
		}
	})
}

// The reader agrees with the plain split at every size of read.
func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), false, byte(1))
	f.Add([]byte("a\x00\x00b"), true, byte(2))
	f.Fuzz(func(t *testing.T, in []byte, nul bool, step byte) {
		format := binary(Lines)
		if nul {
			format = binary(NUL)
		}
		got, err := readAll(NewReader(&steps{in, int(step) + 1}, format))
		if err != nil {
			t.Fatal(err)
		}
		if want := split(string(in), format); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// steps is a reader that gives so many bytes at a time.
type steps struct {
	b []byte
	n int
}

func (s *steps) Read(p []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.n)], s.b)
	s.b = s.b[n:]
	return n, nil
}

func BenchmarkRun(b *testing.B) {
	var in bytes.Buffer
	for i := range 100000 {
		fmt.Fprintf(&in, "%d\n", 10000000+i)
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("Run/lines/workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(in.Len()))
			for b.Loop() {
				_, err := Job{Format: Lines, Workers: workers}.Run([]io.Reader{bytes.NewReader(in.Bytes())}, func([]umbel.Digest) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
