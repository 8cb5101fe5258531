package httpcache

import "sync/atomic"

// Stats counts what a cache has done since it was made. The fields may be read at any time.
type Stats struct {
	Hits        atomic.Uint64 // answered from the store without the origin
	Validated   atomic.Uint64 // answered from the store after the origin has confirmed the response
	Stale       atomic.Uint64 // answered with a stale response, also because the origin failed
	Misses      atomic.Uint64 // answered by the origin, and the answer may be stored
	Collapsed   atomic.Uint64 // answered by the request of another client
	Passed      atomic.Uint64 // answered by the origin, without the store
	Abandoned   atomic.Uint64 // not answered, because the client went away before the origin answered
	Errors      atomic.Uint64 // answered with an error of the cache: 502, 504 and 508
	Stored      atomic.Uint64 // responses that were stored
	Evicted     atomic.Uint64 // keys that were removed because the store was full
	Invalidated atomic.Uint64 // keys that were removed because of a POST, PUT, DELETE and so on
	Unwritten   atomic.Uint64 // failed writes of the store, for example because the disk was full
	Incomplete  atomic.Uint64 // bodies that were not stored because they ended early or the disk was full
}
