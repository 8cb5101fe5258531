// Package interop tests a running node with unmodified programs of others: Redis' tools,
// client libraries in Go, JavaScript and Python, and the tests of go-redis. The cases of
// h2spec run on all programs that serve HTTP/2. It contains only tests. A test is skipped if its program is not on PATH.
//
// The folder speed compares the speed of a node with other servers. The folder faults tests
// a node under faults of its environment. The folder parquet tests umbel parquet with files of
// Apache Arrow's Go library.
package interop
