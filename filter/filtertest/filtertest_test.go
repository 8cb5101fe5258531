package filtertest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// TestBrokenKindsFail: each broken kind fails the law that it breaks.
func TestBrokenKindsFail(t *testing.T) {
	if testing.Short() {
		t.Skip("laws have fewer trials in a short run, too few for some of the broken kinds")
	}
	find := make(map[string]law)
	for _, l := range laws {
		find[l.name] = l
	}
	unbroken := make(map[string]bool)
	for name := range find {
		unbroken[name] = true
	}
	for _, b := range broken {
		t.Run(b.law+"/"+b.what, func(t *testing.T) {
			l, ok := find[b.law]
			if !ok {
				t.Fatalf("there is no law %s", b.law)
			}
			delete(unbroken, b.law)
			r := record(l, b.make())
			if !r.failed {
				t.Errorf("passes the law %s; skipped: %v", b.law, r.skipped)
			}
			if !strings.Contains(r.text(), b.want) {
				t.Errorf("fails with\n%s\nwant %q in it", r.text(), b.want)
			}
		})
	}
	for name := range unbroken {
		t.Errorf("no broken kind shows that the law %s finds anything", name)
	}
}

// TestUnbrokenKindPasses: the kinds that the broken ones are derived from pass, and each law is
// tested by one of them.
func TestUnbrokenKindPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite runs in the tests of each kind")
	}
	kinds := []umbel.Kind{
		kind(nil),
		remembers(func(f *remembering) umbel.Filter { return f })(),
		limits(func(f *limiting) umbel.Filter { return f })(),
		forgets(func(f *forgetting) umbel.Filter { return f })(),
		sealsWith(func(f *sealable) umbel.Filter { return f })(),
	}
	for _, l := range laws {
		var r *recorder
		for _, v := range kinds {
			if r = record(l, v); !r.skipped {
				break
			}
		}
		if r.failed || r.skipped {
			t.Errorf("%s: failed %v, skipped %v: %s", l.name, r.failed, r.skipped, r.text())
		}
	}
}

// TestPlainKindPasses: a kind with only the methods of umbel.Filter passes. Laws about other
// methods are skipped.
func TestPlainKindPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite runs in the tests of each kind")
	}
	type plain struct{ umbel.Filter }
	skipped := 0
	for _, l := range laws {
		r := record(l, kind(func(f *bloom.Filter) umbel.Filter { return plain{f} }))
		if r.failed {
			t.Errorf("%s: %s", l.name, r.text())
		}
		if r.skipped {
			skipped++
		}
	}
	if skipped != 22 {
		t.Errorf("%d laws are skipped, want 22", skipped)
	}
}

// recorder is a tb that keeps the failures of a law.
type recorder struct {
	failed, skipped bool
	log             []string
}

// record runs a law to its end or its first fatal failure.
func record(l law, v umbel.Kind) *recorder {
	r := new(recorder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if p := panicked(func() { l.check(r, v) }); p != nil {
			r.Errorf("panic: %v", p)
		}
	}()
	<-done
	return r
}

func (r *recorder) text() string { return strings.Join(r.log, "\n") }

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failed = true
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.skipped = true
	r.log = append(r.log, fmt.Sprintf(format, args...))
	runtime.Goexit()
}
