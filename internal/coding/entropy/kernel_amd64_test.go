//go:build amd64 && !purego && !race

package entropy

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKernels: kernels and plain versions return the same results.
func TestKernels(t *testing.T) {
	if !haveKernels {
		t.Skip("this machine has none")
	}
	defer func() { haveKernels = true }()
	r := rand.New(rand.NewPCG(21, 22))
	for _, p := range fills {
		var jobs, plain []Job
		for i := range 6 {
			n := 1 + r.Uint64N(200000)
			q := p
			if i == 4 {
				q = fills[r.IntN(len(fills))]
			}
			b := random(r, n, q)
			if i == 5 && n > 9999 {
				clear(b.Words[len(b.Words)/3 : len(b.Words)/2])
			}
			jobs = append(jobs, Job{Strs: []Bits{b}})
		}
		plain = slices.Clone(jobs)
		var c Coder
		haveKernels = true
		c.AppendAll(jobs)
		haveKernels = false
		c.AppendAll(plain)
		for i := range jobs {
			if !bytes.Equal(jobs[i].Code, plain[i].Code) {
				t.Fatalf("fill %v, job %d: the kernels' code isn't the plain one", p, i)
			}
		}
		for _, with := range []bool{false, true} {
			decoded := slices.Clone(jobs)
			for i := range decoded {
				decoded[i].Strs = []Bits{jobs[i].Strs[0].noise()}
			}
			haveKernels = with
			c.DecodeAll(decoded)
			for i := range decoded {
				if decoded[i].Err != nil || !equal(decoded[i].Strs[0], jobs[i].Strs[0]) {
					t.Fatalf("fill %v, job %d, kernels %v: not what was coded, error %v", p, i, with, decoded[i].Err)
				}
			}
		}
	}
}

func TestExtractKernels(t *testing.T) {
	if !haveKernels {
		t.Skip("this machine has none")
	}
	defer func() { haveKernels = true }()
	haveKernels = false
	TestExtract(t)
}
