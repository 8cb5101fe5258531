// Package testing has no code: it is the room of what only tests use.
//
//   - pagetest runs the sessions of pages and compares what they print
//   - resptest is a client and a server of RESP
//   - statustest compares the forms of a status page
//
// A simulated disk is in durable/disk/disktest, and a log on it in durable/wal/waltest.
package testing
