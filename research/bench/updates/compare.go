package main

import (
	"fmt"
	"strings"
)

// comparison describes the sets that all methods send.
type comparison struct {
	keys     int
	replaced []int // keys per update
	sets     int   // over which sizes are averaged
	trials   int   // absent keys per set with which the rate is measured
}

// method keeps a copy of a set at a receiver.
type method struct {
	name string
	// send sends old to a receiver without anything, and then the change to now.
	send func(old, now *set) (receipt, error)
}

// methods contains the rows of the table.
var methods = []method{
	{"umbel publication", publication(false)},
	{"the same, `Compact`", publication(true)},
	{"the filter, packed, each time", packedEachTime},
	{"the filter, zstd with the old one as dictionary", zstdFromOld},
	{"exclusive or of the filters, zstd", zstdOfChange},
	{"ribbon filter, each time", ribbonEachTime},
	{"Golomb-coded set, each time", codedSet},
	{"Squid's cache digest, each time", cacheDigest},
	{"hashes below 5,000,000, Rice-coded changes", hashLists(func(s *set) uint64 { return s.span() })},
	{"hashes of 32 bits, Rice-coded changes, as in Safe Browsing", hashLists(func(*set) uint64 { return 1 << 32 })},
	{"the keys, gzip of changes", names},
}

// receipt is what a receiver got and has.
type receipt struct {
	whole, update int // bytes of the messages
	memory        int // bytes that the receiver keeps
	has           func(key string) bool
}

// row contains the means of a method.
type row struct {
	name          string
	whole, memory float64
	updates       []float64 // for each number of replaced keys
	rate          float64   // false positives of the queries for absent keys
}

// run measures all methods.
func (c comparison) run() ([]row, error) {
	rows := make([]row, len(methods))
	for i, m := range methods {
		rows[i] = row{name: m.name, updates: make([]float64, len(c.replaced))}
	}
	for number := range c.sets {
		first := number * (c.keys + c.trials) * 2
		old := newSet(first, c.keys)
		for column, replaced := range c.replaced {
			now := newSet(first+replaced, c.keys)
			absent := newSet(first+replaced+c.keys, c.trials)
			for i, m := range methods {
				got, err := m.send(old, now)
				if err == nil {
					err = c.add(&rows[i], column, got, now, absent)
				}
				if err != nil {
					return nil, fmt.Errorf("%s, %d keys replaced: %w", m.name, replaced, err)
				}
			}
		}
	}
	return rows, nil
}

// add adds a receipt to the means of a method.
func (c comparison) add(r *row, column int, got receipt, now, absent *set) error {
	for _, key := range now.keys {
		if !got.has(key) {
			return fmt.Errorf("false negative: %s", key)
		}
	}
	found := 0
	for _, key := range absent.keys {
		if got.has(key) {
			found++
		}
	}
	sets, all := float64(c.sets), float64(c.sets*len(c.replaced))
	r.updates[column] += float64(got.update) / sets
	r.whole += float64(got.whole) / all
	r.memory += float64(got.memory) / all
	r.rate += float64(found) / float64(c.trials) / all
	return nil
}

// markdown returns the table.
func markdown(replaced []int, rows []row) string {
	var b strings.Builder
	b.WriteString("| bytes | whole |")
	for _, n := range replaced {
		fmt.Fprintf(&b, " %s replaced |", thousands(float64(n)))
	}
	b.WriteString(" memory | rate |\n| --- |" + strings.Repeat(" ---: |", len(replaced)+3) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s |", r.name, thousands(r.whole))
		for _, u := range r.updates {
			fmt.Fprintf(&b, " %s |", thousands(u))
		}
		fmt.Fprintf(&b, " %s | %.2g %% |\n", thousands(r.memory), r.rate*100)
	}
	return b.String()
}

// thousands formats a number without decimals, with commas from 1,000 on.
func thousands(x float64) string {
	s := fmt.Sprintf("%.0f", x)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
