package redisbloom_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// How do I make the filter that BF.RESERVE makes?
func Example() {
	f, err := redisbloom.Reserve(redisbloom.Options{ErrorRate: 0.001, Capacity: 50000})
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("foo")
	fmt.Println(f.HasString("foo"), f.HasString("bar"))
	for _, line := range f.Debug() {
		fmt.Println(line)
	}
	// Output:
	// true false
	// size:1
	// bytes:98880 bits:791040 hashes:11 hashwidth:64 capacity:50000 size:1 ratio:0.0005
}

// How do I send a filter to a Redis server?
func ExampleFilter_Chunks() {
	f, err := redisbloom.Reserve(redisbloom.Options{ErrorRate: 0.1, Capacity: 4})
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		f.AddString(key)
	}
	chunks, err := f.Chunks()
	if err != nil {
		log.Fatal(err)
	}
	for iter, data := range chunks {
		fmt.Printf("BF.LOADCHUNK key %d of %d bytes\n", iter, len(data))
	}
	// Output:
	// BF.LOADCHUNK key 1 of 126 bytes
	// BF.LOADCHUNK key 9 of 8 bytes
	// BF.LOADCHUNK key 17 of 8 bytes
}

// How do I fetch a filter from a Redis server?
func ExampleLoader() {
	server, err := redisbloom.Reserve(redisbloom.Options{ErrorRate: 0.01, Capacity: 100})
	if err != nil {
		log.Fatal(err)
	}
	server.AddString("alice")

	loader := redisbloom.Loader{MaxBytes: 64 << 20}
	for iter := int64(0); ; {
		next, data, err := server.ScanDump(iter) // BF.SCANDUMP key iter
		if err != nil {
			log.Fatal(err)
		}
		if next == 0 {
			break
		}
		if err := loader.LoadChunk(next, data); err != nil {
			log.Fatal(err)
		}
		fmt.Println(loader.Missing(), "bytes to come")
		iter = next
	}
	f, err := loader.Filter()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.HasString("alice"))
	// Output:
	// 144 bytes to come
	// 0 bytes to come
	// true
}

// How do I find out that a filter is full?
func ExampleFilter_TryAdd() {
	f, err := redisbloom.Reserve(redisbloom.Options{ErrorRate: 0.01, Capacity: 3, NonScaling: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, key := range []string{"a", "b", "c", "d"} {
		changed, err := f.TryAdd(f.Hasher().HashString(key))
		fmt.Println(key, changed, errors.Is(err, umbel.ErrLimit))
	}
	// Output:
	// a true false
	// b true false
	// c true false
	// d false true
}

// How many keys do I reserve for a hundred keys and a rate of 1 in 10,000? Double hashing raises
// the rate of the filter that RedisBloom would make.
func ExamplePlan() {
	plain := redisbloom.Options{ErrorRate: 1e-4, Capacity: 100}
	fmt.Printf("reserved for %d keys: one in %.0f\n", plain.Capacity, 1/plain.Forecast(100).FPRate)

	planned, err := redisbloom.Plan(umbel.Goal{Keys: 100, FPRate: 1e-4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("reserved for %d keys: one in %.0f\n", planned.Capacity, 1/planned.Forecast(100).FPRate)
	// Output:
	// reserved for 100 keys: one in 4033
	// reserved for 134 keys: one in 10330
}
