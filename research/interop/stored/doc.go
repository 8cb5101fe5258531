// Package stored reads filters that other libraries made with package filter/foreign/imported, and lets those libraries
// read them again: bits-and-blooms/bloom and greatroar/blobloom, which are linked, and Guava, which runs on a Java
// machine if there is one.
package stored
