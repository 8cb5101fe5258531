// Package httpcache is a shared HTTP cache: RFC 9111 (caching), 9110 (semantics), 9211 (Cache-Status), 9213
// (CDN-Cache-Control) and 5861 (stale-while-revalidate, stale-if-error).
//
// A request takes this way:
//
//	target.go     the URL that the origin gets, and the cache key, which is made from that URL only
//	cache.go      finds a stored response and decides whether it may be used
//	answer.go     answers from a stored response, with conditions and ranges
//	flight.go     one request to the origin, on which several clients may wait
//	fetch.go      what becomes of the answer of the origin: stored, shared, or passed to one client
//	update.go     what a 304 changes in what is stored
//	spool.go      the body of an answer while it arrives
//	index.go      which responses are stored; memory.go and disk.go keep their bodies
//	pass.go       requests that are not cached, and what they invalidate
//
// The other files have the rules, as functions without side effects: directives.go, freshness.go, vary.go,
// conditional.go, fields.go.
//
// No lock is held while a body is read or written.
package httpcache
