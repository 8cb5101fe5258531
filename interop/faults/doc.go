// Package faults treats a node badly and sees that it doesn't lie: it is killed under load, its
// files lose bits, its disk fills, its clients send garbage or never read. It has tests only.
//
//	go test ./interop/faults -kills 200
package faults
