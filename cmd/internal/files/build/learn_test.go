package build

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/filter/weighted"
)

// written returns a file with lines for reading.
func written(t *testing.T, lines ...string) *os.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func learning(g umbel.Goal) Order {
	return Order{Kind: weighted.Kind, Goal: g, Keys: keys.Job{Format: keys.Lines, Workers: 2}, Memory: 1 << 20}
}

// Of the queried keys, those that are present need no place in the table, nor do
// those that are queried once.
func TestLearnTakesHotAbsentKeys(t *testing.T) {
	var there, asked []string
	for i := range 1000 {
		there = append(there, fmt.Sprint("key ", i))
		asked = append(asked, fmt.Sprint("rare ", i))
	}
	for range 300 {
		asked = append(asked, "key 0", "hot", "hotter", "hotter")
	}
	files := []*os.File{written(t, there[:500]...), written(t, there[500:]...)}
	made, err := learning(umbel.Goal{Bytes: 1000}).Learn(files, written(t, asked...))
	if err != nil {
		t.Fatal(err)
	}
	f := made.Filter.(*weighted.Filter)
	if made.Read != 1000 || f.State().Bytes() > 1000 {
		t.Errorf("%d keys read, %d bytes, want 1000 and no more than 1000", made.Read, f.State().Bytes())
	}
	for _, key := range there {
		if !f.HasString(key) {
			t.Fatalf("%q isn't there", key)
		}
	}
	// Without the table and its classes 300 + 600 of 1900 queries have the same rate as the others.
	if g := made.Weights; g == nil || g.TableKeys != 2 || g.TableBytes != 16 || g.Worthless() || g.Relative < 0.5 || g.Relative > 0.6 {
		t.Errorf("%+v, want a table of 2 keys and a little more than 1000/1900 of the false positives", g)
	}
	k := func(key string) int { return len(f.Locate(nil, f.Hasher().HashString(key))) }
	if k("hotter") < k("hot") || k("hot") < 2*k("rare 0") || k("key 0") != k("rare 0") {
		t.Errorf("hotter, hot, rare and a member are asked for in %d, %d, %d and %d cells", k("hotter"), k("hot"), k("rare 0"), k("key 0"))
	}
	if n := len(f.Shape().Hot); n != 2 {
		t.Errorf("%d keys in the table, want 2", n)
	}
	if f.HasString("hot") || f.HasString("hotter") {
		t.Error("a hot key is answered wrongly")
	}
}

// Questions that are even leave a standard filter; without keys it holds none.
func TestLearnWithoutHotKeys(t *testing.T) {
	made, err := learning(umbel.Goal{}).Learn([]*os.File{written(t, "a", "b", "c")}, written(t, "x", "y", "x"))
	if err != nil || len(made.Filter.(*weighted.Filter).Shape().Classes) != 1 || !made.Filter.Has(umbel.Hasher{}.HashString("a")) {
		t.Errorf("%+v, %v; want a filter of one class", made, err)
	}
	if g := made.Weights; g == nil || g.TableKeys != 0 || g.TableBytes != 0 || !g.Worthless() {
		t.Errorf("%+v, want no gain", g)
	}
	made, err = learning(umbel.Goal{}).Learn([]*os.File{written(t)}, written(t, "x"))
	if err != nil || made.Read != 0 {
		t.Errorf("%+v, %v; want an empty filter", made, err)
	}
}

func TestLearnRefuses(t *testing.T) {
	log, many := []string{"hot", "hot", "hot", "x"}, make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for name, c := range map[string]struct {
		order Order
		log   []string
		says  string
	}{
		"a parameter":     {Order{Params: umbel.Params{{Name: "k", Value: umbel.Uint(3)}}}, log, "k can't"},
		"an empty log":    {learning(umbel.Goal{}), nil, "empty"},
		"too few bytes":   {learning(umbel.Goal{Bytes: 3, Keys: 1e6}), log, "have a rate of|too few"},
		"bytes and rate":  {learning(umbel.Goal{Bytes: 1000, FPRate: 0.001}), log, "leave out one"},
		"not any hashers": {learning(umbel.Goal{FPRate: 2}), log, "2"},
	} {
		_, err := c.order.Learn([]*os.File{written(t, many...)}, written(t, c.log...))
		says := strings.Split(c.says, "|")
		if !errors.Is(err, umbel.ErrGoal) || !strings.Contains(err.Error(), says[0]) && !strings.Contains(err.Error(), says[len(says)-1]) {
			t.Errorf("%s: %v, want an error that wraps %q and says %q", name, err, umbel.ErrGoal, c.says)
		}
	}
}

// Keys whose prefix determines their class are added with it, by any number of workers.
func TestAddOfClasses(t *testing.T) {
	s := weighted.Shape{M: 6400, Classes: []weighted.Class{{K: 2}, {K: 9}}, Prefixes: []weighted.Prefix{{Prefix: "h", Class: 1}}}
	lines := []string{"hot", "cold", "here", "x"}
	got, err := weighted.NewShape(s)
	if err != nil {
		t.Fatal(err)
	}
	read, err := Add(got, keys.Job{Format: keys.Lines, Workers: 3}, []*os.File{written(t, lines...)})
	if err != nil || read != 4 {
		t.Fatalf("%d keys read, %v; want 4", read, err)
	}
	want, _ := weighted.NewShape(s)
	for _, key := range lines {
		want.AddString(key)
	}
	if !got.State().Arrays[0].Equal(want.State().Arrays[0]) {
		t.Error("the bits aren't those of AddString")
	}
}
