// Package nix has no code: it is the room of Nix binary caches.
//
//   - nixcache reads which paths a cache has, and publishes them
//   - substituter answers Nix clients from the publications of several caches
//   - verbs are those of umbel-nix
package nix
