// Program adds a key to a filter, queries it and writes the filter to the file of its argument.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/umbel-filters/umbel/filter/bloom"
)

func main() {
	f, err := bloom.New(1000, 0.01)
	if err != nil {
		log.Fatal(err)
	}
	f.AddString("alice")
	fmt.Println(f.HasString("alice"))
	file, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	if _, err := f.WriteTo(file); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}
