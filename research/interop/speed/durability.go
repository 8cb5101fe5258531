//go:build !noclients

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// freshKeys is the number of possible keys, so large that nearly every added key is new. An
// addition of a present key changes nothing and is not logged.
const freshKeys = 1 << 30

// adds returns a load of n additions of new keys.
func adds(n int) load {
	return load{requests: n, clients: 50, pipeline: 64, keyspace: freshKeys, command: []string{"BF.ADD", "speed", "__rand_int__"}}
}

// reserve makes a filter with the given capacity.
func reserve(ctx context.Context, addr string, keys int) error {
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true})
	defer c.Close()
	return c.Do(ctx, "BF.RESERVE", "speed", filterRate, keys).Err()
}

// withNode runs f with a node in a new directory, which it deletes afterwards.
func (b *bench) withNode(ctx context.Context, f func(p *proc.Proc, dir string) error, flags ...string) error {
	dir, err := os.MkdirTemp(b.dir, "node-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := proc.Node(ctx, b.umbel, dir, flags...)
	if err != nil {
		return err
	}
	defer p.Kill()
	return f(p, dir)
}

// durability compares additions at each level of durability.
func (b *bench) durability(ctx context.Context) error {
	policies := []string{"none", "everysec", "always"}
	n := 5_000_000
	if b.requests > 0 {
		n = b.requests
	}
	got, took := make([]sample, len(policies)), make([]sample, len(policies))
	for round := range b.rounds + 1 {
		for i, policy := range policies {
			err := b.withNode(ctx, func(p *proc.Proc, _ string) error {
				if err := reserve(ctx, p.Addr, 10_000_000); err != nil {
					return err
				}
				f, err := b.drive(ctx, p, adds(n))
				if err == nil && round > 0 {
					got[i], took[i] = append(got[i], f.perSecond), append(took[i], f.server)
				}
				return err
			}, "--durability", policy)
			if err != nil {
				return err
			}
		}
	}
	syncing, err := syncTime(b.dir)
	if err != nil {
		return err
	}
	t := &Table{Path: "durability", Title: "New keys per second by durability, 50 connections, P=64", Columns: []string{"BF.ADD/s", "server's µs per key"},
		Note: fmt.Sprintf("Writing and syncing 4 KiB takes %.2f ms (median) on this disk.", syncing.Seconds()*1000)}
	for i, policy := range policies {
		t.Rows = append(t.Rows, Row{"`--durability " + policy + "`", []string{got[i].rate(), took[i].micros()}})
	}
	b.report.add(t)
	none, _ := got[0].best()
	everysec, _ := got[1].best()
	always, _ := got[2].best()
	b.report.want(Target{Claim: "additions with everysec relative to none", Want: 0.8, Measured: everysec / none, Unit: " times"})
	b.report.want(Target{Claim: "additions with always, million per second", Want: 1, Measured: always / 1e6})
	return nil
}

// syncTime returns the median time to write and sync 4 KiB.
func syncTime(dir string) (time.Duration, error) {
	f, err := os.CreateTemp(dir, "sync-")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var times sample
	page := make([]byte, 4096)
	for range 200 {
		start := time.Now()
		if _, err := f.Write(page); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		times = append(times, float64(time.Since(start)))
	}
	_, median := times.least()
	return time.Duration(median), nil
}

// replay kills a node whose log contains all additions, and measures how long it takes to start.
func (b *bench) replay(ctx context.Context) error {
	n := 10_000_000
	if b.requests > 0 {
		n = b.requests
	}
	var speeds, perCore sample
	for range b.rounds {
		dir, err := os.MkdirTemp(b.dir, "node-")
		if err != nil {
			return err
		}
		flags := []string{"--snapshot-interval", "0", "--snapshot-bytes", "0"}
		p, err := proc.Node(ctx, b.umbel, dir, flags...)
		if err != nil {
			return err
		}
		if err = reserve(ctx, p.Addr, 20_000_000); err == nil {
			_, err = b.drive(ctx, p, adds(n))
		}
		added := card(ctx, p.Addr)
		p.Kill()
		if err != nil {
			return err
		}
		start := time.Now()
		p, err = proc.Node(ctx, b.umbel, dir, flags...)
		if err != nil {
			return err
		}
		took := time.Since(start)
		work, err := processorTime(p.PID())
		if err != nil {
			return err
		}
		again := card(ctx, p.Addr)
		p.Kill()
		os.RemoveAll(dir)
		if again != added || added == 0 {
			return fmt.Errorf("%d keys were acknowledged, %d are present after the start", added, again)
		}
		speeds = append(speeds, float64(added)/took.Seconds())
		perCore = append(perCore, float64(added)/work.Seconds())
	}
	b.report.add(&Table{Path: "replay", Title: "Start after kill -9, all from the log", Columns: []string{"additions/s", "additions per core-second"},
		Note: "The time from the start of the process to its first reply, with 10^7 additions to a filter for 2·10^7 keys.",
		Rows: []Row{{"replay", []string{speeds.rate(), perCore.rate()}}}})
	best, _ := perCore.best()
	b.report.want(Target{Claim: "replay, million additions per core-second", Want: 3, Measured: best / 1e6})
	return nil
}

func card(ctx context.Context, addr string) int64 {
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true})
	defer c.Close()
	n, _ := c.BFCard(ctx, "speed").Result()
	return n
}

// snapshot measures how much slower additions are during continuous snapshots, and whether
// snapshots need memory for a second copy of the filter.
func (b *bench) snapshot(ctx context.Context) error {
	n := 8_000_000
	if b.requests > 0 {
		n = b.requests
	}
	var speed, grown [2]sample // without, with
	var bits float64
	const mib = 1 << 20
	for round := range b.rounds + 1 {
		for i := range 2 {
			err := b.withNode(ctx, func(p *proc.Proc, _ string) error {
				if err := reserve(ctx, p.Addr, 100_000_000); err != nil {
					return err
				}
				before, err := resident(p.PID())
				if err != nil {
					return err
				}
				stop, saved := make(chan struct{}), make(chan int, 1)
				if i == 1 {
					go func() { saved <- saveUntil(ctx, p.Addr, stop) }()
				} else {
					saved <- 1
				}
				f, err := b.drive(ctx, p, adds(n))
				close(stop)
				times := <-saved
				if err != nil || round == 0 {
					return err
				}
				if times == 0 {
					return errors.New("no snapshot was made")
				}
				peak, err := peakResident(p.PID())
				speed[i] = append(speed[i], f.perSecond)
				grown[i] = append(grown[i], float64(peak-before)/mib)
				bits = float64(filterBytes(ctx, p.Addr)) / mib
				return err
			}, "--snapshot-interval", "0", "--snapshot-bytes", "0")
			if err != nil {
				return err
			}
		}
	}
	b.report.add(&Table{Path: "snapshot", Title: "Additions during continuous snapshots", Columns: []string{"BF.ADD/s", "MiB"},
		Note: fmt.Sprintf("Additions to a filter of %.0f MiB; all of them are logged. MiB is the growth of resident memory "+
			"from the empty filter, whose pages are not yet mapped, to the peak.", bits),
		Rows: []Row{
			{"without", []string{speed[0].rate(), grown[0].whole()}},
			{"with", []string{speed[1].rate(), grown[1].whole()}},
		}})
	quiet, _ := speed[0].best()
	busy, _ := speed[1].best()
	b.report.want(Target{Claim: "additions during snapshots relative to none", Want: 0.8, Measured: busy / quiet, Unit: " times"})
	_, without := grown[0].least()
	_, with := grown[1].least()
	b.report.want(Target{Claim: "additional memory of snapshots relative to the filter", Want: 0.5,
		Measured: (with - without) / bits, AtMost: true, Unit: " times"})
	return nil
}

// saveUntil makes snapshots until stop is closed and returns their number.
func saveUntil(ctx context.Context, addr string, stop chan struct{}) (times int) {
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true, ReadTimeout: time.Minute})
	defer c.Close()
	for {
		select {
		case <-stop:
			return times
		default:
			if c.Save(ctx).Err() == nil {
				times++
			}
		}
	}
}

func filterBytes(ctx context.Context, addr string) int64 {
	c := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true})
	defer c.Close()
	info, _ := c.BFInfo(ctx, "speed").Result()
	return info.Size
}
