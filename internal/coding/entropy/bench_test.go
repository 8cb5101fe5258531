package entropy

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// blocks returns jobs of one block of 64 KiB each, and their code.
func blocks(n int, fill float64) (jobs []Job) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		jobs = append(jobs, Job{Strs: []Bits{random(r, 1<<19, fill)}})
	}
	return jobs
}

func BenchmarkCoder(b *testing.B) {
	const n = 8
	var c Coder
	for _, fill := range []float64{0.0001, 0.001, 0.01, 0.03, 0.06, 0.13, 0.15, 0.3, 0.5} {
		jobs := blocks(n, fill)
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%s/fill=%v", name, fill), func(b *testing.B) {
				b.SetBytes(n << 16)
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
			})
		}
		run("append/all", func() {
			for i := range jobs {
				jobs[i].Code = jobs[i].Code[:0]
			}
			c.AppendAll(jobs)
		})
		run("append/one", func() {
			for i := range jobs {
				jobs[i].Code = c.Append(jobs[i].Code[:0], jobs[i].Strs...)
			}
		})
		run("decode/all", func() { c.DecodeAll(jobs) })
		run("decode/one", func() {
			for i := range jobs {
				if err := c.Decode(jobs[i].Code, jobs[i].Strs...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	// An untrusted payload of one byte can request this: see decoder.rest.
	exhausted := []Job{{Code: []byte{lastStep}, Strs: []Bits{NewBits(1 << 19)}}}
	b.Run("decode/exhausted", func(b *testing.B) {
		b.SetBytes(1 << 16)
		for b.Loop() {
			c.DecodeAll(exhausted)
		}
	})
}
