// Package files has no code: it is the room of what programs do with files.
//
//   - keys reads keys from files and hashes them; build makes filters of them, with package filter/build of the
//     library, and weighted ones by a log of queries (heavy); uniq passes on the keys that were not seen before
//   - container reads and writes filters, on top of atomicfile, which writes files as a whole
//   - foreignfile reads the files of other programs: digests of Squid, files NixBloom, dumps of Redis
//   - merging, ability, explain and trial are what verbs do with filters in memory; spec says what filters to make
//   - parquetfile finds the filters in Parquet files; picture draws; quantity parses and prints numbers for people
package files
