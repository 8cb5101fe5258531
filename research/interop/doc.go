// Package interop holds a running node against other people's programs, unmodified: Redis'
// own tools, client libraries in Go, JavaScript and Python, and go-redis' suite of tests. It has
// tests only; those of a program that isn't on PATH say that they are skipped.
//
// Beside it, speed measures a node next to other servers, and faults treats one badly.
package interop
