package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

const (
	memoryKeys = 1_000_000 // keys of a large filter
	loaded     = 9         // copies of it, made with BF.LOADCHUNK
	smallBits  = 144       // bytes of the array of a small filter
)

// memory measures the resident memory of a node without filters, with large filters and with
// many small ones: after the last reply, and after a rest in which the node does nothing else.
func (b *bench) memory(ctx context.Context) error {
	t := &Table{Path: "memory", Title: "Resident memory", Columns: []string{"`--durability none`", "`always`"},
		Note: fmt.Sprintf("After the last reply, and after %v without commands. A large filter has %d keys at 1 %%; "+
			"its memory is relative to its size according to BF.INFO. One is filled with BF.MADD, and %d are copies made "+
			"with BF.LOADCHUNK. %d small filters are made with BF.ADD; their memory excludes the %d bytes of the array.",
			rest, memoryKeys, loaded, smallFilters, smallBits)}
	names := []string{"empty, MB", "large filter, filled", "large filter, average with the copies", "small filter, bytes"}
	t.Rows = make([]Row, len(names))
	for i, name := range names {
		t.Rows[i].Name = name
	}
	var rested [2][4]float64
	for i, durability := range []string{"none", "always"} {
		atOnce, later, err := b.footprints(ctx, durability)
		if err != nil {
			return err
		}
		rested[i] = later
		for j := range t.Rows {
			format := "%.2f, %.2f"
			if j == 3 {
				format = "%.0f, %.0f"
			}
			t.Rows[j].Cells = append(t.Rows[j].Cells, fmt.Sprintf(format, atOnce[j], later[j]))
		}
	}
	b.report.add(t)
	none := rested[0]
	b.report.want(Target{Claim: "resident memory of an empty node, MB", Want: 20, Measured: none[0], AtMost: true})
	b.report.want(Target{Claim: "resident memory of a large filter relative to its size", Want: 1.3, Measured: none[2], AtMost: true, Unit: " times"})
	b.report.want(Target{Claim: "resident memory of a small filter in addition to its array", Want: 400, Measured: none[3], AtMost: true, Unit: " bytes"})
	return nil
}

// rest is how long the node is left alone before its memory is measured again.
const rest = 15 * time.Second

// footprints returns the rows of the table for one durability: at once and after a rest.
func (b *bench) footprints(ctx context.Context, durability string) (atOnce, later [4]float64, err error) {
	// both measures the memory of the node at once and after a rest.
	both := func(p *proc.Proc) (now, then float64, err error) {
		n, err := resident(p.PID())
		if err != nil {
			return 0, 0, err
		}
		time.Sleep(rest)
		m, err := resident(p.PID())
		return float64(n), float64(m), err
	}
	flags := []string{"--durability", durability}
	err = b.withNode(ctx, func(p *proc.Proc, _ string) error {
		c := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, ReadTimeout: time.Minute})
		defer c.Close()
		now, empty, err := both(p)
		if err != nil {
			return err
		}
		atOnce[0], later[0] = now/1e6, empty/1e6
		if err := fill(ctx, c); err != nil {
			return err
		}
		size := float64(filterBytes(ctx, p.Addr))
		now, then, err := both(p)
		if err != nil {
			return err
		}
		atOnce[1], later[1] = (now-empty)/size, (then-empty)/size
		for i := range loaded {
			if err := copyChunks(ctx, c, "speed", "copy:"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
		if now, then, err = both(p); err != nil {
			return err
		}
		atOnce[2], later[2] = (now-empty)/size/(1+loaded), (then-empty)/size/(1+loaded)
		return nil
	}, flags...)
	if err != nil {
		return atOnce, later, err
	}
	err = b.withNode(ctx, func(p *proc.Proc, _ string) error {
		c := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, ReadTimeout: time.Minute})
		defer c.Close()
		if err := createSmall(ctx, c); err != nil {
			return err
		}
		now, then, err := both(p)
		empty := later[0] * 1e6
		atOnce[3], later[3] = (now-empty)/smallFilters-smallBits, (then-empty)/smallFilters-smallBits
		return err
	}, flags...)
	return atOnce, later, err
}

// fill makes the filter speed and adds memoryKeys keys.
func fill(ctx context.Context, c *redis.Client) error {
	if err := c.Do(ctx, "BF.RESERVE", "speed", filterRate, memoryKeys).Err(); err != nil {
		return err
	}
	for i := 0; i < memoryKeys; i += 1000 {
		args := []any{"BF.MADD", "speed"}
		for j := range 1000 {
			args = append(args, "key:"+strconv.Itoa(i+j))
		}
		if err := c.Do(ctx, args...).Err(); err != nil {
			return err
		}
	}
	return nil
}

// copyChunks copies a filter with BF.SCANDUMP and BF.LOADCHUNK.
func copyChunks(ctx context.Context, c *redis.Client, from, to string) error {
	for at := int64(0); ; {
		chunk, err := c.BFScanDump(ctx, from, at).Result()
		if err != nil || chunk.Iter == 0 {
			return err
		}
		if err := c.BFLoadChunk(ctx, to, chunk.Iter, chunk.Data).Err(); err != nil {
			return err
		}
		at = chunk.Iter
	}
}
