package uniq

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/scalable"
	"github.com/umbel-filters/umbel/filter/window"
	"pgregory.net/rapid"
)

// scalableFilter returns an empty filter without false positives in a test of a few keys.
func scalableFilter(t testing.TB) umbel.Filter {
	t.Helper()
	f, err := scalable.New(1000, 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// stream returns a stream that writes to out.
func stream(seen Seen, out io.Writer) *Stream {
	return &Stream{Seen: seen, Format: keys.Lines, Write: out.Write}
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ name, in, fresh, known string }{
		{"nothing", "", "", ""},
		{"each once", "a\nb\n", "a\nb\n", ""},
		{"repeated", "a\nb\na\nb\na\nc\n", "a\nb\nc\n", "a\nb\na\n"},
		{"no newline at the end", "a\na\nb", "a\nb\n", "a\n"},
		{"an empty line is a key", "\n\na\n", "\na\n", "\n"},
		{"the line as it was", "a\r\na\nb\r\n", "a\r\nb\r\n", "a\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, want := range []string{c.fresh, c.known} {
				var out bytes.Buffer
				s := stream(NewFilter(scalableFilter(t), nil), &out)
				s.Known = want == c.known && c.known != c.fresh
				if err := s.Run(t.Context(), strings.NewReader(c.in)); err != nil || out.String() != want {
					t.Errorf("known %v: %q, %v, want %q", s.Known, out.String(), err, want)
				}
			}
		})
	}
}

// The result equals that of a map, for every division of the keys into files and reads, and for
// every kind that can be made without parameters.
func TestEqualsMap(t *testing.T) {
	for _, kind := range filter.All {
		t.Run(kind.Name, func(t *testing.T) {
			empty, err := kind.New(umbel.Goal{Keys: 100, FPRate: 1e-9}, nil)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				f, err := kind.Open(empty.State().Clone())
				if err != nil {
					t.Fatal(err)
				}
				texts := rapid.SliceOfN(rapid.StringMatching(`([a-d]{1,2}\n){0,20}`), 0, 3).Draw(t, "texts")
				texts = append(texts, strings.Repeat("x\ny\n", rapid.SampledFrom([]int{0, Batch/2 - 1, Batch}).Draw(t, "repetitions")))
				var want strings.Builder
				seen := map[string]bool{}
				var rs []io.Reader
				for _, text := range texts {
					for line := range strings.Lines(text) {
						if !seen[line] {
							want.WriteString(line)
						}
						seen[line] = true
					}
					r := io.Reader(strings.NewReader(text))
					if rapid.Bool().Draw(t, "byte by byte") {
						r = iotest.OneByteReader(r)
					}
					rs = append(rs, r)
				}
				var out strings.Builder
				s := stream(NewFilter(f, nil), &out)
				if err := s.Run(t.Context(), rs...); err != nil || out.String() != want.String() || s.New != uint64(len(seen)) {
					t.Fatalf("%q, %d new, %v, want %q", out.String(), s.New, err, want.String())
				}
			})
		})
	}
}

// Keys whose line was not written are not remembered: the next run passes them on.
func TestWriteFails(t *testing.T) {
	var in strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&in, "%04d\n", i)
	}
	full := errors.New("disk full")
	for _, room := range []int{0, 5, 7, 5 * Batch, 5*Batch + 12, 15000} {
		f := scalableFilter(t)
		var first, second bytes.Buffer
		s := stream(NewFilter(f, nil), io.Discard)
		s.Write = func(b []byte) (int, error) {
			n := min(len(b), room-first.Len())
			first.Write(b[:n])
			if n < len(b) {
				return n, full
			}
			return n, nil
		}
		err := s.Run(t.Context(), strings.NewReader(in.String()))
		if wantErr := room < in.Len(); errors.Is(err, full) != wantErr {
			t.Fatalf("room %d: %v", room, err)
		}
		if err := stream(NewFilter(f, nil), &second).Run(t.Context(), strings.NewReader(in.String())); err != nil {
			t.Fatal(err)
		}
		whole := first.String()[:first.Len()/5*5]
		if whole+second.String() != in.String() {
			t.Errorf("room %d: %d and %d bytes, want all %d once", room, len(whole), second.Len(), in.Len())
		}
	}
}

// While it waits for keys it saves regularly, and it ends when its context does.
func TestSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFilter(scalableFilter(t), nil)
		r, w := io.Pipe()
		var saved atomic.Int64
		s := stream(f, io.Discard)
		s.Every = time.Minute
		s.Save = func() (func() error, error) {
			return func() error {
				saved.Add(1)
				time.Sleep(10 * time.Second) // so the next is due after 200 s
				return nil
			}, nil
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Run(ctx, r) }()
		io.WriteString(w, "a\na\nb")
		time.Sleep(time.Minute - 1)
		if synctest.Wait(); s.Read != 2 || s.New != 1 || saved.Load() != 0 || !f.Changed() || f.Changed() {
			t.Errorf("%d read, %d new, saved %d times", s.Read, s.New, saved.Load())
		}
		time.Sleep(10 * time.Minute)
		if synctest.Wait(); saved.Load() != 3 { // after 60, 270 and 480 s
			t.Errorf("saved %d times, want 3", saved.Load())
		}
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		w.Close()
		synctest.Wait()
	})
}

// While a save waits for a slow disk, keys are passed on, and no other save begins. The end waits for it, and returns its
// error.
func TestSlowSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		var out bytes.Buffer
		s := stream(NewFilter(scalableFilter(t), nil), &out)
		s.Every = time.Second
		failed := errors.New("disk full")
		var copies, ended atomic.Int64
		s.Save = func() (func() error, error) {
			if copies.Add(1) == 1 {
				return nil, nil // nothing has changed
			}
			return func() error {
				time.Sleep(time.Hour)
				ended.Add(1)
				return failed
			}, nil
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		result := make(chan error)
		go func() { result <- s.Run(ctx, r) }()
		time.Sleep(10 * time.Second)
		io.WriteString(w, "a\n")
		if synctest.Wait(); out.String() != "a\n" || copies.Load() != 2 || ended.Load() != 0 {
			t.Errorf("during a save: %q, %d copies, %d saves have ended", out.String(), copies.Load(), ended.Load())
		}
		stop()
		if err := <-result; err != failed || ended.Load() != 1 {
			t.Errorf("error %v, %d saves have ended, want that of the save", err, ended.Load())
		}
		w.Close()
		synctest.Wait()
	})
}

// A key expires after the window, and each repetition restarts it.
func TestClock(t *testing.T) {
	shape, err := window.Plan(umbel.Goal{Keys: 1000, FPRate: 1e-9}, 3600)
	if err != nil {
		t.Fatal(err)
	}
	f, err := window.NewShape(shape)
	if err != nil {
		t.Fatal(err)
	}
	now := uint64(1_800_000_000)
	s := NewFilter(f, func() uint64 { return now })
	var out bytes.Buffer
	for _, step := range []struct {
		after uint64
		new   bool
	}{{0, true}, {3600, false}, {3600, false}, {2 * 3600, true}, {1, false}} {
		now += step.after
		out.Reset()
		if err := stream(s, &out).Run(t.Context(), strings.NewReader("a\n")); err != nil || out.Len() > 0 != step.new {
			t.Errorf("at %d: %q, %v, want new %v", now, out.String(), err, step.new)
		}
	}
	now -= 100 // a clock that is set back
	if err := stream(s, &out).Run(t.Context(), strings.NewReader("b\n")); err != nil {
		t.Error(err)
	}
	if f.Now() != now+100 || !f.HasString("b") {
		t.Errorf("the time is %d, want %d", f.Now(), now+100)
	}
}

// Beyond the limit of its memory a filter still remembers every key.
func TestFull(t *testing.T) {
	f, err := scalable.NewGoal(umbel.Goal{Keys: 1000, FPRate: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	f.SetMaxBytes(f.Stats().Bytes)
	s := NewFilter(f, nil)
	var in strings.Builder
	for i := range 5000 {
		fmt.Fprintln(&in, i)
	}
	if err := stream(s, io.Discard).Run(t.Context(), strings.NewReader(in.String())); err != nil || !errors.Is(s.Full(), umbel.ErrLimit) {
		t.Fatalf("%v, full: %v", err, s.Full())
	}
	var out bytes.Buffer
	if err := stream(s, &out).Run(t.Context(), strings.NewReader(in.String())); err != nil || out.Len() > 0 {
		t.Errorf("%v, %d bytes of keys that were seen", err, out.Len())
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	var out bytes.Buffer
	in := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken))
	if err := stream(NewFilter(scalableFilter(t), nil), &out).Run(t.Context(), in); !errors.Is(err, broken) || out.String() != "a\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	f, err := bloom.NewGoal(umbel.Goal{Keys: 100, FPRate: 0.01, Hasher: umbel.Hasher{Alg: umbel.Caller}})
	if err != nil {
		t.Fatal(err)
	}
	if err := stream(NewFilter(f, nil), &out).Run(t.Context(), strings.NewReader("a\n")); err == nil {
		t.Error("a key passed for a digest")
	}
}

func BenchmarkRun(b *testing.B) {
	var in bytes.Buffer
	for i := range 1_000_000 {
		fmt.Fprintf(&in, "10.0.%d.%d GET /index.html\n", i*7919%40_000/200, i%200)
	}
	b.SetBytes(int64(in.Len()))
	for b.Loop() {
		f, err := scalable.New(100_000, 1e-6)
		if err != nil {
			b.Fatal(err)
		}
		s := stream(NewFilter(f, nil), io.Discard)
		if err := s.Run(b.Context(), bytes.NewReader(in.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "keys/s")
}

// The error of Tick ends a run after a batch, whose keys are remembered and written.
func TestTickEnds(t *testing.T) {
	var in strings.Builder
	for i := range 3 * Batch {
		fmt.Fprintln(&in, i)
	}
	full, ticks := errors.New("full"), 0
	var out bytes.Buffer
	s := stream(NewFilter(scalableFilter(t), nil), &out)
	s.Tick = func(int64) error {
		if ticks++; ticks == 2 {
			return full
		}
		return nil
	}
	if err := s.Run(t.Context(), strings.NewReader(in.String())); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	if lines := strings.Count(out.String(), "\n"); s.Read != 2*Batch || s.New != 2*Batch || lines != 2*Batch {
		t.Errorf("%d keys read, %d new, %d written, want %d", s.Read, s.New, lines, 2*Batch)
	}
}
