package httpapi

import (
	"fmt"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/wire"
)

// A container with the largest counts makes a filter whose own container is accepted after
// additions.
func TestContainersAtTheEndOfCounts(t *testing.T) {
	w, err := window.NewShape(window.Shape{Slice: 64, K: 3, L: 4, Limit: 5})
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

	n := serve(t, Options{})
	for name, s := range map[string]umbel.State{"window": byKeys, "redisbloom": full} {
		b, err := wire.Append(nil, s)
		if err != nil {
			t.Fatal(err)
		}
		n.want(n.ask("PUT", api.FilterPath(name), string(b), "Content-Type: "+api.MediaContainer), 201)
		for i := range 300 {
			key := fmt.Sprintf(`{"keys":["key %d"]}`, i)
			n.want(n.ask("POST", api.FilterPath(name)+"/add", key), 200)
			n.want(n.ask("POST", api.FilterPath(name)+"/has", key), 200, "true")
			if i%20 == 0 {
				again, tag := n.container(name)
				made := n.ask("PUT", api.FilterPath(fmt.Sprint(name, i)), again, "Content-Type: "+api.MediaContainer)
				n.want(made, 201)
				if _, same := n.container(fmt.Sprint(name, i)); same != tag {
					t.Fatalf("%s after %d additions: its container makes %s, want %s", name, i+1, same, tag)
				}
			}
		}
	}
}
