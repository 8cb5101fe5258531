package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// An acknowledged addition is counted, at every fill level and in every form of keys, also
// immediately before the filter grows and if it may not grow.
func TestEveryAdditionCounts(t *testing.T) {
	n := serve(t, Options{})
	for name, order := range map[string]string{
		"grows":  `{"kind":"dynamic","keys":50,"fpRate":1e-6,"params":{"width":16}}`,
		"full":   `{"kind":"dynamic","keys":50,"fpRate":1e-6,"params":{"width":16,"max-bytes":5000}}`,
		"single": `{"kind":"counting","keys":50,"fpRate":1e-6}`,
	} {
		n.make(name, order)
		path := "/v1/filters/" + name
		times, refused := make([]uint64, 20), 0
		for i := range 160 {
			if r := n.ask("POST", path+"/add", fmt.Sprintf(`{"keys":["other %d"]}`, i)); r.StatusCode != 200 {
				refused++
			}
			at := i % len(times)
			key := fmt.Sprint("key ", at)
			n.want(n.ask("POST", path+"/add", fmt.Sprintf(`{"keys":[%q]}`, key)), 200, "answers")
			n.want(n.ask("POST", path+"/add", key+"\n"+key+"\n", "Content-Type: "+api.MediaText), 200)
			if times[at] += 3; i%2 == 0 {
				n.want(n.ask("POST", path+"/remove", fmt.Sprintf(`{"keys":[%q]}`, key)), 200)
				times[at]-- // too low if the removal was refused
			}
			n.wantCount(path, key, times[at], i+1)
		}
		if (refused > 0) != (name == "full") {
			t.Errorf("%s: %d other keys were refused", name, refused)
		}
		for at := range times {
			key := fmt.Sprint("key ", at)
			for times[at] > 1 && strings.Contains(n.ask("POST", path+"/remove", fmt.Sprintf(`{"keys":[%q]}`, key)).body, "true") {
				times[at]--
			}
			n.wantCount(path, key, times[at], 160)
			n.want(n.ask("POST", path+"/has", fmt.Sprintf(`{"keys":[%q]}`, key)), 200, `[true]`)
		}
	}
}

// wantCount fails the test unless the count of the key is at least times.
func (n *node) wantCount(path, key string, times uint64, others int) {
	n.Helper()
	r := n.want(n.ask("POST", path+"/count", fmt.Sprintf(`{"keys":[%q]}`, key)), 200)
	var counted struct{ Answers []uint64 }
	if err := json.Unmarshal([]byte(r.body), &counted); err != nil || len(counted.Answers) != 1 || counted.Answers[0] < times {
		n.Fatalf("%s of %s, with %d other keys: %s, added %d times more than removed", path, key, others, r.body, times)
	}
}
