package tree

import "errors"

var (
	// ErrNode is wrapped when a source or receiver is no node of the graph.
	ErrNode = errors.New("tree: no such node")
	// ErrNoReceivers is wrapped when nobody but the source is to receive.
	ErrNoReceivers = errors.New("tree: no receivers")
	// ErrDisconnected is wrapped when there is no way to a receiver.
	ErrDisconnected = errors.New("tree: graph not connected")
)
