package freeport

import (
	"net"
	"testing"
)

func TestAddr(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		addr, err := Addr()
		if err != nil {
			t.Fatal(err)
		}
		if seen[addr] {
			t.Errorf("%s is returned twice", addr)
		}
		seen[addr] = true
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}
