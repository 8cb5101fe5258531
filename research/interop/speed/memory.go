//go:build !noclients

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
	durabilities := []string{"none", "always"}
	t := &Table{Path: "memory", Title: "Resident memory", Columns: []string{"`--durability none`", "`always`"},
		Note: fmt.Sprintf("After the last reply, and after %v without commands. The first row is a new node, the second one the same "+
			"node after each command below was used once and the filters were deleted: it has read about 1 MB more of the program. "+
			"The memory of filters is what the process has more than that. A large filter has %d keys at 1 %%; "+
			"its memory is relative to its size according to BF.INFO. One is filled with BF.MADD, and %d are copies made "+
			"with BF.LOADCHUNK. %d small filters are made with BF.ADD; their memory excludes the %d bytes of the array. "+
			"They are measured again after a snapshot and after a restart. "+
			"The rows of the process are its whole memory relative to `used_memory_dataset` of INFO.",
			rest, memoryKeys, loaded, smallFilters, smallBits)}
	rested := make(map[string][]float64) // by row, for each durability
	for i, durability := range durabilities {
		fs, err := b.footprints(ctx, durability)
		if err != nil {
			return err
		}
		for j, f := range fs {
			if i == 0 {
				t.Rows = append(t.Rows, Row{Name: f.name})
			}
			t.Rows[j].Cells = append(t.Rows[j].Cells, fmt.Sprintf("%.*f, %.*f", f.digits, f.atOnce, f.digits, f.rested))
			rested[f.name] = append(rested[f.name], f.rested)
		}
	}
	b.report.add(t)
	for i, d := range durabilities {
		for _, w := range []Target{
			{Claim: emptyNode, Want: 20},
			{Claim: averageCopies, Want: 1.3},
			{Claim: averageSaved, Want: 1.3},
			{Claim: smallMade, Want: 400},
			{Claim: smallSaved, Want: 400},
			{Claim: processSaved, Want: 2},
		} {
			w.Measured, w.AtMost = rested[w.Claim][i], true
			w.Claim += ", `" + d + "`"
			b.report.want(w)
		}
	}
	return nil
}

// The rows of the table that have targets.
const (
	emptyNode     = "empty node, MB"
	averageCopies = "large filter, average with the copies"
	averageSaved  = "large filter, average after a snapshot"
	smallMade     = "small filter, bytes"
	smallSaved    = "small filter after a snapshot, bytes"
	processSaved  = "process with small filters after a snapshot"
)

// rest is how long the node is left alone before its memory is measured again.
const rest = 15 * time.Second

// footprint is a row of the table for one durability.
type footprint struct {
	row
	atOnce, rested float64
}

// footprints returns the rows of the table for one durability.
func (b *bench) footprints(ctx context.Context, durability string) ([]footprint, error) {
	var large, small []footprint
	err := b.withNode(ctx, func(p *proc.Proc, _ string) (err error) {
		large, err = largeFootprints(ctx, p)
		return err
	}, "--durability", durability)
	if err != nil {
		return nil, err
	}
	err = b.withNode(ctx, func(p *proc.Proc, dir string) (err error) {
		var again *proc.Proc
		defer func() {
			if again != nil {
				again.Kill()
			}
		}()
		small, err = smallFootprints(ctx, p, func() (*proc.Proc, error) {
			if err := p.Stop(ctx); err != nil {
				return nil, err
			}
			again, err = proc.Node(ctx, b.umbel, dir, "--durability", durability)
			return again, err
		})
		return err
	}, "--durability", durability)
	return append(large, small...), err
}

// largeFootprints measures a node with large filters.
func largeFootprints(ctx context.Context, p *proc.Proc) ([]footprint, error) {
	c := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, ReadTimeout: time.Minute})
	defer c.Close()
	w := &weigher{pid: p.PID()}
	megabytes := func(n float64) float64 { return n / 1e6 }
	w.weigh(row{emptyNode, 2, megabytes})
	w.do(warm(ctx, c))
	base := w.weigh(row{"after the first commands, MB", 2, megabytes})
	w.do(fill(ctx, c))
	size := float64(filterBytes(ctx, p.Addr))
	w.weigh(row{"large filter, filled", 2, func(n float64) float64 { return (n - base) / size }})
	for i := range loaded {
		w.do(copyChunks(ctx, c, "speed", "copy:"+strconv.Itoa(i)))
	}
	average := func(n float64) float64 { return (n - base) / size / (1 + loaded) }
	w.weigh(row{averageCopies, 2, average})
	w.do(c.Save(ctx).Err())
	w.weigh(row{averageSaved, 2, average})
	return w.rows, w.err
}

// smallFootprints measures a node with small filters, and again after restart.
func smallFootprints(ctx context.Context, p *proc.Proc, restart func() (*proc.Proc, error)) ([]footprint, error) {
	c := redis.NewClient(&redis.Options{Addr: p.Addr, Protocol: 2, DisableIdentity: true, ReadTimeout: time.Minute})
	defer c.Close()
	w := &weigher{pid: p.PID()}
	w.do(warm(ctx, c))
	base := w.weigh()
	w.do(createSmall(ctx, c))
	info := c.InfoMap(ctx, "memory")
	w.do(info.Err())
	counted, err := strconv.ParseFloat(info.Item("Memory", "used_memory_dataset"), 64)
	w.do(err)
	beyond := func(n float64) float64 { return (n-base)/smallFilters - smallBits }
	relative := func(n float64) float64 { return n / counted }
	w.weigh(row{smallMade, 0, beyond}, row{"process with small filters", 2, relative})
	w.do(c.Save(ctx).Err())
	w.weigh(row{smallSaved, 0, beyond}, row{processSaved, 2, relative})
	if w.err != nil {
		return nil, w.err
	}
	if p, err = restart(); err != nil {
		return nil, err
	}
	w.pid = p.PID()
	w.weigh(row{"small filter after a restart, bytes", 0, beyond}, row{"process with small filters after a restart", 2, relative})
	return w.rows, w.err
}

// weigher measures the resident memory of a process until something fails.
type weigher struct {
	pid  int
	rows []footprint
	err  error
}

// row is how a row of the table shows a number of bytes.
type row struct {
	name   string
	digits int // after the decimal point
	scale  func(bytes float64) float64
}

// do notes the error of a step.
func (w *weigher) do(err error) {
	if w.err == nil {
		w.err = err
	}
}

// weigh measures the memory at once and after a rest, and adds rows for it. It returns the bytes after
// the rest.
func (w *weigher) weigh(rows ...row) float64 {
	if w.err != nil {
		return 0
	}
	now, err := resident(w.pid)
	w.do(err)
	time.Sleep(rest)
	later, err := resident(w.pid)
	w.do(err)
	for _, r := range rows {
		w.rows = append(w.rows, footprint{r, r.scale(float64(now)), r.scale(float64(later))})
	}
	return float64(later)
}

// warm uses each command of the measurements once and deletes the filters.
func warm(ctx context.Context, c *redis.Client) error {
	for _, args := range [][]any{
		{"BF.RESERVE", "speed", filterRate, 1000}, {"BF.MADD", "speed", "a", "b"}, {"BF.INFO", "speed"},
		{"BF.ADD", "filter", "key"}, {"INFO", "memory"},
	} {
		if err := c.Do(ctx, args...).Err(); err != nil {
			return err
		}
	}
	if err := copyChunks(ctx, c, "speed", "copy"); err != nil {
		return err
	}
	if err := c.Save(ctx).Err(); err != nil {
		return err
	}
	return c.Del(ctx, "speed", "filter", "copy").Err()
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
