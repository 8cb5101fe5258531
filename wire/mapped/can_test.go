//go:build !purego && (linux || darwin || dragonfly || freebsd || netbsd || openbsd || windows) && (amd64 || arm64 || riscv64 || loong64 || ppc64le)

package mapped_test

// canMap is whether this system maps files whose words it can use.
const canMap = true
