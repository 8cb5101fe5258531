// Package arch holds the rules about who imports whom, as a test over every module
// of this repository. Packages stand on floors: a package imports those on lower
// floors only, and those of one floor don't know each other. Below floor 5 nothing
// imports net, os, time or log, and nothing starts a goroutine unasked: what is there are
// data structures and formulas, and whoever calls them decides on the rest. The
// library module depends on hash libraries only.
//
// A new package gets its place in floors_test.go; the test says so until it has.
package arch
