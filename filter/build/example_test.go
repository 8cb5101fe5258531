package build_test

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/build"
)

// How do I make a filter of a file whose number of lines is unknown?
func Example() {
	var log strings.Builder // instead of a file
	for i := range 30_000 {
		fmt.Fprintf(&log, "user %d\n", i%10_000)
	}
	goal := umbel.Goal{FPRate: 0.01}
	made, err := build.Order{Kind: bloom.Kind, Goal: goal}.Make(func(add func([]umbel.Digest) error) error {
		lines := bufio.NewScanner(strings.NewReader(log.String()))
		batch := make([]umbel.Digest, 0, 256)
		for lines.Scan() {
			if batch = append(batch, goal.Hasher.HashBytes(lines.Bytes())); len(batch) == cap(batch) {
				if err := add(batch); err != nil {
					return err
				}
				batch = batch[:0]
			}
		}
		if err := lines.Err(); err != nil {
			return err
		}
		return add(batch)
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(made.Read, "lines,", made.Distinct, "different,", made.Filter.Stats().Bytes, "bytes")
	fmt.Println(umbel.HasKey(made.Filter, "user 7"), umbel.HasKey(made.Filter, "user 10000"))
	// Output:
	// 30000 lines, 10000 different, 12000 bytes
	// true false
}
