// Package bento has the components of package benthos for Bento: import it for its side effect, next to the components of the engine.
package bento
