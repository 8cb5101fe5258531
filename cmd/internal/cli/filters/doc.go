// Package filters has the verbs for filters: in files, and by their names on a node. One file has one verb or one
// idea that several share: target.go opens what FILE names, summary.go prints what was written, overfull.go judges
// results with more errors than stated, keysinfo.go prints numbers of keys.
package filters
