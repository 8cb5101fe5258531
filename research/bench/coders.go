package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/fse"
	"github.com/klauspost/compress/huff0"
	"github.com/klauspost/compress/zstd"

	"github.com/umbel-filters/umbel/internal/coding/entropy"
)

// byteCoder is a compressor of bytes, which are the words of an array, little endian.
type byteCoder struct {
	name   string
	encode func(dst, src []byte) []byte
	decode func(src []byte, n int) ([]byte, error) // n bytes in new memory
}

// byteCoders returns all compressors. Each reuses its memory.
func byteCoders() []byteCoder {
	return []byteCoder{
		zstdCoder(zstd.SpeedFastest), zstdCoder(zstd.SpeedDefault),
		zstdCoder(zstd.SpeedBetterCompression), zstdCoder(zstd.SpeedBestCompression),
		flateCoder(6), flateCoder(9), huffCoder(), fseCoder(), riceCoder(),
	}
}

func zstdCoder(level zstd.EncoderLevel) byteCoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1))
	must(err)
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	must(err)
	return byteCoder{
		"zstd " + level.String(),
		func(dst, src []byte) []byte { return e.EncodeAll(src, dst) },
		func(src []byte, n int) ([]byte, error) { return d.DecodeAll(src, make([]byte, 0, n)) },
	}
}

func flateCoder(level int) byteCoder {
	e, err := flate.NewWriter(nil, level)
	must(err)
	d := flate.NewReader(nil)
	return byteCoder{
		fmt.Sprintf("flate %d", level),
		func(dst, src []byte) []byte {
			out := memory(dst)
			e.Reset(&out)
			must(second(e.Write(src)))
			must(e.Close())
			return out
		},
		func(src []byte, n int) ([]byte, error) {
			must(d.(flate.Resetter).Reset(bytes.NewReader(src), nil))
			out := make([]byte, n)
			_, err := io.ReadFull(d, out)
			return out, err
		},
	}
}

// pieceBytes is the size of the pieces for huff0 and fse, which code at most 256 KiB: that
// of a block of a container.
const pieceBytes = 1 << 16

// pieces returns a coder that codes each piece separately, after the length of its code. A
// piece that doesn't shrink is stored. A code of one byte is a piece of equal bytes.
func pieces(name string, encode func([]byte) ([]byte, error), decode func(src []byte, n int) ([]byte, error)) byteCoder {
	return byteCoder{
		name,
		func(dst, src []byte) []byte {
			for len(src) > 0 {
				piece := src[:min(len(src), pieceBytes)]
				src = src[len(piece):]
				code, err := encode(piece)
				switch {
				case errors.Is(err, huff0.ErrUseRLE), errors.Is(err, fse.ErrUseRLE):
					code = piece[:1]
				case err != nil, len(code) >= len(piece):
					code = piece
				}
				dst = binary.AppendUvarint(dst, uint64(len(code)))
				dst = append(dst, code...)
			}
			return dst
		},
		func(src []byte, n int) ([]byte, error) {
			out := make([]byte, 0, n)
			for len(out) < n {
				length, width := binary.Uvarint(src)
				code := src[width:][:length]
				src = src[width:][length:]
				size := min(n-len(out), pieceBytes)
				switch len(code) {
				case size:
					out = append(out, code...)
				case 1:
					out = append(out, bytes.Repeat(code, size)...)
				default:
					piece, err := decode(code, size)
					if err != nil {
						return nil, err
					}
					out = append(out, piece...)
				}
			}
			return out, nil
		},
	}
}

func huffCoder() byteCoder {
	var e, d huff0.Scratch
	e.Reuse = huff0.ReusePolicyNone
	return pieces("huff0",
		func(src []byte) ([]byte, error) {
			out, _, err := huff0.Compress4X(src, &e)
			return out, err
		},
		func(src []byte, n int) ([]byte, error) {
			s, rest, err := huff0.ReadTable(src, &d)
			if err != nil {
				return nil, err
			}
			return s.Decoder().Decompress4X(make([]byte, n)[:0:n], rest)
		})
}

func fseCoder() byteCoder {
	var e, d fse.Scratch
	return pieces("fse",
		func(src []byte) ([]byte, error) { return fse.Compress(src, &e) },
		func(src []byte, n int) ([]byte, error) {
			d.DecompressLimit = n
			return fse.Decompress(src, &d)
		})
}

// riceCoder returns a coder of the gaps between the positions of ones.
func riceCoder() byteCoder {
	return byteCoder{
		"Rice list",
		func(dst, src []byte) []byte { return entropy.AppendRice(dst, bitsOf(src)) },
		func(src []byte, n int) ([]byte, error) {
			b := entropy.NewBits(uint64(n) * 8)
			err := entropy.DecodeRice(src, b)
			return bytesOf(b.Words), err
		},
	}
}

// bitsOf returns the bits of little-endian words.
func bitsOf(b []byte) entropy.Bits {
	s := entropy.NewBits(uint64(len(b)) * 8)
	for i := range s.Words {
		s.Words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return s
}

// bytesOf returns the bytes of words, little endian.
func bytesOf(words []uint64) []byte {
	b := make([]byte, 0, 8*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// zstdFrom returns a coder with the old bytes as the dictionary of each message.
func zstdFrom(level zstd.EncoderLevel) coder {
	return coder{
		name: fmt.Sprintf("zstd %s, the old filter as dictionary", level),
		encode: func(dst []byte, m *message) []byte {
			window := max(zstd.MinWindowSize, 1<<bits.Len(uint(2*len(m.bytes))))
			e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
				zstd.WithWindowSize(window), zstd.WithEncoderDictRaw(1, m.old.bytes))
			must(err)
			return e.EncodeAll(m.bytes, dst)
		},
		decode: func(src []byte, m *message) (*message, error) {
			d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderDictRaw(1, m.old.bytes))
			must(err)
			defer d.Close()
			out, err := d.DecodeAll(src, make([]byte, 0, len(m.bytes)))
			return &message{bytes: out}, err
		},
	}
}
