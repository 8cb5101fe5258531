package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// filterCase compares the filters of a contest with the same size and the same input.
type filterCase struct {
	size
	input
	contest
}

// path returns the name of the case for --only.
func (c filterCase) path() string {
	want := fmt.Sprintf("bits=%g", c.bitsPerKey)
	if c.rate != 0 {
		want = fmt.Sprintf("fpr=%g", c.rate)
	}
	return fmt.Sprintf("%s/n=%s/%s/%s", c.section, short(c.keys), want, c.input)
}

func (c filterCase) title() string {
	want := fmt.Sprintf("%g bits per key", c.bitsPerKey)
	if c.rate != 0 {
		want = fmt.Sprintf("sized for %g %%", c.rate*100)
	}
	what := [inputs]string{"precomputed hashes", "keys of 8 bytes", "keys of 32 bytes"}[c.input]
	note := c.note
	if c.goroutines != 0 {
		note = fmt.Sprintf(", %s goroutines on one filter", inWords(c.goroutines))
	}
	return fmt.Sprintf("%s keys, %s, %s%s", short(c.keys), want, what, note)
}

// inWords formats a number of goroutines; the tables of two are in docs.
func inWords(n int) string {
	if n == 2 {
		return "two"
	}
	return fmt.Sprint(n)
}

// short formats a number of keys, for example as 1e5.
func short(n uint64) string {
	e := 0
	for n >= 10 && n%10 == 0 {
		n /= 10
		e++
	}
	if e < 3 {
		return fmt.Sprint(n) + "000"[:e]
	}
	return fmt.Sprintf("%de%d", n, e)
}

// run measures the case. It returns nil if --only excludes all contestants.
func (c filterCase) run(o options, p *progress) (*Table, error) {
	p.scope = c.path()
	t := &Table{
		Section: c.section, Path: c.path(), Title: c.title(), Unit: "ns/key",
		Keys: c.keys, WantRate: c.rate, WantBits: c.bitsPerKey, Input: c.input.String(),
	}
	m := &match{filterCase: c, options: o, progress: p}
	if err := m.enter(t); err != nil || len(m.entrants) == 0 {
		return nil, err
	}
	defer free()
	m.prepare(len(c.ops[fresh]))
	for _, group := range c.ops {
		for _, op := range group {
			t.Columns = append(t.Columns, op.name)
		}
		if err := m.measure(group); err != nil {
			return nil, err
		}
	}
	return t, m.verify()
}

// free returns memory to the system before the next case.
func free() {
	runtime.GC()
	debug.FreeOSMemory()
}

// entrant is a contestant in a case.
type entrant struct {
	*subject
	role role
	row  *Row
}

// enter makes the filters of the contestants. Static filters come first, because their
// construction needs the most memory.
func (m *match) enter(t *Table) error {
	chosen := slices.DeleteFunc(slices.Clone(m.contestants), func(c contestant) bool {
		return !slices.Contains(c.takes, m.input) ||
			!m.only.MatchString(m.path()+"/"+c.name) ||
			c.role != filter && m.goroutines != 0 ||
			c.role == floor && m.bitsPerKey == 0
	})
	for _, first := range []bool{true, false} {
		for _, c := range chosen {
			if (c.role == static) != first {
				continue
			}
			m.show("make %s", c.name)
			s, err := c.make(m.size, m.input)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", m.path(), c.name, err)
			}
			if s == nil || m.goroutines != 0 && s.addShared == nil {
				continue
			}
			e := &entrant{s, c.role, &Row{Name: c.name}}
			if c.role == static {
				m.build(e)
			}
			m.entrants = append(m.entrants, e)
		}
	}
	for _, c := range chosen { // in the order of the contest
		for _, e := range m.entrants {
			if e.row.Name == c.name {
				t.Rows = append(t.Rows, e.row)
			}
		}
	}
	free()
	return nil
}

// build makes a static filter and records the construction time as that of additions.
func (m *match) build(e *entrant) {
	rounds := m.rounds
	if !m.near() {
		rounds = 1
	}
	var times []float64
	for range rounds {
		k := makeHashes(0, int(m.keys))
		if m.near() { // digests fit into memory, too
			k = makeKeys(m.input, 0, int(m.keys))
		}
		times = append(times, perKey(timed(func() { e.add(k) }), k.n))
	}
	e.row.set("add", summary(times))
}

func perKey(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / float64(n) }

var (
	anyKeys   = []input{hashed, bytes8, bytes32}
	bytesOnly = []input{bytes8, bytes32}
	hashOnly  = []input{hashed}
)

// contest contains the contestants, in the order of the tables, and the operations.
type contest struct {
	section     string
	contestants []contestant
	ops         [][]operation // the first group contains the additions
	goroutines  int           // that use one filter; 0 if one goroutine uses each
	note        string        // appended to the title
}

var (
	filters  = contest{section: "filters", contestants: fixed, ops: singleOps}
	together = contest{section: "shared", contestants: fixed, ops: sharedOps, goroutines: 2}

	// Contests of other kinds with a standard filter.
	counters = contest{section: "counting", contestants: countingContestants, ops: removeOps, note: ", filters with removal"}
	weights  = contest{section: "weighted", contestants: weightedContestants, ops: singleOps, note: ", none of them in the table of hot keys (1 %)"}
	statics  = contest{section: "static", contestants: staticContestants, ops: singleOps, note: ", static sets"}
	growers  = contest{section: "growing", contestants: growingContestants, ops: singleOps, note: ", growing filters planned for 1 % of them"}
)

// fixed contains the filters of a fixed size.
var fixed = []contestant{
	{"umbel bloom", anyKeys, umbelBloom, filter},
	{"umbel partitioned", anyKeys, umbelPartitioned, filter},
	{"umbel blocked", anyKeys, umbelBlocked, filter},
	{"umbel splitblock", anyKeys, umbelSplitBlock, filter},
	{"bits-and-blooms", bytesOnly, bitsAndBlooms, filter},
	{"BoomFilters classic", bytesOnly, boomClassic, filter},
	{"BoomFilters partitioned", bytesOnly, boomPartitioned, filter},
	{"holiman", anyKeys, holiman, filter},
	{"ristretto z.Bloom", anyKeys, ristretto, filter},
	{"blobloom", anyKeys, blobloomPlain, filter},
	{"blobloom SyncFilter", hashOnly, blobloomSync, filter},
	{"parquet-go SBBF", anyKeys, parquetGo, filter},
	{"parquet-go SBBF, XXH3", bytesOnly, parquetGoXXH3, filter},
	{"xorfilter fuse8", hashOnly, fuse8, static},
	{"touch a line", hashOnly, touchFloor, floor},
	{"prefetch a line", hashOnly, prefetchFloor, floor},
}

var (
	countingContestants = []contestant{
		{"umbel bloom", anyKeys, umbelBloom, filter},
		{"umbel counting", anyKeys, umbelCounting, filter},
		{"umbel counting with a view", anyKeys, umbelCountingView, filter},
		{"BoomFilters counting", bytesOnly, boomCounting, filter},
	}
	weightedContestants = []contestant{
		{"umbel bloom", hashOnly, umbelBloom, filter},
		{"umbel weighted, k of bloom", hashOnly, umbelWeighted, filter},
		{"umbel weighted", hashOnly, umbelWeightedPlanned, filter},
	}
	growingContestants = []contestant{
		{"umbel bloom", anyKeys, umbelBloom, filter},
		{"umbel scalable", anyKeys, umbelScalable, filter},
		{"umbel redisbloom", anyKeys, umbelRedisbloom, filter},
		{"BoomFilters scalable", bytesOnly, boomScalable, filter},
	}
	staticContestants = []contestant{
		{"umbel bloom", hashOnly, umbelBloom, filter},
		{"umbel blocked", hashOnly, umbelBlocked, filter},
		{"umbel sparse", hashOnly, umbelSparse, static},
		{ribbonRow, hashOnly, umbelRibbon, static},
		{"xorfilter fuse8", hashOnly, fuse8, static},
	}
)
