// Package multicast has no code: it is the room of trees in packets, whose code is the library's package multicast.
//
//   - verbs are those of umbel-multicast
//   - draw draws trees over topologies; docpictures draws the pictures of the documents
package multicast
