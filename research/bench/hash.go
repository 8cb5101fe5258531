package main

import (
	"github.com/cespare/xxhash/v2"
	"github.com/zeebo/xxh3"

	"github.com/umbel-filters/umbel"
)

// hashes are what a key of bytes costs before any filter sees it.
var hashes = []struct {
	name string
	sum  func(*keys) (x uint64)
}{
	{"XXH3-128, umbel's default", func(k *keys) uint64 { return digestSum(umbel.Hasher{}, k) }},
	{"XXH64 by umbel", func(k *keys) uint64 { return digestSum(umbel.Hasher{Alg: umbel.XXH64}, k) }},
	{"SipHash-128 by umbel", func(k *keys) uint64 { return digestSum(umbel.Hasher{Alg: umbel.SipHash}, k) }},
	{"XXH3-64, zeebo", func(k *keys) (x uint64) {
		eachKey(k, func(key []byte) { x ^= xxh3.Hash(key) })
		return x
	}},
	{"XXH64, cespare", func(k *keys) (x uint64) {
		eachKey(k, func(key []byte) { x ^= xxhash.Sum64(key) })
		return x
	}},
}

func digestSum(h umbel.Hasher, k *keys) (x uint64) {
	eachKey(k, func(key []byte) {
		d := h.HashBytes(key)
		x ^= d.H1 ^ d.H2
	})
	return x
}

// runHashes measures the cost of hashing a key.
func runHashes(o options, p *progress) (*Table, error) {
	p.scope = "hash"
	t := &Table{Section: "hash", Path: "hash", Title: "Hashing a key", Unit: "ns/key"}
	const n = 100_000
	for _, h := range hashes {
		if o.only.MatchString("hash/" + h.name) {
			t.Rows = append(t.Rows, &Row{Name: h.name})
		}
	}
	var tasks []task
	for _, in := range []input{bytes8, bytes32} {
		t.Columns = append(t.Columns, in.String())
		k := makeKeys(in, 0, n)
		for _, h := range hashes {
			if row := t.row(h.name); row != nil {
				tasks = append(tasks, task{row, in.String(), func(int) (float64, error) {
					return perKey(timed(func() { answered.Add(int64(h.sum(k))) }), n), nil
				}})
			}
		}
	}
	if len(tasks) == 0 {
		return nil, nil
	}
	return t, interleave(o.rounds, max(1, o.timedNear/n), p, tasks, func() {})
}
