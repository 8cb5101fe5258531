// Package snapfile stores the files of snapshots in one directory: pieces, which contain cells and
// catalogs, and manifests, each of which names the pieces of one snapshot.
//
// # Files
//
//	piece-NUMBER                   1 to MaxPiece bytes; never changed, its number is never reused
//	                               while a manifest refers to it
//	manifest-NUMBER-POSITION-COPY  contents | XXH3-128 of number, position and contents 16;
//	                               copies 1 and 2 are equal
//	manifest-COPY.tmp              a copy of a manifest that is being written or removed
//	reserve                        room for a snapshot on a full disk
//
// Numbers and positions have 16 hexadecimal digits. Files can be read by their owner only, since
// they contain the seeds of hashers.
//
// # Order of writes
//
// Pieces are written under their final names, because nothing refers to them yet. [Dir.Publish] syncs
// them, syncs the directory, writes both copies of the manifest under temporary names, syncs them,
// renames one after the other, and syncs the directory again. So a manifest that exists has all its
// pieces, whenever the power fails. [Dir.Sweep] removes manifests before pieces, with a sync of the
// directory between. What a crash leaves are temporary files or pieces to which no manifest refers; Sweep
// removes both. It renames the first copy of a manifest before it removes the second. So whenever a
// process is killed, a single copy has its counterpart in a temporary file, and is not taken for damage.
//
// # Damage
//
// A manifest is read if one of its copies is whole. If none is, its name still contains the position
// up to which the snapshot contained changes: a start that falls back to the previous snapshot knows how
// far the log must reach. Pieces have no sums of their own; the references to their bytes do.
//
// Pieces are numbered and not named after the hash of their contents. XXH3 does not resist collisions
// made on purpose, and users upload cells: a piece that is made to have the hash of another one would
// replace it.
package snapfile
