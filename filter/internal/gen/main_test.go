package main

import (
	"bytes"
	"os"
	"testing"
)

// The files on disk are those that Gen writes.
func TestGenerated(t *testing.T) {
	files, err := files("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what is generated (%v): run go generate ./filter/...", name, err)
		}
	}
}
