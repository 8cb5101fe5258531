//go:build !noclients

package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// start compares the time to start a node with 1 GiB of filters with the time to read its files.
func (b *bench) start(ctx context.Context) error {
	dir, err := os.MkdirTemp(b.dir, "node-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := proc.Node(ctx, b.umbel, dir)
	if err != nil {
		return err
	}
	// 8 filters of 111 MiB, each with enough keys that no block is empty.
	c := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, ReadTimeout: 10 * time.Minute})
	for i := range 8 {
		key := "filter-" + strconv.Itoa(i)
		if err := c.Do(ctx, "BF.RESERVE", key, filterRate, 97_000_000).Err(); err != nil {
			return err
		}
		l := adds(3_000_000)
		l.command = []string{"BF.ADD", key, "__rand_int__"}
		if _, err := b.drive(ctx, p, l); err != nil {
			return err
		}
	}
	if err := c.Save(ctx).Err(); err != nil {
		return err
	}
	c.Close()
	stopping, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := p.Stop(stopping); err != nil {
		return err
	}
	var reading, starting sample
	var total int64
	for range b.rounds {
		begin := time.Now()
		if total, err = readAll(dir); err != nil {
			return err
		}
		reading = append(reading, time.Since(begin).Seconds()*1000)
		begin = time.Now()
		p, err := proc.Node(ctx, b.umbel, dir)
		if err != nil {
			return err
		}
		starting = append(starting, time.Since(begin).Seconds()*1000)
		if err := p.Stop(stopping); err != nil {
			return err
		}
	}
	b.report.add(&Table{Path: "start", Title: "Start with 1 GiB of filters, milliseconds", Columns: []string{"ms"},
		Note: fmt.Sprintf("8 filters of 111 MiB after a clean stop; %d MiB of files, which are in the page cache in both measurements.", total>>20),
		Rows: []Row{{"reading the files", []string{reading.times()}}, {"start until the first reply", []string{starting.times()}}}})
	r, _ := reading.least()
	s, _ := starting.least()
	b.report.want(Target{Claim: "start with 1 GiB relative to reading the files", Want: 2, Measured: s / r, AtMost: true, Unit: " times"})
	return nil
}

// readAll reads all files below dir and returns their total size in bytes.
func readAll(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		m, err := io.Copy(io.Discard, struct{ io.Reader }{f})
		n += m
		return err
	})
	return n, err
}

// smallFilters is the number of filters of the node.
const smallFilters = 100_000

// small measures how long it takes to create, list and save many small filters, and to start with
// them.
func (b *bench) small(ctx context.Context) error {
	dir, err := os.MkdirTemp(b.dir, "node-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := proc.Node(ctx, b.umbel, dir, "--durability", "everysec")
	if err != nil {
		return err
	}
	defer func() { p.Kill() }()
	empty, err := resident(p.PID())
	if err != nil {
		return err
	}
	t := &Table{Path: "small", Title: fmt.Sprintf("%d filters of 100 keys at 1 %%", smallFilters), Columns: []string{"ms"}}
	lap := func(name string, f func() error) error {
		begin := time.Now()
		if err := f(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.Rows = append(t.Rows, Row{name, []string{fmt.Sprintf("%.0f", time.Since(begin).Seconds()*1000)}})
		return nil
	}
	c := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, ReadTimeout: time.Minute})
	if err := lap("create, pipelines of 1000", func() error { return createSmall(ctx, c) }); err != nil {
		return err
	}
	full, err := resident(p.PID())
	if err != nil {
		return err
	}
	if err := lap("list with SCAN COUNT 1000", func() error {
		seen := 0
		for iter := c.Scan(ctx, 0, "", 1000).Iterator(); iter.Next(ctx); {
			seen++
		}
		if seen != smallFilters {
			return fmt.Errorf("%d filters listed, want %d", seen, smallFilters)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := lap("first snapshot", func() error { return c.Save(ctx).Err() }); err != nil {
		return err
	}
	if err := lap("second snapshot, without changes", func() error { return c.Save(ctx).Err() }); err != nil {
		return err
	}
	c.Close()
	p.Kill()
	if err := lap("start after kill -9", func() (err error) {
		p, err = proc.Node(ctx, b.umbel, dir, "--durability", "everysec")
		return err
	}); err != nil {
		return err
	}
	c = redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true})
	defer c.Close()
	n, err := c.DBSize(ctx).Result()
	if err != nil {
		return err
	}
	if n != smallFilters {
		return fmt.Errorf("%d filters after the start, want %d", n, smallFilters)
	}
	perFilter := float64(full-empty) / smallFilters
	t.Note = fmt.Sprintf("Resident memory grew by %.0f bytes per filter, of which 144 are bits of the array.", perFilter)
	b.report.add(t)
	b.report.want(Target{Claim: "memory of a small filter in addition to its array", Want: 1024 + 0.02*144,
		Measured: perFilter - 144, AtMost: true, Unit: " bytes"})
	return nil
}

// createSmall makes smallFilters filters of one key each.
func createSmall(ctx context.Context, c *redis.Client) error {
	for i := 0; i < smallFilters; i += 1000 {
		if _, err := c.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for j := range 1000 {
				pipe.Do(ctx, "BF.ADD", "filter:"+strconv.Itoa(i+j), "key")
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
