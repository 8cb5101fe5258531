package engine_test

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter"
)

// idle is a journal that does nothing.
type idle struct{ last atomic.Uint64 }

func (i *idle) Ready() error                         { return nil }
func (i *idle) ReadyToFree() error                   { return nil }
func (i *idle) Admit(uint64) error                   { return nil }
func (i *idle) Append(engine.Change) engine.Position { return engine.Position(i.last.Add(1)) }
func (i *idle) Last() engine.Position                { return engine.Position(i.last.Load()) }

func (i *idle) Begin(engine.Change) (engine.LongChange, error) { return nil, errDisk }

// An operation is a batch. Additions are of keys that come for the first time, as long as
// there are any, and then again.
func BenchmarkAdd(b *testing.B) {
	batches(b, true, func(f *engine.Filter, room []bool, ds []umbel.Digest) {
		if _, _, err := f.Add(room, ds); err != nil {
			b.Error(err)
		}
	})
}

func BenchmarkHas(b *testing.B) {
	batches(b, false, func(f *engine.Filter, room []bool, ds []umbel.Digest) { f.Has(room, ds) })
}

func batches(b *testing.B, adds bool, do func(f *engine.Filter, room []bool, ds []umbel.Digest)) {
	const n = 1_000_000
	ds := digests(1, n)
	for _, kind := range []string{"redisbloom", "bloom", "blocked"} {
		for _, batch := range []int{1, 4, 8, 16, 64, 1000} {
			for _, clients := range []int{1, 2} {
				for _, told := range []bool{false, true} {
					if told && !adds {
						continue
					}
					b.Run(fmt.Sprintf("%s/batch=%d/clients=%d/journal=%v", kind, batch, clients, told), func(b *testing.B) {
						e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 1 }})
						if told {
							e.SetJournal(new(idle))
						}
						f := create(b, e, "f", kind, umbel.Goal{Keys: n, FPRate: 0.01}, nil)
						if !adds {
							add(b, f, ds[:n/2])
						}
						b.ReportAllocs()
						b.ResetTimer()
						var all sync.WaitGroup
						for c := range clients {
							all.Go(func() {
								room := make([]bool, batch)
								from := c * n / clients
								for range b.N / clients {
									do(f, room, ds[from:from+batch])
									if from += batch; from+batch > n {
										from = 0
									}
								}
							})
						}
						all.Wait()
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch), "ns/key")
					})
				}
			}
		}
	}
}

func BenchmarkGet(b *testing.B) {
	e := engine.New(engine.Options{Kinds: filter.All})
	names := make([][]byte, 1000)
	for i := range names {
		names[i] = []byte("filter:" + strconv.Itoa(i))
		create(b, e, string(names[i]), "bloom", umbel.Goal{Keys: 10, FPRate: 0.01}, nil)
	}
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for i := 0; p.Next(); i++ {
			if e.Get(names[i%len(names)]) == nil {
				b.Error("not there")
			}
		}
	})
}

func BenchmarkCreate(b *testing.B) {
	for _, kind := range []string{"bloom", "redisbloom"} {
		b.Run(kind, func(b *testing.B) {
			e := engine.New(engine.Options{Kinds: filter.All})
			for i := range b.N {
				create(b, e, strconv.Itoa(i), kind, umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
			}
		})
	}
}

// BenchmarkApply reads a journal of additions, and counts those of one core.
func BenchmarkApply(b *testing.B) {
	const n, batch = 1_000_000, 64
	ds := digests(1, n)
	for _, kind := range []string{"redisbloom", "bloom", "blocked"} {
		b.Run(kind, func(b *testing.B) {
			e := engine.New(engine.Options{Kinds: filter.All})
			f := create(b, e, "f", kind, umbel.Goal{Keys: n, FPRate: 0.01}, nil)
			b.ReportAllocs()
			b.ResetTimer()
			from := 0
			for i := range b.N {
				err := e.Apply(engine.Change{Position: engine.Position(i + 10), Filter: f.ID(), Op: engine.OpAdd, Digests: ds[from : from+batch]})
				if err != nil {
					b.Fatal(err)
				}
				if from += batch; from+batch > n {
					from = 0
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/key")
		})
	}
}

// BenchmarkRefusal adds to a full filter that has no memory to grow, as for a pipeline of BF.ADD: the caller tries the
// rest of a batch again after each refused key. An operation is a key.
func BenchmarkRefusal(b *testing.B) {
	const n = 4096
	for _, kind := range []string{"redisbloom", "scalable"} {
		for _, batch := range []int{1, 64, n} {
			b.Run(fmt.Sprintf("%s/batch=%d", kind, batch), func(b *testing.B) {
				e := engine.New(engine.Options{Kinds: filter.All})
				f, ds := fullFilter(b, e, kind), digests(1<<20, n)
				b.ReportAllocs()
				for i := 0; i < b.N; i += batch {
					for rest := ds[:batch]; len(rest) > 0; {
						took, _, err := f.Add(nil, rest)
						rest = rest[min(took+1, len(rest)):]
						if err == nil && len(rest) > 0 {
							b.Fatal("not refused")
						}
					}
				}
			})
		}
	}
}
