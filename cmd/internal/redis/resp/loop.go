package resp

// An event loop serves many connections with one goroutine: it waits for input of any of them, and runs one
// round of each connection that has some. A connection that waits for input takes no goroutine and no
// buffer, and a busy server needs no switch between goroutines per command.
//
// Nothing may wait in a loop. The goroutine that runs a round calls leave before it waits or runs a command
// that may take long; then another goroutine runs the loop, and the first returns its connection to it after
// the round. Before a round waits for the disk, the loop runs the rounds of all connections that are ready;
// one goroutine then waits for all of them and sends their replies. If a command waits for something else,
// such as a lock, the loop continues without it after stuckTime.

// shift is the work of a goroutine that runs rounds of connections.
type shift interface {
	// leave makes another goroutine run the loop and the rounds that are left. It may be called again.
	leave()
	// polls reports whether the goroutine runs a loop.
	polls() bool
}
