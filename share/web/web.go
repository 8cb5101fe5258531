// Package web serves and reads publications over HTTP.
//
// The URLs are those of a directory of package share/dir under any web server:
//
//	BASE/head            the head
//	BASE/head-FACTOR     the head of a fold class
//	BASE/objects/NAME    an object; it never changes
//
// A [Client] reads a publication from a [Handler], from a plain web server, and through caches of
// both. It trusts none of them: package share verifies what they return.
//
// # Waiting for a head
//
// The replies of a Handler for the head have the header Umbel-Long-Poll with a number of seconds.
// A client may then request
//
//	BASE/head?after=TAG&wait=25s
//
// with the tag of the head that it has, which is the name that its bytes would have as an object.
// The reply comes when the head is another one, and at the latest after the time to wait. It
// may come earlier, for example from a cache. The tag of the head may be in the header If-None-Match
// instead. But if it is in the URL, a cache sees equal requests and sends one of them
// to the handler. Clients of servers without this header request the head periodically.
package web

// objectsPath is the path of the objects below the base URL.
const objectsPath = "objects"

const (
	// longPollHeader has the number of seconds for which a request for the head may wait.
	longPollHeader = "Umbel-Long-Poll"
	// afterQuery and waitQuery are the parameters of a request that waits.
	afterQuery = "after"
	waitQuery  = "wait"
)
