package cli

import (
	"fmt"

	"toolscope/capture/bend"
)

// faultTable tells of the faults that a proxy or a mock provider makes happen.
func faultTable(l lines) {
	l.prose("", "Faults, in the order in which those that are combined take effect:")
	l.prose("", "")
	for _, f := range bend.Faults() {
		l.prose(fmt.Sprintf("  %-16s ", f[0]), f[1])
	}
	l.prose("", "")
	l.prose("", bend.Which+". An event is a server-sent event with data, a line of JSON, or a message.")
}
