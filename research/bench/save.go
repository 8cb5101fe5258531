package main

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
)

// saveKeys is the number of keys of filters of about 64 MiB.
const saveKeys = 56_000_000

// memory is a file in memory.
type memory []byte

func (m *memory) Write(b []byte) (int, error) {
	*m = append(*m, b...)
	return len(b), nil
}

// runSave measures how fast filters are written to memory and read from it. The filters are
// sized for n keys and contain n/50, so no part of them is empty.
func runSave(n uint64, o options, p *progress) (*Table, error) {
	p.scope = "save"
	t := &Table{
		Section: "save", Path: "save", Unit: "MB/s", Columns: []string{"save", "load"},
		Title: fmt.Sprintf("Writing a filter of %s keys to memory and reading it", short(n)),
	}
	var tasks []task
	for _, c := range fixed {
		if c.role != filter || !o.only.MatchString("save/"+c.name) {
			continue
		}
		in := c.takes[0]
		p.show("make %s", c.name)
		s, err := c.make(size{keys: n, rate: 0.01}, in)
		if err != nil {
			return nil, fmt.Errorf("save: %s: %w", c.name, err)
		}
		if s.save == nil {
			continue
		}
		s.fill(makeKeys(in, 0, int(n/50)))
		row := &Row{Name: c.name}
		t.Rows = append(t.Rows, row)
		tasks = append(tasks, saving(row, s)...)
	}
	defer free()
	if len(tasks) == 0 {
		return nil, nil
	}
	if err := interleave(o.rounds, 1, p, tasks, func() {}); err != nil {
		return nil, err
	}
	t.invert()
	return t, nil
}

// saving returns the measurements of writing and reading a filter, in seconds per MB.
func saving(row *Row, s *subject) []task {
	var file memory
	perMB := func(f func() error) (float64, error) {
		runtime.GC() // the garbage of the previous measurement
		var err error
		d := timed(func() { err = f() })
		if err != nil {
			return 0, fmt.Errorf("save: %s: %w", row.Name, err)
		}
		return d.Seconds() / (float64(s.bits) / 8 / 1e6), nil
	}
	return []task{
		{row, "save", func(int) (float64, error) {
			file = file[:0]
			return perMB(func() error { return s.save(&file) })
		}},
		{row, "load", func(int) (float64, error) {
			return perMB(func() error { return s.load(io.Reader(bytes.NewReader(file))) })
		}},
	}
}
