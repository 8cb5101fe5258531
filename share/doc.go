// Package share publishes a filter once, so that it answers queries everywhere.
//
// A publication is a small signed head and immutable objects named by their content: packed
// containers (snapshots), changes from earlier versions (deltas), and indexes of both. Objects never
// change, so anything can carry them: a directory, a web server, a bucket, a memory stick. A relay is
// a copy. The publisher knows no subscribers, and subscribers do not trust the carrier: a head is
// signed, every object is verified by its hash, and the filter by the root of its hash tree.
//
// A [Publisher] writes versions of any filter to a [Store]. A [Subscriber] reads them from a [Source]
// and answers queries meanwhile. A subscriber that missed versions takes the objects with the fewest
// bytes; it needs at most 8 for 1296 versions.
//
// # What a subscriber answers
//
// A subscriber is exact only while its filter has been verified and its head is valid. Then Has is
// what the publisher's filter answered at most [Head.Valid] ago. Otherwise it answers what the
// program has chosen: an error, "maybe" for every key, or the last version ([Stale]). Whatever is
// lost, repeated, reordered or damaged on the way makes a subscriber late, never wrong: it keeps its
// last version until it has verified another one.
//
// A subscriber accepts heads in the order of their streams and times; with a cache that holds across
// restarts. A publisher continues the stream in its store, and begins a new one if the store is empty
// or unreadable. If the store is restored from a backup, versions repeat: subscribers then fetch a
// snapshot.
//
// The format is spec/share.md. Package share/dir keeps publications in directories, and package
// share/web serves and reads them over HTTP.
package share
