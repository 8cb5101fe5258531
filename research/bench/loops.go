package main

import "github.com/umbel-filters/umbel"

// The loops of all contestants. They are small enough to be inlined together with
// the function literal that is their argument, so each use is a plain loop around
// a direct call.

func eachHash(k *keys, do func(uint64)) {
	for _, h := range k.hashes {
		do(h)
	}
}

func countHashes(k *keys, ask func(uint64) bool) (n int) {
	for _, h := range k.hashes {
		if ask(h) {
			n++
		}
	}
	return n
}

func eachDigest(k *keys, do func(umbel.Digest)) {
	for _, d := range k.digests {
		do(d)
	}
}

func countDigests(k *keys, ask func(umbel.Digest) bool) (n int) {
	for _, d := range k.digests {
		if ask(d) {
			n++
		}
	}
	return n
}

func eachKey(k *keys, do func([]byte)) {
	for i := range k.n {
		do(k.at(i))
	}
}

func countKeys(k *keys, ask func([]byte) bool) (n int) {
	for i := range k.n {
		if ask(k.at(i)) {
			n++
		}
	}
	return n
}

// eachBatch calls do with the bounds of each batch of n keys.
func eachBatch(n int, do func(i, j int)) {
	for i := 0; i < n; i += batch {
		do(i, min(i+batch, n))
	}
}
