package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// defaultName is the user of a client that sends only a password.
const defaultName = "default"

// Users are the users of a file. It is safe for concurrent use.
type Users struct {
	path    string
	secret  [32]byte // random per process, for the keys of verified
	current atomic.Pointer[snapshot]

	reload sync.Mutex       // held while users change
	known  map[string]*User // all users ever loaded, because clients keep references

	failures failures
	failed   atomic.Uint64 // logins
	checking chan struct{} // limits the passwords that are checked concurrently
}

// snapshot is the contents of the file at one time.
type snapshot struct {
	byName   map[string]*entry
	byToken  map[[sha256.Size]byte]*entry
	byCert   map[string]*entry
	most     int  // maximum number of passwords of a user
	decoy    hash // computed instead of missing passwords
	mu       sync.Mutex
	verified map[[sha256.Size]byte]*User // successful logins, by a keyed hash of name and password
}

// entry is a user and its credentials.
type entry struct {
	*User
	account
}

const (
	// maxChecking is the number of passwords checked concurrently; each needs up to maxMemory.
	maxChecking = 2
	// maxVerified is the number of successful logins that are cached.
	maxVerified = 4096
	// checkWait is the maximum time that a login waits to be checked.
	checkWait = 5 * time.Second
)

// Load reads users from a YAML file: see docs/node.md.
func Load(path string) (*Users, error) {
	us := newUsers(path)
	if err := us.Reload(); err != nil {
		return nil, err
	}
	return us, nil
}

// Parse parses the contents of a users file. Reload of the result fails.
func Parse(data []byte) (*Users, error) {
	us := newUsers("")
	if err := us.install(data); err != nil {
		return nil, err
	}
	return us, nil
}

func newUsers(path string) *Users {
	us := &Users{path: path, known: map[string]*User{}, checking: make(chan struct{}, maxChecking)}
	rand.Read(us.secret[:])
	return us
}

// Reload reads the file again. On an error the previous users stay. Rights change at once, also
// for clients that have logged in; removed and disabled users lose all rights.
func (us *Users) Reload() error {
	f, err := os.Open(us.path)
	if err != nil {
		return fmt.Errorf("users: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return fmt.Errorf("users: %w", err)
	}
	if len(data) > maxFile {
		return fmt.Errorf("users: %s has more than %d bytes", us.path, maxFile)
	}
	if err := us.install(data); err != nil {
		return fmt.Errorf("users: %s: %w", us.path, err)
	}
	return nil
}

// install replaces the users by the contents of a file.
func (us *Users) install(data []byte) error {
	accounts, err := parse(data)
	if err != nil {
		return err
	}
	us.reload.Lock()
	defer us.reload.Unlock()
	d, err := us.newSnapshot(accounts)
	if err != nil {
		return err
	}
	for name, u := range us.known {
		if e := d.byName[name]; e == nil || !e.enabled {
			u.rules.Store(nil)
		}
	}
	for name, e := range d.byName {
		us.known[name] = e.User
		if e.enabled {
			e.User.rules.Store(&e.account.rules)
		}
	}
	d.inherit(us.current.Load())
	us.current.Store(d)
	return nil
}

// newSnapshot builds a snapshot of accounts. It changes no user.
func (us *Users) newSnapshot(accounts []account) (*snapshot, error) {
	d := &snapshot{
		byName:   map[string]*entry{},
		byToken:  map[[sha256.Size]byte]*entry{},
		byCert:   map[string]*entry{},
		verified: map[[sha256.Size]byte]*User{},
		most:     1,
	}
	for _, a := range accounts {
		e := &entry{User: us.known[a.name], account: a}
		if e.User == nil {
			e.User = &User{Name: a.name}
		}
		d.byName[a.name] = e
		d.most = max(d.most, len(a.passwords))
		if d.decoy == nil && len(a.passwords) > 0 {
			d.decoy = a.passwords[0]
		}
		for _, t := range a.tokens {
			if other := d.byToken[t]; other != nil {
				return nil, fmt.Errorf("users %q and %q have the same token", other.name, a.name)
			}
			d.byToken[t] = e
		}
		for _, c := range a.certificates {
			if other := d.byCert[c]; other != nil {
				return nil, fmt.Errorf("users %q and %q have the same certificate %q", other.name, a.name, c)
			}
			d.byCert[c] = e
		}
	}
	if d.decoy == nil {
		d.decoy = argon{memory: hashMemory, time: hashTime, threads: hashThreads, salt: make([]byte, saltBytes), sum: make([]byte, hashBytes)}
	}
	return d, nil
}

// Default returns the user of clients without login: the user "default" if it has nopass,
// otherwise nil.
func (us *Users) Default() *User {
	if e := us.current.Load().byName[defaultName]; e != nil && e.open && e.enabled {
		return e.User
	}
	return nil
}

// Password returns the user with that name and password; an empty name is "default". On an
// error, which is ErrWrongPassword or ErrTooMany, it takes as long for users that aren't there
// or are disabled as for others, if all hashes of the file have the same parameters.
func (us *Users) Password(name, password string) (*User, error) {
	return us.Login("", name, password)
}

// Login returns the user with this name and password; an empty name means "default". It returns
// ErrWrongPassword or ErrTooMany. Missing and disabled users take as long as others, if all
// hashes of the file have the same parameters. from is the client's address, for example
// "192.0.2.1:1234": after too many failures for a name, further logins with that name from that
// address are refused for a while, except with a password that was verified before.
func (us *Users) Login(from, name, password string) (*User, error) {
	if name == "" {
		name = defaultName
	}
	d := us.current.Load()
	key := us.key(name, password)
	if u := d.known(key); u != nil {
		return u, nil
	}
	u, err := us.failures.guard(from, us.key(name, ""), func() (*User, error) { return us.check(d, key, name, password) })
	if err != nil {
		us.failed.Add(1)
	}
	return u, err
}

// Failed returns the number of failed logins since the users were loaded first.
func (us *Users) Failed() uint64 { return us.failed.Load() }

// loginToken returns the user of a bearer token, or ErrWrongPassword. Failures are not counted,
// because a token of 256 bits cannot be guessed.
func (us *Users) loginToken(token string) (*User, error) {
	e := us.current.Load().byToken[sha256.Sum256([]byte(token))]
	if e == nil || !e.enabled {
		us.failed.Add(1)
		return nil, ErrWrongPassword
	}
	return e.User, nil
}

// check compares a password with the user's hashes, padded with decoys to the maximum number of
// hashes.
func (us *Users) check(d *snapshot, key [sha256.Size]byte, name, password string) (*User, error) {
	turn := time.NewTimer(checkWait)
	defer turn.Stop()
	select {
	case us.checking <- struct{}{}:
		defer func() { <-us.checking }()
	case <-turn.C:
		return nil, ErrTooMany
	}
	e := d.byName[name]
	for i := range d.most {
		h := d.decoy
		if e != nil && i < len(e.passwords) {
			h = e.passwords[i]
		}
		if h.matches(password) && e != nil && i < len(e.passwords) && e.enabled {
			d.remember(key, e.User)
			return e.User, nil
		}
	}
	return nil, ErrWrongPassword
}

// key returns the key under which a login is cached. It is useless after the process has ended.
func (us *Users) key(name, password string) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, us.secret[:])
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(name))))
	io.WriteString(h, name)
	io.WriteString(h, password)
	h.Sum(sum[:0])
	return sum
}

// known returns the user of a login that succeeded with the present passwords, or nil.
func (d *snapshot) known(key [sha256.Size]byte) *User {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.verified[key]
}

// inherit takes over the logins of an earlier snapshot of users whose passwords are the same. Otherwise,
// to read the file again during an attack would lock them out.
func (d *snapshot) inherit(old *snapshot) {
	if old == nil {
		return
	}
	old.mu.Lock()
	defer old.mu.Unlock()
	for key, u := range old.verified {
		before, now := old.byName[u.Name], d.byName[u.Name]
		if now != nil && now.enabled && reflect.DeepEqual(now.passwords, before.passwords) {
			d.verified[key] = u
		}
	}
}

// remember caches a successful login until the user's passwords change.
func (d *snapshot) remember(key [sha256.Size]byte, u *User) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.verified) >= maxVerified {
		clear(d.verified)
	}
	d.verified[key] = u
}

// Certificate returns the user with a name (common name or alternative name) of the client's
// certificate, or nil if no user or several users match.
func (us *Users) Certificate(s *tls.ConnectionState) *User {
	if s == nil || len(s.VerifiedChains) == 0 || len(s.PeerCertificates) == 0 {
		return nil
	}
	cert := s.PeerCertificates[0]
	names := append([]string{cert.Subject.CommonName}, cert.DNSNames...)
	names = append(names, cert.EmailAddresses...)
	for _, u := range cert.URIs {
		names = append(names, u.String())
	}
	d := us.current.Load()
	var found *entry
	for _, name := range names {
		if e := d.byCert[name]; e != nil {
			if found != nil && found != e {
				return nil
			}
			found = e
		}
	}
	if found == nil || !found.enabled {
		return nil
	}
	return found.User
}

// refusals are the errors that refuse a client.
var refusals = []error{ErrDenied, ErrWrongPassword, ErrTooMany, ErrCredentials, ErrNoCredentials}

// refused reports whether an error is a refusal of the client and not of the request.
func refused(err error) bool {
	return slices.ContainsFunc(refusals, func(r error) bool { return errors.Is(err, r) })
}
