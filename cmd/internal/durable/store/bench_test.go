package store

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// BenchmarkReplay is a start from a log of additions: 64 at a time, and one at a time, to
// filters of a million keys.
func BenchmarkReplay(b *testing.B) {
	for _, each := range []int{64, 1} {
		for _, filters := range []int{1, 10} {
			b.Run(fmt.Sprintf("each=%d/filters=%d", each, filters), func(b *testing.B) {
				const keys = 1 << 20
				d := newDisk()
				n, err := tryStart(d, Options{Durability: EverySec})
				if err != nil {
					b.Fatal(err)
				}
				var fs []*engine.Filter
				for i := range filters {
					f, _, err := n.Create(fmt.Sprint(i), "bloom", umbel.Goal{Keys: keys, FPRate: .01}, nil)
					if err != nil {
						b.Fatal(err)
					}
					fs = append(fs, f)
				}
				ds := digests(0, keys)
				for i := 0; i < keys; i += each {
					fs[i/each%filters].Add(nil, ds[i:i+each])
				}
				if err := n.Sync(b.Context()); err != nil {
					b.Fatal(err)
				}
				n.kill()
				for b.Loop() {
					l, err := d.Open()
					if err != nil {
						b.Fatal(err)
					}
					files, err := snapfile.Open(d.files.Dir(), snapfile.Options{})
					if err != nil {
						b.Fatal(err)
					}
					if r, err := check(b.Context(), l, files, newEngine()); err != nil || r.Digests < keys*9/10 {
						b.Fatal(r, err)
					}
					l.Close()
				}
				b.ReportMetric(float64(b.N*keys)/b.Elapsed().Seconds(), "adds/s")
			})
		}
	}
}

// openAt opens a log and a directory of snapshots on disk.
func openAt(b *testing.B, dir string) (*wal.Log, *snapfile.Dir) {
	b.Helper()
	l, err := wal.Open(filepath.Join(dir, "log"), wal.Options{})
	if err != nil {
		b.Fatal(err)
	}
	files, err := snapfile.OpenDir(filepath.Join(dir, "snapshots"), snapfile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return l, files
}

// BenchmarkStart compares a start from a snapshot of 256 MiB with reading its files.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	l, files := openAt(b, dir)
	e := newEngine()
	s, _, err := Open(b.Context(), l, files, e, Options{Durability: None})
	if err != nil {
		b.Fatal(err)
	}
	var bytes int64
	for i := range 4 {
		f, _, err := e.Create(fmt.Sprint(i), "bloom", umbel.Goal{Bytes: 64 << 20, FPRate: .01}, nil)
		if err != nil {
			b.Fatal(err)
		}
		f.Add(nil, digests(0, 500_000))
		bytes += int64(f.Bytes())
	}
	if err := s.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("start", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			l, files := openAt(b, dir)
			if _, err := check(b.Context(), l, files, newEngine()); err != nil {
				b.Fatal(err)
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("files", func(b *testing.B) {
		b.SetBytes(bytes)
		for b.Loop() {
			if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
				if err != nil || !info.Mode().IsRegular() {
					return err
				}
				f, err := os.Open(path)
				if err != nil {
					return err
				}
				defer f.Close()
				_, err = io.Copy(io.Discard, struct{ io.Reader }{f})
				return err
			}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLoad is additions from two goroutines, 64 at a time, to a filter of ten million
// keys: for each durability, and while snapshots are made without end.
func BenchmarkLoad(b *testing.B) {
	for name, o := range map[string]Options{"none": {Durability: None}, "everysec": {Durability: EverySec}} {
		for _, snapshots := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/snapshots=%v", name, snapshots), func(b *testing.B) {
				l, files := openAt(b, b.TempDir())
				defer l.Close()
				e := newEngine()
				s, _, err := Open(b.Context(), l, files, e, o)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close(context.Background())
				var filters []*engine.Filter
				for i := range 4 {
					f, _, err := e.Create(fmt.Sprint(i), "bloom", umbel.Goal{Keys: 10_000_000, FPRate: .01}, nil)
					if err != nil {
						b.Fatal(err)
					}
					filters = append(filters, f)
				}
				var stop atomic.Bool
				var group sync.WaitGroup
				made := 0
				if snapshots {
					group.Go(func() {
						for !stop.Load() {
							if s.Snapshot(b.Context()) == nil {
								made++
							}
							time.Sleep(10 * time.Millisecond)
						}
					})
				}
				var key atomic.Uint64
				b.RunParallel(func(pb *testing.PB) {
					ds := make([]umbel.Digest, 64)
					for pb.Next() {
						from := key.Add(64)
						for i := range ds {
							x := (from + uint64(i)) * 0x9e3779b97f4a7c15
							ds[i] = umbel.DigestFromHash64(x ^ x>>29)
						}
						_, pos, err := filters[from/64%4].Add(nil, ds)
						if err == nil {
							err = s.Wait(context.Background(), pos)
						}
						if err != nil {
							b.Error(err)
						}
					}
				})
				b.ReportMetric(float64(b.N*64)/b.Elapsed().Seconds(), "adds/s")
				stop.Store(true)
				group.Wait()
				b.ReportMetric(float64(made), "snapshots")
			})
		}
	}
}
