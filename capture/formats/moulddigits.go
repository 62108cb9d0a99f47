package formats

import "encoding/binary"

// This file compares texts that differ in their digits only, as the times of two lines do.

// sameButDigits is how many bytes p begins with that are like was, but for which digits stand where
// it has some, and how many; 0 if p does not begin so.
func sameButDigits(was, p []byte) (n int) {
	if size := len(was); len(p) >= size && digitsAlike(was, p[:size]) {
		for n = size; isDigit(was[size-1]) && n < len(p) && isDigit(p[n]); n++ {
		}
		return n
	}
	for n+8 <= min(len(was), len(p)) && binary.LittleEndian.Uint64(was[n:]) == binary.LittleEndian.Uint64(p[n:]) {
		n += 8
	}
	for n > 0 && isDigit(was[n-1]) { // those of one number are looked at together
		n--
	}
	for i := n; i < len(was); {
		switch {
		case n == len(p):
			return 0
		case !isDigit(was[i]):
			if was[i] != p[n] {
				return 0
			}
			i, n = i+1, n+1
		case !isDigit(p[n]):
			return 0
		default:
			for i < len(was) && isDigit(was[i]) {
				i++
			}
			for n < len(p) && isDigit(p[n]) {
				n++
			}
		}
	}
	return n
}

// digitsAlike reports whether two texts of one length have digits at the same places, and are the
// same elsewhere. Of short ones it does not tell.
func digitsAlike(a, b []byte) bool {
	n := len(a)
	if n < 8 {
		return false
	}
	for i := 0; i+8 < n; i += 8 {
		if !wordsAlike(binary.LittleEndian.Uint64(a[i:]), binary.LittleEndian.Uint64(b[i:])) {
			return false
		}
	}
	return wordsAlike(binary.LittleEndian.Uint64(a[n-8:]), binary.LittleEndian.Uint64(b[n-8:]))
}

// wordsAlike is digitsAlike of eight bytes.
func wordsAlike(a, b uint64) bool {
	if a == b {
		return true
	}
	others := notDigits(a)
	return others == notDigits(b) && (a^b)&(others>>7*0xff) == 0
}

// notDigits has the top bit of each byte that is no digit.
func notDigits(w uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	w ^= '0' * ones // of digits, 0 to 9
	return (w&^tops + (0x80-10)*ones | w) & tops
}
