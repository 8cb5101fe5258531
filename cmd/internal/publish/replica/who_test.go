package replica

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/share"
)

// Who has a key, in the order of zones and costs.
func TestWho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := follow(t, t.TempDir(), share.StaleLast)
		w.stop()
		for i, name := range []string{"far", "near", "cheap", "empty"} {
			p := newPublication(t, "example.org/"+name)
			if name != "empty" {
				p.publish("object")
			}
			spec := Spec{Filter: name, Source: "memory", Zone: []int{1, 0, 0, 0}[i], Cost: []float64{0, 5, 2, 0}[i]}
			w.o.Publications = append(w.o.Publications, Publication{Spec: spec, Reader: p, Verifier: p.key.Verifier})
		}
		w.start()
		defer func() { w.stop() }()
		time.Sleep(time.Second)
		got := w.set.Who([][]byte{[]byte("object"), []byte("none")}, func(string) bool { return true })
		if !slices.Equal(got.Filters[0], []string{"cheap", "near", "far"}) || len(got.Filters[1]) != 0 || len(got.Unanswered) != 1 || got.Unanswered[0].Filter != "empty" {
			t.Errorf("got %+v", got)
		}
		got = w.set.Who([][]byte{[]byte("object")}, func(name string) bool { return name == "far" })
		if !slices.Equal(got.Filters[0], []string{"far"}) || len(got.Unanswered) != 0 {
			t.Errorf("with one filter permitted: got %+v", got)
		}
	})
}

// A publication that is out of date answers as the setting selects, and is listed if it has no answer.
func TestWhoUnanswered(t *testing.T) {
	for stale, want := range map[share.Stale]struct{ waiting, expired string }{
		share.StaleError: {"waiting", "stale"}, share.StaleMaybe: {"both", "both"}, share.StaleLast: {"waiting", "present"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPublication(t, "example.org/users")
			p.down.Store(true)
			w := follow(t, t.TempDir(), stale, p)
			defer w.stop()
			check := func(want string) {
				t.Helper()
				got := w.set.Who([][]byte{[]byte("alice"), []byte("bob")}, func(string) bool { return true })
				has := [2]bool{len(got.Filters[0]) == 1, len(got.Filters[1]) == 1}
				switch want {
				case "both", "present":
					if has != [2]bool{true, want == "both"} || len(got.Unanswered) != 0 {
						t.Errorf("stale %v: got %+v, want %s", stale, got, want)
					}
				default:
					reason := map[string]string{api.SubscriptionWaiting: "no version has arrived yet", api.SubscriptionStale: "the head of version 1 was valid until"}[want]
					if has != [2]bool{} || len(got.Unanswered) != 1 || got.Unanswered[0].Filter != "example.org/users" || got.Unanswered[0].State != want ||
						!strings.HasPrefix(got.Unanswered[0].Error, reason) || !strings.Contains(got.Unanswered[0].Error, errDown.Error()) {
						t.Errorf("stale %v: got %+v, want %s", stale, got, want)
					}
				}
			}
			time.Sleep(time.Second)
			check(want.waiting)
			p.down.Store(false)
			p.publish("alice")
			time.Sleep(20 * time.Second)
			check("present")
			p.down.Store(true)
			time.Sleep(2 * time.Minute)
			check(want.expired)
		})
	}
}
