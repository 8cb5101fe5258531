package nixbloom_test

import (
	"fmt"

	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
)

// How do I make the filter of a binary cache?
func Example() {
	paths := []string{
		"/nix/store/nvd61k9nalji1zl9rrdfmsmvyyjqpzg4-hello-2.12",
		"/nix/store/0c0f7wmmjdqy6pz0d9zc0lh9vbsmh0bq-zlib-1.3",
	}
	shape, err := nixbloom.NixShape(uint64(len(paths)), 0.0001)
	if err != nil {
		panic(err)
	}
	f, err := nixbloom.NewShape(shape)
	if err != nil {
		panic(err)
	}
	for _, path := range paths {
		d, err := nixbloom.DigestOf(path)
		if err != nil {
			panic(err)
		}
		f.Add(d)
	}
	file, err := f.AppendFile(nil) // BloomFilter: /bloom-filter
	if err != nil {
		panic(err)
	}
	fmt.Println(len(file), "bytes")

	g, err := nixbloom.ParseFile(file)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"nvd61k9nalji1zl9rrdfmsmvyyjqpzg4.narinfo", "6kqhd5f2yfm0a5bvr6m7iw2mqxxnzjyl.narinfo"} {
		d, err := nixbloom.DigestOf(name)
		if err != nil {
			panic(err)
		}
		fmt.Println(g.Has(d))
	}
	// Output:
	// 37 bytes
	// true
	// false
}
