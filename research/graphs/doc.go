// Package graphs compares the trees and distances of package multicast/tree with those of gonum, an independent
// implementation. It is in the research module so that the library does not require gonum.
package graphs
