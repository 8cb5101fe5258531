// Package publish publishes filters of a node: each as a publication of package share in a directory, which
// the node serves over HTTP.
//
// Each publication has a goroutine. It looks at its filter once per period. If the position of the
// filter's last change differs from that of the last version, it takes a copy, waits until its changes
// are durable, and publishes the copy. Otherwise it renews the head when a third of its validity is
// over. Queries never wait, and changes only as for other copies of filters (engine.Filter.Copy).
//
// A filter that is missing, incomplete or has a secret seed is not published: the head expires, and
// subscribers know that they are stale.
//
// spec.go is the description of a publication, set.go has the publications of a node, publication.go and writer.go write one;
// source.go copies its filter, state.go is its state for status pages, store.go and room.go limit what it writes. Package replica
// follows publications, publisher is what the verbs that publish share, signing reads keys.
package publish
