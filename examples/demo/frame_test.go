package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// sampled is a report with all states.
func sampled() Report {
	row := func(name string, state State, fold, version, behind uint64, late float64, received uint64) Subscriber {
		return Subscriber{
			Name: name, About: "about " + name, State: state, Fold: fold, Version: version, Behind: behind, Late: late,
			Received: received, Present: 30_000, Absent: 100_000, Rate: 0.00831,
		}
	}
	r := Report{
		Seconds: 17.44, Set: Set{Keys: 20_786, PerSecond: 193.2, Version: 17, URL: "http://127.0.0.1:44483"},
		Filter: Filter{2_488_320, 311_040}, Received: 195_129,
		Subscribers: []Subscriber{
			row("complete", Exact, 1, 17, 0, 0, 42_119), row("2 kB/s", Stale, 0, 0, 17, 17.44, 33_018), row("5 % is enough", Exact, 5, 17, 0, 0, 42_119),
			row("loses a third", Late, 1, 16, 1, 0.31, 41_812), row("ends, returns", Off, 0, 12, 5, 4.2, 36_061),
		},
		Costs:  Costs{1_496_430, 21_467_211, 905_157, 12_407_872, 1_008_548},
		Hourly: Hourly{302, 1800, 0.95},
	}
	r.Subscribers[1].Absent, r.Subscribers[1].Failures = 0, 1
	r.Subscribers[3].Segments, r.Subscribers[3].Lost = 100, 31
	for i := range 30 {
		r.Events = append(r.Events, Event{float64(i), fmt.Sprintf("event %d", i)})
	}
	return r
}

const golden = `
umbel demo                                                         17 s, ^C ends
One program publishes a set that changes; five answer queries from memory.

set     20,786 keys, 193 changes per second, version 17
filter  2,488,320 cells in 311,040 bytes, published at http://127.0.0.1:44483

subscriber     state       behind    received  fold   false+  false-  retries
complete       exact                   42,119     1  0.831 %       0        0
2 kB/s         stale     17, 17 s      33,018                      0        1
5 % is enough  exact                   42,119     5  0.831 %       0        0
loses a third  late      1, 0.3 s      41,812     1  0.831 %       0        0
ends, returns  off       5, 4.2 s      36,061        0.831 %       0        0

bytes for the same versions            all five   times
umbel, all that was received            195,129       1
filter copies, packed                 1,496,430    7.67
filter copies, as in memory          21,467,211     110
5 bits per key                          905,157    4.64
key lists, gzip                      12,407,872    63.6
key list changes, gzip                1,008,548    5.17
5 bits per key, hourly, scaled              302   <0.01  30 min old, lacks 95 %

   28 s  event 28
   29 s  event 29
`

// shown returns the lines of a frame without colors, and fails if they do not fit.
func shown(t *testing.T, r Report, width, height int) string {
	t.Helper()
	lines := frame(r, width, height)
	if len(lines) > height {
		t.Errorf("%dx%d: %d lines", width, height, len(lines))
	}
	var b strings.Builder
	for _, l := range lines {
		s := l.render(width, false)
		if utf8.RuneCountInString(s) > width {
			t.Errorf("%dx%d: too long: %q", width, height, s)
		}
		b.WriteString(strings.TrimRight(s, " ") + "\n")
	}
	return b.String()
}

func TestFrame(t *testing.T) {
	if got := "\n" + shown(t, sampled(), 80, 24); got != golden {
		t.Errorf("got%s\nwant%s", got, golden)
	}
	for _, size := range [][2]int{{1, 1}, {0, 0}, {10, 4}, {40, 12}, {79, 23}, {130, 30}, {200, 50}, {1000, 1000}} {
		shown(t, sampled(), size[0], size[1])
		shown(t, Report{}, size[0], size[1])
	}
	large := shown(t, sampled(), 200, 50)
	for _, want := range []string{"about loses a third; 31 of 100 lost", "event 10\n", "event 29\n", "entropy", "once an hour"} {
		if !strings.Contains(large, want) {
			t.Errorf("200x50 lacks %q:\n%s", want, large)
		}
	}
	wrong := sampled()
	wrong.Subscribers[0].Wrong, wrong.Set.Skipped = 3, 7
	if got := shown(t, wrong, 80, 24); !strings.Contains(got, " 3        0\n") || !strings.Contains(got, "; 7 files not read") {
		t.Errorf("%s", got)
	}
	if got := subscriberLines(wrong, 80)[1]; got[2].style != red {
		t.Errorf("wrong answers are shown as %q", got)
	}
}

func TestRender(t *testing.T) {
	l := line{{"abc", strong}, {"dé", plain}, {"fgh", red}}
	for _, c := range []struct {
		width   int
		colored bool
		want    string
	}{
		{100, false, "abcdéfgh"},
		{6, false, "abcdéf"},
		{4, true, "\x1b[1mabc\x1b[md"},
		{6, true, "\x1b[1mabc\x1b[mdé\x1b[31mf\x1b[m"},
		{0, true, ""},
	} {
		if got := l.render(c.width, c.colored); got != c.want {
			t.Errorf("%d: %q, want %q", c.width, got, c.want)
		}
	}
}

// A screen shows frames of the current size and restores the terminal, also if a write fails.
func TestScreen(t *testing.T) {
	const enter, leave = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		width := 60
		s := Screen{Out: &b, Size: func() (int, int) { width += 10; return width, 24 }}
		ctx, cancel := context.WithTimeout(t.Context(), frameEvery+time.Millisecond)
		defer cancel()
		if err := s.Show(ctx, sampled); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		if !strings.HasPrefix(out, enter+"\x1b[H") || !strings.HasSuffix(out, "\x1b[J"+leave) {
			t.Errorf("%.20q … %q", out, out[len(out)-20:])
		}
		frames := strings.Split(out, "\x1b[H")[1:]
		if len(frames) != 2 {
			t.Fatalf("%d frames, want 2", len(frames))
		}
		for i, f := range frames {
			first, _, _ := strings.Cut(f, "\x1b[K")
			if utf8.RuneCountInString(first) != 70+10*i {
				t.Errorf("frame %d begins with %q", i, first)
			}
			if n := strings.Count(f, "\r\n"); n != 23 || strings.Contains(f, "\x1b[3") || strings.HasSuffix(strings.TrimSuffix(f, leave), "\r\n\x1b[J") {
				t.Errorf("frame %d has %d breaks of lines, or colors", i, n)
			}
		}
	})
	broken := Screen{Out: failing{}, Size: func() (int, int) { return 80, 24 }}
	if err := broken.Show(t.Context(), sampled); !errors.Is(err, errFailing) {
		t.Error(err)
	}
}

var errFailing = errors.New("failing")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFailing }

func TestLeave(t *testing.T) {
	var b bytes.Buffer
	s := Screen{Out: &b, Size: func() (int, int) { return 80, 5 }, Colored: true}
	r := sampled()
	r.Final = true
	if err := s.Leave(r); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	if n := strings.Count(out, "\n"); n != 21 || strings.Contains(out, "event") || strings.Contains(out, "^C") || !strings.Contains(out, "\x1b[32mexact\x1b[m") {
		t.Errorf("%d lines: %q", n, out)
	}
}

func TestPlain(t *testing.T) {
	var b bytes.Buffer
	r := sampled()
	if err := errors.Join(r.WriteHeader(&b), r.WriteLine(&b), r.WriteSummary(&b)); err != nil {
		t.Fatal(err)
	}
	const want = `
  time       keys  version   received  complete       2 kB/s         5 % is enough  loses a third  ends, returns
  17 s     20,786       17    195,129  exact          stale by 17    exact          late by 1      off by 5
17 versions, 195,129 bytes received, 0 of 150,000 present keys not found
copies: 1,496,430 packed, 21,467,211 in memory; key lists: 12,407,872
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got%s\nwant%s", got, want)
	}
}
