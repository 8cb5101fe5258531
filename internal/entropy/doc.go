// Package entropy turns strings of bits into fewer bytes and back: by range ANS at
// the entropy, by Golomb-Rice where decoding should be simple, by Elias and Fano where
// the positions are to be asked without decoding. It knows nothing of cells.
package entropy
