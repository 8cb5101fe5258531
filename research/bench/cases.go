package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// filterCase is one comparison of filters: all of a contest with keys of one input,
// sized alike.
type filterCase struct {
	size
	input
	contest
}

// path names the case for --only.
func (c filterCase) path() string {
	want := fmt.Sprintf("bits=%g", c.bitsPerKey)
	if c.rate != 0 {
		want = fmt.Sprintf("fpr=%g", c.rate)
	}
	return fmt.Sprintf("%s/n=%s/%s/%s", c.section, short(c.keys), want, c.input)
}

func (c filterCase) title() string {
	want := fmt.Sprintf("%g bits a key", c.bitsPerKey)
	if c.rate != 0 {
		want = fmt.Sprintf("sized for %g %%", c.rate*100)
	}
	what := [inputs]string{"ready hashes", "keys of 8 bytes", "keys of 32 bytes"}[c.input]
	return fmt.Sprintf("%s keys, %s, %s%s", short(c.keys), want, what, c.note)
}

// short writes a number of keys as 1e5.
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

// run measures the case. It returns nil if --only leaves nobody.
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

// free gives memory back before the next case takes it.
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

// enter makes the contestants' filters: first those that are made of all keys at
// once, while there is memory.
func (m *match) enter(t *Table) error {
	chosen := slices.DeleteFunc(slices.Clone(m.who), func(who contestant) bool {
		return !slices.Contains(who.takes, m.input) ||
			!m.only.MatchString(m.path()+"/"+who.name) ||
			who.role != filter && m.shared ||
			who.role == floor && m.bitsPerKey == 0
	})
	for _, first := range []bool{true, false} {
		for _, who := range chosen {
			if (who.role == static) != first {
				continue
			}
			m.show("make %s", who.name)
			s, err := who.make(m.size, m.input)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", m.path(), who.name, err)
			}
			if s == nil || m.shared && s.addShared == nil {
				continue
			}
			e := &entrant{s, who.role, &Row{Name: who.name}}
			if who.role == static {
				m.build(e)
			}
			m.entrants = append(m.entrants, e)
		}
	}
	for _, who := range chosen { // in the order of the list
		for _, e := range m.entrants {
			if e.row.Name == who.name {
				t.Rows = append(t.Rows, e.row)
			}
		}
	}
	free()
	return nil
}

// build makes a static filter and takes the time of it for that of additions.
func (m *match) build(e *entrant) {
	rounds := m.rounds
	if !m.near() {
		rounds = 1
	}
	var times []float64
	for range rounds {
		k := makeHashes(0, int(m.keys))
		if m.near() { // where digests too find room
			k = makeKeys(m.input, 0, int(m.keys))
		}
		times = append(times, perKey(timed(func() { e.add(k) }), k.n))
	}
	e.row.set("add", summary(times))
}

func perKey(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / float64(n) }
