package union_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/ribbon"
	"github.com/umbel-filters/umbel/filter/union"
	"github.com/umbel-filters/umbel/filter/window"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// made returns a filter of a kind at a rate of 1 % with n keys, which are those of the seed.
func made(t testing.TB, v umbel.Kind, seed uint64, n int, ps ...umbel.Param) umbel.Filter {
	t.Helper()
	f, err := v.New(umbel.Goal{Keys: uint64(n), FPRate: 0.01}, ps)
	if err != nil {
		t.Fatal(err)
	}
	umbel.AddAll(f, nil, fixture.Digests(seed, n))
	if s, ok := f.(umbel.Sealer); ok {
		if err := s.Seal(); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// unionOf returns the union of filters.
func unionOf(t testing.TB, fs ...umbel.Filter) *union.Filter {
	t.Helper()
	var states []umbel.State
	for _, f := range fs {
		states = append(states, f.State())
	}
	u, err := union.Of(states...)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func wantAll(t testing.TB, f umbel.Filter, seed uint64, n int) {
	t.Helper()
	for i, d := range fixture.Digests(seed, n) {
		if !f.Has(d) {
			t.Fatalf("%v: Has is false for key %d of seed %d: a false negative", f, i, seed)
		}
	}
}

// The rate is 1 - Π (1 - p_i): 2 % for two members with 1 %, 4.9 % for five. With -v it prints the
// rates.
func TestRate(t *testing.T) {
	const n, queries = 5000, 100_000
	for _, c := range []struct {
		members int
		want    float64
	}{{1, 0.01}, {2, 0.0199}, {5, 0.0490}, {30, 0.2603}} {
		u := unionOf(t, made(t, bloom.Kind, 1, n))
		for i := 1; i < c.members; i++ {
			if err := u.Merge(made(t, bloom.Kind, uint64(i+1), n+100*i).State()); err != nil {
				t.Fatal(err)
			}
		}
		got := 0
		for _, d := range fixture.Digests(99, queries) {
			if u.Has(d) {
				got++
			}
		}
		rate, sigma := float64(got)/queries, math.Sqrt(c.want/queries)
		t.Logf("%2d members: planned %.4f, estimated %.4f, measured %.4f ± %.4f", c.members, c.want, u.Stats().FPRate, rate, sigma)
		if math.Abs(rate-c.want) > 0.1*c.want+3*sigma || math.Abs(u.Stats().FPRate-c.want) > 0.1*c.want {
			t.Errorf("%d members: measured %.4f, estimated %.4f, want %.4f", c.members, rate, u.Stats().FPRate, c.want)
		}
	}
}

// Stats bounds the number of distinct keys, whether members have keys in common or not.
func TestStatsBoundsKeys(t *testing.T) {
	for name, c := range map[string]struct {
		other umbel.Filter
		keys  float64
	}{
		"common keys":    {made(t, bloom.Kind, 1, 2000), 3000},
		"different keys": {made(t, bloom.Kind, 2, 2000), 5000},
	} {
		s := unionOf(t, made(t, bloom.Kind, 1, 3000), c.other).Stats()
		if s.Low > c.keys || c.keys > s.High || math.Abs(s.Keys-5000) > 200 {
			t.Errorf("%s: %.0f keys from %.0f to %.0f, want 5000 and an interval that contains %.0f", name, s.Keys, s.Low, s.High, c.keys)
		}
	}
}

// Unions are flat: merging a union merges its members, and members that are equal stay one.
func TestMergeOfMerge(t *testing.T) {
	a, b, c := made(t, bloom.Kind, 1, 1000), made(t, bloom.Kind, 2, 1500), made(t, ribbon.Kind, 3, 2000)
	ab, bc := unionOf(t, a, b), unionOf(t, b, c)
	was := bc.State().Clone()
	if err := ab.Merge(bc.State()); err != nil {
		t.Fatal(err)
	}
	if got := len(ab.Members()); got != 3 {
		t.Fatalf("%d members, want 3: %v", got, ab)
	}
	for i, n := range []int{1000, 1500, 2000} {
		wantAll(t, ab, uint64(i+1), n)
	}
	umbel.AddAll(ab, nil, fixture.Digests(4, 1000))
	if !bc.State().Equal(was) {
		t.Error("additions to the result change the filter that was merged")
	}
}

// Keys are added to the first member to which that does no harm.
func TestAddChoosesMember(t *testing.T) {
	byKeys := umbel.Param{Name: "by-keys", Value: umbel.Uint(1)}
	u := unionOf(t, made(t, ribbon.Kind, 1, 1000), made(t, window.Kind, 2, 1000, byKeys), made(t, bloom.Kind, 3, 1000), made(t, bloom.Kind, 4, 2000))
	was := u.State().Clone()
	ds := fixture.Digests(5, 1000)
	for _, d := range ds {
		had := u.Has(d)
		if changed, err := u.TryAdd(d); changed == had || err != nil {
			t.Fatalf("TryAdd is %v, %v, and Has was %v", changed, err, had)
		}
	}
	wantAll(t, u, 5, 1000)
	for i, m := range u.Members() {
		if same := m.State().Equal(was.Parts[i]); same != (i != 2) {
			t.Errorf("member %d of %v is unchanged: %v", i, u, same)
		}
	}

	closed := unionOf(t, made(t, ribbon.Kind, 1, 1000), made(t, window.Kind, 2, 1000, byKeys))
	absent := ds[slices.IndexFunc(ds, func(d umbel.Digest) bool { return !closed.Has(d) })]
	if _, err := closed.TryAdd(absent); !errors.Is(err, umbel.ErrLimit) || closed.Has(absent) {
		t.Errorf("TryAdd to %v: %v, want an error that wraps %q", closed, err, umbel.ErrLimit)
	}
	if _, err := closed.NextGrowth(); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("NextGrowth of %v: %v, want an error that wraps %q", closed, err, umbel.ErrLimit)
	}
	if !closed.Add(absent) || !closed.Has(absent) {
		t.Error("Add refuses a key")
	}
}

// Compact joins members of one size as far as the rate allows, and keeps the others.
func TestCompact(t *testing.T) {
	var fs []umbel.Filter
	for i := range 4 { // four quarters of what one filter is planned for
		f := made(t, bloom.Kind, 1, 4000)
		f.(umbel.Clearer).Clear()
		umbel.AddAll(f, nil, fixture.Digests(uint64(i+1), 1000))
		fs = append(fs, f)
	}
	fs = append(fs, made(t, bloom.Kind, 5, 9000), made(t, ribbon.Kind, 6, 500))
	u := unionOf(t, fs...)
	was := u.State().Clone()
	if err := u.Compact(1e-6); !errors.Is(err, umbel.ErrGoal) || !u.State().Equal(was) {
		t.Errorf("a rate below that of the members: %v, want an error that wraps %q and no change", err, umbel.ErrGoal)
	}
	if err := u.Compact(math.NaN()); !errors.Is(err, umbel.ErrGoal) || !u.State().Equal(was) {
		t.Errorf("no rate: %v, want an error that wraps %q and no change", err, umbel.ErrGoal)
	}
	for _, c := range []struct {
		rate    float64
		members int
	}{{0.0202, 4}, {0.04, 3}} {
		if err := u.Compact(c.rate); err != nil || len(u.Members()) != c.members || u.Stats().FPRate > c.rate {
			t.Errorf("Compact(%v): %v, %d members with a rate of %.4f, want %d", c.rate, err, len(u.Members()), u.Stats().FPRate, c.members)
		}
		for i := range uint64(4) {
			wantAll(t, u, i+1, 1000)
		}
		wantAll(t, u, 5, 9000)
		wantAll(t, u, 6, 500)
	}
	if err := u.Compact(0.5); err != nil {
		t.Errorf("no members to join: %v, want no error", err)
	}
}

func TestLimitsOfMembers(t *testing.T) {
	states := make([]umbel.State, union.MaxMembers+1)
	for i := range states {
		f, err := bloom.NewShape(bloom.Shape{M: 64, K: 1})
		if err != nil {
			t.Fatal(err)
		}
		umbel.AddAll(f, nil, fixture.Digests(uint64(i), 8)) // no two are equal
		states[i] = f.State()
	}
	u, err := union.Of(states[:union.MaxMembers]...)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Merge(states[union.MaxMembers]); !errors.Is(err, umbel.ErrMismatch) || len(u.Members()) != union.MaxMembers {
		t.Errorf("one member too many: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
	s := u.State()
	s.Parts = states
	if _, err := union.Open(s); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("Open with a member too many: %v, want an error that wraps %q", err, umbel.ErrCorrupt)
	}
	nested := umbel.State{Kind: union.Name, Parts: []umbel.State{u.State()}}
	if _, err := union.Open(nested); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("Open of a union in a union: %v, want an error that wraps %q", err, umbel.ErrCorrupt)
	}
	if _, err := union.Of(); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("a union of nothing: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
	other := states[0].Clone()
	other.Hasher.Seed = fixture.Seed(1, 0)
	if _, err := union.Of(states[0], other); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("different hashers: %v, want an error that wraps %q", err, umbel.ErrMismatch)
	}
}

// The time of queries for unions of several members, next to one filter of all keys. Absent keys
// visit every member.
func BenchmarkHas(b *testing.B) {
	const keys = 3_000_000
	absent := fixture.Digests(1<<32, 1<<16)
	got := make([]bool, 256)
	for _, members := range []int{1, 2, 5, 30} {
		var fs []umbel.Filter
		for i := range members {
			fs = append(fs, made(b, bloom.Kind, uint64(i), keys/members+i))
		}
		f := umbel.Filter(unionOf(b, fs...))
		if members == 1 {
			f = fs[0]
		}
		s := f.Stats()
		report := func(b *testing.B) {
			b.ReportMetric(float64(s.Bytes)/(1<<20), "MiB")
			b.ReportMetric(100*s.FPRate, "percent")
		}
		b.Run(fmt.Sprintf("one/members=%d", members), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				f.Has(absent[i&(len(absent)-1)])
			}
			report(b)
		})
		b.Run(fmt.Sprintf("batch/members=%d", members), func(b *testing.B) {
			for i := 0; b.Loop(); i += len(got) {
				umbel.HasAll(f, got, absent[i&(len(absent)-1):][:len(got)])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(got)), "ns/key")
			report(b)
		})
	}
}

// A union is planned for the keys of all members, with the rate of all together.
func TestPlanned(t *testing.T) {
	var states []umbel.State
	for _, n := range []uint64{1000, 3000} {
		f, err := bloom.New(n, 0.01)
		if err != nil {
			t.Fatal(err)
		}
		states = append(states, f.State())
	}
	f, err := union.Of(states...)
	if err != nil {
		t.Fatal(err)
	}
	if p := f.Planned(); p.Keys != 4000 || math.Abs(p.FPRate-0.0199) > 1e-9 {
		t.Errorf("planned for %+v, want 4000 keys with a rate of 0.0199", p)
	}
	states[1].Planned = umbel.Planned{}
	if f, err = union.Of(states...); err != nil || f.Planned() != (umbel.Planned{}) {
		t.Errorf("with a member of unknown plan: planned for %+v, %v, want nothing", f.Planned(), err)
	}
}
