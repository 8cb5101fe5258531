package um

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
)

// An addition that UM.ADD or UM.ADDRAW acknowledged is counted, at every fill level, also
// immediately before the filter grows and if it may not grow.
func TestEveryAdditionCounts(t *testing.T) {
	p := start(t, 0, Options{})
	for _, made := range []string{"dynamic KEYS 100 RATE 1e-6 width 16", "dynamic KEYS 100 RATE 1e-6 width 4 max-bytes 3000", "counting KEYS 100 RATE 1e-6"} {
		p.Expect("UM.MAKE f "+made, "+OK")
		h := p.engine.Get([]byte("f")).Hasher()
		fillers, watched := items(100, 500), items(0, 50)
		times := make([]int, len(watched))
		refused := 0
		for i, filler := range fillers {
			refused += strings.Count(p.Do("UM.ADD", "f", filler), "-")
			at := i % len(watched)
			item := watched[at]
			replies := p.Do("UM.ADD", "f", item)
			if i%3 == 0 {
				replies += p.Do("UM.ADD", "f", item, item)
			}
			times[at] += strings.Count(replies, "#") // true and also false, which a saturated counter gives
			if strings.Contains(replies, "-") {
				t.Fatalf("%s: UM.ADD of a present item: %s", made, replies)
			}
			if got := p.Do("UM.ADDRAW", "f", digestsOf(h.HashString(item), h.HashString(item))); !strings.HasPrefix(got, ":") {
				t.Fatalf("%s: UM.ADDRAW of a present item: %s", made, got)
			}
			times[at] += 2
			wantCount(p, made, item, times[at], i+1)
		}
		if limited := strings.Contains(made, "max-bytes"); limited != (refused > 0) {
			t.Errorf("%s: %d fillers were refused", made, refused)
		}
		for at, item := range watched {
			for times[at] > 1 && p.Do("UM.REMOVE", "f", item) == "*1[#t]" {
				times[at]--
			}
			wantCount(p, made, item, times[at], len(fillers))
			if got := p.Do("UM.HAS", "f", item); got != "*1[#t]" {
				t.Fatalf("%s: UM.HAS %s with %d additions: %s", made, item, times[at], got)
			}
		}
		if _, _, err := p.engine.Delete([]byte("f")); err != nil {
			t.Fatal(err)
		}
	}
}

// wantCount fails the test unless the count of the item is at least times.
func wantCount(p *place, made, item string, times, others int) {
	p.t.Helper()
	reply := p.Do("UM.COUNT", "f", item)
	if reply == "*1["+bulk("18446744073709551615")+"]" { // its counters are full
		return
	}
	var n int
	if _, err := fmt.Sscanf(reply, "*1[:%d]", &n); err != nil || n < times {
		p.t.Fatalf("%s: UM.COUNT of %s, with %d other items: %s, added %d times more than removed", made, item, others, reply, times)
	}
}

func digestsOf(ds ...umbel.Digest) string {
	var b []byte
	for _, d := range ds {
		b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, d.H1), d.H2)
	}
	return string(b)
}
