package capture

import "context"

// Entries are a file that has each exchange in an entry of its own, which tells all of it: where that
// stands is all that reading it again takes. Nothing of an entry is kept, and several goroutines at
// once may read some again.
type Entries struct {
	file *File
	in   *Input // of the file: its number of exchanges is not used
	read func(in *Input, entry []byte) []Record
}

// Entries are nil if the input cannot be read again. read gives the records of one entry, as they were
// given first; what stands there may be anything by then.
func (in *Input) Entries(read func(in *Input, entry []byte) []Record) *Entries {
	if in.again == nil || in.AllowChunks {
		return nil
	}
	return &Entries{file: in.again, in: in, read: read}
}

// SetLocation gives the records of an entry their place, where they are of one exchange. at is where the
// entry begins, behind a byte order mark.
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

// Again yields the records of the exchange that stands in [start,end), as they were read first, as those
// of an exchange of that number. The error is as that of File.Again.
func (e *Entries) Again(ctx context.Context, exchange int, start, end int64) Source {
	return func(yield func(Record, error) bool) {
		entry, err := e.file.Bytes(start, end)
		if err != nil {
			yield(Record{}, err)
			return
		}
		in := *e.in // with what its times count from, which was known when the entry had been read
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
