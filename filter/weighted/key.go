package weighted

// AddBytes adds a key, with the class of its prefix if there are prefixes: it is Add, or
// AddClass, of the key's digest.
func (f *Filter) AddBytes(key []byte) bool { return f.AddClass(f.digest(key)) }

// AddString is AddBytes of a string.
func (f *Filter) AddString(key string) bool { return f.AddClass(f.digest(bytes(key))) }

// HasBytes is Has of the key's digest, or HasClass with the class of its prefix if there
// are prefixes.
func (f *Filter) HasBytes(key []byte) bool { return f.HasClass(f.digest(key)) }

// HasString is HasBytes of a string.
func (f *Filter) HasString(key string) bool { return f.HasClass(f.digest(bytes(key))) }

// description describes the filter by its type, its classes and the lengths of its tables.
func (f *Filter) description() string { return f.describe("Filter") }

// AddBytes adds a key, with the class of its prefix if there are prefixes: it is Add, or
// AddClass, of the key's digest.
func (f *Counting) AddBytes(key []byte) bool { return f.AddClass(f.digest(key)) }

// AddString is AddBytes of a string.
func (f *Counting) AddString(key string) bool { return f.AddClass(f.digest(bytes(key))) }

// HasBytes is Has of the key's digest, or HasClass with the class of its prefix if there
// are prefixes.
func (f *Counting) HasBytes(key []byte) bool { return f.HasClass(f.digest(key)) }

// HasString is HasBytes of a string.
func (f *Counting) HasString(key string) bool { return f.HasClass(f.digest(bytes(key))) }

// RemoveString removes one addition of a key, with the class of its prefix if there are prefixes: it is Remove, or
// RemoveClass, of the key's digest.
func (f *Counting) RemoveString(key string) bool { return f.RemoveClass(f.digest(bytes(key))) }

// CountString returns how often a key was added: it is Count of the key's digest, or CountClass with the class of its
// prefix if there are prefixes.
func (f *Counting) CountString(key string) (n uint64, known bool) {
	return f.CountClass(f.digest(bytes(key)))
}

// description describes the filter by its type, its classes and the lengths of its tables.
func (f *Counting) description() string { return f.describe("Counting") }
