package capture

import "context"

// Entries is a file with one entry for each exchange, which has all of it: only the entry's position is
// needed to read it again. No content of an entry is kept. It is safe for concurrent use.
type Entries struct {
	file *File
	in   *Input // of the file: its exchange numbers are not used
	read func(in *Input, entry []byte) []Record
}

// Entries returns nil if the input can't be read again. read returns the records of one entry, as it did
// first. When it reads again, the bytes may be anything.
func (in *Input) Entries(read func(in *Input, entry []byte) []Record) *Entries {
	if in.again == nil || in.AllowChunks {
		return nil
	}
	return &Entries{file: in.again, in: in, read: read}
}

// SetLocation sets the location of the records of an entry, if they belong to one exchange. at is where
// the entry begins, counted after a byte order mark.
func (e *Entries) SetLocation(recs []Record, at, size int64) {
	if e == nil {
		return
	}
	exchange := 0
	for _, r := range recs {
		switch {
		case r.OfSource():
		case exchange == 0:
			exchange = r.Exchange
		case exchange != r.Exchange:
			return
		}
	}
	at += e.in.begin
	for i := range recs {
		if !recs[i].OfSource() {
			recs[i].Location = Location{File: e.file, Start: at, End: at + size, Entries: e}
		}
	}
}

// Again yields the records of the exchange in [start,end), as they were first read, under the number
// exchange. Its errors are those of File.Again.
func (e *Entries) Again(ctx context.Context, exchange int, start, end int64) Source {
	return func(yield func(Record, error) bool) {
		entry, err := e.file.Bytes(start, end)
		if err != nil {
			yield(Record{}, err)
			return
		}
		in := *e.in // with the epoch of its times, known since the entry was first read
		in.numbers, in.again = &exchangeNumbers{last: exchange - 1}, nil
		for _, r := range e.read(&in, entry) {
			if ctx.Err() != nil {
				return
			}
			if r.Location = (Location{File: e.file, Start: start, End: end, Entries: e}); !r.OfSource() && !yield(r, nil) {
				return
			}
		}
	}
}
