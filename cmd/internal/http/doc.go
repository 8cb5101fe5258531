// Package http is the map of the HTTP interface of a node. Begin with httpapi/routes.go, which has all paths.
//
//   - api: media types, headers, paths and JSON types, for the server and the client.
//   - httpapi: the server; openapi.json describes it.
//   - remote: the client, for the verbs with --addr. It links nothing of the server.
//   - outgoing: containers that are being sent, and their copies on disk.
package http
