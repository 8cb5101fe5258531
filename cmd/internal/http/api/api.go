// Package api has the media types, headers, paths and JSON types of the HTTP interface, for the server
// (httpapi) and the client (remote). The interface is described by httpapi/openapi.json.
package api

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/umbel-filters/umbel"
)

// Media types of requests and responses.
const (
	MediaJSON      = "application/json"
	MediaLines     = "application/x-ndjson"
	MediaText      = "text/plain"
	MediaDigests   = "application/octet-stream"
	MediaContainer = "application/vnd.umbel.container"
	MediaDelta     = "application/vnd.umbel.delta"
	MediaBackup    = "application/octet-stream"
	MediaProblem   = "application/problem+json"
	MediaMerge     = "application/merge-patch+json"
)

// FormPacked is the value of MediaContainer's parameter "form" for the smallest encoding.
const FormPacked = "packed"

const (
	// HeaderHash is the request header in which a client that sends digests names the hasher that
	// made them (see HashName). The server refuses the request if the filter has another hasher.
	HeaderHash = "Umbel-Hash"
	// HeaderMove is the request header of a client that moves filters between the nodes of a slot map: its value "1" makes a node
	// accept changes of filters that the map gives to other nodes, or that are moving.
	HeaderMove = "Umbel-Move"
	// TrailerProblem is the trailer that contains the Problem, as JSON, of a stream that ended early.
	TrailerProblem = "Umbel-Problem"
)

// ProblemPath is the prefix of all values of Problem.Type.
const ProblemPath = "/problems/"

// FilterPath returns the path of a filter, or of an operation on it.
func FilterPath(name string, operation ...string) string {
	segment := url.PathEscape(name)
	if strings.Trim(segment, ".") == "" { // "." and ".." would be resolved as path segments
		segment = strings.ReplaceAll(segment, ".", "%2E")
	}
	return strings.Join(append([]string{"/v1/filters/" + segment}, operation...), "/")
}

// HashName returns the value of HeaderHash for h. It contains the seed.
func HashName(h umbel.Hasher) string {
	if h.Seed == (umbel.Seed{}) {
		return h.Alg.String()
	}
	seed := h.Seed.Bytes()
	return h.Alg.String() + ";seed=" + hex.EncodeToString(seed[:])
}

// EncodeName returns a name for JSON: plain if it is UTF-8, otherwise in base64.
func EncodeName(name string) (plain *string, encoded string) {
	if utf8.ValidString(name) {
		return &name, ""
	}
	return nil, base64.StdEncoding.EncodeToString([]byte(name))
}
