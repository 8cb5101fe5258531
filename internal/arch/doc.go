// Package arch tests the import rules of this repository over all of its modules.
//
// Packages belong to eight named layers (layers_test.go). A package imports packages
// of its own layer and of lower layers. Four special rules add to this:
//
//   - Up to layer "collections", no package imports net, os, time or log, and no package
//     starts a goroutine unless it is listed with a reason.
//   - The library module depends on hash libraries only, with few exceptions that have reasons.
//   - Storage and exchange receive the kinds as a value of type umbel.Kinds; they import
//     neither a kind nor the list of kinds.
//   - Some external libraries have one owner, so that they can be replaced.
package arch
