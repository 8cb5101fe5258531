// Package webcache has no code: it is the room of HTTP caches.
//
//   - httpcache is the cache, and cacheserver runs it; forward is what a forward proxy needs next to it
//   - sidecar is the upstream of another cache, and cachelog reads from logs what that cache removed
//   - squidpeer fetches the digests of Squids, and relays them to other Squids
//   - verbs are those of umbel-cache
package webcache
