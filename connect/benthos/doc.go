// Package benthos has components for the stream engine Benthos, which Redpanda Connect is made of: import it for its side effect, next
// to the components of the engine.
//
//	umbel_uniq     passes the messages whose key is new
//	umbel_add      adds the keys of messages, and passes all
//	umbel_has      states whether the key of a message is present, or passes only such messages
//	umbel_publish  is an output: it adds keys and publishes the filter
//
// Components of one process with the same path share a filter. It is kept as package state describes: a batch is on the disk
// before a component passes it on. With the fields source and position, a message that comes again changes nothing, and umbel_uniq
// decides as it did before.
//
// Package bento, a module of its own, is the same source for Bento: go generate makes it.
package benthos

//go:generate go test -run TestBento$ -update
