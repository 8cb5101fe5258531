// Package parquet tests umbel parquet with files of Apache Arrow's Go library: each value of each type that
// it writes is found by its text. It contains only tests, which the tag noarrow excludes, because the library takes
// long to compile.
//
//	cd research/interop && go test ./parquet                        # seconds, after the build
//	UMBEL_LONG=1 go test ./parquet                                  # 40 times as many values
package parquet
