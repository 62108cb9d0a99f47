//go:build !nohub

package fleet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
)

// A file of the hub's store is a sequence of messages. Each begins with its size, its number, its time and the size of
// its subject, and ends with a checksum. The server trusts the first numbers of a message: with one wrong bit in them,
// it loses all later messages of the file without a word, or adds numbers to a list until the memory is full. So the
// hub restores these numbers before it starts the server. The checksum then shows whether the message is undamaged.
const (
	messageHead   = 22
	messageSum    = 8
	atNumber      = 4
	atSubjectSize = 20

	hasHeaders = 1 << 31 // flag in the size
	isDeletion = 3 << 62 // flags in the number
)

// repairStore repairs the files of a store, and reports each file that it changed or can't repair.
func repairStore(dir string, say func(string)) {
	files, _ := fs.Glob(os.DirFS(dir), "jetstream/*/streams/*/msgs/*.blk") // the pattern is valid
	for _, name := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if isSound(path) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the server reports the error
		}
		f := messageFile{text: text}
		if f.repairHeads(); len(f.repaired) == 0 {
			continue
		}
		if err := f.writeHeads(path); err != nil {
			say(fmt.Sprintf("hub: %s is damaged at byte %d, and can't be repaired: %v", path, f.repaired[0], plainReason(err)))
			continue
		}
		say(fmt.Sprintf("hub: %s was damaged at byte %d, and is repaired", path, f.repaired[0]))
	}
}

// isSound reports whether the messages of a file follow each other without a break. It checks only their heads.
func isSound(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return true
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return true
	}
	window := make([]byte, 1<<12)
	read, from, number := window[:0], int64(0), uint64(0)
	for at := int64(0); at < info.Size(); {
		if at+messageHead > from+int64(len(read)) { // small messages are read together, and the rest of a large one is skipped
			n, _ := file.ReadAt(window, at)
			read, from = window[:n], at
		}
		f := messageFile{text: read[at-from:]}
		if len(f.text) < messageHead {
			return false
		}
		size, next := f.sizeOf(0), f.numberOf(0)
		if size < messageHead+messageSum || at+int64(size) > info.Size() || f.subjectSizeOf(0) > size-messageHead-messageSum ||
			number > 0 && next != number+1 {
			return false
		}
		at, number = at+int64(size), next
	}
	return true
}

// messageFile is the content of a file in the hub's store.
type messageFile struct {
	text     []byte
	repaired []int // offsets of the messages whose heads were changed
}

// writeHeads writes the changed heads to a file.
func (f *messageFile) writeHeads(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	for _, at := range f.repaired {
		_, failed := file.WriteAt(f.text[at:at+messageHead], int64(at))
		err = errors.Join(err, failed)
	}
	return errors.Join(err, file.Sync(), file.Close())
}

func (f *messageFile) sizeOf(at int) int {
	return int(binary.LittleEndian.Uint32(f.text[at:]) &^ hasHeaders)
}

func (f *messageFile) numberOf(at int) uint64 {
	return binary.LittleEndian.Uint64(f.text[at+atNumber:])
}

func (f *messageFile) subjectSizeOf(at int) int {
	return int(binary.LittleEndian.Uint16(f.text[at+atSubjectSize:]))
}

// repairHeads restores the heads of messages with the help of the messages before and after them. It leaves everything
// else, e.g. an incomplete message at the end, to the server.
func (f *messageFile) repairHeads() {
	before := uint64(0) // number of the previous message, if it is known
	for at := 0; at+messageHead <= len(f.text); {
		end := f.endOf(at)
		if end < 0 {
			return
		}
		if size := end - at; size != f.sizeOf(at) {
			flag := binary.LittleEndian.Uint32(f.text[at:]) & hasHeaders
			f.repaired = append(f.repaired, at)
			binary.LittleEndian.PutUint32(f.text[at:], uint32(size)|flag)
		}
		f.repairSubjectSize(at, end)
		f.repairNumber(at, end, before)
		if n := f.numberOf(at); n&isDeletion == 0 {
			before = n
		}
		at = end
	}
}

// endOf returns the end of a message. If the message's size is wrong, the end is where the next message begins, or
// the end of the file if that makes only one bit of the size wrong. Otherwise the message is incomplete, and the
// result is -1.
func (f *messageFile) endOf(at int) int {
	end := at + f.sizeOf(at)
	incomplete := end < len(f.text) && len(f.text)-end < messageHead // the file contains only the beginning of the next message
	switch {
	case end < at+messageHead+messageSum:
	case f.isNext(at, end):
		return end
	case end == len(f.text) || incomplete:
		return f.earlierEnd(at, end)
	}
	for end := at + messageHead + messageSum; end+messageHead <= len(f.text); end++ {
		i := bytes.Index(f.text[end+messageHead:], []byte("toolscope."))
		if i < 0 {
			break
		}
		if end += i; f.isNext(at, end) {
			return end
		}
	}
	if bits.OnesCount(uint(f.sizeOf(at)^(len(f.text)-at))) == 1 {
		return len(f.text)
	}
	return -1
}

// earlierEnd returns the end of a message whose size reaches the end of the file. If one bit of the size is wrong, and
// without it the next message begins earlier, that is the end.
func (f *messageFile) earlierEnd(at, end int) int {
	for bit := range 31 {
		next := at + (f.sizeOf(at) ^ 1<<bit)
		if next >= at+messageHead+messageSum && next < end && next+messageHead <= len(f.text) && f.numberOf(next) == f.numberOf(at)+1 && bytes.HasPrefix(f.text[next+messageHead:], []byte("toolscope.")) {
			return next
		}
	}
	return end
}

// isNext reports whether the message after the one at the offset at begins at the offset next. One wrong bit may be
// in its number or in its subject, but not in both.
func (f *messageFile) isNext(at, next int) bool {
	if next+messageHead > len(f.text) {
		return false
	}
	n, follows := f.numberOf(next), f.numberOf(next) == f.numberOf(at)+1
	subject := bytes.HasPrefix(f.text[next+messageHead:], []byte("toolscope."))
	return follows || subject || n&isDeletion != 0 && f.subjectSizeOf(next) == 0
}

// repairSubjectSize restores the size of a subject, which ends before the message's headers.
func (f *messageFile) repairSubjectSize(at, end int) {
	const mark, sizeOfHeaders = "NATS/1.0\r\n", 4
	i := bytes.Index(f.text[at:end], []byte(mark)) - messageHead - sizeOfHeaders
	if binary.LittleEndian.Uint32(f.text[at:])&hasHeaders != 0 && i >= 0 && i <= 1<<15 && f.subjectSizeOf(at) != i {
		f.repaired = append(f.repaired, at)
		binary.LittleEndian.PutUint16(f.text[at+atSubjectSize:], uint16(i))
	}
}

// repairNumber restores the number of a message if the numbers around it show it.
func (f *messageFile) repairNumber(at, end int, before uint64) {
	const maxJump = 1 << 20 // maximum number of messages that are missing between two others
	n, want := f.numberOf(at), before+1
	if n&isDeletion != 0 && (n&^isDeletion == want || f.subjectSizeOf(at) == 0) {
		return // the message was deleted
	}
	if end+messageHead <= len(f.text) { // the next message decides
		next := f.numberOf(end)
		if after := end + f.sizeOf(end); before == 0 && after+messageHead <= len(f.text) && f.numberOf(after) == next+1 {
			want = next - 1
		}
		if next != want+1 || n == want {
			return
		}
	} else if before == 0 || n >= want && n-want < maxJump {
		return
	}
	f.repaired = append(f.repaired, at)
	binary.LittleEndian.PutUint64(f.text[at+atNumber:], want)
}
