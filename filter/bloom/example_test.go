package bloom_test

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/wire"
)

// How do I make a filter and query it?
func Example() {
	shape, err := bloom.Plan(umbel.Goal{Keys: 1_000_000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f, err := bloom.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("alice")
	fmt.Println(f.HasString("alice"), f.HasString("bob"))
	// Output: true false
}

// How do I make a filter of the lines of a file?
func ExampleNew_file() {
	file, err := os.Open("testdata/flowers.txt")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()

	shape, err := bloom.Plan(umbel.Goal{Keys: 100, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f, err := bloom.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		f.AddBytes(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("about %.0f flowers\n", f.Stats().Keys)
	fmt.Println(f.HasString("angelica"), f.HasString("anvil"))
	// Output:
	// about 12 flowers
	// true false
}

// What will a filter cost?
func ExamplePlan() {
	shape, err := bloom.Plan(umbel.Goal{Keys: 1_000_000, FPRate: 0.001})
	if err != nil {
		log.Fatal(err)
	}
	cost := shape.Forecast(1_000_000)
	fmt.Printf("%.1f MB, %.0f bits set per key\n", float64(cost.Bytes)/1e6, cost.K)
	// Output: 1.8 MB, 10 bits set per key
}

// What is the rate of a filter of a given size?
func ExamplePlan_memory() {
	shape, err := bloom.Plan(umbel.Goal{Keys: 1_000_000, Bytes: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("k = %d, rate %.3f\n", shape.K, shape.Forecast(1_000_000).FPRate)
	// Output: k = 6, rate 0.018
}

// How do I use another hash function, for untrusted keys?
func ExamplePlan_hasher() {
	secret, err := umbel.ParseSeed("8f1d3a0c5b7e92644d0fa1b2c3d4e5f6") // make it random, and keep it
	if err != nil {
		log.Fatal(err)
	}
	shape, err := bloom.Plan(umbel.Goal{
		Keys: 1000, FPRate: 0.01,
		Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: secret},
	})
	if err != nil {
		log.Fatal(err)
	}
	f, err := bloom.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("alice")
	fmt.Println(f.HasString("alice"), f.Hasher().Alg)
	// Output: true siphash
}

// How do I merge two filters?
func ExampleFilter_Merge() {
	shape := bloom.Shape{M: 1 << 16, K: 7}
	a, err := bloom.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	b, err := bloom.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	a.AddString("alice")
	b.AddString("bob")
	if err := a.Merge(b.State()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.HasString("alice"), a.HasString("bob"))

	b.AddString("carol")
	c, err := bloom.NewShape(bloom.Shape{M: 1 << 16, K: 5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Merge(b.State()))
	// Output:
	// true true
	// bloom: k is 5 in one filter and 7 in the other
}

// How do I shrink a filter with fewer keys than planned?
func ExampleFilter_Fold() {
	shape, err := bloom.Plan(umbel.Goal{Keys: 100_000, FPRate: 0.01})
	if err != nil {
		log.Fatal(err)
	}
	f, err := bloom.NewShape(shape)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 9_000 {
		f.AddString(fmt.Sprint("key ", i))
	}
	before := f.Stats().Bytes
	if err := f.Fold(10); err != nil {
		log.Fatal(err)
	}
	after := f.Stats()
	fmt.Printf("a tenth of the memory: %v, rate below 0.01: %v\n", after.Bytes*10 == before, after.FPRate < 0.01)
	fmt.Println(f.HasString("key 8999"))
	// Output:
	// a tenth of the memory: true, rate below 0.01: true
	// true
}

// How do I send a filter or store it in a file?
func ExampleFilter_MarshalBinary() {
	f, err := bloom.NewShape(bloom.Shape{M: 1024, K: 5})
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("alice")
	b, err := f.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}

	var g bloom.Filter
	if err := g.UnmarshalBinary(b); err != nil {
		log.Fatal(err)
	}
	fmt.Println(g.HasString("alice"), g.Shape() == f.Shape())

	b[len(b)/2] ^= 1 // on the way, a bit flips
	fmt.Println(g.UnmarshalBinary(b) != nil)
	// Output:
	// true true
	// true
}

// How do I query many keys at once?
func ExampleFilter_HasAll() {
	f, err := bloom.NewShape(bloom.Shape{M: 1 << 16, K: 7})
	if err != nil {
		log.Fatal(err)
	}
	names := []string{"alice", "bob", "carol", "dave"}
	digests := make([]umbel.Digest, len(names))
	for i, name := range names {
		digests[i] = f.Hasher().HashString(name)
	}
	f.AddAll(nil, digests[:2])

	answers := make([]bool, len(digests))
	f.HasAll(answers, digests)
	fmt.Println(answers)
	// Output: [true true false false]
}

// How do I query a filter in the memory of its container, for example of a file that is mapped into memory?
func ExampleOpen() {
	f, err := bloom.New(5_000_000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("alice")
	container, err := f.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	state, err := wire.View(container, wire.Limits{}) // large arrays share the memory of container
	if err != nil {
		log.Fatal(err)
	}
	view, err := bloom.Open(state)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(view.HasString("alice"), view.HasString("bob"))
	// Output: true false
}

// How do I add keys from several goroutines?
func ExampleFilter_AddAtomic() {
	f, err := bloom.NewShape(bloom.Shape{M: 1 << 20, K: 7, Group: 6})
	if err != nil {
		log.Fatal(err)
	}
	h := f.Hasher()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 1000 {
				f.AddAtomic(h.HashString(fmt.Sprintf("key %d of %d", i, g)))
			}
		})
	}
	wg.Wait()
	fmt.Println(f.HasString("key 999 of 3"), f.HasString("key 0 of 4"))
	// Output: true false
}

// How full is a filter, and what is its rate?
func ExampleFilter_Stats() {
	f, err := bloom.NewShape(bloom.Shape{M: 10_000, K: 7})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 1000 {
		f.AddString(fmt.Sprint("flower ", i))
	}
	s := f.Stats()
	fmt.Printf("between %.0f and %.0f keys, %.2f of the bits set, rate %.3f\n", s.Low, s.High, s.Fill, s.FPRate)
	// Output: between 976 and 1007 keys, 0.50 of the bits set, rate 0.008
}
