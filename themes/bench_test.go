package themes

import "testing"

func BenchmarkLookup(b *testing.B) {
	for _, name := range []string{"auto", "monokai", "xcode", "nosuch"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, _ = Lookup(name, true)
			}
		})
	}
}
