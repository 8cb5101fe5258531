package access

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

// Parameters of argon2id for new passwords: OWASP's first recommendation, 19 MiB and about 20 ms.
const (
	hashMemory  = 19 << 10 // KiB
	hashTime    = 2
	hashThreads = 1
	hashBytes   = 32
	saltBytes   = 16
)

// Maximum parameters in a users file, because any client can make the server compute a hash.
const (
	maxMemory  = 128 << 10 // KiB
	maxTime    = 16
	maxThreads = 16
	maxHash    = 128 // bytes, of the hash and of the salt
	maxBcrypt  = 14
)

// hash is a password hash.
type hash interface{ matches(password string) bool }

// argon is a hash by argon2id.
type argon struct {
	memory, time uint32
	threads      uint8
	salt, sum    []byte
}

func (a argon) matches(password string) bool {
	sum := argon2.IDKey([]byte(password), a.salt, a.time, a.memory, a.threads, uint32(len(a.sum)))
	return subtle.ConstantTimeCompare(sum, a.sum) == 1
}

// String returns the hash in PHC format.
func (a argon) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, a.memory, a.time, a.threads,
		base64.RawStdEncoding.EncodeToString(a.salt), base64.RawStdEncoding.EncodeToString(a.sum))
}

// crypt is a hash by bcrypt.
type crypt []byte

func (c crypt) matches(password string) bool {
	return bcrypt.CompareHashAndPassword(c, []byte(password)) == nil
}

// HashPassword returns the hash of a password for a users file: argon2id with a random salt, in
// PHC format.
func HashPassword(password string) (string, error) {
	if password == "" {
		return "", errors.New("empty password")
	}
	a := argon{memory: hashMemory, time: hashTime, threads: hashThreads, salt: make([]byte, saltBytes)}
	rand.Read(a.salt)
	a.sum = argon2.IDKey([]byte(password), a.salt, a.time, a.memory, a.threads, hashBytes)
	return a.String(), nil
}

// NewPassword returns a random password of 26 letters and digits, which has 128 bits.
func NewPassword() string { return rand.Text() }

// tokenPrefix marks tokens for programs that search for leaked secrets.
const tokenPrefix = "umbel_"

// NewToken returns a random token of 256 bits for a client, and its hash for a users file.
func NewToken() (token, hash string) {
	var b [32]byte
	rand.Read(b[:])
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(b[:])
	return token, HashToken(token)
}

// HashToken returns the hash of a token for a users file. A fast hash is safe because tokens are
// long and random.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return sumPrefix + hex.EncodeToString(sum[:])
}

// sumPrefix is the prefix of token hashes.
const sumPrefix = "sha256:"

// parseToken parses the hash of a token.
func parseToken(s string) (sum [sha256.Size]byte, err error) {
	digits, ok := strings.CutPrefix(s, sumPrefix)
	if n, err := hex.Decode(sum[:], []byte(digits[:min(len(digits), 2*len(sum))])); !ok || err != nil || n != len(sum) || len(digits) != 2*n {
		return sum, errors.New("invalid token hash, want sha256: and 64 hexadecimal digits; umbel user makes one")
	}
	return sum, nil
}

// parseHash parses the hash of a password, and refuses one that is too expensive to check.
func parseHash(s string) (hash, error) {
	switch {
	case strings.HasPrefix(s, "$argon2id$"):
		return parseArgon(s)
	case strings.HasPrefix(s, "$2a$"), strings.HasPrefix(s, "$2b$"), strings.HasPrefix(s, "$2y$"):
		cost, err := bcrypt.Cost([]byte(s))
		if err != nil {
			return nil, fmt.Errorf("bcrypt: %w", err)
		}
		if cost > maxBcrypt {
			return nil, fmt.Errorf("bcrypt: cost %d, want at most %d", cost, maxBcrypt)
		}
		return crypt(s), nil
	}
	return nil, errors.New("invalid password hash, want $argon2id$… or $2b$…; umbel user makes one")
}

func parseArgon(s string) (hash, error) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 {
		return nil, fmt.Errorf("argon2id: %d parts between $, want version, parameters, salt and hash", len(parts)-2)
	}
	if want := fmt.Sprintf("v=%d", argon2.Version); parts[2] != want {
		return nil, fmt.Errorf("argon2id: version %.20q, want %q", parts[2], want)
	}
	var a argon
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &a.memory, &a.time, &a.threads); n != 3 || err != nil ||
		parts[3] != fmt.Sprintf("m=%d,t=%d,p=%d", a.memory, a.time, a.threads) {
		return nil, fmt.Errorf("argon2id: parameters %.40q, want for example m=19456,t=2,p=1", parts[3])
	}
	if a.time < 1 || a.time > maxTime || a.threads < 1 || a.threads > maxThreads ||
		a.memory < 8*uint32(a.threads) || a.memory > maxMemory {
		return nil, fmt.Errorf("argon2id: parameters %s, want at most m=%d,t=%d,p=%d", parts[3], maxMemory, maxTime, maxThreads)
	}
	var err error
	if a.salt, err = phcBytes(parts[4], 8); err != nil {
		return nil, fmt.Errorf("argon2id: salt: %w", err)
	}
	if a.sum, err = phcBytes(parts[5], 16); err != nil {
		return nil, fmt.Errorf("argon2id: hash: %w", err)
	}
	return a, nil
}

// phcBytes decodes base64 without padding.
func phcBytes(s string, least int) ([]byte, error) {
	b, err := base64.RawStdEncoding.Strict().DecodeString(s)
	if err != nil {
		return nil, err
	}
	if len(b) < least || len(b) > maxHash {
		return nil, fmt.Errorf("%d bytes, want %d to %d", len(b), least, maxHash)
	}
	return b, nil
}
