package um

import (
	"math"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	apbf "github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/wire"
)

// ended returns containers with the largest counts.
func ended(t *testing.T) map[string]string {
	t.Helper()
	w, err := apbf.NewShape(apbf.Shape{Slice: 64, K: 3, L: 4, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	byKeys := w.State()
	byKeys.Params[5].Value = umbel.Uint(1 << 62)
	r, err := redisbloom.Reserve(redisbloom.Options{ErrorRate: 0.01, Capacity: 20})
	if err != nil {
		t.Fatal(err)
	}
	full := r.State()
	full.Parts[0].Params[1].Value = umbel.Uint(math.MaxUint64)
	all := map[string]string{}
	for name, s := range map[string]umbel.State{"window": byKeys, "redisbloom": full} {
		b, err := wire.Append(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(b)
	}
	return all
}

// An imported filter with the largest counts is copied, exported and imported again after
// additions.
func TestImportsAtTheEndOfCounts(t *testing.T) {
	p := start(t, 0, Options{})
	for name, container := range ended(t) {
		if got := p.Do("UM.IMPORT", name, container); got != "+OK" {
			t.Fatalf("%s: %s", name, got)
		}
		for from := 0; from < 300; from += 50 {
			p.fill(name, from, from+50)
			p.holds(name, from+49, from+50)
			p.Expect("UM.COPY "+name+" copy REPLACE", "+OK")
			b := resptest.Bulk(t, p.Line("UM.EXPORT "+name))
			if got := p.Do("UM.IMPORT", "again", b, "REPLACE"); got != "+OK" {
				t.Fatalf("%s after %d additions: %s", name, from+50, got)
			}
			p.Expect("UM.ID again", p.Line("UM.ID "+name))
		}
		if name == "redisbloom" { // windows by keys don't merge
			if got := p.Line("UM.MERGE redisbloom again"); strings.HasPrefix(got, "-") {
				t.Errorf("UM.MERGE: %s", got)
			}
		}
	}
}
