// Package ribbon provides filters that are solved once from all keys and then sent.
package ribbon
