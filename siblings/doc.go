// Package siblings lets HTTP caches use what the caches next to them hold.
//
// A [Mesh] is a node among siblings. It publishes what its cache holds as a filter (package share) and follows the publications
// of its siblings. It belongs behind a cache: as the transport of a Go program ([Mesh.Transport]), or as a sidecar, the
// upstream of a cache of any program ([Mesh.Sidecar]). What reaches it is a miss there. It requests the response from the
// cache of a sibling that may hold it, and otherwise from the origin.
//
// # What the cache holds
//
// [Held] is the exact set of what passed through the node and may be stored. A response leaves it when it expires, when
// the cache reports its removal ([Mesh.Removed]), and when a request for it arrives, which shows that the cache no longer holds it.
// A sibling that does not find what is published reports that too. So the set errs only until the next request.
//
// # What is used
//
// A sibling's response is used if this node could have stored it itself (RFC 9111), it is fresh, and it was selected by equal headers.
// Its age and its variant are in a header that the sidecar before it wrote ([StampHeader]), since caches exist that state
// neither. A request of a sibling that its cache could not answer ([HopHeader]) is answered with 504 and no-store.
//
// # Files
//
//   - mesh.go makes and runs a node; options.go has its settings, status.go its state and its counters
//   - transport.go answers a request; proxy.go and handler.go are the sidecar and its paths, headers.go what it adds
//   - held.go is the set, with table.go and wheel.go; summary.go is its filter, and key.go and vary.go name what is in it
//   - peer.go follows a sibling and logs its failures; suspension.go decides when it is tried again; contact.go, describe.go and
//     squidpeer.go read its publication, its address, and the digest of a Squid
//   - fetch.go requests a response from a sibling and judges it: fresh.go, stamp.go, encoding.go, body.go
//   - absent.go and changed.go are what siblings and the cache report; probe.go tests by samples whether the cache holds the set
//
// docs/siblings.md is a guide for operators. The design follows Fan, Cao, Almeida and Broder, Summary Cache (2000), with
// exact deltas instead of periodic copies, and Mitzenmacher, Compressed Bloom Filters (2002), for one cell per key.
package siblings
