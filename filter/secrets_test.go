package filter_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/dynamic"
	"github.com/umbel-filters/umbel/filter/folding"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/filter/foreign/splitblock"
	"github.com/umbel-filters/umbel/filter/foreign/squid"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// Errors that only some kinds have contain no seed. filtertest checks the others.
func TestOwnErrorsContainNoSeed(t *testing.T) {
	seed := umbel.SeedFrom([16]byte([]byte("SECRTabcdefgXYZ!")))
	g := umbel.Goal{Keys: 100, FPRate: 0.01, Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: seed}}
	split := fixture.Must(splitblock.NewGoal(g))
	redis := fixture.Must(redisbloom.NewGoal(g))
	cache := fixture.Must(squid.NewGoal(g))
	_, bitset := split.AppendBitset(nil)
	_, chunks := redis.Chunks()
	_, _, dump := redis.ScanDump(0)
	_, digest := cache.Digest()
	for name, err := range map[string]error{"AppendBitset": bitset, "Chunks": chunks, "ScanDump": dump, "Digest": digest} {
		if err == nil {
			t.Errorf("%s of a filter with another hash: no error", name)
			continue
		}
		if form := fixture.FindSeed(fmt.Sprintf("%v %+v %#v", err, err, err), seed); form != "" {
			t.Errorf("%s prints a seed, as %s: %v", name, form, err)
		}
	}
}

// What is made from a filter, and what has one, prints no seed either, and the filter's description where fmt can call
// its methods.
func TestWhatHasAFilterPrintsNoSeed(t *testing.T) {
	seed := umbel.SeedFrom([16]byte([]byte("SECRTabcdefgXYZ!")))
	g := umbel.Goal{Keys: 100, FPRate: 0.01, Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: seed}}
	f := fixture.Must(counting.NewGoal(g))
	var hidden any = &struct{ f counting.Filter }{} // fmt cannot call the methods of f
	reflect.NewAt(reflect.TypeFor[counting.Filter](), reflect.ValueOf(hidden).UnsafePointer()).Elem().Set(reflect.ValueOf(f).Elem())
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		if form := fixture.FindSeed(fmt.Sprintf(verb, hidden), seed); form != "" {
			t.Errorf("%s of an unexported field prints a seed, as %s", verb, form)
		}
	}
	for _, v := range []any{f.View()} {
		text := fmt.Sprintf("%v %+v %#v %s %d", v, v, v, v, v)
		if form := fixture.FindSeed(text, seed); form != "" {
			t.Errorf("%T prints a seed, as %s: %.200s", v, form, text)
		}
		if len(text) > 2000 {
			t.Errorf("%T prints %d bytes", v, len(text))
		}
		if b, err := json.Marshal(v); err == nil {
			t.Errorf("%T has the JSON %.200s, want an error", v, b)
		}
	}
}

// No line of the library formats a seed. It would go unnoticed by the test above if the
// error were rare.
func TestNoSourceFormatsASeed(t *testing.T) {
	formats := regexp.MustCompile(`(Errorf|Sprintf?|Sprintln|Fprintf?|Appendf?|panic)\(.*([Hh]asher\.Seed|\.Seed\.(Lo|Hi|Bytes))`)
	root := os.DirFS("..")
	files := 0
	for _, dir := range []string{"cells", "filter", "internal", "plan", "wire"} {
		err := fs.WalkDir(root, dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			b, err := fs.ReadFile(root, path)
			for i, line := range strings.Split(string(b), "\n") {
				if formats.MatchString(line) {
					t.Errorf("%s:%d prints a seed: %s", path, i+1, strings.TrimSpace(line))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 50 {
		t.Errorf("%d files read, want the library", files)
	}
}

// go vet reports a copy of a filter of every kind, since a field has the methods of a lock.
func TestCopiesAreReported(t *testing.T) {
	filters := []umbel.Filter{fixture.Must(dynamic.NewCounting(10, 0.1)), fixture.Must(folding.NewCounting(10, 0.1))}
	for _, k := range filter.All {
		filters = append(filters, fixture.Must(k.New(umbel.Goal{Keys: 10, FPRate: 0.1}, nil)))
	}
	for _, f := range filters {
		field := reflect.TypeOf(f).Elem().Field(0).Type
		if reflect.PointerTo(field).Implements(reflect.TypeFor[umbel.Filter]()) {
			field = field.Field(0).Type // of the filter that this one contains
		}
		if !reflect.PointerTo(field).Implements(reflect.TypeFor[sync.Locker]()) {
			t.Errorf("the first field of %T is a %v, want kinds.NoCopy", f, field)
		}
	}
}
