// Package hop has what a proxy changes in a message between two connections, and what it does not. What passes through a
// proxy passes unchanged, except for what RFC 9110 and RFC 9112 require:
//
//	fields.go     fields that concern one connection, malformed names, and fields that net/http would add or drop
//	trailers.go   trailer sections
//	body.go       the body of a request, which is not used after its handler has returned
//	transport.go  requests to origins: malformed answers, and connections that authenticate a client
//	conn.go       connections to origins: what net/http loses
//	proxy.go      one request and its answer
//
// Package httptarget has the targets of requests. A fault of the client (ClientError) is distinguished from one of the origin.
package hop
