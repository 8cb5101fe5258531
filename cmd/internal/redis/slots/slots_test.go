package slots

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/internal/await"
)

// The values of Redis Cluster's specification and of redis-cli CLUSTER KEYSLOT.
func TestOf(t *testing.T) {
	for name, want := range map[string]int{
		"": 0, "123456789": 0x31c3, "foo": 12182, "bar": 5061, "{foo}bar": 12182, "x{foo}bar": 12182, "foo{}bar": Of([]byte("foo{}bar")),
		"{user1000}.following": Of([]byte("user1000")), "foo{{bar}}zap": Of([]byte("{bar")), "foo{bar}{zap}": 5061, "a": 15495, "b": 3300,
	} {
		if got := Of([]byte(name)); got != want {
			t.Errorf("%q has slot %d, want %d", name, got, want)
		}
	}
	if Of([]byte("foo{}bar")) == Of([]byte("")) {
		t.Error("an empty tag counts")
	}
	name := []byte("shop:{users}:seen")
	if n := testing.AllocsPerRun(100, func() { Of(name) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

const three = `# a comment
0-5460       a:6380 http://a:8780   # the first
5461-10922   b:6380 http://b:8780 b2:6380 http://b2:8780

10923-16382,16383  [::1]:6380
moving 7,100-200
`

func TestParse(t *testing.T) {
	m, err := Parse(strings.NewReader(three))
	if err != nil {
		t.Fatal(err)
	}
	if got := []int{m.Owner(0), m.Owner(5460), m.Owner(5461), m.Owner(16383)}; fmt.Sprint(got) != "[0 0 1 2]" {
		t.Errorf("owners %v", got)
	}
	if !m.Moving(7) || !m.Moving(150) || m.Moving(8) {
		t.Error("other slots are moving")
	}
	again, err := Parse(strings.NewReader(string(m.Text())))
	if err != nil || string(again.Text()) != string(m.Text()) || again.owner != m.owner || again.moving != m.moving {
		t.Errorf("the text of a map is another map: %v\n%s", err, m.Text())
	}
	if n := m.Shards[1].Nodes[1]; n != (Node{"b2:6380", "http://b2:8780"}) || len(n.ID()) != 40 || n.Host() != "b2" || n.Port() != 6380 {
		t.Errorf("%+v", n)
	}
}

// Each fault is refused with the line or the slots.
func TestParseFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "empty",
		"# nothing":                            "empty",
		"0-16382 a:1":                          "no line has slot 16383",
		"0-9 a:1\n20-16383 b:1":                "no line has slot 10-19",
		"0-16383 a:1\n5 b:1":                   "line 2: slot 5 is on line 1",
		"0-5,5-16383 a:1":                      "slot 5 is on line 1",
		"0-9 a:1\n10-16383 a:1":                "line 2: a:1 is on line 1",
		"0-9 a:1 a:1":                          "a:1 is on line 1",
		"0-16384 a:1":                          `"0-16384" is not a range`,
		"9-0 a:1":                              `"9-0" is not a range`,
		"-5 a:1":                               `"-5" is not a range`,
		"0-x a:1":                              `"0-x" is not a range`,
		"0-16383, a:1":                         `"" is not a range`,
		"0-16383":                              "want slots and the address",
		"0-16383 http://a:1":                   "no address before it",
		"0-16383 a:1 http://a:1 http://a:2":    "no address before it",
		"0-16383 a:1 ftp://a":                  "not the URL of a node",
		"0-16383 a:1 http://user:secret@a:1":   "not the URL of a node",
		"0-16383 a":                            `"a" is not the address`,
		"0-16383 :1":                           `":1" is not the address`,
		"0-16383 a:0":                          `"a:0" is not the address`,
		"0-16383 a:65536":                      `"a:65536" is not the address`,
		"0-16383 a:1\nmoving":                  "needs slots",
		"0-16383 a:1\nmoving 16384":            "not a range",
		strings.Repeat("x", 200_000):           "too long",
		strings.Repeat("\n", 40_000) + "0 a:1": "more than 32768 lines",
	} {
		if _, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(three)
	f.Add("0-16383 a:1\nmoving 3")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		again, err := Parse(strings.NewReader(string(m.Text())))
		if err != nil || again.owner != m.owner || again.moving != m.moving {
			t.Errorf("the text of a map is another map: %v", err)
		}
	})
}

// opened returns a Place with a map in a file of its own.
func opened(t *testing.T, self, text string) (*Place, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "slots")
	write(t, file, text)
	p, err := Open(file, self)
	if err != nil {
		t.Fatal(err)
	}
	return p, file
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReply(t *testing.T) {
	p, file := opened(t, "b:6380", three)
	expect := func(slot int, write, replica bool, want string) {
		t.Helper()
		if got := p.View().Reply(slot, write, replica); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("slot %d, write %v, replica %v: %q, want %q", slot, write, replica, got, want)
		}
	}
	expect(6000, true, false, "")
	expect(100, false, false, "MOVED 100 a:6380")
	expect(16383, true, true, "MOVED 16383 [::1]:6380")
	p.found("b2:6380")
	expect(6000, true, false, "MOVED 6000 b2:6380")
	expect(6000, false, false, "MOVED 6000 b2:6380")
	expect(6000, false, true, "")
	expect(6000, true, true, "MOVED 6000 b2:6380")
	p.found("c:6380") // another map's
	expect(6000, true, false, "MOVED 6000 b2:6380")
	p.Lead("")
	p.found("b2:6380") // the group knows better
	expect(6000, true, false, "CLUSTERDOWN")
	expect(6000, false, true, "")
	for _, other := range []string{"c:6380", "a:6380"} {
		if p.Lead(other) {
			t.Errorf("%s leads, which the shard does not have", other)
		}
		expect(6000, true, false, "CLUSTERDOWN")
	}
	expect(100, true, false, "MOVED 100 a:6380")
	p.Lead("b3:6380")
	write(t, file, strings.Replace(three, "b2:6380 http://b2:8780", "b3:6380", 1))
	if _, err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	expect(6000, true, false, "MOVED 6000 b3:6380") // a member that was added to the map after it led
	if !p.Lead("b:6380") {
		t.Error("the map does not have b")
	}

	write(t, file, strings.Replace(three, "7,100-200", "6000", 1))
	if _, err := p.Reload(); err != nil {
		t.Fatal(err)
	}
	expect(6000, true, false, "TRYAGAIN")
	expect(6000, false, false, "")

	write(t, file, "0-16383 z:1\n")
	v, err := p.Reload()
	if err != nil || v.Present() {
		t.Errorf("present %v, %v", v.Present(), err)
	}
	expect(6000, false, true, "MOVED 6000 z:1")

	write(t, file, "0-9 z:1\n")
	if _, err := p.Reload(); err == nil {
		t.Error("a map with a gap was read")
	}
	expect(6000, false, true, "MOVED 6000 z:1")
	if err := p.Install([]byte("0-16383 b:6380\n")); err != nil {
		t.Fatal(err)
	}
	expect(6000, true, false, "")
	if got, err := os.ReadFile(file); err != nil || string(got) != "0-16383 b:6380\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOpenFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "slots")
	if _, err := Open(file, "a:6380"); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a missing file: %v", err)
	}
	write(t, file, three)
	if _, err := Open(file, "c:6380"); err == nil || !strings.Contains(err.Error(), "no line has c:6380") {
		t.Errorf("another node's map: %v", err)
	}
}

// Reply allocates nothing for a call that is answered here.
func TestReplyAllocatesNothing(t *testing.T) {
	p, _ := opened(t, "b:6380", three)
	if n := testing.AllocsPerRun(100, func() { p.View().Reply(6000, true, false) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Shards have the same number of slots, give or take one, and no slot moves without need.
func TestPlan(t *testing.T) {
	shards := func(n int) (list []Shard) {
		for i := range n {
			list = append(list, Shard{Nodes: []Node{{Addr: fmt.Sprintf("n%d:6380", i)}}})
		}
		return list
	}
	count := func(m *Map) []int {
		n := make([]int, len(m.Shards))
		for slot := range Count {
			n[m.Owner(slot)]++
		}
		return n
	}
	for from := 1; from <= 9; from++ {
		old := Plan(shards(from), nil)
		if len(old.Shards[0].Ranges) != 1 {
			t.Errorf("a new map has %v", old.Shards[0].Ranges)
		}
		for to := 1; to <= 9; to++ {
			m := Plan(shards(to), old)
			if _, err := Parse(strings.NewReader(string(m.Text()))); err != nil {
				t.Fatalf("%d to %d: %v", from, to, err)
			}
			moved := 0
			for slot := range Count {
				if old.Moves(m, slot) {
					moved++
				}
			}
			for i, n := range count(m) {
				if n < Count/to || n > Count/to+1 {
					t.Errorf("%d to %d: shard %d has %d slots", from, to, i, n)
				}
			}
			if least := Count * max(to-from, from-to) / max(from, to); moved < least-from-to || moved > least+from+to {
				t.Errorf("%d to %d: %d slots move, want about %d", from, to, moved, least)
			}
		}
	}
}

// The node that accepts changes leads; if none does, the last one still leads.
func TestWatch(t *testing.T) {
	var leader [2]bool
	urls := [2]string{}
	seen := make(chan struct{}, 100)
	changed := make(chan [2]bool, 1)
	for i := range urls {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case leader = <-changed:
			default:
			}
			if seen <- struct{}{}; !leader[i] {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		defer s.Close()
		urls[i] = s.URL
	}
	p, _ := opened(t, "c:1", fmt.Sprintf("0-99 a:1 %s b:1 %s\n100-16383 c:1\n", urls[0], urls[1]))
	look := func(now [2]bool) string {
		changed <- now
		v := p.View()
		p.look(context.Background(), http.DefaultClient, v.Shards[0], v.leaders[0])
		return p.View().Leader(0).Addr
	}
	for _, c := range []struct {
		now  [2]bool
		want string
	}{{[2]bool{true, false}, "a:1"}, {[2]bool{false, true}, "b:1"}, {[2]bool{true, true}, "b:1"}, {[2]bool{}, "b:1"}, {[2]bool{true, false}, "a:1"}} {
		if got := look(c.now); got != c.want {
			t.Errorf("%v: %s leads, want %s", c.now, got, c.want)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { p.Watch(ctx, http.DefaultClient); close(ended) }()
	n := len(seen)
	await.True(t, "a look", func() bool { return len(seen) > n })
	stop()
	<-ended
}

// Eight bytes at a time give the same CRC as one bit at a time.
func TestOfBitwise(t *testing.T) {
	name := make([]byte, 0, 64)
	for i := range 64 {
		crc := uint16(0)
		for _, b := range name {
			crc ^= uint16(b) << 8
			for range 8 {
				crc = crc<<1 ^ crc>>15*0x1021
			}
		}
		if got := Of(name); got != int(crc%Count) {
			t.Errorf("%d bytes: slot %d, want %d", len(name), got, crc%Count)
		}
		name = append(name, byte(i*37+128)|0x80)
	}
}

// What a slot map costs a call with a key.
func BenchmarkOf(b *testing.B) {
	for _, n := range []int{8, 32, 128} {
		name := []byte(fmt.Sprintf("%0*d", n, 7))
		b.Run(fmt.Sprintf("n=%dB", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Of(name)
			}
		})
	}
}

// The names are those of the specification, in the slots that it states.
func TestSplitName(t *testing.T) {
	text, err := os.ReadFile("../../../../spec/vectors/split/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(text), "\n\n")
	compared := 0
	for row := range strings.Lines(rows) {
		var i, n, slot int
		var name, want string
		if _, err := fmt.Sscan(row, &i, &n, &name, &want, &slot); err != nil {
			t.Fatal(err)
		}
		if got := SplitName(name, i, n); got != want || Of([]byte(got)) != slot {
			t.Errorf("%d of %d: %s, want %s in slot %d", i, n, got, want, slot)
		}
		compared++
	}
	if compared < 50 {
		t.Errorf("%d names", compared)
	}
}

// Each node has the same number of filters of a split filter, give or take one or two, in any map of consecutive slots.
func TestSplitIsEven(t *testing.T) {
	for _, n := range []int{1, 4, 16, 30, 64} {
		for nodes := 1; nodes <= 12; nodes++ {
			had := make([]int, nodes)
			for i := range n {
				slot := Of([]byte(SplitName("big", i, n)))
				node := 0
				for (node+1)*Count/nodes <= slot {
					node++
				}
				had[node]++
			}
			for _, h := range had {
				if h < n/nodes-1 || h > n/nodes+2 {
					t.Errorf("%d filters on %d nodes: %v", n, nodes, had)
				}
			}
		}
	}
	for name, n := range map[string]int{"a": 0, "b": MaxSplit + 1, "a{b": 3} {
		if CheckSplit(name, n) == nil {
			t.Errorf("%s: %d is accepted", name, n)
		}
	}
}
