// Package remote asks a node over HTTP: what the verbs do with --addr.
//
// Keys are hashed here and their digests sent, 16 bytes a key, so that no key leaves the
// machine. Where the node keeps the seed of a filter's hash to itself, keys are sent.
package remote
